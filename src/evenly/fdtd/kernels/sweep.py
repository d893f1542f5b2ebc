"""The leapfrog update of E and H in one sweep through memory.

E at plane i needs H of planes i-1 and i; once E of planes i and i-1 is new, H of plane i-1 can follow while all
of it is still in the cache. So both fields are read and written once per step instead of twice. Runs of several
rows are treated as one long row: the ghost points between them receive meaningless values, and are reset.

The same row function serves E and H: with negative strides it takes backward differences of H (+curl), with positive
strides forward differences of E (-curl).

Perfectly matched layers are convolutional (J. A. Roden and S. D. Gedney, Microw. Opt. Technol. Lett. 27, 334
(2000)): a derivative ∂ becomes ∂/κ + ψ with ψ ← b ψ + a ∂.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["CLOSED", "LOSSY", "OPEN", "PER_POINT", "ROWS", "SCALAR", "WRAPPED", "find_curl", "sweep"]

# What the flags of `sweep` mean: per field how its coefficients come, …
SCALAR, PER_POINT, LOSSY = 0, 1, 2
# … and what lies above the last point of a row: another chunk, a wall (E = 0 there), the row's own beginning.
OPEN, CLOSED, WRAPPED = 0, 1, 2
# Rows that are treated as one.
ROWS = 8
_BLOCK = 16


@njit(cache=True, nogil=True)
def _row_scalar(D0, D1, D2, A0, A1, A2, o, n, sx, sy, sz, c):  # type: ignore[no-untyped-def]
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
def _row_per_point(D, P, Q, c, o, n, s1, s2):  # type: ignore[no-untyped-def]
    """D += c (D_1 P - D_2 Q) for one component; P and Q are the other field's two other components."""
    d, cc = D[o : o + n], c[o : o + n]
    p, q, p1, q2 = P[o : o + n], Q[o : o + n], P[o + s1 : o + s1 + n], Q[o + s2 : o + s2 + n]
    for k in range(n):
        d[k] += cc[k] * ((p[k] - p1[k]) - (q[k] - q2[k]))


@njit(cache=True, nogil=True)
def _row_lossy(D, P, Q, c, a, o, n, s1, s2):  # type: ignore[no-untyped-def]
    d, cc, aa = D[o : o + n], c[o : o + n], a[o : o + n]
    p, q, p1, q2 = P[o : o + n], Q[o : o + n], P[o + s1 : o + s1 + n], Q[o + s2 : o + s2 + n]
    for k in range(n):
        d[k] = aa[k] * d[k] + cc[k] * ((p[k] - p1[k]) - (q[k] - q2[k]))


@njit(cache=True, nogil=True)
def _curl_row(T, A0, A1, A2, o, n, s):  # type: ignore[no-untyped-def]
    """T[0:3, :n] = ±curl A, unstretched; `s` holds the three signed strides."""
    t0, t1, t2 = T[0], T[1], T[2]
    a0, a1, a2 = A0[o : o + n], A1[o : o + n], A2[o : o + n]
    a0y, a0z = A0[o + s[1] : o + s[1] + n], A0[o + s[2] : o + s[2] + n]
    a1x, a1z = A1[o + s[0] : o + s[0] + n], A1[o + s[2] : o + s[2] + n]
    a2x, a2y = A2[o + s[0] : o + s[0] + n], A2[o + s[1] : o + s[1] + n]
    for k in range(n):
        x, y, z = a0[k], a1[k], a2[k]
        t0[k] = (z - a2y[k]) - (y - a1z[k])
        t1[k] = (x - a0z[k]) - (z - a2x[k])
        t2[k] = (y - a1x[k]) - (x - a0y[k])


@njit(cache=True, nogil=True)
def _stretch_row(t, plus, psi, F, o, n, s, b, a, q, keep):  # type: ignore[no-untyped-def]
    """Add to t, or take from it, q ∂F + ψ with ψ ← b ψ + a ∂F; b, a, q one number."""
    p, f, f1 = psi[o : o + n], F[o : o + n], F[o + s : o + s + n]
    for k in range(n):
        difference = f[k] - f1[k]
        new = b * p[k] + a * difference
        if keep:
            p[k] = new
        value = q * difference + new
        t[k] = t[k] + value if plus else t[k] - value


@njit(cache=True, nogil=True)
def _stretch_row_along(t, plus, psi, F, o, n, s, b, a, q, keep):  # type: ignore[no-untyped-def]
    """As `_stretch_row` where b, a, q vary along the row."""
    p, f, f1 = psi[o : o + n], F[o : o + n], F[o + s : o + s + n]
    for k in range(n):
        difference = f[k] - f1[k]
        new = b[k] * p[k] + a[k] * difference
        if keep:
            p[k] = new
        value = q[k] * difference + new
        t[k] = t[k] + value if plus else t[k] - value


@njit(cache=True, nogil=True)
def _stretched_curl(T, A, psi, layers, profile, o, n, s, i, j, k, keep):  # type: ignore[no-untyped-def]
    """T = ±curl A with the layers' stretched derivatives; psi[2 d] and psi[2 d + 1] belong to derivative d."""
    _curl_row(T, A[0], A[1], A[2], o, n, s)
    if layers[0]:
        f = profile[0]
        _stretch_row(T[1], False, psi[0], A[2], o, n, s[0], f[0, i], f[1, i], f[2, i], keep)
        _stretch_row(T[2], True, psi[1], A[1], o, n, s[0], f[0, i], f[1, i], f[2, i], keep)
    if layers[1]:
        f = profile[1]
        _stretch_row(T[2], False, psi[2], A[0], o, n, s[1], f[0, j], f[1, j], f[2, j], keep)
        _stretch_row(T[0], True, psi[3], A[2], o, n, s[1], f[0, j], f[1, j], f[2, j], keep)
    if layers[2]:
        b, a, q = profile[2][0, k : k + n], profile[2][1, k : k + n], profile[2][2, k : k + n]
        _stretch_row_along(T[0], False, psi[4], A[1], o, n, s[2], b, a, q, keep)
        _stretch_row_along(T[1], True, psi[5], A[0], o, n, s[2], b, a, q, keep)


@njit(cache=True, nogil=True)
def _apply_row(D, t, c, a, scalar, mode, o, n):  # type: ignore[no-untyped-def]
    d = D[o : o + n]
    if mode == SCALAR:
        for k in range(n):
            d[k] += scalar * t[k]
    elif mode == PER_POINT:
        cc = c[o : o + n]
        for k in range(n):
            d[k] += cc[k] * t[k]
    else:
        cc, aa = c[o : o + n], a[o : o + n]
        for k in range(n):
            d[k] = aa[k] * d[k] + cc[k] * t[k]


@njit(cache=True, nogil=True)
def _update_rows(D, A, c, a, psi, scalar, mode, layers, profile, T, o, n, s, i, j, k):  # type: ignore[no-untyped-def]
    """Update the three components of D on n points from flat index o on."""
    if layers[0] or layers[1] or layers[2]:
        _stretched_curl(T, A, psi, layers, profile, o, n, s, i, j, k, True)
        for component in range(3):
            _apply_row(D[component], T[component], c[component], a[component], scalar[component], mode, o, n)
    elif mode == SCALAR and scalar[0] == scalar[1] and scalar[1] == scalar[2]:
        _row_scalar(D[0], D[1], D[2], A[0], A[1], A[2], o, n, s[0], s[1], s[2], scalar[0])
    elif mode == SCALAR:
        _curl_row(T, A[0], A[1], A[2], o, n, s)
        for component in range(3):
            _apply_row(D[component], T[component], c[component], a[component], scalar[component], mode, o, n)
    elif mode == PER_POINT:
        _row_per_point(D[0], A[2], A[1], c[0], o, n, s[1], s[2])
        _row_per_point(D[1], A[0], A[2], c[1], o, n, s[2], s[0])
        _row_per_point(D[2], A[1], A[0], c[2], o, n, s[0], s[1])
    else:
        _row_lossy(D[0], A[2], A[1], c[0], a[0], o, n, s[1], s[2])
        _row_lossy(D[1], A[0], A[2], c[1], a[1], o, n, s[2], s[0])
        _row_lossy(D[2], A[1], A[0], c[2], a[2], o, n, s[0], s[1])


@njit(cache=True, nogil=True)
def _finish_e_rows(E, shape, walls, above, i, j, rows):  # type: ignore[no-untyped-def]
    """Zero what walls hold at zero, and set the ghosts at both ends of the rows."""
    sx, sy, last = shape[1] * shape[2], shape[2], shape[2] - 1
    for r in range(j, j + rows):
        o = i * sx + r * sy
        for component in range(3):
            row = E[component][o : o + sy]
            wall = (walls[0] and i == walls[0] and component != 0) or (walls[1] and r == walls[1] and component != 1)
            if wall:
                row[1:last] = 0
            if walls[2] and component != 2:
                row[1] = 0
            row[0] = 0
            row[last] = row[1] if above == WRAPPED else 0


@njit(cache=True, nogil=True)
def _finish_h_rows(H, shape, i, j, rows):  # type: ignore[no-untyped-def]
    for r in range(j, j + rows):
        o = i * shape[1] * shape[2] + r * shape[2]
        for component in range(3):
            H[component][o] = 0
            H[component][o + shape[2] - 1] = 0


@njit(cache=True, nogil=True)
def sweep(E, H, electric, magnetic, shape, boxes, flags):  # type: ignore[no-untyped-def]
    """Update E on one box and H on another, H following E by one plane and one row.

    Parameters
    ----------
    E, H : three flat arrays each
        Fields with one ghost point on either side of each axis (none on a thin axis).
    electric, magnetic : tuples
        ``(c, a, scalar, psi, profile)``: per-point factors c and a (three flat arrays each; length 1 where unused),
        scalar factors (3,), six ψ (flat; length 1 where unused), and per axis the layers' b, a, 1/κ - 1 as (3, points)
        arrays, repeated for several rows along the last axis.
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
    backward, forward = (-stride_x, -stride_y, -1), (stride_x, stride_y, 1)
    layers, walls, above = flags[2:5], flags[6:9], flags[5]
    e0, e1, h0, h1 = boxes[0], boxes[1], boxes[2], boxes[3]
    di, dj = (0 if flags[9] else 1), (0 if flags[10] else 1)
    T = np.empty((3, ROWS * sy), E[0].dtype)
    full = layers[1] == 0
    e_rows = ROWS if full and e0[2] == 1 and e1[2] == shape[2] - 1 else 1
    h_rows = ROWS if full and h0[2] == 1 and h1[2] == shape[2] - 1 else 1
    if e0[0] >= e1[0] or e0[1] >= e1[1]:
        i_first, i_last, j_first, j_last = h0[0] + di, h1[0] + di, h0[1] + dj, h1[1] + dj
    elif h0[0] >= h1[0] or h0[1] >= h1[1]:
        i_first, i_last, j_first, j_last = e0[0], e1[0], e0[1], e1[1]
    else:
        i_first, i_last = min(e0[0], h0[0] + di), max(e1[0], h1[0] + di)
        j_first, j_last = min(e0[1], h0[1] + dj), max(e1[1], h1[1] + dj)
    for block in range(j_first, j_last, _BLOCK):
        block_end = min(block + _BLOCK, j_last)
        for i in range(i_first, i_last):
            for group in range(block, block_end, ROWS):
                group_end = min(group + ROWS, block_end)
                if e0[0] <= i < e1[0]:
                    _rows(
                        E,
                        H,
                        electric,
                        shape,
                        T,
                        backward,
                        flags[0],
                        layers,
                        e0,
                        e1,
                        i,
                        group,
                        group_end,
                        e_rows,
                        walls,
                        above,
                        True,
                    )
                if h0[0] <= i - di < h1[0]:
                    _rows(
                        H,
                        E,
                        magnetic,
                        shape,
                        T,
                        forward,
                        flags[1],
                        layers,
                        h0,
                        h1,
                        i - di,
                        group - dj,
                        group_end - dj,
                        h_rows,
                        walls,
                        above,
                        False,
                    )


@njit(cache=True, nogil=True)
def _rows(D, A, medium, shape, T, s, mode, layers, lo, hi, i, j0, j1, rows, walls, above, is_e):  # type: ignore[no-untyped-def]
    """Update rows j0 … j1-1 of plane i, `rows` at a time."""
    c, a, scalar, psi, profile = medium
    j0, j1 = max(j0, lo[1]), min(j1, hi[1])
    j = j0
    while j < j1:
        m = min(rows, j1 - j)
        o = (i * shape[1] + j) * shape[2] + lo[2]
        n = (m - 1) * shape[2] + hi[2] - lo[2]
        _update_rows(D, A, c, a, psi, scalar, mode, layers, profile, T, o, n, s, i, j, lo[2])
        if is_e:
            _finish_e_rows(D, shape, walls, above, i, j, m)
        else:
            _finish_h_rows(D, shape, i, j, m)
        j += m


@njit(cache=True, nogil=True)
def find_curl(G, A, medium, shape, box, flags, sign):  # type: ignore[no-untyped-def]
    """G = curl of A (stretched, one step ahead, nothing stored) on a box, for what must know it before the sweep."""
    psi, profile = medium[3], medium[4]
    sx, sy = shape[1] * shape[2], shape[2]
    s = (sign * (0 if flags[9] else sx), sign * (0 if flags[10] else sy), sign)
    T = np.empty((3, sy), G[0].dtype)
    n, walls = box[1, 2] - box[0, 2], flags[6:9] if sign < 0 else np.zeros(3, flags.dtype)
    for i in range(box[0, 0], box[1, 0]):
        for j in range(box[0, 1], box[1, 1]):
            o = i * sx + j * sy + box[0, 2]
            _stretched_curl(T, A, psi, flags[2:5], profile, o, n, s, i, j, box[0, 2], False)
            for component in range(3):
                g = G[component][o : o + n]
                # A wall holds E at zero whatever the curl is.
                held = (walls[0] and i == walls[0] and component != 0) or (
                    walls[1] and j == walls[1] and component != 1
                )
                for k in range(n):
                    g[k] = 0 if held else T[component, k]
                if walls[2] and component != 2 and box[0, 2] <= walls[2] < box[1, 2]:
                    g[walls[2] - box[0, 2]] = 0
