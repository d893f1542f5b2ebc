"""Proposals of better layouts: cuts moved, leaves handed over to other ranks, or a new tree.

Proposals are compared by the likely time of the slowest rank, with the ranks' own speeds. The cost of points that a
rank keeps was measured. The cost of points that change owner is known only as well as the cost model predicts it. The
errors of ranks are independent, and a step takes as long as the slowest rank. So a layout on which many points change
owner must promise a larger gain.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.cut_adjustment import recut
from evenly.decomposition.partitioning.partition import partition
from evenly.decomposition.partitioning.predict import corners, predict
from evenly.decomposition.rebalancing.noise import SURE, slowest
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import Token, nest

__all__ = ["Known", "Proposal", "Way", "best_proposal", "moved_share", "part_way"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Way = Literal["stay", "move cuts", "hand over leaves", "new tree"]
#: Relative spread of a rank's seconds from one start on a layout to the next, as arrays get other places in memory.
RESTART = 0.01
#: Most pairs of old and new leaves that are compared to find which points change owner.
_MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Proposal:
    """A proposed layout with its predicted times.

    Parameters
    ----------
    way : str
        The kind of change from the present layout.
    layout : BinaryPartition
    rank_s : (ranks,)
        Predicted seconds per step of each rank at its speed.
    error_s : (ranks,)
        Standard errors of `rank_s`, in seconds.
    """

    way: Way
    layout: BinaryPartition
    rank_s: Array
    error_s: Array

    @property
    def step_s(self) -> float:
        """Predicted seconds per step of the slowest rank, without errors."""
        return float(self.rank_s.max())

    @cached_property
    def likely_s(self) -> float:
        """Median of the seconds of the slowest rank, given the errors of all ranks."""
        return slowest(self.rank_s, self.error_s, 0.5)

    @cached_property
    def doubt_s(self) -> float:
        """Seconds between `step_s` and the `SURE` quantile of the slowest rank's seconds."""
        return slowest(self.rank_s, self.error_s, SURE) - self.step_s


@dataclass(frozen=True)
class Known:
    """Estimates from which proposals are made: costs of the cell and speeds of the ranks.

    Parameters
    ----------
    cell : Cell
    cost : CostModel
        The cost model, corrected by measurements.
    speeds : (ranks,)
        Relative speed of each rank.
    error : float
        Relative standard error of the predicted cost of points that change owner.
    """

    cell: Cell
    cost: CostModel
    speeds: Array
    error: float

    def proposal(self, way: Way, new: BinaryPartition, old: BinaryPartition) -> Proposal:
        """Return the proposal of the layout `new`: predicted times and errors from the points that change owner."""
        rank_s = predict(self.cell, new, len(self.speeds), self.cost).rank_s / self.speeds
        came = moved_share(old, new, self.cell, len(self.speeds))
        went = moved_share(new, old, self.cell, len(self.speeds))
        error = 0.0 if way == "stay" else np.hypot(self.error * np.hypot(came, went), RESTART)
        return Proposal(way, new, rank_s, rank_s * error)


def best_proposal(layout: BinaryPartition, known: Known, ways: tuple[Way, ...], sensitivity: float = 1.0) -> Proposal:
    """Return the proposal with the smallest likely time of the slowest rank (`Proposal.likely_s`).

    Parameters
    ----------
    layout : BinaryPartition
        The present layout; it is returned if no other is better.
    known : Known
    ways : tuple of "move cuts", "hand over leaves", "new tree"
        Kinds of change to try.
    sensitivity : float
        Largest fraction, 0 to 1, of the way to its best place that a cut moves. Below 1, only cuts move: leaves and
        trees can't change in part.
    """
    cell, cost, speeds, ranks = known.cell, known.cost, known.speeds, len(known.speeds)
    found: list[tuple[Way, BinaryPartition]] = [("stay", layout)]
    if "move cuts" in ways:
        aim = recut(layout, cell, cost, ranks, speeds=speeds).layout
        found.append(("move cuts", part_way(layout, aim, sensitivity, cell)))
    ways = ways if sensitivity >= 1 else ()
    if "hand over leaves" in ways and len(layout.owners) > ranks:
        handed = _handed_over(layout, known)
        moved = recut(handed, cell, cost, ranks, speeds=speeds).layout
        found += [("hand over leaves", handed), ("hand over leaves", moved)]
    if "new tree" in ways and cell.grid.box.volume >= ranks > 1:
        found.append(("new tree", partition(cell, ranks, cost, speeds=speeds.tolist()).balanced.layout))
    return min((known.proposal(way, new, layout) for way, new in found), key=lambda each: each.likely_s)


def part_way(old: BinaryPartition, new: BinaryPartition, fraction: float, cell: Cell) -> BinaryPartition:
    """Return a layout whose cuts lie a fraction of the way from the old to the new ones of the same tree, on the grid.

    Examples
    --------
    >>> from evenly.decomposition.cells.survey import Survey
    >>> from evenly.fdtd.cell.grid import Grid
    >>> cell = Cell("fdtd", Grid((8, 1, 1), 1), Survey.of_blocks(((0, 8), (0, 1), (0, 1)), (), np.zeros((1, 1, 1, 0))))
    >>> part_way(BinaryPartition([("x", -3.0), 0, 1]), BinaryPartition([("x", 2.0), 0, 1]), 0.4, cell)
    BinaryPartition([('x', -1.0), 0, 1])
    """
    if fraction >= 1:
        return new
    grid, tokens = cell.grid, list[Token]()
    for (_, before), (_, after) in zip(old.walk(), new.walk(), strict=True):
        if before.axis is None or before.position is None or after.position is None:
            tokens.append(int(after.owner or 0))
            continue
        low = grid.origin[before.axis]
        at = before.position + fraction * (after.position - before.position)
        # Widths of boxes are means of widths of at least one point. Rounded alike, both their ends stay apart.
        tokens.append((before.axis, low + math.floor((at - low) / grid.dx + 0.5) * grid.dx))
    return BinaryPartition(nest(tokens))


def _handed_over(layout: BinaryPartition, known: Known) -> BinaryPartition:
    """Return the layout after greedy moves of leaves from the slowest rank to the rank that then finishes first."""
    speeds = known.speeds
    owners = np.asarray(layout.owners, dtype=np.int64) % len(speeds)
    work = known.cost.chunk_seconds(known.cell, *corners(known.cell, layout))
    for _ in range(4 * len(owners)):
        done = np.bincount(owners, work, len(speeds)) / speeds
        slow = int(done.argmax())
        own = np.flatnonzero(owners == slow)
        after = (np.bincount(owners, work, len(speeds))[None, :] + work[own, None]) / speeds[None, :]
        after[:, slow] = np.inf
        leaf, target = np.unravel_index(int(after.argmin()), after.shape)
        if after[leaf, target] >= done[slow] * (1 - 1e-9):
            break
        # The largest leaf with which the target rank is still faster than the slowest rank was.
        fits = np.flatnonzero(after[:, target] < done[slow] * (1 - 1e-9))
        owners[own[fits[np.argmax(work[own[fits]])]]] = target
    return _with_owners(layout, owners)


def _with_owners(layout: BinaryPartition, owners: Ints) -> BinaryPartition:
    rest = iter(owners.tolist())
    tokens: list[Token] = [
        next(rest) if node.axis is None or node.position is None else (node.axis, node.position)
        for _, node in layout.walk()
    ]
    return BinaryPartition(nest(tokens))


def moved_share(old: BinaryPartition, new: BinaryPartition, cell: Cell, ranks: int) -> Array:
    """Return the share of each rank's points on the new layout that it doesn't own on the old one, (ranks,)."""
    (low, high), (new_low, new_high) = corners(cell, old), corners(cell, new)
    owners, new_owners = (np.asarray(each.owners, dtype=np.int64) % ranks for each in (old, new))
    points = np.bincount(new_owners, np.prod(new_high - new_low, axis=1), ranks)
    if len(low) * len(new_low) > _MOST_PAIRS:
        return np.ones(ranks)
    kept = np.zeros(ranks)
    for rank in range(ranks):
        a, b = owners == rank, new_owners == rank
        across = np.minimum(high[a][:, None], new_high[b][None]) - np.maximum(low[a][:, None], new_low[b][None])
        kept[rank] = np.prod(np.maximum(across, 0), axis=2).sum()
    return np.asarray(1 - kept / np.maximum(points, 1))
