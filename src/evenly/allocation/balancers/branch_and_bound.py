"""The fastest assignment where solvers occur several times, as in general coupling graphs, by branch and bound.

A solver that is coupled to several others has one set of cores, so the groups can't be optimised one by one. Instead:

1. A linear program over the curves' convex hulls gives a price per core and a weight of each solver's time
   (`evenly.allocation.balancers.relaxation`).
2. With these multipliers, a sum over solvers is a lower bound on every assignment's time (Lagrangian relaxation). The
   gap is the difference between the time of a known good assignment and this bound. A count that alone raises the
   bound by more than the gap can't be part of the best assignment.
3. The remaining counts, few for smooth curves, are searched depth first with the same bounds
   (`evenly.allocation.balancers.depth_first`).

The result is exact for curves of any shape: the linear program only affects the number of counts to search.

Source: M. L. Fisher, "The Lagrangian relaxation method for solving integer programming problems", Management Science 27
(1981) 1-18.
"""

from __future__ import annotations

from collections.abc import Iterator
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers import depth_first
from evenly.allocation.balancers.pareto_fronts import solver_front
from evenly.allocation.balancers.relaxation import bound_weights
from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.core_usage import Footprint
from evenly.allocation.problem.curves import Front
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver
from evenly.errors import InfeasibleError

__all__ = ["solve"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]

_SLACK = 1e-9


class _Instance(NamedTuple):
    """A problem as arrays: the solvers' fronts, and postfix programs for the step's time and the cores in use."""

    names: tuple[str, ...]
    fronts: list[Front]
    time: depth_first.Program
    footprint: depth_first.Program
    limit: int

    def seconds(self, places: Ints) -> float:
        """Return the step's time for positions in the fronts (n_solvers,)."""
        times = np.array([front.seconds[k] for front, k in zip(self.fronts, places, strict=True)])
        return float(depth_first.evaluate(*self.time, times))

    def cores(self, places: Ints) -> float:
        """Return the cores used in total."""
        cores = np.array([float(front.cores[k]) for front, k in zip(self.fronts, places, strict=True)])
        return float(depth_first.evaluate(*self.footprint, cores))


def solve(problem: Problem) -> dict[str, int]:
    """Return the fastest assignment; of equally fast ones, one with the fewest cores in total.

    Raises
    ------
    InfeasibleError
        If no assignment has a finite time.

    Examples
    --------
    >>> from evenly.allocation.problem.curves import SolverCurve
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> curves = {n: SolverCurve(n, lambda p, w=w: w / p, range(1, 61)) for n, w in zip("abc", (16.0, 4.0, 4.0))}
    >>> solve(Problem(parse_layout("max(sum(a, b), sum(a, c))"), curves, 60))
    {'a': 36, 'b': 12, 'c': 12}
    """
    instance = _instance(problem)
    # An upper bound: an assignment near the relaxation's, improved by local search.
    weights, price, start = bound_weights(problem.layout, problem.footprint, instance.fronts, problem.cores)
    best = _improved(instance, start)
    # The Lagrange function, solver by solver: L_i(k) = w_i t_i(k) + m v_i p_i(k) for each point k of its front. For any
    # assignment within P cores, time >= sum_i L_i - m P, and so at least the sum of the minima less m P.
    values = [
        weights.time[name] * front.seconds + price * weights.cores[name] * front.cores
        for name, front in zip(instance.names, instance.fronts, strict=True)
    ]
    lower = sum(float(value.min()) for value in values) - price * problem.cores
    seconds = instance.seconds(best)
    # Pegging: point k of solver i alone raises the lower bound by L_i(k) - min L_i. If this exceeds the gap between
    # upper and lower bound, no assignment with this point is faster than the best known. The slack covers rounding.
    room = seconds * (1 + _SLACK) - lower + _SLACK * abs(lower)
    excess = [value - value.min() for value in values]
    left = [np.flatnonzero(e <= room) for e in excess]
    found = _searched(instance, left, excess, room, best)
    return {name: int(front.cores[k]) for name, front, k in zip(instance.names, instance.fronts, found, strict=True)}


def _instance(problem: Problem) -> _Instance:
    fronts = [solver_front(problem.curves[name], problem.cores) for name in problem.names]
    first = {
        name: int(front.cores[0]) if len(front.cores) else problem.cores + 1
        for name, front in zip(problem.names, fronts, strict=True)
    }
    if problem.used(first) > problem.cores:
        raise InfeasibleError(
            f"no assignment of {problem.cores} cores has a finite time: raise --cores", constraint="cores"
        )
    index = {name: k for k, name in enumerate(problem.names)}
    time = depth_first.program(list(_time_steps(problem.layout, index)))
    footprint = depth_first.program(list(_footprint_steps(problem.footprint, index)))
    return _Instance(problem.names, fronts, time, footprint, problem.cores)


def _time_steps(layout: Layout, index: dict[str, int]) -> Iterator[tuple[str, float]]:
    if isinstance(layout, Solver):
        yield "solver", index[layout.name]
        return
    for k, part in enumerate(layout.children()):
        yield from _time_steps(part, index)
        if k:
            yield ("max" if isinstance(layout, SideBySide) else "add"), 0.0
    if isinstance(layout, Repeated):
        yield "times", layout.count


def _footprint_steps(node: Footprint, index: dict[str, int]) -> Iterator[tuple[str, float]]:
    if node.kind == "solver":
        yield "solver", index[node.name]
    for k, part in enumerate(node.parts):
        yield from _footprint_steps(part, index)
        if k:
            yield ("add" if node.kind == "split" else "max"), 0.0


def _improved(instance: _Instance, start: Ints) -> Ints:
    """Return a good assignment by local search: one solver moves up its front, alone or as another one moves down."""
    best, best_seconds = start.copy(), instance.seconds(start)
    stride = max(len(front.cores) for front in instance.fronts) // 4 + 1
    while stride:
        moved = False
        for trial in _moves(instance, best, stride):
            seconds = instance.seconds(trial)
            if seconds < best_seconds and instance.cores(trial) <= instance.limit:
                best, best_seconds, moved = trial, seconds, True
        stride = stride if moved else stride // 2
    return best


def _moves(instance: _Instance, places: Ints, stride: int) -> Iterator[Ints]:
    last = np.array([len(front.cores) - 1 for front in instance.fronts])
    unit = np.eye(len(places), dtype=np.int64) * stride
    for k in range(len(places)):
        yield np.minimum(places + unit[k], last)
        for j in range(len(places)):
            if j != k:
                yield np.clip(places + unit[k] - unit[j], 0, last)


def _searched(instance: _Instance, left: list[Ints], excess: list[Floats], room: float, best: Ints) -> Ints:
    # Solvers with few candidates are decided first, so that the bounds prune the search tree early.
    order = np.argsort([len(kept) for kept in left], kind="stable").astype(np.int64)
    ends = np.concatenate([[0], np.cumsum([len(kept) for kept in left])]).astype(np.int64)
    cores = np.concatenate([f.cores[kept] for f, kept in zip(instance.fronts, left, strict=True)]).astype(np.float64)
    times = np.concatenate([f.seconds[kept] for f, kept in zip(instance.fronts, left, strict=True)])
    over = np.concatenate([e[kept] for e, kept in zip(excess, left, strict=True)])
    chosen = depth_first.depth_first(
        depth_first.Candidates(ends, cores, times, over), order, instance.time, instance.footprint,
        float(instance.limit), room, instance.seconds(best), instance.cores(best),
    )  # fmt: skip
    if chosen[0] < 0:
        return best
    return np.array([int(left[k][chosen[k]]) for k in range(len(left))], dtype=np.int64)
