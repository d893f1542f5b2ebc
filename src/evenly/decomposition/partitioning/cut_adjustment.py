"""Cut adjustment: all cuts of a tree move until the predicted times on both sides of each cut agree.

The tree's structure (order and axes of the cuts) stays the same. The method is a fixed-point iteration. Each round
predicts the seconds of every leaf, including borders and the costs of materials that are present in a chunk. The work
density on each side of a cut is then scaled to that side's predicted seconds. The scaled density tells where the cut
balances both sides, and the cuts move there from the root down. So the adjustment also balances costs that the density
alone doesn't contain. `evenly.decomposition.rebalancing.chunk_balancer` does the same with measured times and volumes.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import Prediction
from evenly.decomposition.partitioning.problem import Candidate, CutProblem
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["adjust_cuts", "recut"]

Array = NDArray[np.float64]
ROUNDS = 8
#: Keeps divisions by no work at all finite.
TINY = 1e-300


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
    """Return the prediction of the best layout found by moving the cuts of a given layout; owners stay the same.

    Parameters
    ----------
    layout : BinaryPartition
    cell : Cell
    cost : CostModel
    ranks : int
    speeds : (ranks,), optional
        Relative speed of each rank; 1 for all ranks by default.
    corrections : (leaves,), optional
        Measured over predicted seconds of each leaf; the leaf's work is multiplied by this factor.
    rounds : int
        Number of times that all cuts are moved.

    Returns
    -------
    Prediction
        The prediction for the layout whose slowest rank is fastest; `layout` itself is one of the candidates. The times
        are those of the cost model, without `speeds` and `corrections`.
    """
    owners = np.asarray(layout.owners, dtype=np.int64) % ranks
    speed = np.ones(ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    problem = CutProblem(cell, cost, Density.of(cell, cost, len(owners)), speed)
    start = problem.candidate(Tree.of(layout, cell.grid), owners)
    best = adjust_cuts(problem, start, rounds, corrections)
    return Prediction.of(best.times, best.tree.partition(cell.grid, owners))


def adjust_cuts(
    problem: CutProblem, start: Candidate, rounds: int = ROUNDS, corrections: Array | None = None
) -> Candidate:
    """Return the candidate with the fastest slowest rank among the start and all rounds; see `recut`."""
    speed, owners = problem.speeds, start.owners
    factor = np.ones(len(owners)) if corrections is None else np.asarray(corrections, dtype=np.float64)
    now, best, least = start, start, np.inf
    for step in range(rounds + 1):
        # Seconds of each leaf (leaves,): a rank's border time is divided among its leaves in proportion to their work.
        found = now.times
        share = found.chunk_s / np.maximum(found.work_s, TINY)[owners]
        leaf_s = np.asarray(found.chunk_s + share * found.border_s[owners]) * factor
        of_rank = np.bincount(owners, leaf_s, len(speed))
        if (slowest := float((of_rank / speed).max())) < least:
            best, least = now, slowest
        if step < rounds:
            # A leaf's capacity is its rank's speed times the leaf's share of the rank's seconds.
            capacity = np.asarray(speed[owners] * leaf_s / np.maximum(of_rank, TINY)[owners])
            # Full steps overshoot where a cut crosses an object's border and the cost jumps: later rounds go half way.
            tree = _moved(now.tree, problem.density, leaf_s, capacity, 1.0 if step < 2 else 0.5)
            now = problem.candidate(tree, owners)
    return best


def _moved(tree: Tree, density: Density, leaf_s: Array, capacity: Array, size: float) -> Tree:
    """Return the tree with all cuts moved by the fraction `size` towards equal seconds per capacity on both sides."""
    seconds, able = tree.sums(leaf_s), tree.sums(capacity)
    work = density.work(tree.low, tree.high)
    # Seconds per capacity for one unit of the density's work, in each node.
    rate = seconds / np.maximum(work, TINY) / np.maximum(able, TINY)
    low, high, at = tree.low.copy(), tree.high.copy(), tree.at.copy()
    for nodes in tree.by_depth:
        axis, left, right, rows = tree.axis[nodes], tree.left[nodes], tree.right[nodes], np.arange(len(nodes))
        # `wanted` is the left side's share of the work at which rate times work is equal on both sides; `before` is its
        # present share.
        wanted = rate[right] / np.maximum(rate[left] + rate[right], TINY)
        before = work[left] / np.maximum(work[left] + work[right], TINY)
        share = np.clip(before + size * (wanted - before), 1e-6, 1 - 1e-6)
        new = density.cuts(low[nodes], high[nodes], axis, share)
        # Each side keeps at least as many layers of points as its own cuts across the same axis need.
        least = low[nodes][rows, axis] + tree.layers[left, axis]
        most = high[nodes][rows, axis] - tree.layers[right, axis]
        at[nodes] = np.clip(new, np.minimum(least, most), np.maximum(least, most))
        tree.place(nodes, at[nodes], low, high)
    return tree.with_cuts(at)
