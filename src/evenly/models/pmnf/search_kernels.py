"""Compiled kernels of the PMNF search: exact leave-one-out losses of millions of candidates a second.

A candidate is two columns ``u`` and ``v`` beside columns that are already projected out (the constant and, for more
than two terms, a prefix of further terms). With ``z`` the projected response, the normal equations are 2 × 2, the
residual left out is ``e / (1 - h)``, and nothing but the two columns is read. Three exact shortcuts keep most
candidates cheap:

1. *Bound from the Gram matrix, O(1).* A residual left out is never smaller than the same residual fitted, so the loss
   is at least ``f(RSS)``, where f is the loss of a single residual whose square is RSS: all losses here are concave in
   the squared residual with f(0) = 0, hence subadditive. `rss_limit` inverts f.
2. *Rows in chunks.* The sum over the first rows already exceeds the best losses kept for most candidates.
3. *No logarithm unless it matters.* The first terms of a series bound ``|log(1 + x)|`` from below for one division per
   row; logarithms are taken of what survives. Likewise exponentials, where a model is one of the logarithm.

Nothing is approximated: a candidate is dropped only when it provably can't enter the list of the best.
"""

from __future__ import annotations

import math

import numpy as np
from numba import njit, prange

from evenly.models.pmnf.loss_kernels import fold_loss, left_out_loss, rss_limit

__all__ = ["COUNTERS", "search_folds", "search_pairs"]

#: What happened to candidates, in the order of a counter row.
COUNTERS = ("pruned", "evaluated", "ill-conditioned", "negative", "not monotone")
_PRUNED, _EVALUATED, _ILL, _NEGATIVE, _NOT_MONOTONE = range(5)

#: Least squared sine between two columns of unit length; beyond, the condition number exceeds ~1e9.
_SINE2 = 1e-9


@njit(cache=True)
def _push(losses, firsts, seconds, loss, first, second):  # type: ignore[no-untyped-def]
    """Replace the worst of a max-heap: sift the new entry down from the root."""
    n = losses.shape[0]
    i = 0
    while True:
        child = 2 * i + 1
        if child >= n:
            break
        if child + 1 < n and losses[child + 1] > losses[child]:
            child += 1
        if losses[child] <= loss:
            break
        losses[i], firsts[i], seconds[i] = losses[child], firsts[child], seconds[child]
        i = child
    losses[i], firsts[i], seconds[i] = loss, first, second


@njit(cache=True)
def _first_violation(base, cu, u, cv, v):  # type: ignore[no-untyped-def]
    """Return the first condition that is not above zero, or the number of conditions."""
    for g in range(base.shape[0]):
        if not base[g] + cu * u[g] + cv * v[g] > 0.0:
            return g
    return base.shape[0]


@njit(cache=True)
def _admit(loss, cu, cv, a, b, first, second, base, left_c, right_c, n_positive, heap, counts):  # type: ignore[no-untyped-def]
    """Keep a candidate that is good enough, unless it breaks a condition; count what it breaks."""
    losses, firsts, seconds = heap
    violated = _first_violation(base, cu, left_c[a], cv, right_c[b])
    if violated < n_positive:
        counts[_NEGATIVE] += 1
    elif violated < base.shape[0]:
        counts[_NOT_MONOTONE] += 1
    else:
        _push(losses, firsts, seconds, loss, first, second)


@njit(cache=True, parallel=True)
def search_pairs(kind, left, right, gram, target, conditions, cut, heaps, counts):  # type: ignore[no-untyped-def]
    """Evaluate all pairs of a block of columns with another, keeping the best in one heap per thread.

    Parameters
    ----------
    kind : int
        The loss.
    left, right : Block of `evenly.models.pmnf.search`, as the next ones
    gram : array (B_left, B_right)
        Inner products.
    target : Target
    conditions : ConditionRows
    cut : float
        Losses from here on are of no interest.
    heaps : tuple of arrays (n_threads, K)
        Losses, first and second index.
    counts : array (n_threads, len(COUNTERS))
    """
    u_all, u_diag, u_prod, u_cond, u_ok, u_offset = left
    v_all, v_diag, v_prod, v_cond, v_ok, v_offset = right
    z, free, weight, scale, rss, least_weight, least_scale, prune = target
    base, n_positive = conditions
    losses, firsts, seconds = heaps
    n_threads = losses.shape[0]
    for thread in prange(n_threads):
        count = np.zeros(5, np.int64)
        heap = (losses[thread], firsts[thread], seconds[thread])
        limit = min(cut, losses[thread, 0])
        most = rss_limit(kind, limit, least_weight, least_scale) if prune else math.inf
        # Threads take the rows of the triangle by turns, since these get shorter.
        for a in range(thread, u_all.shape[0], n_threads):
            if not u_ok[a]:
                continue
            bu = u_prod[a]
            du = u_diag[a]
            for b in range(max(0, u_offset + a + 1 - v_offset), v_all.shape[0]):
                if not v_ok[b]:
                    continue
                # The normal equations [du g; g dv] [cu; cv] = [bu; bv], by Cramer's rule.
                g = gram[a, b]
                dv = v_diag[b]
                det = du * dv - g * g
                if det < _SINE2 * du * dv:
                    count[_ILL] += 1
                    continue
                bv = v_prod[b]
                cu = (dv * bu - g * bv) / det
                cv = (du * bv - g * bu) / det
                # Shortcut 1: RSS = z'z - (cu bu + cv bv). The margin covers rounding in the difference.
                if rss - (cu * bu + cv * bv) - 1e-9 * rss >= most:
                    count[_PRUNED] += 1
                    continue
                count[_EVALUATED] += 1
                loss = left_out_loss(
                    kind, u_all, a, v_all, b, z, free, weight, scale, cu, cv, dv / det, -2.0 * g / det, du / det, limit
                )
                if loss < limit:
                    _admit(
                        loss, cu, cv, a, b, u_offset + a, v_offset + b, base, u_cond, v_cond, n_positive, heap, count
                    )
                    limit = min(cut, losses[thread, 0])
                    most = rss_limit(kind, limit, least_weight, least_scale) if prune else math.inf
        for k in range(5):
            counts[thread, k] += count[k]


@njit(cache=True, parallel=True)
def search_folds(kind, left, right, gram, target, conditions, cut, heaps, counts, fixed, bounds):  # type: ignore[no-untyped-def]
    """Do as `search_pairs` does, for k folds: rows are sorted by fold, `bounds` (k + 1,) says where each begins.

    `fixed` (P, m) holds the orthonormal columns projected out.
    """
    u_all, u_diag, u_prod, u_cond, u_ok, u_offset = left
    v_all, v_diag, v_prod, v_cond, v_ok, v_offset = right
    z, _, weight, scale, rss, least_weight, least_scale, prune = target
    base, n_positive = conditions
    losses, firsts, seconds = heaps
    n_threads = losses.shape[0]
    n_fixed, m = fixed.shape
    for thread in prange(n_threads):
        count = np.zeros(5, np.int64)
        heap = (losses[thread], firsts[thread], seconds[thread])
        basis = np.zeros((n_fixed + 2, m))
        basis[:n_fixed] = fixed
        inverse = np.eye(n_fixed + 2)
        residual = np.empty(m)
        for a in range(thread, u_all.shape[0], n_threads):
            if not u_ok[a]:
                continue
            for b in range(max(0, u_offset + a + 1 - v_offset), v_all.shape[0]):
                if not v_ok[b]:
                    continue
                # The normal equations, as in `search_pairs`.
                g, du, dv, bu, bv = gram[a, b], u_diag[a], v_diag[b], u_prod[a], v_prod[b]
                det = du * dv - g * g
                if det < _SINE2 * du * dv:
                    count[_ILL] += 1
                    continue
                cu = (dv * bu - g * bv) / det
                cv = (du * bv - g * bu) / det
                limit = min(cut, losses[thread, 0])
                if prune and rss * (1.0 - 1e-9) - (cu * bu + cv * bv) >= rss_limit(
                    kind, limit, least_weight, least_scale
                ):
                    count[_PRUNED] += 1
                    continue
                count[_EVALUATED] += 1
                # B and M^-1 of `fold_loss`: the fixed columns are orthonormal, so only the last two meet.
                basis[n_fixed] = u_all[a]
                basis[n_fixed + 1] = v_all[b]
                inverse[n_fixed, n_fixed] = du
                inverse[n_fixed + 1, n_fixed + 1] = dv
                inverse[n_fixed, n_fixed + 1] = inverse[n_fixed + 1, n_fixed] = g
                for i in range(m):
                    residual[i] = z[i] - cu * u_all[a, i] - cv * v_all[b, i]
                loss = fold_loss(kind, basis, inverse, residual, weight, scale, bounds, limit)
                if loss < limit:
                    _admit(
                        loss, cu, cv, a, b, u_offset + a, v_offset + b, base, u_cond, v_cond, n_positive, heap, count
                    )
        for k in range(5):
            counts[thread, k] += count[k]
