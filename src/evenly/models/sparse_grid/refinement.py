"""Spatial adaptivity: a grid that gets new points where they help most, round by round.

A point may enter once all points above it in the hierarchy are there. Pflüger's criterion for regression refines
where surplus and coverage are large, and takes all children of the point; here each child is judged by itself, so no
points are spent on sides and parameters in which the function is smooth already [cf. Pflüger, Spatially Adaptive Sparse
Grids for High-Dimensional Problems, 2010, section 4.3]. Two thirds of a round's points enter for what they gain at
once: by how much the penalised sum of squares falls with the child's best surplus, ``(φ·r)² / (φ·φ + λ n d)``, with
residuals r and the ridge's weight d: surplus times coverage. One third enters for the squared residuals in the
support, ``Σ φ² r²``: a peak is often hidden from coarse functions, on whose supports it averages out, and could never
be reached through points that gain at once.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable

import numpy as np
from numpy.typing import NDArray

from evenly.models.sparse_grid import kernels
from evenly.models.sparse_grid.points import Basis, Point, Shape

__all__ = ["Refinement"]

Floats = NDArray[np.float64]
#: A point's children, and the other parents of each.
Relatives = Callable[[Point], list[tuple[Point, tuple[Point, ...]]]]
#: Share of the points of a round that enter for the errors in their support.
_BROAD = 1 / 3


class Refinement:
    """Points that are in a grid, and those that may enter next.

    Parameters
    ----------
    shape : Shape
    points : iterable of points
        With each, all points above it.
    fewest : int
        How many rows the support of a point that enters must hold.
    relatives : callable, optional
        `Shape.relatives`, cached where grids grown on other rows ask for the same.
    """

    def __init__(
        self, shape: Shape, points: Iterable[Point], *, fewest: int = 3, relatives: Relatives | None = None
    ) -> None:
        self._shape, self._fewest, self._relatives = shape, fewest, relatives or shape.relatives
        self.points: list[Point] = []
        self._present: set[Point] = set()
        #: A dict, since its order is that of insertion: the same rows must give the same grid.
        self._waiting: dict[Point, None] = {}
        self._enter(points)

    def _enter(self, points: Iterable[Point]) -> None:
        """Take in points; children that now have all their parents wait to enter."""
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
        """Let the best `count` points enter; return how many did.

        Parameters
        ----------
        count : int
        x : array (n, d)
        residuals, weights : array (n,)
        ridge : float
        """
        if not self._waiting:
            return 0
        basis = Basis(self._shape, list(self._waiting))
        products, squares, errors, rows = kernels.coverage(
            x, basis.levels, basis.subspaces, residuals, weights, len(basis)
        )
        for number in np.flatnonzero(rows < self._fewest):
            # Supports of points below are smaller still: they never come back.
            del self._waiting[basis.points[number]]
        # By how much the penalised squares fall with the best surplus of each child alone: (φ·r)² / (φ·φ + λ n d).
        gains = products**2 / np.maximum(squares + ridge * weights.sum() * basis.roughness, np.finfo(float).tiny)
        gains[rows < self._fewest] = 0.0
        # Most of the points for gains, the rest for errors.
        best = np.argsort(-gains, kind="stable")[: math.ceil((1 - _BROAD) * count)]
        # The rest enters for the squared residuals in the support.
        errors[rows < self._fewest] = 0.0
        errors[best] = 0.0
        broad = np.argsort(-errors, kind="stable")[: count - len(best)]
        chosen = [basis.points[n] for n in (*best[gains[best] > 0], *broad[errors[broad] > 0])]
        self._enter(chosen)
        return len(chosen)
