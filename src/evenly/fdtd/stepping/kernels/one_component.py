"""The update of one component of a field on a run of points: in one pass, or with a curl that was computed before."""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit_leaf
from evenly.fdtd.stepping.kernels.arguments import PER_POINT, SCALAR

__all__ = ["add_curl", "update_component"]


@njit_leaf(cache=True, nogil=True)
def update_component(D, P, Q, c, a, scalar, mode, run, steps):
    """Update one component outside layers in one pass: D = a·D + c·(∂1 P - ∂2 Q).

    With a conductivity σ and s = σ dt/2, a = (1 - s)/(1 + s), and c has a factor 1/(1 + s). This takes σE at the middle
    of the step (A. Taflove and S. C. Hagness, Computational Electrodynamics, 3rd ed., chapter 3). Without it, a = 1.
    """
    zero, o, n = np.uint64(0), np.uint64(run[0]), np.uint64(run[1])
    p1, q2 = np.uint64(run[0] + steps[0]), np.uint64(run[0] + steps[1])
    if mode == SCALAR:
        for k in range(zero, n):
            D[o + k] += scalar * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))
    elif mode == PER_POINT:
        for k in range(zero, n):
            D[o + k] += c[o + k] * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))
    else:
        for k in range(zero, n):
            D[o + k] = a[o + k] * D[o + k] + c[o + k] * ((P[o + k] - P[p1 + k]) - (Q[o + k] - Q[q2 + k]))


@njit_leaf(cache=True, nogil=True)
def add_curl(D, T, c, a, scalar, mode, run):
    """Update one component with its stretched curl T: D = a·D + c·T."""
    zero, o, n = np.uint64(0), np.uint64(run[0]), np.uint64(run[1])
    if mode == SCALAR:
        for k in range(zero, n):
            D[o + k] += scalar * T[k]
    elif mode == PER_POINT:
        for k in range(zero, n):
            D[o + k] += c[o + k] * T[k]
    else:
        for k in range(zero, n):
            D[o + k] = a[o + k] * D[o + k] + c[o + k] * T[k]
