"""Non-negative least squares: coefficients of terms from amounts and times, with their standard errors.

Seconds are amounts times coefficients. Each row is divided by its seconds, so that relative errors count and small runs
count as much as large ones. The algorithm of `scipy.optimize.nnls` is that of C. L. Lawson and R. J. Hanson, Solving
Least Squares Problems, chapter 23.

>>> amounts = np.array([[1.0, 0.0], [2.0, 1.0], [4.0, 1.0]])
>>> found = regress(amounts, amounts @ [2.0, 3.0])
>>> found.coefficients.round(6).tolist(), found.errors.round(6).tolist()
([2.0, 3.0], [0.0, 0.0])
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

__all__ = ["Regression", "regress"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Regression:
    """The coefficients of a linear model, fitted by `regress`.

    Parameters
    ----------
    coefficients, errors : (terms,)
        Seconds per unit of each term, and their standard errors. A coefficient at its bound of 0 has the error that it
        would have if it were free.
    known : (terms,) of bool
        Whether the term occurs in any row; the coefficients of the others are 0.
    residuals : (rows,)
        Relative residuals: predicted over measured seconds, minus one.
    """

    coefficients: Array
    errors: Array
    known: NDArray[np.bool_]
    residuals: Array


def regress(amounts: Array, seconds: Array, weights: Array | None = None) -> Regression:
    """Return the non-negative coefficients with the smallest weighted sum of squared relative errors.

    Parameters
    ----------
    amounts : (rows, terms)
        Amount of each term in each row.
    seconds : (rows,)
        Measured seconds, above 0.
    weights : (rows,), optional
        Weight of each row's squared relative error; 1 by default.

    Raises
    ------
    InputError
        If there are no rows, or a time isn't above 0.
    """
    from scipy.optimize import nnls

    if amounts.ndim != 2 or len(amounts) != len(seconds) or not len(seconds):
        raise InputError(f"Coefficients need rows of amounts with their seconds, but got {amounts.shape}.")
    if not np.all(seconds > 0) or not np.all(np.isfinite(amounts)):
        raise InputError("Coefficients need times above 0 and finite amounts.")
    # Rows divided by their seconds, times the root of their weight: the sum of squares is of weighted relative errors.
    root = np.sqrt(np.ones_like(seconds) if weights is None else weights)
    rows = amounts * (root / seconds)[:, None]
    # Columns are scaled to length 1, so that terms of different units are treated alike.
    scale = np.linalg.norm(rows, axis=0)
    known = scale > 0
    matrix = rows[:, known] / scale[known]
    # More iterations than usual: columns are nearly collinear, as terms count the same points in similar ways.
    solution, _ = nnls(matrix, root, maxiter=100 * matrix.shape[1])
    coefficients, errors = np.zeros(amounts.shape[1]), np.zeros(amounts.shape[1])
    coefficients[known] = solution / scale[known]
    errors[known] = _errors(matrix, root, solution) / scale[known]
    # A coefficient can't exceed the smallest time per amount of any row, so this also bounds its error.
    with np.errstate(divide="ignore"):
        most = np.where(amounts > 0, seconds[:, None] / amounts, np.inf).min(axis=0)
    errors = np.minimum(errors, np.where(known, most, 0.0))
    return Regression(coefficients, errors, known, amounts @ coefficients / seconds - 1)


def _errors(matrix: Array, target: Array, solution: Array) -> Array:
    """Return the standard errors of the scaled coefficients, (terms,), by the covariance of least squares, s²(XᵀX)⁻¹.

    The covariance is over the terms with coefficients above 0 (the passive set of Lawson and Hanson). For the error of
    each other term, this term is added to them.
    """
    used = np.flatnonzero(solution > 0)
    freedom = max(1, len(target) - len(used))
    variance = float(np.sum((matrix @ solution - target) ** 2)) / freedom
    errors = np.empty(matrix.shape[1])
    errors[used] = _deviations(matrix[:, used])
    for term in np.flatnonzero(solution <= 0):
        errors[term] = _deviations(matrix[:, [*used, term]])[-1]
    return np.asarray(np.sqrt(variance) * errors)


def _deviations(columns: Array) -> Array:
    """Return the square roots of the diagonal of (XᵀX)⁻¹; very large where columns can't be told apart."""
    _, singular, turned = np.linalg.svd(columns, full_matrices=False)
    floor = np.finfo(np.float64).eps * len(columns) * singular[0]
    return np.asarray(np.sqrt(np.sum((turned / np.maximum(singular, floor)[:, None]) ** 2, axis=0)))
