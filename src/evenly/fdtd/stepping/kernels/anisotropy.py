"""Update with the off-diagonal elements of 1/ε and 1/μ, which are stored at nodes.

Along each axis, two edges of the field meet at a node. The node averages the increments G of these two edges and
multiplies the averages with its off-diagonal elements. Each of the two edges along an axis gets half of the result
(G. R. Werner and J. R. Cary, J. Comput. Phys. 226, 1085 (2007)). This makes the update symmetric, and therefore stable.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = ["apply_nodes"]

_PIECE = 256


@njit(cache=True, nogil=True)
def apply_nodes(F, G, runs, off_diagonal, edge_factors, factor, strides, own):
    """Add to F the off-diagonal elements times the increments G.

    Parameters
    ----------
    F, G : three flat arrays each
        Field and increments (curl minus currents), ghosts of G included.
    runs : (n_runs, 6) ints
        Runs of nodes: flat index, number of nodes, packed offset, index along each axis.
    off_diagonal : (3, n_nodes)
        Elements yz, zx, xy (of the axes in memory order).
    edge_factors : three flat arrays
        Factor at each edge; length 1 where `factor` holds everywhere.
    factor : scalar
        dt.
    strides : three ints
        Flat index of the edge with the node's own index minus that of the node's other edge, per axis. Positive for E
        (a node has the index of the edge above it), negative for H, 0 along thin axes.
    own : (2, 3) ints
        First index and one past the last of the edges to update.
    """
    (F0, F1, F2), (G0, G1, G2), (d0, d1, d2) = F, G, edge_factors
    sx, sy, sz = strides[0], strides[1], strides[2]
    t0, t1, t2 = np.empty(_PIECE, F0.dtype), np.empty(_PIECE, F0.dtype), np.empty(_PIECE, F0.dtype)
    yz, zx, xy = off_diagonal[0], off_diagonal[1], off_diagonal[2]
    quarter = F0.dtype.type(0.25)
    for r in range(runs.shape[0]):
        i, j = runs[r, 3], runs[r, 4]
        x0, x1 = own[0, 0] <= i < own[1, 0], own[0, 0] <= i - np.sign(sx) < own[1, 0]
        y0, y1 = own[0, 1] <= j < own[1, 1], own[0, 1] <= j - np.sign(sy) < own[1, 1]
        for piece in range(0, runs[r, 1], _PIECE):
            n = min(_PIECE, runs[r, 1] - piece)
            o, p, k = runs[r, 0] + piece, runs[r, 2] + piece, runs[r, 5] + piece
            # At the nodes: off-diagonal elements times the mean increments, times the half that each edge gets.
            _weigh_increments(t0, G1, G2, xy, zx, quarter, (o, p, n), (sy, sz))
            _weigh_increments(t1, G0, G2, xy, yz, quarter, (o, p, n), (sx, sz))
            _weigh_increments(t2, G0, G1, zx, yz, quarter, (o, p, n), (sx, sy))
            # Add to the two edges of each axis at every node, if the chunk owns them.
            first, last = max(k, own[0, 2]) - k, min(k + n, own[1, 2]) - k
            below_first, below_last = max(k - sz, own[0, 2]) - k + sz, min(k - sz + n, own[1, 2]) - k + sz
            if y0:
                _add_to_edges(F0, t0, d0, o, first, last, factor, x0)
                _add_to_edges(F0, t0, d0, o - sx, first, last, factor, x1)
            if x0:
                _add_to_edges(F1, t1, d1, o, first, last, factor, y0)
                _add_to_edges(F1, t1, d1, o - sy, first, last, factor, y1)
            if x0 and y0:
                _add_to_edges(F2, t2, d2, o, first, last, factor, True)
                _add_to_edges(F2, t2, d2, o - sz, below_first, below_last, factor, True)


@njit(cache=True, nogil=True)
def _weigh_increments(t, P, Q, p_element, q_element, quarter, run, strides):
    """Set t, for one component: ¼ of two off-diagonal elements times the sums of both edges' increments.

    `run` holds the nodes' flat index, their packed offset and their number.
    """
    zero, o, p, n = np.uint64(0), np.uint64(run[0]), np.uint64(run[1]), np.uint64(run[2])
    below_p, below_q = o - np.uint64(strides[0]), o - np.uint64(strides[1])
    for k in range(zero, n):
        along_p, along_q = P[o + k] + P[below_p + k], Q[o + k] + Q[below_q + k]
        t[k] = quarter * (p_element[p + k] * along_p + q_element[p + k] * along_q)


@njit(cache=True, nogil=True)
def _add_to_edges(F, t, factors, o, first, last, factor, wanted):
    """Add the edges' factors times t to the edges o + first … o + last - 1, which the chunk owns, if `wanted`."""
    if not wanted or last <= first:
        return
    o, first, last = np.uint64(o), np.uint64(first), np.uint64(last)
    if factors.size == 1:
        for k in range(first, last):
            F[o + k] += factor * t[k]
    else:
        for k in range(first, last):
            F[o + k] += factors[o + k] * t[k]
