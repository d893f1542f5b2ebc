"""Recursive multisection of a cell into chunks of equal work, all chunks of a level at once.

A cell for P ranks is cut into p slabs, p a prime factor of P, each for P/p ranks, and every slab again, until each
chunk is for one rank (M. J. Berger, S. H. Bokhari, IEEE Trans. Comput. C-36, 570 (1987); section 3 of Oskooi et al.,
arXiv:2003.04287). With ``"bisection"`` a box for n ranks becomes two for n/2 and n - n/2 instead.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.partitioning.density import Density
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import below

__all__ = ["AXIS_CHOICES", "Axis", "Method", "Tree", "grow", "prime_factors", "split"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Method = Literal["multisection", "bisection", "unequal"]
#: Across which axis a level is cut: one for all, or each box's longest unless another balances better.
Axis = Literal["x", "y", "z", "longest"]
AXIS_CHOICES: tuple[Axis, ...] = ("longest", "x", "y", "z")
#: A shorter axis is cut when the balance is better by more than this factor (section 3).
BETTER = 1.3


@dataclass(frozen=True)
class Tree:
    """Cuts of a cell, level by level; nodes are numbered in the order in which they were made.

    Parameters
    ----------
    low, high : (nodes, 3)
        First grid index of each node's box and one past the last.
    ranks : (nodes,)
        For how many ranks it is.
    axis, at : (nodes,)
        How it is cut, -1 where it isn't (yet).
    left, right : (nodes,)
        The nodes that it is cut into, -1 where it isn't.
    slabs : (nodes,)
        How many equal slabs a node still has to become, across `row` (nodes,), before the next factor is taken.
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
    levels: tuple[str, ...] = field(default=())

    @classmethod
    def root(cls, grid: Grid, ranks: int) -> Tree:
        """Return a cell that isn't cut yet."""
        none = np.array([-1])
        return cls(
            np.zeros((1, 3), dtype=np.int64),
            np.array([grid.shape]),
            np.array([ranks]),
            none,
            none,
            none,
            none,
            np.array([1]),
            none,
        )

    @classmethod
    def of(cls, layout: BinaryPartition, grid: Grid) -> Tree:
        """Return the cuts of a layout; every leaf counts as one rank."""
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
        """Nodes that are for more than one rank and not cut yet."""
        return np.flatnonzero((self.left < 0) & (self.ranks > 1))

    @cached_property
    def by_depth(self) -> list[Ints]:
        """Nodes that are cut, those of one depth together, from the root on."""
        found, now = [], np.array([0])
        while len(now := now[self.left[now] >= 0]):
            found.append(now)
            now = np.concatenate([self.left[now], self.right[now]])
        return found

    def sums(self, of_leaves: Array) -> Array:
        """Return the sums (nodes,) of values of the leaves (leaves,), depth first, over every node's leaves."""
        result = np.zeros(len(self.left))
        result[self.leaves] = of_leaves
        for nodes in reversed(self.by_depth):
            result[nodes] = result[self.left[nodes]] + result[self.right[nodes]]
        return result

    @cached_property
    def leaves(self) -> Ints:
        """Nodes that aren't cut, depth first."""
        order, stack = [], [0]
        while stack:
            node = stack.pop()
            if self.left[node] < 0:
                order.append(node)
            else:
                stack += [int(self.right[node]), int(self.left[node])]
        return np.array(order, dtype=np.int64)

    def partition(self, grid: Grid, owners: Sequence[int] | Ints) -> BinaryPartition:
        """Return the cuts as a partition whose leaves, depth first, have these owners."""
        built: dict[int, Any] = dict(zip(self.leaves.tolist(), (int(o) for o in owners), strict=True))
        for node in range(len(self.left) - 1, -1, -1):
            if self.left[node] >= 0:
                axis = int(self.axis[node])
                where = grid.origin[axis] + int(self.at[node]) * grid.dx
                built[node] = [(axis, where), built.pop(int(self.left[node])), built.pop(int(self.right[node]))]
        return BinaryPartition(built[0])

    def cut(self, nodes: Ints, axis: Ints, at: Ints, shares: tuple[Ints, Ints], slabs: tuple[Ints, Ints]) -> Tree:
        """Return the tree with these nodes cut into pairs for so many ranks, still to become so many slabs."""
        m, count = len(nodes), len(self.ranks)
        rows = np.arange(m)
        high, low = self.high[nodes].copy(), self.low[nodes].copy()
        high[rows, axis] = at
        low[rows, axis] = at
        changed = {name: getattr(self, name).copy() for name in ("axis", "at", "left", "right")}
        changed["axis"][nodes], changed["at"][nodes] = axis, at
        changed["left"][nodes], changed["right"][nodes] = count + rows, count + m + rows
        new = {name: np.concatenate([values, np.full(2 * m, -1)]) for name, values in changed.items()}
        return Tree(
            levels=self.levels,
            low=np.concatenate([self.low, self.low[nodes], low]),
            high=np.concatenate([self.high, high, self.high[nodes]]),
            ranks=np.concatenate([self.ranks, *shares]),
            slabs=np.concatenate([self.slabs, *slabs]),
            row=np.concatenate([self.row, axis, axis]),
            **new,
        )


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
    """Return the tree with one more level: every open box that isn't in the middle of a row of slabs is cut.

    Parameters
    ----------
    tree : Tree
    density : Density
        The work.
    factor : int or None
        How many slabs each box becomes (where its number of ranks allows it, else its largest prime factor); None for
        two boxes of n/2 and n - n/2 ranks.
    axis : "x", "y", "z" or "longest"
        Across which axis. Boxes that have one layer of points along it are cut across their longest.
    """
    fresh = tree.open
    slabs = tree.slabs.copy()
    row = tree.row.copy()
    slabs[fresh] = [_slabs(int(n), factor) for n in tree.ranks[fresh]]
    row[fresh] = -1
    tree = replace(tree, slabs=slabs, row=row, levels=(*tree.levels, f"{factor or 'half'}{axis}"))
    # A row of p slabs is cut in the middle, and its halves again, across the same axis.
    todo = fresh
    while len(todo):
        first = len(tree.ranks)
        tree = _cut_once(tree, density, todo, axis)
        made = np.arange(first, len(tree.ranks))
        todo = made[tree.slabs[made] > 1]
    return tree


def split(tree: Tree, density: Density, node: int, left: int, axis: int) -> Tree:
    """Return the tree with one open box cut across an axis, for `left` of its ranks on the lower side."""
    nodes, across, one = np.array([node]), np.array([axis]), np.array([1])
    ranks, below = tree.ranks[nodes], np.array([left])
    at = density.cuts(tree.low[nodes], tree.high[nodes], across, below / ranks)
    at, below = _with_room(tree, nodes, across, at, below, one, one + 1)
    return tree.cut(nodes, across, at, (below, ranks - below), (one, one))


def _slabs(ranks: int, factor: int | None) -> int:
    if factor is None:
        return 2
    return factor if ranks % factor == 0 else prime_factors(ranks)[0]


def _cut_once(tree: Tree, density: Density, nodes: Ints, axis: Axis) -> Tree:
    ranks, slabs, across = tree.ranks[nodes], tree.slabs[nodes], tree.row[nodes].copy()
    new = np.flatnonzero(across < 0)
    across[new] = _axes(
        density, tree.low[nodes[new]], tree.high[nodes[new]], _lower(ranks, slabs)[new] / ranks[new], axis
    )
    # An axis of fewer layers than slabs is halved instead.
    layers = (tree.high[nodes] - tree.low[nodes])[np.arange(len(nodes)), across]
    slabs = np.where(layers < slabs, 2, slabs)
    left, below = _lower(ranks, slabs), slabs // 2
    at = density.cuts(tree.low[nodes], tree.high[nodes], across, left / ranks)
    at, left = _with_room(tree, nodes, across, at, left, below, slabs)
    return tree.cut(nodes, across, at, (left, ranks - left), (below, slabs - below))


def _lower(ranks: Ints, slabs: Ints) -> Ints:
    """Return how many of the ranks are for the lower half of the slabs."""
    return np.asarray(np.where(ranks % slabs == 0, ranks * (slabs // 2) // slabs, ranks // 2))


def _with_room(
    tree: Tree, nodes: Ints, axis: Ints, at: Ints, left: Ints, below: Ints, slabs: Ints
) -> tuple[Ints, Ints]:
    """Keep a layer for every slab and a grid point for every rank on both sides; where that can't be, move ranks."""
    low, high, ranks = tree.low[nodes], tree.high[nodes], tree.ranks[nodes]
    rows = np.arange(len(nodes))
    shape = high - low
    layer = np.prod(shape, axis=1) // shape[rows, axis]
    first, last = low[rows, axis], high[rows, axis]
    least = first + np.maximum(-(-left // layer), below)
    most = last - np.maximum(-(-(ranks - left) // layer), slabs - below)
    at = np.where(least <= most, np.clip(at, least, most), np.clip(at, first + 1, last - 1))
    room = (at - first) * layer, (last - at) * layer
    return np.asarray(at), np.clip(left, np.maximum(1, ranks - room[1]), np.minimum(ranks - 1, room[0]))


def _axes(density: Density, low: Ints, high: Ints, share: Array, axis: Axis) -> Ints:
    """Return the axis across which each new box is cut."""
    shape = high - low
    longest = np.argmax(shape, axis=1)
    rows = np.arange(len(low))
    if axis != "longest":
        wanted = np.full(len(low), "xyz".index(axis))
        return np.where(shape[rows, wanted] > 1, wanted, longest)
    off = np.stack([_imbalance(density, low, high, np.full(len(low), a), share) for a in range(3)], axis=1)
    off[shape <= 1] = np.inf
    best = np.argmin(off, axis=1)
    better = off[rows, longest] > BETTER * off[rows, best]
    return np.asarray(np.where(better, best, longest))


def _imbalance(density: Density, low: Ints, high: Ints, axis: Ints, share: Array) -> Array:
    """Return the work per rank of the heavier side over that of both, for the best cut across an axis, (n,)."""
    wide = np.flatnonzero(high[np.arange(len(low)), axis] - low[np.arange(len(low)), axis] > 1)
    result = np.full(len(low), np.inf)
    if len(wide):
        result[wide] = density.imbalances(low[wide], high[wide], axis[wide], share[wide])
    return result
