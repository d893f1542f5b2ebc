"""Regression trees as flat arrays, the stored form of a forest or of boosted trees, and fast prediction with them.

A tree's nodes are stored in depth-first order. A node's left child is the next node, so only the right child's index is
stored. Rows with ``x <= threshold`` go left. Leaves hold a value, or a value and coefficients of some inputs (linear
leaves). Inputs are in single precision, as in scikit-learn's trees.

Large trees are traversed node by node. Small trees, as in boosting, are evaluated by QuickScorer [Lucchese et al.
2015], which keeps a bit mask of the leaves that a row can still reach. Each split whose condition is false removes the
leaves of its left subtree; the first remaining leaf is the one reached. There are no branches, so the loop over rows is
vectorised.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace

import numpy as np
from numpy.typing import NDArray

from evenly.compiling import njit
from evenly.models.array_types import Floats, Ints, Singles
from evenly.models.stored_dataclass import Stored

__all__ = ["Tree", "TreeEnsemble"]

#: Maximum number of leaves of a small tree, and number of rows in a block.
_BITS = 32
_BLOCK = 512
#: A de Bruijn sequence: shifts by 0 … 31 have different top five bits, which identify the shift [Leiserson 1998].
_DE_BRUIJN = 0x077CB531
#: Table from these top five bits to the shift, the position of the set bit of a power of two.
_PLACES = np.argsort([(_DE_BRUIJN << place & 0xFFFFFFFF) >> 27 for place in range(32)]).astype(np.int32)


@dataclass(frozen=True)
class Tree:
    """One tree as arrays over its nodes, in any order after the root.

    Attributes
    ----------
    feature : int array (n_nodes,)
        Column of the split; -1 for leaves. Node 0 is the root.
    threshold : array (n_nodes,)
        Rows with ``x <= threshold`` go left.
    left, right : int arrays (n_nodes,)
        Indices of the children.
    value : array (n_nodes,)
        Predicted values of leaves.
    linear : mapping of int to (columns, coefficients)
        By node index: leaves that add ``x[columns] @ coefficients`` to their value.
    """

    feature: Ints
    threshold: Floats
    left: Ints
    right: Ints
    value: Floats
    linear: Mapping[int, tuple[Sequence[int], Sequence[float]]]


@dataclass(frozen=True)
class TreeEnsemble(Stored):
    """A sum of trees in flat arrays.

    Attributes
    ----------
    roots : int32 array (n_trees + 1,)
        Index of each tree's first node, and the end of the last tree.
    feature : int16 array (n_nodes,)
        Column of the split; -1 for leaves.
    number : array (n_nodes,)
        Threshold of a split, or value of a leaf.
    right : int32 array (n_nodes,)
        Index of a split's right child, or of a leaf's first coefficient.
    columns : int16 array (n_coefficients,)
        Input columns of linear leaves. A leaf's columns end where those of the next leaf begin.
    coefficients : array (n_coefficients,)
    start : float
        Constant that is added to the sum.
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
        """Pack trees into flat arrays; values of leaves are multiplied by `scale`.

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
        """Return the sum of trees `first` to `last` (excluded), without the constant `start`."""
        return replace(self, roots=self.roots[first : last + 1], start=0.0)

    def scaled(self, scale: float) -> TreeEnsemble:
        """Return an ensemble whose predictions are multiplied by `scale`."""
        number = np.where(self.feature < 0, scale * self.number, self.number)
        return replace(self, number=number, coefficients=scale * self.coefficients, start=scale * self.start)

    def predict(self, x: Floats | Singles) -> Floats:
        """Return predictions (n,) for rows x (n, n_columns), which are rounded to single precision."""
        out = np.full(len(x), self.start)
        if not len(self) or not len(x):
            return out
        singles = np.ascontiguousarray(x, dtype=np.float32)
        rows = np.arange(len(x))
        largest = int(np.argmax(np.diff(self.roots)))
        if self.roots[largest + 1] - self.roots[largest] >= 2 * _BITS and len(x) > _BLOCK:
            # Sort rows by their leaf in the largest tree: similar rows then take similar paths through all trees.
            leaf = np.empty(len(x), np.int32)
            _walk(singles, self.roots[largest], self.feature, self.number, self.right, leaf)
            rows = np.argsort(leaf, kind="stable")
        # Thresholds are rounded down to single precision, so that x <= threshold stays the same for single x.
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


def _depth_first(tree: Tree, begin: int, scale: float, columns: list[int], coefficients: list[float]) -> Floats:
    """Return features, numbers and right children in depth-first order, (3, n_nodes).

    Columns and coefficients of linear leaves are appended to the two lists.
    """
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
    """Traverse a tree from its root; write the node index of the leaf of each row x (n, n_columns) to `leaf` (n,)."""
    for row in range(len(x)):
        node = np.uint64(root)
        while feature[node] >= 0:
            down = x[row, np.uint64(feature[node])] <= number[node]
            node = node + np.uint64(1) if down else np.uint64(right[node])
        leaf[row] = node


@njit(cache=True, nogil=True)
def _strike(xt, first, rows, splits, column, threshold, kept, masks):  # type: ignore[no-untyped-def]  # compiled by numba
    """QuickScorer's algorithm 1: combine by AND the masks of all splits whose condition x <= threshold is false.

    The rows are `first` to `first + rows` of columns xt (n_columns, n). `kept` (splits,) has one bit per leaf, set if
    the leaf remains after going right. `masks` (rows,) has one bit per leaf, set if the row can still reach the leaf.
    """
    # Indices that may be negative, or strided arrays, would prevent the vectorisation of this loop.
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
    """Write each row's leaf: the leftmost remaining leaf, given by the lowest set bit of the row's mask."""
    for row in range(rows):
        mask = np.uint32(masks[row])
        lowest = np.uint32(mask & np.uint32(-masks[row]))
        leaf[first + row] = leaves[places[np.uint32(lowest * np.uint32(_DE_BRUIJN)) >> np.uint32(27)]]


@njit(cache=True, nogil=True)
def _splits(root, end, feature, number, right, column, threshold, kept, leaves):  # type: ignore[no-untyped-def]
    """Write the splits of a small tree (nodes root … end): column, threshold, and mask of the remaining leaves.

    Leaves are numbered from left to right. Returns the number of splits.
    """
    # Number of leaves before each node.
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
    """Add the predictions of all trees for rows x (n, n_columns) to `out` (n,); xt is the transpose of x."""
    # The outer loop is over trees, so that a tree stays in the cache.
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
    """Add the linear part of each row's leaf in one tree, x[columns] @ coefficients, to `out` (n,)."""
    # A leaf's coefficients end where those of the next leaf in depth-first order begin.
    finish = np.empty(end - root, np.int32)
    for node in range(root, end):
        if feature[node] < 0:
            leaves_before += 1
            finish[node - root] = ends[leaves_before]
    for row in range(len(x)):
        node = leaf[row]
        for k in range(right[node], finish[node - root]):
            out[row] += coefficients[k] * np.float64(x[row, columns[k]])
