"""Tables that models are compared on: the tensor-completion paper's measurements, as its data's README describes them.

A folder of data holds ``gemm-train.csv``, ``gemm-test.csv`` and likewise ``bcast``, ``geqrf`` and ``amg``; training
samples of n rows are the first n of a permutation with seed 0, 1 or 2.
"""

from __future__ import annotations

import json
import os
import subprocess
from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly import Categorical, Space

__all__ = ["DATA", "RIVALS", "SEEDS", "Case", "beyond", "largest_quarter", "load", "rival"]

SEEDS = (0, 1, 2)
#: Models of other libraries, in an environment of their own (`model_rivals.py`).
RIVALS = ("catboost", "lightgbm", "sklearn-gp")
#: Parameters of each table, and which of them are labels.
DATA: dict[str, tuple[tuple[str, ...], tuple[str, ...]]] = {
    "gemm": (("m", "n", "k"), ()),
    "bcast": (("msg", "ppn", "nodes"), ()),
    "geqrf": (("m", "n"), ()),
    "amg": (("nx", "ny", "nz", "ct", "rt", "it", "tpp", "ppn"), ("ct", "rt", "it")),
}


@dataclass(frozen=True)
class Case:
    """Runs to learn from and runs to predict."""

    name: str
    train: pd.DataFrame
    test: pd.DataFrame
    parameters: tuple[str, ...]
    labels: tuple[str, ...]

    def sample(self, n: int, seed: int) -> Case:
        """Return the case with n of its training rows."""
        rows = np.random.RandomState(seed).permutation(len(self.train))[:n]
        return Case(self.name, self.train.iloc[rows].reset_index(drop=True), self.test, self.parameters, self.labels)

    @property
    def space(self) -> Space:
        """Parameters with their kinds."""
        kinds = {name: Categorical(*sorted(self.train[name].unique())) for name in self.labels}
        measured = Space.from_data(self.train[[p for p in self.parameters if p not in kinds]])
        return Space.of({name: kinds.get(name) or measured.parameters[name] for name in self.parameters})

    def of(self, table: pd.DataFrame) -> tuple[pd.DataFrame, NDArray[np.float64]]:
        """Return parameters and seconds of a table."""
        return table[list(self.parameters)], table["seconds"].to_numpy(dtype=np.float64)


def load(folder: Path, name: str) -> Case:
    """Read one data set."""
    train, test = (pd.read_csv(folder / f"{name}-{part}.csv") for part in ("train", "test"))
    return Case(name, train, test, *DATA[name])


def beyond(folder: Path, name: str, limit: int, *, alone: str | None = None) -> Case:
    """Return what asks for more than was measured: sizes below `limit`, and the largest to predict.

    ``gemm``: all of m, n, k below `limit` are learned from (or `alone` one of them), from 2048 to 4096 predicted;
    ``bcast``: at most `limit` nodes are learned from, twice as many and more predicted.
    """
    case = load(folder, name)
    if name == "bcast":
        train, test = case.train[case.train.nodes <= limit], case.test[case.test.nodes >= 2 * limit]
    else:
        names = [alone] if alone else list(case.parameters)
        train = case.train[(case.train[names] < limit).all(axis=1)]
        test = case.test[(case.test[names] >= 2048).all(axis=1)]
    return Case(f"{name}<{limit}", train.reset_index(drop=True), test.reset_index(drop=True), *DATA[name])


def largest_quarter(folder: Path, name: str, parameter: str, share: float) -> Case:
    """Return what asks for the largest quarter of a parameter's range, of runs up to a share of its largest value."""
    case = load(folder, name)
    both = pd.concat([case.train, case.test], ignore_index=True)
    top = both[parameter].max()
    train = case.train[case.train[parameter] <= share * top].reset_index(drop=True)
    far = both[both[parameter] > 0.75 * top]
    test = far.sample(min(len(far), 1000), random_state=0).reset_index(drop=True)
    return Case(f"{name}, {parameter} ≤ {share:g} of its largest value", train, test, *DATA[name])


def rival(python: Path, name: str, case: Case, seed: int) -> dict[str, Any]:
    """Learn a case by another library, and predict its test rows: ``seconds``, ``lower``, ``upper`` and ``fit``."""
    train, seconds = case.of(case.train)
    request = {
        "train": train.to_dict("list"), "asked": case.of(case.test)[0].to_dict("list"), "labels": list(case.labels),
        "seconds": seconds.tolist(), "seed": seed,
    }  # fmt: skip
    script = Path(__file__).with_name("model_rivals.py")
    one_thread = {**os.environ, **dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")}
    done = subprocess.run(
        [python, script, name], input=json.dumps(request), capture_output=True, text=True, check=False, env=one_thread
    )
    if done.returncode:
        raise SystemExit(f"{name}: {done.stderr.strip().splitlines()[-1]}")
    return {
        key: np.array(value) if isinstance(value, list) else value for key, value in json.loads(done.stdout).items()
    }
