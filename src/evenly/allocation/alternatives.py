"""Assignments whose time doesn't differ from the best one's by more than noise.

One solver gets another count, and the cores of all others are assigned anew. The result is within noise if, given the
models' errors, it is at least as fast as the plan with a probability of (1 - level) / 2 or more.
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
from evenly.allocation.problem.limits import place_of
from evenly.allocation.problem.noise import Alternative, Draws
from evenly.errors import InfeasibleError

__all__ = ["Alternatives"]

Ints = NDArray[np.int64]

_COUNTS = 400
_COUNTS_IF_SLOW = 80
_CLEARLY_DIFFERENT = 0.05
_VISIBLE = 0.02


class Alternatives:
    """Assignments around a plan's.

    Long curves are looked at on 400 counts (80 where solvers occur several times), so the ranges of huge problems are
    known to within a few per cent.

    Parameters
    ----------
    problem : Problem
        The problem.
    draws : Draws
        The models' errors around the plan.
    """

    def __init__(self, problem: Problem, draws: Draws) -> None:
        self.problem = problem
        self.draws = draws

    def ranges(self) -> dict[str, tuple[int, int]]:
        """Return the fewest and the most cores of each solver within noise."""
        return {name: (self._end(name, -1), self._end(name, 1)) for name in self.problem.curves}

    def runner_up(self) -> Alternative | None:
        """Return the fastest assignment in which some solver's cores differ by 5 % or more, if it is within noise.

        A solver that a step waits for must have visibly other cores: by 2 % at least, and by one of its counts' steps.
        Otherwise only cores that wait anyway would have moved.
        """
        places = [(name, at) for name in self.problem.curves for at in self._different(name)]
        found = [other for name, at in places for other in self._with(name, at)]
        near = [other for other in found if self._matters(other) and self.draws.within_noise(other)]
        return min(near, key=lambda other: (other.seconds, -other.as_fast), default=None)

    @cached_property
    def _thin(self) -> Problem:
        most = _COUNTS_IF_SLOW if self.problem.layout.repeats else _COUNTS
        curves = {name: _thinned(curve, self.draws.cores[name], most) for name, curve in self.problem.curves.items()}
        return dataclasses.replace(self.problem, curves=curves)

    def _with(self, name: str, at: int) -> list[Alternative]:
        """Return assignments in which solver `name` has its `at`-th count: at most two, none if none fits.

        One is the fastest. In the other the rest is as fast as possible by itself, as if the solver took no time:
        where its fixed count makes it the slowest part, that one spends the cores which the first would leave idle.
        """
        curve = self._thin.curves[name]
        counts = np.asarray(curve.counts[at : at + 1])
        found = []
        for source in (curve.source, _no_time):
            fixed = SolverCurve(name, source, counts)
            problem = dataclasses.replace(self._thin, curves={**self._thin.curves, name: fixed})
            try:
                cores = OptimalBalancer().assign(problem)
            except InfeasibleError:
                return []
            found.append(self.draws.alternative(cores, self._thin.times(cores)))
        return found

    def _different(self, name: str) -> list[int]:
        counts, chosen = np.asarray(self._thin.curves[name].counts), self.draws.cores[name]
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
        """Return the last count within noise, going up or down from the plan's, by doubling steps and halving back."""
        counts = np.asarray(self._thin.curves[name].counts)
        here = int(np.searchsorted(counts, self.draws.cores[name]))
        room = here if direction < 0 else len(counts) - 1 - here
        # Exponential search: `inside` is the last place known to be within noise, `outside` the first known not to be.
        inside, outside, stride = 0, room + 1, 1
        while inside + stride < outside:
            if self._near(name, here + direction * (inside + stride)):
                inside, stride = inside + stride, 2 * stride
            else:
                outside, stride = inside + stride, 1
        return int(counts[here + direction * inside])

    def _near(self, name: str, at: int) -> bool:
        return any(self.draws.within_noise(other) for other in self._with(name, at))


def _thinned(curve: SolverCurve, chosen: int, most: int) -> SolverCurve:
    """Return the curve on at most about `most` counts, with the chosen one and its neighbours, as a table."""
    counts = curve.counts
    here = place_of(counts, chosen)
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
