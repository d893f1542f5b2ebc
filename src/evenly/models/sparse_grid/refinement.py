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
from collections.abc import Iterable

import numpy as np
from numpy.typing import NDArray

from evenly.models.sparse_grid.points import Basis, Point, Shape

__all__ = ["Family", "Refinement"]

Floats = NDArray[np.float64]
#: Share of the points of a round that enter for the errors in their support.
_BROAD = 1 / 3


class Family:
    """Children of points, each with its parents; kept, since grids grown on other rows ask for the same."""

    def __init__(self, shape: Shape) -> None:
        self.shape = shape
        self._known: dict[Point, list[tuple[Point, tuple[Point, ...]]]] = {}

    def children(self, point: Point) -> list[tuple[Point, tuple[Point, ...]]]:
        """Return children, and the parents of each but `point` itself."""
        found = self._known.get(point)
        if found is None:
            found = self._known[point] = [
                (child, tuple(parent for parent in self.shape.parents(child) if parent != point))
                for child in self.shape.children(point)
            ]
        return found


class Refinement:
    """Points that are in a grid, and those that may enter next.

    Parameters
    ----------
    family : Family
        Of the grid's shape.
    points : iterable of points
        With each, all points above it.
    fewest : int
        How many rows the support of a point that enters must hold.
    """

    def __init__(self, family: Family, points: Iterable[Point], *, fewest: int = 3) -> None:
        self._family, self._fewest = family, fewest
        self.points: list[Point] = []
        self._present: set[Point] = set()
        #: A dict, since its order is that of insertion: the same rows must give the same grid.
        self._waiting: dict[Point, None] = {}
        self._enter(points)

    def _enter(self, points: Iterable[Point]) -> None:
        arrived = list(points)
        self.points += arrived
        self._present.update(arrived)
        for point in arrived:
            self._waiting.pop(point, None)
        present = self._present
        for point in arrived:
            for child, others in self._family.children(point):
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
        basis = Basis(self._family.shape, list(self._waiting))
        products, squares, errors, rows = basis.coverage(x, residuals, weights)
        for number in np.flatnonzero(rows < self._fewest):
            # Supports of points below are smaller still: they never come back.
            del self._waiting[basis.points[number]]
        gains = products**2 / np.maximum(squares + ridge * weights.sum() * basis.roughness, np.finfo(float).tiny)
        gains[rows < self._fewest] = 0.0
        best = np.argsort(-gains, kind="stable")[: math.ceil((1 - _BROAD) * count)]
        errors[rows < self._fewest] = 0.0
        errors[best] = 0.0
        broad = np.argsort(-errors, kind="stable")[: count - len(best)]
        chosen = [basis.points[n] for n in (*best[gains[best] > 0], *broad[errors[broad] > 0])]
        self._enter(chosen)
        return len(chosen)
