"""Waiting by jitter: times per step of side-by-side solvers vary, and the slowest part sets each step's time.

The expected maximum is at least the maximum of the means (Jensen's inequality). So solvers that are balanced on average
still wait for each other. Each solver's steps vary around its predicted time as its pattern says, which is learned
from measured steps. A solver that runs k times in a part of ``max`` makes k steps until others wait for it. So the
means of k steps in a row count there. Patterns of one length are combined step by step, as they come from the same
steps of one run. Those of different lengths are drawn independently.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.layout import Layout, Repeated, SideBySide, Solver
from evenly.allocation.problem.noise import Noise
from evenly.allocation.problem.step_patterns import StepPattern
from evenly.errors import InputError

__all__ = ["Jitter", "jitter_of", "patterns", "steps_together"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Jitter:
    """Cost of the variation from step to step.

    Attributes
    ----------
    expected_seconds : float
        Mean time of a step.
    seconds_of_means : float
        Time of a step in which each solver takes its mean time.
    """

    expected_seconds: float
    seconds_of_means: float

    @property
    def loss(self) -> float:
        """Fraction by which the mean step is slower than a step in which each solver takes its mean time."""
        return self.expected_seconds / self.seconds_of_means - 1.0


def patterns(noise: Noise, layout: Layout) -> dict[str, StepPattern]:
    """Return how each solver's steps vary, all of one length (n,); those of one without samples don't.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> found = patterns(Noise(samples={"a": [1, 1, 4], "b": [2, 4, 4]}), parse_layout("max(a, b, c)"))
    >>> found["a"].at(1), found["b"].at(1), found["c"].at(1)
    (array([1., 1., 4.]), array([0.5, 1. , 1. ]), array([1., 1., 1.]))
    """
    names, every = layout.names, steps_together(layout)
    found = {
        name: StepPattern.of(runs, noise.statistic_of(name), every[name])
        for name, runs in _checked(noise, every).items()
    }
    lengths = {len(pattern.shares) for pattern in found.values()}
    if len(lengths) > 1:
        random = np.random.default_rng(noise.seed)
        found = {name: _drawn(pattern, noise.draws, random) for name, pattern in found.items()}
        lengths = {noise.draws}
    return {name: found.get(name) or StepPattern.steady(max(lengths, default=1)) for name in names}


def steps_together(layout: Layout) -> dict[str, int]:
    """Return how many steps each solver makes before others wait for it: its factor in a part of ``max``.

    Factors that are no whole numbers don't tell how many.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> steps_together(parse_layout("3 * max(4 * (atm + ice), ocn)"))
    {'atm': 4, 'ice': 4, 'ocn': 1}
    >>> steps_together(parse_layout("3 * (a + b)"))
    {'a': 1, 'b': 1}
    """
    return _times(layout, waited_for=False)


def _times(layout: Layout, *, waited_for: bool) -> dict[str, int]:
    """Return how often each solver runs between two waits; once where nothing that is `waited_for` is around it."""
    if isinstance(layout, Solver):
        return {layout.name: 1}
    waited_for = waited_for or isinstance(layout, SideBySide)
    inside = [_times(part, waited_for=waited_for) for part in layout.children()]
    found = {name: max(part.get(name, 1) for part in inside) for name in layout.names}
    if not waited_for or not isinstance(layout, Repeated) or not layout.count.is_integer() or _waits(layout.part):
        return found
    return {name: int(layout.count) * times for name, times in found.items()}


def _waits(layout: Layout) -> bool:
    """Tell whether solvers wait for each other inside a layout."""
    return isinstance(layout, SideBySide) or any(map(_waits, layout.children()))


def jitter_of(problem: Problem, cores: Mapping[str, int], steps: Mapping[str, StepPattern]) -> Jitter:
    """Return the cost of jitter for an assignment."""
    times = {name: steps[name].at(seconds) for name, seconds in problem.times(cores).items()}
    means = problem.layout.seconds({name: float(each.mean()) for name, each in times.items()})
    return Jitter(float(np.mean(problem.layout.seconds(times))), float(means))


def _drawn(pattern: StepPattern, n: int, random: np.random.Generator) -> StepPattern:
    # Stratified sampling: one step from each of n equal parts of the distribution, in random order.
    order = np.argsort(pattern.shares + pattern.seconds, kind="stable")
    drawn = random.permutation(order[np.arange(n) * len(order) // n])
    return StepPattern(pattern.shares[drawn], pattern.seconds[drawn], pattern.covariance)


def _checked(noise: Noise, every: Mapping[str, int]) -> dict[str, list[Floats]]:
    """Return the times per step of the runs of each solver, which makes so many before others wait for it.

    Raises
    ------
    InputError
        If they are invalid, or too few.
    """
    out = {}
    for name, values in (noise.samples or {}).items():
        if name not in every:
            raise InputError(f"samples name {name!r}, but the solvers are {', '.join(every)}")
        given: Any = values
        several = len(given) and np.ndim(given[0]) > 0
        out[name] = [np.asarray(run, dtype=np.float64).ravel() for run in (given if several else [given])]
        for steps in out[name]:
            if len(steps) < 2 or not np.all(np.isfinite(steps) & (steps >= 0)) or not np.median(steps) > 0:
                raise InputError(
                    f"times per step of {name!r} must be at least two finite numbers, typically above zero"
                )
            if len(steps) < every[name]:
                raise InputError(
                    f"{name!r} makes {every[name]} steps before others wait for it, by the layout, but only "
                    f"{len(steps)} were recorded: give the times of more steps"
                )
    return out
