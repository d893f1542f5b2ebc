"""The leapfrog update of E and H in one sweep through memory.

E at plane i needs H of planes i-1 and i; once E of planes i and i-1 is new, H of plane i-1 can follow while all
of it is still in the cache. So both fields are read and written once per step instead of twice. Runs of several
rows are treated as one long row: the ghost points between them receive meaningless values, and are reset.

The same row function serves E and H: with negative strides it takes backward differences of H (+curl), with positive
strides forward differences of E (-curl). Arrays are passed one by one, not in tuples: taking them out of one counts
references in every run of rows, which is why some functions have many arguments.

Perfectly matched layers are convolutional (J. A. Roden and S. D. Gedney, Microw. Opt. Technol. Lett. 27, 334
(2000)): a derivative ∂ becomes ∂/κ + ψ with ψ ← b ψ + a ∂.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["CLOSED", "LOSSY", "OPEN", "PER_POINT", "SCALAR", "WRAPPED", "sweep"]

# What the flags of `sweep` mean: per field how its coefficients come, …
SCALAR, PER_POINT, LOSSY = 0, 1, 2
# … and what lies above the last point of a row: another chunk, a wall (E = 0 there), the row's own beginning.
OPEN, CLOSED, WRAPPED = 0, 1, 2
# Points of a plane that are treated as one run before the next plane's: long enough to forget what starting a run
# costs, short enough for the caches. In bytes of one field component.
_RUN = 38400


@njit(cache=True, nogil=True)
def _row_scalar(D0, D1, D2, A0, A1, A2, o, n, sx, sy, sz, c):
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


@njit(cache=True, nogil=True)
def _difference(T, P, Q, psi, K, where, inside, o, n, s1, s2, keep):
    """T = ∂1 P - ∂2 Q, one component of a curl, with those derivatives stretched that lie in a layer.

    `where` tells where the ψ of both derivatives and their rows of b, a, 1/κ begin in `psi` and `K`; `inside` whether
    they lie in a layer. Plain indices that can't be negative, and no slices: rows are short, and slices would have to
    be made for each.
    """
    zero = np.uint64(0)
    o, n, p1, q2 = np.uint64(o), np.uint64(n), np.uint64(o + s1), np.uint64(o + s2)
    x1, x2, L = np.uint64(where[0] + o), np.uint64(where[1] + o), np.uint64(where[4])
    b1, b2 = np.uint64(where[2]), np.uint64(where[3])
    a1, a2, v1, v2 = b1 + L, b2 + L, b1 + L + L, b2 + L + L
    if inside[0] and inside[1]:
        for k in range(zero, n):
            d1, d2 = P[o + k] - P[p1 + k], Q[o + k] - Q[q2 + k]
            new1 = K[b1 + k] * psi[x1 + k] + K[a1 + k] * d1
            new2 = K[b2 + k] * psi[x2 + k] + K[a2 + k] * d2
            T[k] = (K[v1 + k] * d1 + new1) - (K[v2 + k] * d2 + new2)
            if keep:
                psi[x1 + k] = new1
                psi[x2 + k] = new2
    elif inside[0]:
        for k in range(zero, n):
            d1 = P[o + k] - P[p1 + k]
            new1 = K[b1 + k] * psi[x1 + k] + K[a1 + k] * d1
            T[k] = (K[v1 + k] * d1 + new1) - (Q[o + k] - Q[q2 + k])
            if keep:
                psi[x1 + k] = new1
    elif inside[1]:
        for k in range(zero, n):
            d2 = Q[o + k] - Q[q2 + k]
            new2 = K[b2 + k] * psi[x2 + k] + K[a2 + k] * d2
            T[k] = (P[o + k] - P[p1 + k]) - (K[v2 + k] * d2 + new2)
            if keep:
                psi[x2 + k] = new2
    else:
        for k in range(zero, n):
            T[k] = (P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k])


@njit(cache=True, nogil=True)
def _apply(D, T, c, a, scalar, mode, o, n):
    zero, o, n = np.uint64(0), np.uint64(o), np.uint64(n)
    if mode == SCALAR:
        for k in range(zero, n):
            D[o + k] += scalar * T[k]
    elif mode == PER_POINT:
        for k in range(zero, n):
            D[o + k] += c[o + k] * T[k]
    else:
        for k in range(zero, n):
            D[o + k] = a[o + k] * D[o + k] + c[o + k] * T[k]


@njit(cache=True, nogil=True)
def _update(D, P, Q, c, a, scalar, mode, o, n, s1, s2):
    """Update one component outside layers, in one pass."""
    zero = np.uint64(0)
    o, n, p1, q2 = np.uint64(o), np.uint64(n), np.uint64(o + s1), np.uint64(o + s2)
    if mode == SCALAR:
        for k in range(zero, n):
            D[o + k] += scalar * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))
    elif mode == PER_POINT:
        for k in range(zero, n):
            D[o + k] += c[o + k] * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))
    else:
        for k in range(zero, n):
            D[o + k] = a[o + k] * D[o + k] + c[o + k] * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))


@njit(cache=True, nogil=True)
def _lay_out(K, profile, axis, first, rows, k0, sy):
    """Lay out b, a, 1/κ of one axis along rows from column k0 on; `first` is the plane (axis 0) or the first row."""
    L = K.size // 9
    for entry in range(3):
        start = (3 * axis + entry) * L
        if axis == 0:
            K[start : start + rows * sy] = profile[entry, first]
            continue
        for r in range(rows):
            # A run starts at k0, so each row's points come k0 places before a multiple of sy.
            begin, end = max(0, r * sy - k0), (r + 1) * sy - k0
            if axis == 1:
                K[start + begin : start + end] = profile[entry, first + r]
            else:
                K[start + begin : start + end] = profile[entry, sy - (end - begin) :]


@njit(cache=True, nogil=True)
def _places(offsets, layers, L):
    """Return, per component, where both derivatives' ψ and rows of b, a, 1/κ begin, and which lie in a layer."""
    where, inside = np.zeros((3, 5), np.int64), np.zeros((3, 2), np.bool_)
    for component in range(3):
        first, second = (component + 1) % 3, (component + 2) % 3
        # ψ number 2 d belongs to derivative d of component d + 1, number 2 d + 1 to that of component d + 2.
        where[component, 0], where[component, 1] = offsets[2 * first + 1], offsets[2 * second]
        where[component, 2], where[component, 3], where[component, 4] = 3 * first * L, 3 * second * L, L
        inside[component, 0], inside[component, 1] = layers[first] != 0, layers[second] != 0
    return where, inside


@njit(cache=True, nogil=True)
def _finish_row(F, o, sy, whole, first, wrapped):
    """Zero a row of E (`whole`) or its first point (`first`) at walls, and set the ghosts at its ends."""
    last = o + sy - 1
    if whole:
        for k in range(o + 1, last):
            F[k] = 0
    if first:
        F[o + 1] = 0
    F[o] = 0
    F[last] = F[o + 1] if wrapped else 0


@njit(cache=True, nogil=True)
def _finish_rows(d0, d1, d2, shape, walls, wrapped, i, j, rows):
    sy = shape[2]
    at_x, at_z = walls[0] != 0 and i == walls[0], walls[2] != 0
    for r in range(j, j + rows):
        at_y = walls[1] != 0 and r == walls[1]
        o = (i * shape[1] + r) * sy
        _finish_row(d0, o, sy, at_y, at_z, wrapped)
        _finish_row(d1, o, sy, at_x, at_z, wrapped)
        _finish_row(d2, o, sy, at_x or at_y, False, wrapped)


@njit(cache=True, nogil=True)
def sweep(E, H, electric, magnetic, shape, boxes, flags):
    """Update E on one box and H on another, H following E by one plane and one row.

    Parameters
    ----------
    E, H : three flat arrays each
        Fields with one ghost point on either side of each axis (none on a thin axis).
    electric, magnetic : tuples
        ``(c, a, scalar, psi, offsets, profile)``: per-point factors c and a (three flat arrays each; length 1 where
        unused), scalar factors (3,), all ψ in one flat array and where each of the six begins in it, and per axis the
        layers' b, a, 1/κ as (3, points) arrays.
    shape : array of 3 ints
        Points with ghosts.
    boxes : (4, 3) ints
        First index and one past the last, for E and for H.
    flags : array of ints
        0, 1: how E's and H's factors come; 2, 3, 4: layers along each axis; 5: what lies above a row; 6, 7, 8: the
        index of the plane where a wall holds E at zero (0: none); 9, 10: whether the first and second axis are thin.
    """
    sx, sy = shape[1] * shape[2], shape[2]
    stride_x, stride_y = (0 if flags[9] else sx), (0 if flags[10] else sy)
    di, dj = (0 if flags[9] else 1), (0 if flags[10] else 1)
    walls, wrapped = flags[6:9], flags[5] == WRAPPED
    layers, no_walls = flags[2:5], np.zeros(3, flags.dtype)
    e0, e1, h0, h1 = boxes[0], boxes[1], boxes[2], boxes[3]
    (E0, E1, E2), (H0, H1, H2) = E, H
    (ec0, ec1, ec2), (ea0, ea1, ea2), e_scalar, e_psi, e_offsets, (ex, ey, ez) = electric
    (hc0, hc1, hc2), (ha0, ha1, ha2), h_scalar, h_psi, h_offsets, (hx, hy, hz) = magnetic
    rows = max(1, min(shape[1], _RUN // (E0.itemsize * sy)))
    L, layered = rows * sy, layers[0] != 0 or layers[1] != 0 or layers[2] != 0
    e_where, inside = _places(e_offsets, layers, L)
    h_where, _ = _places(h_offsets, layers, L)
    if e0[2] >= e1[2] and 0 < h1[2] - h0[2] <= 2:
        _columns(H0, H1, H2, E0, E1, E2, hc0, hc1, hc2, ha0, ha1, ha2, h_scalar, h_psi, (hx, hy, hz), h_where, inside,
                 flags[1], shape, h0, h1, (stride_x, stride_y, 1))  # fmt: skip
        return
    if h0[2] >= h1[2] and 0 < e1[2] - e0[2] <= 2:
        _columns(E0, E1, E2, H0, H1, H2, ec0, ec1, ec2, ea0, ea1, ea2, e_scalar, e_psi, (ex, ey, ez), e_where, inside,
                 flags[0], shape, e0, e1, (-stride_x, -stride_y, -1))  # fmt: skip
        _hold(E0, E1, E2, shape, boxes[:2], walls)
        return
    T = np.empty(L, E0.dtype)
    KE = np.empty(9 * L if layered and e0[0] < e1[0] else 0, E0.dtype)
    KH = np.empty(9 * L if layered and h0[0] < h1[0] else 0, E0.dtype)
    e_rows = rows if e0[2] <= 2 and e1[2] >= sy - 2 else 1
    h_rows = rows if h0[2] <= 2 and h1[2] >= sy - 2 else 1
    if layers[2]:
        _lay_out(KE, ez, 2, 0, min(e_rows, e1[1] - e0[1]), 1 if e_rows > 1 else e0[2], sy)
        _lay_out(KH, hz, 2, 0, min(h_rows, h1[1] - h0[1]), 1 if h_rows > 1 else h0[2], sy)
    if e0[0] >= e1[0] or e0[1] >= e1[1]:
        i_first, i_last, j_first, j_last = h0[0] + di, h1[0] + di, h0[1] + dj, h1[1] + dj
    elif h0[0] >= h1[0] or h0[1] >= h1[1]:
        i_first, i_last, j_first, j_last = e0[0], e1[0], e0[1], e1[1]
    else:
        i_first, i_last = min(e0[0], h0[0] + di), max(e1[0], h1[0] + di)
        j_first, j_last = min(e0[1], h0[1] + dj), max(e1[1], h1[1] + dj)
    for j in range(j_first, j_last, rows):
        end = min(j + rows, j_last)
        e_first, e_end = max(j, e0[1]), min(end, e1[1])
        h_first, h_end = max(j - dj, h0[1]), min(end - dj, h1[1])
        if layers[1] and e_rows > 1:
            _lay_out(KE, ey, 1, e_first, e_end - e_first, 1, sy)
        if layers[1] and h_rows > 1:
            _lay_out(KH, hy, 1, h_first, h_end - h_first, 1, sy)
        for i in range(i_first, i_last):
            if e0[0] <= i < e1[0] and e_first < e_end:
                if layers[0]:
                    _lay_out(KE, ex, 0, i, e_end - e_first if e_rows > 1 else 1, 0, sy)
                box = (i, e_first, e_end, e0[2], e1[2], e_rows)
                _rows(E0, E1, E2, H0, H1, H2, ec0, ec1, ec2, ea0, ea1, ea2, e_scalar, e_psi, ey, KE, T, e_where,
                      inside, flags[0], layers, shape, box, (-stride_x, -stride_y, -1), walls, wrapped)  # fmt: skip
            if h0[0] <= i - di < h1[0] and h_first < h_end:
                if layers[0]:
                    _lay_out(KH, hx, 0, i - di, h_end - h_first if h_rows > 1 else 1, 0, sy)
                box = (i - di, h_first, h_end, h0[2], h1[2], h_rows)
                _rows(H0, H1, H2, E0, E1, E2, hc0, hc1, hc2, ha0, ha1, ha2, h_scalar, h_psi, hy, KH, T, h_where,
                      inside, flags[1], layers, shape, box, (stride_x, stride_y, 1), no_walls, False)  # fmt: skip


@njit(cache=True, nogil=True)
def _rows(D0, D1, D2, A0, A1, A2, c0, c1, c2, a0, a1, a2, scalar, psi, profile_y, K, T, where, inside, mode,
          layers, shape, box, s, walls, wrapped):  # fmt: skip
    """Update rows of a plane: `box` is the plane, first row and one past the last, columns, rows at a time."""
    i, j, end, k0, k1, rows = box
    sy = shape[2]
    layered = layers[0] != 0 or layers[1] != 0 or layers[2] != 0
    plain = mode == SCALAR and scalar[0] == scalar[1] and scalar[1] == scalar[2]
    # Rows that leave out their first or last point are updated whole, and get back what that point held.
    first = -1 if k0 == 1 else 1
    last = -1 if k1 == sy - 1 else sy - 2
    if rows > 1:
        k0, k1 = 1, sy - 1
    kept = np.empty((rows, 2, 9), D0.dtype)
    while j < end:
        m = min(rows, end - j)
        row = (i * shape[1] + j) * sy
        o = row + k0
        n = (m - 1) * sy + k1 - k0
        if rows > 1 and (first > 0 or last > 0):
            _keep(kept, D0, D1, D2, psi, where, inside, row, sy, m, first, last)
        if layered:
            if layers[1] and rows == 1:
                _lay_out(K, profile_y, 1, j, 1, k0, sy)
            _difference(T, A2, A1, psi, K, where[0], inside[0], o, n, s[1], s[2], True)
            _apply(D0, T, c0, a0, scalar[0], mode, o, n)
            _difference(T, A0, A2, psi, K, where[1], inside[1], o, n, s[2], s[0], True)
            _apply(D1, T, c1, a1, scalar[1], mode, o, n)
            _difference(T, A1, A0, psi, K, where[2], inside[2], o, n, s[0], s[1], True)
            _apply(D2, T, c2, a2, scalar[2], mode, o, n)
        elif plain:
            _row_scalar(D0, D1, D2, A0, A1, A2, o, n, s[0], s[1], s[2], scalar[0])
        else:
            _update(D0, A2, A1, c0, a0, scalar[0], mode, o, n, s[1], s[2])
            _update(D1, A0, A2, c1, a1, scalar[1], mode, o, n, s[2], s[0])
            _update(D2, A1, A0, c2, a2, scalar[2], mode, o, n, s[0], s[1])
        if rows > 1 and (first > 0 or last > 0):
            _give_back(kept, D0, D1, D2, psi, where, inside, row, sy, m, first, last)
        _finish_rows(D0, D1, D2, shape, walls, wrapped, i, j, m)
        j += m


@njit(cache=True, nogil=True)
def _keep(kept, D0, D1, D2, psi, where, inside, row, sy, rows, first, last):
    for r in range(rows):
        for side in range(2):
            o = row + r * sy + (first if side == 0 else last)
            if (first if side == 0 else last) > 0:
                kept[r, side, 0], kept[r, side, 1], kept[r, side, 2] = D0[o], D1[o], D2[o]
                for component in range(3):
                    for which in range(2):
                        if inside[component, which]:
                            kept[r, side, 3 + 2 * component + which] = psi[where[component, which] + o]


@njit(cache=True, nogil=True)
def _give_back(kept, D0, D1, D2, psi, where, inside, row, sy, rows, first, last):
    for r in range(rows):
        for side in range(2):
            o = row + r * sy + (first if side == 0 else last)
            if (first if side == 0 else last) > 0:
                D0[o], D1[o], D2[o] = kept[r, side, 0], kept[r, side, 1], kept[r, side, 2]
                for component in range(3):
                    for which in range(2):
                        if inside[component, which]:
                            psi[where[component, which] + o] = kept[r, side, 3 + 2 * component + which]


@njit(cache=True, nogil=True)
def _columns(D0, D1, D2, A0, A1, A2, c0, c1, c2, a0, a1, a2, scalar, psi, profiles, where, inside, mode, shape,
             lo, hi, s):  # fmt: skip
    """Update points of a thin box one by one: rows of a point or two are not worth the rows' machinery."""
    x, y, z = profiles
    for i in range(lo[0], hi[0]):
        for j in range(lo[1], hi[1]):
            for k in range(lo[2], hi[2]):
                o = (i * shape[1] + j) * shape[2] + k
                t = _stretch(A2[o] - A2[o + s[1]], psi, y, where[0, 0] + o, j, inside[0, 0])
                t -= _stretch(A1[o] - A1[o + s[2]], psi, z, where[0, 1] + o, k, inside[0, 1])
                u = _stretch(A0[o] - A0[o + s[2]], psi, z, where[1, 0] + o, k, inside[1, 0])
                u -= _stretch(A2[o] - A2[o + s[0]], psi, x, where[1, 1] + o, i, inside[1, 1])
                v = _stretch(A1[o] - A1[o + s[0]], psi, x, where[2, 0] + o, i, inside[2, 0])
                v -= _stretch(A0[o] - A0[o + s[1]], psi, y, where[2, 1] + o, j, inside[2, 1])
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


@njit(cache=True, nogil=True)
def _stretch(difference, psi, profile, p, at, inside):
    if not inside:
        return difference
    new = profile[0, at] * psi[p] + profile[1, at] * difference
    psi[p] = new
    return profile[2, at] * difference + new


@njit(cache=True, nogil=True)
def _hold(G0, G1, G2, shape, box, walls):
    """Zero what walls don't let E, or its increments, have."""
    if walls[0] == 0 and walls[1] == 0 and walls[2] == 0:
        return
    for i in range(box[0, 0], box[1, 0]):
        for j in range(box[0, 1], box[1, 1]):
            at_x, at_y = walls[0] != 0 and i == walls[0], walls[1] != 0 and j == walls[1]
            o = (i * shape[1] + j) * shape[2]
            for k in range(box[0, 2], box[1, 2]):
                at_z = walls[2] != 0 and k == walls[2]
                if at_y or at_z:
                    G0[o + k] = 0
                if at_x or at_z:
                    G1[o + k] = 0
                if at_x or at_y:
                    G2[o + k] = 0
