"""What rows that are far off do to a model, and whether they are found.

Usage::

    .venv/bin/python benchmarks/outliers.py [DATA] [--judge] [--rows 256] [--seeds 1] [--share 0.02] [--factor 100]

`DATA` is a folder of measured tables (`models_data`); without it, planted laws are tried alone. Of each table a share
of the rows is multiplied by a factor. A row shows the error (MLogQ on other, clean rows) learned from the clean table,
from the spoilt one with all rows kept, and from it as `evenly.fit` does by default; how many of the spoilt rows were
found, how many others were taken for outliers, and how many of the clean table.
"""

from __future__ import annotations

import argparse
import time
import warnings
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd

import evenly
from evenly.metrics import mlogq
from planted import CHOSEN_ON, JUDGED_ON, LAWS, asked_of, measured, planted

NOISE = (0.01, 0.1, 0.3)


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--judge", action="store_true", help="tables that nothing was chosen on")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--first-seed", type=int, default=0)
    parser.add_argument("--share", type=float, default=0.02)
    parser.add_argument("--factor", type=float, default=100.0)
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = f"{'clean':>8}{'kept':>8}{'dropped':>9}{'ratio':>7}{'found':>8}{'others':>8}{'in clean':>10}{'CPU s':>14}"
    print(f"{'table':22}{'rows':>6}{heads}")
    total = np.zeros(4)
    for name in given.only or (JUDGED_ON if given.judge else CHOSEN_ON):
        if name not in LAWS and given.data is None:
            continue
        for noise in NOISE if name in LAWS else (None,):
            for seed in range(given.first_seed, given.first_seed + given.seeds):
                total += row(name, noise, seed, given)
    print(f"taken for outliers in clean tables: {total[0]:.0f} of {total[1]:.0f} rows; found: {total[2]:.0f} of "
          f"{total[3]:.0f}")  # fmt: skip


def row(name: str, noise: float | None, seed: int, given: argparse.Namespace) -> np.ndarray:
    if noise is None:
        train, test = measured(given.data, name, given.rows, seed)
    else:
        train, test = planted(name, given.rows, seed, noise)
    spoilt = np.random.default_rng(seed).permutation(len(train))[: max(1, round(given.share * len(train)))]
    bad = train.copy()
    bad.loc[spoilt, "seconds"] *= given.factor
    clean, its_seconds, none = learned(train, test, "drop")
    kept, _, _ = learned(bad, test, "keep")
    dropped, seconds, found = learned(bad, test, "drop")
    hit = len(found & set(spoilt))
    called = name if noise is None else f"{name}, {100 * noise:g} % noise"
    print(
        f"{called:22}{len(train):6}{clean:8.3f}{kept:8.3f}{dropped:9.3f}{dropped / clean:7.2f}"
        f"{f'{hit}/{len(spoilt)}':>8}{len(found) - hit:8}{len(none):10}{its_seconds:7.1f}{seconds:7.1f}",
        flush=True,
    )
    return np.array([len(none), len(train), hit, len(spoilt)])


def learned(train: pd.DataFrame, test: pd.DataFrame, outliers: str) -> tuple[float, float, set[int]]:
    """Return the error, the CPU seconds of the fit, and the rows that were taken for outliers, from 0."""
    parameters, begun = asked_of(train), time.process_time()
    model: Any = evenly.fit(evenly.Runs.from_frame(train, parameters), outliers=outliers)
    seconds = time.process_time() - begun
    rows = {one["row"] - 1 for one in model.training_.get("outliers", {}).get("rows", ())}
    return mlogq(test["seconds"].to_numpy(), model.predict(test[parameters])), seconds, rows


if __name__ == "__main__":
    main()
