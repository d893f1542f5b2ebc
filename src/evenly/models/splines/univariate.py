"""MARS of one input: a piecewise-linear curve with few knots, chosen by generalised cross-validation (GCV)."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.models.splines.backward import gcv, least_squares, prune
from evenly.models.splines.forward import Limits, forward
from evenly.models.splines.terms import Factor, Term, design
from evenly.models.stored_dataclass import Stored

__all__ = ["HingeCurve", "univariate_hinges"]


@dataclass(frozen=True)
class HingeCurve(Stored):
    """A continuous piecewise-linear function, which extrapolates linearly.

    Attributes
    ----------
    knots : array (k,)
        The values of x where the slope changes, in ascending order.
    slopes : array (k + 1,)
        Slopes left of the first knot, between knots, and right of the last knot.
    anchor : tuple of float
        A point (x, y) of the curve: at the first knot, or at any x if there is no knot.
    gcv : float
        Generalised cross-validation of the fit, a penalised mean squared error.
    """

    knots: Floats
    slopes: Floats
    anchor: tuple[float, float]
    gcv: float

    def __call__(self, x: ArrayLike) -> Floats:
        """Return the curve's values at x, in the shape of x."""
        at = np.asarray(x, dtype=np.float64)
        # A straight line through the anchor plus one hinge per change of slope.
        value = self.anchor[1] + self.slopes[0] * (at - self.anchor[0])
        for knot, change in zip(self.knots, np.diff(self.slopes), strict=True):
            value = value + change * np.maximum(at - knot, 0.0)
        return np.asarray(value, dtype=np.float64)


def univariate_hinges(
    x: ArrayLike,
    y: ArrayLike,
    weights: ArrayLike | None = None,
    *,
    penalty: float = 2.0,
    most_knots: int = 10,
    span: int = 1,
    end: int = 2,
) -> HingeCurve:
    """Fit a piecewise-linear curve to points (x, y) by MARS with one input.

    Parameters
    ----------
    x, y : array_like (n,)
        Finite numbers in any order; values of x may repeat.
    weights : array_like (n,), optional
        Weight of each point, relative to the others; above zero.
    penalty : float
        Cost of a knot, in coefficients (Friedman's d). He advises 2 for additive models. With 0, only coefficients
        count.
    most_knots : int
        Largest number of knots; 0 gives a straight line or a constant.
    span, end : int
        Least number of points between two knots, and outside the outermost knots. So the slope of the extrapolation is
        determined by `end` points besides the knot's own.

    Raises
    ------
    InputError
        If lengths differ, or a value isn't finite.

    Examples
    --------
    >>> x = np.linspace(0, 1, 21)
    >>> curve = univariate_hinges(x, np.maximum(x - 0.5, 0))
    >>> curve.knots, curve.slopes.round(6), curve([2.0]).round(6)
    (array([0.5]), array([0., 1.]), array([1.5]))
    """
    at, values, counts = _checked(x, y, weights)
    order = np.lexsort((values, at))
    at, values, counts = at[order], values[order], counts[order] / counts.mean()
    # Scale x to [-1, 1], like the coded inputs of models.
    middle, half = (at[0] + at[-1]) / 2, max((at[-1] - at[0]) / 2, np.finfo(float).tiny)
    inputs = Inputs(((at - middle) / half)[:, None], np.zeros((len(at), 0), np.int64), ())
    # A knot may lie at any point that span and end allow.
    limits = Limits(terms=most_knots + 1, degree=1, span=span, end=end, knots=len(at), min_gain=1e-12)
    if most_knots < 1:
        limits = Limits(terms=1, degree=1, span=len(at), end=len(at), min_gain=1e-12)
    # Convert pairs of hinges to one line and one hinge per knot. The line then costs one coefficient and no knot.
    terms = _as_lines(forward(inputs, values, counts, limits))
    columns, roots = design(terms, inputs), np.sqrt(counts)
    # Each knot has one column here instead of two, which bears the whole cost of the knot.
    each = np.array([1.0 + penalty * any(f.kind == "above" for f in term) for term in terms])
    # Backward pass, then weighted least squares on the remaining columns.
    kept = prune(columns * roots[:, None], values * roots, each).kept
    solution = least_squares(columns[:, kept] * roots[:, None], values * roots)
    squares = float(counts @ (values - columns[:, kept] @ solution) ** 2)
    return _curve([terms[k] for k in kept], solution, middle, half, gcv(squares, len(at), float(each[kept].sum())))


def _as_lines(terms: list[Term]) -> list[Term]:
    """Replace the pairs of hinges by one straight line and one hinge per knot, which span the same functions."""
    knots = sorted({f.knot for term in terms for f in term if f.kind == "above"})
    line: list[Term] = [(Factor(0, "line", 0.0),)] if len(terms) > 1 else []
    return [(), *line, *((Factor(0, "above", knot),) for knot in knots)]


def _curve(terms: list[Term], solution: Floats, middle: float, half: float, error: float) -> HingeCurve:
    """Convert terms of the scaled input (x - middle) / half and their coefficients to a curve in x."""
    constant, slope, found = 0.0, 0.0, []
    for term, coefficient in zip(terms, solution.tolist(), strict=True):
        if not term:
            constant = coefficient
        elif term[0].kind == "line":
            slope = coefficient / half
        else:
            found.append((middle + term[0].knot * half, coefficient / half))
    knots = np.array([knot for knot, _ in found])
    slopes = slope + np.concatenate([[0.0], np.cumsum([change for _, change in found])])
    first = float(knots[0]) if found else middle
    return HingeCurve(knots, slopes, (first, constant + slope * (first - middle)), error)


def _checked(x: ArrayLike, y: ArrayLike, weights: ArrayLike | None) -> tuple[Floats, Floats, Floats]:
    at, values = np.asarray(x, dtype=np.float64), np.asarray(y, dtype=np.float64)
    counts = np.ones_like(at) if weights is None else np.asarray(weights, dtype=np.float64)
    if at.ndim != 1 or not at.shape == values.shape == counts.shape or not at.size:
        raise InputError(
            f"x, y and weights must be as many numbers, at least one, but have shapes {at.shape}, {values.shape} "
            f"and {counts.shape}"
        )
    if not (np.isfinite(at).all() and np.isfinite(values).all() and np.isfinite(counts).all() and (counts > 0).all()):
        raise InputError("x, y and weights must be finite, weights above zero")
    return at, values, counts
