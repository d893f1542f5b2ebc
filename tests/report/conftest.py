"""A model whose line and interval are known exactly, and runs to plot."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.runs.runs import Runs
from evenly.space.parameters import Categorical

Floats = NDArray[np.float64]


class PlainLog(Model):
    """Log-linear in log p, one offset per label; the interval at level l is a factor of exp(0.1 + l / 10)."""

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self.coefficients_ = np.linalg.lstsq(self._design(table), np.log(values), rcond=None)[0]

    def _design(self, table: pd.DataFrame) -> Floats:
        columns = [np.ones(len(table))]
        for name, kind in self.space_.parameters.items():
            if isinstance(kind, Categorical):
                columns += [(table[name] == label).to_numpy(dtype=np.float64) for label in kind.options[1:]]
            else:
                columns.append(np.log(table[name].to_numpy(dtype=np.float64)))
        return np.column_stack(columns)

    def _predict(self, table: pd.DataFrame) -> Floats:
        predicted: Floats = np.exp(self._design(table) @ self.coefficients_)
        return predicted

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        factor = float(np.exp(0.1 + level / 10))
        value = self._predict(table)
        return value / factor, value * factor

    def _get_state(self) -> dict[str, Any]:
        return {"coefficients": self.coefficients_}

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self.coefficients_ = state["coefficients"]


def fit_plain(runs: Runs) -> Model:
    table = runs.ok.aggregate()
    return PlainLog().fit(table[runs.parameters], table[runs.response])


@pytest.fixture(scope="session")
def fit() -> Callable[[Runs], Model]:
    return fit_plain


@pytest.fixture(scope="session")
def strong() -> Runs:
    """Strong scaling over cores, four repetitions with a known spread."""
    cores = np.repeat([100, 150, 200, 300], 4)
    wobble = np.tile([0.9, 1.0, 1.0, 1.2], 4)
    return Runs.from_frame(pd.DataFrame({"cores": cores, "seconds": 60 / cores * wobble}), ["cores"])


@pytest.fixture(scope="session")
def grid() -> Runs:
    """Two parameters on a grid, time n² / cores."""
    n, cores = (a.ravel() for a in np.meshgrid([1, 2, 4, 8, 16], [1, 2, 4, 8, 16, 32, 64]))
    return Runs.from_frame(pd.DataFrame({"n": n, "cores": cores, "seconds": 1e-3 * n**2 / cores}), ["n", "cores"])


@pytest.fixture(scope="session")
def scattered() -> Runs:
    """Two parameters, no two rows alike in the first."""
    random = np.random.default_rng(0)
    n, cores = np.arange(10, 50), random.choice([1, 2, 4, 8], 40)
    seconds = 1e-3 * n / cores * np.exp(random.normal(0, 0.05, 40))
    return Runs.from_frame(pd.DataFrame({"n": n, "cores": cores, "seconds": seconds}), ["n", "cores"])
