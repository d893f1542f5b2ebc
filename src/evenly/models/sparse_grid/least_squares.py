"""Ridge regression on a sparse grid by conjugate gradients on the normal equations, preconditioned by their diagonal.

Solves ``(B^T W B / n + λ D) α = B^T W y / n``. B holds the basis functions' values at the rows, and is stored sparsely.
"""

from __future__ import annotations

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.sparse_grid import kernels
from evenly.models.sparse_grid.points import Basis

__all__ = ["Equations"]


class Equations:
    """The normal equations of ridge regression with a basis of N functions on n rows.

    Parameters
    ----------
    basis : Basis
        The basis functions.
    x : array (n, d)
        Coordinates of the rows.
    weights : array (n,)
        Weights of the rows.
    """

    def __init__(self, basis: Basis, x: Floats, weights: Floats) -> None:
        self._starts, self._numbers, self._heights = kernels.entries(x, basis.levels, basis.subspaces)
        self._weights = weights / weights.sum()
        self._roughness = basis.roughness
        # The row of each entry of B, and the diagonal of B^T W B / n for the preconditioner.
        self._owners = np.repeat(np.arange(len(x)), np.diff(self._starts))
        self._diagonal = self._sums(self._weights, self._heights**2)

    def _sums(self, of_rows: Floats, heights: Floats) -> Floats:
        """Return, for each basis function, the sum over rows of `of_rows` (n,) times the entries `heights`, (N,)."""
        found = np.bincount(self._numbers, of_rows[self._owners] * heights, len(self._roughness))
        return np.asarray(found, dtype=np.float64)

    def fitted(self, coefficients: Floats) -> Floats:
        """Return the fitted values at the rows, (n,)."""
        shares = self._heights * coefficients[self._numbers]
        return np.asarray(np.bincount(self._owners, shares, len(self._weights)), dtype=np.float64)

    def apply(self, direction: Floats, ridge: float) -> Floats:
        """Return the matrix of the equations times a vector (N,), (N,)."""
        result = np.empty(len(direction))
        kernels.times(self._starts, self._numbers, self._heights, direction, self._weights, result)
        return np.asarray(result + ridge * self._roughness * direction)

    def solve(
        self, y: Floats, ridge: float, start: Floats | None = None, *, tolerance: float = 1e-6, most: int = 1000
    ) -> Floats:
        """Return coefficients (N,) for values y (n,): iterate from `start` until the residual is at most `tolerance`.

        The norm is weighted by the inverse diagonal, and relative to the norm of the right-hand side. At most `most`
        iterations are made.
        """
        # Preconditioned conjugate gradients [Saad, Iterative Methods for Sparse Linear Systems, 2003, algorithm 9.1]:
        # `ahead` is the preconditioned residual z = M^-1 r, `power` is r·z, `image` is A p.
        right = self._sums(self._weights * y, self._heights)
        scale = 1 / np.maximum(self._diagonal + ridge * self._roughness, np.finfo(float).tiny)
        size = float(np.sqrt(right @ (scale * right)))
        found = np.zeros(len(right)) if start is None else start.copy()
        residual = right - self.apply(found, ridge)
        ahead = scale * residual
        direction, power = ahead, float(residual @ ahead)
        for _ in range(most):
            if size == 0 or float(np.sqrt(power)) / size <= tolerance:
                break
            # Step to the minimum along the direction; the next direction is conjugate to all previous ones.
            image = self.apply(direction, ridge)
            length = power / float(direction @ image)
            found = found + length * direction
            residual = residual - length * image
            ahead = scale * residual
            power, before = float(residual @ ahead), power
            direction = ahead + (power / before) * direction
        return found
