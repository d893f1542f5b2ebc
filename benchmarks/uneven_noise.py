"""How often 90 % intervals hold new runs where noise isn't even, by fifths of the range.

Usage::

    .venv/bin/python benchmarks/uneven_noise.py [DATA] [--judge] [--rows 256] [--seeds 1]
    .venv/bin/python benchmarks/uneven_noise.py --few [--seeds 40]

`DATA` is a folder of measured tables (`models_data`); without it, planted laws are tried alone. The noise of planted
laws rises from 1 to 30 % along the first parameter, falls, or is 10 % everywhere; "one" has one parameter. Measured
tables are split by each of their numbers, and the worst fifth is shown. A row shows the coverage by fifths and of all,
the interval score, and both for intervals without the law of the noise.

``--few``: 6 to 15 numbers of cores, each run three times, by thirds of the range: new medians of three that intervals
hold with what the repeated runs tell of the noise, and without.
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
FEW_LAWS = (lambda p: 400 / p + 3, lambda p: 100 / p**0.8, lambda p: 300 / p + 0.3 * np.sqrt(p))


def main() -> None:
    parser = argparse.ArgumentParser(description=__doc__.split("\n")[0])
    parser.add_argument("data", nargs="?", type=Path)
    parser.add_argument("--judge", action="store_true", help="tables that nothing was chosen on")
    parser.add_argument("--rows", type=int, default=256)
    parser.add_argument("--seeds", type=int, default=1)
    parser.add_argument("--effort", default="normal")
    parser.add_argument("--only", nargs="+")
    parser.add_argument("--few", action="store_true", help="few configurations, each run three times")
    given = parser.parse_args()
    warnings.simplefilter("ignore")
    if given.few:
        few(given.seeds)
        return
    heads = f"{'of all':>8}{'score':>8}"
    print(f"{'table':26}{'coverage by fifths':>32}{heads}{'without the law':>34}{heads}")
    for name in given.only or (JUDGED_ON if given.judge else CHOSEN_ON):
        if name not in LAWS and given.data is None:
            continue
        for noise in NOISE if name in LAWS else (None,):
            for seed in range(given.seeds):
                print(row(name, noise, seed, given), flush=True)


def few(seeds: int) -> None:
    """Print the coverage by thirds of the range, of all, and the interval score, with and without repeated noise."""
    for noise in NOISE:
        for count in (6, 8, 11, 15):
            found = np.array([few_runs(law, NOISE[noise], count, seed) for law in FEW_LAWS for seed in range(seeds)])
            both = ["  ".join(f"{one:.2f}" for one in row) for row in found.mean(axis=0)]
            print(f"{noise:10}{count:>4} runs   {both[0]}   without: {both[1]}", flush=True)


def few_runs(law: Any, noise: Any, count: int, seed: int) -> list[list[float]]:
    """Return the shares held in each third and of all, and the score: with what repeated runs tell, and without."""
    rng = np.random.default_rng([seed, count])
    cores = np.unique(np.round(np.geomspace(1, 256, count)))
    place = np.log(cores) / np.log(256)
    times = law(cores) * np.exp(noise(place) * rng.normal(size=(3, len(cores))))
    table = pd.DataFrame({"cores": np.tile(cores, 3), "seconds": times.ravel()})
    model: Any = evenly.fit(evenly.Runs.from_frame(table, ["cores"]))
    asked = np.unique(np.round(np.geomspace(1, 256, 12)))
    place = np.log(asked) / np.log(256)
    new = np.log(law(asked)) + np.median(noise(place) * rng.normal(size=(3, 50, len(asked))), axis=0)
    rows = []
    for _ in range(2):
        low, high = np.log(model.interval({"cores": asked}, LEVEL))
        held, middle = (low <= new) & (new <= high), (low + high) / 2
        score = noise_trend.interval_score(new - middle, (high - low) / 2, LEVEL)
        thirds = [float(part.mean()) for part in np.array_split(held, 3, axis=1)]
        rows.append([*thirds, float(held.mean()), score])
        model.training_.pop("repeated_noise", None)
    return rows


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
