"""Points of a sparse grid, the subspaces that they form, and their neighbours in the hierarchy.

A point is a tuple of ``(parameter, level, position)``, one for each parameter in which its function isn't constant, in
order of the parameter; the empty tuple is the constant function. Numbers have levels from 2 on (level 1 is the
constant), level l with positions 0 … 2^(l-1) - 1; labels have the one level 0, whose positions are the labels.
"""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.sparse_grid import kernels

__all__ = ["LABELS", "Basis", "Point", "Shape", "coordinates"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Factor = tuple[int, int, int]
Point = tuple[Factor, ...]
#: The level that stands for the indicators of labels.
LABELS = 0


def coordinates(inputs: Inputs) -> Floats:
    """Return numbers in [0, 1] over the range learned on, then labels by position, (n, d)."""
    return np.ascontiguousarray(np.hstack([(inputs.numbers + 1) / 2, inputs.labels.astype(np.float64)]))


@dataclass(frozen=True)
class Shape:
    """What points there may be.

    Attributes
    ----------
    numbers : int
        How many parameters are numbers; they come first.
    sizes : tuple of int
        How many labels each of the others has.
    interactions : int
        In how many parameters a function varies at most.
    deepest : int
        The highest level of one parameter.
    depth : int
        The most that levels above the first may sum up to.
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
        """How many functions of one parameter a level has."""
        return self.sizes[dimension - self.numbers] if level == LABELS else 1 << (level - 1)

    def regular(self, level: int) -> list[Point]:
        """All points whose levels above the first sum up to less than `level`; labels count as one level."""
        return list(itertools.chain.from_iterable(self._of(levels) for levels in self._levels(level - 1, 0)))

    def _levels(self, budget: int, first: int) -> Iterator[tuple[tuple[int, int], ...]]:
        yield ()
        for k in range(first, self.dimensions):
            steps = range(1, min(budget, self.deepest - 1) + 1) if k < self.numbers else range(1, min(budget, 1) + 1)
            for step in steps:
                level = step + 1 if k < self.numbers else LABELS
                for rest in self._levels(budget - step, k + 1):
                    yield ((k, level), *rest)

    def _of(self, levels: tuple[tuple[int, int], ...]) -> Iterator[Point]:
        if len(levels) <= self.interactions:
            for places in itertools.product(*(range(self.cells(k, level)) for k, level in levels)):
                yield tuple((k, level, place) for (k, level), place in zip(levels, places, strict=True))

    def children(self, point: Point) -> Iterator[Point]:
        """Points one level below, in each parameter, that the limits allow."""
        room = self.depth - sum(level - 1 for _, level, _ in point if level != LABELS)
        if room > 0:
            for n, (k, level, place) in enumerate(point):
                if level != LABELS and level < self.deepest:
                    for side in (0, 1):
                        yield (*point[:n], (k, level + 1, 2 * place + side), *point[n + 1 :])
        if len(point) < self.interactions:
            present = {k for k, _, _ in point}
            for k in range(0 if room > 0 else self.numbers, self.dimensions):
                if k not in present:
                    yield from self._beside(point, k)

    def _beside(self, point: Point, k: int) -> Iterator[Point]:
        level = 2 if k < self.numbers else LABELS
        at = sum(other < k for other, _, _ in point)
        for place in range(self.cells(k, level)):
            yield (*point[:at], (k, level, place), *point[at:])

    @staticmethod
    def parents(point: Point) -> Iterator[Point]:
        """Points one level above, one for each parameter in which the function varies."""
        for n, (k, level, place) in enumerate(point):
            above = () if level in (LABELS, 2) else ((k, level - 1, place // 2),)
            yield (*point[:n], *above, *point[n + 1 :])


class Basis:
    """The functions of some points, ready for products.

    Parameters
    ----------
    shape : Shape
    points : sequence of points
        Their order is that of coefficients.
    """

    def __init__(self, shape: Shape, points: Sequence[Point]) -> None:
        self.shape, self.points = shape, list(points)
        found: dict[tuple[tuple[int, int], ...], list[int]] = {}
        for number, point in enumerate(self.points):
            found.setdefault(tuple((k, level) for k, level, _ in point), []).append(number)
        self._levels = self._highest(found)
        self._subspaces = self._index(found)

    def __len__(self) -> int:
        return len(self.points)

    def _highest(self, found: Iterable[tuple[tuple[int, int], ...]]) -> Ints:
        highest = np.where(np.arange(self.shape.dimensions) < self.shape.numbers, 1, LABELS)
        for levels in found:
            for k, level in levels:
                highest[k] = max(highest[k], level)
        return highest.astype(np.int64)

    def _index(self, found: Mapping[tuple[tuple[int, int], ...], list[int]]) -> tuple[Any, ...]:
        shape, width = self.shape, max(self.shape.interactions, 1)
        dims, levels, strides = (np.zeros((len(found), width), np.int64) for _ in range(3))
        orders, offsets = np.zeros(len(found), np.int64), np.zeros(len(found) + 1, np.int64)
        for s, of in enumerate(found):
            orders[s] = len(of)
            stride = 1
            for a, (k, level) in enumerate(of):
                dims[s, a], levels[s, a], strides[s, a] = k, level, stride
                stride *= shape.cells(k, level)
            offsets[s + 1] = offsets[s] + stride
        table = np.full(int(offsets[-1]), -1, np.int32)
        for s, members in enumerate(found.values()):
            for number in members:
                place = sum(int(strides[s, a]) * place for a, (_, _, place) in enumerate(self.points[number]))
                table[int(offsets[s]) + place] = number
        return dims, levels, strides, orders, offsets, table

    def rows(self, x: Floats) -> tuple[Ints, NDArray[np.int32], Floats]:
        """Return the matrix of function values at x (n, d) as compressed rows: starts (n + 1,), numbers, values."""
        starts = np.concatenate([[0], np.cumsum(kernels.row_lengths(x, self._levels, self._subspaces))])
        numbers, heights = kernels.entries(x, self._levels, self._subspaces, starts)
        return starts, numbers, heights

    def evaluate(self, x: Floats, coefficients: Floats) -> Floats:
        """Return values at x (n, d), (n,)."""
        return np.asarray(kernels.values(x, self._levels, self._subspaces, coefficients), dtype=np.float64)

    def coverage(self, x: Floats, residuals: Floats, weights: Floats) -> tuple[Floats, Floats, Floats, Ints]:
        """Return products with residuals, squares, squares times squared residuals, and rows met, each (N,)."""
        products, squares, errors, rows = kernels.coverage(
            x, self._levels, self._subspaces, residuals, weights, len(self.points)
        )
        return products, squares, errors, rows

    @property
    def roughness(self) -> Floats:
        """By how much ridge weighs each coefficient, (N,): surpluses of smooth functions fall with the level."""
        steps = [sum(1 if level == LABELS else level - 1 for _, level, _ in point) for point in self.points]
        return np.asarray(4.0 ** np.array(steps, dtype=np.float64))

    def to_state(self) -> dict[str, Any]:
        """Return points in few bytes."""
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
        """Restore what `to_state` returned."""
        columns = (np.asarray(state[name]).tolist() for name in ("dimensions", "levels", "places"))
        factors = iter(zip(*columns, strict=True))
        return cls(shape, [tuple(itertools.islice(factors, int(n))) for n in state["lengths"]])
