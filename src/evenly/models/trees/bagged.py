"""Forests on what the trend leaves: every tree sees a sample of the runs, so the others tell how well it predicts."""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import Derived, choose
from evenly.models.regression_model import Regressor
from evenly.models.trees.columns import Columns
from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.sklearn_trees import forest_trees

__all__ = ["Bagged"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Trees of the comparisons of inputs; out-of-bag errors of fewer trees count missing runs.
_PILOT = 30


class Bagged(Regressor):
    """A forest of scikit-learn's, on residuals of the trend as the other runs have it."""

    def __init__(self, coding: Coding, kind: Any, trees: int, smallest: int) -> None:
        self._coding, self._kind, self._trees, self._smallest = coding, kind, trees, smallest

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        columns, trend = Columns.learn(inputs, logs, weights, Derived.learn(self._coding, inputs, ()))
        left = logs - trend

        def error(derived: Derived) -> float:
            x = Columns(derived, columns.effects, columns.trend).matrix(inputs, trend)
            return float(np.nansum(weights * np.abs(self._grow(x, left, weights, _PILOT)[1] - left)))

        derived = Derived.learn(self._coding, inputs)
        self._columns = Columns(choose(derived, error), columns.effects, columns.trend)
        forest, unseen = self._grow(self._columns.matrix(inputs, trend), left, weights, self._trees)
        self._ensemble = TreeEnsemble.of(forest_trees(forest), scale=1 / self._trees)
        self._known = trend + unseen

    def _grow(self, x: Any, y: Floats, weights: Floats, trees: int) -> tuple[Any, Floats]:
        """Return a forest, and what trees that haven't seen a run say of it (n,), NaN where all have."""
        forest = self._kind(
            n_estimators=trees, min_samples_leaf=self._smallest, max_features=0.6, bootstrap=True, random_state=1,
            oob_score=len(y) > 2,
        )  # fmt: skip
        with warnings.catch_warnings():
            # Few runs may be in every tree's sample, which scikit-learn tells; so does the NaN here.
            warnings.simplefilter("ignore")
            forest.fit(x, y, sample_weight=weights)
        if len(y) <= 2:
            return forest, np.full(len(y), np.nan)
        seen_by_all = np.asarray(forest.oob_prediction_) == 0.0
        return forest, np.where(seen_by_all, np.nan, forest.oob_prediction_)

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del logs, weights, folds
        # With runs of one configuration, those left in a sample tell those left out; refitting keeps them together.
        _, repeats = np.unique(np.hstack([inputs.numbers, inputs.labels]), axis=0, return_counts=True)
        return self._known if repeats.max() == 1 and np.isfinite(self._known).all() else None

    def predict(self, inputs: Inputs) -> Floats:
        trend = self._columns.trend.predict(inputs)
        return np.asarray(trend + self._ensemble.predict(self._columns.matrix(inputs, trend)))

    @property
    def coefficients(self) -> float:
        return 1.0 + len(self._columns.trend.linear)

    def get_state(self) -> dict[str, Any]:
        return {"columns": self._columns.to_state(), "trees": self._ensemble.to_state()}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self._columns = Columns.from_state(state["columns"])
        self._ensemble = TreeEnsemble.from_state(state["trees"])
