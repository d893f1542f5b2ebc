"""The curl of a field, computed before its sweep: off-diagonal media need the increments in advance."""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit
from evenly.fdtd.stepping.kernels.arguments import E_STEPPED, H_STEPPED, LAYERED, THIN, WALLS, Medium
from evenly.fdtd.stepping.kernels.stretching import difference, find_places, flat_difference, lay_out
from evenly.fdtd.stepping.kernels.sweep import RUN_BYTES
from evenly.fdtd.stepping.kernels.walls import hold

__all__ = ["find_curl"]


@njit(cache=True, nogil=True)
def find_curl(G, A, medium, shape, box, flags, sign):
    """Set G to ±dx times the curl of A on a box, with the same stretching as in the next sweep; no ψ is advanced.

    Parameters
    ----------
    G, A : three flat arrays each
        Increments that are set, and the field whose curl they are.
    medium : tuple
        Entries of `arguments.Medium` for the field that G increments.
    shape : (3,) ints
        Points with ghosts.
    box : (2, 3) ints
        First index and one past the last.
    flags : (17,) ints
        See `arguments`.
    sign : int
        -1: A is H and G increments E, with differences taken backward; 1: the reverse.
    """
    known = Medium(*medium)
    (G0, G1, G2), (A0, A1, A2) = G, A
    sx, sy, layers = shape[1] * shape[2], shape[2], flags[LAYERED : LAYERED + 3]
    s0, s1, s2 = sign * (0 if flags[THIN] else sx), sign * (0 if flags[THIN + 1] else sy), sign
    at, flat = E_STEPPED if sign < 0 else H_STEPPED, s0 == 0 or s1 == 0
    stepped, most = flags[at : at + 3], max(1, min(shape[1], RUN_BYTES // (G0.itemsize * sy)))
    K = np.zeros(9 * most * sy, G0.dtype)
    where, inside = find_places(known.offsets, layers, most * sy, False)
    k0, k1 = box[0, 2], box[1, 2]
    rows = most if k0 == 1 and k1 == sy - 1 else 1
    if layers[2]:
        lay_out(K, known.profiles[2], 2, 0, rows, k0, sy)
    for i in range(box[0, 0], box[1, 0]):
        if layers[0]:
            lay_out(K, known.profiles[0], 0, i, rows, 0, sy)
        for j in range(box[0, 1], box[1, 1], rows):
            m = min(rows, box[1, 1] - j)
            o, n = i * sx + j * sy + k0, (m - 1) * sy + k1 - k0
            if layers[1]:
                lay_out(K, known.profiles[1], 1, j, m, k0, sy)
            if not flat:
                difference(G0[o:], A2, A1, known.psi, K, where[0], inside[0], (o, n), (s1, s2), False)
                difference(G1[o:], A0, A2, known.psi, K, where[1], inside[1], (o, n), (s2, s0), False)
                difference(G2[o:], A1, A0, known.psi, K, where[2], inside[2], (o, n), (s0, s1), False)
            if flat and stepped[0]:
                flat_difference(G0[o:], A2, A1, known.psi, K, where[0], inside[0], (o, n), (s1, s2), False)
            if flat and stepped[1]:
                flat_difference(G1[o:], A0, A2, known.psi, K, where[1], inside[1], (o, n), (s2, s0), False)
            if flat and stepped[2]:
                flat_difference(G2[o:], A1, A0, known.psi, K, where[2], inside[2], (o, n), (s0, s1), False)
            for r in range(m if rows > 1 else 0):
                # The run covered the ghosts between rows too. They must be zero unless a neighbour fills them.
                for end in (o + r * sy - 1, o + (r + 1) * sy - 2):
                    G0[end], G1[end], G2[end] = 0, 0, 0
    if sign < 0:
        hold(G, shape, box, (flags[WALLS], flags[WALLS + 1], flags[WALLS + 2]))
