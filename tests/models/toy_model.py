"""A model of three lines, for tests of what all models share."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.base import Model


@final
class Toy(Model):
    """Predicts the weighted geometric mean; keeps whatever it is told to keep."""

    method: ClassVar[str] = "toy-of-the-tests"
    summary: ClassVar[str] = "the geometric mean"

    def __init__(self, *, factor: float = 1.0, keep: Any = None) -> None:
        self.factor = factor
        self.keep = keep

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self.learned_table_ = table
        self.weights_ = weights
        self.mean_ = float(np.exp(np.average(np.log(values), weights=weights)))
        self.kept_ = self.keep

    def _predict(self, table: pd.DataFrame) -> Floats:
        return np.full(len(table), self.factor * self.mean_)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        middle = self._predict(table)
        return middle * (1 - level), middle * (1 + level)

    def _get_state(self) -> dict[str, Any]:
        return {"mean": self.mean_, "kept": self.kept_}

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self.mean_, self.kept_ = state["mean"], state["kept"]
