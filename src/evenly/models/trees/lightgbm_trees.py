"""Boosted trees fitted by LightGBM."""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.models.trees.ensemble import Tree

__all__ = ["trees_of"]


def trees_of(booster: Any) -> list[Tree]:
    """Return the trees of a LightGBM booster on numeric inputs; their sum is its prediction."""
    # Its text is the documented form that keeps all digits.
    return [_tree(dict(_fields(part))) for part in booster.model_to_string().split("\nTree=")[1:]]


def _fields(part: str) -> list[list[str]]:
    lines = part.split("\nend of trees")[0].splitlines()
    return [line.split("=", 1) for line in lines if "=" in line]


def _tree(fields: dict[str, str]) -> Tree:
    values = _floats(fields["leaf_value"])
    inner = len(values) - 1
    # LightGBM numbers splits from 0 and leaf k as ~k; here splits come first, then leaves.
    feature = np.concatenate([_ints(fields.get("split_feature", "")), np.full(len(values), -1)])
    threshold = np.concatenate([_floats(fields.get("threshold", "")), np.zeros(len(values))])
    ends = np.full(len(values), -1)
    left, right = (
        np.concatenate([np.where(kids < 0, inner + ~kids, kids), ends])
        for kids in (_ints(fields.get(name, "")) for name in ("left_child", "right_child"))
    )
    linear = _linear(fields, inner) if fields.get("is_linear") == "1" else {}
    constants = _floats(fields["leaf_const"]) if linear else values
    return Tree(feature, threshold, left, right, np.concatenate([np.zeros(inner), constants]), linear)


def _linear(fields: dict[str, str], inner: int) -> dict[int, tuple[list[int], list[float]]]:
    counts = _ints(fields["num_features"])
    ends = np.cumsum(counts)
    columns, factors = _ints(fields["leaf_features"]), _floats(fields["leaf_coeff"])
    return {
        inner + leaf: (columns[end - count : end].tolist(), factors[end - count : end].tolist())
        for leaf, (count, end) in enumerate(zip(counts, ends, strict=True))
    }


def _ints(text: str) -> Any:
    return np.array(text.split(), dtype=np.int64)


def _floats(text: str) -> Any:
    return np.array(text.split(), dtype=np.float64)
