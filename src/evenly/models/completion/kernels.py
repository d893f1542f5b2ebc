"""Compiled loops of tensor completion: normal equations, predictions, coordinate and gradient steps.

Factors are arrays (d, rows + 1, R): the rows of a mode, then zeros, so that the row after the last may be read. In mode
j, run s lies at row i = ``rows[j, s]``, with weight b = ``shares[j, s]`` on the next row and a = 1 - b on row i. Its
value is ``Σ_r Π_j (a U_j[i, r] + b U_j[i + 1, r])``. The compiler may change the order of sums.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = ["batch_gradient", "column_equations", "column_values", "normal_equations", "tridiagonal_inverse", "values"]

_FAST = {"reassoc", "contract", "nsz", "arcp"}


@njit(cache=True, fastmath=_FAST, inline="always")
def _others(skip, s, rows, shares, mean, variance, covariance, with_variance, z, q):  # type: ignore[no-untyped-def]
    """Write the products over all modes except `skip`: of the factors' means to z (R,), of second moments to q (R,)."""
    rank = z.shape[0]
    for r in range(rank):
        z[r] = 1.0
        q[r] = 1.0
    for k in range(rows.shape[0]):
        if k == skip:
            continue
        i = rows[k, s]
        b = shares[k, s]
        a = 1.0 - b
        # z_r *= m and, with variances, q_r *= E u² = m² + variance, with u = a U[i] + b U[i + 1] and m its mean.
        if not with_variance:
            if b == 0.0:
                for r in range(rank):
                    z[r] *= mean[k, i, r]
            else:
                for r in range(rank):
                    z[r] *= a * mean[k, i, r] + b * mean[k, i + 1, r]
        elif b == 0.0:
            for r in range(rank):
                m = mean[k, i, r]
                z[r] *= m
                q[r] *= m * m + variance[k, i, r]
        else:
            aa, ab, bb = a * a, 2.0 * a * b, b * b
            for r in range(rank):
                m = a * mean[k, i, r] + b * mean[k, i + 1, r]
                z[r] *= m
                q[r] *= m * m + aa * variance[k, i, r] + ab * covariance[k, i, r] + bb * variance[k, i + 1, r]


@njit(cache=True, fastmath=_FAST)
def normal_equations(  # type: ignore[no-untyped-def]
    j, rows, shares, targets, weights, mean, variance, covariance, with_variance, diagonal, above, right
):
    """Add the normal equations of mode j to `diagonal`, `above` (rows + 1, R, R) and `right` (rows + 1, R).

    `above` holds the blocks between a row and the next one. All blocks are symmetric, and only their lower triangles
    are filled. With `with_variance`, expected squares of the other modes' factors replace the squares of their means.
    """
    rank = mean.shape[2]
    z, q = np.empty(rank), np.empty(rank)
    for s in range(rows.shape[1]):
        _others(j, s, rows, shares, mean, variance, covariance, with_variance, z, q)
        i = rows[j, s]
        b = shares[j, s]
        w = weights[s]
        # The run's row of the least-squares problem is (a z, b z) at rows i and i + 1: w times its outer product,
        # blocks a² z z', a b z z' and b² z z', is added, and w t (a z, b z) on the right.
        if b == 0.0:
            for r in range(rank):
                p = w * z[r]
                right[i, r] += targets[s] * p
                for u in range(r + 1):
                    diagonal[i, r, u] += p * z[u]
            if with_variance:
                for r in range(rank):
                    diagonal[i, r, r] += w * (q[r] - z[r] * z[r])
            continue
        a = 1.0 - b
        aa, ab, bb = w * a * a, w * a * b, w * b * b
        low, high = w * a * targets[s], w * b * targets[s]
        for r in range(rank):
            zr = z[r]
            for u in range(r + 1):
                p = zr * z[u]
                diagonal[i, r, u] += aa * p
                above[i, r, u] += ab * p
                diagonal[i + 1, r, u] += bb * p
            right[i, r] += low * zr
            right[i + 1, r] += high * zr
        if with_variance:
            # E z_r² = q_r in place of z_r² on the diagonals: components are independent, so only these differ.
            for r in range(rank):
                p = q[r] - z[r] * z[r]
                diagonal[i, r, r] += aa * p
                above[i, r, r] += ab * p
                diagonal[i + 1, r, r] += bb * p


@njit(cache=True, fastmath=_FAST)
def values(rows, shares, mean, variance, covariance, with_variance):  # type: ignore[no-untyped-def]
    """Return the tensor's value and its variance at each configuration, both (n,)."""
    n = rows.shape[1]
    rank = mean.shape[2]
    z, q = np.empty(rank), np.empty(rank)
    found, spread = np.empty(n), np.zeros(n)
    for s in range(n):
        _others(-1, s, rows, shares, mean, variance, covariance, with_variance, z, q)
        total = 0.0
        for r in range(rank):
            total += z[r]
        found[s] = total
        if with_variance:
            total = 0.0
            for r in range(rank):
                total += q[r] - z[r] * z[r]
            spread[s] = max(total, 0.0)
    return found, spread


@njit(cache=True)
def banded(diagonal, above, band):  # type: ignore[no-untyped-def]
    """Write blocks into LAPACK's lower band storage (2 R or R, rows R)."""
    rows, rank, _ = diagonal.shape
    coupled = band.shape[0] > rank
    for i in range(rows):
        for r in range(rank):
            for u in range(r + 1):
                band[r - u, i * rank + u] = diagonal[i, r, u]
            if coupled and i + 1 < rows:
                for u in range(rank):
                    band[rank + r - u, i * rank + u] = above[i, max(r, u), min(r, u)]


@njit(cache=True)
def tridiagonal_inverse(diagonal, above):  # type: ignore[no-untyped-def]
    """Return the diagonals and the first off-diagonals of the inverses of R symmetric tridiagonal matrices.

    The matrices are given by their `diagonal` (rows, R), and the elements beside it, `above`.
    """
    # Factor L D L' from the top, then Takahashi's recursion for the inverse Z from the bottom:
    # Z_i,i+1 = -g Z_i+1,i+1 and Z_ii = 1 / D_i + g² Z_i+1,i+1 with g = A_i,i+1 / D_i.
    rows, rank = diagonal.shape
    variance, covariance = np.empty((rows, rank)), np.zeros((rows, rank))
    pivot = np.empty(rows)
    for r in range(rank):
        pivot[0] = diagonal[0, r]
        for i in range(1, rows):
            pivot[i] = diagonal[i, r] - above[i - 1, r] ** 2 / pivot[i - 1]
        variance[rows - 1, r] = 1.0 / pivot[rows - 1]
        for i in range(rows - 2, -1, -1):
            g = above[i, r] / pivot[i]
            covariance[i, r] = -g * variance[i + 1, r]
            variance[i, r] = 1.0 / pivot[i] + g * g * variance[i + 1, r]
    return variance, covariance


@njit(cache=True, fastmath=_FAST)
def column_equations(j, r, rows, shares, residuals, weights, mean, diagonal, above, right, z):  # type: ignore[no-untyped-def]
    """Add the normal equations of mode j's column r for the residuals, (rows + 1,) each.

    The product of the other modes' columns r at each run is written to z (n,).
    """
    for s in range(rows.shape[1]):
        # p is the product of the other modes' column r: the run's row of the least-squares problem is (a p, b p).
        p = 1.0
        for k in range(rows.shape[0]):
            if k != j:
                i = rows[k, s]
                p *= (1.0 - shares[k, s]) * mean[k, i, r] + shares[k, s] * mean[k, i + 1, r]
        z[s] = p
        i = rows[j, s]
        b = shares[j, s]
        a = 1.0 - b
        w = weights[s] * p
        diagonal[i] += w * p * a * a
        diagonal[i + 1] += w * p * b * b
        above[i] += w * p * a * b
        right[i] += w * a * residuals[s]
        right[i + 1] += w * b * residuals[s]


@njit(cache=True, fastmath=_FAST)
def column_values(j, rows, shares, step, z, residuals):  # type: ignore[no-untyped-def]
    """Update the residuals (n,) after a step of one column (rows + 1,)."""
    for s in range(rows.shape[1]):
        i = rows[j, s]
        b = shares[j, s]
        residuals[s] -= z[s] * ((1.0 - b) * step[i] + b * step[i + 1])


@njit(cache=True, fastmath=_FAST)
def batch_gradient(chosen, rows, shares, targets, weights, mean, gradient):  # type: ignore[no-untyped-def]
    """Add half the gradient of the weighted squares of the `chosen` runs to `gradient` (d, rows + 1, R)."""
    # The derivative with respect to mode k's row is the product of the other modes: `before` k times `after` k. With
    # these running products a run costs O(d R).
    d = rows.shape[0]
    rank = mean.shape[2]
    parts = np.empty((d, rank))
    before = np.empty(rank)
    after = np.empty((d + 1, rank))
    for s in chosen:
        for k in range(d):
            i = rows[k, s]
            b = shares[k, s]
            for r in range(rank):
                parts[k, r] = (1.0 - b) * mean[k, i, r] + b * mean[k, i + 1, r]
        after[d] = 1.0
        for k in range(d - 1, -1, -1):
            for r in range(rank):
                after[k, r] = after[k + 1, r] * parts[k, r]
        total = 0.0
        for r in range(rank):
            total += after[0, r]
            before[r] = 1.0
        push = weights[s] * (total - targets[s])
        for k in range(d):
            i = rows[k, s]
            b = shares[k, s]
            for r in range(rank):
                p = push * before[r] * after[k + 1, r]
                gradient[k, i, r] += (1.0 - b) * p
                gradient[k, i + 1, r] += b * p
                before[r] *= parts[k, r]
