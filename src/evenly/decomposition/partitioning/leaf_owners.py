"""Assignment of leaves to ranks that minimises the slowest rank's time; each rank gets consecutive leaves.

The leaves are in the tree's depth-first order. This is chains-on-chains partitioning, solved by a parametric search:
bisection on the time of the slowest rank, with a probe that tells whether a time is feasible (A. Pınar, C. Aykanat, J.
Parallel Distrib. Comput. 64, 974 (2004)).

>>> grouped_owners(np.array([3.0, 1.0, 1.0, 1.0, 2.0, 1.0]), np.ones(3)).tolist()
[0, 1, 1, 1, 2, 2]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["grouped_owners"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]


def grouped_owners(work: Array, speed: Array) -> Ints:
    """Return each leaf's owner (leaves,) by chains-on-chains partitioning; every rank owns at least one leaf.

    Parameters
    ----------
    work : (leaves,)
        Seconds of each leaf, depth first.
    speed : (ranks,)
        Relative speed of each rank; there are no more ranks than leaves.

    Notes
    -----
    The owners 0 … ranks-1 follow each other in order. Bisection finds the smallest feasible time of the slowest rank,
    to a relative 1e-9. A time is feasible if the leaves can be divided into consecutive groups such that no rank needs
    more than this time.
    """
    leaves, ranks = len(work), len(speed)
    if leaves == ranks:
        return np.arange(leaves)
    low, high = 0.0, float(work.sum() / speed.min())
    while high - low > 1e-9 * high:
        middle = (low + high) / 2
        if _stops(work, speed, middle) is None:
            low = middle
        else:
            high = middle
    stops = _stops(work, speed, high)
    assert stops is not None  # noqa: S101 - all leaves fit into the largest time
    return np.repeat(np.arange(ranks), np.diff([0, *stops]))


def _stops(work: Array, speed: Array, most: float) -> list[int] | None:
    """Probe: return one past the last leaf of each rank if no rank needs more than `most` seconds, else None."""
    total = np.concatenate([[0.0], np.cumsum(work)])
    if np.ptp(speed) == 0:
        return _fullest(total, len(speed), most * speed[0] + 1e-12 * total[-1])
    # Ranks of different speeds: dynamic programming over the ranks. reachable[r][q] tells whether ranks 0 … r-1 can own
    # exactly the leaves before q. firsts[r][q] is the earliest leaf from which rank r can do all leaves before q in
    # time.
    reachable = [np.zeros(len(total), dtype=bool)]
    reachable[0][0] = True
    firsts = []
    for able in speed:
        first = np.searchsorted(total, total - most * able - 1e-12 * total[-1])
        before = np.concatenate([[0], np.cumsum(reachable[-1])])
        reachable.append(before[np.arange(len(total))] > before[np.minimum(first, np.arange(len(total)))])
        firsts.append(first)
    if not reachable[-1][-1]:
        return None
    # Trace back from the last rank: each rank begins as late as possible.
    stops = [len(work)]
    for rank in range(len(speed) - 1, 0, -1):
        starts = np.flatnonzero(reachable[rank][: stops[-1]])
        stops.append(int(starts[starts >= firsts[rank][stops[-1]]][-1]))
    return stops[::-1]


def _fullest(total: Array, ranks: int, most: float) -> list[int] | None:
    """Return one past the last leaf of each rank for ranks of equal speed, by a greedy probe; None if infeasible.

    Each rank takes as many leaves as fit, but leaves at least one for each rank after it. `total` (leaves + 1,) is the
    work before each leaf, and `most` is the most work that a rank can do in time.
    """
    leaves, stops = len(total) - 1, [0]
    for rank in range(ranks):
        fits = int(np.searchsorted(total, total[stops[-1]] + most, "right")) - 1
        stop = min(fits, leaves - (ranks - 1 - rank))
        if stop <= stops[-1]:
            return None
        stops.append(stop)
    return stops[1:] if stops[-1] == leaves else None
