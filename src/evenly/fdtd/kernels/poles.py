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
    n_poles = now.shape[0]
    same_strength, same_weight = strengths.shape[1] == 1, weights.size == 1
    for r in range(runs.shape[0]):
        for piece in range(0, runs[r, 1], _PIECE):
            n = min(_PIECE, runs[r, 1] - piece)
            o, p = runs[r, 0] + piece, runs[r, 2] + piece
            f = F[o : o + n]
            gain[:n] = 0
            for m in range(n_poles):
                s = strengths[m, :1] if same_strength else strengths[m, p : p + n]
                _one_pole(
                    f, gain, now[m, p : p + n], before[m, p : p + n], s, factors[m, 0], factors[m, 1], factors[m, 2]
                )
            if same_weight:
                w = weights[0]
                for k in range(n):
                    f[k] -= w * gain[k]
            else:
                ww = weights[p : p + n]
                for k in range(n):
                    f[k] -= ww[k] * gain[k]
            if feed:
                g = G[o : o + n]
                for k in range(n):
                    g[k] -= rate * gain[k]


@njit(cache=True, nogil=True)
def _one_pole(f, gain, p, q, s, c0, c1, c2):
    if s.size == 1 and f.size > 1:
        c2 *= s[0]
        for k in range(f.size):
            new = c0 * p[k] - c1 * q[k] + c2 * f[k]
            gain[k] += new - p[k]
            q[k] = new
    else:
        for k in range(f.size):
            new = c0 * p[k] - c1 * q[k] + (c2 * s[k]) * f[k]
            gain[k] += new - p[k]
            q[k] = new
