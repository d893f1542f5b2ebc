"""Adaptive refinement of a sparse grid: each round adds the points that help most.

A point may be added once all its parents are in the grid. Pflüger's criterion for regression refines points of large
surplus and coverage, and adds all children of a point [Pflüger, Spatially Adaptive Sparse Grids for High-Dimensional
Problems, 2010]. Here each child is judged by itself. So no points are spent on sides and parameters in which the
function is already smooth.

Two thirds of a round's points are added for their gain: the decrease of the penalised sum of squares with the child's
best surplus, ``(φ·r)² / (φ·φ + λ n d)``, with residuals r and the ridge weight d of the child. This is surplus times
coverage. One third is added for the squared residuals in the support, ``Σ φ² r²``. A narrow peak often averages out on
the supports of coarse functions. Their gain is then small, and gains alone would never lead to the peak.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.sparse_grid import kernels
from evenly.models.sparse_grid.points import Basis, Point, Shape

__all__ = ["Refinement"]

#: Function that returns a point's children, each with its other parents.
Relatives = Callable[[Point], list[tuple[Point, tuple[Point, ...]]]]
#: Share of a round's points that are added for the squared residuals in their support.
_BROAD = 1 / 3


class Refinement:
    """The points of a growing grid, and the candidate points for the next round.

    Parameters
    ----------
    shape : Shape
        Limits of the grid.
    points : iterable of points
        Points at the start; they must include all parents of each point.
    fewest : int
        Least number of rows in the support of a point that is added.
    relatives : callable, optional
        `Shape.relatives`, or a cached version of it, which several grids can share.
    """

    def __init__(
        self, shape: Shape, points: Iterable[Point], *, fewest: int = 3, relatives: Relatives | None = None
    ) -> None:
        self._shape, self._fewest, self._relatives = shape, fewest, relatives or shape.relatives
        self.points: list[Point] = []
        self._present: set[Point] = set()
        #: Candidate points. A dict keeps the order of insertion, so that the same rows give the same grid.
        self._waiting: dict[Point, None] = {}
        self._enter(points)

    def _enter(self, points: Iterable[Point]) -> None:
        """Add points to the grid; children whose parents are now all in the grid become candidates."""
        arrived = list(points)
        self.points += arrived
        self._present.update(arrived)
        for point in arrived:
            self._waiting.pop(point, None)
        present = self._present
        for point in arrived:
            for child, others in self._relatives(point):
                if child not in present and all(parent in present for parent in others):
                    self._waiting[child] = None

    def grow(self, count: int, x: Floats, residuals: Floats, weights: Floats, ridge: float) -> int:
        """Add the best candidate points, at most `count`; return the number of added points.

        Parameters
        ----------
        count : int
            Largest number of points to add.
        x : array (n, d)
            Coordinates of the rows.
        residuals, weights : array (n,)
            Residuals of the present fit, and weights of the rows.
        ridge : float
            Weight of the ridge penalty, λ.
        """
        if not self._waiting:
            return 0
        basis = Basis(self._shape, list(self._waiting))
        products, squares, errors, rows = kernels.coverage(
            x, basis.levels, basis.subspaces, residuals, weights, len(basis)
        )
        for number in np.flatnonzero(rows < self._fewest):
            # The supports of its children are smaller still, so the point can be dropped for good.
            del self._waiting[basis.points[number]]
        # Gain of each candidate alone, with its best surplus: (φ·r)² / (φ·φ + λ n d).
        gains = products**2 / np.maximum(squares + ridge * weights.sum() * basis.roughness, np.finfo(float).tiny)
        gains[rows < self._fewest] = 0.0
        # Two thirds of the points are those of the largest gains.
        best = np.argsort(-gains, kind="stable")[: math.ceil((1 - _BROAD) * count)]
        # The others are those of the largest squared residuals in their supports.
        errors[rows < self._fewest] = 0.0
        errors[best] = 0.0
        broad = np.argsort(-errors, kind="stable")[: count - len(best)]
        chosen = [basis.points[n] for n in (*best[gains[best] > 0], *broad[errors[broad] > 0])]
        self._enter(chosen)
        return len(chosen)
