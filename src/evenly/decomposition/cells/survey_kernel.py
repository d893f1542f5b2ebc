"""The compiled sum over a box's corners, which `Survey.counts` uses if numba is installed.

It adds the same terms in the same order as the sum in numpy, so the results are equal to the last bit.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = ["add_corners"]


@njit(cache=True, nogil=True)
def add_corners(flat, strides, low, high, blocks, shares, starts, out):  # type: ignore[no-untyped-def]  # pragma: no cover
    """Write the counts of boxes, computed from the summed-area table, to `out`.

    Parameters
    ----------
    flat : (x edges · y edges · z edges · kinds,)
        The summed-area table, as `Survey.table` lies in memory.
    strides : (3,) of int
        Steps in `flat` from one corner to the next along x, y, z.
    low, high : (n, 3) of int
        Boxes: first grid index and one past the last.
    blocks, shares : (x points + y points + z points + 3,)
        For each grid index along x, then y, then z: the block that it lies in, and the share of the block below it.
    starts : (3,) of int
        Index of the first entry for x, y and z in `blocks` and `shares`.
    out : (n, kinds)
        Points of each kind.
    """
    # For each axis: the four corners that a box needs, as offsets in `flat`, and their weights. Two corners lie around
    # the low end, with negative sign, and two around the high end (linear interpolation between neighbouring corners).
    # Unsigned, since possibly negative indices keep the compiler from vectorising the innermost loop.
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
        # Prefetching: independent loads bring the rows into the cache before the sums below need them.
        touched = 0.0
        for i in range(4):
            for j in range(4):
                if weight[0, i] != 0.0 and weight[1, j] != 0.0:
                    row = where[0, i] + where[1, j]
                    touched += flat[row + where[2, 0]] + flat[row + where[2, 2]]
                    touched += flat[row + where[2, 0] + last] + flat[row + where[2, 2] + last]
        # The product keeps the compiler from removing the loads.
        sums[:] = 0.0 * touched
        # Crow's sum over the corners of the box; the weight of a corner is the product of three. There are 8 corners if
        # the box ends at block edges, and up to 64 otherwise.
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
