"""Compiled leave-one-out and k-fold losses of one candidate; `evenly.models.pmnf.search_kernels` calls them.

A candidate is two columns, ``u = left[a]`` and ``v = right[b]``, each (m,) for m runs, with coefficients cu and cv. The
constant and any further terms (the prefix) have been projected out of u, v and the response z (m,). `free` (m,) is 1
minus the leverage of these projected columns. u and v add the leverage ``p u² + q u v + r v²``, where p, q / 2 and r
are the entries of the inverse of their 2 × 2 normal matrix. So the leave-one-out residual of run i is

    r_i = (z_i - cu u_i - cv v_i) / f_i,    f_i = free_i - (p u_i² + q u_i v_i + r v_i²)

(the PRESS residual: residual divided by 1 minus leverage). It is exact, and needs no second fit. `weight` (m,) is the
weight of each run in the loss. `scale` (m,) converts r_i to a relative error (`Problem.loss_rule`).
"""

from __future__ import annotations

import math

import numpy as np

from evenly.compiling import njit, njit_leaf
from evenly.models.pmnf.problem import (
    LOG_FIT_MLOGQ,
    LOG_FIT_SE,
    LOG_FIT_SMAPE,
    MLOGQ,
    MLOGQ2,
    QUADRATIC,
    SMAPE,
)

__all__ = ["fold_loss", "left_out_loss", "rss_limit", "single_loss"]

#: Number of runs summed between two comparisons of the sum with the limit.
_CHUNK = 64
#: Used instead of infinity, because kernels are compiled with fast-math reductions.
_HUGE = 1e29
#: If 1 minus a run's leverage is below this, the other runs don't determine the run's prediction.
_FREE = 1e-9
_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True)
def rss_limit(kind, limit, least_weight, least_scale):  # type: ignore[no-untyped-def]
    """Return the residual sum of squares (RSS) at and above which the loss is certainly at least `limit`.

    A leave-one-out residual is at least as large as the residual of the fit. All losses f are concave in the squared
    residual, with f(0) = 0. So the sum of the losses is at least ``f(RSS)`` at the least weight and scale. This
    function solves ``f(RSS) = limit`` for RSS.
    """
    t = limit / least_weight
    if kind == QUADRATIC:
        return t
    if kind == MLOGQ2:
        root = math.expm1(math.sqrt(t)) if t < 400.0 else math.inf
    elif kind == MLOGQ:
        root = math.expm1(t) if t < 20.0 else math.inf
    elif kind == SMAPE:
        root = 2.0 * t / (2.0 - t) if t < 2.0 else math.inf
    elif kind == LOG_FIT_SE:
        root = -math.log1p(-math.sqrt(t)) if t < 1.0 else math.inf
    elif kind == LOG_FIT_SMAPE:
        root = 2.0 * math.atanh(t / 2.0) if t < 2.0 else math.inf
    else:
        root = t
    return (root / least_scale) ** 2


@njit(cache=True)
def single_loss(kind, r, scale):  # type: ignore[no-untyped-def]
    """Return the loss of one weighted residual `r` (measured - predicted); ``r * scale`` is the relative error."""
    if kind == QUADRATIC:
        return r * r
    if kind == SMAPE:
        x = r * scale
        return 2.0 * abs(x) / (2.0 - x) if x < 1.0 else 2.0
    if kind == MLOGQ2 or kind == MLOGQ:  # noqa: SIM109 - the compiler wants it plain
        x = r * scale
        if x >= 1.0:
            return _HUGE
        log = abs(math.log1p(-x))
        return log * log if kind == MLOGQ2 else log
    if kind == LOG_FIT_SE:
        return math.expm1(-r * scale) ** 2 if r * scale > -300.0 else _HUGE
    if kind == LOG_FIT_SMAPE:
        return 2.0 * math.tanh(abs(r * scale) / 2.0)
    return abs(r * scale)


@njit_leaf(cache=True, fastmath=_FAST, error_model="numpy")
def _quadratic(left, a, right, b, z, free, weight, cu, cv, p, q, r, start, stop):  # type: ignore[no-untyped-def]
    """Sum the squared leave-one-out residuals of runs `start` to `stop`; _HUGE if one is not determined."""
    total = 0.0
    for i in range(np.uintp(start), np.uintp(stop)):
        u, v = left[np.uintp(a), i], right[np.uintp(b), i]
        f = free[i] - (p * u * u + q * u * v + r * v * v)
        e = (z[i] - cu * u - cv * v) / f
        total += weight[i] * e * e if f > _FREE else _HUGE
    return total


@njit_leaf(cache=True, fastmath=_FAST, error_model="numpy")
def _log_bounds(square, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop):  # type: ignore[no-untyped-def]
    """Return a lower bound of a sum of absolute or squared log ratios; _HUGE if a prediction is not above zero.

    ``|log(1 + x)| = 2 atanh(|t|)`` with ``t = x / (2 + x)``. All terms of the series of atanh are positive, so its
    first terms are a lower bound.
    """
    total = 0.0
    for i in range(np.uintp(start), np.uintp(stop)):
        u, v = left[np.uintp(a), i], right[np.uintp(b), i]
        f = free[i] - (p * u * u + q * u * v + r * v * v)
        e = (z[i] - cu * u - cv * v) * scale[i]
        # The prediction over the measured value is 1 + x = 1 - e / f, so t = x / (2 + x) = -e / (2 f - e).
        t = abs(e / (2.0 * f - e))
        t2 = t * t
        log = 2.0 * t * (1.0 + t2 * (1.0 / 3.0 + t2 * (0.2 + t2 * (1.0 / 7.0 + t2 / 9.0))))
        value = log * log if square else log
        total += weight[i] * value if (e < f) & (f > _FREE) else _HUGE
    return total


@njit_leaf(cache=True, fastmath=_FAST, error_model="numpy")
def _symmetric_errors(left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop):  # type: ignore[no-untyped-def]
    """Sum the symmetric relative errors of runs `start` to `stop`; a prediction not above zero counts as 2."""
    total = 0.0
    for i in range(np.uintp(start), np.uintp(stop)):
        u, v = left[np.uintp(a), i], right[np.uintp(b), i]
        f = free[i] - (p * u * u + q * u * v + r * v * v)
        e = (z[i] - cu * u - cv * v) * scale[i]
        # 2 |y - ŷ| / (y + ŷ) with ŷ = y (1 - e / f).
        s = abs(2.0 * e / (2.0 * f - e))
        s = s if e < f else 2.0
        total += weight[i] * s if f > _FREE else _HUGE
    return total


@njit_leaf(cache=True, fastmath=_FAST, error_model="numpy")
def _log_fit_bounds(kind, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop):  # type: ignore[no-untyped-def]
    """Return a lower bound of a sum of losses of a model of the logarithm; exact for absolute log ratios.

    A residual y of the logarithm corresponds to the symmetric error ``2 tanh(|y| / 2)`` and to the relative error
    ``exp(-y) - 1``. Both sizes grow with ``tanh(|y| / 2)``, and even convergents of the continued fraction of tanh are
    lower bounds of it.
    """
    total = 0.0
    for i in range(np.uintp(start), np.uintp(stop)):
        u, v = left[np.uintp(a), i], right[np.uintp(b), i]
        f = free[i] - (p * u * u + q * u * v + r * v * v)
        y = (z[i] - cu * u - cv * v) / f * scale[i]
        # tanh(h) >= h (105 + 10 h²) / (105 + 45 h² + h⁴), h = y / 2: the fourth convergent of Lambert's fraction.
        h2 = 0.25 * y * y
        t = 0.5 * y * (105.0 + 10.0 * h2) / (105.0 + h2 * (45.0 + h2))
        relative = 2.0 * t / (1.0 + t)
        value = abs(y) if kind == LOG_FIT_MLOGQ else 2.0 * abs(t) if kind == LOG_FIT_SMAPE else relative * relative
        total += weight[i] * value if f > _FREE else _HUGE
    return total


@njit_leaf(cache=True)
def _exact(kind, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, limit):  # type: ignore[no-untyped-def]
    """Sum the exact leave-one-out losses of all runs; stop once the sum reaches `limit`."""
    total = 0.0
    for i in range(z.shape[0]):
        u, v = left[a, i], right[b, i]
        f = free[i] - (p * u * u + q * u * v + r * v * v)
        if f <= _FREE:
            return _HUGE
        total += weight[i] * single_loss(kind, (z[i] - cu * u - cv * v) / f, scale[i])
        if total >= limit:
            return total
    return total


@njit_leaf(cache=True)
def left_out_loss(kind, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, limit):  # type: ignore[no-untyped-def]
    """Return the leave-one-out loss if it is below `limit`, otherwise a lower bound of it that is at least `limit`."""
    # Sum cheap lower bounds (or the loss itself, if it is cheap) chunk by chunk; most candidates reach the limit here.
    m = z.shape[0]
    total = 0.0
    start = np.int64(0)  # a plain 0 would be a type of its own, for which numba compiles all losses once more
    while start < m:
        stop = min(start + _CHUNK, m)
        if kind == QUADRATIC:
            total += _quadratic(left, a, right, b, z, free, weight, cu, cv, p, q, r, start, stop)
        elif kind == SMAPE:
            total += _symmetric_errors(left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop)
        elif kind >= LOG_FIT_SE:
            total += _log_fit_bounds(kind, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop)
        else:
            square = kind == MLOGQ2
            total += _log_bounds(square, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, start, stop)
        if total >= limit:
            return total
        start = stop
    # Compute the exact loss of candidates whose bound stays below the limit.
    if kind == MLOGQ2 or kind == MLOGQ or kind == LOG_FIT_SE or kind == LOG_FIT_SMAPE:  # noqa: SIM109 - the compiler wants it plain
        return _exact(kind, left, a, right, b, z, free, weight, scale, cu, cv, p, q, r, limit)
    return total


@njit(cache=True)
def _solve_spd(matrix, vector):  # type: ignore[no-untyped-def]
    """Solve A x = b in place by Cholesky decomposition; return False if A is not positive definite."""
    n = vector.shape[0]
    # A = L L': L overwrites the lower triangle of A.
    for i in range(n):
        for j in range(i + 1):
            s = matrix[i, j]
            for k in range(j):
                s -= matrix[i, k] * matrix[j, k]
            if i == j:
                if s <= _FREE:
                    return False
                matrix[i, i] = math.sqrt(s)
            else:
                matrix[i, j] = s / matrix[j, j]
    # L y = b, then L' x = y.
    for i in range(n):
        for k in range(i):
            vector[i] -= matrix[i, k] * vector[k]
        vector[i] /= matrix[i, i]
    for i in range(n - 1, -1, -1):
        for k in range(i + 1, n):
            vector[i] -= matrix[k, i] * vector[k]
        vector[i] /= matrix[i, i]
    return True


@njit(cache=True)
def _fold_system(basis, z, bounds, fold, matrix, vector):  # type: ignore[no-untyped-def]
    """Set up the equations of one fold S: ``matrix -= B_S' B_S`` (lower triangle), ``vector = B_S' e_S``."""
    n = vector.shape[0]
    for a in range(n):
        total = 0.0
        for i in range(bounds[fold], bounds[fold + 1]):
            total += basis[a, i] * z[i]
        vector[a] = total
        for b in range(a + 1):
            total = 0.0
            for i in range(bounds[fold], bounds[fold + 1]):
                total += basis[a, i] * basis[b, i]
            matrix[a, b] -= total


@njit(cache=True)
def fold_loss(kind, basis, inverse, residual, weight, scale, bounds, limit):  # type: ignore[no-untyped-def]
    """Return the k-fold loss, or a partial sum of it that is at least `limit`.

    With e the residuals of the fit to all runs, the residuals of fold S in the fit without S are
    ``(I - B_S M B_S')^-1 e_S = e_S + B_S (M^-1 - B_S' B_S)^-1 B_S' e_S`` (Sherman-Morrison-Woodbury identity).
    `basis` (n, m) holds all columns B of the fit. `inverse` (n, n) is M^-1, the normal matrix. `bounds` (folds + 1,)
    holds the first run of each fold.
    """
    n = basis.shape[0]
    matrix = np.empty((n, n))
    vector = np.empty(n)
    total = 0.0
    for fold in range(bounds.shape[0] - 1):
        matrix[:] = inverse
        _fold_system(basis, residual, bounds, fold, matrix, vector)
        if not _solve_spd(matrix, vector):
            return _HUGE
        for i in range(bounds[fold], bounds[fold + 1]):
            r = residual[i]
            for a in range(n):
                r += basis[a, i] * vector[a]
            total += weight[i] * single_loss(kind, r, scale[i])
        if total >= limit:
            return total
    return total
