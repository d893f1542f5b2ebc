"""Power laws: ``seconds = c · Π p^a``, by least squares on logarithms.

Two coefficients for one parameter: little to go wrong with few runs. A categorical parameter multiplies by a constant
per label; a parameter that is not above zero everywhere enters as ``exp(a · p)``.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models._doubt import Doubt
from evenly.models._loglinear import Coordinates, LogLinear
from evenly.models.base import Model
from evenly.models.conformal import LogConformal
from evenly.models.formula import Formula, Piece, Term

__all__ = ["PowerLaw"]

Floats = NDArray[np.float64]


@final
class PowerLaw(Model):
    """A product of powers of the parameters.

    Attributes
    ----------
    formula_ : Formula or None
        None where a parameter is categorical or not above zero.

    Examples
    --------
    >>> model = PowerLaw().fit({"cores": [1, 2, 4, 8]}, [80.0, 40.0, 20.0, 10.0])
    >>> print(model.formula_)
    80 · cores^-1
    >>> model.predict({"cores": [5]})
    array([16.])
    """

    method: ClassVar[str] = "power-law"
    summary: ClassVar[str] = "c · Π p^a: least squares on logarithms; safe with very few runs"
    _fit: LogLinear
    _doubt: Doubt

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self._learn_itself(table, values, weights)
        loss = float(np.average(self._fit.left_out**2, weights=weights))
        self._doubt = Doubt.learn(table, values, weights, loss=loss, coefficients=self._fit.rank)

    def _learn_itself(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Fit without asking which laws the runs can't tell it from."""
        self._doubt = Doubt(1.0, [])
        self._coordinates = Coordinates.learn(table)
        self._fit = LogLinear.learn(self._design(table), np.log(values), weights)
        self._finish()

    def _finish(self) -> None:
        self._conformal: LogConformal = self._fit.conformal()
        self.formula_ = self._formula()

    def _design(self, table: pd.DataFrame) -> Floats:
        c = self._coordinates
        return np.column_stack([np.ones(len(table)), c.numeric(table), c.one_hot(table)])

    def _predict(self, table: pd.DataFrame) -> Floats:
        return np.asarray(np.exp(self._fit.logs(self._design(table))), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        design = self._design(table)
        return self._doubt.bounds(
            table, np.exp(self._fit.logs(design)), self._fit.leverage(design), self._conformal, level
        )

    def _formula(self) -> Formula | None:
        c = self._coordinates
        if any(kind != "log" for kind in c.kinds):
            return None
        powers = self._fit.coefficients[1:] / np.array(c.scales)
        constant = np.exp(self._fit.coefficients[0] - powers @ np.array(c.centres))
        term = Term(float(constant), tuple(map(float, powers)), (0.0,) * len(powers))
        return Formula(tuple(c.names), (term,))

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Cut whole numbers from `low` to `high` into monotone ranges; see `Formula.monotone_pieces`."""
        return _formula_of(self.formula_).monotone_pieces(low, high)

    def _get_state(self) -> dict[str, Any]:
        return {
            "coordinates": self._coordinates.to_state(),
            "fit": self._fit.to_state(),
            "doubt": self._doubt.to_state(),
        }

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self._fit = LogLinear.from_state(state["fit"])
        self._doubt = Doubt.from_state(state["doubt"])
        self._finish()


def _formula_of(formula: Formula | None) -> Formula:
    from evenly.errors import InputError

    if formula is None:
        raise InputError("this model has no formula: a parameter is categorical or not above zero everywhere")
    return formula
