"""What models that are linear in the logarithm of the response share: fit, prediction, interval, monotone ranges."""

from __future__ import annotations

from abc import abstractmethod

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.models.scaling_laws.credible_bounds import Doubt
from evenly.models.scaling_laws.formula import Formula, Piece
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["LogModel"]

Floats = NDArray[np.float64]


class LogModel(Model):
    """A model whose logarithm is a sum of columns, each times a coefficient, by least squares."""

    _coordinates: Coordinates
    _fit: LogLinear
    _doubt: Doubt

    @abstractmethod
    def _prepare(self, table: pd.DataFrame) -> None:
        """Choose the columns for a table (n, d), whose coordinates are known."""

    @abstractmethod
    def _design(self, table: pd.DataFrame) -> Floats:
        """Return the columns (n, n_coefficients) for a table (n, d)."""

    @abstractmethod
    def _formula(self) -> Formula | None:
        """Return the fitted model as a formula, or None where it has none."""

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self._learn_itself(table, values, weights)
        self.left_out_ = values / np.exp(self._fit.left_out)
        loss = float(np.average(self._fit.left_out**2, weights=weights))
        self._doubt = Doubt.learn(table, values, weights, loss=loss, coefficients=self._fit.rank)

    def _learn_itself(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Fit without asking which laws the runs can't tell it from."""
        self._doubt = Doubt(1.0, [])
        self._coordinates = Coordinates.learn(table)
        self._prepare(table)
        self._fit = LogLinear.learn(self._design(table), np.log(values), weights)
        self._finish()

    def _finish(self) -> None:
        self._conformal: LogConformal = self._fit.conformal()
        self.formula_ = self._formula()

    def _predict(self, table: pd.DataFrame) -> Floats:
        # Clipped, so that predictions stay finite and above zero however far they are asked.
        logs = np.clip(self._fit.logs(self._design(table)), -700.0, 700.0)
        return np.asarray(np.exp(logs), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        leverage = self._fit.leverage(self._design(table))
        return self._doubt.bounds(table, self._predict(table), leverage, self._conformal, level)

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Cut whole numbers from `low` to `high` into monotone ranges; see `Formula.monotone_pieces`.

        Raises
        ------
        InputError
            If the model has no formula.
        """
        if self.formula_ is None:
            raise InputError("this model has no formula: a parameter is categorical or not above zero everywhere")
        return self.formula_.monotone_pieces(low, high)
