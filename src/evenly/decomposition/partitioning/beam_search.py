"""Which trees are worth a closer look: a beam over the order of prime factors and the axes that levels are cut across.

A state is a tree cut to some level for all ranks at once; the best few states by a rough prediction go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.multisection import AXIS_CHOICES, Method, Tree, grow, prime_factors, split

__all__ = ["Effort", "beam", "effort_for"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Effort:
    """How much is tried.

    Parameters
    ----------
    width : int
        Trees that go on from one level to the next.
    finalists : int
        Trees of each method that are recut and compared by the whole prediction.
    rounds : int
        Rounds of recutting.
    relieved : int
        The best of those, whose slow ranks are relieved.
    boxes : int
        Boxes that are evaluated for that, for each.
    refined : int
        The best of these again, of which single cuts are moved at last.
    moves : int
        So many cuts.
    """

    width: int
    finalists: int
    rounds: int
    relieved: int
    boxes: int
    refined: int
    moves: int


def effort_for(chunks: int) -> Effort:
    """Return what fits into about a second for few chunks and stays within reach for many."""
    for most, effort in (
        (64, Effort(24, 10, 8, 16, 8_000, 16, 60)),
        (512, Effort(12, 5, 8, 6, 20_000, 6, 16)),
        (2048, Effort(6, 3, 4, 2, 60_000, 0, 0)),
        (8192, Effort(3, 3, 3, 1, 100_000, 0, 0)),
    ):
        if chunks <= most:
            return effort
    return Effort(1, 1, 3, 1, 300_000, 0, 0)


def beam(cell: Cell, cost: CostModel, density: Density, chunks: int, method: Method, effort: Effort) -> list[Tree]:
    """Return the most promising trees with so many leaves, best first, `effort.width` at most.

    With a width of 1 it is the plain algorithm: largest factor first, across the longest axis unless another balances
    much better. With the method "unequal", boxes are cut one by one, for any numbers of ranks on both sides.
    """
    if method == "unequal":
        return _unequal(cell, cost, density, chunks, effort)
    states = [(Tree.root(cell.grid, chunks), tuple(prime_factors(chunks)))]
    while any(len(tree.open) for tree, _ in states):
        grown: dict[bytes, tuple[float, Tree, tuple[int, ...]]] = {}
        for tree, factors in states:
            for factor, rest in _next(factors, method, every=effort.width > 1):
                for axis in AXIS_CHOICES if effort.width > 1 else ("longest",):
                    if axis == "longest" or not cell.grid.thin["xyz".index(axis)]:
                        new = grow(tree, density, factor, axis)
                        key = new.low.tobytes() + new.high.tobytes()
                        if key not in grown:
                            grown[key] = _estimate(new, cell, cost, density), new, rest
        best = sorted(grown.values(), key=lambda state: state[0])[: effort.width]
        states = [(tree, rest) for _, tree, rest in best]
    return [tree for tree, _ in states]


def _unequal(cell: Cell, cost: CostModel, density: Density, chunks: int, effort: Effort) -> list[Tree]:
    states = [Tree.root(cell.grid, chunks)]
    while any(len(tree.open) for tree in states):
        grown: dict[bytes, tuple[float, Tree]] = {}
        for tree in states:
            node = int(tree.open[np.argmax(tree.ranks[tree.open])])
            for left in range(1, int(tree.ranks[node])):
                for axis in np.flatnonzero(tree.high[node] - tree.low[node] > 1):
                    new = split(tree, density, node, left, int(axis))
                    ends = new.left < 0
                    key = new.low[ends].tobytes() + new.high[ends].tobytes() + new.ranks[ends].tobytes()
                    if key not in grown:
                        grown[key] = _estimate(new, cell, cost, density), new
        states = [tree for _, tree in sorted(grown.values(), key=lambda state: state[0])[: effort.width]]
    return states


def _next(factors: tuple[int, ...], method: Method, *, every: bool) -> Iterator[tuple[int | None, tuple[int, ...]]]:
    """Yield the factors that may come next, with those that are then left."""
    if method == "bisection":
        yield None, ()
        return
    for factor in sorted(set(factors), reverse=True) if every else factors[:1]:
        rest = list(factors)
        rest.remove(factor)
        yield factor, tuple(rest)


def _estimate(tree: Tree, cell: Cell, cost: CostModel, density: Density) -> float:
    """Return about how many seconds the slowest rank will take when open boxes are cut into nearly cubic chunks."""
    ends = np.flatnonzero(tree.left < 0)
    low, high, ranks = tree.low[ends], tree.high[ends], tree.ranks[ends]
    shape = (high - low).astype(np.float64)
    thick = ~np.array(cell.grid.thin)
    side = (np.prod(shape, axis=1) / ranks) ** (1 / thick.sum())
    faces = np.zeros(len(ends))
    for axis in np.flatnonzero(thick):
        n = cell.grid.shape[axis]
        area = np.prod(shape, axis=1) / shape[:, axis]
        joined = cell.periodic[axis] & (shape[:, axis] < n)
        outer = ((low[:, axis] > 0) | joined).astype(float) + ((high[:, axis] < n) | joined)
        faces += area * (outer + 2 * np.maximum(shape[:, axis] / side - 1, 0))
    border = cost.border_seconds(cell, faces / ranks, np.full(len(ends), 2.0 * thick.sum()))
    return float((density.work(low, high) / ranks + border).max())
