"""Base class of the power law and the log-quadratic model: the logarithm of the response is a polynomial.

``ln(y) = c_0 + Σ a_k z_k + Σ q_kl z_k z_l + Σ b_m [label m]``, fitted by linear least squares. z are the coordinates of
the numeric parameters (`Coordinates`). Each label has an indicator, except the first label of each parameter. A power
law has no products z_k z_l. Where labels scale differently, as strong and weak scaling do, each has its own a, or a and
q: if runs that are left out show clearly that this is better.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from dataclasses import replace
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.scaling_laws.credible_bounds import RivalLaws
from evenly.models.scaling_laws.formula import Formula, Piece, Term
from evenly.models.scaling_laws.label_laws import LabelLaws
from evenly.models.scaling_laws.loglinear import Coordinates, LogLinear
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["LogModel"]

#: Runs for each coefficient of a model whose labels have slopes of their own, and what of the error must be left.
_ROWS_EACH, _CLEARLY = 1.5, 0.5
#: A mean squared error that no clock tells from nothing.
_EXACT = 1e-8


class LogModel(Model):
    """Base class of models whose logarithm is a polynomial of degree 1 or 2, fitted by least squares.

    Attributes
    ----------
    degree_ : {"linear", "squares", "full"}
        Products of coordinates in the polynomial: none, squares only, or all. It is the first of `_degrees` with enough
        runs for its coefficients.
    formula_ : Formula or None
        The fitted model as a formula; None if a parameter is categorical or not above zero in all runs.
    """

    is_law: ClassVar[bool] = True
    #: What may be a label's own, besides its factor: its slopes, or its products, too.
    _own: ClassVar[tuple[str, ...]] = ("",)
    #: Degrees to choose from, from the most coefficients to the fewest; the last is "linear".
    _degrees: ClassVar[tuple[str, ...]]
    _fit: LogLinear
    _label_has: str = ""
    _label_laws: LabelLaws | None = None

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        measured = self._is_measured
        self._learn_itself(table, values, weights)
        self._fit = replace(self._fit, left_out=np.where(measured, self._fit.left_out, np.nan))
        self._finish()
        self.left_out_predictions_ = values / np.exp(self._fit.left_out)
        loss = float(np.average(self._fit.left_out[measured] ** 2, weights=weights[measured]))
        self._label_laws = LabelLaws.of(table[measured], values[measured], weights[measured])
        self._rivals = RivalLaws.learn(table, values, weights, loss=loss, coefficients=self._fit.rank)

    def _learn_itself(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Fit this model alone, without its rival laws."""
        self._rivals = RivalLaws(1.0, [])
        self._coordinates = Coordinates.from_table(table)
        z, indicators = self._coordinates.columns(table)
        # A square needs three different values of the coordinate, so counting stops at three.
        self._values = [min(len(np.unique(column)), 3) for column in z.T]
        straight = 1 + sum(count > 1 for count in self._values) + indicators.shape[1]
        for degree in self._degrees:
            self.degree_ = degree
            products = len(self._pairs())
            if degree == "linear" or (products and len(table) >= 2 * (straight + products)):
                break
        self._label_has, self._fit = "", LogLinear.learn(self._design(table), np.log(values), weights)
        for own in self._own if indicators.shape[1] else ():
            self._try(own, table, values, weights)
        self._finish()

    def _try(self, own: str, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        """Let each label have slopes or products of its own, if this lowers the error on left-out runs clearly."""
        before, (self._label_has, kept) = self._fit, (own, self._label_has)
        design = self._design(table)
        if len(table) >= _ROWS_EACH * design.shape[1]:
            found = LogLinear.learn(design, np.log(values), weights)
            left, was = np.mean(found.left_out**2), np.mean(before.left_out**2)
            if np.isfinite(left) and left < _CLEARLY * was and was > _EXACT:
                self._fit = found
                return
        self._label_has = kept

    def _pairs(self) -> list[tuple[int, int]]:
        """Return the pairs of coordinates that are multiplied.

        A square needs three different measured values; a mixed product needs two of each coordinate.
        """
        if self.degree_ == "linear":
            return []
        pairs = itertools.combinations_with_replacement(range(len(self._values)), 2)
        usable = [(a, b) for a, b in pairs if min(self._values[a], self._values[b]) > (2 if a == b else 1)]
        return [(a, b) for a, b in usable if a == b] if self.degree_ == "squares" else usable

    def _design(self, table: pd.DataFrame) -> Floats:
        """Return the columns of the least-squares problem, (n, n_coefficients)."""
        z, indicators = self._coordinates.columns(table)
        products = [z[:, a] * z[:, b] for a, b in self._pairs()]
        own = {"": [], "slopes": list(z.T), "products": [*z.T, *products]}[self._label_has]
        each = [indicator * column for indicator in indicators.T for column in own]
        return np.column_stack([np.ones(len(table)), z, *products, indicators, *each])

    def _finish(self) -> None:
        """Compute the interval and the formula from the fit.

        With z = (ln p - m) / s, the polynomial expands to the logarithm of one term ``c · Π p^i · exp(ln(p)' Q
        ln(p))``. Q is the symmetric matrix with ln(p)' Q ln(p) = Σ q_kl ln(p_k) ln(p_l) / (s_k s_l), the exponents are
        i = a / s - 2 Q m, and ln(c) = c_0 - (a / s)' m + m' Q m.
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
        # Clipped, so that predictions far outside the measured range stay finite and above zero.
        logs = np.clip(self._design(table) @ self._fit.coefficients, -700.0, 700.0)
        return np.asarray(np.exp(logs), dtype=np.float64)

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        leverage = self._fit.leverage(self._design(table))
        lower, upper = self._rivals.bounds(table, self._predict(table), leverage, self._conformal, level)
        return (lower, upper) if self._label_laws is None else self._label_laws.widened(table, lower, upper, level)

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Split the whole numbers from `low` to `high` into monotone ranges; see `Formula.monotone_pieces`.

        Raises
        ------
        InputError
            If the model has no formula.
        """
        if self.formula_ is None:
            raise InputError("this model has no formula: a parameter is categorical or not above zero everywhere")
        return self.formula_.monotone_pieces(low, high)

    def _get_state(self) -> dict[str, Any]:
        # A model with one possible degree need not store it.
        chosen = {"degree": self.degree_, "values": list(self._values)} if len(self._degrees) > 1 else {}
        chosen |= {"label_has": self._label_has} if self._label_has else {}
        return {
            "coordinates": self._coordinates.to_state(), **chosen, "fit": self._fit.to_state(),
            "doubt": self._rivals.to_state(),
            **({} if self._label_laws is None else {"label_laws": self._label_laws.to_state()}),
        }  # fmt: skip

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._coordinates = Coordinates.from_state(state["coordinates"])
        self.degree_ = str(state.get("degree", "linear"))
        self._label_has = str(state.get("label_has", ""))
        # Files of earlier versions hold no "values": their models had squares of all numbers or of none.
        numbers = sum(kind != "label" for kind in self._coordinates.kinds)
        self._values = [int(count) for count in state.get("values", [3] * numbers)]
        self._fit = LogLinear.from_state(state["fit"])
        self._rivals = RivalLaws.from_state(state["doubt"])
        self._label_laws = LabelLaws.from_state(state["label_laws"]) if "label_laws" in state else None
        self._finish()
