"""The backward pass of MARS: terms are deleted one by one, and the set of least generalised cross-validation is kept.

Algorithm 3 of Friedman, *Multivariate Adaptive Regression Splines*, Annals of Statistics 19, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

__all__ = ["Pruned", "costs", "gcv", "least_squares", "prune"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]


def gcv(squares: float, n: float, effective: float) -> float:
    """Return generalised cross-validation, ``(RSS / n) / (1 - C / n)²``; infinite where C reaches n.

    Parameters
    ----------
    squares : float
        Weighted sum of squared residuals; weights have the mean 1.
    n : float
        Number of runs.
    effective : float
        C, the effective number of coefficients [Friedman 1991, equation 30].
    """
    return float("inf") if effective >= n else squares / n / (1 - effective / n) ** 2


def costs(columns: int, penalty: float) -> Floats:
    """Return the effective coefficients of each column: the constant is one, others have half a knot each beside.

    Summed up, ``C = M + penalty · (M - 1) / 2`` [Friedman 1991, equation 32: knots come in pairs of columns].
    """
    return np.concatenate([[1.0], np.full(columns - 1, 1 + penalty / 2)])


@dataclass(frozen=True)
class Pruned:
    """Which columns stay, in order; the generalised cross-validation of every size passed, from all columns to one."""

    kept: list[int]
    path: list[float]


def least_squares(columns: Floats, y: Floats) -> Floats:
    """Return coefficients (M,); columns that others already tell get the smallest ones."""
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1.0
    return np.asarray(np.linalg.lstsq(columns / lengths, y, rcond=1e-10)[0] / lengths)


def prune(columns: Floats, y: Floats, each: Floats) -> Pruned:
    """Drop the column whose loss raises the squares least, until one is left; keep the set of the smallest GCV.

    Parameters
    ----------
    columns : array (n, M)
        Times the square roots of the weights; the first is the constant's and never goes.
    y : array (n,)
        Likewise.
    each : array (M,)
        Effective coefficients of each column.
    """
    n = len(y)
    lengths = np.linalg.norm(columns, axis=0)
    scaled = columns / np.where(lengths > 0, lengths, 1.0)
    # Rounding alone decides about columns in each other's span: a ridge of its size lets them go first.
    inverse = np.linalg.inv(scaled.T @ scaled + 1e-12 * np.eye(scaled.shape[1]))
    solution = inverse @ (scaled.T @ y)
    alive = list(range(scaled.shape[1]))
    # Sets that all fit but for rounding are alike: the smallest of them is the answer.
    least = 1e-16 * float(y @ y)
    squares = max(float(np.sum((y - scaled @ solution) ** 2)), least)
    # The path passes one set of columns of every size; the smallest of the best GCV is kept.
    path, best = [gcv(squares, n, float(each.sum()))], list(alive)
    while len(alive) > 1:
        # Without column j the squares rise by b_j^2 / (G^-1)_jj, where G = X'X is the Gram matrix.
        rises = solution[1:] ** 2 / np.diag(inverse)[1:]
        gone = 1 + int(np.argmin(rises))
        rise = float(rises[gone - 1])
        squares += rise if rise > least else 0.0
        # Block inversion: the inverse and the solution of the rest follow from those of all, without solving again.
        pivot = inverse[:, gone] / inverse[gone, gone]
        solution = np.delete(solution - pivot * solution[gone], gone)
        inverse = np.delete(np.delete(inverse - np.outer(pivot, inverse[gone]), gone, 0), gone, 1)
        del alive[gone]
        path.append(gcv(squares, n, float(each[alive].sum())))
        if path[-1] <= min(path):
            best = list(alive)
    return Pruned(best, path)
