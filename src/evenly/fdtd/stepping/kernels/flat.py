"""The update in one and two dimensions: only the components that exist, and no differences along thin axes.

If nothing varies along an axis (its stride is 0), the curl along this axis is whole, and the other two components of
the curl are one derivative each, of the same component.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit_leaf
from evenly.fdtd.stepping.kernels.arguments import LOSSY, PER_POINT, SCALAR
from evenly.fdtd.stepping.kernels.one_component import add_curl, update_component
from evenly.fdtd.stepping.kernels.stretching import flat_difference, lay_out
from evenly.fdtd.stepping.kernels.walls import copy_ends, finish_row

__all__ = ["update_flat_rows"]


@njit_leaf(cache=True, nogil=True)
def update_flat_rows(update, K, T, kept, layers, shape, box):
    """Update rows of one plane; arguments as in `sweep._update_rows`.

    If axis 1 is thin, the rows are those of all planes: `shape`, `layers` and `box` are given with axes 0 and 1
    exchanged, and so are the coefficients in K; all else isn't.
    """
    (D0, D1, D2), (A0, A1, A2) = update.D, update.A
    (c0, c1, c2), (a0, a1, a2), psi = update.c, update.a, update.psi
    scalar, mode, where, inside = update.scalar, update.mode, update.where, update.inside
    (s0, s1, s2), walls, wrapped, (x, y, z) = update.strides, update.walls, update.wrapped, update.stepped
    i, j, end, k0, k1, rows = box
    sy, turned = shape[2], s1 == 0 and s0 != 0
    layered = layers[0] != 0 or layers[1] != 0 or layers[2] != 0
    # Two components without losses, which get derivatives of the same third one, are updated together.
    first = s0 == 0 and s1 != 0 and y and z and mode != LOSSY
    second = s1 == 0 and s0 != 0 and z and x and mode != LOSSY
    if layers[0]:
        lay_out(K, update.profiles[0], 0, i, end - j if rows > 1 else 1, 0, sy)
    # As in `sweep._update_rows`.
    ends = (-1 if k0 == 1 else 1, -1 if k1 == sy - 1 else sy - 2)
    if rows > 1:
        k0, k1 = 1, sy - 1
    while j < end:
        m = min(rows, end - j)
        row = (i * shape[1] + j) * sy
        run = (row + k0, (m - 1) * sy + k1 - k0)
        if rows > 1 and (ends[0] > 0 or ends[1] > 0):
            copy_ends(kept, D0, D1, D2, psi, where, inside, (row, sy, m), ends, False)
        if layers[1] and rows == 1:
            lay_out(K, update.profiles[0] if turned else update.profiles[1], 1, j, 1, k0, sy)
        if layered:
            if x:
                flat_difference(T, A2, A1, psi, K, where[0], inside[0], run, (s1, s2), True)
                add_curl(D0, T, c0, a0, scalar[0], mode, run)
            if y:
                flat_difference(T, A0, A2, psi, K, where[1], inside[1], run, (s2, s0), True)
                add_curl(D1, T, c1, a1, scalar[1], mode, run)
            if z:
                flat_difference(T, A1, A0, psi, K, where[2], inside[2], run, (s0, s1), True)
                add_curl(D2, T, c2, a2, scalar[2], mode, run)
        else:
            if x and not second:
                _update_one(D0, A2, A1, c0, a0, scalar[0], mode, run, (s1, s2))
            if y and not first:
                _update_one(D1, A0, A2, c1, a1, scalar[1], mode, run, (s2, s0))
            if z and not first and not second:
                _update_one(D2, A1, A0, c2, a2, scalar[2], mode, run, (s0, s1))
            if first:
                _update_pair(D1, D2, A0, c1, c2, scalar[1], scalar[2], mode, run, (s2, s1))
            if second:
                _update_pair(D2, D0, A1, c2, c0, scalar[2], scalar[0], mode, run, (s0, s2))
        if rows > 1 and (ends[0] > 0 or ends[1] > 0):
            copy_ends(kept, D0, D1, D2, psi, where, inside, (row, sy, m), ends, True)
        if turned:
            _finish_rows(D1, D0, D2, shape, (walls[1], walls[0], walls[2]), wrapped, (y, x, z), (i, j, m))
        else:
            _finish_rows(D0, D1, D2, shape, (walls[0], walls[1], walls[2]), wrapped, (x, y, z), (i, j, m))
        j += m


@njit_leaf(cache=True, nogil=True)
def _finish_rows(D0, D1, D2, shape, walls, wrapped, stepped, place):
    """As `walls.finish_rows`, for the components that are stepped."""
    (x, y, z), (i, j, rows) = stepped, place
    sy = shape[2]
    at_x, at_z = walls[0] != 0 and i == walls[0], walls[2] != 0
    for r in range(j, j + rows):
        at_y = walls[1] != 0 and r == walls[1]
        o = (i * shape[1] + r) * sy
        if x:
            finish_row(D0, o, sy, at_y, at_z, wrapped)
        if y:
            finish_row(D1, o, sy, at_x, at_z, wrapped)
        if z:
            finish_row(D2, o, sy, at_x or at_y, False, wrapped)


@njit_leaf(cache=True, nogil=True)
def _update_one(D, P, Q, c, a, scalar, mode, run, steps):
    """Update one component as `update_component`; along a thin axis, the other derivative is the whole curl."""
    if steps[0] == 0:
        _update_slope(D, Q, c, a, scalar, mode, run, run[0] + steps[1], run[0])
    elif steps[1] == 0:
        _update_slope(D, P, c, a, scalar, mode, run, run[0], run[0] + steps[0])
    else:
        update_component(D, P, Q, c, a, scalar, mode, run, steps)


@njit_leaf(cache=True, nogil=True)
def _update_pair(C, D, P, c, d, c_scalar, d_scalar, mode, run, steps):
    """Update two components, without losses, from the derivatives of a third: C += c·∂1 P, D -= d·∂2 P."""
    zero, o, n = np.uint64(0), np.uint64(run[0]), np.uint64(run[1])
    p, q = np.uint64(run[0] + steps[0]), np.uint64(run[0] + steps[1])
    if mode == SCALAR:
        for k in range(zero, n):
            C[o + k] += c_scalar * (P[o + k] - P[p + k])
            D[o + k] += d_scalar * (P[q + k] - P[o + k])
    else:
        for k in range(zero, n):
            C[o + k] += c[o + k] * (P[o + k] - P[p + k])
            D[o + k] += d[o + k] * (P[q + k] - P[o + k])


@njit_leaf(cache=True, nogil=True)
def _update_slope(D, P, c, a, scalar, mode, run, first, second):
    """Update one component whose curl is one derivative: D = a·D + c·(P at `first` on - P at `second` on)."""
    zero, o, n, p, q = np.uint64(0), np.uint64(run[0]), np.uint64(run[1]), np.uint64(first), np.uint64(second)
    if mode == SCALAR:
        for k in range(zero, n):
            D[o + k] += scalar * (P[p + k] - P[q + k])
    elif mode == PER_POINT:
        for k in range(zero, n):
            D[o + k] += c[o + k] * (P[p + k] - P[q + k])
    else:
        for k in range(zero, n):
            D[o + k] = a[o + k] * D[o + k] + c[o + k] * (P[p + k] - P[q + k])
