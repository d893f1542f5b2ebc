"""How much longer solvers take in a coupled run than alone, learned from whole coupled runs.

Alone, a solver has the memory bandwidth and the network for itself, and exchanges no data. So its curve is off by a
factor inside a coupled run. Of each coupled run, only the cores of the solvers and the time of a step are needed: a
run tells the factors of those solvers that its step waits for. With f the logarithms of the factors, and P(f) the
layout's time for the curves times the factors, the logarithm of a run's time is ``log P(f) + e``. Before any run is
seen, f is normal with one of the standard deviations of `PRIORS`; e is normal, and its variance is estimated with
`SCATTER` as the first guess. The most likely f follows by Gauss-Newton steps, from several starts, since the longest of
several times has no slope in the others. Its covariance is that of the linear problem there [Bates and Watts, Nonlinear
Regression Analysis, 1988, section 2.2]. What the priors tell is weighted by their evidence.

Where the curves were measured inside the same runs, and only what is nobody's work is missing, as the exchange of data
in the timing files of CESM, all solvers have one factor.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.layout import InTurn, Layout, Repeated, Shared, SideBySide, Solver
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.allocation.problem.curves import SolverCurve

__all__ = ["SCATTER", "CoupledRuns", "Inside", "MostLikely", "learn_inside", "most_likely", "with_factors"]

Floats = NDArray[np.float64]

#: Standard deviations of the logarithm of a solver's factor, before any coupled run is seen, and how likely each is.
PRIORS = {0.05: 0.4, 0.15: 0.45, 0.4: 0.15}
#: That of a whole run's time over what the curves make: 15 runs scatter by 7.6 % (``benchmarks/coupled_runs.py``).
SCATTER = 0.07
#: The same where all solvers have one factor, since their curves were measured inside the same runs.
COMMON_SCATTER = 0.03
#: So many runs does the first guess of the scatter weigh.
_WEIGHT = 4.0
_STEPS, _NUDGE, _START = 60, 1e-5, 0.4
#: A factor that no crowded memory or network explains, if all runs are off by it.
_OTHER_WORK = 4.0


@dataclass(frozen=True)
class CoupledRuns:
    """Whole coupled runs.

    Parameters
    ----------
    cores : mapping of str to array (n_runs,) of int
        Cores of each solver.
    seconds : array (n_runs,)
        Time of a step of each run, in seconds: of the same step as the solvers' curves.
    common : bool
        Whether the curves were measured inside these runs, so that all solvers have one factor: it stands for what is
        nobody's work, such as the exchange of data.
    """

    cores: Mapping[str, NDArray[np.int64]]
    seconds: Floats
    common: bool = False

    def __post_init__(self) -> None:
        lengths = {len(counts) for counts in self.cores.values()} | {len(self.seconds)}
        if len(lengths) != 1 or not len(self.seconds):
            raise InputError("coupled runs need the cores of each solver and the seconds of each run, as many of each")
        if not (np.isfinite(self.seconds) & (self.seconds > 0)).all():
            raise InputError("the seconds of coupled runs must be numbers above zero")


@dataclass(frozen=True)
class Inside:
    """How much longer solvers take inside coupled runs than their curves tell.

    Parameters
    ----------
    factors : mapping of str to float
        The factor of each solver.
    covariance : array (n_solvers, n_solvers)
        Of the logarithms of the factors, in their order.
    scatter : float
        Standard deviation of the logarithm of a run's time around what the layout makes of these.
    runs : int
        How many coupled runs were learned from.
    common : bool
        Whether all solvers have one factor.
    """

    factors: Mapping[str, float]
    covariance: Floats
    scatter: float
    runs: int
    common: bool = False

    def to_dict(self) -> dict[str, Any]:
        """Return the factors and their standard errors, in logarithms, as plain values, for JSON."""
        errors = np.sqrt(np.diag(self.covariance)).tolist()
        return {
            "factors": dict(self.factors), "log_errors": dict(zip(self.factors, errors, strict=True)),
            "scatter": self.scatter, "runs": self.runs, "common": self.common,
        }  # fmt: skip

    def interval(self, solver: str, z: float) -> tuple[float, float]:
        """Return the interval of a solver's factor, z standard deviations to each side."""
        width = z * float(np.sqrt(self.covariance[(at := list(self.factors).index(solver)), at]))
        return self.factors[solver] * float(np.exp(-width)), self.factors[solver] * float(np.exp(width))


def learn_inside(layout: Layout, curves: Mapping[str, SolverCurve], runs: CoupledRuns) -> Inside:
    """Return the factors of solvers inside coupled runs.

    Parameters
    ----------
    layout : Layout
        How the solvers wait for each other.
    curves : mapping of str to SolverCurve
        Their curves.
    runs : CoupledRuns

    Raises
    ------
    InputError
        If a solver has no cores in the runs, or the times of all runs are of other work than the curves.
    """
    names = list(curves)
    if missing := [name for name in names if name not in runs.cores]:
        raise InputError(f"the coupled runs don't tell the cores of {missing[0]}: there are {', '.join(runs.cores)}")
    alone = {name: curves[name].seconds(runs.cores[name]) for name in names}
    measured, n = np.log(runs.seconds), len(runs.seconds)

    # Each factor of a solver, by the factors that are learned: its own, or the one of all.
    of = np.ones((len(names), 1)) if runs.common else np.eye(len(names))
    scatter = COMMON_SCATTER if runs.common else SCATTER

    def predicted(learned: Floats) -> Floats:
        logs = of @ learned
        times = {name: alone[name] * np.exp(logs[at]) for at, name in enumerate(names)}
        return np.asarray(np.log(np.broadcast_to(layout.seconds(times), (n,))), dtype=np.float64)

    d = of.shape[1]
    _check_same_work(layout, measured - predicted(np.zeros(d)))
    starts = [np.zeros(d), *(sign * _START * row for row in np.eye(d) for sign in (1, -1))]
    found = []
    for prior, weight in PRIORS.items():
        each = [most_likely(predicted, measured, start, prior, scatter) for start in starts]
        best = max(each, key=lambda one: one.evidence)
        found.append((np.log(weight) + best.evidence, best))
    highest = max(evidence for evidence, _ in found)
    weights = np.array([np.exp(evidence - highest) for evidence, _ in found])
    weights /= weights.sum()
    # The mixture of what each prior tells, by its mean and covariance.
    logs = np.sum([w * one.logs for w, (_, one) in zip(weights, found, strict=True)], axis=0)
    covariance = np.sum(
        [
            w * (np.linalg.inv(one.precision) + np.outer(one.logs - logs, one.logs - logs))
            for w, (_, one) in zip(weights, found, strict=True)
        ],
        axis=0,
    )
    variance = float(sum(w * one.variance for w, (_, one) in zip(weights, found, strict=True)))
    factors = {name: float(np.exp(value)) for name, value in zip(names, of @ logs, strict=True)}
    return Inside(factors, of @ covariance @ of.T, float(np.sqrt(variance)), n, runs.common)


def _check_same_work(layout: Layout, apart: Floats) -> None:
    """Refuse runs of which each takes many times what its solvers make, or a small part; in logarithms (n_runs,)."""
    if np.abs(apart).min() < np.log(_OTHER_WORK) or np.ptp(np.sign(apart)):
        return
    low, middle, high = (float(f"{value:.3g}") for value in np.exp([apart.min(), np.median(apart), apart.max()]))
    raise InputError(
        f"the coupled runs take about {middle:g} times ({low:g} … {high:g}) what their solvers make of a step, so they "
        "seem to be times of other work, as of many steps: give both for the same step; if a step of the coupled run "
        f"holds many of the solvers', say how many with --layout, as in --layout '{middle:g} * {layout}'"
    )


@dataclass(frozen=True)
class MostLikely:
    """Logarithms of factors (d,), their precision (d, d), the variance of runs, and the evidence for all this."""

    logs: Floats
    precision: Floats
    variance: float
    evidence: float


def most_likely(
    predicted: Callable[[Floats], Floats], measured: Floats, start: Floats, prior: float | Floats,
    scatter: float = SCATTER,
) -> MostLikely:  # fmt: skip
    """Return the most likely factors under priors with these standard deviations (Gauss-Newton, Laplace's evidence).

    `scatter` is the first guess of the standard deviation of runs.
    """
    logs, variance, n, d = start, scatter**2, len(measured), len(start)
    for _ in range(_STEPS):
        rest, nudges = measured - predicted(logs), _NUDGE * np.eye(d)
        slopes = np.column_stack([(predicted(logs + nudge) - predicted(logs)) / _NUDGE for nudge in nudges])
        precision = np.eye(d) / prior**2 + slopes.T @ slopes / variance
        # Half a step: the longest of several times has a kink.
        logs = logs + np.linalg.solve(precision, slopes.T @ rest / variance - logs / prior**2) / 2
        variance = float((_WEIGHT * scatter**2 + rest @ rest) / (_WEIGHT + n))
    rest = measured - predicted(logs)
    evidence = -(rest @ rest + _WEIGHT * scatter**2) / (2 * variance) - (n + _WEIGHT) * np.log(variance) / 2
    evidence -= np.sum(logs**2 / (2 * prior**2)) + np.sum(np.log(prior * np.ones(d)))
    evidence -= np.linalg.slogdet(precision)[1] / 2
    return MostLikely(logs, precision, variance, float(evidence))


def with_factors(layout: Layout, factors: Mapping[str, float]) -> Layout:
    """Return a layout in which each solver takes its time times its factor.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> print(with_factors(parse_layout("3 * max(a, b + c)"), {"a": 1.05, "b": 0.9, "c": 1.0}))
    3 * max(1.05 * a, 0.9 * b + c)
    """
    if isinstance(layout, Solver):
        factor = float(f"{factors.get(layout.name, 1.0):.4g}")
        return layout if factor == 1 else Repeated(factor, layout)
    if isinstance(layout, Repeated):
        return Repeated(layout.count, with_factors(layout.part, factors))
    parts = tuple(with_factors(part, factors) for part in layout.children())
    kind: type[SideBySide | InTurn | Shared] = type(layout)  # type: ignore[assignment]
    return kind(parts)
