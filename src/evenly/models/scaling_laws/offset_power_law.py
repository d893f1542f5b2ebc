"""The scaling curve of coupled climate models: ``seconds(n) = a / n + b · n^c + k`` with a, b, k >= 0.

One part scales perfectly, one grows with the number of processes (communication), and one is constant. This curve was
used to optimise the component layouts of CESM [Alexeev et al., The heuristic static load-balancing algorithm applied to
the Community Earth System Model, 2014]. For a fixed exponent c, the fit of a, b and k is a non-negative linear
least-squares problem, whose minimum is global. So the fit is a one-dimensional search over c and needs no starting
values.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.scaling_laws.credible_bounds import RivalLaws
from evenly.models.scaling_laws.formula import Formula, Piece, Term
from evenly.models.scaling_laws.loglinear import LogLinear
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["OffsetPowerLaw", "one_positive_column"]

#: Number of exponents c on the grid of the search.
_GRID = 51


@final
@dataclass(kw_only=True, eq=False, repr=False)
class OffsetPowerLaw(Model):
    """Sum of a perfectly scaling, a growing and a constant part, for one parameter above zero.

    Parameters
    ----------
    growth : tuple of two floats
        Least and largest exponent c. With the default, the growing part can range from constant to proportional to n.
    residuals : {"absolute", "relative"}
        Whether the fit minimises squared errors in seconds, as in the published fits, or squared relative errors.

    Attributes
    ----------
    scaling_, coefficient_, exponent_, offset_ : float
        a, b, c and k.
    formula_ : Formula

    Examples
    --------
    >>> cores = np.array([1, 4, 16, 64, 256])
    >>> model = OffsetPowerLaw().fit({"cores": cores}, 100 / cores + 0.5 * cores**0.5 + 2)
    >>> print(model.formula_)
    100 · cores^-1 + 0.5 · cores^0.5 + 2
    """

    method: ClassVar[str] = "offset-power-law"
    summary: ClassVar[str] = "a/n + b·n^c + k with a, b, k >= 0: scaling, growing and constant parts of one parameter"

    is_law: ClassVar[bool] = True

    growth: tuple[float, float] = (0.0, 1.0)
    residuals: Literal["absolute", "relative"] = "absolute"

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        x = self._check(table)
        low, high = (float(c) for c in self.growth)
        grid = np.linspace(low, high, _GRID)
        # Absolute errors are divided by the geometric mean of the values, so that the unit of time has no effect.
        roots = np.sqrt(weights) / (values if self.residuals == "relative" else float(np.exp(np.log(values).mean())))
        self._name = str(table.columns[0])
        self._parts = _fit(x, values, roots, grid)
        # Leave-one-out predictions: one fit without each run. For the interval, the leverages of a power law are used.
        measured = self._is_measured
        logs = np.array([self._left_out(x, values, roots, grid, k) if measured[k] else np.nan for k in range(len(x))])
        self.left_out_predictions_ = np.exp(logs)
        self._loglinear = LogLinear.learn(np.column_stack([np.ones(len(x)), np.log(x)]), np.log(values), weights)
        self._conformal = LogConformal.from_residuals(
            np.log(values) - logs, self._loglinear.leverages, coefficients=min(3, len(np.unique(x)))
        )
        loss = float(np.average((np.log(values) - logs)[measured] ** 2, weights=weights[measured]))
        self._rivals = RivalLaws.learn(table, values, weights, loss=loss, coefficients=3)
        self._finish()

    def _check(self, table: pd.DataFrame) -> Floats:
        if self.residuals not in ("absolute", "relative"):
            raise InputError(f"residuals must be 'absolute' or 'relative', but got {self.residuals!r}")
        ends: list[float] = list(self.growth)
        if len(ends) != 2 or not np.isfinite(ends).all() or ends[0] > ends[1]:
            raise InputError(f"growth must be the least and the largest c, both finite, but got {self.growth!r}")
        return one_positive_column(table, self.method)

    def _left_out(self, x: Floats, values: Floats, roots: Floats, grid: Floats, k: int) -> float:
        """Return the logarithm of the leave-one-out prediction of run k; NaN if the other runs don't determine it."""
        others = np.arange(len(x)) != k
        if len(np.unique(x[others])) < 2 or not roots[others].any():
            return float("nan")
        # One run changes the best c little: search on a coarse grid, and on a fine one near the best c of all runs.
        near = np.unique(np.concatenate([grid[::5], grid[np.abs(grid - self._parts[1]) <= 0.1 * (grid[-1] - grid[0])]]))
        return float(np.log(_value(_fit(x[others], values[others], roots[others], near), x[k : k + 1]))[0])

    def _finish(self) -> None:
        self.scaling_, self.exponent_, self.coefficient_, self.offset_ = (float(v) for v in self._parts)
        terms = (
            Term(self.scaling_, (-1.0,), (0.0,)),
            Term(self.coefficient_, (self.exponent_,), (0.0,)),
            Term(self.offset_, (0.0,), (0.0,)),
        )
        self.formula_ = Formula.total((self._name,), terms)

    def _predict(self, table: pd.DataFrame) -> Floats:
        return _value(self._parts, one_positive_column(table, self.method))

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        x = one_positive_column(table, self.method)
        leverage = self._loglinear.leverage(np.column_stack([np.ones(len(x)), np.log(x)]))
        return self._rivals.bounds(table, _value(self._parts, x), leverage, self._conformal, level)

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Split the whole numbers from `low` to `high` into monotone ranges; see `Formula.monotone_pieces`."""
        return self.formula_.monotone_pieces(low, high)

    def _get_state(self) -> dict[str, Any]:
        return {
            "name": self._name, "parts": np.array(self._parts), "loglinear": self._loglinear.to_state(),
            "conformal": self._conformal.to_state(), "doubt": self._rivals.to_state(),
        }  # fmt: skip

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._name = str(state["name"])
        self._parts = tuple(float(v) for v in state["parts"])
        self._loglinear = LogLinear.from_state(state["loglinear"])
        self._conformal = LogConformal.from_state(state["conformal"])
        self._rivals = RivalLaws.from_state(state["doubt"])
        self._finish()


def one_positive_column(table: pd.DataFrame, method: str) -> Floats:
    """Return the only column of a table, (n,); raise `InputError` unless it is numeric and above zero."""
    if table.shape[1] != 1:
        names = ", ".join(map(str, table.columns))
        raise InputError(
            f"{method} models take one parameter, but got {table.shape[1]} ({names}): use power-law or pmnf"
        )
    column = table.iloc[:, 0]
    if not pd.api.types.is_numeric_dtype(column) or pd.api.types.is_bool_dtype(column):
        raise InputError(f"{method} models need a number, but {column.name!r} holds {column.iloc[0]!r}")
    x: Floats = column.to_numpy(dtype=np.float64)
    if not (x > 0).all():
        raise InputError(f"{method} models need values above zero, but {column.name!r} holds {x[~(x > 0)][0]}")
    return x


def _value(parts: tuple[float, ...], x: Floats) -> Floats:
    """Return ``a / x + b x^c + k`` at x (n,)."""
    a, c, b, k = parts
    return np.asarray(a / x + b * x**c + k, dtype=np.float64)


def _fit(x: Floats, values: Floats, roots: Floats, grid: Floats) -> tuple[float, ...]:
    """Return (a, c, b, k) of least squared error: the best c of a grid, refined between its grid neighbours."""
    # Variable projection: each c has a best a, b and k, found by linear least squares. So only c is searched.
    order = np.lexsort((values, x))
    x, values, roots = x[order], values[order], roots[order]
    errors = np.array([_given_growth(x, values, roots, c)[0] for c in grid])
    best = int(np.argmin(errors))
    low, high = grid[max(best - 1, 0)], grid[min(best + 1, len(grid) - 1)]
    c = float(grid[best])
    if high > low:
        from scipy.optimize import minimize_scalar

        found = minimize_scalar(
            lambda t: _given_growth(x, values, roots, float(t))[0], bounds=(low, high), method="bounded",
            options={"xatol": 1e-6},
        )  # fmt: skip
        if found.fun < errors[best] * (1 - 1e-12):
            c = float(found.x)
    a, b, k = _given_growth(x, values, roots, c)[1]
    return float(a), c, float(b), float(k)


def _given_growth(x: Floats, values: Floats, roots: Floats, c: float) -> tuple[float, Floats]:
    """Fit (a, b, k) for a given c by non-negative least squares; return the error and (a, b, k).

    [Lawson and Hanson, 1974]
    """
    from scipy.optimize import nnls

    design = np.column_stack([1 / x, x**c, np.ones_like(x)]) * roots[:, None]
    lengths = np.maximum(np.linalg.norm(design, axis=0), 1e-300)
    coefficients, error = nnls(design / lengths, values * roots)
    return float(error), coefficients / lengths
