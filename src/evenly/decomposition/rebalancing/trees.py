"""A partition's tree as arrays, so that all cuts of a level are computed at once.

>>> tree = CutTree.of(BinaryPartition([("x", 0.0), 0, [("y", 1.0), 1, 2]]))
>>> tree.axis.tolist(), tree.leaves_below(np.array([1.0, 2.0, 4.0])).tolist()
([0, -1, 1, -1, -1], [7.0, 1.0, 6.0, 2.0, 4.0])
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Lattice
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import Token, nest

__all__ = ["CutTree"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


@dataclass(frozen=True, eq=False)
class CutTree:
    """A binary tree of cuts as arrays over its nodes, in depth-first order, parents before children.

    Parameters
    ----------
    axis : (nodes,)
        Axis of the cut; -1 at a leaf.
    position : (nodes,)
        Coordinate of the cut, in units of a; nan at a leaf.
    left, right : (nodes,)
        Indices of the children; -1 at a leaf.
    first, last : (nodes,)
        Index of the first leaf below a node, and one past that of the last.
    owners : (leaves,)
        The rank that owns each leaf.
    """

    axis: Ints
    position: Array
    left: Ints
    right: Ints
    first: Ints
    last: Ints
    owners: Ints

    @classmethod
    def of(cls, layout: BinaryPartition) -> CutTree:
        """Return the tree of a partition."""
        nodes = [node for _, node in layout.walk()]
        axis = np.array([-1 if node.axis is None else node.axis for node in nodes], dtype=np.int64)
        position = np.array([np.nan if node.position is None else node.position for node in nodes])
        owners = np.array([node.owner for node in nodes if node.owner is not None], dtype=np.int64)
        left, right, first, last = (np.full(len(nodes), -1, dtype=np.int64) for _ in range(4))
        first[:] = np.cumsum(axis < 0) - (axis < 0)
        # Backwards: all nodes after the present one are done, and the roots of their subtrees lie on the stack.
        stack: list[int] = []
        for n in range(len(nodes) - 1, -1, -1):
            if axis[n] < 0:
                last[n] = first[n] + 1
            else:
                left[n], right[n] = stack.pop(), stack.pop()
                last[n] = last[right[n]]
            stack.append(n)
        return cls(axis, position, left, right, first, last, owners)

    @cached_property
    def cuts(self) -> Ints:
        """Indices of the inner nodes (those with a cut), parents first."""
        return np.flatnonzero(self.axis >= 0)

    @cached_property
    def levels(self) -> list[Ints]:
        """Indices of the inner nodes, one array for each depth, from the root down."""
        found, level = [], self.cuts[:1]
        while len(level):
            found.append(level)
            below = np.concatenate([self.left[level], self.right[level]])
            level = below[self.axis[below] >= 0]
        return found

    @cached_property
    def least(self) -> Ints:
        """Smallest number of points along each axis that each node needs for non-empty leaves, (nodes, 3)."""
        least = np.ones((len(self.axis), 3), dtype=np.int64)
        for n in self.cuts[::-1]:
            one, other = least[self.left[n]], least[self.right[n]]
            least[n] = np.maximum(one, other)
            least[n, self.axis[n]] = one[self.axis[n]] + other[self.axis[n]]
        return least

    def leaves_below(self, values: Array) -> Array:
        """Return the sums over the leaves below each node, (nodes,), of values (leaves,)."""
        sums = np.concatenate([[0.0], np.cumsum(values)])
        return np.asarray(sums[self.last] - sums[self.first])

    def leaf_at(self, points: Array) -> Ints:
        """Return the index of the leaf (n,) in which each point in space (n, 3) lies, in units of a."""
        node = np.zeros(len(points), dtype=np.int64)
        while (inner := np.flatnonzero(self.axis[node] >= 0)).size:
            at = node[inner]
            above = points[inner, self.axis[at]] > self.position[at]
            node[inner] = np.where(above, self.right[at], self.left[at])
        return self.first[node]

    def points_of_leaves(self, volumes: Sequence[ChunkVolume]) -> Array:
        """Return the grid points of each leaf, (leaves,), from its chunks; a leaf may consist of several."""
        centers = np.array([volume.center for volume in volumes])
        return np.bincount(self.leaf_at(centers), [v.points for v in volumes], len(self.owners)).astype(float)

    def split(self, nodes: Ints, cuts: Ints, low: Ints, high: Ints) -> None:
        """Write the corners of the children of `nodes` (m,), cut at `cuts` (m,), into `low` and `high`, (nodes, 3)."""
        for child in (self.left[nodes], self.right[nodes]):
            low[child], high[child] = low[nodes], high[nodes]
        high[self.left[nodes], self.axis[nodes]] = cuts
        low[self.right[nodes], self.axis[nodes]] = cuts

    def indices(self, lattice: Lattice) -> Array:
        """Return the positions of the cuts as unrounded grid indices, (nodes,); 0 at leaves."""
        axis = np.maximum(self.axis, 0)
        at = (self.position - np.array(lattice.origin)[axis]) / np.array(lattice.spacing)[axis]
        return np.where(self.axis >= 0, at, 0.0)

    def room(self, nodes: Ints, low: Ints, high: Ints) -> tuple[Ints, Ints]:
        """Return the lowest and the highest grid index of the cut of each node (m,) for which no leaf is empty."""
        axis = self.axis[nodes]
        return (
            low[nodes, axis] + self.least[self.left[nodes], axis],
            high[nodes, axis] - self.least[self.right[nodes], axis],
        )

    def partition(self, lattice: Lattice, indices: Array) -> BinaryPartition:
        """Return the partition of this tree with its cuts at grid indices `indices`, (nodes,)."""
        tokens: list[Token] = []
        for n, axis in enumerate(self.axis.tolist()):
            if axis < 0:
                tokens.append(int(self.owners[self.first[n]]))
            else:
                tokens.append((axis, float(lattice.origin[axis] + indices[n] * lattice.spacing[axis])))
        return BinaryPartition(nest(tokens))
