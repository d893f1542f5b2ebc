"""Polarisation of dispersive media by an auxiliary equation per pole.

    P(n+1) = c0 P(n) - c1 P(n-1) + c2 s E(n)

with s the pole's strength at the point. The field then changes by minus what the polarisation gained, times w, the
field's response to it. All poles that share the same points are done in one pass over the field.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["advance_poles"]

_PIECE = 256


@njit(cache=True, nogil=True)
def advance_poles(F, G, runs, now, before, factors, strengths, weights, rate, feed):
    """Advance all poles of a group by one step and take what they gained from the field.

    Parameters
    ----------
    F : flat array
        The field component they see.
    G : flat array
        Where the gain over dt is subtracted too if `feed` (off-diagonal media need it); length 1 otherwise.
    runs : (n_runs, 3) ints
        Their points: flat index, length, packed offset.
    now, before : (n_poles, n_points)
        Polarisation at this step and the one before, packed; afterwards `before` holds the next step.
    factors : (n_poles, 3)
        c0, c1, c2.
    strengths : (n_poles, n_points) or (n_poles, 1)
        Strength s at each point, or one for all.
    weights : (n_points,) or (1,)
        w at each point, or one for all.
    rate : scalar
        1/dt.
    """
    gain = np.empty(_PIECE, F.dtype)
    n_poles, points = now.shape
    flat_now, flat_before, flat_strengths = now.reshape(-1), before.reshape(-1), strengths.reshape(-1)
    same_strength, same_weight = strengths.shape[1] == 1, weights.size == 1
    for r in range(runs.shape[0]):
        for piece in range(0, runs[r, 1], _PIECE):
            n = min(_PIECE, runs[r, 1] - piece)
            o, p = runs[r, 0] + piece, runs[r, 2] + piece
            for m in range(n_poles):
                at, s = m * points + p, m if same_strength else m * points + p
                c0, c1, c2 = factors[m, 0], factors[m, 1], factors[m, 2]
                _one_pole(
                    F, gain, flat_now, flat_before, flat_strengths, same_strength, m == 0, o, at, s, n, c0, c1, c2
                )
            _take(F, gain, weights, 0 if same_weight else p, same_weight, o, n)
            if feed:
                _feed(G, gain, rate, o, n)


@njit(cache=True, nogil=True)
def _one_pole(F, gain, now, before, strengths, same, first, o, p, s, n, c0, c1, c2):
    """Advance one pole on n points; plain indices, since runs are short and slices would have to be made for each."""
    o, p, s = np.uint64(o), np.uint64(p), np.uint64(s)
    if first:
        for k in range(np.uint64(0), np.uint64(n)):
            gain[k] = 0
    if same:
        c2 *= strengths[s]
        for k in range(np.uint64(0), np.uint64(n)):
            new = c0 * now[p + k] - c1 * before[p + k] + c2 * F[o + k]
            gain[k] += new - now[p + k]
            before[p + k] = new
    else:
        for k in range(np.uint64(0), np.uint64(n)):
            new = c0 * now[p + k] - c1 * before[p + k] + (c2 * strengths[s + k]) * F[o + k]
            gain[k] += new - now[p + k]
            before[p + k] = new


@njit(cache=True, nogil=True)
def _take(F, gain, weights, w, same, o, n):
    o, w = np.uint64(o), np.uint64(w)
    if same:
        weight = weights[0]
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weight * gain[k]
    else:
        for k in range(np.uint64(0), np.uint64(n)):
            F[o + k] -= weights[w + k] * gain[k]


@njit(cache=True, nogil=True)
def _feed(G, gain, rate, o, n):
    o = np.uint64(o)
    for k in range(np.uint64(0), np.uint64(n)):
        G[o + k] -= rate * gain[k]
