"""Uncertainty of an assignment's time by Monte Carlo simulation: intervals, alternatives within noise, gains.

The error of a solver's model is one random factor on its time. The factor is log-normal on each side of the prediction,
with the two widths of the model's interval. Factors of different solvers are independent. On two counts, factors of a
solver are correlated as the errors of a parabola in the logarithm of the cores are, fitted to evenly spread counts. For
what a plan saves against another assignment, widths are those of the interval. Whether another assignment may be as
good is a question about the curves alone: there, widths are without the scatter of single runs around them. Draws are
seeded, so the same input gives the same result.
"""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from statistics import NormalDist
from typing import Any, Literal, get_args

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.coupled_runs import Inside
from evenly.allocation.problem.curves import SolverCurve, cores_of
from evenly.allocation.problem.limits import index_at_most, is_count
from evenly.allocation.problem.step_patterns import StepPattern, mean_step
from evenly.arguments import check_seed, explained
from evenly.errors import InputError
from evenly.space.ranges import ends

__all__ = ["TOO_WIDE", "WIDE", "Alternative", "Compare", "Comparison", "Draws", "Noise", "Statistic"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
Statistic = Literal["median", "mean", "min"]

#: An interval whose bounds differ by a larger factor than this has no information.
TOO_WIDE = 1e4
#: A plan beyond the measured counts whose interval has bounds of a larger ratio than this is a guess.
WIDE = 10.0
#: Counts at which the scatter of runs around a curve is looked at.
_SPREAD = 7
#: Number of steps to simulate in all (draws times steps) for the interval of the mean step, and the fewest draws.
_STEPS_DRAWN, _FEWEST_DRAWS = 4_000_000, 200


@explained
@dataclass(frozen=True)
class Noise:
    """Level of the intervals, and the variation from step to step.

    Parameters
    ----------
    level : float
        Probability with which an interval contains the step's time.
    samples : mapping of str to array_like (n_steps,) or a list of these, optional
        Measured times per step of each solver in a run, or in several: how they vary around their `statistic` is
        learned from them. From runs on several core counts, it is learned whether slow steps scale with the others, or
        take the same time more on any of them. If the longest runs of all solvers have as many steps, these are taken
        as the same steps of one run; otherwise they are independent.
    statistic : {"median", "mean", "min"}, or mapping of str to it, optional
        What the solvers' models tell of their steps. Fitted models know it: the mean, if they were learned from the
        times of whole runs, as simulated years per day are; else the statistic of the steps that they were learned
        from. Functions and tables are taken to tell the median.
    scatter : float, optional
        Standard deviation of the logarithm of a coupled run's time over what the solvers' models make of it. By default
        0.07 for several models, which is usual where the solvers were measured alone; 0 if they were measured inside
        coupled runs.
    inside : Inside, optional
        How much longer the solvers take inside coupled runs; `evenly.allocate` learns it from `coupled`.
    optimise : bool
        Minimise the expected time of a step, including the waiting by jitter, instead of the time of a typical step.
    draws : int
        Number of random draws.
    seed : int
        Seed of the random draws.
    """

    level: float = 0.9
    samples: Mapping[str, ArrayLike | Sequence[ArrayLike]] | None = None
    statistic: Statistic | Mapping[str, Statistic] | None = None
    scatter: float | None = None
    inside: Inside | None = None
    optimise: bool = False
    draws: int = 4000
    seed: int = 0

    def __post_init__(self) -> None:
        if not 0 < self.level < 1:
            raise InputError(f"level must lie between 0 and 1, but got {self.level}")
        if self.draws < 100:
            raise InputError(f"draws must be at least 100, but got {self.draws}")
        check_seed(self.seed)
        if self.scatter is not None and not 0 <= self.scatter < np.inf:
            raise InputError(f"scatter must be 0 or above, but got {self.scatter}")
        if self.optimise and not self.samples:
            raise InputError("minimising the expected time of a step needs times per step: give samples")
        told = self.statistic.values() if isinstance(self.statistic, Mapping) else [self.statistic or "median"]
        if wrong := [one for one in told if one not in get_args(Statistic)]:
            raise InputError(f"statistic must be median, mean or min, but got {wrong[0]!r}")

    def statistic_of(self, solver: str) -> Statistic:
        """Return what the model of a solver tells of its steps."""
        told = self.statistic.get(solver) if isinstance(self.statistic, Mapping) else self.statistic
        return told or "median"

    def knowing(self, solvers: Mapping[str, Any]) -> Noise:
        """Return this noise with what the solvers' models tell of their steps, where it isn't given."""
        if isinstance(self.statistic, str):
            return self
        known = {name: (getattr(one, "training_", None) or {}).get("of_steps") for name, one in solvers.items()}
        told = {name: statistic for name, statistic in known.items() if statistic is not None}
        return replace(self, statistic=told | dict(self.statistic or {}))


@explained
@dataclass(frozen=True)
class Compare:
    """Assignments with which a plan is compared.

    Parameters
    ----------
    current : mapping of str to int, optional
        The present assignment: cores per solver.
    degrees_of_freedom : mapping of str to float, optional
        Size of each solver's domain, for the assignment of common practice: cores in proportion to size.
    """

    current: Mapping[str, int] | None = None
    degrees_of_freedom: Mapping[str, float] | None = None

    def __post_init__(self) -> None:
        for name, count in (self.current or {}).items():
            if not is_count(count):
                raise InputError(f"current cores must be whole numbers of at least 1, but {name!r} has {count!r}")
        for name, size in (self.degrees_of_freedom or {}).items():
            if not (np.isfinite(size) and size > 0):
                raise InputError(f"degrees of freedom must be above zero, but {name!r} has {size!r}")


@dataclass(frozen=True)
class Alternative:
    """An assignment other than the plan's.

    Attributes
    ----------
    cores : dict of str to int
        Cores per solver.
    seconds : float
        Predicted time of a step.
    probability_as_fast : float
        Probability that this assignment is at least as fast as the plan.
    """

    cores: dict[str, int]
    seconds: float
    probability_as_fast: float

    def to_dict(self) -> dict[str, Any]:
        """Return the assignment as plain values, for JSON."""
        return {"cores": dict(self.cores), "seconds": self.seconds, "as_fast": self.probability_as_fast}


@dataclass(frozen=True)
class Comparison:
    """Comparison of a plan with another assignment.

    Attributes
    ----------
    cores : dict of str to int
        The other assignment.
    seconds : float
        Predicted seconds of a step with the other assignment.
    gain : float
        Fraction of the other assignment's time that the plan saves: the median over the models' errors, as one factor
        for each solver. Where no solver's uncertainty is known, the gain follows from the predicted times.
    interval : tuple of float or None
        Interval of the gain, for errors that differ between the core counts of both; None where no solver's
        uncertainty is known.
    """

    cores: dict[str, int]
    seconds: float
    gain: float
    interval: tuple[float, float] | None


class Draws:
    """Random factors on the solvers' times for an assignment: draws of the models' errors.

    Parameters
    ----------
    problem : Problem
        The allocation problem.
    cores : mapping of str to int
        The assignment at which the models' intervals are evaluated.
    noise : Noise
        Level, number of draws and seed.
    steps : mapping of str to StepPattern, optional
        How the solvers' steps vary, if assignments are to be compared by their mean steps.
    """

    def __init__(
        self,
        problem: Problem,
        cores: Mapping[str, int],
        noise: Noise,
        steps: Mapping[str, StepPattern] | None = None,
    ) -> None:
        self.problem = problem
        self.cores = dict(cores)
        self.noise = noise
        self.steps = steps

    @cached_property
    def factors(self) -> dict[str, Floats] | None:
        """Factors (n_draws,) by solver; None where no solver's uncertainty is known."""
        widths = {name: self._widths(name, self.cores[name]) for name in self.problem.names}
        if all(width is None for width in widths.values()) and self.noise.inside is None and not self.noise.scatter:
            return None
        return {name: _factors(self._normal[name], width) * self._inside[name] for name, width in widths.items()}

    @property
    def unsure_together(self) -> bool:
        """Whether `likely` is a median over the errors of several solvers."""
        return self.noise.inside is not None and not self.noise.inside.common

    @cached_property
    def _normal(self) -> dict[str, Floats]:
        """Standard normal draws (n_draws,) of the error of each solver's model at the plan's cores."""
        random = np.random.default_rng(self.noise.seed)
        return {name: _mirrored(random.standard_normal(self.noise.draws)) for name in self.problem.names}

    @cached_property
    def _inside(self) -> dict[str, Floats | float]:
        """Factors (n_draws,) of solvers inside coupled runs, on any cores."""
        if (inside := self.noise.inside) is None:
            return dict.fromkeys(self.problem.names, 1.0)
        random = np.random.default_rng(self.noise.seed + 3)
        if inside.draws is not None:
            drawn = inside.draws[random.integers(len(inside.draws), size=self.noise.draws)]
            return {name: np.exp(drawn[:, at]) for at, name in enumerate(inside.factors)}
        drawn = random.multivariate_normal(np.zeros(len(inside.factors)), inside.covariance, self.noise.draws)
        return {name: np.exp(_mirrored(drawn[:, at])) for at, name in enumerate(inside.factors)}

    def _factors_at(self, cores: Mapping[str, int]) -> dict[str, Floats]:
        """Return the factors (n_draws,) of each solver on other cores, correlated with those of the plan."""
        return {
            name: _factors(self._normal_at(name, cores[name]), self._widths(name, cores[name])) * self._inside[name]
            for name in self.problem.names
        }

    def _normal_at(self, name: str, count: int) -> Floats:
        """Return the standard normal draws (n_draws,) on another count, correlated with those of the plan."""
        curve = self.problem.curves[name]
        alike = _correlation(_place(curve, self.cores[name]), _place(curve, count))
        return np.asarray(alike * self._normal[name] + np.sqrt(1.0 - alike**2) * self._rest[name])

    @cached_property
    def _rest(self) -> dict[str, Floats]:
        """Standard normal draws (n_draws,) of what the errors on other counts don't share with those of the plan."""
        random = np.random.default_rng(self.noise.seed + 2)
        return {name: random.standard_normal(self.noise.draws) for name in self.problem.names}

    def _of_curves(self, cores: Mapping[str, int]) -> dict[str, Floats]:
        """Return factors (n_draws,) on some cores, the plan's or others: errors of the curves without those of runs.

        Both assignments share them as far as errors of curves are alike on both counts, so they cancel there.
        """
        return {
            name: _factors(self._normal_at(name, at), self._widths_of_curve(name, at)) * self._inside[name]
            for name, at in ((name, cores[name]) for name in self.problem.names)
        }

    def _widths_of_curve(self, name: str, count: int) -> tuple[float, float] | None:
        """Return the widths of a curve's own error, without the scatter of single runs around it.

        Let s² be the variance of this scatter. In the measured range, the mean variance of a new run is s² (1 + p / n)
        by least squares of p coefficients and n runs, and that of the curve is less by s². A parabola has three
        coefficients, and two more for each further parameter.
        """
        widths, scatter = self._widths(name, count), self._scatter(name)
        if widths is None or scatter is None:
            return widths
        squares, runs = scatter
        below, above = (math.sqrt(max(w**2 - s, s / runs)) for w, s in zip(widths, squares, strict=True))
        return below, above

    def _scatter(self, name: str) -> tuple[tuple[float, float], int] | None:
        """Return the variances of runs below and above a solver's curve, and the number of runs; None if unknown."""
        if name not in self._scatters:
            self._scatters[name] = self._learned_scatter(name)
        return self._scatters[name]

    @cached_property
    def _scatters(self) -> dict[str, tuple[tuple[float, float], int] | None]:
        return {}

    def _learned_scatter(self, name: str) -> tuple[tuple[float, float], int] | None:
        curve = self.problem.curves[name]
        runs, measured = getattr(curve.source, "n_runs_", None), _measured(curve)
        if not runs or measured is None:
            return None
        if not (counts := _spread(curve, *measured)):
            return None
        self.ask(name, np.array(counts))
        inside = [self._widths(name, count) for count in counts]
        known = np.array([widths for widths in inside if widths is not None])
        if not len(known):
            return None
        coefficients = 1 + 2 * len(curve.source.space_.names)
        below, above = np.mean(known**2, axis=0) / (1 + coefficients / runs)
        return (float(below), float(above)), int(runs)

    @cached_property
    def whole(self) -> Floats | float:
        """Factor (n_draws,) of a coupled run's time over what the solvers make of it; the same for all assignments."""
        scatter = self.noise.scatter if self.noise.inside is None else self.noise.inside.scatter
        if not scatter:
            return 1.0
        random = np.random.default_rng(self.noise.seed + 1)
        return np.asarray(np.exp(scatter * random.standard_normal(self.noise.draws)), dtype=np.float64)

    def _steps(self, times: Mapping[str, float], factors: Mapping[str, Floats]) -> Floats:
        """Return what the layout makes of the solvers' times and factors (n_draws,)."""
        return np.atleast_1d(self.problem.layout.seconds({n: t * factors.get(n, 1.0) for n, t in times.items()}))

    def seconds(self, times: Mapping[str, float], factors: Mapping[str, Floats] | None = None) -> Floats:
        """Return the step's seconds (n_draws,) from the solvers' times and random factors, by default the plan's."""
        return self._steps(times, factors or self.factors or {}) * self.whole

    def interval(self) -> tuple[float, float] | None:
        """Return the interval of the step's seconds, widened to contain the prediction; None without uncertainty."""
        if self.factors is None:
            return None
        times = self.problem.times(self.cores)
        return _holding(self._quantiles(self.seconds(times)), self.likely(times))

    def likely(self, times: Mapping[str, float], steps: Mapping[str, StepPattern] | None = None) -> float:
        """Return the seconds of a step with these times of the solvers; those of the mean step with `steps`.

        With coupled runs, the median over the errors. A plan makes its solvers equally slow, by their predicted times:
        the slowest of several unsure ones takes longer. Curves that were measured inside the same runs, which have one
        factor, are too sure for that.
        """
        if not self.unsure_together:
            return float(self._means(times, {}, steps)[0])
        return float(np.median(self._means(times, self.factors or {}, steps)))

    def compare(self, cores: Mapping[str, int]) -> Comparison:
        """Return the comparison of this assignment with another one.

        With `steps`, mean steps are compared: where these were minimised, steady ones may be longer.
        """
        own, times = self.problem.times(self.cores), self.problem.times(cores)
        counts = {name: int(count) for name, count in cores.items()}
        other = self.likely(times, self.steps)
        if self.factors is None:
            return Comparison(counts, other, 1.0 - self.likely(own, self.steps) / other, None)
        # The median over the draws, not the gain of the predictions. The plan was chosen for its short predicted time,
        # so the predictions overstate its gain.
        gain = float(np.median(1.0 - self._own / self._means(times, self.factors, self.steps)))
        unsure = 1.0 - self._own / self._means(times, self._factors_at(counts), self.steps)
        return Comparison(counts, other, gain, _holding(self._quantiles(unsure), gain))

    @cached_property
    def _own(self) -> Floats:
        """The seconds that the assignment `cores` is compared by; (n_draws,), fewer where steps are many."""
        return self._means(self.problem.times(self.cores), self.factors or {}, self.steps)

    def _means(
        self, times: Mapping[str, float], factors: Mapping[str, Floats], steps: Mapping[str, StepPattern] | None
    ) -> Floats:
        """Return the seconds of a step, or of the mean step with `steps`, for each draw of the errors."""
        if steps is None:
            return self._steps(times, factors)
        count = max(len(pattern.shares) for pattern in steps.values())
        draws = int(np.clip(_STEPS_DRAWN // count, _FEWEST_DRAWS, self.noise.draws))
        # Each draw of the models' errors is applied to all steps of the series; then the steps are averaged.
        unsure = {name: time * np.atleast_1d(factors.get(name, 1.0))[:draws] for name, time in times.items()}
        return mean_step(self.problem.layout, unsure, steps)

    def alternative(self, cores: Mapping[str, int], times: Mapping[str, float] | None = None) -> Alternative:
        """Return another assignment with the probability that it is at least as fast as this one.

        `times` are the predicted seconds of its solvers, where they are known already.
        """
        times = self.problem.times(cores) if times is None else times
        other = self._means(times, self._of_curves(cores), self.steps)
        probability = float(np.mean(other <= self._own_by_curves * (1 + 1e-12)))
        return Alternative(dict(cores), self.likely(times, self.steps), probability)

    @cached_property
    def _own_by_curves(self) -> Floats:
        """The seconds with which alternatives are compared; (n_draws,), fewer where steps are many."""
        return self._means(self.problem.times(self.cores), self._of_curves(self.cores), self.steps)

    def within_noise(self, other: Alternative) -> bool:
        """Tell whether `other` is at least as fast with a probability of (1 - level) / 2 or more."""
        return other.probability_as_fast >= (1.0 - self.noise.level) / 2.0

    def expected(self, steps: Mapping[str, StepPattern]) -> tuple[float, float] | None:
        """Return the interval of the mean step's seconds; None where no uncertainty is known.

        It allows for the errors of the means of the steps that were measured, too.
        """
        if self.factors is None:
            return None
        times, random = self.problem.times(self.cores), np.random.default_rng(self.noise.seed + 4)
        factors = {
            name: of_model * np.exp(steps[name].unsure(times[name]) * random.standard_normal(self.noise.draws))
            for name, of_model in self.factors.items()
        }
        means = self._means(times, factors, steps)
        whole = np.broadcast_to(self.whole, self.noise.draws)[: len(means)]
        return _holding(self._quantiles(means * whole), self.likely(times, steps))

    def _quantiles(self, values: Floats) -> tuple[float, float]:
        tail = (1.0 - self.noise.level) / 2.0
        lower, upper = np.quantile(values, [tail, 1.0 - tail])
        return float(lower), float(upper)

    def _widths(self, name: str, count: int) -> tuple[float, float] | None:
        if count not in self._known_widths[name]:
            self.ask(name, np.array([count]))
        return self._known_widths[name][count]

    def ask(self, name: str, counts: Ints) -> None:
        """Ask a solver's model for its intervals on counts (n,) that will be needed: one call for all is faster."""
        curve = self.problem.curves[name]
        bounds = curve.intervals(counts, self.noise.level)
        if bounds is None:
            self._known_widths[name] |= dict.fromkeys(counts.tolist())
            return
        predicted = curve.seconds(counts)
        # A bound at probability p is predicted * exp(-+ width * z_p): the width is the standard deviation of log time.
        z = NormalDist().inv_cdf(0.5 + self.noise.level / 2.0)
        below = np.log(predicted / np.maximum(bounds[0], 1e-300)) / z
        above = np.log(np.maximum(bounds[1], predicted) / predicted) / z
        self._known_widths[name] |= dict(
            zip(counts.tolist(), zip(below.tolist(), above.tolist(), strict=True), strict=True)
        )

    @cached_property
    def _known_widths(self) -> dict[str, dict[int, tuple[float, float] | None]]:
        return {name: {} for name in self.problem.curves}


def _holding(bounds: tuple[float, float], value: float) -> tuple[float, float]:
    """Return the bounds, widened to contain a value."""
    return min(bounds[0], value), max(bounds[1], value)


def _place(curve: SolverCurve, count: int) -> float:
    """Return where a count lies among those measured, in logarithms: -1 for the fewest, 1 for the most.

    0 where it isn't known, or one count was measured.
    """
    measured = _measured(curve)
    if measured is None:
        return 0.0
    low, high = measured
    return float(2.0 * np.log(count / low) / np.log(high / low) - 1.0)


def _measured(curve: SolverCurve) -> tuple[float, float] | None:
    """Return the fewest and the most cores that were measured; None where they aren't known, or are the same."""
    space = getattr(curve.source, "space_", None)
    kind = None if space is None else space.parameters[cores_of(curve.source)]
    low, high = (0.0, 0.0) if kind is None else (float(end) for end in ends(kind))
    return (low, high) if 0 < low < high else None


def _spread(curve: SolverCurve, low: float, high: float) -> list[int]:
    """Return some of a curve's counts in the measured range, evenly spread in logarithms."""
    places = (index_at_most(curve.counts, math.ceil(count)) for count in np.geomspace(low, high, _SPREAD))
    counts = [int(curve.counts[place]) for place in places]
    return [count for count in counts if low <= count <= high]


def _correlation(a: float, b: float) -> float:
    """Return the correlation of the errors of a parabola at two places, fitted by least squares on [-1, 1].

    The covariance is the sum of products of Legendre polynomials, which are orthogonal there.

    Examples
    --------
    >>> round(_correlation(0.3, 0.3), 6), round(_correlation(0.3, 0.5), 2), round(_correlation(-1, 1), 2)
    (1.0, 0.89, 0.33)
    """

    def covariance(x: float, y: float) -> float:
        return 1.0 + 3.0 * x * y + 5.0 * (3.0 * x**2 - 1.0) / 2.0 * (3.0 * y**2 - 1.0) / 2.0

    return min(covariance(a, b) / math.sqrt(covariance(a, a) * covariance(b, b)), 1.0)


def _mirrored(drawn: Floats) -> Floats:
    """Return draws (n_draws,) of which each second is the negative of the one before, so that their median is 0."""
    drawn[1::2] = -drawn[: len(drawn) // 2 * 2 : 2]
    return drawn


def _factors(normal: Floats, width: tuple[float, float] | None) -> Floats:
    if width is None:
        return np.ones_like(normal)
    below, above = width
    return np.asarray(np.exp(np.where(normal < 0, below, above) * normal), dtype=np.float64)
