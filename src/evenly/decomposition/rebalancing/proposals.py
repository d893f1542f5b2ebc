"""Better layouts from what is known: cuts moved, leaves handed over, or another tree.

All are judged by the time that the slowest rank is likely to take, at the speeds that ranks have. What a rank keeps was
measured; what comes or goes is known as well as the cost model knows it. Each rank may be wrong for itself, and a step
takes as long as the slowest: a layout on which much changes hands must promise more.
"""

from __future__ import annotations

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

__all__ = ["Known", "Proposal", "Way", "best_proposal", "moved_share"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Way = Literal["stay", "move cuts", "hand over leaves", "new tree"]
#: Relative spread of a rank's seconds from one start on a layout to the next: where arrays come to lie in memory.
RESTART = 0.01
#: Pairs of leaves that are compared at most to tell what moves.
_MOST_PAIRS = 4_000_000


@dataclass(frozen=True)
class Proposal:
    """A layout with its predicted times.

    Parameters
    ----------
    way : str
        How it came from the present one.
    layout : BinaryPartition
    rank_s : (ranks,)
        Seconds per step of each rank at its speed.
    error_s : (ranks,)
        Their standard errors.
    """

    way: Way
    layout: BinaryPartition
    rank_s: Array
    error_s: Array

    @property
    def step_s(self) -> float:
        """Seconds of the slowest rank, if all predictions hold."""
        return float(self.rank_s.max())

    @cached_property
    def likely_s(self) -> float:
        """Seconds of whichever rank turns out to be the slowest: more or less with the same probability."""
        return slowest(self.rank_s, self.error_s, 0.5)

    @cached_property
    def doubt_s(self) -> float:
        """By how much the slowest rank may be slower than predicted, with the probability `SURE`."""
        return slowest(self.rank_s, self.error_s, SURE) - self.step_s


@dataclass(frozen=True)
class Known:
    """What is known of a cell and its ranks.

    Parameters
    ----------
    cell : Cell
    cost : CostModel
        Corrected by what was measured.
    speeds : (ranks,)
        How fast each rank is, as a factor.
    error : float
        Relative standard error of the cost of a rank whose points are all others than before.
    """

    cell: Cell
    cost: CostModel
    speeds: Array
    error: float

    def proposal(self, way: Way, new: BinaryPartition, old: BinaryPartition) -> Proposal:
        """Return what a layout promises."""
        rank_s = predict(self.cell, new, len(self.speeds), self.cost).rank_s / self.speeds
        came = moved_share(old, new, self.cell, len(self.speeds))
        went = moved_share(new, old, self.cell, len(self.speeds))
        error = 0.0 if way == "stay" else np.hypot(self.error * np.hypot(came, went), RESTART)
        return Proposal(way, new, rank_s, rank_s * error)


def best_proposal(layout: BinaryPartition, known: Known, ways: tuple[Way, ...]) -> Proposal:
    """Return the layout on which the slowest rank is likely to be fastest.

    Parameters
    ----------
    layout : BinaryPartition
        The present one; it is the answer where nothing is better.
    known : Known
    ways : tuple of "move cuts", "hand over leaves", "new tree"
        Which to try.
    """
    cell, cost, speeds, ranks = known.cell, known.cost, known.speeds, len(known.speeds)
    found: list[tuple[Way, BinaryPartition]] = [("stay", layout)]
    if "move cuts" in ways:
        found.append(("move cuts", recut(layout, cell, cost, ranks, speeds=speeds).layout))
    if "hand over leaves" in ways and len(layout.owners) > ranks:
        handed = _handed_over(layout, known)
        moved = recut(handed, cell, cost, ranks, speeds=speeds).layout
        found += [("hand over leaves", handed), ("hand over leaves", moved)]
    if "new tree" in ways and cell.grid.box.volume >= ranks > 1:
        found.append(("new tree", partition(cell, ranks, cost, speeds=speeds.tolist()).balanced.layout))
    return min((known.proposal(way, new, layout) for way, new in found), key=lambda each: each.likely_s)


def _handed_over(layout: BinaryPartition, known: Known) -> BinaryPartition:
    """Give leaves of the rank that needs longest to the one that then is done first, as long as that helps."""
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
        # Of all leaves that may go there, the largest that leaves the target below the slowest.
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
