"""Forests on what a trend leaves of the log times: each tree learns from a sample of the runs.

Trees get coded parameters, and derived inputs (`evenly.models.inputs.derived`) where these help. They can't extrapolate
beyond the measured range; the trend does, as a power law.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from typing import Any, ClassVar

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import Derived, choose
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.trees.columns import Columns
from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.sklearn_trees import forest_trees

__all__ = ["BaggedModel"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Trees of the forests that compare derived inputs. With fewer, many runs would be in every tree's sample.
_PILOT = 30


class _Bagged(Regressor):
    """A forest of scikit-learn's class `kind`, on the residuals that the trend has for runs left out of it."""

    def __init__(self, coding: Coding, kind: str, trees: int, smallest: int) -> None:
        self._coding, self._kind, self._trees, self._smallest = coding, kind, trees, smallest

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        columns, trend = Columns.learn(inputs, logs, weights, Derived.learn(self._coding, inputs, ()))
        left = logs - trend

        def error(derived: Derived) -> float:
            x = Columns(derived, columns.effects, columns.trend).matrix(inputs, trend)
            return float(np.nansum(weights * np.abs(self._grow(x, left, weights, _PILOT)[1] - left)))

        # Derived inputs are chosen by the out-of-bag error of small forests [Breiman 2001, section 3.1].
        derived = Derived.learn(self._coding, inputs)
        self._columns = Columns(choose(derived, error), columns.effects, columns.trend)
        forest, unseen = self._grow(self._columns.matrix(inputs, trend), left, weights, self._trees)
        self._ensemble = TreeEnsemble.of(forest_trees(forest), scale=1 / self._trees)
        self._known = trend + unseen

    def _grow(self, x: Any, y: Floats, weights: Floats, trees: int) -> tuple[Any, Floats]:
        """Return a forest, and the mean of the trees that haven't seen a run (n,), NaN where all have."""
        # Here and not above: a stored model predicts without scikit-learn.
        from sklearn import ensemble

        forest = getattr(ensemble, self._kind)(
            n_estimators=trees, min_samples_leaf=self._smallest, max_features=0.6, bootstrap=True, random_state=1,
            oob_score=len(y) > 2,
        )  # fmt: skip
        with warnings.catch_warnings():
            # Scikit-learn warns of runs that are in every tree's sample; the NaN below says the same.
            warnings.simplefilter("ignore")
            forest.fit(x, y, sample_weight=weights)
        if len(y) <= 2:
            return forest, np.full(len(y), np.nan)
        seen_by_all = np.asarray(forest.oob_prediction_) == 0.0
        return forest, np.where(seen_by_all, np.nan, forest.oob_prediction_)

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del logs, weights, folds
        # Other runs of the same configuration in a tree's sample would tell it the run: then folds are refitted.
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


class BaggedModel(RegressionModel):
    """What random forests and extra trees share; subclasses name scikit-learn's class in `_kind`."""

    _kind: ClassVar[str]

    def __init__(self, *, trees: int = 100, smallest: int = 2, folds: int = 5) -> None:
        self.trees = trees
        self.smallest = smallest
        self.folds = folds

    def _regressor(self, coding: Coding, n_runs: int) -> Regressor:
        del n_runs
        for name, value in (("trees", self.trees), ("smallest", self.smallest)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, but got {value}")
        return _Bagged(coding, self._kind, self.trees, self.smallest)
