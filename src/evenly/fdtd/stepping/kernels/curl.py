"""The curl of a field ahead of its sweep, for those who must know the increments before."""

from __future__ import annotations

import numpy as np
from numba import njit

from evenly.fdtd.stepping.kernels.sweep import _RUN, _difference, _hold, _lay_out, _places

__all__ = ["find_curl"]


@njit(cache=True, nogil=True)
def find_curl(G, A, medium, shape, box, flags, sign):
    """G = ±curl of A (stretched, one step ahead, nothing stored) on a box, for what must know it before the sweep."""
    _c, _a, _scalar, psi, offsets, (px, py, pz) = medium
    (G0, G1, G2), (A0, A1, A2) = G, A
    sx, sy = shape[1] * shape[2], shape[2]
    s = (sign * (0 if flags[9] else sx), sign * (0 if flags[10] else sy), sign)
    most, layers = max(1, min(shape[1], _RUN // (G0.itemsize * sy))), flags[2:5]
    K = np.zeros(9 * most * sy, G0.dtype)
    where, inside = _places(offsets, layers, most * sy)
    k0, k1 = box[0, 2], box[1, 2]
    rows = most if k0 == 1 and k1 == sy - 1 else 1
    if layers[2]:
        _lay_out(K, pz, 2, 0, rows, k0, sy)
    for i in range(box[0, 0], box[1, 0]):
        if layers[0]:
            _lay_out(K, px, 0, i, rows, 0, sy)
        for j in range(box[0, 1], box[1, 1], rows):
            m = min(rows, box[1, 1] - j)
            o, n = i * sx + j * sy + k0, (m - 1) * sy + k1 - k0
            if layers[1]:
                _lay_out(K, py, 1, j, m, k0, sy)
            _difference(G0[o:], A2, A1, psi, K, where[0], inside[0], o, n, s[1], s[2], False)
            _difference(G1[o:], A0, A2, psi, K, where[1], inside[1], o, n, s[2], s[0], False)
            _difference(G2[o:], A1, A0, psi, K, where[2], inside[2], o, n, s[0], s[1], False)
            for r in range(m if rows > 1 else 0):
                # The run went over the ghosts between rows, which are zero unless a neighbour fills them.
                for end in (o + r * sy - 1, o + (r + 1) * sy - 2):
                    G0[end], G1[end], G2[end] = 0, 0, 0
    if sign < 0:
        _hold(G0, G1, G2, shape, box, flags[6:9])
