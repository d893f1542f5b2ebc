"""Points of a sparse grid, the subspaces that they form, and their parents and children in the hierarchy.

A point stands for one basis function. It is a tuple of ``(parameter, level, position)``, one for each parameter in
which the function isn't constant, in the order of the parameters. The empty tuple is the constant function. Level l >=
2 of a numeric parameter has the positions 0 … 2^(l-1) - 1; level 1 is the constant. A categorical parameter has the
single level 0, whose positions are the labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.models.sparse_grid import kernels

__all__ = ["LABELS", "Basis", "Point", "Shape", "coordinates"]

Factor = tuple[int, int, int]
Point = tuple[Factor, ...]
#: Tuple of (parameter, level): it stands for all points with these levels, which differ in their positions only.
Subspace = tuple[tuple[int, int], ...]
#: The level that stands for the indicators of labels.
LABELS = 0


def coordinates(inputs: Inputs) -> Floats:
    """Return grid coordinates, (n, d): numbers scaled to [0, 1] over the training range, then label positions."""
    return np.ascontiguousarray(np.hstack([(inputs.numbers + 1) / 2, inputs.labels.astype(np.float64)]))


@dataclass(frozen=True)
class Shape:
    """Limits of a grid, which determine the points that it may contain.

    Attributes
    ----------
    numbers : int
        Number of numeric parameters; they come before the categorical ones.
    sizes : tuple of int
        Number of labels of each categorical parameter.
    interactions : int
        Largest number of parameters in which a function varies.
    deepest : int
        Highest level of a parameter.
    depth : int
        Largest sum over the numeric parameters of their levels above the first.
    """

    numbers: int
    sizes: tuple[int, ...]
    interactions: int = 3
    deepest: int = 10
    depth: int = 12

    def __post_init__(self) -> None:
        if self.deepest > 20 or self.depth > 20:
            raise ValueError("more than 2^20 cells of one subspace are not foreseen")

    @property
    def dimensions(self) -> int:
        """Number of parameters."""
        return self.numbers + len(self.sizes)

    def cells(self, dimension: int, level: int) -> int:
        """Number of one-dimensional functions that a parameter has at a level."""
        return self.sizes[dimension - self.numbers] if level == LABELS else 1 << (level - 1)

    def regular(self, level: int) -> list[Point]:
        """Return the regular sparse grid: points whose levels above the first sum up to less than `level`.

        A label counts as one level above the first.
        """
        return [
            tuple((k, level, place) for (k, level), place in zip(levels, places, strict=True))
            for levels in self._levels(level - 1, 0)
            if len(levels) <= self.interactions
            for places in itertools.product(*(range(self.cells(k, level)) for k, level in levels))
        ]

    def _levels(self, budget: int, first: int) -> Iterator[Subspace]:
        """Yield subspaces of the parameters from `first` on whose levels above the first sum up to at most `budget`."""
        yield ()
        for k in range(first, self.dimensions):
            steps = range(1, min(budget, self.deepest - 1) + 1) if k < self.numbers else range(1, min(budget, 1) + 1)
            for step in steps:
                level = step + 1 if k < self.numbers else LABELS
                for rest in self._levels(budget - step, k + 1):
                    yield ((k, level), *rest)

    def children(self, point: Point) -> Iterator[Point]:
        """Yield the children of a point: points one level finer in one parameter, within the limits."""
        room = self.depth - sum(level - 1 for _, level, _ in point if level != LABELS)
        # In a parameter in which the function varies: the two functions on the halves of its support.
        if room > 0:
            for n, (k, level, place) in enumerate(point):
                if level != LABELS and level < self.deepest:
                    for side in (0, 1):
                        yield (*point[:n], (k, level + 1, 2 * place + side), *point[n + 1 :])
        # In a parameter in which the function is constant: the two ramps, or the indicators of the labels.
        if len(point) < self.interactions:
            present = {k for k, _, _ in point}
            for k in range(0 if room > 0 else self.numbers, self.dimensions):
                if k not in present:
                    level = 2 if k < self.numbers else LABELS
                    at = sum(other < k for other in present)
                    for place in range(self.cells(k, level)):
                        yield (*point[:at], (k, level, place), *point[at:])

    @staticmethod
    def parents(point: Point) -> Iterator[Point]:
        """Yield the parents of a point: one level coarser in one of the parameters in which the function varies."""
        for n, (k, level, place) in enumerate(point):
            # The function with twice the support; for ramps and labels, the constant.
            above = () if level in (LABELS, 2) else ((k, level - 1, place // 2),)
            yield (*point[:n], *above, *point[n + 1 :])

    def relatives(self, point: Point) -> list[tuple[Point, tuple[Point, ...]]]:
        """Return the children of a point, each with its parents other than the point."""
        return [
            (child, tuple(parent for parent in self.parents(child) if parent != point))
            for child in self.children(point)
        ]


class Basis:
    """The basis functions of a grid's points, in the arrays that the kernels need.

    Parameters
    ----------
    shape : Shape
        Limits of the grid.
    points : sequence of points
        The points, in the order of the coefficients.
    """

    def __init__(self, shape: Shape, points: Sequence[Point]) -> None:
        self.shape, self.points = shape, list(points)
        found: dict[Subspace, list[int]] = {}
        for number, point in enumerate(self.points):
            found.setdefault(tuple((k, level) for k, level, _ in point), []).append(number)
        # The highest level of each parameter, (d,).
        self.levels = np.where(np.arange(shape.dimensions) < shape.numbers, 1, LABELS).astype(np.int64)
        # Arrays with one row per subspace: its parameters, their levels and strides (each n_subspaces × interactions),
        # the number of its parameters (orders), and the start of its cells in `table` (offsets). The table holds the
        # number of each cell's function, or -1 if the grid has none.
        dims, levels, strides = (np.zeros((len(found), max(shape.interactions, 1)), np.int64) for _ in range(3))
        orders, offsets = np.zeros(len(found), np.int64), np.zeros(len(found) + 1, np.int64)
        for s, subspace in enumerate(found):
            orders[s] = len(subspace)
            stride = 1
            for a, (k, level) in enumerate(subspace):
                self.levels[k] = max(self.levels[k], level)
                dims[s, a], levels[s, a], strides[s, a] = k, level, stride
                stride *= shape.cells(k, level)
            offsets[s + 1] = offsets[s] + stride
        table = np.full(int(offsets[-1]), -1, np.int32)
        for s, members in enumerate(found.values()):
            for number in members:
                place = sum(int(strides[s, a]) * place for a, (_, _, place) in enumerate(self.points[number]))
                table[int(offsets[s]) + place] = number
        #: The arrays that the kernels take.
        self.subspaces = dims, levels, strides, orders, offsets, table

    def __len__(self) -> int:
        return len(self.points)

    def evaluate(self, x: Floats, coefficients: Floats) -> Floats:
        """Return the sum of the basis functions times coefficients (N,) at x (n, d), (n,)."""
        return np.asarray(kernels.values(x, self.levels, self.subspaces, coefficients), dtype=np.float64)

    @property
    def roughness(self) -> Floats:
        """Ridge weight of each squared coefficient, (N,): 4 to the sum of the point's levels above the first.

        The hierarchical surpluses (coefficients) of a function with bounded mixed second derivatives decrease by a
        factor of 4 per level [Bungartz and Griebel, Sparse grids, Acta Numerica 2004].
        """
        steps = [sum(1 if level == LABELS else level - 1 for _, level, _ in point) for point in self.points]
        return np.asarray(4.0 ** np.array(steps, dtype=np.float64))

    def to_state(self) -> dict[str, Any]:
        """Return the points as compact arrays, which `from_state` reads."""
        lengths = np.array([len(p) for p in self.points], np.uint8)
        flat = np.array([f for p in self.points for f in p], np.int64).reshape(-1, 3)
        return {
            "lengths": lengths,
            "dimensions": flat[:, 0].astype(np.uint8),
            "levels": flat[:, 1].astype(np.uint8),
            "places": flat[:, 2].astype(np.int32),
        }

    @classmethod
    def from_state(cls, shape: Shape, state: Mapping[str, Any]) -> Basis:
        """Restore the state from the result of `to_state`."""
        columns = (np.asarray(state[name]).tolist() for name in ("dimensions", "levels", "places"))
        factors = iter(zip(*columns, strict=True))
        return cls(shape, [tuple(itertools.islice(factors, int(n))) for n in state["lengths"]])
