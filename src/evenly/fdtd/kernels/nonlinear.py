"""Instantaneous nonlinearity: D = ε E + χ2 E² + χ3 |E|² E, solved at every point for the new E.

The linear sweep gives E* = E(n) + ΔD/ε. Then ε E* + N(n) is the new D (less the dispersive part), with N the
nonlinear part, which is kept between steps. The other components' share of |E|² sits at other points of the
grid: it is averaged at steps n and n-1 and extrapolated, which keeps second order and needs no order of points.
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["predict_intensity", "solve_nonlinear"]


@njit(cache=True, nogil=True)
def predict_intensity(P, Q, runs, now, ahead, up, down_p, down_q):
    """Extrapolate the mean square of the two other components P and Q to the next step.

    `now` holds the intensity of the last call and is overwritten with this step's; `ahead` receives the
    extrapolation. A point's four neighbours of P are at 0, -down_p, up, up - down_p.
    """
    quarter, nothing, up = now.dtype.type(0.25), now.dtype.type(0), np.uint64(up)
    down_p, down_q = np.uint64(down_p), np.uint64(down_q)
    for r in range(runs.shape[0]):
        o, n, p = np.uint64(runs[r, 0]), np.uint64(runs[r, 1]), np.uint64(runs[r, 2])
        for k in range(np.uint64(0), n):
            i = o + k
            a, b, c, d = P[i], P[i - down_p], P[i + up], P[i + up - down_p]
            e, f, g, h = Q[i], Q[i - down_q], Q[i + up], Q[i + up - down_q]
            value = quarter * (((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h)))
            ahead[p + k] = max(value + value - now[p + k], nothing)
            now[p + k] = value


@njit(cache=True, nogil=True, error_model="numpy")
def solve_nonlinear(F, runs, epsilon, chi2, chi3, ahead, kept):
    """Replace E* by the E that makes up D, by Newton's method, and keep the nonlinear part.

    E* is wrong by χ times what E changed in a step, and each of four iterations squares that.
    """
    for r in range(runs.shape[0]):
        o, n, p = np.uint64(runs[r, 0]), np.uint64(runs[r, 1]), np.uint64(runs[r, 2])
        for k in range(np.uint64(0), n):
            e, c2, c3, field = epsilon[p + k], chi2[p + k], chi3[p + k], F[o + k]
            total, linear = e * field + kept[p + k], e + c3 * ahead[p + k]
            # Written out, so that the compiler does several points at a time.
            field = _newton(field, total, linear, c2, c3)
            field = _newton(field, total, linear, c2, c3)
            field = _newton(field, total, linear, c2, c3)
            field = _newton(field, total, linear, c2, c3)
            F[o + k] = field
            kept[p + k] = total - e * field


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(field, total, linear, c2, c3):
    bent2, bent3 = c2 * field, c3 * field * field
    wrong = (linear + bent2 + bent3) * field - total
    return field - wrong / (linear + (bent2 + bent2) + (bent3 + bent3 + bent3))
