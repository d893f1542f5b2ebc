"""The compiled sum over a box's corners, which `Survey.counts` takes where numba is installed.

It adds the same terms in the same order as the sum without it, so results are the same to the last bit.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["add_corners"]


@njit(cache=True, nogil=True)
def add_corners(flat, strides, low, high, blocks, shares, starts, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the counts of boxes to `out`.

    Parameters
    ----------
    flat : (x edges · y edges · z edges · kinds,)
        The summed-area table, as `Survey.table` lies in memory.
    strides : (3,) of int
        Steps in `flat` from one corner to the next along x, y, z.
    low, high : (n, 3) of int
        Boxes: first grid index and one past the last.
    blocks, shares : (x points + y points + z points + 3,)
        For each grid index along x, then y, then z: the block that it lies in, and which share of the block is below.
    starts : (3,) of int
        Where x, y and z begin in them.
    out : (n, kinds)
        Points of each kind.
    """
    # Of each axis the corners that a box needs, as steps in `flat`, and their weights: two around the low end, which
    # are taken off, and two around the high end (linear interpolation between neighbouring corners).
    # Unsigned, as an index that may be negative keeps the innermost loop from being vectorised.
    where = np.empty((3, 4), np.uint64)
    weight = np.empty((3, 4))
    kinds = np.uint64(out.shape[1])
    last = np.uint64(out.shape[1] - 1)
    sums = np.empty(kinds)
    for n in range(low.shape[0]):
        for axis in range(3):
            for side in range(2):
                at = starts[axis] + (high[n, axis] if side else low[n, axis])
                sign = 1.0 if side else -1.0
                where[axis, 2 * side] = np.uint64(blocks[at] * strides[axis])
                where[axis, 2 * side + 1] = np.uint64((blocks[at] + 1) * strides[axis])
                weight[axis, 2 * side] = sign * (1 - shares[at])
                weight[axis, 2 * side + 1] = sign * shares[at]
        # Prefetching. Loads that don't wait for each other: what follows finds its rows in the cache.
        touched = 0.0
        for i in range(4):
            for j in range(4):
                if weight[0, i] != 0.0 and weight[1, j] != 0.0:
                    row = where[0, i] + where[1, j]
                    touched += flat[row + where[2, 0]] + flat[row + where[2, 2]]
                    touched += flat[row + where[2, 0] + last] + flat[row + where[2, 2] + last]
        # The product keeps the compiler from leaving the loads out.
        sums[:] = 0.0 * touched
        # Crow's sum over the corners of the box, each the product of three weights: 8 corners where the box ends where
        # blocks do, up to 64 where it doesn't.
        for i in range(4):
            for j in range(4):
                across = weight[0, i] * weight[1, j]
                if across == 0.0:
                    continue
                for k in range(4):
                    factor = across * weight[2, k]
                    if factor == 0.0:
                        continue
                    row = where[0, i] + where[1, j] + where[2, k]
                    for kind in range(kinds):
                        sums[kind] += factor * flat[row + kind]
        for kind in range(kinds):
            out[n, kind] = sums[kind]
