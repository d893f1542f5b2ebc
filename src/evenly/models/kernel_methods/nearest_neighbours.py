"""k nearest neighbours: the mean log time of the runs nearest to the asked configuration, nearer ones counting more."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any, ClassVar, final

import numpy as np
from numpy.typing import NDArray
from scipy.spatial import KDTree

from evenly.errors import InputError
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor

__all__ = ["NearestNeighbours"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Runs in a leaf of the search tree: many columns, as labels make, are searched fastest so.
_LEAF = 64
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
        """The number of neighbours that predicts each run best from the others."""
        candidates = [k for k in _CANDIDATES if k < len(self._values)] or [1]
        if len(self._values) < 3:
            return 1
        # Leave-one-out: neighbours of each run among the others, for all numbers of neighbours at once.
        distances, found = self._tree.query(self._places, max(candidates) + 1)
        # The run itself, or one at the same place, comes first.
        distances, found = np.asarray(distances)[:, 1:], np.asarray(found)[:, 1:]
        errors = [
            float(np.sum(self._weights * np.abs(self._mean(distances[:, :k], found[:, :k]) - self._values)))
            for k in candidates
        ]
        return candidates[int(np.argmin(errors))]

    def _mean(self, distances: Floats, found: Ints) -> Floats:
        # Shepard's inverse-distance weights; a run at the place asked for counts as nearly all.
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
class NearestNeighbours(RegressionModel):
    """Mean of the nearest runs' log times, weighted by inverse distance.

    Distances are Euclidean in logarithms scaled to the measured range; two labels lie √2 apart.

    Parameters
    ----------
    k : int, optional
        How many neighbours; the number that predicts left-out runs best when left out.
    folds : int
        How many folds intervals are learned from.

    Examples
    --------
    >>> model = NearestNeighbours(k=2).fit({"n": [10, 100, 1000]}, [1.0, 10.0, 100.0])
    >>> model.predict({"n": [100]}).round(3)
    array([10.])
    """

    method: ClassVar[str] = "nearest"
    summary: ClassVar[str] = "k nearest neighbours: weighted mean of the nearest runs' log times"

    def __init__(self, *, k: int | None = None, folds: int = 5) -> None:
        self.k = k
        self.folds = folds

    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        del coding, n_runs
        if self.k is not None and self.k < 1:
            raise InputError(f"k must be at least 1, but got {self.k}")
        return _Nearest(self.k)
