"""Instantaneous nonlinearity: solves D = ε E + χ2 E² + χ3 |E|² E for the new E at every point, by Newton's method.

The linear sweep gives E* = E(n) + ΔD/ε. Then ε E* + N(n) is the new D without the dispersive part. N is the nonlinear
part of D, which is stored between steps. The other two components of |E|² are at other grid points, so their squares
are averaged from the four nearest points. Their new values are unknown before they are solved for. The first solve
extrapolates these averages from the last two steps, and further solves use the components just found. E must depend
only on D of the same time: if it depended on earlier steps too, circularly polarised waves would gain energy without
bound. (Newton's method at every point with averaged other components: J. H. Greene and A. Taflove, Opt. Express 14,
8305 (2006).)
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = ["REPEATS", "share_intensity", "solve_nonlinear"]

# Number of further solves. The error of the averaged intensity is of third order in dt, and each further solve
# multiplies it by about 2 χ3 |E|²/ε. tests/fdtd/physics/test_nonlinear.py tests how well waves then keep their energy.
REPEATS = 1


@njit(cache=True, nogil=True)
def share_intensity(P, Q, runs, now, before, up, down_p, down_q, repeated):
    """Compute P² + Q² of the two other components at each nonlinear point, averaged from their four nearest points.

    P and Q are flat arrays; `now` and `before` are packed, of shape (n_nonlinear_points,). `now` receives the average.
    Its old values, those of the last step, are copied to `before`, unless the solve is `repeated` in the same step.
    A point's four neighbours in P are at flat distances 0, -down_p, up, up - down_p (likewise in Q).
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
    """Replace E* in F by the solution E of D(E) = D, by Newton's method, and store the nonlinear part in `kept`.

    ε, χ2 and χ3 are packed, or all have length 1 if they are the same everywhere. The error of E* is of the order of χ
    times the change of E in a step. Each of the four iterations squares the error. If the solve is `repeated` with a
    better intensity, one iteration is enough.
    """
    same = epsilon.size == 1
    for r in range(runs.shape[0]):
        o, n, p = np.uint64(runs[r, 0]), np.uint64(runs[r, 1]), np.uint64(runs[r, 2])
        # One loop per case: the compiler can vectorise loops without branches.
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
    """Improve a solution by one iteration, with the intensity from the other components' new values."""
    e, c2, c3 = constants
    return _newton(field, e * field + kept, e + c3 * now, c2, c3)


@njit(cache=True, nogil=True, error_model="numpy")
def _newton(field, total, linear, c2, c3):
    """Take one step of Newton's method towards (linear + χ2 E + χ3 E²) E = total."""
    bent2, bent3 = c2 * field, c3 * field * field
    wrong = (linear + bent2 + bent3) * field - total
    return field - wrong / (linear + (bent2 + bent2) + (bent3 + bent3 + bent3))
