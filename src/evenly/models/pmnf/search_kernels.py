"""Compiled kernels of the PMNF search: exact leave-one-out or k-fold losses of millions of candidates a second.

A candidate is two columns ``u`` and ``v``. Other columns are projected out of them beforehand: the constant and, for
more than two terms, a prefix of further terms. With ``z`` the projected response, the normal equations are 2 × 2, and
the leave-one-out residual is ``e / (1 - h)``. Only the two columns are read. Three exact shortcuts make most candidates
cheap:

1. *Bound from the Gram matrix, O(1).* A leave-one-out residual is never smaller than the residual of the fit. All
losses
   here are concave in the squared residual with f(0) = 0, hence subadditive. So the loss is at least ``f(RSS)``, the
   loss of a single residual whose square is the residual sum of squares. `rss_limit` inverts f.
2. *Rows in chunks.* For most candidates, the sum over the first chunks already exceeds the worst loss kept.
3. *Few logarithms.* The first terms of a series give a lower bound of ``|log(1 + x)|`` for one division per row.
   Logarithms are computed only if the bound doesn't reject the candidate. Exponentials of models of the logarithm are
   bounded likewise.

Nothing is approximated: a candidate is dropped only if it provably can't be among the best.
"""

from __future__ import annotations

import math

import numpy as np

from evenly.compiling import njit
from evenly.models.pmnf.loss_kernels import fold_loss, left_out_loss, rss_limit

__all__ = ["COUNTERS", "search_folds", "search_pairs"]

#: Outcomes of candidates, in the order of the columns of the counters.
COUNTERS = ("pruned", "evaluated", "ill-conditioned", "negative", "not monotone")
_PRUNED, _EVALUATED, _ILL, _NEGATIVE, _NOT_MONOTONE = range(5)

#: Least squared sine of the angle between two columns of unit length; below it, the condition number exceeds ~1e9.
_SINE2 = 1e-9


@njit(cache=True)
def _push(losses, firsts, seconds, loss, first, second):  # type: ignore[no-untyped-def]
    """Replace the largest loss of a max-heap by a new entry, and sift it down from the root."""
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
    """Return the number of the first condition that is not above zero, or the number of conditions if all are."""
    for g in range(base.shape[0]):
        if not base[g] + cu * u[g] + cv * v[g] > 0.0:
            return g
    return base.shape[0]


@njit(cache=True)
def _admit(loss, cu, cv, a, b, first, second, base, left_c, right_c, n_positive, heap, counts):  # type: ignore[no-untyped-def]
    """Add a candidate to the heap, or count it as rejected if it violates a condition."""
    losses, firsts, seconds = heap
    violated = _first_violation(base, cu, left_c[a], cv, right_c[b])
    if violated < n_positive:
        counts[_NEGATIVE] += 1
    elif violated < base.shape[0]:
        counts[_NOT_MONOTONE] += 1
    else:
        _push(losses, firsts, seconds, loss, first, second)


@njit(cache=True, nogil=True)
def search_pairs(thread, kind, left, right, gram, target, conditions, cut, heaps, counts):  # type: ignore[no-untyped-def]
    """Evaluate one thread's pairs of a column of one block with a column of another; keep the best in its own heap.

    Parameters
    ----------
    thread : int
        Number of the thread: which rows and which heap are its own.
    kind : int
        Number of the loss, such as `evenly.models.pmnf.problem.MLOGQ2`.
    left, right : evenly.models.pmnf.search.Block
        The two blocks of columns.
    gram : array (B_left, B_right)
        Inner products of the columns.
    target : evenly.models.pmnf.search.Target
        The response and the data of the loss.
    conditions : evenly.models.pmnf.search.ConditionRows
        What must stay above zero.
    cut : float
        Candidates with this loss or more are dropped.
    heaps : tuple of arrays (n_threads, K)
        Losses, first and second term number of the best candidates, changed in place.
    counts : array (n_threads, len(COUNTERS))
        Counts of outcomes, added to in place.
    """
    u_all, u_diag, u_prod, u_cond, u_ok, u_offset = left
    v_all, v_diag, v_prod, v_cond, v_ok, v_offset = right
    z, free, weight, scale, rss, least_weight, least_scale, prune = target
    base, n_positive = conditions
    losses, firsts, seconds = heaps
    n_threads = losses.shape[0]
    count = np.zeros(5, np.int64)
    heap = (losses[thread], firsts[thread], seconds[thread])
    limit = min(cut, losses[thread, 0])
    most = rss_limit(kind, limit, least_weight, least_scale) if prune else math.inf
    # Only pairs with first < second are evaluated, so later rows are shorter: threads take rows in turn.
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
                _admit(loss, cu, cv, a, b, u_offset + a, v_offset + b, base, u_cond, v_cond, n_positive, heap, count)
                limit = min(cut, losses[thread, 0])
                most = rss_limit(kind, limit, least_weight, least_scale) if prune else math.inf
    for k in range(5):
        counts[thread, k] += count[k]


@njit(cache=True, nogil=True)
def search_folds(thread, kind, left, right, gram, target, conditions, cut, heaps, counts, fixed, bounds):  # type: ignore[no-untyped-def]
    """Evaluate pairs of columns as `search_pairs` does, by their loss on k folds.

    Runs are sorted by fold; `bounds` (k + 1,) holds the first run of each fold. `fixed` (P, m) holds the orthonormal
    columns that were projected out.
    """
    u_all, u_diag, u_prod, u_cond, u_ok, u_offset = left
    v_all, v_diag, v_prod, v_cond, v_ok, v_offset = right
    z, _, weight, scale, rss, least_weight, least_scale, prune = target
    base, n_positive = conditions
    losses, firsts, seconds = heaps
    n_threads = losses.shape[0]
    n_fixed, m = fixed.shape
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
            if prune and rss * (1.0 - 1e-9) - (cu * bu + cv * bv) >= rss_limit(kind, limit, least_weight, least_scale):
                count[_PRUNED] += 1
                continue
            count[_EVALUATED] += 1
            # B and M^-1 of `fold_loss`. The fixed columns are orthonormal and orthogonal to u and v, so only the
            # entries of u and v in M^-1 differ from the identity.
            basis[n_fixed] = u_all[a]
            basis[n_fixed + 1] = v_all[b]
            inverse[n_fixed, n_fixed] = du
            inverse[n_fixed + 1, n_fixed + 1] = dv
            inverse[n_fixed, n_fixed + 1] = inverse[n_fixed + 1, n_fixed] = g
            for i in range(m):
                residual[i] = z[i] - cu * u_all[a, i] - cv * v_all[b, i]
            loss = fold_loss(kind, basis, inverse, residual, weight, scale, bounds, limit)
            if loss < limit:
                _admit(loss, cu, cv, a, b, u_offset + a, v_offset + b, base, u_cond, v_cond, n_positive, heap, count)
    for k in range(5):
        counts[thread, k] += count[k]
