"""Waiting by jitter: times per step of side-by-side solvers vary, and the slowest part sets each step's time.

The expected maximum is at least the maximum of the means (Jensen's inequality). So solvers that are balanced on average
still wait for each other. Each solver's predicted time is multiplied by its pattern: the measured times per step over
their median, or over their mean where the prediction is one of means. Patterns of one length are combined step by step,
as they come from the same steps of one run. Patterns of different lengths are drawn independently.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.noise import Noise
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


def patterns(noise: Noise, names: tuple[str, ...]) -> dict[str, Floats]:
    """Return each solver's time per step over its statistic, all of one length (n,); ones where it has no samples.

    Examples
    --------
    >>> found = patterns(Noise(samples={"a": [1, 1, 4], "b": [2, 4, 4]}), ("a", "b", "c"))
    >>> found["a"], found["b"], found["c"]
    (array([1., 1., 4.]), array([0.5, 1. , 1. ]), array([1., 1., 1.]))
    """
    ratios = _check_samples(noise, names)
    lengths = {len(values) for values in ratios.values()}
    if len(lengths) > 1:
        random = np.random.default_rng(noise.seed)
        ratios = {name: _drawn(values, noise.draws, random) for name, values in ratios.items()}
        lengths = {noise.draws}
    return {name: ratios.get(name, np.ones(max(lengths, default=1))) for name in names}


def jitter_of(problem: Problem, cores: Mapping[str, int], ratios: Mapping[str, Floats]) -> Jitter:
    """Return the cost of jitter for an assignment; `ratios` (n_steps,) are the solvers' patterns."""
    times = problem.times(cores)
    steps = np.atleast_1d(problem.layout.seconds({name: times[name] * ratios[name] for name in times}))
    means = problem.layout.seconds({name: times[name] * float(ratios[name].mean()) for name in times})
    return Jitter(float(np.mean(steps)), float(means))


def _drawn(values: Floats, n: int, random: np.random.Generator) -> Floats:
    # Stratified sampling: one value from each of n equal parts of the distribution, in random order.
    levels = (np.arange(n) + 0.5) / n
    drawn: Floats = random.permutation(np.quantile(values, levels, method="inverted_cdf"))
    return drawn


def _check_samples(noise: Noise, names: Sequence[str]) -> dict[str, Floats]:
    """Return the times per step over their statistic, (n_steps,) per solver; raise `InputError` if invalid."""
    out = {}
    for name, values in (noise.samples or {}).items():
        if name not in names:
            raise InputError(f"samples name {name!r}, but the solvers are {', '.join(names)}")
        steps = np.asarray(values, dtype=np.float64).ravel()
        if len(steps) < 2 or not np.all(np.isfinite(steps) & (steps >= 0)) or not np.median(steps) > 0:
            raise InputError(f"times per step of {name!r} must be at least two finite numbers, typically above zero")
        out[name] = steps / (np.mean(steps) if noise.statistic_of(name) == "mean" else np.median(steps))
    return out
