"""Monotone piecewise-linear curves through the measured points of one parameter.

The model assumes no formula. It joins the measured points by straight lines. If measurements aren't monotone,
neighbouring points are replaced by their mean in log space (isotonic regression by pooling adjacent violators).

A falling curve is extrapolated as follows. Above the last point, ``y(n) = y_last · (1 - s + s · n_last / n)``: a share
s of the time scales perfectly, and the rest is constant. s is the share that explains the last two points. Below the
first point, the time scales perfectly. A rising curve keeps its last slope above the last point, and is proportional to
the parameter below the first.

With `asked`, the extrapolated values at the ends of that range become knots, joined by straight lines. Then the curve
is piecewise linear on the whole range. Mixed-integer programs need this, and published layouts of CESM were computed
so.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, Literal, final

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.base import Model
from evenly.models.scaling_laws.formula import Piece
from evenly.models.scaling_laws.loglinear import LogLinear
from evenly.models.scaling_laws.offset_power_law import one_positive_column
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["PiecewiseLinear"]

Monotone = Literal["decreasing", "increasing"]


@final
@dataclass(kw_only=True, eq=False, repr=False)
class PiecewiseLinear(Model):
    """Straight lines between the measured points of one parameter above zero, made monotone.

    Parameters
    ----------
    monotone : {"decreasing", "increasing"}, optional
        Whether the curve falls or rises. By default it takes the direction that changes the measured values less.
    asked : mapping of str to tuple of two floats, optional
        Prediction range of the parameter. The curve gets knots at its ends, joined to the measured points by straight
        lines.

    Attributes
    ----------
    knots_, values_ : array (n_knots,)
        The points where the lines meet, including those at the ends of `asked`.

    Examples
    --------
    >>> model = PiecewiseLinear(asked={"cores": (16, 512)}).fit({"cores": [32, 64, 128]}, [80.0, 45.0, 30.0])
    >>> model.predict({"cores": [48, 64]})
    array([62.5, 45. ])
    >>> model.knots_, model.values_
    (array([ 16.,  32.,  64., 128., 512.]), array([160.,  80.,  45.,  30.,  15.]))
    """

    method: ClassVar[str] = "piecewise-linear"
    summary: ClassVar[str] = "straight lines through the measured points of one parameter, made monotone"

    monotone: Monotone | None = None
    asked: Mapping[str, tuple[float, float]] | None = None

    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        x = one_positive_column(table, self.method)
        self._ends = self._check(str(table.columns[0]))
        # The curve: average the runs at each value of the parameter, then pool neighbours until it is monotone.
        points, logs, totals = _pooled(x, np.log(values), weights)
        self._decreasing = self._falls(logs, totals)
        self._points, self._measured = points, np.exp(_isotonic(logs, totals, self._decreasing))
        self._finish()
        # The interval: leave-one-out residuals of the curve, and the leverages of a power law.
        self._loglinear = LogLinear.learn(np.column_stack([np.ones(len(x)), np.log(x)]), np.log(values), weights)
        residuals = np.array([self._left_out(x, values, weights, k) for k in range(len(x))])
        residuals[~self._is_measured] = np.nan
        self.left_out_predictions_ = values / np.exp(residuals)
        self._conformal = LogConformal.from_residuals(
            residuals, self._loglinear.leverages, coefficients=min(2, len(points))
        )

    def _check(self, name: str) -> tuple[float, float] | None:
        """Check the arguments; return the ends of the prediction range, or None if there is none."""
        if self.monotone not in (None, "decreasing", "increasing"):
            raise InputError(f"monotone must be 'decreasing', 'increasing' or None, but got {self.monotone!r}")
        if self.asked is None:
            return None
        if set(self.asked) != {name}:
            raise InputError(f"asked must name the parameter {name!r}, but got {', '.join(map(repr, self.asked))}")
        ends = tuple(float(value) for value in self.asked[name])
        if len(ends) != 2 or not 0 < ends[0] <= ends[1] < math.inf:
            raise InputError(
                f"asked[{name!r}] must be two numbers above zero, the lower first, but got {self.asked[name]!r}"
            )
        return ends[0], ends[1]

    def _falls(self, logs: Floats, totals: Floats) -> bool:
        """Return whether the curve falls: as `monotone` says, or if a falling curve is closer to the measured logs."""
        if self.monotone is not None:
            return self.monotone == "decreasing"
        errors = [float(np.sum(totals * (_isotonic(logs, totals, down) - logs) ** 2)) for down in (True, False)]
        return errors[0] <= errors[1]

    def _finish(self) -> None:
        knots, values = self._points, self._measured
        if self._ends is not None:
            low, high = self._ends
            if low < knots[0]:
                knots, values = np.append(low, knots), np.append(self._below(np.array([low])), values)
            if high > knots[-1]:
                knots, values = np.append(knots, high), np.append(values, self._above(np.array([high])))
        self.knots_, self.values_ = knots, values

    def _below(self, x: Floats) -> Floats:
        """Extrapolate below the first point: perfect scaling if the curve falls, proportionality if it rises."""
        ratio = self._points[0] / x
        return np.asarray(self._measured[0] * (ratio if self._decreasing else 1 / ratio), dtype=np.float64)

    def _above(self, x: Floats) -> Floats:
        """Extrapolate above the last point: with a perfectly scaling share if the curve falls, linearly if it rises."""
        if len(self._points) == 1:
            return np.full(len(x), self._measured[-1])
        (x1, x2), (y1, y2) = self._points[-2:], self._measured[-2:]
        if not self._decreasing:
            return np.asarray(y2 + (y2 - y1) / (x2 - x1) * (x - x2), dtype=np.float64)
        # The share s that explains y2 / y1 is limited to 1, so that superlinear scaling is not extrapolated.
        share = min((1 - y2 / y1) / (1 - x1 / x2), 1.0)
        return np.asarray(y2 * (1 - share + share * x2 / x), dtype=np.float64)

    def _predict(self, table: pd.DataFrame) -> Floats:
        return self._curve(one_positive_column(table, self.method))

    def _curve(self, x: Floats) -> Floats:
        inside = np.interp(x, self.knots_, self.values_)
        inside = np.where(x < self.knots_[0], self._below(x), inside)
        return np.asarray(np.where(x > self.knots_[-1], self._above(x), inside), dtype=np.float64)

    def _left_out(self, x: Floats, values: Floats, weights: Floats, k: int) -> float:
        """Return the leave-one-out log residual of run k, from the curve through the others; NaN if there are none."""
        others = np.arange(len(x)) != k
        if not weights[others].any() or len(x) < 2:
            return float("nan")
        fitted = PiecewiseLinear(monotone="decreasing" if self._decreasing else "increasing")
        points, logs, totals = _pooled(x[others], np.log(values[others]), weights[others])
        fitted._decreasing, fitted._ends = self._decreasing, None
        fitted._points, fitted._measured = points, np.exp(_isotonic(logs, totals, self._decreasing))
        fitted._finish()
        return float(np.log(values[k] / fitted._curve(x[k : k + 1])[0]))

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        x = one_positive_column(table, self.method)
        leverage = self._loglinear.leverage(np.column_stack([np.ones(len(x)), np.log(x)]))
        factor = np.exp(self._conformal.half_width(level) * np.sqrt(1.0 + leverage))
        values = self._curve(x)
        return values / factor, values * factor

    def monotone_pieces(self, low: int, high: int) -> list[Piece]:
        """Return the whole range as one piece: the curve is monotone by construction."""
        if not 1 <= low <= high:
            raise InputError(f"monotone pieces need 1 <= low <= high, but got {low} and {high}")
        return [(int(low), int(high), -1 if self._decreasing else 1)]

    def _get_state(self) -> dict[str, Any]:
        return {
            "decreasing": bool(self._decreasing), "ends": self._ends,
            "points": self._points, "measured": self._measured,
            "loglinear": self._loglinear.to_state(), "conformal": self._conformal.to_state(),
        }  # fmt: skip

    def _set_state(self, state: Mapping[str, Any]) -> None:
        self._decreasing = bool(state["decreasing"])
        self._ends = None if state["ends"] is None else (float(state["ends"][0]), float(state["ends"][1]))
        self._points = np.asarray(state["points"], dtype=np.float64)
        self._measured = np.asarray(state["measured"], dtype=np.float64)
        self._loglinear = LogLinear.from_state(state["loglinear"])
        self._conformal = LogConformal.from_state(state["conformal"])
        self._finish()


def _pooled(x: Floats, logs: Floats, weights: Floats) -> tuple[Floats, Floats, Floats]:
    """Average runs at the same point; return the points in ascending order, mean logs and total weights."""
    # Sort the runs, so that rounding errors of sums don't depend on the order passed in.
    order = np.lexsort((logs, x))
    order = order[weights[order] > 0]
    points, index = np.unique(x[order], return_inverse=True)
    totals: Floats = np.bincount(index, weights[order]).astype(np.float64)
    return points, np.bincount(index, weights[order] * logs[order]) / totals, totals


def _isotonic(logs: Floats, weights: Floats, decreasing: bool) -> Floats:
    """Return the closest monotone values to logs (n,), by pooling adjacent violators [Barlow et al., 1972]."""
    from sklearn.isotonic import isotonic_regression

    result: Floats = isotonic_regression(logs, sample_weight=weights, increasing=not decreasing)
    return result
