"""The fastest time of every group for every number of cores: dynamic programming on Pareto fronts.

It serves layouts in which each solver occurs once. A front holds the pairs (cores, seconds) of which none is beaten by
another with as few cores and as little time. From the solvers up, the front of a group follows from those of its parts,
with K points on a front:

* side by side (``max``): the cores that a time T needs are the sum of what the parts need for T, O(K);
* on the same cores (``+``): times are added at each number of cores, O(K);
* in turn on own cores (``sum``): the (min,+) convolution, see `evenly.allocation.balancers.convolution`.

Going down again, a total is divided into the parts' cores. This is exact for curves of any shape: a part that more
cores would slow down leaves some idle.

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

#: Two fronts with fewer points together are merged before compiled loops would be loaded.
_SHORT = 5_000
_KERNELS = "evenly.allocation.balancers.kernels"


@dataclass(frozen=True)
class GroupFront:
    """A node of the layout.

    Parameters
    ----------
    front : Front
        Its best times; empty where no total up to the limit is enough.
    divide : callable
        Gives each solver's cores (n,) for totals (n,); no solver gets more than its time needs.
    """

    front: Front
    divide: Callable[[Ints], dict[str, Ints]]


def build(layout: Layout, curves: Mapping[str, SolverCurve], limit: int) -> GroupFront:
    """Return the front of `layout`, for all totals up to `limit`.

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
    """Return one solver's front: where more cores don't make it faster, it keeps the fewer."""
    counts = np.asarray(curve.counts, dtype=np.int64)
    counts = counts[: int(np.searchsorted(counts, limit, side="right"))]
    return Front.of(counts, curve.seconds(counts))


def _in_turn(parts: list[GroupFront], limit: int) -> GroupFront:
    """Return parts in turn on own cores: their fronts are convolved one by one, the shortest first."""
    # The result of a convolution is mostly irregular, so it is kept short for as long as possible.
    from evenly.allocation.balancers.convolution import convolve, divide

    parts = sorted(parts, key=lambda part: len(part.front.cores))
    sums = [parts[0].front]
    for part in parts[1:]:
        sums.append(convolve(sums[-1], part.front, limit))

    def divided(cores: Ints) -> dict[str, Ints]:
        # Backwards through the convolutions: the last part's share first, the rest among those before it.
        found = []
        for before, part in zip(sums[-2::-1], parts[:0:-1], strict=True):
            cores, own = divide(before, part.front, cores)
            found.append(part.divide(own))
        return _joined([*found, parts[0].divide(cores)])

    return GroupFront(sums[-1], divided)


def _merged_max(a: Front, b: Front, limit: int) -> Front:
    """Return the front of two parts side by side: for each time T of either one, the cores that both need for T."""
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    if _is_worth_compiled_loops(a, b):
        from evenly.allocation.balancers import kernels

        return Front(*kernels.merge_max(*a, *b, limit))
    # Both fronts' times, the longest first; a stable sort of two sorted rows merges them in O(K).
    times = np.concatenate([a.seconds, b.seconds])
    order = np.argsort(-times, kind="stable")
    times = times[order]
    # How many times of a, and of b, stand before each place: the first point of either that isn't slower.
    from_a = order < len(a.cores)
    i: Ints = np.cumsum(from_a) - from_a
    j = np.arange(len(times)) - i
    kept = (i < len(a.cores)) & (j < len(b.cores))
    kept[1:] &= times[1:] < times[:-1]
    cores = a.cores[i[kept]] + b.cores[j[kept]]
    within = int(np.searchsorted(cores, limit, side="right"))
    return Front(cores[:within], times[kept][:within])


def _merged_sum(a: Front, b: Front) -> Front:
    """Return the front of two parts one after the other on the same cores: at each count of either one, both times."""
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    if _is_worth_compiled_loops(a, b):
        from evenly.allocation.balancers import kernels

        return Front(*kernels.merge_plus(*a, *b))
    # Both fronts' counts, the fewest first, and the last point of either front that these are enough for.
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
