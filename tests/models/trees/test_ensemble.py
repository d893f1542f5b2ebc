"""Stored trees say what their fitters say."""

from __future__ import annotations

from typing import Any

import lightgbm
import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.ensemble import ExtraTreesRegressor, HistGradientBoostingRegressor, RandomForestRegressor

from evenly.models.trees.ensemble import TreeEnsemble
from evenly.models.trees.lightgbm_trees import trees_of
from evenly.models.trees.sklearn_trees import boosted_trees, forest_trees

Floats = NDArray[np.float64]


def _rows(n: int, seed: int) -> Floats:
    """Numbers that are single precision, many of them on thresholds."""
    return np.random.default_rng(seed).integers(-40, 40, (n, 4)).astype(np.float32) / np.float64(8)


def _wave(x: Floats) -> Floats:
    return np.sin(x[:, 0]) * x[:, 1] + np.abs(x[:, 2]) + 0.1 * x[:, 3]


# More rows asked than are done at once, and not a multiple.
X, ASKED = _rows(600, 0), _rows(1500, 1)


@pytest.mark.parametrize("kind", [RandomForestRegressor, ExtraTreesRegressor])
@pytest.mark.parametrize("smallest", [1, 30])
def test_forests_are_stored_exactly(kind: Any, smallest: int) -> None:
    forest = kind(n_estimators=12, min_samples_leaf=smallest, random_state=0).fit(X, _wave(X))
    stored = TreeEnsemble.of(forest_trees(forest), scale=1 / 12)
    np.testing.assert_allclose(stored.predict(ASKED), forest.predict(ASKED), rtol=0, atol=1e-12)


@pytest.mark.parametrize("leaves", [2, 31, 32, 33, 100])
@pytest.mark.parametrize("linear", [False, True])
def test_lightgbm_is_stored_exactly(leaves: int, linear: bool) -> None:
    options = {"num_leaves": leaves, "min_data_in_leaf": 3, "learning_rate": 0.3, "linear_tree": linear,
               "verbosity": -1, "num_threads": 1}  # fmt: skip
    booster = lightgbm.train(options, lightgbm.Dataset(X, _wave(X), params=options), num_boost_round=8)
    stored = TreeEnsemble.of(trees_of(booster))
    assert bool(len(stored.coefficients)) == linear
    told = np.asarray(booster.predict(ASKED), dtype=np.float64)
    np.testing.assert_allclose(stored.predict(ASKED), told, rtol=0, atol=1e-10)


@pytest.mark.parametrize("leaves", [7, 60])
def test_hist_boosting_is_stored_exactly(leaves: int) -> None:
    booster = HistGradientBoostingRegressor(max_iter=10, max_leaf_nodes=leaves, min_samples_leaf=3, random_state=0)
    trees, start = boosted_trees(booster.fit(X, _wave(X)))
    stored = TreeEnsemble.of(trees, start=start)
    np.testing.assert_allclose(stored.predict(ASKED), booster.predict(ASKED), rtol=0, atol=1e-10)


@pytest.mark.parametrize("linear", [False, True])
def test_parts_sum_to_the_whole(linear: bool) -> None:
    options = {"num_leaves": 20, "linear_tree": linear, "verbosity": -1, "num_threads": 1}
    booster = lightgbm.train(options, lightgbm.Dataset(X, _wave(X), params=options), num_boost_round=9)
    whole = TreeEnsemble.of(trees_of(booster), start=0.5)
    parts = [whole.part(a, b).predict(ASKED) for a, b in ((0, 2), (2, 2), (2, 7), (7, 9))]
    np.testing.assert_allclose(0.5 + np.sum(parts, axis=0), whole.predict(ASKED), rtol=0, atol=1e-12)
    np.testing.assert_allclose(whole.scaled(3.0).predict(ASKED), 3 * whole.predict(ASKED), rtol=1e-12)
    restored = TreeEnsemble.from_state(whole.to_state())
    np.testing.assert_array_equal(restored.predict(ASKED), whole.predict(ASKED))
