"""Which trees are worth a closer look: a beam over the order of prime factors and the axes that levels are cut across.

A state is a tree cut to some level for all ranks at once; the best few states by a rough prediction go on.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.balance.cost.model import CostModel
from evenly.balance.cutting.cell import Cell
from evenly.balance.cutting.density import Density
from evenly.balance.cutting.growth import AXIS_CHOICES, Method, Tree, grow, prime_factors

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
        Trees that are recut and compared by the whole prediction.
    rounds : int
        Rounds of recutting.
    moves : int
        Single cuts that are moved at last.
    """

    width: int
    finalists: int
    rounds: int
    moves: int


def effort_for(chunks: int) -> Effort:
    """Return what fits into about a second for few chunks and stays within reach for many."""
    for most, effort in (
        (64, Effort(24, 10, 8, 60)),
        (512, Effort(12, 5, 8, 16)),
        (2048, Effort(6, 3, 8, 0)),
        (8192, Effort(3, 3, 8, 0)),
    ):
        if chunks <= most:
            return effort
    return Effort(1, 1, 6, 0)


def beam(cell: Cell, cost: CostModel, density: Density, chunks: int, method: Method, effort: Effort) -> list[Tree]:
    """Return the most promising trees with so many leaves, best first, `effort.width` at most.

    With a width of 1 it is the plain algorithm: largest factor first, across the longest axis unless another balances
    much better.
    """
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
