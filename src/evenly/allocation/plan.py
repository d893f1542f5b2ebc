"""A plan: an assignment of cores to solvers, with its predicted times, costs and alternatives.

Values that take long to compute (the scaling curve, the alternatives within noise) are computed at first use.
"""

from __future__ import annotations

import dataclasses
from collections.abc import Mapping
from functools import cached_property
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.allocation.alternatives import Alternatives
from evenly.allocation.assigning import assign
from evenly.allocation.balancers.optimal import OptimalBalancer
from evenly.allocation.balancers.proportional import ProportionalBalancer
from evenly.allocation.idle_cores import why_idle
from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver
from evenly.allocation.problem.noise import WIDE, Alternative, Compare, Comparison, Draws, Noise
from evenly.allocation.problem.objective import Objective, core_hours
from evenly.allocation.problem.step_jitter import Jitter, jitter_of, patterns
from evenly.allocation.problem.step_patterns import StepPattern
from evenly.allocation.scaling import best_total, curve_of
from evenly.arguments import explained
from evenly.errors import InfeasibleError
from evenly.machine.machine import Machine
from evenly.runs.units import SECONDS_PER_DAY, YEAR_DAYS
from evenly.showing import Shown

__all__ = ["Plan"]

Ints = NDArray[np.int64]


class Plan(Shown):
    """An assignment of cores to solvers.

    Parameters
    ----------
    problem : Problem
        The allocation problem.
    cores : mapping of str to int
        The assignment: cores per solver.
    balancer : Balancer
        The balancer that found the assignment.
    machine, noise, compare, objective
        As given to `evenly.allocate`.
    total : int, optional
        Cores available to this assignment; by default all cores of the problem.
    step_days : float, optional
        Days that a step simulates.

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
        objective: Objective | None = None,
        total: int | None = None,
        step_days: float | None = None,
    ) -> None:
        self.problem = problem
        self.total = problem.cores if total is None else int(total)
        self.cores = {name: int(cores[name]) for name in problem.curves}
        self.balancer = balancer
        self.machine = machine or Machine()
        self.noise = noise or Noise()
        self.compare = compare or Compare()
        self.objective = objective or Objective()
        self.step_days = step_days

    # ---- the step ----------------------------------------------------------------------------------------------

    @cached_property
    def times(self) -> dict[str, float]:
        """Predicted seconds of each solver, for one of its runs."""
        found = self.problem.times(self.cores)
        return {name: float(found[name]) for name in self.cores}

    @cached_property
    def ways(self) -> dict[str, dict[str, Any]]:
        """The parameters that make the cores of solvers, where they are several: ranks 8, threads 4."""
        made = {name: self.problem.curves[name].way(count) for name, count in self.cores.items()}
        return {name: way for name, way in made.items() if way}

    @cached_property
    def seconds(self) -> float:
        """Predicted seconds of one step: with coupled runs, the median over the errors; else `seconds_of_times`."""
        return self._draws.likely(self.times)

    @cached_property
    def seconds_of_times(self) -> float:
        """Seconds of a step in which each solver takes its predicted time."""
        return float(self.problem.layout.seconds(self.times))

    @cached_property
    def interval(self) -> tuple[float, float] | None:
        """Interval of the step's time in seconds, at `noise.level`; None where no solver's uncertainty is known.

        Without coupled runs, `seconds` uses the predicted time of each solver. Where several uncertain solvers run side
        by side, the slowest sets the step's time: it likely takes longer. Then `seconds` is near the lower bound.
        """
        return self._draws.interval()

    @property
    def is_guess(self) -> bool:
        """Whether solvers stand on counts that nobody measured, and the interval is so wide that it tells little."""
        return bool(self.extrapolated) and self.interval is not None and self.interval[1] > WIDE * self.interval[0]

    @property
    def used(self) -> int:
        """Cores that the assignment uses."""
        return int(self.problem.used(self.cores))

    @property
    def idle(self) -> int:
        """Cores of the total that the assignment leaves unused."""
        return self.total - self.used

    @cached_property
    def idle_reason(self) -> str | None:
        """Why cores stay idle, in words (goal, limits, balancer or no gain); None where no core is idle."""
        if not self.idle:
            return None
        if not self.is_fastest and not self.objective.is_fastest:
            return f"the goal is {self.objective}"
        if self.noise.optimise:
            return "they would not make varying steps faster on average"
        if not self.is_fastest:
            return f"the balancer {self.balancer.name!r} assigns no more"
        return why_idle(self._own, self.cores)

    @property
    def core_hours(self) -> float:
        """Core-hours of one step, as the machine bills them."""
        return float(core_hours(self.used, self.seconds, self.machine))

    @property
    def sypd(self) -> float | None:
        """Simulated years per day; None where it isn't known what a step simulates."""
        return None if self.step_days is None else self.step_days / YEAR_DAYS * SECONDS_PER_DAY / self.expected_seconds

    @property
    def chsy(self) -> float | None:
        """Core-hours per simulated year; None where it isn't known what a step simulates."""
        hours = self.core_hours * self.expected_seconds / self.seconds
        return None if self.step_days is None else hours * YEAR_DAYS / self.step_days

    @cached_property
    def imbalance(self) -> float | None:
        """Predicted imbalance: longest time over mean time of the parts that run side by side; 1 is perfect.

        In nested layouts, the mean is computed from the innermost groups outwards. Times of parts that run one after
        the other are added. None where no parts run side by side.
        """
        if not _side_by_side(self.problem.layout):
            return None
        return self.seconds_of_times / _balanced(self.problem.layout, self.times)

    @cached_property
    def waiting(self) -> dict[str, float]:
        """Mean fraction of a step in which each solver's cores are idle: no solver runs on them.

        Parts that share cores start at the same core, as in `evenly.report.plots.timeline`.
        """
        work = dict.fromkeys(self.cores, 0.0)
        _add_work(self.problem.layout, 1.0, self.times, work)
        first = self.problem.footprint.places(self.cores)
        ends = {name: (first[name], first[name] + count) for name, count in self.cores.items()}
        busy = {
            name: sum(work[other] * _overlap(ends[name], ends[other]) for other in self.cores) / self.cores[name]
            for name in self.cores
        }
        return {name: max(0.0, 1.0 - busy[name] / self.seconds_of_times) for name in self.cores}

    @cached_property
    def _patterns(self) -> Mapping[str, StepPattern]:
        """How the steps of each solver vary around what its model tells."""
        return patterns(self.noise, self.problem.layout)

    @cached_property
    def jitter(self) -> Jitter | None:
        """Cost of step-to-step variation on this assignment; None where no times per step were given."""
        if not self.noise.samples:
            return None
        return jitter_of(self.problem, self.cores, self._patterns)

    @cached_property
    def expected_seconds(self) -> float:
        """Expected mean seconds of a step, including the waiting by jitter where times per step were given."""
        return self._draws.likely(self.times, None if self.jitter is None else self._patterns)

    @cached_property
    def expected_interval(self) -> tuple[float, float] | None:
        """Interval of `expected_seconds` at `noise.level`; None where no solver's uncertainty is known."""
        if self.jitter is None:
            return self.interval
        return self._draws.expected(self._patterns)

    # ---- uncertainty and comparisons ---------------------------------------------------------------------------

    @cached_property
    def extrapolated(self) -> tuple[str, ...]:
        """One note per solver whose model extrapolates, that is, predicts outside its training range."""
        notes = (self.problem.curves[name].outside(count) for name, count in self.cores.items())
        return tuple(note for note in notes if note is not None)

    @property
    def failed(self) -> tuple[str, ...]:
        """One note per solver with counts that it doesn't get, since runs there, or nearest to them, failed."""
        left_out = ((name, self.problem.curves[name].failed) for name in self.cores)
        return tuple(
            f"{name!r} doesn't get {counts} cores: all runs there, or on the nearest counts, failed"
            for name, counts in left_out
            if counts
        )

    @cached_property
    def fastest(self) -> dict[str, int]:
        """The fastest assignment of the same total; it may differ from `cores` under another goal or balancer."""
        if self.objective.is_fastest and isinstance(self.balancer, OptimalBalancer) and not self.noise.optimise:
            return self.cores
        return assign(self._own, OptimalBalancer(), dataclasses.replace(self.noise, optimise=False))

    @cached_property
    def is_fastest(self) -> bool:
        """Whether no assignment of the same total is faster."""
        return bool(self.seconds <= self._draws.likely(self.problem.times(self.fastest)) * (1 + 1e-12))

    @property
    def minimises_mean(self) -> bool:
        """Whether the mean step was minimised, not the steady one: other assignments are compared by it, too."""
        return self.noise.optimise and self.jitter is not None

    @cached_property
    def runner_up(self) -> Alternative | None:
        """The fastest clearly different assignment whose time differs from this one's only within noise, if any.

        None also where this plan is not the fastest (`is_fastest`), since other assignments are faster then.
        """
        return self._alternatives.runner_up() if self.is_fastest else None

    @cached_property
    def within_noise(self) -> dict[str, tuple[int, int]]:
        """Fewest and most cores of each solver with which the step's time stays within noise of the plan's.

        Where the plan is not the fastest (`is_fastest`), both ends are the plan's own count.
        """
        if not self.is_fastest:
            return {name: (count, count) for name, count in self.cores.items()}
        return self._alternatives.ranges()

    @cached_property
    def versus(self) -> dict[str, Comparison]:
        """Comparison of the plan with other assignments, by name.

        ``"fastest"`` is present where the plan is not the fastest, ``"proportional"`` where degrees of freedom were
        given, ``"current"`` where a present assignment was given. The proportional assignment gets as many cores as
        the plan uses, or the plan's total where the goal is the fastest step.
        """
        others: dict[str, Mapping[str, int]] = {} if self.is_fastest else {"fastest": self.fastest}
        if self.compare.degrees_of_freedom:
            cores = self.total if self.objective.is_fastest else self.used
            others["proportional"] = ProportionalBalancer().assign(self.problem.with_cores(cores))
        if self.compare.current:
            others["current"] = self.compare.current
        return {name: self._draws.compare(cores) for name, cores in others.items()}

    # ---- other numbers of cores --------------------------------------------------------------------------------

    @cached_property
    def curve(self) -> pd.DataFrame:
        """Time against total cores: see `evenly.allocation.scaling.curve_of`."""
        return curve_of(self.problem, self.balancer, self.machine, always=(self.used,))

    @property
    def knee(self) -> int | None:
        """Total cores at the knee of the curve, where efficiency over time is largest; None without such a knee.

        Past the knee, efficiency falls faster than time. There is no knee if the largest value lies at an end of the
        computed curve: at the fewest cores, or at all cores.
        """
        found = self.curve.loc[self.curve["knee"], "cores"]
        return int(found.iloc[0]) if len(found) else None

    @explained
    def cheapest(self, within: float = 0.05) -> Plan:
        """Return the plan with the fewest core-hours per step among those at most `within` slower than the fastest.

        Examples
        --------
        >>> import evenly.allocation.allocate as door
        >>> plan = door.allocate({"a": lambda p: 8 / p + 1, "b": lambda p: 4 / p + 0.5}, cores=600)
        >>> plan.cheapest(within=0.2).cores
        {'a': 37, 'b': 6}
        """
        objective = Objective("cost", within=within)
        total = best_total(self.problem, self.balancer, objective, self.machine)
        return self._like(self.at(total).cores, objective=objective)

    @explained
    def at(self, cores: int) -> Plan:
        """Return the plan for another total of `cores`, at most the problem's.

        Raises
        ------
        InfeasibleError
            If the total is too small for the solvers, or larger than the problem's.
        """
        if cores > self.problem.cores:
            raise InfeasibleError(
                f"this plan knows totals up to {self.problem.cores} cores, but {cores} were asked: allocate again",
                constraint="cores",
            )
        return self._like(assign(self.problem.with_cores(cores), self.balancer, self.noise), total=int(cores))

    def _like(self, cores: Mapping[str, int], **others: Any) -> Plan:
        """Return a plan with other cores for the same problem, machine, noise and comparison."""
        return Plan(
            self.problem, cores, self.balancer, machine=self.machine, noise=self.noise, compare=self.compare,
            step_days=self.step_days, **others,
        )  # fmt: skip

    # ---- output ------------------------------------------------------------------------------------------------

    def to_dict(self) -> dict[str, Any]:
        """Return the plan as plain values, for JSON."""
        runner_up = self.runner_up
        return {
            "layout": str(self.problem.layout),
            "objective": str(self.objective),
            "machine": None if self.machine == Machine() else self.machine.to_dict(),
            "total_cores": self.total,
            "used_cores": self.used,
            "idle_cores": self.idle,
            "idle_reason": self.idle_reason,
            "cores": self.cores,
            "ways": self.ways,
            "seconds": self.seconds,
            "expected_seconds": self.expected_seconds,
            "interval_seconds": None if self.interval is None else list(self.interval),
            "expected_interval_seconds": None if self.expected_interval is None else list(self.expected_interval),
            "level": self.noise.level,
            "solver_seconds": self.times,
            "imbalance": self.imbalance,
            "waiting": self.waiting,
            "core_hours": self.core_hours,
            "simulated_years_per_day": self.sypd,
            "core_hours_per_simulated_year": self.chsy,
            "jitter": None if self.jitter is None else {**dataclasses.asdict(self.jitter), "loss": self.jitter.loss},
            "inside_coupled_runs": None if self.noise.inside is None else self.noise.inside.to_dict(),
            "runner_up": None if runner_up is None else runner_up.to_dict(),
            "is_fastest": self.is_fastest,
            "within_noise": {name: list(ends) for name, ends in self.within_noise.items()},
            "versus": {
                name: {**dataclasses.asdict(found), "used_cores": int(self.problem.used(found.cores))}
                for name, found in self.versus.items()
            },
            "extrapolated": list(self.extrapolated),
            "failed": list(self.failed),
        }

    def __repr__(self) -> str:
        given = ", ".join(f"{name}={count}" for name, count in self.cores.items())
        return f"Plan({given}; {self.seconds:.4g} s per step, {self.used} of {self.total} cores)"

    @cached_property
    def _draws(self) -> Draws:
        return Draws(self._own, self.cores, self.noise, self._patterns if self.minimises_mean else None)

    @cached_property
    def _alternatives(self) -> Alternatives:
        return Alternatives(self._own, self._draws)

    @property
    def _own(self) -> Problem:
        """The problem with this plan's total of cores."""
        return self.problem.with_cores(self.total)


def _side_by_side(layout: Layout) -> bool:
    return isinstance(layout, SideBySide) or any(_side_by_side(part) for part in layout.children())


def _overlap(one: tuple[int, int], other: tuple[int, int]) -> int:
    return max(0, min(one[1], other[1]) - max(one[0], other[0]))


def _balanced(layout: Layout, times: Mapping[str, float]) -> float:
    """Return the seconds of a step if all parts of a side-by-side group took the group's mean time."""
    if isinstance(layout, Solver):
        return float(times[layout.name])
    inside = [_balanced(part, times) for part in layout.children()]
    if isinstance(layout, Repeated):
        return layout.count * inside[0]
    return sum(inside) / len(inside) if isinstance(layout, SideBySide) else sum(inside)


def _add_work(layout: Layout, count: float, times: Mapping[str, float], work: dict[str, float]) -> None:
    """Add to `work` the seconds that each solver runs per step; `count` is how often the layout node runs."""
    if isinstance(layout, Solver):
        work[layout.name] += count * times[layout.name]
        return
    factor = layout.count if isinstance(layout, Repeated) else 1.0
    for part in layout.children():
        _add_work(part, count * factor, times, work)
