"""The backward pass of MARS: delete terms one by one, and keep the set of the least generalised cross-validation (GCV).

Algorithm 3 of Friedman, *Multivariate Adaptive Regression Splines*, Annals of Statistics 19, 1991.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats

__all__ = ["Pruned", "costs", "gcv", "least_squares", "prune"]


def gcv(squares: float, n: float, effective: float) -> float:
    """Return the generalised cross-validation (GCV) ``(RSS / n) / (1 - C / n)²``; infinite if C >= n.

    Parameters
    ----------
    squares : float
        RSS, the weighted sum of squared residuals; weights have the mean 1.
    n : float
        Number of runs.
    effective : float
        C, the effective number of coefficients [Friedman 1991, equation 30].
    """
    return float("inf") if effective >= n else squares / n / (1 - effective / n) ** 2


def costs(columns: int, penalty: float) -> Floats:
    """Return the effective number of coefficients of each column, (columns,).

    The constant counts as 1; each other column counts as 1 plus half a knot, since a knot adds a pair of columns. The
    sum over M columns is ``C = M + penalty · (M - 1) / 2`` [Friedman 1991, equation 32].
    """
    return np.concatenate([[1.0], np.full(columns - 1, 1 + penalty / 2)])


@dataclass(frozen=True)
class Pruned:
    """Numbers of the kept columns in ascending order, and the GCV of each set on the path from all columns to one."""

    kept: list[int]
    path: list[float]


def least_squares(columns: Floats, y: Floats) -> Floats:
    """Return least-squares coefficients (M,) of columns (n, M) for y (n,).

    If columns are linearly dependent, this is the solution of least norm for columns scaled to unit length.
    """
    lengths = np.linalg.norm(columns, axis=0)
    lengths[lengths == 0] = 1.0
    return np.asarray(np.linalg.lstsq(columns / lengths, y, rcond=1e-10)[0] / lengths)


def prune(columns: Floats, y: Floats, each: Floats) -> Pruned:
    """Delete columns one by one, each time the one that raises the RSS least; return the set of the smallest GCV.

    Parameters
    ----------
    columns : array (n, M)
        Columns times the square roots of the weights. The first is the constant's and is never deleted.
    y : array (n,)
        Response times the square roots of the weights.
    each : array (M,)
        Effective number of coefficients of each column.
    """
    n = len(y)
    lengths = np.linalg.norm(columns, axis=0)
    scaled = columns / np.where(lengths > 0, lengths, 1.0)
    # The Gram matrix of linearly dependent columns is singular, apart from rounding errors. A tiny ridge makes it
    # invertible, and dependent columns are deleted first.
    inverse = np.linalg.inv(scaled.T @ scaled + 1e-12 * np.eye(scaled.shape[1]))
    solution = inverse @ (scaled.T @ y)
    alive = list(range(scaled.shape[1]))
    # RSS below this are rounding errors and count as equal, so the smallest of such sets is kept.
    rounding = 1e-16 * float(y @ y)
    squares = max(float(np.sum((y - scaled @ solution) ** 2)), rounding)
    # The path has one set of columns of each size. At equal GCV, the smaller set is kept.
    path, best = [gcv(squares, n, float(each.sum()))], list(alive)
    while len(alive) > 1:
        # Without column j, the RSS rises by b_j^2 / (G^-1)_jj, where G = X'X is the Gram matrix.
        rises = solution[1:] ** 2 / np.diag(inverse)[1:]
        gone = 1 + int(np.argmin(rises))
        rise = float(rises[gone - 1])
        squares += rise if rise > rounding else 0.0
        # Block inversion: update the inverse and the solution for the remaining columns without solving again.
        pivot = inverse[:, gone] / inverse[gone, gone]
        solution = np.delete(solution - pivot * solution[gone], gone)
        inverse = np.delete(np.delete(inverse - np.outer(pivot, inverse[gone]), gone, 0), gone, 1)
        del alive[gone]
        path.append(gcv(squares, n, float(each[alive].sum())))
        if path[-1] <= min(path):
            best = list(alive)
    return Pruned(best, path)
