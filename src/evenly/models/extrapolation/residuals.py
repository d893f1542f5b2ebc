"""What a trend leaves, learned from runs and asked at the edge of their box.

Beyond the box nothing is known of what a trend leaves, so it stays what it is at the nearest place of the box. One
more input is the time that the trend tells: where behaviour changes with the amount of work (a cache, a switch of
algorithm), a configuration beyond the box by one parameter is like runs of as much work, not like those of its edge.
"""

from __future__ import annotations

from abc import ABC, abstractmethod

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from evenly.models.inputs.coding import Inputs

__all__ = ["RESIDUALS", "Residual", "residual"]

Floats = NDArray[np.float64]
RESIDUALS = ("none", "neighbours", "boosting")
_NEIGHBOURS = 8


class Residual(ABC):
    """Learns what a trend leaves."""

    @abstractmethod
    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        """Learn from runs (n, …), the trend's logs (n,) there, what it leaves (n,), and weights (n,)."""

    @abstractmethod
    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        """Return what the trend leaves, (n,), for inputs in the box."""


def residual(kind: str) -> Residual:
    """Return a residual model that has learned nothing yet."""
    kinds: dict[str, type[Residual]] = {"none": _Nothing, "neighbours": _Neighbours, "boosting": _Boosting}
    return kinds[kind]()


class _Nothing(Residual):
    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        del inputs, trend, rest, weights
        return self

    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        del trend
        return np.zeros(len(inputs))


class _Neighbours(Residual):
    """Mean of the nearest runs', near ones counting more."""

    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        del trend
        self._tree, self._rest, self._weights = KDTree(inputs.matrix), rest, weights
        return self

    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        del trend
        k = min(_NEIGHBOURS, len(self._rest))
        distances, found = (np.asarray(a) for a in self._tree.query(inputs.matrix, np.arange(1, k + 1)))
        # As if the asked place were a tenth of the farthest one's distance away from each: one run alone is noise.
        nearness = self._weights[found] / np.maximum(distances + 0.1 * distances[:, -1:], 1e-9)
        return np.asarray(np.sum(nearness * self._rest[found], axis=1) / nearness.sum(axis=1))


class _Boosting(Residual):
    """Boosted trees."""

    def fit(self, inputs: Inputs, trend: Floats, rest: Floats, weights: Floats) -> Residual:
        from sklearn.ensemble import HistGradientBoostingRegressor

        self._range = float(trend.min()), float(trend.max())
        self._trees = HistGradientBoostingRegressor(
            max_iter=150, learning_rate=0.1, max_leaf_nodes=15, min_samples_leaf=max(3, min(20, len(rest) // 20)),
            early_stopping=False, random_state=0,
        )  # fmt: skip
        self._trees.fit(self._features(inputs, trend), rest, sample_weight=weights)
        return self

    def _features(self, inputs: Inputs, trend: Floats) -> Floats:
        return np.column_stack([inputs.matrix, np.clip(trend, *self._range)])

    def predict(self, inputs: Inputs, trend: Floats) -> Floats:
        return np.asarray(self._trees.predict(self._features(inputs, trend)), dtype=np.float64)
