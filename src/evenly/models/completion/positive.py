"""Tensor completion that extrapolates: a canonical polyadic decomposition with positive factors.

Times on a grid are a sum over r of products with one positive number per parameter. Each factor matrix is approximated
by a matrix of rank 1. Its left singular vector is positive (Perron and Frobenius) and, for run times, usually monotone.
A spline through its logarithm extrapolates beyond the range [Hutter and Solomonik, Application performance modeling via
tensor completion, 2023, sections 5.2 and 5.3: CPR-E].

There are four differences from the paper, each of which improves predictions:

* Runs are moved to the centre of their cell before they are averaged.
* Between grid points the logarithms of factors are interpolated, which is exact for power laws.
* The rank is chosen on held-out runs, both in an outer shell and inside, instead of on the test set.
* Splines are weighted by the number of runs in each row.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.completion.positive_grid import CellGrid
from evenly.models.completion.positive_newton import complete
from evenly.models.extrapolation.edge_shells import outer_shell
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor, left_out_logs
from evenly.models.splines.univariate import HingeCurve, univariate_hinges

__all__ = ["PositiveCompletion"]

_RANKS = (1, 2, 4, 8)
#: Largest slope of a factor's logarithm, per grid step, between the outermost centre and the edge of the range.
_STEEPEST = 3.0
_FINITE = 300.0
_HELD_OUT = 0.2


class _Positive(Regressor):
    """A CP decomposition with positive factors, and a spline through each factor of a number."""

    def __init__(self, coding: Coding, rank: int | None, cells: int | None, ridge: float) -> None:
        self._coding, self._rank, self._cells, self._ridge = coding, rank, cells, ridge

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self.rank = self._rank or self._best_rank(inputs, logs, weights)
        self._grid = CellGrid.learn(inputs, self._cells)
        self._centre = float(np.average(logs, weights=weights))
        measured = self._grid.cells(inputs, logs - self._centre, weights)
        d = len(self._grid.centres)
        self._factors = complete(measured, self._grid.shape, self.rank, numeric=d, ridge=self._ridge)
        counts = [np.bincount(i, measured.weights, minlength=n).astype(np.float64)
                  for i, n in zip(measured.index.T, self._grid.shape, strict=True)]  # fmt: skip
        self._low, self._high = inputs.numbers.min(axis=0), inputs.numbers.max(axis=0)
        # The rank-1 part σ u v' of each number's factor, and a hinge curve through log u (section 5.3). Rows without
        # runs were interpolated from their neighbours, so they get a small weight.
        self._tails: list[tuple[HingeCurve, Floats]] = []
        for factor, centres, count in zip(self._factors, self._grid.centres, counts, strict=False):
            left, right = rank_one(factor)
            curve = univariate_hinges(centres, np.log(left), np.maximum(count, 0.1 * count.mean()))
            self._tails.append((curve, np.log(right)))

    def _best_rank(self, inputs: Inputs, logs: Floats, weights: Floats) -> int:
        """Return the rank with the least error on held-out runs, both random ones and those in an outer shell."""
        inside = np.random.default_rng(0).permutation(len(logs)) >= _HELD_OUT * len(logs)
        splits = [(inside, ~inside)] if len(logs) >= 10 else []
        shell = outer_shell(inputs, _HELD_OUT)
        if shell is not None and shell.inner.sum() >= 10:
            splits.append((shell.inner, shell.outer))
        if not splits:
            return 1
        errors = []
        for rank in _RANKS:
            each = []
            for learn, ask in splits:
                other = _Positive(self._coding, rank, self._cells, self._ridge)
                other.fit(inputs.rows(learn), logs[learn], weights[learn])
                missed = np.abs(other.predict(inputs.rows(ask)) - logs[ask])
                each.append(float(np.average(missed, weights=weights[ask])) + 1e-9)
            # Rounded, so that the unit of time can't break ties.
            errors.append(float(np.round(np.mean(np.log(each)), 6)))
        return _RANKS[int(np.argmin(errors))]

    def predict(self, inputs: Inputs) -> Floats:
        # Logarithms of the products over modes, (n, rank). Inside a parameter's range, the factor's logarithms are
        # interpolated (equation 5, there without logarithms). Outside, the spline of its rank-1 part is extrapolated
        # (section 5.3).
        product = np.zeros((len(inputs), self.rank))
        for j, x in enumerate(inputs.numbers.T):
            outside = (x < self._low[j] - 1e-9) | (x > self._high[j] + 1e-9)
            curve, right = self._tails[j]
            product += np.where(outside[:, None], curve(x)[:, None] + right, self._between(j, x))
        for factor, label in zip(self._factors[len(self._tails) :], inputs.labels.T, strict=True):
            product += np.log(factor)[label]
        # Logarithm of the sum over r; the largest term is factored out, so that nothing overflows.
        top = product.max(axis=1)
        logs = top + np.log(np.exp(product - top[:, None]).sum(axis=1))
        return np.asarray(np.clip(logs + self._centre, -_FINITE, _FINITE))

    def _between(self, j: int, x: Floats) -> Floats:
        """Interpolate the logarithms of factor j's rows at x, coded numbers (n,); return (n, rank)."""
        below, part = self._grid.between(j, x)
        rows, part = np.log(self._factors[j]), part[:, None]
        low, high = rows[below], rows[np.minimum(below + 1, len(rows) - 1)]
        # Between the last centre and the edge of the range (half a cell) the slope is limited. Otherwise a component
        # that nearly vanishes at one of the last two centres could grow without bound.
        step = np.where((part < 0) | (part > 1), np.clip(high - low, -_STEEPEST, _STEEPEST), high - low)
        return np.asarray(np.where(part > 1, high + (part - 1) * step, low + part * step))

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """Predict each fold by a refit without it, with the rank of all runs, which hardly depends on one fold."""
        made = self._coding, self.rank, self._cells, self._ridge
        return left_out_logs(lambda: _Positive(*made), inputs, logs, weights, folds)

    @property
    def coefficients(self) -> float:
        return float(self.rank * (sum(self._grid.shape) - len(self._grid.shape) + 1))

    def get_state(self) -> dict[str, Any]:
        tails = [{"curve": curve.to_state(), "right": right} for curve, right in self._tails]
        return {
            "grid": self._grid.to_state(), "factors": self._factors, "centre": self._centre, "rank": self.rank,
            "low": self._low, "high": self._high, "tails": tails,
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._grid = CellGrid.from_state(state["grid"])
        self._factors = [np.asarray(u, dtype=np.float64) for u in state["factors"]]
        self._centre, self.rank = float(state["centre"]), int(state["rank"])
        self._low, self._high = np.asarray(state["low"]), np.asarray(state["high"])
        self._tails = [
            (HingeCurve.from_state(tail["curve"]), np.asarray(tail["right"], dtype=np.float64))
            for tail in state["tails"]
        ]


def rank_one(factor: Floats) -> tuple[Floats, Floats]:
    """Return u (n,) and σ v (rank,), both positive, of the best approximation σ u vᵀ of a positive matrix (n, rank).

    Examples
    --------
    >>> u, v = rank_one(np.outer([1.0, 2.0, 4.0], [3.0, 5.0]))
    >>> np.outer(u, v).round(12)
    array([[ 3.,  5.],
           [ 6., 10.],
           [12., 20.]])
    """
    u, s, vt = np.linalg.svd(factor, full_matrices=False)
    # Positive by Perron and Frobenius, up to a common sign and to rounding.
    tiny = 1e-12
    left, right = np.abs(u[:, 0]), np.abs(vt[0]) * s[0]
    return np.maximum(left, tiny * left.max()), np.maximum(right, tiny * right.max())


@final
@dataclass(kw_only=True, eq=False, repr=False)
class PositiveCompletion(RegressionModel[_Positive]):
    """Canonical polyadic completion of a grid of times with positive factors, whose splines extrapolate.

    Parameters
    ----------
    rank : int, optional
        Number of products in the sum; by default 1, 2, 4 or 8, chosen on held-out runs.
    cells : int, optional
        Number of cells along each number; by default it depends on the number of runs.
    ridge : float
        Weight λ of the factors' squares.
    folds : int
        Number of folds for the left-out residuals from which intervals are learned.

    Examples
    --------
    >>> n, p = np.meshgrid([100.0, 200, 400, 800], [1.0, 2, 4, 8])
    >>> table = {"n": n.ravel(), "p": p.ravel()}
    >>> model = PositiveCompletion(rank=1).fit(table, 1e-6 * n.ravel() ** 2 / p.ravel())
    >>> model.predict({"n": [800], "p": [8]}).round(3)
    array([0.08])
    """

    method: ClassVar[str] = "cpr-positive"
    summary: ClassVar[str] = "tensor completion with positive factors: splines through them go on beyond the range"

    rank: int | None = None
    cells: int | None = None
    ridge: float = 1e-5
    folds: int = 5

    def regressor(self, coding: Coding) -> _Positive:
        for name, least in (("rank", 1), ("cells", 2)):
            value = getattr(self, name)
            if value is not None and value < least:
                raise InputError(f"{name} must be at least {least}, but got {value}")
        if self.ridge < 0:
            raise InputError(f"ridge must be 0 or above, but got {self.ridge}")
        return _Positive(coding, self.rank, self.cells, self.ridge)

    # Predictions beyond the range aren't limited by the measured times.
    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        super()._learn(table, values, weights)
        self._limits = -_FINITE, _FINITE
