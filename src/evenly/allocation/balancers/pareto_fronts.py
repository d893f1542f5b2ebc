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

import sys
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.curves import Front, SolverCurve
from evenly.allocation.problem.layout import InTurn, Layout, Repeated, Shared, SideBySide, Solver

__all__ = ["GroupFront", "build", "solver_front"]

Ints = NDArray[np.int64]

#: Two fronts with at most so many points together are merged with NumPy: loading compiled loops takes longer.
_SHORT = 5_000
_KERNELS = "evenly.allocation.balancers.kernels"


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
        front = reduce(lambda a, b: _merged_max(a, b, limit), (part.front for part in parts))
        # Each part gets as many cores as it needs to be as fast as the slowest one can be.
        return GroupFront(
            front, lambda cores: _joined(part.divide(part.front.cores_for(front.at(cores))) for part in parts)
        )
    if isinstance(layout, Shared):
        front = reduce(_merged_sum, (part.front for part in parts))
        return GroupFront(front, lambda cores: _joined(part.divide(cores) for part in parts))
    if isinstance(layout, InTurn):
        return _in_turn(parts, limit)
    raise TypeError(f"unknown group {type(layout).__name__}")


def solver_front(curve: SolverCurve, limit: int) -> Front:
    """Return one solver's front up to `limit` cores; counts that are not faster than all smaller ones are left out."""
    counts = np.asarray(curve.counts, dtype=np.int64)
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


def _merged_max(a: Front, b: Front, limit: int) -> Front:
    """Return the front of two parts side by side: for each time T of either part, the sum of the cores for T."""
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    if _is_worth_compiled_loops(a, b):
        from evenly.allocation.balancers import kernels

        return Front(*kernels.merge_max(*a, *b, limit))
    # Both fronts' times, the longest first; a stable sort of two sorted rows merges them in O(K).
    times = np.concatenate([a.seconds, b.seconds])
    order = np.argsort(-times, kind="stable")
    times = times[order]
    # The numbers i of times of a, and j of times of b, before each place. They are the indices of the first points of
    # a and b that aren't slower than this time.
    from_a = order < len(a.cores)
    i: Ints = np.cumsum(from_a) - from_a
    j = np.arange(len(times)) - i
    kept = (i < len(a.cores)) & (j < len(b.cores))
    kept[1:] &= times[1:] < times[:-1]
    cores = a.cores[i[kept]] + b.cores[j[kept]]
    within = int(np.searchsorted(cores, limit, side="right"))
    return Front(cores[:within], times[kept][:within])


def _merged_sum(a: Front, b: Front) -> Front:
    """Return the front of two parts in turn on the same cores: at each count of either part, the sum of both times."""
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    if _is_worth_compiled_loops(a, b):
        from evenly.allocation.balancers import kernels

        return Front(*kernels.merge_plus(*a, *b))
    # The counts of both fronts in increasing order, and the indices i, j of each front's last point within each count.
    cores = np.concatenate([a.cores, b.cores])
    order = np.argsort(cores, kind="stable")
    cores = cores[order]
    i: Ints = np.cumsum(order < len(a.cores)) - 1
    j = np.arange(len(cores)) - i - 1
    kept = (i >= 0) & (j >= 0)
    kept[:-1] &= cores[1:] > cores[:-1]
    return Front.of(cores[kept], a.seconds[i[kept]] + b.seconds[j[kept]])


def _is_worth_compiled_loops(a: Front, b: Front) -> bool:
    """Tell whether two fronts are long, or the loops are loaded already; either way gives the same front."""
    return _KERNELS in sys.modules or len(a.cores) + len(b.cores) > _SHORT


def _joined(found: Iterable[dict[str, Ints]]) -> dict[str, Ints]:
    return {name: cores for part in found for name, cores in part.items()}
