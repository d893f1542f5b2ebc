"""Check of a formula's conditions on a whole range: a proof for one parameter, many points for several parameters.

A search checks the signs of values and slopes at a few hundred points. The candidates that it keeps are checked again
here. For one parameter above zero the check is a proof by interval arithmetic. In ``u = ln(x)``, a term
``c · exp(i u + q u²) · log2(x)^j`` is bounded on a cell by its factors at the ends. A sum of terms is also bounded by
the mean value form, ``f(middle) - max |f'| · half the width``. Cells are halved until the condition is proven on all,
or refuted at a point. The derivative of such a sum in u is again such a sum, so the signs of slopes are proven alike.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Literal

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.scaling_laws.conditions import Conditions
from evenly.models.scaling_laws.formula import Formula

__all__ = ["Fault", "certainly_positive", "fault"]

Fault = Literal["negative", "not monotone"]
#: (coefficient c, power i, log power j, curvature q) of ``c · x^i · log2(x)^j · exp(q ln(x)^2)``.
Shape = tuple[float, float, float, float]

#: Number of cells at the start.
_CELLS = 64
#: The proof is given up at more cells than this: the sum is too close to zero somewhere.
_MOST_CELLS = 20_000
_HALVINGS = 50
#: A bound must exceed zero by this share of the terms' sizes, because the sum has rounding errors.
_MARGIN = 1e-13
#: Of the points, one of so many is looked at first.
_SOME = 64
_LN2 = math.log(2)


def fault(formula: Formula, conditions: Conditions) -> Fault | None:
    """Return the first condition that the formula violates on the prediction range, or None.

    Parameters
    ----------
    formula : Formula
        The formula to check.
    conditions : Conditions
        Must have ``bounds``. With one parameter above zero the check is a proof; otherwise it uses the ``dense``
        points.

    Examples
    --------
    >>> from evenly.models.scaling_laws.formula import Term
    >>> dips = Formula(("n",), (Term(1.0, (2.0,), (0.0,)), Term(-20.0, (1.0,), (0.0,)), Term(99.9, (0.0,), (0.0,))))
    >>> fault(dips, Conditions(np.zeros((0, 1)), {}, True, ((1.0, 100.0),)))
    'negative'
    >>> fault(dips, Conditions(np.zeros((0, 1)), {0: 1.0}, True, ((20.0, 100.0),)))
    """
    if len(formula.names) == 1 and conditions.bounds[0][0] > 0:
        low, high = conditions.bounds[0]
        shapes = [_shape(formula, k) for k in range(len(formula.terms))]
        if conditions.positive and not certainly_positive(shapes, low, high):
            return "negative"
        slopes = _slopes(shapes)
        for sign in conditions.signs.values():
            if not certainly_positive([(sign * c, i, j, q) for c, i, j, q in slopes], low, high):
                return "not monotone"
        return None
    points = conditions.dense
    is_open = conditions.positive and not _all_above_zero(formula, conditions.bounds)
    if is_open and not all((formula.evaluate(some) > 0).all() for some in (points[::_SOME], points)):
        return "negative"
    for k, sign in conditions.signs.items():
        if not (sign * formula.derivative(points, formula.names[k]) > 0).all():
            return "not monotone"
    return None


def _all_above_zero(formula: Formula, bounds: Sequence[tuple[float, float]]) -> bool:
    """Tell whether each term is at least zero in the box, and one above zero: then no point needs to be looked at."""
    sure = False
    for term in formula.terms:
        # A logarithm is zero at 1, and below zero before it.
        if term.coefficient < 0 or any(
            (power and low <= 0) or (log and low < 1)
            for power, log, (low, _) in zip(term.powers, term.logs, bounds, strict=True)
        ):
            return False
        sure = sure or not any(log and low <= 1 for log, (low, _) in zip(term.logs, bounds, strict=True))
    return sure


def _shape(formula: Formula, k: int) -> Shape:
    term = formula.terms[k]
    return term.coefficient, term.powers[0], term.logs[0], term.curvature[0][0] if term.curvature else 0.0


def _slopes(shapes: Sequence[Shape]) -> list[Shape]:
    """Return the terms of the derivative with respect to ``ln(x)``; it has the sign of the derivative in x."""
    # The derivative of c · exp(i u + q u²) · (u / ln 2)^j in u is a sum of three terms of the same shape.
    parts = []
    for c, i, j, q in shapes:
        parts += [(c * i, i, j, q), (c * j / _LN2, i, j - 1, q), (2 * c * q * _LN2, i, j + 1, q)]
    return [part for part in parts if part[0]]


def certainly_positive(shapes: Sequence[Shape], low: float, high: float) -> bool:
    """Return whether a sum of terms is proven to be above zero from `low` > 0 to `high`.

    The result is False if the sum is not above zero somewhere, or too close to zero for a proof.

    Examples
    --------
    >>> certainly_positive([(1.0, 1.0, 0.0, 0.0), (-0.999, 0.0, 0.0, 0.0)], 1.0, 8.0)
    True
    >>> certainly_positive([(1.0, 1.0, 0.0, 0.0), (-1.001, 0.0, 0.0, 0.0)], 1.0, 8.0)
    False
    """
    slopes = _slopes(shapes)
    edges = np.linspace(math.log(low), math.log(high), _CELLS + 1)
    a, b = edges[:-1], edges[1:]
    with np.errstate(all="ignore"):
        for _ in range(_HALVINGS):
            # Two lower bounds of the sum on each cell: the sum of the terms' lower bounds, and the mean value form
            # f(middle) - max |f'| · (b - a) / 2. The larger of the two is used.
            middle = (a + b) / 2
            at, _, size = _bounds(shapes, middle, middle)
            least = _bounds(shapes, a, b)[0]
            lower, upper, _ = _bounds(slopes, a, b)
            mean = at - np.maximum(np.abs(lower), np.abs(upper)) * (b - a) / 2
            open_ = ~(np.fmax(least, mean) > _MARGIN * size)
            # Stop if all cells are proven, or if a middle refutes the condition; otherwise halve the open cells.
            if not open_.any():
                return True
            if not (at > 0).all() or 2 * open_.sum() > _MOST_CELLS:
                return False
            a, b, middle = a[open_], b[open_], middle[open_]
            a, b = np.concatenate([a, middle]), np.concatenate([middle, b])
    return False


def _bounds(shapes: Sequence[Shape], a: Floats, b: Floats) -> tuple[Floats, Floats, Floats]:
    """Bound the sum on cells [a, b] of ``ln(x)``; return lower bounds, upper bounds and the terms' total size."""
    lower, upper, size = np.zeros_like(a), np.zeros_like(a), np.zeros_like(a)
    for c, i, j, q in shapes:
        # Bound exp(i u + q u²) in u = ln(x). If the cell contains 0, u² is smallest there.
        low, high = (i * a, i * b) if i >= 0 else (i * b, i * a)
        if q:
            least = np.where((a < 0) & (b > 0), 0.0, np.minimum(a * a, b * b))
            bends = q * least, q * np.maximum(a * a, b * b)
            low, high = low + np.minimum(*bends), high + np.maximum(*bends)
        low, high = np.exp(low), np.exp(high)
        # Multiply by log2(x)^j, which may be negative, and by the coefficient.
        if j:
            least, most = _log_powers(a / _LN2, b / _LN2, j)
            low, high = np.where(least >= 0, low, high) * least, np.where(most >= 0, high, low) * most
        low, high = (c * low, c * high) if c >= 0 else (c * high, c * low)
        lower, upper, size = lower + low, upper + high, size + np.maximum(np.abs(low), np.abs(high))
    return lower, upper, size


def _log_powers(a: Floats, b: Floats, j: float) -> tuple[Floats, Floats]:
    """Bound ``l^j`` for l from a to b; the bounds are infinite if j < 0 and the cell contains the pole at 0."""
    ends = np.power(a, j), np.power(b, j)
    least, most = np.minimum(*ends), np.maximum(*ends)
    across = (a < 0) & (b > 0)
    if j < 0:
        return np.where(across, -np.inf, least), np.where(across, np.inf, most)
    return np.where(across, np.minimum(least, 0.0), least), most
