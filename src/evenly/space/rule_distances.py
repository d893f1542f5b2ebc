"""Distances of configurations from satisfying a rule; a search reduces them to reach feasible configurations.

This is the branch distance of search-based test generation [Korel, Automated software test data generation, 1990;
Tracey et al., A search-based automated test-data generation framework for safety-critical systems, 2002]. The distance
is 0 where a condition holds, else the gap between the two sides of a comparison. ``and`` adds distances, ``or`` takes
their minimum. The gap between positive sides is the logarithm of their ratio, because ratios of sizes and counts
matter more than differences.
"""

from __future__ import annotations

import ast
import functools
from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.space.expression_values import evaluate

__all__ = ["distance"]

Floats = NDArray[np.float64]
#: The smallest distance of a row that breaks a rule, as for ``a < b`` with equal sides.
_LEAST = 1e-6


def distance(node: ast.expr, columns: Mapping[str, NDArray[Any]]) -> Floats:
    """Return the distance of each row from satisfying a condition, shape (n,) or (); 0 where it holds.

    A condition that is not a comparison of numbers has the distance 1 where it does not hold.

    Parameters
    ----------
    node : ast.expr
        The condition.
    columns : mapping of str to array (n,)
        The values of each name.

    Examples
    --------
    >>> distance(ast.parse("a <= 4", mode="eval").body, {"a": np.array([2, 4, 8])}).round(2)
    array([0.  , 0.  , 0.69])
    """
    match node:
        case ast.BoolOp(ast.And(), parts):
            return functools.reduce(np.add, [distance(part, columns) for part in parts])
        case ast.BoolOp(ast.Or(), parts):
            return functools.reduce(np.minimum, [distance(part, columns) for part in parts])
        case ast.Compare(left, ops, rights):
            sides = [evaluate(part, columns) for part in (left, *rights)]
            apart = [_gap(op, a, b) for op, a, b in zip(ops, sides, sides[1:], strict=False)]
            holds = np.asarray(evaluate(node, columns), dtype=np.bool_)
            return np.where(holds, 0.0, np.maximum(functools.reduce(np.add, apart), _LEAST))
    return np.where(np.asarray(evaluate(node, columns), dtype=np.bool_), 0.0, 1.0)


def _gap(op: ast.cmpop, left: Any, right: Any) -> Floats:
    """Return the gap by which two sides miss the comparison `op`, shape (n,) or (); 1 if it has no size."""
    if isinstance(op, ast.In | ast.NotIn | ast.NotEq):
        return np.ones(())
    a, b = np.asarray(left), np.asarray(right)
    if a.dtype.kind not in "biuf" or b.dtype.kind not in "biuf":
        return np.ones(())
    a, b = a.astype(np.float64), b.astype(np.float64)
    # The signed gap: log(a / b) for positive sides, else the difference divided by one plus the smaller magnitude.
    with np.errstate(all="ignore"):
        gap = np.where((a > 0) & (b > 0), np.log(a / b), (a - b) / (1 + np.minimum(np.abs(a), np.abs(b))))
    gap = np.nan_to_num(gap, nan=1e3, posinf=1e3, neginf=-1e3)
    # An inequality is broken only by a gap of one sign.
    match op:
        case ast.Lt() | ast.LtE():
            gap = np.maximum(gap, 0.0)
        case ast.Gt() | ast.GtE():
            gap = np.maximum(-gap, 0.0)
    return np.asarray(np.abs(gap))
