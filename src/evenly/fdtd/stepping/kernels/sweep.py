"""The leapfrog update of E and H (K. S. Yee, IEEE Trans. Antennas Propag. 14, 302 (1966)) in one sweep through memory.

E at plane i needs H at planes i-1 and i. When E at planes i-1 and i is updated, H at plane i-1 can be updated too,
while these values are still in the cache. So both fields are read and written once per step instead of twice. A run of
several rows is treated as one long row. The ghost points between its rows then receive meaningless values, and are
reset.

The same functions update E and H. With negative strides they take backward differences of H (+curl), with positive
strides forward differences of E (-curl). Functions that are called for each run take the arrays one by one, because
taking them out of a tuple costs reference counting.
"""

from __future__ import annotations

from evenly.compiling import njit, njit_leaf
from evenly.fdtd.cell.box import Index
from evenly.fdtd.stepping.kernels.arguments import (
    ABOVE_ROW,
    E_FACTORS,
    E_STEPPED,
    H_FACTORS,
    H_STEPPED,
    LAYERED,
    PER_POINT,
    SCALAR,
    THIN,
    WALLS,
    WRAPPED,
    Update,
)
from evenly.fdtd.stepping.kernels.flat import update_flat_rows
from evenly.fdtd.stepping.kernels.one_component import add_curl, update_component
from evenly.fdtd.stepping.kernels.stretching import difference, find_places, lay_out, stretched
from evenly.fdtd.stepping.kernels.walls import copy_ends, finish_rows, hold

__all__ = ["RUN_BYTES", "room_for", "sweep"]

# Length of a run of rows, in bytes of one field component: long enough that the cost of starting a run is negligible,
# short enough for the caches.
RUN_BYTES = 38400
# The same in one and two dimensions, where fewer components share the caches.
FLAT_RUN_BYTES = 115200


def room_for(shape: Index, itemsize: int) -> int:
    """Return how many numbers `sweep` needs room for, or more, if the fields have this shape, with ghosts."""
    rows = max(1, min(max(shape[0], shape[1]), FLAT_RUN_BYTES // (itemsize * shape[2])))
    return rows * (19 * shape[2] + 18)


@njit(cache=True, nogil=True, inline="always")
def sweep(E, H, electric, magnetic, shape, boxes, flags, room):
    """Update E on one box and H on another in one sweep; H lags behind E by one plane and one row.

    Nothing is allocated here, which would take as long as to sweep some ten points.

    Parameters
    ----------
    E, H : three flat arrays each
        Fields with one ghost point on either side of each axis (none on a thin axis).
    electric, magnetic : tuples
        Entries of `arguments.Medium`.
    shape : (3,) ints
        Points with ghosts.
    boxes : (4, 3) ints
        First index and one past the last, for E and for H.
    flags : (17,) ints
        See `arguments`.
    room : flat array
        Of `room_for` numbers, whatever they are.
    """
    di, dj = (0 if flags[THIN] else 1), (0 if flags[THIN + 1] else 1)
    sx, sy, points = di * shape[1] * shape[2], dj * shape[2], _three(shape)
    walls, layers = _three(flags[WALLS:]), _three(flags[LAYERED:])
    # In one and two dimensions, axes are thin, and some components may not exist.
    flat = di == 0 or dj == 0
    turned = flat and di == 1
    fitting = (FLAT_RUN_BYTES if flat else RUN_BYTES) // (E[0].itemsize * shape[2])
    most = max(1, min(shape[0] if turned else shape[1], fitting))
    length, wrapped = most * shape[2], flags[ABOVE_ROW] == WRAPPED
    e_stepped = (flags[E_STEPPED] != 0, flags[E_STEPPED + 1] != 0, flags[E_STEPPED + 2] != 0)
    h_stepped = (flags[H_STEPPED] != 0, flags[H_STEPPED + 1] != 0, flags[H_STEPPED + 2] != 0)
    # A plain 0 or False would be a type of its own, for which numba compiles once more.
    no_wall, not_wrapped = 0 * flags[WALLS], flags[ABOVE_ROW] < 0
    no_walls = (no_wall, no_wall, no_wall)
    e = _name(E, H, electric, flags[E_FACTORS], layers, length, (-sx, -sy, -1), walls, wrapped, e_stepped)
    h = _name(H, E, magnetic, flags[H_FACTORS], layers, length, (sx, sy, 1), no_walls, not_wrapped, h_stepped)
    e_box, h_box = (_three(boxes[0]), _three(boxes[1])), (_three(boxes[2]), _three(boxes[3]))
    # Boxes at most two points wide along the rows are updated point by point.
    if e_box[0][2] >= e_box[1][2] and 0 < h_box[1][2] - h_box[0][2] <= 2:
        _update_points(h, points, h_box)
        return
    if h_box[0][2] >= h_box[1][2] and 0 < e_box[1][2] - e_box[0][2] <= 2:
        _update_points(e, points, e_box)
        hold(E, points, e_box, walls)
        return
    if turned:
        # Behind a thin axis, planes are rows. So they are swept as the rows of a single plane.
        points, layers = _turn(points), _turn(layers)
        e_box, h_box = (_turn(e_box[0]), _turn(e_box[1])), (_turn(h_box[0]), _turn(h_box[1]))
        di, dj = 0, 1
    e_profile, h_profile = (e.profiles[0], h.profiles[0]) if turned else (e.profiles[1], h.profiles[1])
    T, kept, K = room[:length], room[length : length + 18 * most], room[length + 18 * most :]
    KE, KH = K[: 9 * length], K[9 * length : 18 * length]
    e_rows = _prepare_runs(e, KE, e_box, most, points, layers)
    h_rows = _prepare_runs(h, KH, h_box, most, points, layers)
    i_first, i_last, j_first, j_last = _find_range(e_box, h_box, di, dj)
    # A block has as many rows as a run. Each block goes through all planes before the next block begins, so that a
    # plane is still in the cache when H is updated.
    for j in range(j_first, j_last, most):
        end = min(j + most, j_last)
        e_first, e_end = max(j, e_box[0][1]), min(end, e_box[1][1])
        h_first, h_end = max(j - dj, h_box[0][1]), min(end - dj, h_box[1][1])
        if layers[1] and e_rows > 1:
            lay_out(KE, e_profile, 1, e_first, e_end - e_first, 1, points[2])
        if layers[1] and h_rows > 1:
            lay_out(KH, h_profile, 1, h_first, h_end - h_first, 1, points[2])
        for i in range(i_first, i_last):
            if e_box[0][0] <= i < e_box[1][0] and e_first < e_end:
                box = (i, e_first, e_end, e_box[0][2], e_box[1][2], e_rows)
                if flat:
                    update_flat_rows(e, KE, T, kept, layers, points, box)
                else:
                    _update_rows(e, KE, T, kept, layers, points, box)
            if h_box[0][0] <= i - di < h_box[1][0] and h_first < h_end:
                box = (i - di, h_first, h_end, h_box[0][2], h_box[1][2], h_rows)
                if flat:
                    update_flat_rows(h, KH, T, kept, layers, points, box)
                else:
                    _update_rows(h, KH, T, kept, layers, points, box)


@njit_leaf(cache=True, nogil=True)
def _three(values):
    return values[0], values[1], values[2]


@njit_leaf(cache=True, nogil=True, inline="always")
def _name(D, A, medium, mode, layers, length, strides, walls, wrapped, stepped):
    c, a, scalar, psi, offsets, profiles = medium
    where, inside = find_places(offsets, layers, length, strides[0] != 0 and strides[1] == 0)
    return Update(D, A, c, a, scalar, mode, psi, profiles, where, inside, strides, walls, wrapped, stepped)


@njit_leaf(cache=True, nogil=True)
def _turn(triple):
    """Return the entries of axes 1, 0, 2."""
    return triple[1], triple[0], triple[2]


@njit_leaf(cache=True, nogil=True)
def _prepare_runs(update, K, box, most, shape, layers):
    """Return the number of rows in a run, and fill the array of PML coefficients for axis 2."""
    sy = shape[2]
    rows = most if box[0][2] <= 2 and box[1][2] >= sy - 2 else 1
    if layers[2] and box[0][0] < box[1][0]:
        lay_out(K, update.profiles[2], 2, 0, min(rows, box[1][1] - box[0][1]), 1 if rows > 1 else box[0][2], sy)
    return rows


@njit_leaf(cache=True, nogil=True)
def _find_range(e, h, di, dj):
    """Return first and last+1 of the planes and of the rows of a sweep, for E's box e and H's lagging box h."""
    i0, i1, j0, j1 = h[0][0] + di, h[1][0] + di, h[0][1] + dj, h[1][1] + dj
    if e[0][0] >= e[1][0] or e[0][1] >= e[1][1]:
        return i0, i1, j0, j1
    if h[0][0] >= h[1][0] or h[0][1] >= h[1][1]:
        return e[0][0], e[1][0], e[0][1], e[1][1]
    return min(e[0][0], i0), max(e[1][0], i1), min(e[0][1], j0), max(e[1][1], j1)


@njit_leaf(cache=True, nogil=True)
def _update_rows(update, K, T, kept, layers, shape, box):
    """Update rows of one plane.

    `box` is (plane, first row, last row + 1, first column, last column + 1, rows in a run). K, T and `kept` are work
    arrays for the PML coefficients, a component of the curl, and the values at the ends of rows.
    """
    (D0, D1, D2), (A0, A1, A2) = update.D, update.A
    (c0, c1, c2), (a0, a1, a2), psi = update.c, update.a, update.psi
    scalar, mode, where, inside = update.scalar, update.mode, update.where, update.inside
    (s0, s1, s2), walls, wrapped = update.strides, update.walls, update.wrapped
    i, j, end, k0, k1, rows = box
    sy = shape[2]
    layered = layers[0] != 0 or layers[1] != 0 or layers[2] != 0
    plain = mode == SCALAR and scalar[0] == scalar[1] and scalar[1] == scalar[2]
    if layers[0]:
        lay_out(K, update.profiles[0], 0, i, end - j if rows > 1 else 1, 0, sy)
    # Rows without their first or last point are updated as a whole; the old values of that point are then restored.
    ends = (-1 if k0 == 1 else 1, -1 if k1 == sy - 1 else sy - 2)
    if rows > 1:
        k0, k1 = 1, sy - 1
    while j < end:
        m = min(rows, end - j)
        row = (i * shape[1] + j) * sy
        run = (row + k0, (m - 1) * sy + k1 - k0)
        if rows > 1 and (ends[0] > 0 or ends[1] > 0):
            copy_ends(kept, D0, D1, D2, psi, where, inside, (row, sy, m), ends, False)
        if layered:
            # Component by component: the stretched curl, then the field.
            if layers[1] and rows == 1:
                lay_out(K, update.profiles[1], 1, j, 1, k0, sy)
            difference(T, A2, A1, psi, K, where[0], inside[0], run, (s1, s2), True)
            add_curl(D0, T, c0, a0, scalar[0], mode, run)
            difference(T, A0, A2, psi, K, where[1], inside[1], run, (s2, s0), True)
            add_curl(D1, T, c1, a1, scalar[1], mode, run)
            difference(T, A1, A0, psi, K, where[2], inside[2], run, (s0, s1), True)
            add_curl(D2, T, c2, a2, scalar[2], mode, run)
        elif plain:
            _update_plain(D0, D1, D2, A0, A1, A2, run, (s0, s1, s2), scalar[0])
        else:
            update_component(D0, A2, A1, c0, a0, scalar[0], mode, run, (s1, s2))
            update_component(D1, A0, A2, c1, a1, scalar[1], mode, run, (s2, s0))
            update_component(D2, A1, A0, c2, a2, scalar[2], mode, run, (s0, s1))
        if rows > 1 and (ends[0] > 0 or ends[1] > 0):
            copy_ends(kept, D0, D1, D2, psi, where, inside, (row, sy, m), ends, True)
        finish_rows(D0, D1, D2, shape, walls, wrapped, i, j, m)
        j += m


@njit_leaf(cache=True, nogil=True)
def _update_plain(D0, D1, D2, A0, A1, A2, run, s, c):
    """Update all components with one factor c for all of them and all points, as in vacuum: D += c·(±dx·curl A)."""
    o, n, (sx, sy, sz) = run[0], run[1], s
    d0, d1, d2 = D0[o : o + n], D1[o : o + n], D2[o : o + n]
    a0, a1, a2 = A0[o : o + n], A1[o : o + n], A2[o : o + n]
    a0y, a0z = A0[o + sy : o + sy + n], A0[o + sz : o + sz + n]
    a1x, a1z = A1[o + sx : o + sx + n], A1[o + sz : o + sz + n]
    a2x, a2y = A2[o + sx : o + sx + n], A2[o + sy : o + sy + n]
    for k in range(n):
        x, y, z = a0[k], a1[k], a2[k]
        d0[k] += c * ((z - a2y[k]) - (y - a1z[k]))
        d1[k] += c * ((x - a0z[k]) - (z - a2x[k]))
        d2[k] += c * ((y - a1x[k]) - (x - a0y[k]))


@njit_leaf(cache=True, nogil=True)
def _update_points(update, shape, box):
    """Update the points of a thin box one by one; for rows of one or two points, runs don't pay off."""
    (D0, D1, D2), (A0, A1, A2), (x, y, z) = update.D, update.A, update.profiles
    (c0, c1, c2), (a0, a1, a2), psi = update.c, update.a, update.psi
    scalar, mode, where, inside = update.scalar, update.mode, update.where, update.inside
    s0, s1, s2 = update.strides
    for i in range(box[0][0], box[1][0]):
        for j in range(box[0][1], box[1][1]):
            for k in range(box[0][2], box[1][2]):
                o = (i * shape[1] + j) * shape[2] + k
                # First the three components of the stretched curl (times ±dx).
                t = stretched(A2[o] - A2[o + s1], psi, y, where[0][0] + o, j, inside[0][0])
                t -= stretched(A1[o] - A1[o + s2], psi, z, where[0][1] + o, k, inside[0][1])
                u = stretched(A0[o] - A0[o + s2], psi, z, where[1][0] + o, k, inside[1][0])
                u -= stretched(A2[o] - A2[o + s0], psi, x, where[1][1] + o, i, inside[1][1])
                v = stretched(A1[o] - A1[o + s0], psi, x, where[2][0] + o, i, inside[2][0])
                v -= stretched(A0[o] - A0[o + s1], psi, y, where[2][1] + o, j, inside[2][1])
                # Then the field, as in `one_component.add_curl`.
                if mode == SCALAR:
                    D0[o] += scalar[0] * t
                    D1[o] += scalar[1] * u
                    D2[o] += scalar[2] * v
                elif mode == PER_POINT:
                    D0[o] += c0[o] * t
                    D1[o] += c1[o] * u
                    D2[o] += c2[o] * v
                else:
                    D0[o] = a0[o] * D0[o] + c0[o] * t
                    D1[o] = a1[o] * D1[o] + c1[o] * u
                    D2[o] = a2[o] * D2[o] + c2[o] * v
