"""Conversion of trees fitted by LightGBM, from the text form of a booster."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.models.trees.ensemble import Tree

__all__ = ["trees_of"]

#: Required fields of a tree in LightGBM's text form, and their types.
_FIELDS = {
    "split_feature": np.int64, "threshold": np.float64, "left_child": np.int64, "right_child": np.int64,
    "leaf_value": np.float64, "is_linear": np.int64, "leaf_const": np.float64, "num_features": np.int64,
    "leaf_features": np.int64, "leaf_coeff": np.float64,
}  # fmt: skip


def trees_of(booster: Any) -> list[Tree]:
    """Return the trees of a LightGBM booster with numeric inputs, whose prediction is the sum over trees."""
    made = []
    # The text form is documented and keeps all digits.
    for part in booster.model_to_string().split("\nTree=")[1:]:
        lines = part.split("\nend of trees")[0].splitlines()
        given = dict(line.split("=", 1) for line in lines if "=" in line)
        made.append(_tree({name: np.array(given.get(name, "").split(), kind) for name, kind in _FIELDS.items()}))
    return made


def _tree(fields: dict[str, Any]) -> Tree:
    values = fields["leaf_value"]
    inner = len(values) - 1
    # In LightGBM splits are numbered from 0 and leaf k is ~k. Here splits come first, then leaves.
    none = np.full(len(values), -1)
    left, right = (
        np.concatenate([np.where(kids < 0, inner + ~kids, kids), none])
        for kids in (fields["left_child"], fields["right_child"])
    )
    linear = {}
    if fields["is_linear"].any():
        # The columns and coefficients of all leaves are concatenated.
        cuts = np.cumsum(fields["num_features"])[:-1]
        parts = zip(np.split(fields["leaf_features"], cuts), np.split(fields["leaf_coeff"], cuts), strict=True)
        linear = {inner + leaf: (which.tolist(), factors.tolist()) for leaf, (which, factors) in enumerate(parts)}
        values = fields["leaf_const"]
    feature = np.concatenate([fields["split_feature"], none])
    threshold = np.concatenate([fields["threshold"], np.zeros(len(values))])
    return Tree(feature, threshold, left, right, np.concatenate([np.zeros(inner), values]), linear)
