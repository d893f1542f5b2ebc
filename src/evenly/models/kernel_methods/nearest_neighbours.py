"""k-nearest-neighbour regression: the inverse-distance weighted mean log time of the nearest runs."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np
from scipy.spatial import KDTree

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor

__all__ = ["NearestNeighbours"]

#: Leaf size of the k-d tree: large leaves are fastest for many columns, as labels make them.
_LEAF = 64
#: Numbers of neighbours from which leave-one-out chooses.
_CANDIDATES = (1, 2, 3, 4, 5, 6, 8)


class _Nearest(Regressor):
    """Inverse-distance weights over the k nearest runs."""

    def __init__(self, k: int | None) -> None:
        self._asked = k

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._places, self._values, self._weights = inputs.matrix, logs, weights
        self._tree = KDTree(self._places, leafsize=_LEAF)
        self.k = self._asked or self._best()

    def _best(self) -> int:
        """Return the number of neighbours of the least leave-one-out error."""
        candidates = [k for k in _CANDIDATES if k < len(self._values)] or [1]
        if len(self._values) < 3:
            return 1
        # One search finds the neighbours for all candidates.
        distances, found = self._tree.query(self._places, max(candidates) + 1)
        # Drop the first neighbour: it is the run itself, or a run at the same place.
        distances, found = np.asarray(distances)[:, 1:], np.asarray(found)[:, 1:]
        errors = [
            float(np.sum(self._weights * np.abs(self._mean(distances[:, :k], found[:, :k]) - self._values)))
            for k in candidates
        ]
        return candidates[int(np.argmin(errors))]

    def _mean(self, distances: Floats, found: Ints) -> Floats:
        # Shepard's inverse-distance weights; a run at distance 0 gets nearly all the weight.
        nearness = self._weights[found] / np.maximum(distances, 1e-9)
        return np.asarray(np.sum(nearness * self._values[found], axis=1) / nearness.sum(axis=1))

    def predict(self, inputs: Inputs) -> Floats:
        k = min(self.k, len(self._values))
        distances, found = self._tree.query(inputs.matrix, np.arange(1, k + 1))
        return self._mean(np.asarray(distances), np.asarray(found))

    def get_state(self) -> dict[str, Any]:
        return {"places": self._places, "values": self._values, "weights": self._weights, "k": self.k}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._places, self._values, self._weights = (np.asarray(state[n]) for n in ("places", "values", "weights"))
        self._tree, self.k = KDTree(self._places, leafsize=_LEAF), int(state["k"])


@final
@dataclass(kw_only=True, eq=False, repr=False)
class NearestNeighbours(RegressionModel[_Nearest]):
    """Mean of the nearest runs' log times, weighted by inverse distance.

    Distances are Euclidean in logarithms scaled to the measured range; two labels lie √2 apart.

    Parameters
    ----------
    k : int, optional
        Number of neighbours; by default the number of the least leave-one-out error.
    folds : int
        Number of cross-validation folds that intervals are computed from.

    Examples
    --------
    >>> model = NearestNeighbours(k=2).fit({"n": [10, 100, 1000]}, [1.0, 10.0, 100.0])
    >>> model.predict({"n": [100]}).round(3)
    array([10.])
    """

    method: ClassVar[str] = "nearest"
    summary: ClassVar[str] = "k nearest neighbours: weighted mean of the nearest runs' log times"

    k: int | None = None
    folds: int = 5

    def regressor(self, coding: Coding) -> _Nearest:
        del coding
        if self.k is not None and self.k < 1:
            raise InputError(f"k must be at least 1, but got {self.k}")
        return _Nearest(self.k)
