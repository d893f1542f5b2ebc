"""Bagging: forests on the residuals of a trend of log times, where each tree learns from a bootstrap sample.

Trees get coded parameters, and derived inputs (`evenly.models.inputs.derived`) if these lower the error. Trees can't
extrapolate beyond the measured range; there the trend extrapolates as a power law.
"""

from __future__ import annotations

import warnings
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar

import numpy as np

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.inputs.derived import Derived, choose
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.trees.columns import TreeColumns
from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.sklearn_trees import forest_trees

__all__ = ["BaggedModel"]

#: Number of trees of the forests that compare derived inputs. With fewer, many runs would be in all trees' samples.
_PILOT = 30


class _Bagged(Regressor):
    """A forest of scikit-learn's class `kind`, fitted to the leave-one-out residuals of the trend."""

    def __init__(self, coding: Coding, kind: str, trees: int, smallest: int) -> None:
        self._coding, self._kind, self._trees, self._smallest = coding, kind, trees, smallest

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        columns, trend = TreeColumns.learn(inputs, logs, weights, Derived.learn(self._coding, inputs, ()))
        left = logs - trend

        def error(derived: Derived) -> float:
            x = TreeColumns(derived, columns.effects, columns.trend).matrix(inputs, trend)
            return float(np.nansum(weights * np.abs(self._grow(x, left, weights, _PILOT)[1] - left)))

        # Derived inputs are chosen by the out-of-bag error of small forests [Breiman 2001, section 3.1].
        derived = Derived.learn(self._coding, inputs)
        self._columns = TreeColumns(choose(derived, error), columns.effects, columns.trend)
        forest, unseen = self._grow(self._columns.matrix(inputs, trend), left, weights, self._trees)
        self._ensemble = TreeEnsemble.of(forest_trees(forest), scale=1 / self._trees)
        self._known = trend + unseen

    def _grow(self, x: Any, y: Floats, weights: Floats, trees: int) -> tuple[Any, Floats]:
        """Return a fitted forest and its out-of-bag predictions (n,), NaN for runs that are in all trees' samples."""
        # Imported here, so that a stored model predicts without scikit-learn.
        from sklearn import ensemble

        forest = getattr(ensemble, self._kind)(
            n_estimators=trees, min_samples_leaf=self._smallest, max_features=0.6, bootstrap=True, random_state=1,
            oob_score=len(y) > 2,
        )  # fmt: skip
        with warnings.catch_warnings():
            # Scikit-learn warns about runs without out-of-bag prediction; they are marked by NaN below.
            warnings.simplefilter("ignore")
            forest.fit(x, y, sample_weight=weights)
        if len(y) <= 2:
            return forest, np.full(len(y), np.nan)
        seen_by_all = np.asarray(forest.oob_prediction_) == 0.0
        return forest, np.where(seen_by_all, np.nan, forest.oob_prediction_)

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        del logs, weights, folds
        # Out-of-bag predictions are valid only without repeated configurations: a repetition in a tree's sample would
        # reveal the run's time. None makes the caller refit by folds.
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
        self._columns = TreeColumns.from_state(state["columns"])
        self._ensemble = TreeEnsemble.from_state(state["trees"])


@dataclass(kw_only=True, eq=False, repr=False)
class BaggedModel(RegressionModel[_Bagged]):
    """Base class of random forests and extra trees; subclasses set `_kind` to the name of scikit-learn's class."""

    _kind: ClassVar[str]

    trees: int = 100
    smallest: int = 2
    folds: int = 5

    def regressor(self, coding: Coding) -> _Bagged:
        for name, value in (("trees", self.trees), ("smallest", self.smallest)):
            if value < 1:
                raise InputError(f"{name} must be at least 1, but got {value}")
        return _Bagged(coding, self._kind, self.trees, self.smallest)
