"""Conversion of trees fitted by scikit-learn: forests, and histogram-based boosting."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.models.trees.ensemble import Tree

__all__ = ["boosted_trees", "forest_trees"]


def forest_trees(forest: Any) -> list[Tree]:
    """Return the trees of a fitted scikit-learn forest, whose prediction is the mean over trees."""
    made = []
    for one in forest.estimators_:
        tree = one.tree_
        feature = np.where(tree.children_left < 0, -1, tree.feature)
        made.append(Tree(feature, tree.threshold, tree.children_left, tree.children_right, tree.value[:, 0, 0], {}))
    return made


def boosted_trees(booster: Any) -> tuple[list[Tree], float]:
    """Return the trees of a fitted HistGradientBoostingRegressor and the value they start from."""
    made = []
    # A private attribute, but unchanged since scikit-learn 0.21; a test compares with scikit-learn's own predictions.
    for (predictor,) in booster._predictors:
        nodes = predictor.nodes
        leaf = nodes["is_leaf"].astype(bool)
        left, right, feature = (
            np.where(leaf, -1, nodes[name].astype(np.int64)) for name in ("left", "right", "feature_idx")
        )
        made.append(Tree(feature, nodes["num_threshold"], left, right, nodes["value"], {}))
    return made, float(np.ravel(booster._baseline_prediction)[0])
