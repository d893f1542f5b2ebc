"""The best time of every group for every number of cores at once, when each solver occurs once.

From the solvers up, each group's front (best time per total cores) follows from its parts' fronts:

* side by side (``max``): merged in O(K), since the cores needed for a time T are the sum of what the parts need;
* on the same cores (``+``): added point by point in O(K);
* in turn on own cores (``sum``): the (min,+) convolution, see `evenly.allocation.balancers.convolution`.

Going down again, a total is divided into the parts' cores. Exact for arbitrary curves: a part whose time rises with
its cores leaves some idle.
"""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from functools import reduce

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers import kernels
from evenly.allocation.balancers.convolution import convolve, divide
from evenly.allocation.problem.curves import Front, SolverCurve
from evenly.allocation.problem.layout import InTurn, Layout, Repeated, Shared, SideBySide, Solver

__all__ = ["GroupFront", "build", "solver_front"]

Ints = NDArray[np.int64]


class GroupFront(ABC):
    """A node of the layout with its front; `front` is empty where no total up to the limit is enough."""

    front: Front

    @abstractmethod
    def divide(self, cores: Ints) -> dict[str, Ints]:
        """Return each solver's cores (n,) for totals `cores` (n,); no solver gets more than its time needs."""


def build(layout: Layout, curves: Mapping[str, SolverCurve], limit: int) -> GroupFront:
    """Return the fronts of `layout` and all groups below it, for all totals up to `limit`.

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
        return _SolverFront(layout.name, solver_front(curves[layout.name], limit))
    parts = [build(part, curves, limit) for part in layout.children()]
    if isinstance(layout, Repeated):
        return _RepeatedFront(parts[0], layout.count)
    if len(parts) == 1:
        return parts[0]
    if isinstance(layout, SideBySide):
        return _SideBySideFront(parts, limit)
    if isinstance(layout, Shared):
        return _SharedFront(parts)
    if isinstance(layout, InTurn):
        return _InTurnFront(parts, limit)
    raise TypeError(f"unknown group {type(layout).__name__}")


def solver_front(curve: SolverCurve, limit: int) -> Front:
    """Return one solver's front: where more cores don't make it faster, it keeps the fewer."""
    counts = np.asarray(curve.counts, dtype=np.int64)
    counts = counts[: int(np.searchsorted(counts, limit, side="right"))]
    seconds = curve.seconds(counts)
    kept = kernels.prefix_minimum(seconds)
    return Front(counts, seconds) if len(kept) == len(counts) else Front(counts[kept], seconds[kept])


class _SolverFront(GroupFront):
    def __init__(self, name: str, front: Front) -> None:
        self.name = name
        self.front = front

    def divide(self, cores: Ints) -> dict[str, Ints]:
        return {self.name: self.front.cores[np.searchsorted(self.front.cores, cores, side="right") - 1]}


class _RepeatedFront(GroupFront):
    def __init__(self, part: GroupFront, count: float) -> None:
        self.part = part
        self.front = Front(part.front.cores, count * part.front.seconds)

    def divide(self, cores: Ints) -> dict[str, Ints]:
        return self.part.divide(cores)


class _SideBySideFront(GroupFront):
    def __init__(self, parts: list[GroupFront], limit: int) -> None:
        self.parts = parts
        self.front = reduce(lambda a, b: _merge_max(a, b, limit), (part.front for part in parts))

    def divide(self, cores: Ints) -> dict[str, Ints]:
        seconds = self.front.at(cores)
        return _joined([part.divide(part.front.cores_for(seconds)) for part in self.parts])


class _SharedFront(GroupFront):
    def __init__(self, parts: list[GroupFront]) -> None:
        self.parts = parts
        self.front = reduce(_merge_plus, (part.front for part in parts))

    def divide(self, cores: Ints) -> dict[str, Ints]:
        return _joined([part.divide(cores) for part in self.parts])


class _InTurnFront(GroupFront):
    """Parts are convolved one by one, the irregular ones first, while curves are short."""

    def __init__(self, parts: list[GroupFront], limit: int) -> None:
        self.parts = sorted(parts, key=lambda part: len(part.front.cores))
        self.limit = limit
        self.sums = [self.parts[0].front]
        for part in self.parts[1:]:
            self.sums.append(convolve(self.sums[-1], part.front, limit))
        self.front = self.sums[-1]

    def divide(self, cores: Ints) -> dict[str, Ints]:
        found = []
        for before, part in zip(self.sums[-2::-1], self.parts[:0:-1], strict=True):
            cores, own = divide(before, part.front, cores)
            found.append(part.divide(own))
        return _joined([*found, self.parts[0].divide(cores)])


def _merge_max(a: Front, b: Front, limit: int) -> Front:
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    return Front(*kernels.merge_max(a.cores, a.seconds, b.cores, b.seconds, limit))


def _merge_plus(a: Front, b: Front) -> Front:
    if not len(a.cores) or not len(b.cores):
        return Front(a.cores[:0], a.seconds[:0])
    return Front(*kernels.merge_plus(a.cores, a.seconds, b.cores, b.seconds))


def _joined(found: list[dict[str, Ints]]) -> dict[str, Ints]:
    return {name: cores for part in found for name, cores in part.items()}
