"""Recursive multisection of a cell into chunks of equal work, all boxes of a level at once.

A cell for P ranks is cut into p slabs of P/p ranks each, where p is a prime factor of P. Every slab is cut in the same
way until each chunk has one rank (M. J. Berger, S. H. Bokhari, IEEE Trans. Comput. C-36, 570 (1987); section 3 of
Oskooi et al., arXiv:2003.04287). With ``"bisection"`` a box for n ranks becomes two boxes, for n/2 (rounded down) and
for the other ranks.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.partitioning.density import Density
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import below

__all__ = ["AXIS_CHOICES", "Axis", "Method", "Tree", "cut", "grow", "prime_factors"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Method = Literal["multisection", "bisection", "unequal"]
#: The axis across which a level is cut: one axis for all boxes, or each box's longest unless another balances better.
Axis = Literal["x", "y", "z", "longest"]
AXIS_CHOICES: tuple[Axis, ...] = ("longest", "x", "y", "z")
#: A shorter axis is cut if this reduces the imbalance by more than this factor (Oskooi et al., section 3).
BETTER = 1.3


@dataclass(frozen=True)
class Tree:
    """Binary tree of the cuts of a cell; a node is a box, and a cut node has two children.

    Parameters
    ----------
    low, high : (nodes, 3)
        First grid index of each node's box and one past the last.
    ranks : (nodes,)
        Number of ranks that share the node's box.
    axis, at : (nodes,)
        The axis across which the box is cut and the grid index of the cut; -1 where it isn't cut (yet).
    left, right : (nodes,)
        Indices of the lower and the upper child; -1 where the box isn't cut.
    slabs, row : (nodes,)
        Number of equal slabs into which the box must still be cut before the next factor, and the axis of these slabs;
        the axis is -1 where it isn't chosen yet.
    """

    low: Ints
    high: Ints
    ranks: Ints
    axis: Ints
    at: Ints
    left: Ints
    right: Ints
    slabs: Ints
    row: Ints

    @classmethod
    def root(cls, grid: Grid, ranks: int) -> Tree:
        """Return the tree of an uncut cell for a number of ranks: a single node."""
        low, high, none = np.zeros((1, 3), dtype=np.int64), np.array([grid.shape]), np.array([-1])
        return cls(low, high, np.array([ranks]), none, none, none, none, slabs=np.array([1]), row=none)

    @classmethod
    def of(cls, layout: BinaryPartition, grid: Grid) -> Tree:
        """Return the tree of a layout's cuts, in which every leaf counts as one rank."""
        boxes = {where: box for (where, _), box in zip(layout.leaves, layout.boxes(grid), strict=True)}
        nodes = [(where, node) for where, node in layout.walk()]
        number = {where: i for i, (where, _) in enumerate(nodes)}
        m = len(nodes)
        low, high = np.zeros((m, 3), dtype=np.int64), np.zeros((m, 3), dtype=np.int64)
        axis, at, left, right = (np.full(m, -1) for _ in range(4))
        ranks = np.ones(m, dtype=np.int64)
        for i in range(m - 1, -1, -1):
            where, node = nodes[i]
            if node.axis is None:
                low[i], high[i] = boxes[where].lo, boxes[where].hi
                continue
            axis[i], left[i], right[i] = node.axis, number[below(where, "left")], number[below(where, "right")]
            low[i], high[i], at[i] = low[left[i]], high[right[i]], high[left[i], node.axis]
            ranks[i] = ranks[left[i]] + ranks[right[i]]
        return cls(low, high, ranks, axis, at, left, right, np.ones(m, dtype=np.int64), np.full(m, -1))

    @property
    def open(self) -> Ints:
        """Nodes with more than one rank that aren't cut yet."""
        return np.flatnonzero((self.left < 0) & (self.ranks > 1))

    @cached_property
    def by_depth(self) -> list[Ints]:
        """Nodes that are cut, one array for each depth, from the root down."""
        found, now = [], np.array([0])
        while len(now := now[self.left[now] >= 0]):
            found.append(now)
            now = np.concatenate([self.left[now], self.right[now]])
        return found

    def sums(self, of_leaves: Array) -> Array:
        """Return for each node the sum over the leaves below it, (nodes,), of values (leaves,) in depth-first order."""
        result = np.zeros(len(self.left))
        result[self.leaves] = of_leaves
        for nodes in reversed(self.by_depth):
            result[nodes] = result[self.left[nodes]] + result[self.right[nodes]]
        return result

    @cached_property
    def layers(self) -> Ints:
        """Smallest number of layers of points that each node needs along each axis for non-empty leaves, (nodes, 3)."""
        deep = np.ones((len(self.left), 3), dtype=np.int64)
        for nodes in reversed(self.by_depth):
            left, right = deep[self.left[nodes]], deep[self.right[nodes]]
            deep[nodes] = np.maximum(left, right)
            rows, axis = np.arange(len(nodes)), self.axis[nodes]
            deep[nodes, axis] = left[rows, axis] + right[rows, axis]
        return deep

    def place(self, nodes: Ints, at: Ints, low: Ints, high: Ints) -> None:
        """Write the corners of the children of `nodes` (m,), cut at `at` (m,), into `low` and `high` (all nodes, 3)."""
        axis, left, right = self.axis[nodes], self.left[nodes], self.right[nodes]
        for side in (left, right):
            low[side], high[side] = low[nodes], high[nodes]
        high[left, axis], low[right, axis] = at, at

    def with_cuts(self, at: Ints) -> Tree:
        """Return the tree with the same structure and its cuts at `at` (nodes,); the boxes follow from the cuts."""
        low, high = self.low.copy(), self.high.copy()
        for nodes in self.by_depth:
            self.place(nodes, at[nodes], low, high)
        moved = replace(self, low=low, high=high, at=at)
        # These cached properties depend only on the structure of the tree, so the new tree can share them.
        vars(moved).update({k: v for k, v in vars(self).items() if k in ("by_depth", "layers", "leaves")})
        return moved

    @cached_property
    def leaves(self) -> Ints:
        """Nodes that aren't cut, in depth-first order, (leaves,)."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            if self.left[node] < 0:
                order.append(node)
            else:
                stack += [int(self.right[node]), int(self.left[node])]
        return np.array(order, dtype=np.int64)

    def partition(self, grid: Grid, owners: Sequence[int] | Ints) -> BinaryPartition:
        """Return the cuts as a partition with these owners of the leaves, in depth-first order."""
        built: dict[int, Any] = dict(zip(self.leaves.tolist(), (int(o) for o in owners), strict=True))
        for node in range(len(self.left) - 1, -1, -1):
            if self.left[node] >= 0:
                axis = int(self.axis[node])
                where = grid.origin[axis] + int(self.at[node]) * grid.dx
                built[node] = [(axis, where), built.pop(int(self.left[node])), built.pop(int(self.right[node]))]
        return BinaryPartition(built[0])


def prime_factors(n: int) -> list[int]:
    """Return the prime factors of a number, largest first.

    Examples
    --------
    >>> prime_factors(84)
    [7, 3, 2, 2]
    """
    found, factor = [], 2
    while factor * factor <= n:
        while n % factor == 0:
            found.append(factor)
            n //= factor
        factor += 1
    return sorted([*found, n] if n > 1 else found, reverse=True)


def grow(tree: Tree, density: Density, factor: int | None, axis: Axis = "longest") -> Tree:
    """Return the tree with one more level of cuts: every open box is cut into slabs of equal work per rank.

    Parameters
    ----------
    tree : Tree
    density : Density
        Seconds of work in any box.
    factor : int or None
        Number of slabs per box; a box whose number of ranks isn't a multiple is cut into as many slabs as its largest
        prime factor. With None a box of n ranks becomes two, for n // 2 and n - n // 2 ranks.
    axis : "x", "y", "z" or "longest"
        Axis across which boxes are cut. A box with only one layer of points along it is cut across its longest axis.
    """
    nodes, slabs, row = tree.open, tree.slabs.copy(), tree.row.copy()
    usual = 2 if factor is None else factor
    halved = factor is None
    slabs[nodes] = [usual if halved or n % usual == 0 else prime_factors(int(n))[0] for n in tree.ranks[nodes]]
    row[nodes] = -1
    tree = replace(tree, slabs=slabs, row=row)
    # A row of p slabs is cut in two near the middle; the halves are cut again across the same axis, until all p slabs
    # are made.
    while len(nodes):
        low, high, ranks = tree.low[nodes], tree.high[nodes], tree.ranks[nodes]
        slabs, across = tree.slabs[nodes], tree.row[nodes].copy()
        new = np.flatnonzero(across < 0)
        across[new] = _axes(density, low[new], high[new], _lower(ranks, slabs)[new] / ranks[new], axis)
        # A box with fewer layers than slabs along the axis is cut in two instead.
        layers = (high - low)[np.arange(len(nodes)), across]
        slabs = np.where(layers < slabs, 2, slabs)
        made = np.arange(len(tree.ranks), len(tree.ranks) + 2 * len(nodes))
        tree = cut(tree, density, nodes, across, _lower(ranks, slabs), slabs)
        nodes = made[tree.slabs[made] > 1]
    return tree


def _lower(ranks: Ints, slabs: Ints) -> Ints:
    """Return the number of ranks on the lower side: those of the lower slabs // 2 slabs, else half of the ranks."""
    return np.asarray(np.where(ranks % slabs == 0, ranks * (slabs // 2) // slabs, ranks // 2))


def cut(tree: Tree, density: Density, nodes: Ints, axis: Ints, left: Ints, slabs: Ints) -> Tree:
    """Return the tree with open boxes cut in two, each across its axis, in proportion to the ranks on both sides.

    Parameters
    ----------
    tree : Tree
    density : Density
    nodes : (m,)
        The boxes to cut.
    axis, left, slabs : (m,)
        For each box: the axis of the cut, the number of its ranks on the lower side, and the number of equal slabs that
        it becomes, slabs // 2 of them on the lower side.
    """
    low, high, ranks, rows = tree.low[nodes], tree.high[nodes], tree.ranks[nodes], np.arange(len(nodes))
    at, below, shape = density.cuts(low, high, axis, left / ranks), slabs // 2, high - low
    # Both sides keep at least one layer for every slab and one grid point for every rank. Where that is impossible,
    # ranks move to the other side.
    layer = np.prod(shape, axis=1) // shape[rows, axis]
    first, last = low[rows, axis], high[rows, axis]
    least = first + np.maximum(-(-left // layer), below)
    most = last - np.maximum(-(-(ranks - left) // layer), slabs - below)
    at = np.where(least <= most, np.clip(at, least, most), np.clip(at, first + 1, last - 1))
    room = (at - first) * layer, (last - at) * layer
    left = np.clip(left, np.maximum(1, ranks - room[1]), np.minimum(ranks - 1, room[0]))
    # New nodes: first the lower halves of all boxes, then the upper halves.
    upper_low, lower_high, count, m = low.copy(), high.copy(), len(tree.ranks), len(nodes)
    lower_high[rows, axis], upper_low[rows, axis] = at, at
    none = np.full(2 * m, -1)
    new = {name: np.concatenate([getattr(tree, name), none]) for name in ("axis", "at", "left", "right")}
    new["axis"][nodes], new["at"][nodes] = axis, at
    new["left"][nodes], new["right"][nodes] = count + rows, count + m + rows
    return Tree(
        low=np.concatenate([tree.low, low, upper_low]),
        high=np.concatenate([tree.high, lower_high, high]),
        ranks=np.concatenate([tree.ranks, left, ranks - left]),
        slabs=np.concatenate([tree.slabs, below, slabs - below]),
        row=np.concatenate([tree.row, axis, axis]),
        **new,
    )


def _axes(density: Density, low: Ints, high: Ints, share: Array, axis: Axis) -> Ints:
    """Return the axis across which each box (n, 3) is cut, (n,), with `share` (n,) of its ranks on the lower side."""
    shape = high - low
    longest = np.argmax(shape, axis=1)
    rows = np.arange(len(low))
    if axis != "longest":
        wanted = np.full(len(low), "xyz".index(axis))
        return np.where(shape[rows, wanted] > 1, wanted, longest)
    # Imbalance of the best cut across each axis, (n, 3); infinite where there is only one layer and so no cut.
    off = np.full((len(low), 3), np.inf)
    for a in range(3):
        wide = np.flatnonzero(shape[:, a] > 1)
        if len(wide):
            off[wide, a] = density.imbalances(low[wide], high[wide], np.full(len(wide), a), share[wide])
    best = np.argmin(off, axis=1)
    better = off[rows, longest] > BETTER * off[rows, best]
    return np.asarray(np.where(better, best, longest))
