"""Assignments of which the runs don't tell whether a step is slower than the plan's.

One solver gets another count, and the cores of all others are assigned again. The count may be as good if the interval
of the difference between both steps includes zero: the new one is at least as fast with a probability of at least
(1 - level) / 2. Errors that both steps share cancel, such as the factor between alone and coupled. What differs are the
errors of the curves: of both solvers, and of one solver on two counts, as far as they aren't alike. The scatter of
single runs around a curve is no error of the curve.
"""

from __future__ import annotations

import dataclasses
from functools import cached_property

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.balancers.optimal import OptimalBalancer
from evenly.allocation.idle_cores import critical
from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve, Table
from evenly.allocation.problem.limits import index_at_most
from evenly.allocation.problem.noise import Alternative, Draws
from evenly.errors import InfeasibleError

__all__ = ["Alternatives"]

Ints = NDArray[np.int64]

#: Counts per solver to which long curves are thinned; fewer where solvers repeat, as branch and bound is slow.
_COUNTS = 400
_COUNTS_IF_SLOW = 80
#: Fraction by which some solver's cores must differ in the runner-up.
_CLEARLY_DIFFERENT = 0.05
#: Fraction by which the cores of some critical solver must differ in the runner-up.
_VISIBLE = 0.02


class Alternatives:
    """Assignments around that of a plan.

    Long curves are thinned to some 400 counts (80 where solvers occur several times). So the ranges of huge problems
    are known to within a few per cent.

    Parameters
    ----------
    problem : Problem
        The allocation problem.
    draws : Draws
        Random draws of the models' errors around the plan.
    """

    def __init__(self, problem: Problem, draws: Draws) -> None:
        self.problem = problem
        self.draws = draws

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return the fewest and the most cores of each solver within noise."""
        return {name: (self._end(name, -1), self._end(name, 1)) for name in self.problem.curves}

    def runner_up(self) -> Alternative | None:
        """Return the fastest assignment within noise in which some solver's cores differ by 5 % or more.

        The cores of some solver on the critical path must differ by at least 2 % and at least one step between its
        counts. Otherwise only cores that wait anyway would have moved. None where no such assignment exists.
        """
        places = [(name, at) for name in self.problem.curves for at in self._different(name)]
        found = [other for name, at in places for other in self._with_count(name, at)]
        near = [other for other in found if self._matters(other) and self.draws.within_noise(other)]
        return min(near, key=lambda other: (other.seconds, -other.probability_as_fast), default=None)

    @cached_property
    def _thinned_problem(self) -> Problem:
        most = _COUNTS_IF_SLOW if self.problem.layout.repeats else _COUNTS
        curves = {name: _thinned(curve, self.draws.cores[name], most) for name, curve in self.problem.curves.items()}
        for name, curve in curves.items():
            self.draws.ask(name, np.asarray(curve.counts))
        return dataclasses.replace(self.problem, curves=curves)

    def _with_count(self, name: str, at: int) -> list[Alternative]:
        """Return two assignments in which solver `name` has its `at`-th count, or none if the count doesn't fit.

        The first is the fastest such assignment. The second makes the other solvers as fast as possible, as if this
        solver took no time. It differs where the fixed count makes this solver the slowest part: it uses cores that
        the first would leave idle.
        """
        curve = self._thinned_problem.curves[name]
        counts = np.asarray(curve.counts[at : at + 1])
        found = []
        for source in (curve.source, _no_time):
            fixed = SolverCurve(name, source, counts)
            problem = dataclasses.replace(self._thinned_problem, curves={**self._thinned_problem.curves, name: fixed})
            try:
                cores = OptimalBalancer().assign(problem)
            except InfeasibleError:
                return []
            found.append(self.draws.alternative(cores, self._thinned_problem.times(cores)))
        return found

    def _different(self, name: str) -> list[int]:
        counts, chosen = np.asarray(self._thinned_problem.curves[name].counts), self.draws.cores[name]
        gap = max(1, int(np.ceil(_CLEARLY_DIFFERENT * chosen)))
        below = int(np.searchsorted(counts, chosen - gap, side="right")) - 1
        above = int(np.searchsorted(counts, chosen + gap, side="left"))
        return [at for at in (below, above) if 0 <= at < len(counts)]

    def _matters(self, other: Alternative) -> bool:
        return any(abs(other.cores[name] - self.draws.cores[name]) >= self._visible(name) for name in self._critical)

    @cached_property
    def _critical(self) -> list[str]:
        return critical(self.problem, self.draws.cores)

    def _visible(self, name: str) -> float:
        counts = self.problem.curves[name].counts
        return max(_VISIBLE * self.draws.cores[name], counts.step if isinstance(counts, range) else 1)

    def _end(self, name: str, direction: int) -> int:
        """Return the last count within noise, going up or down from the plan's count, by exponential search."""
        counts = np.asarray(self._thinned_problem.curves[name].counts)
        here = int(np.searchsorted(counts, self.draws.cores[name]))
        room = here if direction < 0 else len(counts) - 1 - here
        # `inside` is the last position known to be within noise, `outside` the first known not to be. The stride
        # doubles after each position within noise, and returns to 1 after each position outside.
        inside, outside, stride = 0, room + 1, 1
        while inside + 1 < outside:
            stride = min(stride, outside - inside - 1)
            if self._near(name, here + direction * (inside + stride)):
                inside, stride = inside + stride, 2 * stride
            else:
                outside, stride = inside + stride, 1
        return int(counts[here + direction * inside])

    def _near(self, name: str, at: int) -> bool:
        return any(self.draws.within_noise(other) for other in self._with_count(name, at))


def _thinned(curve: SolverCurve, chosen: int, most: int) -> SolverCurve:
    """Return the curve as a table of at most about `most` counts, the chosen one and its neighbours included."""
    counts = curve.counts
    here = index_at_most(counts, chosen)
    last = len(counts) - 1
    if len(counts) > most:
        away = np.rint(np.geomspace(1, max(last, 1), most // 2)).astype(np.int64)
        places = np.unique(np.clip(np.concatenate([here - away, [here], here + away]), 0, last))
    else:
        places = np.arange(len(counts))
    kept = np.array([counts[int(place)] for place in places], dtype=np.int64)
    return SolverCurve(curve.name, Table(curve.name, kept, curve.seconds(kept)), kept)


def _no_time(cores: Ints) -> NDArray[np.float64]:
    return np.full(len(cores), np.finfo(np.float64).tiny)
