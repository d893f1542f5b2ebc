"""Regression trees as flat arrays: what is stored of a forest or of boosted trees, and what predicts.

A tree's nodes lie in depth-first order, so a node's left child is the next one and only its right child is kept. Rows
go left where ``x <= threshold``. Leaves hold a value, or a value and coefficients of some inputs (linear leaves).

Inputs are single precision, as scikit-learn's trees have them. Small trees, of which boosting makes many, are not
walked. QuickScorer [Lucchese et al. 2015] keeps a mask of the leaves that a row can still reach: each split whose
condition is false removes the leaves on its left, and the first leaf that remains is the one reached. That has no
branches, so many rows are done at once.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numba import njit
from numpy.typing import NDArray

from evenly.models.stored_dataclass import Stored

__all__ = ["Tree", "TreeEnsemble"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Leaves that a small tree has at most, and rows that are done at once.
_BITS = 32
_BLOCK = 512
#: A de Bruijn sequence: its shifts by 0 … 31 differ in their top five bits, which tell the shift [Leiserson 1998].
_DE_BRUIJN = 0x077CB531
#: By these top bits, the place of the only set bit of a power of two.
_PLACES = np.argsort([(_DE_BRUIJN << place & 0xFFFFFFFF) >> 27 for place in range(32)]).astype(np.int32)


@dataclass(frozen=True)
class Tree:
    """One tree as arrays of nodes in any order.

    Attributes
    ----------
    feature : int array (n_nodes,)
        Column that is split; -1 at leaves. Node 0 is the root.
    threshold : array (n_nodes,)
        Rows with ``x <= threshold`` go left.
    left, right : int arrays (n_nodes,)
        Children.
    value : array (n_nodes,)
        What leaves predict.
    linear : mapping of int to (columns, coefficients)
        Of leaves that add ``x[columns] @ coefficients`` to their value.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    linear: Mapping[int, tuple[Sequence[int], Sequence[float]]]


@dataclass(frozen=True)
class TreeEnsemble(Stored):
    """The sum of many trees.

    Attributes
    ----------
    roots : int32 array (n_trees + 1,)
        Where each tree's nodes begin, and the last one's end.
    feature : int16 array (n_nodes,)
        Column that is split; -1 at leaves.
    number : array (n_nodes,)
        Threshold of a split, value of a leaf.
    right : int32 array (n_nodes,)
        Right child; of a leaf, where its coefficients begin.
    columns : int16 array (n_coefficients,)
        Inputs of linear leaves; a leaf's end where the next leaf's begin.
    coefficients : array (n_coefficients,)
    start : float
        Added to the sum.
    """

    roots: NDArray[np.int32]
    feature: NDArray[np.int16]
    number: Floats
    right: NDArray[np.int32]
    columns: NDArray[np.int16]
    coefficients: Floats
    start: float = 0.0

    @classmethod
    def of(cls, trees: Sequence[Tree], *, start: float = 0.0, scale: float = 1.0) -> TreeEnsemble:
        """Pack trees; their values are multiplied by `scale`.

        Examples
        --------
        >>> ends = np.array([0.0, 1.0, 2.0])
        >>> stump = Tree(np.array([0, -1, -1]), ends - 0.5, np.array([1, -1, -1]), np.array([2, -1, -1]), ends, {})
        >>> TreeEnsemble.of([stump, stump]).predict(np.array([[-1.0], [1.0]]))
        array([2., 4.])
        """
        roots, nodes = [0], [np.zeros((3, 0))]
        columns: list[int] = []
        coefficients: list[float] = []
        for tree in trees:
            nodes.append(_depth_first(tree, roots[-1], scale, columns, coefficients))
            roots.append(roots[-1] + nodes[-1].shape[1])
        feature, number, right = np.hstack(nodes)
        return cls(
            np.array(roots, np.int32), feature.astype(np.int16), number, right.astype(np.int32),
            np.array(columns, np.int16), np.array(coefficients, np.float64), start,
        )  # fmt: skip

    def __len__(self) -> int:
        return len(self.roots) - 1

    def part(self, first: int, last: int) -> TreeEnsemble:
        """Return trees `first` to `last` (excluded), without the start."""
        return replace(self, roots=self.roots[first : last + 1], start=0.0)

    def scaled(self, scale: float) -> TreeEnsemble:
        """Return an ensemble that predicts `scale` times as much."""
        number = np.where(self.feature < 0, scale * self.number, self.number)
        return replace(self, number=number, coefficients=scale * self.coefficients, start=scale * self.start)

    def predict(self, x: Floats | NDArray[np.float32]) -> Floats:
        """Predict rows x (n, n_columns), rounded to single precision, (n,)."""
        out = np.full(len(x), self.start)
        if not len(self) or not len(x):
            return out
        singles = np.ascontiguousarray(x, dtype=np.float32)
        rows = np.arange(len(x))
        largest = int(np.argmax(np.diff(self.roots)))
        if self.roots[largest + 1] - self.roots[largest] >= 2 * _BITS and len(x) > _BLOCK:
            # Rows that share a leaf of the largest tree follow each other, so that walks through trees repeat.
            leaf = np.empty(len(x), np.int32)
            _walk(singles, self.roots[largest], self.feature, self.number, self.right, leaf)
            rows = np.argsort(leaf, kind="stable")
        # The largest single that isn't above a threshold t decides as t does: x <= t is the same for single x.
        nearest = self.number.astype(np.float32)
        below = np.where(nearest > self.number, np.nextafter(nearest, np.float32(-np.inf)), nearest)
        ends = np.append(self.right[self.feature < 0], len(self.coefficients)).astype(np.int32)
        made = np.zeros(len(x))
        leaves_before = int(np.sum(self.feature[: self.roots[0]] < 0))
        _add(
            np.ascontiguousarray(singles[rows]), np.ascontiguousarray(singles[rows].T), self.roots, self.feature,
            self.number, below, self.right, ends, self.columns, self.coefficients, _PLACES, leaves_before, made,
        )  # fmt: skip
        out[rows] += made
        return out

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> TreeEnsemble:
        """Restore what `to_state` returned."""
        return cls(
            np.asarray(state["roots"], np.int32), np.asarray(state["feature"], np.int16),
            np.asarray(state["number"], np.float64), np.asarray(state["right"], np.int32),
            np.asarray(state["columns"], np.int16), np.asarray(state["coefficients"], np.float64),
            float(state["start"]),
        )  # fmt: skip


def _depth_first(tree: Tree, begin: int, scale: float, columns: list[int], coefficients: list[float]) -> Floats:
    """Features, numbers and right children in depth-first order, (3, n_nodes); linear leaves append to the lists."""
    made = np.zeros((3, len(tree.feature)))
    waiting = [(0, -1)]
    place = 0
    while waiting:
        node, parent = waiting.pop()
        if parent >= 0:
            made[2, parent] = begin + place
        if tree.feature[node] < 0:
            made[:, place] = -1, scale * tree.value[node], len(columns)
            which, factors = tree.linear.get(node, ((), ()))
            columns.extend(which)
            coefficients.extend(scale * factor for factor in factors)
        else:
            made[:2, place] = tree.feature[node], tree.threshold[node]
            waiting.append((int(tree.right[node]), place))
            waiting.append((int(tree.left[node]), -1))
        place += 1
    return made[:, :place]


@njit(cache=True, nogil=True)
def _walk(x, root, feature, number, right, leaf):  # type: ignore[no-untyped-def]  # compiled by numba
    """Write the node of the leaf that each row x (n, n_columns) reaches from a root into `leaf` (n,)."""
    for row in range(len(x)):
        node = np.uint64(root)
        while feature[node] >= 0:
            down = x[row, np.uint64(feature[node])] <= number[node]
            node = node + np.uint64(1) if down else np.uint64(right[node])
        leaf[row] = node


@njit(cache=True, nogil=True)
def _strike(xt, first, rows, splits, column, threshold, kept, masks):  # type: ignore[no-untyped-def]  # compiled by numba
    """QuickScorer's algorithm 1: and the masks of the splits whose condition x <= threshold is false.

    Of columns xt (n_columns, n), rows `first` on; `kept` (splits,) has a bit for each leaf that remains after going
    right, `masks` (rows,) a bit for each leaf that a row can still reach.
    """
    # Indices that may be negative, or arrays with a stride, would leave the loop without vector instructions.
    for row in range(rows):
        masks[row] = -1
    for split in range(splits):
        x = xt[column[split]][first : first + rows]
        limit, keep = threshold[split], kept[split]
        for row in range(rows):
            mask = masks[row]
            masks[row] = mask & keep if x[row] > limit else mask


@njit(cache=True, nogil=True)
def _first_leaf(masks, first, rows, leaves, places, leaf):  # type: ignore[no-untyped-def]
    """Write the leaf of the lowest bit set in each mask: the leftmost leaf that remains is the one reached."""
    for row in range(rows):
        mask = np.uint32(masks[row])
        lowest = np.uint32(mask & np.uint32(-masks[row]))
        leaf[first + row] = leaves[places[np.uint32(lowest * np.uint32(_DE_BRUIJN)) >> np.uint32(27)]]


@njit(cache=True, nogil=True)
def _splits(root, end, feature, number, right, column, threshold, kept, leaves):  # type: ignore[no-untyped-def]
    """Describe the small tree of nodes root … end by its splits: column, threshold, mask of the leaves kept.

    Leaves are numbered from left to right. Returns the number of splits.
    """
    # How many leaves lie before each node.
    before = np.empty(end - root + 1, np.int64)
    seen, count = 0, 0
    for node in range(root, end):
        before[node - root] = seen
        if feature[node] < 0:
            leaves[seen] = node
            seen += 1
    for node in range(root, end):
        if feature[node] >= 0:
            # A row that goes right loses the leaves of the left subtree: bits `first` to `after`, excluded.
            first, after = before[node + 1 - root], before[right[node] - root]
            column[count], threshold[count] = feature[node], number[node]
            kept[count] = ~(((np.int64(1) << (after - first)) - 1) << first)
            count += 1
    return count


@njit(cache=True, nogil=True)
def _add(x, xt, roots, feature, number, single, right, ends, columns, coefficients, places, leaves_before, out):  # type: ignore[no-untyped-def]
    """Add what each tree predicts for rows x (n, n_columns), xt their transpose, to `out` (n,)."""
    # Trees outside, rows inside: a tree stays in the cache.
    n = len(x)
    leaf, masks = np.empty(n, np.int32), np.empty(_BLOCK, np.int32)
    column, kept, leaves = np.empty(_BITS, np.int64), np.empty(_BITS, np.int32), np.empty(_BITS, np.int32)
    threshold = np.empty(_BITS, np.float32)
    for tree in range(len(roots) - 1):
        root, end = roots[tree], roots[tree + 1]
        count = (end - root + 1) // 2
        if count <= _BITS:
            k = _splits(root, end, feature, single, right, column, threshold, kept, leaves)
            for first in range(0, n, _BLOCK):
                rows = min(_BLOCK, n - first)
                _strike(xt, first, rows, k, column, threshold, kept, masks)
                _first_leaf(masks, first, rows, leaves, places, leaf)
        else:
            _walk(x, root, feature, number, right, leaf)
        for row in range(n):
            out[row] += number[leaf[row]]
        if len(coefficients):
            _add_linear(x, root, end, feature, right, leaves_before, ends, columns, coefficients, leaf, out)
        leaves_before += count


@njit(cache=True, nogil=True)
def _add_linear(x, root, end, feature, right, leaves_before, ends, columns, coefficients, leaf, out):  # type: ignore[no-untyped-def]
    """Add the linear parts of one tree's leaves, x[columns] @ coefficients of the leaf of each row."""
    # Coefficients of a leaf end where those of the next leaf in depth-first order begin.
    finish = np.empty(end - root, np.int32)
    for node in range(root, end):
        if feature[node] < 0:
            leaves_before += 1
            finish[node - root] = ends[leaves_before]
    for row in range(len(x)):
        node = leaf[row]
        for k in range(right[node], finish[node - root]):
            out[row] += coefficients[k] * np.float64(x[row, columns[k]])
