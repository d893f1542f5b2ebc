"""Intervals at mesh sizes between three measured ones: how many new runs they hold, with whole sizes left out or not.

    python benchmarks/between_values.py [TABLES]

Each table has 30 runs (2 solvers, 3 mesh sizes, 5 numbers of ranks) of a law with work, surface, communication and a
constant part, each off by 4 %. New runs are at three numbers of ranks between those measured.
"""

from __future__ import annotations

import itertools
import sys
import warnings

import numpy as np
import pandas as pd

import evenly

#: Of each solver: seconds at any size, per cell and rank, per surface, per doubling of the ranks.
LAWS = {"pcg": (1.0, 1.5e-4, 4e-3, 0.35), "gamg": (2.2, 0.9e-4, 5e-3, 0.9)}
NAMES = ["solver", "cells", "ranks"]
NOISE = 0.04


def law(solver: str, cells: float, ranks: int) -> float:
    """Return the seconds of a run without noise."""
    constant, work, surface, talk = LAWS[solver]
    return float(constant + work * cells / ranks + surface * (cells / ranks) ** (2 / 3) + talk * np.log2(ranks))


def table_of(sizes: tuple[float, ...], ranks: tuple[int, ...], rng: np.random.Generator) -> pd.DataFrame:
    """Return runs of all combinations."""
    rows = list(itertools.product(LAWS, sizes, ranks))
    seconds = [law(*row) * np.exp(NOISE * rng.standard_normal()) for row in rows]
    return pd.DataFrame(rows, columns=NAMES).assign(seconds=seconds)


def main() -> None:
    warnings.simplefilter("ignore")
    tables = int(sys.argv[1]) if len(sys.argv) > 1 else 40
    held: dict[tuple[float, bool], list[float]] = {}
    for seed in range(tables):
        rng = np.random.default_rng(seed)
        model = evenly.fit(table_of((1e6, 4e6, 16e6), (16, 32, 64, 128, 256), rng), time="seconds", parameters=NAMES)
        for size in (2e6, 4e6, 8e6):
            new = table_of((size,), (24, 96, 192), rng)
            between = model.training_.get("between", {})
            for with_ in (False, True):
                model.training_["between"] = between if with_ else {}
                lower, upper = model.interval(new[NAMES])
                inside = (lower <= new["seconds"]) & (new["seconds"] <= upper)
                held.setdefault((size, with_), []).append(float(inside.mean()))
    print(f"{tables} tables of 30 runs; share of new runs in 90 % intervals")
    print(f"{'cells':>12}  {'measured':8}  {'single runs left out':>20}  {'whole sizes, too':>16}")
    for size in (2e6, 4e6, 8e6):
        shares = [float(np.mean(held[size, with_])) for with_ in (False, True)]
        print(f"{size:12,.0f}  {'yes' if size == 4e6 else 'no':8}  {shares[0]:20.1%}  {shares[1]:16.1%}")


if __name__ == "__main__":
    main()
