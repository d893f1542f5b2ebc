"""Trees fitted by scikit-learn: forests, and histogram-based boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.models.trees.ensemble import Tree

__all__ = ["boosted_trees", "forest_trees"]


def forest_trees(forest: Any) -> list[Tree]:
    """Return the trees of a fitted forest of scikit-learn; their mean is its prediction."""
    return [_of_forest(one.tree_) for one in forest.estimators_]


def _of_forest(tree: Any) -> Tree:
    feature = np.where(tree.children_left < 0, -1, tree.feature)
    return Tree(feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0], {})


def boosted_trees(booster: Any) -> tuple[list[Tree], float]:
    """Return the trees of a fitted HistGradientBoostingRegressor and the value they start from."""
    # Private, but the same since scikit-learn 0.21, and checked by a test against its own predictions.
    trees = [_of_boosting(predictor.nodes) for (predictor,) in booster._predictors]
    return trees, float(np.ravel(booster._baseline_prediction)[0])


def _of_boosting(nodes: Any) -> Tree:
    leaf = nodes["is_leaf"].astype(bool)
    left, right = (np.where(leaf, -1, nodes[side].astype(np.int64)) for side in ("left", "right"))
    feature = np.where(leaf, -1, nodes["feature_idx"].astype(np.int64))
    return Tree(feature, nodes["num_threshold"], left, right, nodes["value"], {})
