"""The race of trends: candidates that extrapolate to one side of the range are compared on shells held out there.

A candidate is a trend and a regression of its residuals. Each learns from the inner runs of several shells and predicts
the outer ones. Candidates whose errors are nearly as small as the least are averaged. Their errors in the shells,
relative to the intervals inside the range and to the distance from it, say how much intervals widen outside.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenly.models.extrapolation.edge_shells import Shell, outer_shells
from evenly.models.extrapolation.residuals import RESIDUALS
from evenly.models.extrapolation.trends import LAWS, PULLS, Places, Trend, TrendChoice
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["USUAL", "Candidate", "Continuation", "Runs", "Winners", "race"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Shares of the range that are held out.
_SHARES = (0.12, 0.24, 0.36)
#: Candidates whose error is at most this much larger than the best one's are averaged with it, few of them.
_NEAR_TIE, _MOST = 1.15, 4
#: Runs that a race uses; more make it slower, not surer.
_RUNS = 4096
#: Growth of intervals, per half-range, without a shell to learn it from.
_USUAL_GROWTH = 3.0
#: Share of the runs in shells that 90 % intervals must cover: more than 0.9, since winners were chosen on these runs.
_COVERED = 0.96
#: With fewer runs trees learn the noise of a trend's residuals.
_BOOSTED = 300


@dataclass(frozen=True)
class Runs:
    """What is learned from: inputs (n, …), logs (n,), weights (n,), and how inputs were coded."""

    inputs: Inputs
    logs: Floats
    weights: Floats
    coding: Coding

    def rows(self, which: Any) -> Runs:
        """Return some of the runs."""
        return Runs(self.inputs.rows(which), self.logs[which], self.weights[which], self.coding)


@dataclass(frozen=True)
class Candidate:
    """A trend, and the name in `RESIDUALS` of what learns its residuals."""

    trend: TrendChoice
    rest: str

    @property
    def name(self) -> str:
        """A short name, as tables show it."""
        return f"{self.trend.law}/{self.trend.pull:g}/{self.rest}"


#: The candidate taken where nothing can be held out.
USUAL = Candidate(TrendChoice("rounded", 0.0), "none")


@dataclass(frozen=True)
class Winners:
    """Result of a race.

    Attributes
    ----------
    candidates : list of Candidate
        Those to average, the best first.
    error : float
        Mean |log ratio| of the best in each shell, the geometric mean over shells; NaN where nothing could be held out.
    growth : float
        Growth of intervals per half-range beyond the range, relative to their width in it.
    """

    candidates: list[Candidate]
    error: float
    growth: float

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        chosen = [[c.trend.law, c.trend.pull, c.rest] for c in self.candidates]
        return {"candidates": chosen, "error": self.error if np.isfinite(self.error) else None, "growth": self.growth}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Winners:
        """Restore what `to_state` returned."""
        chosen = [Candidate(TrendChoice(str(law), float(pull)), str(rest)) for law, pull, rest in state["candidates"]]
        error = float("nan") if state["error"] is None else float(state["error"])
        return cls(chosen, error, float(state["growth"]))


@dataclass
class Continuation:
    """One candidate, fitted to the runs of a box to extrapolate to one side of it."""

    candidate: Candidate
    signs: Ints
    low: Floats
    high: Floats

    def fit(self, runs: Runs) -> Continuation:
        """Learn from the runs of the box."""
        self._coding = runs.coding
        logs = np.array([kind == "log" for kind in runs.coding.kinds if kind != "label"], dtype=bool)
        places = Places.of(runs.inputs, runs.coding, self.low, self.high)
        self._trend = Trend(self.candidate.trend, self.signs[logs]).fit(places, runs.logs, runs.weights)
        at_runs = self._trend.predict(places)
        kind = RESIDUALS[self.candidate.rest]
        self._rest = None if kind is None else kind().fit(runs.inputs, at_runs, runs.logs - at_runs, runs.weights)
        return self

    def trend(self, inputs: Inputs) -> Floats:
        """Return the trend's logs, (n,)."""
        return self._trend.predict(Places.of(inputs, self._coding, self.low, self.high))

    def predict(self, inputs: Inputs) -> Floats:
        """Return logs, (n,): the trend, plus its residual at the nearest point of the box."""
        trend = self.trend(inputs)
        if self._rest is None:
            return trend
        edge = Inputs(np.clip(inputs.numbers, self.low, self.high), inputs.labels, inputs.sizes)
        return np.asarray(trend + self._rest.predict(edge, trend))


def race(runs: Runs, signs: Ints, half_widths: Floats, *, boosting: bool = True) -> Winners:
    """Choose candidates for one side of the range.

    Parameters
    ----------
    runs : Runs
    signs : array (n_numeric,)
        The side: 1 above, -1 below, 0 inside.
    half_widths : array (n,)
        Half-widths of the 90 % intervals that the runs would have had inside the range, in logarithms.
    boosting : bool
        Whether trees on the residuals of the best trends take part; they cost most of the time.
    """
    if len(runs.logs) > _RUNS:
        some = np.sort(np.random.default_rng(0).permutation(len(runs.logs))[:_RUNS])
        runs, half_widths = runs.rows(some), half_widths[some]
    shells = outer_shells(runs.inputs, signs.tolist(), _SHARES)
    if not shells:
        return Winners([USUAL], float("nan"), _USUAL_GROWTH)
    guesses: dict[Candidate, list[Floats]] = {}
    errors: dict[Candidate, float] = {}

    def enter(candidate: Candidate) -> None:
        """Let a candidate learn the inner runs of each shell and predict the outer ones."""
        guesses[candidate], each = [], []
        for shell in shells:
            made = Continuation(candidate, signs, shell.low, shell.high).fit(runs.rows(shell.inner))
            guess = made.predict(runs.inputs.rows(shell.outer))
            missed = np.average(np.abs(guess - runs.logs[shell.outer]), weights=runs.weights[shell.outer])
            guesses[candidate].append(guess)
            each.append(max(float(missed), 1e-9))
        # Geometric mean: the widest shell has the largest errors, but is least like the range's outside.
        # Rounded, so that the unit of time decides no tie.
        errors[candidate] = float(np.round(np.exp(np.mean(np.log(each))), 9))

    # Hundreds of small matrices: threads would wait for each other longer than they compute.
    with threadpool_limits(1):
        trends = [TrendChoice(law, pull) for law in LAWS for pull in PULLS if law != "level" or pull == 0]
        for rest in ("none", "neighbours"):
            for trend in trends:
                enter(Candidate(trend, rest))
        if boosting and len(runs.logs) >= _BOOSTED:
            for trend in dict.fromkeys(c.trend for c in sorted(errors, key=errors.__getitem__)[:4]):
                enter(Candidate(trend, "boosting"))
    ranked = sorted(errors, key=errors.__getitem__)
    best = errors[ranked[0]]
    chosen = [c for c in ranked if errors[c] <= _NEAR_TIE * best][:_MOST]
    blend = [np.mean([guesses[c][k] for c in chosen], axis=0) for k in range(len(shells))]
    return Winners(chosen, best, _growth(runs, shells, blend, half_widths))


def _growth(runs: Runs, shells: list[Shell], guesses: list[Floats], half_widths: Floats) -> float:
    """Return the growth per half-range with which intervals cover the runs in the shells, a quantile over these runs.

    The half-width at distance x from the range is that inside times 1 + growth · x.
    """
    needed = []
    for shell, guess in zip(shells, guesses, strict=True):
        distance = np.maximum(shell.beyond(runs.inputs.rows(shell.outer)), 1e-3)
        wide = np.maximum(half_widths[shell.outer], 1e-9)
        needed.append((np.abs(guess - runs.logs[shell.outer]) / wide - 1) / distance)
    return max(float(np.quantile(np.concatenate(needed), _COVERED)), 0.5)
