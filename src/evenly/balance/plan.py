"""The answer to "how many cores for each solver": the assignment and all that follows from it.

What costs time to find out (the curve over all totals, what lies within noise) is computed when it is first asked for.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.balance import scaling
from evenly.balance.alternatives import Alternatives
from evenly.balance.base import Balancer, Problem
from evenly.balance.jitter import Jitter, jitter_of, patterns
from evenly.balance.layout import Layout, Repeated, SideBySide, Solver
from evenly.balance.noise import Alternative, Compare, Comparison, Draws, Noise
from evenly.balance.objective import Objective, core_hours
from evenly.balance.scaling import totals
from evenly.errors import InfeasibleError
from evenly.machine import Machine

__all__ = ["Plan", "totals"]

Ints = NDArray[np.int64]


class Plan:
    """An assignment of cores to solvers.

    Parameters
    ----------
    problem : Problem
        What was asked.
    cores : mapping of str to int
        The assignment.
    balancer : Balancer
        Who found it.
    machine, noise, compare
        As given to `evenly.allocate`.

    Attributes
    ----------
    cores : dict of str to int
        Cores per solver.
    """

    def __init__(
        self,
        problem: Problem,
        cores: Mapping[str, int],
        balancer: Balancer,
        *,
        machine: Machine | None = None,
        noise: Noise | None = None,
        compare: Compare | None = None,
    ) -> None:
        self.problem = problem
        self.cores = {name: int(cores[name]) for name in problem.curves}
        self.balancer = balancer
        self.machine = machine or Machine()
        self.noise = noise or Noise()
        self.compare = compare or Compare()

    # ---- the step ----------------------------------------------------------------------------------------------

    @cached_property
    def times(self) -> dict[str, float]:
        """Predicted seconds of each solver, for one of its runs."""
        found = self.problem.times(self.cores)
        return {name: float(found[name]) for name in self.cores}

    @cached_property
    def seconds(self) -> float:
        """Predicted seconds of one step."""
        return float(self.problem.layout.seconds(self.times))

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Bounds of the step's seconds at the level asked for; None where no solver's uncertainty is known."""
        return self._draws.interval()

    @property
    def used(self) -> int:
        """Cores that the assignment uses."""
        return int(self.problem.used(self.cores))

    @property
    def idle(self) -> int:
        """Cores of the total that the assignment leaves unused."""
        return self.problem.cores - self.used

    @property
    def core_hours(self) -> float:
        """Core-hours of one step, as the machine bills them."""
        return float(core_hours(self.used, self.seconds, self.machine))

    @cached_property
    def imbalance(self) -> float:
        """Predicted imbalance: the longest over the mean time of the parts that run side by side; 1 is perfect.

        In nested layouts the mean is taken group by group from the inside, and added up over groups that run in turn.
        """
        return self.seconds / _balanced(self.problem.layout, self.times)

    @cached_property
    def waiting(self) -> dict[str, float]:
        """Fraction of a step that each solver's cores wait for others, on cores that it does not share."""
        work = dict.fromkeys(self.cores, 0.0)
        _add_work(self.problem.layout, 1.0, self.times, work)
        return {name: max(0.0, 1.0 - work[name] / self.seconds) for name in self.cores}

    @cached_property
    def jitter(self) -> Jitter | None:
        """What steps that vary cost on this assignment; None without times per step."""
        if not self.noise.samples:
            return None
        return jitter_of(self.problem, self.cores, patterns(self.noise, self.problem.names))

    @property
    def expected_seconds(self) -> float:
        """Expected mean seconds of a step: with the waiting of varying steps where times per step were given."""
        return self.seconds if self.jitter is None else self.jitter.expected_seconds

    # ---- how sure, and against what ----------------------------------------------------------------------------

    @cached_property
    def extrapolated(self) -> tuple[str, ...]:
        """What was predicted outside the range that a model was learned on, in words."""
        notes = (self.problem.curves[name].outside(count) for name, count in self.cores.items())
        return tuple(note for note in notes if note is not None)

    @cached_property
    def runner_up(self) -> Alternative | None:
        """The fastest clearly different assignment, if it can't be told apart from this one by time."""
        return self._alternatives.runner_up()

    @cached_property
    def within_noise(self) -> dict[str, tuple[int, int]]:
        """Fewest and most cores of each solver with which a step can't be told apart by time."""
        return self._alternatives.ranges()

    @cached_property
    def versus(self) -> dict[str, Comparison]:
        """How the plan does against ``"proportional"`` and ``"current"``, as far as these were given."""
        others: dict[str, Mapping[str, int]] = {}
        if self.compare.degrees_of_freedom:
            from evenly.balance.proportional import ProportionalBalancer

            others["proportional"] = ProportionalBalancer().assign(self.problem)
        if self.compare.current:
            others["current"] = self.compare.current
        return {name: self._draws.compare(cores) for name, cores in others.items()}

    # ---- other numbers of cores --------------------------------------------------------------------------------

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Time against total cores: see `evenly.balance.scaling.curve_of`."""
        return scaling.curve_of(self.problem, self.balancer, self.machine, always=(self.used,))

    @property
    def knee(self) -> int:
        """Total cores at the knee of the curve, past which efficiency falls faster than time."""
        return int(self.curve.loc[self.curve["knee"], "cores"].iloc[0])

    def cheapest(self, within: float = 0.05) -> Plan:
        """Return the plan with the fewest core-hours per step among those at most `within` slower than the fastest.

        Examples
        --------
        >>> import evenly.balance.allocate as door
        >>> plan = door.allocate({"a": lambda p: 8 / p + 1, "b": lambda p: 4 / p + 0.5}, cores=600)
        >>> plan.cheapest(within=0.2).cores
        {'a': 37, 'b': 6}
        """
        total = scaling.best_total(self.problem, self.balancer, Objective("cost", within=within), self.machine)
        return self.at(total)

    def at(self, cores: int) -> Plan:
        """Return the plan for another total.

        Raises
        ------
        InfeasibleError
            If it is too small.
        """
        problem = dataclasses.replace(self.problem, cores=int(cores))
        if cores > self.problem.cores:
            raise InfeasibleError(
                f"this plan knows totals up to {self.problem.cores} cores, but {cores} were asked: allocate again",
                constraint="cores",
            )
        found = self.balancer.assign(problem)
        return Plan(self.problem, found, self.balancer, machine=self.machine, noise=self.noise, compare=self.compare)

    # ---- for people and programs -------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the answer as plain values, for JSON."""
        runner_up = self.runner_up
        return {
            "layout": str(self.problem.layout),
            "total_cores": self.problem.cores,
            "cores": self.cores,
            "idle": self.idle,
            "seconds": self.seconds,
            "interval": None if self.interval is None else list(self.interval),
            "level": self.noise.level,
            "solver_seconds": self.times,
            "imbalance": self.imbalance,
            "waiting": self.waiting,
            "core_hours": self.core_hours,
            "jitter": None if self.jitter is None else {**dataclasses.asdict(self.jitter), "loss": self.jitter.loss},
            "runner_up": None if runner_up is None else dataclasses.asdict(runner_up),
            "within_noise": {name: list(ends) for name, ends in self.within_noise.items()},
            "versus": {name: dataclasses.asdict(found) for name, found in self.versus.items()},
            "extrapolated": list(self.extrapolated),
        }

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={count}" for name, count in self.cores.items())
        return f"Plan({given}; {self.seconds:.4g} s per step, {self.used} of {self.problem.cores} cores)"

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self.problem, self.cores, self.noise)

    @cached_property
    def _alternatives(self) -> Alternatives:
        return Alternatives(self.problem, self._draws)


def _balanced(layout: Layout, times: Mapping[str, float]) -> float:
    """Return the time that a step would take if parts side by side were levelled to their mean."""
    if isinstance(layout, Solver):
        return float(times[layout.name])
    inside = [_balanced(part, times) for part in layout.children()]
    if isinstance(layout, Repeated):
        return layout.count * inside[0]
    return sum(inside) / len(inside) if isinstance(layout, SideBySide) else sum(inside)


def _add_work(layout: Layout, count: float, times: Mapping[str, float], work: dict[str, float]) -> None:
    """Add up the time that each solver's cores are busy in a step; groups that share cores keep them busy together."""
    if isinstance(layout, Solver):
        work[layout.name] += count * times[layout.name]
        return
    factor = layout.count if isinstance(layout, Repeated) else 1.0
    for part in layout.children():
        _add_work(part, count * factor, times, work)
