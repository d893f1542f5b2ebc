"""Instantaneous nonlinearity: D = ε E + χ2 E² + χ3 |E|² E, solved at every point for the new E.

The linear sweep gives E* = E(n) + ΔD/ε. Then ε E* + N(n) is the new D (less the dispersive part), with N the
nonlinear part, which is kept between steps. The other components' share of |E|² sits at other points of the
grid: it is averaged at steps n and n-1 and extrapolated, which keeps second order and needs no order of points.
"""

from __future__ import annotations

from numba import njit

__all__ = ["predict_intensity", "solve_nonlinear"]


@njit(cache=True, nogil=True)
def predict_intensity(P, Q, runs, now, ahead, up, down_p, down_q):
    """Extrapolate the mean square of the two other components P and Q to the next step.

    `now` holds the intensity of the last call and is overwritten with this step's; `ahead` receives the
    extrapolation. A point's four neighbours of P are at 0, -down_p, up, up - down_p.
    """
    for r in range(runs.shape[0]):
        o, n, p = runs[r, 0], runs[r, 1], runs[r, 2]
        for k in range(n):
            i = o + k
            square = P[i] ** 2 + P[i - down_p] ** 2 + P[i + up] ** 2 + P[i + up - down_p] ** 2
            square += Q[i] ** 2 + Q[i - down_q] ** 2 + Q[i + up] ** 2 + Q[i + up - down_q] ** 2
            value = square / 4
            ahead[p + k] = max(value + value - now[p + k], 0)
            now[p + k] = value


@njit(cache=True, nogil=True)
def solve_nonlinear(F, runs, epsilon, chi2, chi3, ahead, kept):
    """Replace E* by the E that makes up D, by Newton's method, and keep the nonlinear part."""
    for r in range(runs.shape[0]):
        o, n, p = runs[r, 0], runs[r, 1], runs[r, 2]
        for k in range(n):
            e, c2, c3, other = epsilon[p + k], chi2[p + k], chi3[p + k], ahead[p + k]
            field = F[o + k]
            total = e * field + kept[p + k]
            for _ in range(6):
                square = field * field
                slope = e + 2 * c2 * field + c3 * (3 * square + other)
                wrong = (e + c3 * other) * field + c2 * square + c3 * square * field - total
                change = wrong / slope
                field -= change
                if abs(change) <= 1e-15 * abs(field):
                    break
            F[o + k] = field
            kept[p + k] = total - e * field
