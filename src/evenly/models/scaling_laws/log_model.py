"""What models that are linear in the logarithm of the response share: columns, fit, formula, prediction, interval.

``ln(y) = c_0 + Σ a_k z_k + Σ q_kl z_k z_l + Σ b_m [label m]``: z are coordinates of the numeric parameters
(`Coordinates`), and each label but a parameter's first has an indicator. A power law has no products z_k z_l.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.models.scaling_laws.credible_bounds import RivalLaws
from evenly.models.scaling_laws.formula import Formula, Piece, Term
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["LogModel"]

Floats = NDArray[np.float64]


class LogModel(Model):
    """A model whose logarithm is a polynomial of first or second degree, by least squares.

    Attributes
    ----------
    degree_ : {"linear", "squares", "full"}
        Which products of coordinates there are: none, squares, or all; the first of `_degrees` that the runs support.
    formula_ : Formula or None
        None where a parameter is categorical or not above zero.
    """

    #: Degrees that may be chosen, from the most coefficients to the least; the last is "linear".
    _degrees: ClassVar[tuple[str, ...]]
    _fit: LogLinear

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        self._learn_itself(table, values, weights)
        self.left_out_ = values / np.exp(self._fit.left_out)
        loss = float(np.average(self._fit.left_out**2, weights=weights))
        self._rivals = RivalLaws.learn(table, values, weights, loss=loss, coefficients=self._fit.rank)

    def _learn_itself(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Fit without asking which laws the runs can't tell it from."""
        self._rivals = RivalLaws(1.0, [])
        self._coordinates = Coordinates.learn(table)
        z, indicators = self._coordinates.columns(table)
        # Three different values tell a square from a line, so more of them need not be counted.
        self._values = [min(len(np.unique(column)), 3) for column in z.T]
        straight = 1 + sum(count > 1 for count in self._values) + indicators.shape[1]
        for degree in self._degrees:
            self.degree_ = degree
            products = len(self._pairs())
            if degree == "linear" or (products and len(table) >= 2 * (straight + products)):
                break
        self._fit = LogLinear.learn(self._design(table), np.log(values), weights)
        self._finish()

    def _pairs(self) -> list[tuple[int, int]]:
        """Return which coordinates are multiplied: squares need three different values, products of two need two."""
        if self.degree_ == "linear":
            return []
        pairs = itertools.combinations_with_replacement(range(len(self._values)), 2)
        told = [(a, b) for a, b in pairs if min(self._values[a], self._values[b]) > (2 if a == b else 1)]
        return [(a, b) for a, b in told if a == b] if self.degree_ == "squares" else told

    def _design(self, table: pd.DataFrame) -> Floats:
        """Return the columns of the least-squares problem, (n, n_coefficients)."""
        z, indicators = self._coordinates.columns(table)
        products = [z[:, a] * z[:, b] for a, b in self._pairs()]
        return np.column_stack([np.ones(len(table)), z, *products, indicators])

    def _finish(self) -> None:
        """Set the interval and the formula that follow from the fit.

        With z = (ln p - m) / s, expanding the polynomial gives one term ``c · Π p^i · exp(ln(p)' Q ln(p))``: with Q the
        symmetric matrix of q_kl / (s_k s_l), i = a / s - 2 Q m and ln(c) = c_0 - (a / s)' m + m' Q m.
        """
        fit, c = self._fit, self._coordinates
        self._conformal = LogConformal.from_residuals(fit.left_out, fit.leverages, coefficients=fit.rank)
        self.formula_: Formula | None = None
        if any(kind != "log" for kind in c.kinds):
            return
        d, scales, centres = len(c.names), np.array(c.scales), np.array(c.centres)
        matrix = np.zeros((d, d))
        for (a, b), q in zip(self._pairs(), fit.coefficients[1 + d :], strict=True):
            matrix[a, b] += q / 2 / scales[a] / scales[b]
            matrix[b, a] += q / 2 / scales[a] / scales[b]
        straight = fit.coefficients[1 : 1 + d] / scales
        constant = fit.coefficients[0] - straight @ centres + centres @ matrix @ centres
        powers = straight - 2 * matrix @ centres
        curvature = tuple(tuple(map(float, row)) for row in matrix) if matrix.any() else None
        term = Term(float(np.exp(constant)), tuple(map(float, powers)), (0.0,) * d, curvature)
        self.formula_ = Formula(tuple(c.names), (term,))

    def _predict(self, table: pd.DataFrame) -> Floats:
        # Clipped, so that predictions stay finite and above zero however far they are asked.
        logs = np.clip(self._design(table) @ self._fit.coefficients, -700.0, 700.0)
        return np.asarray(np.exp(logs), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        leverage = self._fit.leverage(self._design(table))
        return self._rivals.bounds(table, self._predict(table), leverage, self._conformal, level)

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

    def _get_state(self) -> dict[str, Any]:
        # Where there is no choice of degree there is none to store.
        chosen = {"degree": self.degree_, "values": list(self._values)} if len(self._degrees) > 1 else {}
        return {
            "coordinates": vars(self._coordinates), **chosen, "fit": vars(self._fit),
            "doubt": self._rivals.to_state(),
        }  # fmt: skip

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self.degree_ = str(state.get("degree", "linear"))
        # Models of earlier versions took squares of all numbers or of none.
        numbers = sum(kind != "label" for kind in self._coordinates.kinds)
        self._values = [int(count) for count in state.get("values", [3] * numbers)]
        self._fit = LogLinear.from_state(state["fit"])
        self._rivals = RivalLaws.from_state(state["doubt"])
        self._finish()
