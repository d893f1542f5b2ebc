"""Moves all cuts of a tree so that the predicted times on both sides of each agree; the tree stays as it is.

This is a fixed-point iteration. A round predicts the seconds of each leaf as the tree is, borders and presence
included. The work density, scaled on each side of a cut to what that side takes, then says where the cut would balance
both sides; cuts move there from the root down. So ranks come together in what a search by cumulative work alone
doesn't see. `evenly.decomposition.rebalancing.chunk_balancer` does the same with measured times and volumes.
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
    owners = np.asarray(layout.owners, dtype=np.int64) % ranks
    speed = np.ones(ranks) if speeds is None else np.asarray(speeds, dtype=np.float64)
    problem = CutProblem(cell, cost, Density.of(cell, cost, len(owners)), speed)
    start = problem.candidate(Tree.of(layout, cell.grid), owners)
    best = adjust_cuts(problem, start, rounds, corrections)
    return Prediction.of(best.times, best.tree.partition(cell.grid, owners))


def adjust_cuts(
    problem: CutProblem, start: Candidate, rounds: int = ROUNDS, corrections: Array | None = None
) -> Candidate:
    """Return the best of all rounds, the start among them; see `recut`."""
    speed, owners = problem.speeds, start.owners
    factor = np.ones(len(owners)) if corrections is None else np.asarray(corrections, dtype=np.float64)
    now, best, least = start, start, np.inf
    for step in range(rounds + 1):
        # Seconds of each leaf (leaves,): a rank's borders are divided over its leaves by their work.
        found = now.times
        share = found.chunk_s / np.maximum(found.work_s, TINY)[owners]
        leaf_s = np.asarray(found.chunk_s + share * found.border_s[owners]) * factor
        of_rank = np.bincount(owners, leaf_s, len(speed))
        if (slowest := float((of_rank / speed).max())) < least:
            best, least = now, slowest
        if step < rounds:
            # A leaf gets as much of its rank's speed as its part of the rank's work.
            capacity = np.asarray(speed[owners] * leaf_s / np.maximum(of_rank, TINY)[owners])
            # Full steps overshoot where presence jumps: later rounds are smaller.
            tree = _moved(now.tree, problem.density, leaf_s, capacity, 1.0 if step < 2 else 0.5)
            now = problem.candidate(tree, owners)
    return best


def _moved(tree: Tree, density: Density, leaf_s: Array, capacity: Array, size: float) -> Tree:
    """Return the tree with all cuts moved `size` of the way to where both sides need equal seconds per capacity."""
    seconds, able = tree.sums(leaf_s), tree.sums(capacity)
    work = density.work(tree.low, tree.high)
    # Seconds per capacity that a unit of the density's work makes in each node.
    rate = seconds / np.maximum(work, TINY) / np.maximum(able, TINY)
    low, high, at = tree.low.copy(), tree.high.copy(), tree.at.copy()
    for nodes in tree.by_depth:
        axis, left, right, rows = tree.axis[nodes], tree.left[nodes], tree.right[nodes], np.arange(len(nodes))
        # The left side's share of the work, and the one at which rates times work are equal on both sides.
        wanted = rate[right] / np.maximum(rate[left] + rate[right], TINY)
        before = work[left] / np.maximum(work[left] + work[right], TINY)
        share = np.clip(before + size * (wanted - before), 1e-6, 1 - 1e-6)
        new = density.cuts(low[nodes], high[nodes], axis, share)
        # A layer of points is left for every leaf that is cut off across the same axis on either side.
        least = low[nodes][rows, axis] + tree.layers[left, axis]
        most = high[nodes][rows, axis] - tree.layers[right, axis]
        at[nodes] = np.clip(new, np.minimum(least, most), np.maximum(least, most))
        tree.place(nodes, at[nodes], low, high)
    return tree.with_cuts(at)
