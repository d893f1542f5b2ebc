"""Certified monotone ranges of one-parameter formulas, by interval arithmetic on the derivative.

The method is branch and bound. If both bounds of the derivative have the same sign on a cell of whole numbers, the cell
is a monotone piece; otherwise it is halved [Moore, Kearfott and Cloud, Introduction to Interval Analysis, 2009].
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence

import numpy as np

from evenly.models.array_types import Floats

__all__ = ["monotone_pieces"]

#: (coefficient c, power i, log power j, curvature q) of ``c · x^i · log2(x)^j · exp(q ln(x)^2)``.
Shape = tuple[float, float, float, float]
Interval = tuple[float, float]

#: On cells of at most about this many whole numbers, the formula is evaluated at each number instead.
_SMALL = 64
#: A bound must exceed zero by this share of the terms' sizes, because the sum has rounding errors.
_MARGIN = 1e-12


def _times(a: Interval, b: Interval) -> Interval:
    """Return the interval product: the range of x · y for x in a and y in b."""
    products = (a[0] * b[0], a[0] * b[1], a[1] * b[0], a[1] * b[1])
    return min(products), max(products)


def _term_slope(shape: Shape, low: float, high: float) -> Interval:
    """Bound ``x · d(term)/dx = term · (i + j / ln(x) + 2 q ln(x))`` on [low, high], low > 1."""
    c, i, j, q = shape
    # Bound the term without c, exp(i ln(x) + q ln(x)²) · log2(x)^j, whose factors are monotone above 1.
    a, b = math.log(low), math.log(high)
    exponent = [i * a, i * b]
    squares = (q * a * a, q * b * b)
    growth = (min(exponent) + min(squares), max(exponent) + max(squares))
    size = (math.exp(growth[0]), math.exp(growth[1]))
    if j:
        logs = ((a / math.log(2)) ** j, (b / math.log(2)) ** j)
        size = _times(size, (min(logs), max(logs)))
    # Multiply by the bounds of the elasticity, i + j / ln(x) + 2 q ln(x).
    ends = (j / a, j / b) if j else (0.0, 0.0)
    bends = (2 * q * a, 2 * q * b)
    factor = (i + min(ends) + min(bends), i + max(ends) + max(bends))
    return _times((c, c), _times(size, factor))


def _slope(shapes: Sequence[Shape], low: float, high: float) -> int:
    """Return the sign of the derivative on [low, high], or 0 if it isn't certain."""
    bounds = [_term_slope(shape, low, high) for shape in shapes]
    lower, upper = sum(b[0] for b in bounds), sum(b[1] for b in bounds)
    margin = _MARGIN * sum(max(abs(b[0]), abs(b[1])) for b in bounds)
    if not math.isfinite(margin):
        return 0
    return 1 if lower > margin else -1 if upper < -margin else 0


def _runs(values: Floats, start: int) -> list[tuple[int, int, int]]:
    """Split the values at consecutive whole numbers from `start` on into monotone pieces."""
    # Neighbouring pieces share an end; `_merge` separates them.
    pieces: list[tuple[int, int, int]] = []
    signs = np.sign(np.diff(values)).astype(int)
    begin = 0
    for end in range(1, len(values)):
        if end == len(values) - 1 or signs[end] != signs[begin]:
            pieces.append((start + begin, start + end, int(signs[begin])))
            begin = end
    return pieces or [(start, start, 0)]


def _merge(pieces: list[tuple[int, int, int]]) -> list[tuple[int, int, int]]:
    """Join neighbouring pieces of equal slope; assign the shared end of other neighbours to the first of them."""
    joined: list[tuple[int, int, int]] = []
    for low, high, slope in pieces:
        if joined and joined[-1][1] == low and slope == joined[-1][2]:
            joined[-1] = (joined[-1][0], high, slope)
        elif joined and joined[-1][1] == low:
            if high > low:
                joined.append((low + 1, high, slope if high > low + 1 else 0))
        else:
            joined.append((low, high, slope))
    return joined


def monotone_pieces(
    shapes: Sequence[Shape], evaluate: Callable[[Floats], Floats], low: int, high: int
) -> list[tuple[int, int, int]]:
    """Split the whole numbers of [low, high] into monotone pieces; see `Formula.monotone_pieces`."""
    varying = [s for s in shapes if s[1:] != (0.0, 0.0, 0.0)]
    if not varying:
        return [(low, high, 0)]
    pieces: list[tuple[int, int, int]] = []
    cells = [(low, high)]
    while cells:
        a, b = cells.pop()
        slope = _slope(varying, a, b) if a > 1 else 0
        if slope:
            pieces.append((a, b, slope))
        elif b - a <= _SMALL:
            pieces += _runs(evaluate(np.arange(a, b + 1, dtype=np.float64)), a)
        else:
            # Halve the cell in ln(x), since terms are powers of x.
            middle = min(max(int(math.sqrt(a * b)), a + 1), b - 1)
            cells += [(middle, b), (a, middle)]
    return _merge(pieces)
