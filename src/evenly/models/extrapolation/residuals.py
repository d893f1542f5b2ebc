"""Regressions of a trend's residuals, evaluated inside the bounding box of the runs.

Nothing is known about residuals beyond the box, so a configuration outside gets the residual at the nearest point of
the box. Boosted trees have one more input: the time that the trend predicts. Behaviour may change with the amount of
work (a cache, a switch of algorithm). A configuration beyond the box in one parameter then resembles runs with the same
predicted time more than runs at the nearest edge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from scipy.spatial import KDTree

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.threads import without_openmp

__all__ = ["RESIDUALS", "Residual"]

_NEIGHBOURS = 8


class Residual(ABC):
    """A regression of the residuals of a trend."""

    @abstractmethod
    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        """Learn from runs (n, …), the trend's logs there (n,), the residuals `rest` (n,), and weights (n,)."""

    @abstractmethod
    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        """Return residuals, (n,), for inputs (n, …) in the box, given the trend's logs (n,)."""


class _Neighbours(Residual):
    """Mean residual of the nearest runs, weighted by inverse distance [Shepard 1968]."""

    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        del trend
        self._tree, self._rest, self._weights = KDTree(inputs.matrix), rest, weights
        return self

    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        del trend
        k = min(_NEIGHBOURS, len(self._rest))
        distances, found = (np.asarray(a) for a in self._tree.query(inputs.matrix, np.arange(1, k + 1)))
        # A tenth of the farthest neighbour's distance is added to each distance, so that no single noisy run dominates.
        nearness = self._weights[found] / np.maximum(distances + 0.1 * distances[:, -1:], 1e-9)
        return np.asarray(np.sum(nearness * self._rest[found], axis=1) / nearness.sum(axis=1))


class _Boosting(Residual):
    """Gradient boosting of trees by least squares [Friedman 2001, algorithm 2], by scikit-learn."""

    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        # Imported here, since only candidates with trees need scikit-learn.
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._range = float(trend.min()), float(trend.max())
        self._trees = HistGradientBoostingRegressor(
            max_iter=150, learning_rate=0.1, max_leaf_nodes=15, min_samples_leaf=max(3, min(20, len(rest) // 20)),
            early_stopping=False, random_state=0,
        )  # fmt: skip
        with without_openmp():
            self._trees.fit(self._features(inputs, trend), rest, sample_weight=weights)
        return self

    def _features(self, inputs: Inputs, trend: Floats) -> Floats:
        return np.column_stack([inputs.matrix, np.clip(trend, *self._range)])

    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        with without_openmp():
            return np.asarray(self._trees.predict(self._features(inputs, trend)), dtype=np.float64)


#: Regressions of residuals by name; with "none", residuals are taken to be zero.
RESIDUALS: dict[str, type[Residual] | None] = {"none": None, "neighbours": _Neighbours, "boosting": _Boosting}
