"""Compiled loops for Matérn covariances of smoothness 3/2 and 5/2.

Both are ``variance · (1 + s + c·s²) · exp(-s)`` with s the scaled distance: ``s² = 5·r²``, c = 1/3 for smoothness 5/2,
``s² = 3·r²``, c = 0 for 3/2 [Rasmussen and Williams, Gaussian Processes for Machine Learning, 2006, equation 4.17].
Exponentials are computed by polynomials in this module, so that loops are vectorised on every machine; a library call
per pair would cost five times as much. Places (m, q) are configurations to predict, knots (q, n) are the runs.
"""

from __future__ import annotations

import numpy as np

from evenly.compiling import njit

__all__ = [
    "MATERN_32",
    "MATERN_52",
    "add_covariance",
    "cross_covariance",
    "mirror",
    "nearest_boxes",
    "radial_sums_32",
    "radial_sums_64",
    "weighted_sums_32",
    "weighted_sums_64",
]

#: (factor of r², coefficient of s²)
MATERN_32, MATERN_52 = (3.0, 0.0), (5.0, 1.0 / 3.0)

_FAST = {"reassoc", "contract", "nsz", "arcp", "nnan", "ninf"}
_LOG2E = 1.4426950408889634
_LN2 = 0.6931471805599453


@njit(cache=True, fastmath=_FAST, inline="always")
def _decay_64(s):  # type: ignore[no-untyped-def]
    """Return exp(-s) for s >= 0 with an error of at most 1e-15; s is capped at 690, so that nothing underflows."""
    # exp(-s) = 2⁻ᵏ eᵘ with whole k and |u| ≤ ½ log 2; eᵘ is its Taylor polynomial of degree 12, by Horner's rule.
    s = min(s, 690.0)
    k = np.floor(s * _LOG2E + 0.5)
    u = k * _LN2 - s
    p = 1.0 / 479001600.0
    p = p * u + 1.0 / 39916800.0
    p = p * u + 1.0 / 3628800.0
    p = p * u + 1.0 / 362880.0
    p = p * u + 1.0 / 40320.0
    p = p * u + 1.0 / 5040.0
    p = p * u + 1.0 / 720.0
    p = p * u + 1.0 / 120.0
    p = p * u + 1.0 / 24.0
    p = p * u + 1.0 / 6.0
    p = p * u + 0.5
    p = p * u + 1.0
    p = p * u + 1.0
    # 2⁻ᵏ is made by writing its exponent, 1023 - k, into the bits of a double.
    return p * np.int64((np.int64(1023) - np.int64(np.int32(k))) << np.int64(52)).view(np.float64)


@njit(cache=True, fastmath=_FAST, inline="always")
def _decay_32(s):  # type: ignore[no-untyped-def]
    """Return exp(-s) for s >= 0 with an error of at most 3e-7, in single precision."""
    # As `_decay_64`, with a polynomial of degree 6.
    s = min(s, np.float32(80.0))
    k = np.floor(s * np.float32(_LOG2E) + np.float32(0.5))
    u = k * np.float32(_LN2) - s
    p = np.float32(1.0 / 720.0)
    p = p * u + np.float32(1.0 / 120.0)
    p = p * u + np.float32(1.0 / 24.0)
    p = p * u + np.float32(1.0 / 6.0)
    p = p * u + np.float32(0.5)
    p = p * u + np.float32(1.0)
    p = p * u + np.float32(1.0)
    return p * np.int32((np.int32(127) - np.int32(k)) << np.int32(23)).view(np.float32)


@njit(cache=True, fastmath=_FAST)
def add_covariance(products, norms, variance, factor, quadratic, covariance, slope):  # type: ignore[no-untyped-def]
    """Write the covariance (n, n) of points with inner `products` (n, n), and its derivative by r², `slope` (n, n)."""
    # r² = |a|² + |b|² - 2 a·b; d/dr² of (1 + s + c s²) exp(-s) is ½ f (2 c - 1 - c s) exp(-s), with s² = f r².
    n = len(norms)
    for i in range(n):
        for j in range(n):
            s2 = factor * max(norms[i] + norms[j] - 2.0 * products[i, j], 0.0)
            s = np.sqrt(s2)
            decayed = variance * _decay_64(s)
            covariance[i, j] = (1.0 + s + quadratic * s2) * decayed
            slope[i, j] = 0.5 * factor * (2.0 * quadratic - 1.0 - quadratic * s) * decayed


@njit(cache=True, fastmath=_FAST)
def mirror(matrix):  # type: ignore[no-untyped-def]
    """Copy the upper triangle to the lower one, in blocks that fit the cache."""
    n, block = len(matrix), 32
    for start in range(0, n, block):
        for left in range(0, start + block, block):
            for i in range(start, min(start + block, n)):
                for j in range(left, min(left + block, i)):
                    matrix[i, j] = matrix[j, i]


@njit(cache=True, fastmath=_FAST)
def _squares(place, label, knots, knot_labels, steps, first, last, found):  # type: ignore[no-untyped-def]
    """Write squared distances from a place (q,) to knots `first` to `last`; each label that differs adds its step."""
    # Slices are used because the compiler doesn't vectorise loops with sums as indices.
    found[:] = 0
    for q in range(len(place)):
        x, row = place[q], knots[q, first:last]
        for j in range(len(found)):
            gap = row[j] - x
            found[j] += gap * gap
    for c in range(len(label)):
        mark, step, marks = label[c], steps[c], knot_labels[c, first:last]
        for j in range(len(found)):
            if marks[j] != mark:
                found[j] += step


_BLOCK = 1024


@njit(cache=True, fastmath=_FAST, nogil=True)
def weighted_sums_64(places, labels, knots, knot_labels, steps, kind, coefficients, sums):  # type: ignore[no-untyped-def]
    """Add to `sums` (m,) the covariance (variance 1) between places (m, q) and knots (q, n) times coefficients (n,)."""
    factor, quadratic = kind
    found = np.empty(_BLOCK, places.dtype)
    for i in range(len(places)):
        # k(x) · coefficients with equation 4.17 for each knot, in blocks whose distances stay in the cache.
        total = 0.0
        for first in range(0, knots.shape[1], _BLOCK):
            last = min(first + _BLOCK, knots.shape[1])
            _squares(places[i], labels[i], knots, knot_labels, steps, first, last, found[: last - first])
            scaled = coefficients[first:last]
            for j in range(len(scaled)):
                s2 = factor * found[j]
                s = np.sqrt(s2)
                total += scaled[j] * (1.0 + s + quadratic * s2) * _decay_64(s)
        sums[i] += total


@njit(cache=True, fastmath=_FAST, nogil=True)
def weighted_sums_32(places, labels, knots, knot_labels, steps, kind, coefficients, sums):  # type: ignore[no-untyped-def]
    """As `weighted_sums_64`, in single precision."""
    factor, quadratic = np.float32(kind[0]), np.float32(kind[1])
    found = np.empty(_BLOCK, np.float32)
    for i in range(len(places)):
        for first in range(0, knots.shape[1], _BLOCK):
            last = min(first + _BLOCK, knots.shape[1])
            _squares(places[i], labels[i], knots, knot_labels, steps, first, last, found[: last - first])
            scaled, total = coefficients[first:last], np.float32(0.0)
            for j in range(len(scaled)):
                s2 = factor * found[j]
                s = np.sqrt(s2)
                total += scaled[j] * (np.float32(1.0) + s + quadratic * s2) * _decay_32(s)
            sums[i] += total


@njit(cache=True, fastmath=_FAST, nogil=True)
def cross_covariance(places, labels, knots, knot_labels, steps, kind, variance, covariance):  # type: ignore[no-untyped-def]
    """Add the covariance between places (m, q) and knots (q, n) to `covariance` (m, n)."""
    factor, quadratic = kind
    found = np.empty(_BLOCK, np.float64)
    for i in range(len(places)):
        for first in range(0, knots.shape[1], _BLOCK):
            last = min(first + _BLOCK, knots.shape[1])
            _squares(places[i], labels[i], knots, knot_labels, steps, first, last, found[: last - first])
            row = covariance[i, first:last]
            for j in range(len(row)):
                s2 = factor * found[j]
                s = np.sqrt(s2)
                row[j] += variance * (1.0 + s + quadratic * s2) * _decay_64(s)


@njit(cache=True, fastmath=_FAST, nogil=True)
def radial_sums_64(places, knots, coefficients, sums):  # type: ignore[no-untyped-def]
    """Add to `sums` (m,) exp(-r²) between places (m, q) and knots (q, n) times coefficients (n,)."""
    found = np.empty(_BLOCK, np.float64)
    for i in range(len(places)):
        total = 0.0
        for first in range(0, knots.shape[1], _BLOCK):
            last = min(first + _BLOCK, knots.shape[1])
            _squares(places[i], places[i, :0], knots, knots, places[i, :0], first, last, found[: last - first])
            scaled = coefficients[first:last]
            for j in range(len(scaled)):
                total += scaled[j] * _decay_64(found[j])
        sums[i] += total


@njit(cache=True, fastmath=_FAST, nogil=True)
def radial_sums_32(places, knots, coefficients, sums):  # type: ignore[no-untyped-def]
    """As `radial_sums_64`, in single precision."""
    found = np.empty(_BLOCK, np.float32)
    for i in range(len(places)):
        for first in range(0, knots.shape[1], _BLOCK):
            last = min(first + _BLOCK, knots.shape[1])
            _squares(places[i], places[i, :0], knots, knots, places[i, :0], first, last, found[: last - first])
            scaled, total = coefficients[first:last], np.float32(0.0)
            for j in range(len(scaled)):
                total += scaled[j] * _decay_32(found[j])
            sums[i] += total


@njit(cache=True, fastmath=_FAST, nogil=True)
def nearest_boxes(points, lower, upper, found):  # type: ignore[no-untyped-def]
    """Write the index of the nearest box (corners (n_boxes, q) each) of each point (n, q) to `found` (n,)."""
    for i in range(len(points)):
        least = 1e300
        for box in range(len(lower)):
            total = 0.0
            for q in range(points.shape[1]):
                gap = max(max(lower[box, q] - points[i, q], points[i, q] - upper[box, q]), 0.0)
                total += gap * gap
            if total < least:
                least, found[i] = total, box
