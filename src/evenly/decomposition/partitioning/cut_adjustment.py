"""Moves all cuts of a tree so that the predicted times on both sides of each agree, the tree staying as it is.

What a chunk and its borders take is known for the tree as it is; how much work a moved cut shifts is told by the
density, scaled on each side to what that side takes. So a few rounds, from the root down, bring the ranks together:
borders, presence and slow ranks included, which a search by cumulative work alone doesn't see.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import Prediction, Times
from evenly.decomposition.partitioning.predict import times
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["leaf_seconds", "recut", "recut_tree", "tree_times"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
ROUNDS = 8


def recut(
    layout: BinaryPartition,
    cell: Cell,
    cost: CostModel,
    ranks: int,
    *,
    speeds: Array | None = None,
    corrections: Array | None = None,
    rounds: int = ROUNDS,
) -> Prediction:
    """Return the best layout found by moving the cuts of one; owners stay.

    Parameters
    ----------
    layout : BinaryPartition
    cell : Cell
    cost : CostModel
    ranks : int
    speeds : (ranks,), optional
        How fast each rank is, as a factor; all alike when left out.
    corrections : (leaves,), optional
        What each leaf was measured to take over what it is predicted to; its work is charged so much more. Where a
        cut moves, what is moved is charged as the side that it was on.
    rounds : int
        How often all cuts are moved.

    Returns
    -------
    Prediction
        Of the layout whose slowest rank is fastest, `layout` itself among them. Its times are those of the cost
        model, without `speeds` and `corrections`.
    """
    tree = Tree.of(layout, cell.grid)
    owners = np.asarray(layout.owners, dtype=np.int64) % ranks
    density = Density.of(cell, cost, len(owners))
    best, found = recut_tree(tree, owners, density, cell, cost, ranks, speeds, corrections, rounds)
    return Prediction.of(found, best.partition(cell.grid, owners))


def recut_tree(
    tree: Tree,
    owners: Ints,
    density: Density,
    cell: Cell,
    cost: CostModel,
    ranks: int,
    speeds: Array | None = None,
    corrections: Array | None = None,
    rounds: int = ROUNDS,
) -> tuple[Tree, Times]:
    """Return the best tree with its predicted times; see `recut`."""
    speed = np.ones(ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    factor = np.ones(len(owners)) if corrections is None else np.asarray(corrections, dtype=np.float64)
    best: tuple[float, Tree, Times] | None = None
    for step in range(rounds + 1):
        found = tree_times(tree, owners, cell, cost, ranks)
        leaf_s = leaf_seconds(found, owners) * factor
        slowest = float((np.bincount(owners, leaf_s, ranks) / speed).max())
        if best is None or slowest < best[0]:
            best = slowest, tree, found
        if step < rounds:
            # Full steps overshoot where presence jumps: later rounds are smaller.
            tree = _moved(tree, density, leaf_s, _capacity(leaf_s, owners, speed), 1.0 if step < 2 else 0.5)
    assert best is not None  # noqa: S101 - there is at least one round
    return best[1], best[2]


def leaf_seconds(found: Times, owners: Ints) -> Array:
    """Return the seconds (leaves,) of each leaf, borders of its rank divided over its leaves by their work."""
    share = found.chunk_s / np.maximum(found.work_s, 1e-300)[owners]
    return np.asarray(found.chunk_s + share * found.border_s[owners])


def tree_times(tree: Tree, owners: Ints, cell: Cell, cost: CostModel, ranks: int) -> Times:
    """Return what a tree whose leaves, depth first, have these owners is predicted to take."""
    leaves = tree.leaves
    return times(cell, tree.low[leaves], tree.high[leaves], owners, ranks, cost)


def _capacity(leaf_s: Array, owners: Ints, speed: Array) -> Array:
    """Return which part of its rank's speed each leaf gets: as much as its part of the rank's work."""
    total = np.bincount(owners, leaf_s, len(speed))
    return np.asarray(speed[owners] * leaf_s / np.maximum(total, 1e-300)[owners])


def _moved(tree: Tree, density: Density, leaf_s: Array, capacity: Array, size: float) -> Tree:
    seconds, able = tree.sums(leaf_s), tree.sums(capacity)
    work = density.work(tree.low, tree.high)
    # Seconds per capacity that a unit of the density's work makes in each node.
    rate = seconds / np.maximum(work, 1e-300) / np.maximum(able, 1e-300)
    low, high, at = tree.low.copy(), tree.high.copy(), tree.at.copy()
    for nodes in tree.by_depth:
        axis, left, right = tree.axis[nodes], tree.left[nodes], tree.right[nodes]
        wanted = rate[right] / np.maximum(rate[left] + rate[right], 1e-300)
        before = work[left] / np.maximum(work[left] + work[right], 1e-300)
        share = np.clip(before + size * (wanted - before), 1e-6, 1 - 1e-6)
        new = density.cuts(low[nodes], high[nodes], axis, share)
        at[nodes] = _kept_apart(tree, nodes, axis, new, low[nodes], high[nodes])
        for side in (left, right):
            low[side], high[side] = low[nodes], high[nodes]
        high[left, axis], low[right, axis] = at[nodes], at[nodes]
    return replace(tree, low=low, high=high, at=at)


def _kept_apart(tree: Tree, nodes: Ints, axis: Ints, at: Ints, low: Ints, high: Ints) -> Any:
    """Leave a layer for each leaf that is cut across the same axis on either side."""
    rows = np.arange(len(nodes))
    deep = _layers(tree)
    least = low[rows, axis] + deep[tree.left[nodes], axis]
    most = high[rows, axis] - deep[tree.right[nodes], axis]
    return np.clip(at, np.minimum(least, most), np.maximum(least, most))


def _layers(tree: Tree) -> Ints:
    """Return how many layers of points each node needs along each axis for its cuts, (nodes, 3)."""
    deep = np.ones((len(tree.left), 3), dtype=np.int64)
    for nodes in reversed(tree.by_depth):
        left, right = deep[tree.left[nodes]], deep[tree.right[nodes]]
        deep[nodes] = np.maximum(left, right)
        rows, axis = np.arange(len(nodes)), tree.axis[nodes]
        deep[nodes, axis] = left[rows, axis] + right[rows, axis]
    return deep
