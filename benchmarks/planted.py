"""Planted laws and measured tables on which models are judged that doubt: outliers, noise that isn't even.

A law gives the seconds of configurations drawn at random; noise is lognormal, and what is spoilt is known. What was
chosen was chosen on `CHOSEN_ON`; figures of `JUDGED_ON` weren't looked at before.
"""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.random import Generator
from numpy.typing import NDArray

from models_data import DATA

__all__ = ["CHOSEN_ON", "JUDGED_ON", "LAWS", "asked_of", "measured", "planted"]

Columns = dict[str, NDArray[np.float64]]


def strong_scaling(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    cores, size = 2.0 ** rng.integers(0, 9, n), _spread(rng, 50, 2000, n).round()
    return {"cores": cores, "size": size}, 1e-6 * size**2 / cores + 2e-3 * np.log2(2 * cores) + 1e-4 * size / cores**0.5


def labels(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    cores, cells = 2.0 ** rng.integers(0, 7, n), _spread(rng, 1e3, 1e6, n).round()
    solver = rng.choice(["cg", "gmres", "direct"], n)
    factor = np.select([solver == "cg", solver == "gmres"], [1.0, 1.4], 6.0)
    power = np.where(solver == "direct", 1.4, 1.05)
    return {"cores": cores, "cells": cells, "solver": solver}, factor * cells**power * 1e-7 / cores**0.85 + 0.01


def cliff(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    block, size = _spread(rng, 8, 512, n).round(), _spread(rng, 100, 5000, n).round()
    threads = rng.integers(1, 17, n)
    slow = np.where(block * threads > 1500, 3.5, 1.0)
    return {"block": block, "size": size, "threads": threads}, 1e-6 * size**1.5 / threads**0.7 * slow * (1 + 20 / block)


def corner(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    p, m, q = rng.integers(1, 65, n), _spread(rng, 1, 148, n).round(2), rng.uniform(0, 1, n).round(3)
    return {"p": p, "m": m, "q": q}, (3 + m / p) * np.where((p > 40) & (m > 50), 6.0, 1.0) * (1 + q**2)


def five(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    a, b, c, d, e = (_spread(rng, 1, 55, n).round(2) for _ in range(5))
    return {"a": a, "b": b, "c": c, "d": d, "e": e}, a * b / c + 2 * d + 0.1 * e**2


def one(rng: Generator, n: int) -> tuple[Columns, NDArray[np.float64]]:
    cells = _spread(rng, 1, 4000, n).round(3)
    return {"cells": cells}, 0.2 + 0.01 * cells + 0.002 * cells * np.log2(cells + 1)


def _spread(rng: Generator, low: float, high: float, n: int) -> NDArray[np.float64]:
    """Draw numbers whose logarithms are uniform."""
    return np.exp(rng.uniform(np.log(low), np.log(high), n))


LAWS: dict[str, Callable[[Generator, int], tuple[Columns, NDArray[np.float64]]]] = {
    "strong": strong_scaling, "labels": labels, "cliff": cliff, "corner": corner, "five": five, "one": one,
}  # fmt: skip
CHOSEN_ON = ("strong", "labels", "cliff", "geqrf", "bcast", "hsmgp")
JUDGED_ON = ("corner", "five", "one", "gemm", "amg", "dune", "convolution-a100")


def planted(
    law: str, n: int, seed: int, noise: float | Callable[[NDArray[np.float64]], NDArray[np.float64]], asked: int = 500
) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return runs to learn from, each configuration once, and runs to predict.

    `noise` is the standard deviation of the logarithm, or a function of the first parameter's place in its range, 0 to
    1 on its logarithmic scale.
    """
    rng = np.random.default_rng(seed)
    columns, seconds = LAWS[law](rng, n + asked)
    table = pd.DataFrame(columns)
    place = np.log(table.iloc[:, 0].to_numpy(dtype=np.float64))
    place = (place - place.min()) / (place.max() - place.min())
    sigma = noise(place) if callable(noise) else np.full(len(table), noise)
    table["seconds"] = seconds * np.exp(sigma * rng.normal(size=len(table)))
    train = table.iloc[:n].drop_duplicates(list(columns)).reset_index(drop=True)
    return train, table.iloc[n:].reset_index(drop=True)


def measured(folder: Path, name: str, n: int, seed: int, asked: int = 500) -> tuple[pd.DataFrame, pd.DataFrame]:
    """Return runs of a measured table to learn from, each configuration once, and others to predict."""
    if name in DATA:
        table = pd.read_csv(folder / f"{name}-train.csv")
        parameters = list(DATA[name][0])
    else:
        table = pd.read_csv(folder / "tuning" / f"{name}.csv").query("status == 'ok'")
        parameters = [column for column in table.columns if column not in ("seconds", "status")]
    table = table[[*parameters, "seconds"]].drop_duplicates(parameters).reset_index(drop=True)
    drawn = table.iloc[np.random.default_rng(1000 + seed).permutation(len(table))[: n + asked]]
    return drawn.iloc[:n].reset_index(drop=True), drawn.iloc[n:].reset_index(drop=True)


def asked_of(table: pd.DataFrame) -> list[str]:
    """Return the parameters of a table."""
    return [str(name) for name in table.columns if name != "seconds"]
