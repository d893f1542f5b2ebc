"""Candidate trees of cuts by a beam search over the order of the prime factors and the axes of the cuts.

A state is a tree in which all boxes are cut down to the same level. Each round cuts the open boxes of every state once
more, in each allowed way. A rough prediction ranks the new trees, and only the best few are kept (beam search: B. T.
Lowerre, The HARPY speech recognition system, Carnegie Mellon University, 1976).
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass

import numpy as np

from evenly.decomposition.partitioning.multisection import AXIS_CHOICES, Method, Tree, cut, grow, prime_factors
from evenly.decomposition.partitioning.problem import CutProblem

__all__ = ["Effort", "beam", "effort_for"]

#: A tree, and the prime factors by which its open boxes must still be cut.
State = tuple[Tree, tuple[int, ...]]


@dataclass(frozen=True)
class Effort:
    """Search effort: how many trees, rounds and moves each stage of the search may use.

    Parameters
    ----------
    width : int
        Beam width: number of trees kept from one level to the next.
    finalists : int
        Number of trees of each method whose cuts are adjusted (`adjust_cuts`) and compared by the full prediction.
    rounds : int
        Rounds of cut adjustment.
    relief_candidates : int
        Number of best candidates after the adjustment on which `slow_rank_relief` runs.
    boxes : int
        Number of boxes that the relief of one candidate may evaluate.
    search_candidates : int
        Number of best candidates after the relief on which `local_search` runs.
    moves : int
        Most cuts that the local search of one candidate moves.
    """

    width: int
    finalists: int
    rounds: int
    relief_candidates: int
    boxes: int
    search_candidates: int
    moves: int


def effort_for(chunks: int) -> Effort:
    """Return the search effort for a number of chunks: about a second of search for few chunks, affordable for many."""
    for most, effort in (
        (64, Effort(24, 10, 8, 16, 8_000, 16, 60)),
        (512, Effort(12, 5, 8, 6, 20_000, 6, 16)),
        (2048, Effort(6, 3, 4, 2, 60_000, 0, 0)),
        (8192, Effort(3, 3, 3, 1, 100_000, 0, 0)),
    ):
        if chunks <= most:
            return effort
    return Effort(1, 1, 3, 1, 300_000, 0, 0)


def beam(problem: CutProblem, chunks: int, method: Method, effort: Effort) -> list[Tree]:
    """Return at most `effort.width` trees with `chunks` leaves by beam search, the best estimate first.

    With a width of 1 this is plain recursive multisection: the largest factor comes first, and a box is cut across its
    longest axis unless another axis balances much better. With the method "unequal", boxes are cut one by one, with any
    numbers of ranks on both sides.
    """
    expand: Callable[..., Iterator[tuple[bytes, State]]] = _one_box if method == "unequal" else _one_level
    states: list[State] = [(Tree.root(problem.cell.grid, chunks), tuple(prime_factors(chunks)))]
    while any(len(tree.open) for tree, _ in states):
        # Several orders of cuts often give the same boxes. A key identifies the boxes, so each set is estimated once.
        grown: dict[bytes, tuple[float, State]] = {}
        for state in states:
            for key, new in expand(problem, state, method, every=effort.width > 1):
                if key not in grown:
                    grown[key] = _estimate(new[0], problem), new
        states = [new for _, new in sorted(grown.values(), key=lambda pair: pair[0])[: effort.width]]
    return [tree for tree, _ in states]


def _one_level(problem: CutProblem, state: State, method: Method, *, every: bool) -> Iterator[tuple[bytes, State]]:
    """Yield the trees with one more level of cuts, and their keys.

    With `every`, each remaining factor and each axis is tried; else the largest factor and the longest axis only.
    """
    tree, factors = state
    choices = sorted(set(factors), reverse=True) if every else factors[:1]
    for factor in choices if method == "multisection" else (None,):
        at = 0 if factor is None else factors.index(factor)
        rest = () if factor is None else factors[:at] + factors[at + 1 :]
        for axis in AXIS_CHOICES if every else ("longest",):
            if axis == "longest" or not problem.cell.grid.thin["xyz".index(axis)]:
                new = grow(tree, problem.density, factor, axis)
                yield new.low.tobytes() + new.high.tobytes(), (new, rest)


def _one_box(problem: CutProblem, state: State, _: Method, *, every: bool) -> Iterator[tuple[bytes, State]]:  # noqa: ARG001
    """Yield the trees in which the open box with most ranks is cut in two, by all splits of its ranks and all axes."""
    tree, rest = state
    nodes = tree.open[[np.argmax(tree.ranks[tree.open])]]
    node = int(nodes[0])
    for left in range(1, int(tree.ranks[node])):
        for axis in np.flatnonzero(tree.high[node] - tree.low[node] > 1):
            new = cut(tree, problem.density, nodes, np.array([axis]), np.array([left]), np.array([2]))
            ends = new.left < 0
            key = new.low[ends].tobytes() + new.high[ends].tobytes() + new.ranks[ends].tobytes()
            yield key, (new, rest)


def _estimate(tree: Tree, problem: CutProblem) -> float:
    """Return a rough estimate of the slowest rank's seconds per step, with open boxes cut into nearly cubic chunks."""
    cell = problem.cell
    ends = np.flatnonzero(tree.left < 0)
    low, high, ranks = tree.low[ends], tree.high[ends], tree.ranks[ends]
    shape = (high - low).astype(np.float64)
    thick = ~np.array(cell.grid.thin)
    # Edge of a cubic chunk, in points; along each axis a box is cut into shape / side slabs.
    side = (np.prod(shape, axis=1) / ranks) ** (1 / thick.sum())
    faces = np.zeros(len(ends))
    for axis in np.flatnonzero(thick):
        n = cell.grid.shape[axis]
        area = np.prod(shape, axis=1) / shape[:, axis]
        joined = cell.periodic[axis] & (shape[:, axis] < n)
        outer = ((low[:, axis] > 0) | joined).astype(float) + ((high[:, axis] < n) | joined)
        faces += area * (outer + 2 * np.maximum(shape[:, axis] / side - 1, 0))
    border = problem.cost.border_seconds(cell, faces / ranks, np.full(len(ends), 2.0 * thick.sum()))
    return float((problem.density.work(low, high) / ranks + border).max())
