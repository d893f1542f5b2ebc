"""Which boxes of a cell touch, and over how many faces of points: found plane by plane, not by comparing all pairs.

>>> low, high = np.array([[0, 0, 0], [2, 0, 0], [2, 3, 0]]), np.array([[2, 4, 1], [4, 3, 1], [4, 4, 1]])
>>> first, second, faces = touching(low, high, (4, 4, 1), (False, False, False))
>>> [(int(i), int(j), int(n)) for i, j, n in zip(first, second, faces)]
[(0, 1, 3), (0, 2, 1), (1, 2, 2)]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["owners_borders", "touching"]

Ints = NDArray[np.int64]
Pairs = tuple[Ints, Ints, Ints]


def touching(low: Ints, high: Ints, shape: tuple[int, int, int], periodic: tuple[bool, bool, bool]) -> Pairs:
    """Return the pairs of disjoint boxes (n, 3) that share faces: first box, second box, faces, each (pairs,).

    Two boxes that touch on both sides of a periodic cell make two pairs. A box doesn't touch itself.
    """
    found = [_across(low, high, axis, shape[axis], around=periodic[axis] and shape[axis] > 1) for axis in range(3)]
    first, second, faces = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, faces


def owners_borders(pairs: Pairs, owners: Ints, ranks: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the faces that each rank shares with other ranks, and how many those are, each (ranks,)."""
    first, second, faces = pairs
    one, other = owners[first], owners[second]
    apart = one != other
    one, other, faces = one[apart], other[apart], faces[apart]
    shared = np.bincount(one, faces, ranks) + np.bincount(other, faces, ranks)
    met = np.unique(np.concatenate([one * ranks + other, other * ranks + one]))
    return np.asarray(shared, dtype=np.float64), np.bincount(met // ranks, minlength=ranks).astype(np.float64)


def _across(low: Ints, high: Ints, axis: int, n: int, *, around: bool) -> Pairs:
    """Pairs whose common faces are across one axis: one box ends where the other begins."""
    ends = high[:, axis] % n if around else high[:, axis]
    planes = np.intersect1d(ends, low[:, axis])
    found: list[Pairs] = []
    by_end, by_start = np.argsort(ends, kind="stable"), np.argsort(low[:, axis], kind="stable")
    first_ends, last_ends = (np.searchsorted(ends[by_end], planes, side) for side in ("left", "right"))
    first_starts, last_starts = (np.searchsorted(low[by_start, axis], planes, side) for side in ("left", "right"))
    for a, b, c, d in zip(first_ends, last_ends, first_starts, last_starts, strict=True):
        found.append(_in_plane(low, high, axis, by_end[a:b], by_start[c:d]))
    empty = np.zeros(0, dtype=np.int64)
    if not found:
        return empty, empty, empty
    first, second, faces = (np.concatenate(parts) for parts in zip(*found, strict=True))
    return first, second, faces


def _in_plane(low: Ints, high: Ints, axis: int, below: Ints, above: Ints) -> Pairs:
    u, v = (a for a in range(3) if a != axis)
    above = above[np.argsort(low[above, u], kind="stable")]
    longest = (high[above, u] - low[above, u]).max()
    start = np.searchsorted(low[above, u], low[below, u] - longest, "right")
    stop = np.searchsorted(low[above, u], high[below, u], "left")
    # For each box below: the boxes above whose range along u may overlap its own.
    counts = stop - start
    one = np.repeat(below, counts)
    two = above[np.arange(counts.sum()) - np.repeat(np.cumsum(counts) - counts, counts) + np.repeat(start, counts)]
    across = [np.minimum(high[one, a], high[two, a]) - np.maximum(low[one, a], low[two, a]) for a in (u, v)]
    touch = (across[0] > 0) & (across[1] > 0) & (one != two)
    return one[touch], two[touch], (across[0] * across[1])[touch]
