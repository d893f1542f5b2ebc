"""How much longer solvers take in a coupled run than alone, learned from whole coupled runs.

Alone, a solver has the memory bandwidth and the network for itself, and exchanges no data. So its curve is off by a
factor inside a coupled run. Of each coupled run, only the cores of the solvers and the time of a step are needed: a run
tells the factors of those solvers that its step waits for. With f the logarithms of the factors, and P(f) the layout's
time for the curves times the factors, the logarithm of a run's time is ``log P(f) + e``. Before any run is seen, f is
normal with one of the standard deviations of `PRIORS`. Half of this variance is common to all solvers, as they crowd
the same memory and network: so a solver that no run waited for isn't taken to be as fast as alone while the others are
slower. e is normal, and its variance is estimated with `SCATTER` as the first guess. The most likely f follows by
Gauss-Newton steps, from several starts, since the longest of several times has no slope in the others. Its covariance
is that of the linear problem there [Bates and Watts, Nonlinear Regression Analysis, 1988, section 2.2]. What the priors
tell is weighted by their evidence.

Where steps vary, P(f) is the layout's mean step: so waiting that uneven steps cause isn't taken for a factor.

Of a solver that no run waited for, the others' factors tell little: its own has at least the standard deviation
`UNSEEN`, but less where a run would have waited for it.

Where the curves were measured inside the same runs, and only what is nobody's work is missing, as the exchange of data
in the timing files of CESM, all solvers have one factor.
"""

from __future__ import annotations

import warnings
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.allocation.problem.layout import Layout
from evenly.allocation.problem.lone_runs import check_no_lone_run
from evenly.allocation.problem.step_patterns import StepPattern, mean_step
from evenly.errors import EvenlyWarning, InputError

if TYPE_CHECKING:
    from evenly.allocation.problem.curves import SolverCurve

__all__ = [
    "MUCH",
    "SCATTER",
    "CoupledRuns",
    "Inside",
    "MostLikely",
    "evidence_of",
    "fitted_to",
    "learn_inside",
    "most_likely",
    "variance_of",
    "waited_for",
]

Floats = NDArray[np.float64]

#: Standard deviations of the logarithm of a solver's factor, before any coupled run is seen, and how likely each is.
PRIORS = {0.05: 0.4, 0.15: 0.45, 0.4: 0.15}
#: Share of their squares that all solvers have in common; chosen.
SHARED = 0.5
#: That of a whole run's time over what the curves make: 15 runs scatter by 7.6 % (``benchmarks/coupled_runs.py``).
SCATTER = 0.07
#: The same where all solvers have one factor, since their curves were measured inside the same runs; chosen.
COMMON_SCATTER = 0.03
#: So many runs does the first guess of the scatter weigh.
_WEIGHT = 4.0
#: Standard deviation of the logarithm of a factor that no run waited for: up to 1.4 are in the 90 % interval; chosen.
UNSEEN = 0.2
#: Whoever says of how many steps coupled runs are is told if all differ from them by this factor.
MUCH = 1.7
#: Standard deviations to each side of a 90 % interval.
_Z90 = 1.645
#: A run waited for a solver, if so much of a change of its time were seen in the run's.
_SEEN = 0.2
#: Such a change, as a logarithm: more than errors of a run make.
_FASTER = 0.1
_STEPS, _NUDGE, _START = 60, 1e-5, 0.4
#: The search ends at a step below this.
_FOUND = 1e-7


@dataclass(frozen=True)
class CoupledRuns:
    """Whole coupled runs.

    Parameters
    ----------
    cores : mapping of str to array (n_runs,) of int
        Cores of each solver.
    seconds : array (n_runs,)
        Time of a step of each run, in seconds: of the same step as the solvers' curves. Lists become arrays.
    common : bool
        Whether the curves were measured inside these runs, so that all solvers have one factor: it stands for what is
        nobody's work, such as the exchange of data.
    most_apart : float
        If all runs take more than so many times what the curves make, or less than such a part, they are refused as
        times of other work: no crowded memory or network explains the default. With infinity, a warning says so.
    outliers : {"refuse", "keep"}
        Whether a run that is far off the others is refused. Those that the curves were measured in are kept.

    Examples
    --------
    >>> import evenly
    >>> from evenly.allocation import CoupledRuns
    >>> runs = CoupledRuns({"atm": [64, 96], "ocn": [64, 32]}, [9.5, 9.4])
    >>> plan = evenly.allocate({"atm": lambda p: 600 / p, "ocn": lambda p: 300 / p}, cores=128, coupled=runs)
    >>> sum(plan.cores.values())
    128
    """

    cores: Mapping[str, NDArray[np.int64]]
    seconds: Floats
    common: bool = False
    most_apart: float = 4.0
    outliers: Literal["refuse", "keep"] = "refuse"

    def __post_init__(self) -> None:
        object.__setattr__(self, "cores", {name: np.asarray(counts) for name, counts in self.cores.items()})
        object.__setattr__(self, "seconds", np.asarray(self.seconds, dtype=np.float64))
        lengths = {len(counts) for counts in self.cores.values()} | {len(self.seconds)}
        if self.outliers not in ("refuse", "keep"):
            raise InputError(f"outliers must be one of refuse, keep, but got {self.outliers!r}")
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
    unseen : tuple of str
        Solvers that no run waited for: their factors are known from above at most.
    draws : array (n_draws, n_solvers), optional
        Draws of the logarithms of the factors, over those of `factors`; by default, they are normal.
    """

    factors: Mapping[str, float]
    covariance: Floats
    scatter: float
    runs: int
    common: bool = False
    unseen: tuple[str, ...] = ()
    draws: Floats | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the factors and their standard errors, in logarithms, as plain values, for JSON."""
        errors = np.sqrt(np.diag(self.covariance)).tolist()
        return {
            "factors": dict(self.factors), "log_errors": dict(zip(self.factors, errors, strict=True)),
            "scatter": self.scatter, "runs": self.runs, "common": self.common, "unseen": list(self.unseen),
        }  # fmt: skip

    def interval(self, solver: str, z: float) -> tuple[float, float]:
        """Return the interval of a solver's factor, z standard deviations to each side."""
        width = z * float(np.sqrt(self.covariance[(at := list(self.factors).index(solver)), at]))
        return self.factors[solver] * float(np.exp(-width)), self.factors[solver] * float(np.exp(width))


def learn_inside(
    layout: Layout,
    curves: Mapping[str, SolverCurve],
    runs: CoupledRuns,
    steps: Mapping[str, StepPattern] | None = None,
) -> Inside:
    """Return the factors of solvers inside coupled runs.

    Parameters
    ----------
    layout : Layout
        How the solvers wait for each other.
    curves : mapping of str to SolverCurve
        Their curves.
    runs : CoupledRuns
    steps : mapping of str to StepPattern, optional
        How their steps vary, all of one length. The times of runs are those of their mean steps.

    Raises
    ------
    InputError
        If a solver has no cores in the runs, or the times of all runs are of other work than the curves, or that of one
        is far off the others.
    """
    names = list(curves)
    if missing := [name for name in names if name not in runs.cores]:
        raise InputError(f"the coupled runs don't tell the cores of {missing[0]}: there are {', '.join(runs.cores)}")
    alone = {name: curves[name].seconds(runs.cores[name]) for name in names}
    measured, n = np.log(runs.seconds), len(runs.seconds)

    def predicted(logs: Floats) -> Floats:
        times = {name: alone[name] * np.exp(logs[at]) for at, name in enumerate(names)}
        seconds = layout.seconds(times) if steps is None else mean_step(layout, times, steps)
        return np.asarray(np.log(np.broadcast_to(seconds, (n,))), dtype=np.float64)

    d = len(names)
    _check_same_work(measured - predicted(np.zeros(d)), runs.most_apart)
    # Unknowns are a part of the logarithms that all solvers share, and a part of each, if not all have one factor.
    own = np.column_stack([np.full(d, np.sqrt(SHARED)), np.sqrt(1 - SHARED) * np.eye(d)])
    parts, scatter = (np.ones((d, 1)), COMMON_SCATTER) if runs.common else (own, SCATTER)
    unit = np.eye(parts.shape[1])
    starts = [0 * unit[0], *(sign * _START * row for row in unit for sign in (1, -1))]
    if not runs.common and runs.outliers == "refuse":
        check_no_lone_run(
            {name: runs.cores[name] for name in names},
            measured,
            lambda rows: fitted_to(rows, lambda x: predicted(parts @ x), measured, starts, max(PRIORS)),
        )
    found = []
    for prior, weight in PRIORS.items():
        each = [most_likely(lambda x: predicted(parts @ x), measured, start, prior, scatter) for start in starts]
        best = max(each, key=lambda one: one.evidence)
        found.append((np.log(weight) + best.evidence, best))
    highest = max(evidence for evidence, _ in found)
    weights = np.array([np.exp(evidence - highest) for evidence, _ in found])
    weights /= weights.sum()
    # The mixture of what each prior tells, by its mean and covariance.
    unknowns = np.sum([w * one.logs for w, (_, one) in zip(weights, found, strict=True)], axis=0)
    covariance = np.sum(
        [
            w * (np.linalg.inv(one.precision) + np.outer(one.logs - unknowns, one.logs - unknowns))
            for w, (_, one) in zip(weights, found, strict=True)
        ],
        axis=0,
    )
    logs, covariance = parts @ unknowns, parts @ covariance @ parts.T
    variance = float(sum(w * one.variance for w, (_, one) in zip(weights, found, strict=True)))
    factors = {name: float(np.exp(value)) for name, value in zip(names, logs, strict=True)}
    seen = np.asarray(waited_for(predicted, logs, np.eye(d)).any(axis=0) | runs.common)
    unsure = np.array([0 if seen[k] else _unseen(predicted, logs, row, variance) for k, row in enumerate(np.eye(d))])
    covariance += np.diag(np.maximum(unsure**2 - np.diag(covariance), 0))
    unseen = tuple(name for name, found in zip(names, seen, strict=True) if not found)
    return Inside(factors, covariance, float(np.sqrt(variance)), n, runs.common, unseen)


def waited_for(predicted: Callable[[Floats], Floats], logs: Floats, solvers: Floats) -> NDArray[np.bool_]:
    """Return which runs waited for which solver (…, n_runs, n_solvers): they'd be shorter, were the solver faster.

    Parameters
    ----------
    predicted : callable
        From unknowns (…, d) to the logarithms of the runs' times (…, n_runs).
    logs : array (…, d)
        The unknowns.
    solvers : array (n_solvers, d)
        For each solver, the change of the unknowns that makes its time e times as long.
    """
    faster = [predicted(logs) - predicted(logs - _FASTER * row) for row in solvers]
    return np.stack(faster, axis=-1) > _SEEN * _FASTER


def _unseen(predicted: Callable[[Floats], Floats], logs: Floats, solver: Floats, variance: float) -> float:
    """Return the standard deviation of a factor that no run waited for.

    Were it above its 90 % interval, a run would be longer by more than runs scatter.
    """
    slower = np.linspace(0, _Z90 * UNSEEN, 41)
    longer = np.array([np.max(predicted(logs + by * solver) - predicted(logs)) for by in slower])
    return float(slower[longer <= np.sqrt(variance)].max()) / _Z90


def _check_same_work(apart: Floats, most: float) -> None:
    """Refuse runs of which each takes many times what its solvers make, or a small part; in logarithms (n_runs,).

    Whoever knows the work of the runs is only told.
    """
    if np.abs(apart).min() < np.log(most if np.isfinite(most) else MUCH) or np.ptp(np.sign(apart)):
        return
    low, middle, high = (float(f"{value:.3g}") for value in np.exp([apart.min(), np.median(apart), apart.max()]))
    said = f"the coupled runs take about {middle:g} times ({low:g} … {high:g}) as long as a step of their solvers"
    if not np.isfinite(most):
        warnings.warn(f"{said}, by the number of steps that was given: is it right?", EvenlyWarning, stacklevel=2)
        return
    raise InputError(
        f"{said}, so they seem to be of other work, as of many steps: say with --coupled-steps of how many steps each "
        "time is (1 for one, 365 for a year beside days); what coupling adds doesn't count. In Python, divide the "
        "seconds by it. If only the unit differs, write it into the column's name, as 'time [min]'"
    )


def _slopes_of(predicted: Callable[[Floats], Floats], logs: Floats) -> Floats:
    """Return how the predicted logarithms (n_runs,) change with the unknowns (d,), shape (n_runs, d)."""
    here = predicted(logs)
    return np.column_stack([(predicted(logs + nudge) - here) / _NUDGE for nudge in _NUDGE * np.eye(len(logs))])


def variance_of(squares: Floats | float, n: int, scatter: float = SCATTER) -> Floats:
    """Return the variance of n runs whose errors have these sums of squares, with the first guess of their scatter."""
    return np.asarray((_WEIGHT * scatter**2 + squares) / (_WEIGHT + n))


def evidence_of(squares: Floats, n: int, scatter: float = SCATTER) -> Floats:
    """Return the logarithm of how likely n runs are, whatever their variance, without a constant."""
    return np.asarray(-(n + _WEIGHT) * np.log(variance_of(squares, n, scatter)) / 2)


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
        rest, slopes = measured - predicted(logs), _slopes_of(predicted, logs)
        precision = np.eye(d) / prior**2 + slopes.T @ slopes / variance
        # Half a step: the longest of several times has a kink.
        change = np.linalg.solve(precision, slopes.T @ rest / variance - logs / prior**2) / 2
        logs, before, variance = logs + change, variance, float(variance_of(rest @ rest, n, scatter))
        if max(np.abs(change).max(), abs(variance / before - 1)) < _FOUND:
            break
    rest = measured - predicted(logs)
    evidence = -(rest @ rest + _WEIGHT * scatter**2) / (2 * variance) - (n + _WEIGHT) * np.log(variance) / 2
    evidence -= np.sum(logs**2 / (2 * prior**2)) + np.sum(np.log(prior * np.ones(d)))
    evidence -= np.linalg.slogdet(precision)[1] / 2
    return MostLikely(logs, precision, variance, float(evidence))


def fitted_to(
    rows: NDArray[np.bool_], predicted: Callable[[Floats], Floats], measured: Floats, starts: Sequence[Floats],
    prior: float | Floats,
) -> Floats:  # fmt: skip
    """Return what the most likely unknowns for some runs tell of all, in logarithms (n_runs,)."""
    each = [most_likely(lambda x: predicted(x)[rows], measured[rows], start, prior) for start in starts]
    return predicted(max(each, key=lambda one: one.evidence).logs)
