"""Waiting by jitter: times per step of side-by-side solvers vary, and the slowest part sets each step's time.

The expected maximum is at least the maximum of the means (Jensen's inequality). So solvers that are balanced on average
still wait for each other. Each solver's steps vary around its predicted time as its pattern says, which is learned
from measured steps. Patterns of one length are combined step by step, as they come from the same steps of one run.
Those of different lengths are drawn independently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.noise import Noise
from evenly.allocation.problem.step_patterns import StepPattern
from evenly.errors import InputError

__all__ = ["Jitter", "jitter_of", "patterns"]

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


def patterns(noise: Noise, names: tuple[str, ...]) -> dict[str, StepPattern]:
    """Return how each solver's steps vary, all of one length (n,); those of one without samples don't.

    Examples
    --------
    >>> found = patterns(Noise(samples={"a": [1, 1, 4], "b": [2, 4, 4]}), ("a", "b", "c"))
    >>> found["a"].at(1), found["b"].at(1), found["c"].at(1)
    (array([1., 1., 4.]), array([0.5, 1. , 1. ]), array([1., 1., 1.]))
    """
    found = {name: StepPattern.of(runs, noise.statistic_of(name)) for name, runs in _checked(noise, names).items()}
    lengths = {len(pattern.shares) for pattern in found.values()}
    if len(lengths) > 1:
        random = np.random.default_rng(noise.seed)
        found = {name: _drawn(pattern, noise.draws, random) for name, pattern in found.items()}
        lengths = {noise.draws}
    return {name: found.get(name) or StepPattern.steady(max(lengths, default=1)) for name in names}


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


def _checked(noise: Noise, names: Sequence[str]) -> dict[str, list[Floats]]:
    """Return the times per step of the runs of each solver; raise `InputError` if invalid."""
    out = {}
    for name, values in (noise.samples or {}).items():
        if name not in names:
            raise InputError(f"samples name {name!r}, but the solvers are {', '.join(names)}")
        given: Any = values
        several = len(given) and np.ndim(given[0]) > 0
        out[name] = [np.asarray(run, dtype=np.float64).ravel() for run in (given if several else [given])]
        for steps in out[name]:
            if len(steps) < 2 or not np.all(np.isfinite(steps) & (steps >= 0)) or not np.median(steps) > 0:
                raise InputError(
                    f"times per step of {name!r} must be at least two finite numbers, typically above zero"
                )
    return out
