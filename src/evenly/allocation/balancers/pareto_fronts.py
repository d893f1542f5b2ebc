"""The best time of every group for every number of cores, by dynamic programming on Pareto fronts.

The method works for layouts in which each solver occurs once. A Pareto front holds the pairs (cores, seconds) that no
other pair dominates: no other pair has as few cores and as little time. The front of a group follows from the fronts of
its parts, from the solvers upwards. With K points on a front:

* side by side (``max``): the cores for a time T are the sum of the parts' cores for T, O(K);
* on the same cores (``+``): the parts' times are added at each number of cores, O(K);
* one after the other on own cores (``sum``): (min,+) convolution, see `evenly.allocation.balancers.convolution`.

Then, from the top downwards, a total is divided into the cores of the parts. The method is exact for curves of any
shape. Where more cores would make a part slower, it leaves them idle.

Source: R. Bellman, "Dynamic Programming" (1957), with the number of cores as the state of every group.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.curves import Front, SolverCurve
from evenly.allocation.problem.layout import InTurn, Layout, Repeated, Shared, SideBySide, Solver
from evenly.allocation.problem.limits import listed

__all__ = ["GroupFront", "build", "solver_front"]

Ints = NDArray[np.int64]

#: Fronts with more points than this together are merged by compiled loops, pair by pair, which are faster then
#: (`benchmarks/allocation_speed.py`). Shorter ones NumPy merges faster, all at once, and no loops are loaded.
_LONG = 100_000


@dataclass(frozen=True)
class GroupFront:
    """The Pareto front of a node of the layout, and the division of its cores.

    Parameters
    ----------
    front : Front
        Best times of the node; empty where no total up to the limit is enough to run.
    divide : callable
        Function from totals (n,) to each solver's cores (n,). No solver gets more cores than it needs for its time.
    """

    front: Front
    divide: Callable[[Ints], dict[str, Ints]]


def build(layout: Layout, curves: Mapping[str, SolverCurve], limit: int) -> GroupFront:
    """Return the front of `layout` for all totals up to `limit`, with the division of the cores.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> curves = {n: SolverCurve(n, lambda p, w=w: w / p, range(1, 7)) for n, w in (("a", 8.0), ("b", 4.0))}
    >>> tree = build(parse_layout("max(a, b)"), curves, 6)
    >>> tree.front.cores, tree.front.seconds
    (array([2, 3, 5, 6]), array([8.        , 4.        , 2.66666667, 2.        ]))
    >>> {name: int(cores[0]) for name, cores in tree.divide(np.array([6])).items()}
    {'a': 4, 'b': 2}
    """
    if isinstance(layout, Solver):
        own = solver_front(curves[layout.name], limit)
        return GroupFront(own, lambda cores: {layout.name: own.cores_within(cores)})
    parts = [build(part, curves, limit) for part in layout.children()]
    if isinstance(layout, Repeated):
        return GroupFront(Front(parts[0].front.cores, layout.count * parts[0].front.seconds), parts[0].divide)
    if len(parts) == 1:
        return parts[0]
    if isinstance(layout, SideBySide):
        front = _front_side_by_side([part.front for part in parts], limit)
        # Each part gets as many cores as it needs to be as fast as the slowest one can be.
        return GroupFront(
            front, lambda cores: _joined(part.divide(part.front.cores_for(front.at(cores))) for part in parts)
        )
    if isinstance(layout, Shared):
        front = _front_on_same_cores([part.front for part in parts])
        return GroupFront(front, lambda cores: _joined(part.divide(cores) for part in parts))
    if isinstance(layout, InTurn):
        return _in_turn(parts, limit)
    raise TypeError(f"unknown group {type(layout).__name__}")


def solver_front(curve: SolverCurve, limit: int) -> Front:
    """Return one solver's front up to `limit` cores; counts that are not faster than all smaller ones are left out."""
    counts = listed(curve.name, curve.counts)
    counts = counts[: int(np.searchsorted(counts, limit, side="right"))]
    return Front.of(counts, curve.seconds(counts))


def _in_turn(parts: list[GroupFront], limit: int) -> GroupFront:
    """Return the front of parts in turn on own cores: (min,+) convolution of the parts' fronts, shortest first."""
    # The result of a convolution is mostly not convex, which makes the next one slower, so it should stay short.
    from evenly.allocation.balancers.convolution import convolve, divide

    parts = sorted(parts, key=lambda part: len(part.front.cores))
    sums = [parts[0].front]
    for part in parts[1:]:
        sums.append(convolve(sums[-1], part.front, limit))

    def divided(cores: Ints) -> dict[str, Ints]:
        # Backtracking through the convolutions: first the last part's share; the rest is divided among the others.
        found = []
        for before, part in zip(sums[-2::-1], parts[:0:-1], strict=True):
            cores, own = divide(before, part.front, cores)
            found.append(part.divide(own))
        return _joined([*found, parts[0].divide(cores)])

    return GroupFront(sums[-1], divided)


def _front_side_by_side(fronts: list[Front], limit: int) -> Front:
    """Return the front of parts side by side: for each time T of any part, the sum of all parts' cores for T."""
    if not all(len(front.cores) for front in fronts):
        return Front(fronts[0].cores[:0], fronts[0].seconds[:0])
    if _are_long(fronts):
        from evenly.allocation.balancers.kernels import merge_max

        def merged(a: Front, b: Front) -> Front:
            return Front(*merge_max(a.cores, a.seconds, b.cores, b.seconds, limit)) if len(a.cores) else a

        return reduce(merged, fronts)
    cores, times = (np.concatenate(columns) for columns in zip(*fronts, strict=True))
    # To become faster than at one of its points, a part needs the next point's cores; past its last point it can't.
    more = np.empty_like(cores)
    more[:-1] = np.diff(cores)
    more[np.cumsum([len(front.cores) for front in fronts]) - 1] = limit + 1
    # From the longest time down; a stable sort merges the fronts' sorted rows in O(K). At each time, the parts have
    # left all points with longer times.
    order = np.argsort(-times, kind="stable")
    times, more = times[order], more[order]
    needed = sum(int(front.cores[0]) for front in fronts) + np.cumsum(more) - more
    kept = needed <= limit
    kept[1:] &= times[1:] < times[:-1]
    return Front(needed[kept], times[kept])


def _front_on_same_cores(fronts: list[Front]) -> Front:
    """Return the front of parts in turn on the same cores: at each count of any part, the sum of all times."""
    if not all(len(front.cores) for front in fronts):
        return Front(fronts[0].cores[:0], fronts[0].seconds[:0])
    if _are_long(fronts):
        from evenly.allocation.balancers.kernels import merge_plus

        return reduce(lambda a, b: Front(*merge_plus(*a, *b)), fronts)
    # A stable sort merges the fronts' sorted counts in O(K).
    cores = np.sort(np.concatenate([front.cores for front in fronts]), kind="stable")
    first = np.concatenate([[True], cores[1:] > cores[:-1]])
    cores = cores[first & (cores >= max(int(front.cores[0]) for front in fronts))]
    return Front.of(cores, reduce(np.add, (front.at(cores) for front in fronts)))


def _are_long(fronts: list[Front]) -> bool:
    return sum(len(front.cores) for front in fronts) > _LONG


def _joined(found: Iterable[dict[str, Ints]]) -> dict[str, Ints]:
    return {name: cores for part in found for name, cores in part.items()}
