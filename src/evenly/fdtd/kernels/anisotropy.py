"""Off-diagonal elements of 1/ε and 1/μ, kept at nodes so that the update is symmetric and so stable.

A node averages the increments G of the field's two edges per axis that meet there, multiplies with its off-diagonal
elements, and hands half of the result to each of the two edges along every axis (G. R. Werner and J. R. Cary,
J. Comput. Phys. 226, 1085 (2007)).
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["apply_nodes"]

_PIECE = 256


@njit(cache=True, nogil=True)
def apply_nodes(F, G, runs, off_diagonal, drives, factor, strides, own):
    """Add to F what the off-diagonal elements make of the increments G.

    Parameters
    ----------
    F, G : three flat arrays each
        Field and increments (curl minus currents), ghosts of G included.
    runs : (n_runs, 6) ints
        Nodes: flat index of the edges above the node, number of nodes, packed offset, index along each axis.
    off_diagonal : (3, n_nodes)
        Elements yz, zx, xy (of the axes in memory order).
    drives : three flat arrays
        What an edge multiplies its increment with; length 1 for `factor` everywhere.
    factor : scalar
        dt.
    strides : three ints
        From a node's upper edge to its lower one, along each axis.
    own : (2, 3) ints
        First index and one past the last of the edges to update.
    """
    mean, t = np.empty((3, _PIECE), F[0].dtype), np.empty((3, _PIECE), F[0].dtype)
    for r in range(runs.shape[0]):
        i, j = runs[r, 3], runs[r, 4]
        for piece in range(0, runs[r, 1], _PIECE):
            n = min(_PIECE, runs[r, 1] - piece)
            o, p, k0 = runs[r, 0] + piece, runs[r, 2] + piece, runs[r, 5] + piece
            for a in range(3):
                up, down, m = G[a][o : o + n], G[a][o - strides[a] : o - strides[a] + n], mean[a]
                for k in range(n):
                    m[k] = up[k] + down[k]
            yz, zx, xy = off_diagonal[0, p : p + n], off_diagonal[1, p : p + n], off_diagonal[2, p : p + n]
            quarter = mean.dtype.type(0.25)
            for k in range(n):
                x, y, z = mean[0, k], mean[1, k], mean[2, k]
                t[0, k] = quarter * (xy[k] * y + zx[k] * z)
                t[1, k] = quarter * (xy[k] * x + yz[k] * z)
                t[2, k] = quarter * (zx[k] * x + yz[k] * y)
            for a in range(3):
                for shift in range(2):
                    ii, jj, kk = (
                        i - (shift if a == 0 else 0),
                        j - (shift if a == 1 else 0),
                        k0 - (shift if a == 2 else 0),
                    )
                    if own[0, 0] <= ii < own[1, 0] and own[0, 1] <= jj < own[1, 1]:
                        first, last = max(kk, own[0, 2]) - kk, min(kk + n, own[1, 2]) - kk
                        if last > first:
                            e = o - shift * strides[a]
                            _hand(F[a][e + first : e + last], t[a, first:last], drives[a], e + first, factor)


@njit(cache=True, nogil=True)
def _hand(f, t, drive, o, factor):
    if drive.size == 1:
        for k in range(f.size):
            f[k] += factor * t[k]
    else:
        d = drive[o : o + f.size]
        for k in range(f.size):
            f[k] += d[k] * t[k]
