"""Instantaneous nonlinearity: D = ε E + χ2 E² + χ3 |E|² E, solved at every point for the new E.

The linear sweep gives E* = E(n) + ΔD/ε. Then ε E* + N(n) is the new D (less the dispersive part), with N the
nonlinear part, which is kept between steps. The other components' share of |E|² sits at other points of the grid and is
averaged from the four next to it. It is not known before they are solved, too: solving starts from what the last two
steps extrapolate to, and is repeated with what comes out. E must be a function of D at the same time: with a memory of
earlier steps circularly polarised waves would gain energy without bound. (Newton's method at every point, with the
other components averaged to it: J. H. Greene and A. Taflove, Opt. Express 14, 8305 (2006).)
"""

from __future__ import annotations

import numpy as np
from numba import njit

__all__ = ["REPEATS", "share_intensity", "solve_nonlinear"]

# Each solve makes the error of the shared intensity, already of third order, smaller by 2 χ3 |E|²/ε; how long
# waves then keep their energy is tested in tests/fdtd/physics/test_nonlinear.py.
REPEATS = 1


@njit(cache=True, nogil=True)
def share_intensity(P, Q, runs, now, before, up, down_p, down_q, repeated):
    """Average the squares of the two other components P and Q at each point.

    P and Q are flat, `now` and `before` are packed, (n_points with nonlinearity,). `now` receives the
    average; what it held, the last step's, goes to `before` unless this is `repeated` in the same step. A
    point's four neighbours of P are at 0, -down_p, up, up - down_p.
    """
    quarter, up = now.dtype.type(0.25), np.uint64(up)
    down_p, down_q = np.uint64(down_p), np.uint64(down_q)
    for r in range(runs.shape[0]):
        o, n, p = np.uint64(runs[r, 0]), np.uint64(runs[r, 1]), np.uint64(runs[r, 2])
        if not repeated:
            for k in range(np.uint64(0), n):
                before[p + k] = now[p + k]
        for k in range(np.uint64(0), n):
            i = o + k
            a, b, c, d = P[i], P[i - down_p], P[i + up], P[i + up - down_p]
            e, f, g, h = Q[i], Q[i - down_q], Q[i + up], Q[i + up - down_q]
            now[p + k] = quarter * (((a * a + b * b) + (c * c + d * d)) + ((e * e + f * f) + (g * g + h * h)))


@njit(cache=True, nogil=True, error_model="numpy")
def solve_nonlinear(F, runs, epsilon, chi2, chi3, now, before, kept, repeated):
    """Replace E* by the E that makes up D, by Newton's method, and keep the nonlinear part.

    ε, χ2 and χ3 are packed, or all of length 1 where they are the same everywhere. E* is wrong by χ times what E
    changed in a step, and each of four iterations squares that; where the solution is `repeated` with a better
    intensity, one is enough.
    """
    same = epsilon.size == 1
    for r in range(runs.shape[0]):
        o, n, p = np.uint64(runs[r, 0]), np.uint64(runs[r, 1]), np.uint64(runs[r, 2])
        # One loop per case: the compiler does several points of a row at a time where nothing branches.
        if repeated and same:
            for k in range(np.uint64(0), n):
                field, constants = F[o + k], (epsilon[0], chi2[0], chi3[0])
                F[o + k] = _again(field, constants, now[p + k], kept[p + k])
                kept[p + k] += constants[0] * (field - F[o + k])
        elif repeated:
            for k in range(np.uint64(0), n):
                field, constants = F[o + k], (epsilon[p + k], chi2[p + k], chi3[p + k])
                F[o + k] = _again(field, constants, now[p + k], kept[p + k])
                kept[p + k] += constants[0] * (field - F[o + k])
        elif same:
            for k in range(np.uint64(0), n):
                field, constants = F[o + k], (epsilon[0], chi2[0], chi3[0])
                F[o + k] = _first(field, constants, now[p + k], before[p + k], kept[p + k])
                kept[p + k] += constants[0] * (field - F[o + k])
        else:
            for k in range(np.uint64(0), n):
                field, constants = F[o + k], (epsilon[p + k], chi2[p + k], chi3[p + k])
                F[o + k] = _first(field, constants, now[p + k], before[p + k], kept[p + k])
                kept[p + k] += constants[0] * (field - F[o + k])


@njit(cache=True, nogil=True, error_model="numpy")
def _first(field, constants, now, before, kept):
    """Solve from E*, with the intensity of the other components extrapolated from the last two steps."""
    e, c2, c3 = constants
    total, linear = e * field + kept, e + c3 * max(now + now - before, now - now)
    field = _newton(field, total, linear, c2, c3)
    field = _newton(field, total, linear, c2, c3)
    field = _newton(field, total, linear, c2, c3)
    return _newton(field, total, linear, c2, c3)


@njit(cache=True, nogil=True, error_model="numpy")
def _again(field, constants, now, kept):
    """Improve a solution, with the intensity that the other components' solutions have."""
    e, c2, c3 = constants
    return _newton(field, e * field + kept, e + c3 * now, c2, c3)


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(field, total, linear, c2, c3):
    """Take one step of Newton's method towards (linear + χ2 E + χ3 E²) E = total."""
    bent2, bent3 = c2 * field, c3 * field * field
    wrong = (linear + bent2 + bent3) * field - total
    return field - wrong / (linear + (bent2 + bent2) + (bent3 + bent3 + bent3))
