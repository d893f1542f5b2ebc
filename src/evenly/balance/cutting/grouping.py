"""Which rank gets which leaves: neighbours in the tree's depth-first order, so that the slowest rank is fastest.

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
    """Return the owner (leaves,) of each leaf, 0 … ranks-1 in order, each rank at least one leaf.

    Parameters
    ----------
    work : (leaves,)
        Seconds of each leaf, in order.
    speed : (ranks,)
        How fast each rank is; no more ranks than leaves.

    Notes
    -----
    The least possible time of the slowest rank is found by bisection on it: a time is possible if ranks that take as
    many leaves as fit, in order, take all. Exact to a relative 1e-9.
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
    """Return one past the last leaf of each rank if all leaves fit, else None."""
    total = np.concatenate([[0.0], np.cumsum(work)])
    ranks, leaves, start = len(speed), len(work), 0
    stops = []
    for rank in range(ranks):
        fits = int(np.searchsorted(total, total[start] + most * speed[rank] * (1 + 1e-12), "right")) - 1
        stop = min(fits, leaves - (ranks - 1 - rank))
        if stop <= start:
            return None
        stops.append(stop)
        start = stop
    return stops if start == leaves else None
