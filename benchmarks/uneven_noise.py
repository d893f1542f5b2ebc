"""How often 90 % intervals hold new runs where noise isn't even, by fifths of the range.

Usage::

    .venv/bin/python benchmarks/uneven_noise.py [DATA] [--judge] [--rows 256] [--seeds 1]

`DATA` is a folder of measured tables (`models_data`); without it, planted laws are tried alone. The noise of planted
laws rises from 1 to 30 % along the first parameter, falls, or is 10 % everywhere; "one" has one parameter. Measured
tables are split by each of their numbers, and the worst fifth is shown. A row shows the coverage by fifths and of all,
the interval score, and both for intervals without the law of the noise.
"""

from __future__ import annotations

import argparse
import warnings
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np
import pandas as pd
from numpy.typing import NDArray

import evenly
from evenly.models.uncertainty import noise_trend
from planted import CHOSEN_ON, JUDGED_ON, LAWS, asked_of, measured, planted

NOISE = {
    "1 to 30 %": lambda place: 0.01 * 30**place,
    "30 to 1 %": lambda place: 0.3 * 30**-place,
    "10 %": lambda place: 0.1 + 0 * place,
}
LEVEL = 0.9


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--judge", action="store_true", help="tables that nothing was chosen on")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--only", nargs="+")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    heads = f"{'of all':>8}{'score':>8}"
    print(f"{'table':26}{'coverage by fifths':>32}{heads}{'without the law':>34}{heads}")
    for name in given.only or (JUDGED_ON if given.judge else CHOSEN_ON):
        if name not in LAWS and given.data is None:
            continue
        for noise in NOISE if name in LAWS else (None,):
            for seed in range(given.seeds):
                print(row(name, noise, seed, given), flush=True)


def row(name: str, noise: str | None, seed: int, given: argparse.Namespace) -> str:
    if noise is None:
        train, test = measured(given.data, name, given.rows, seed, 1000)
    else:
        train, test = planted(name, given.rows, seed, NOISE[noise], 1000)
    parameters = asked_of(train)
    numbers = [p for p in parameters if pd.api.types.is_numeric_dtype(train[p]) and train[p].nunique() >= 5]
    told = f"{name if noise is None else f'{name}, {noise}':26}"
    for least in (noise_trend._FEWEST, 10**9):
        with mock.patch.object(noise_trend, "_FEWEST", least):
            model: Any = evenly.fit(evenly.Runs.from_frame(train, parameters), effort=given.effort)
        inside = test[~model.extrapolates(test[parameters])]
        low, high = model.interval(inside[parameters], LEVEL)
        seconds = inside["seconds"].to_numpy()
        held = (low <= seconds) & (seconds <= high)
        logs, ends = np.log(seconds), np.log([low, high])
        middle = ends.mean(axis=0)
        score = noise_trend.interval_score(logs - middle, ends[1] - middle, LEVEL)
        by = [fifths(held, inside[p].to_numpy()) for p in (numbers if noise is None else parameters[:1])]
        worst = min(by, key=min)
        told += f"{'  '.join(f'{share:.2f}' for share in worst):>32}{held.mean():8.2f}{score:8.3f}  "
    return told


def fifths(held: NDArray[np.bool_], values: NDArray[np.float64]) -> list[float]:
    """Return the coverage in each fifth of the rows, ordered by a parameter; equal values are ordered at random."""
    order = np.lexsort((np.random.default_rng(0).random(len(values)), values))
    return [float(held[part].mean()) for part in np.array_split(order, 5)]


if __name__ == "__main__":
    main()
