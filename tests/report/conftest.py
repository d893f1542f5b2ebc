"""A small model whose line and interval are known exactly: least squares of the logarithm, with a fixed factor."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.parameters import Categorical

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
