"""Which trends go on best towards one side of the range: candidates raced on shells held out at that side.

A candidate is a trend and what is learned of what it leaves. Each learns from the inner runs of several shells and
predicts the outer ones; candidates whose errors are about as small as the best one's are averaged. What their errors
are, relative to the intervals inside the range and by distance, says how intervals widen beyond it.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from threadpoolctl import threadpool_limits  # type: ignore[import-untyped]

from evenly.models.extrapolation.edge_shells import Shell, outer_shells
from evenly.models.extrapolation.residuals import Residual, residual
from evenly.models.extrapolation.trends import LAWS, PULLS, Places, Trend, TrendChoice
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["USUAL", "Candidate", "Continuation", "Runs", "Winners", "race"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
SHARES = (0.12, 0.24, 0.36)
#: Candidates whose error is at most this much larger than the best one's are averaged with it, few of them.
_NEAR_TIE, _MOST = 1.15, 4
#: Runs that a race looks at; more make it slower, not surer.
_RUNS = 4096
#: Without a shell to learn it from.
_USUAL_GROWTH = 3.0
#: More than the 0.9 asked for, since winners were chosen on the same shells.
_COVERED = 0.96
#: Trees on what a trend leaves of fewer runs learn its noise.
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
    """A trend, and what learns the rest."""

    trend: TrendChoice
    rest: str

    @property
    def name(self) -> str:
        """A short name, as tables show it."""
        return f"{self.trend.law}/{self.trend.pull:g}/{self.rest}"


#: Where nothing can be held out.
USUAL = Candidate(TrendChoice("rounded", 0.0), "none")


@dataclass(frozen=True)
class Winners:
    """Outcome of a race.

    Attributes
    ----------
    candidates : list of Candidate
        Those to average, the best first.
    error : float
        Mean |log ratio| of the best in the shells (their geometric mean); NaN where nothing could be held out.
    growth : float
        By how much intervals grow per half-range beyond the range, relative to their size in it.
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


class Continuation:
    """One candidate, fitted to runs of a box towards one side of it."""

    def __init__(self, candidate: Candidate, signs: Ints, low: Floats, high: Floats) -> None:
        self._candidate, self._signs, self._low, self._high = candidate, signs, low, high

    def fit(self, runs: Runs) -> Continuation:
        """Learn from the runs of the box."""
        self._coding = runs.coding
        logs = np.array([kind == "log" for kind in runs.coding.kinds if kind != "label"], dtype=bool)
        places = Places.of(runs.inputs, runs.coding, self._low, self._high)
        self._trend = Trend(self._candidate.trend, self._signs[logs]).fit(places, runs.logs, runs.weights)
        at_runs = self._trend.predict(places)
        self._rest: Residual = residual(self._candidate.rest)
        self._rest.fit(runs.inputs, at_runs, runs.logs - at_runs, runs.weights)
        return self

    def trend(self, inputs: Inputs) -> Floats:
        """Return the trend's logs, (n,)."""
        return self._trend.predict(Places.of(inputs, self._coding, self._low, self._high))

    def predict(self, inputs: Inputs) -> Floats:
        """Return logs, (n,): the trend's, and what it leaves at the nearest place of the box."""
        trend = self.trend(inputs)
        edge = Inputs(np.clip(inputs.numbers, self._low, self._high), inputs.labels, inputs.sizes)
        return np.asarray(trend + self._rest.predict(edge, trend))


def race(runs: Runs, signs: Ints, half_widths: Floats, *, boosting: bool = True) -> Winners:
    """Choose candidates for one side of the range.

    Parameters
    ----------
    runs : Runs
    signs : array (n_numeric,)
        The side: 1 above, -1 below, 0 inside.
    half_widths : array (n,)
        Half-widths of the 90 % intervals that the runs would have had inside the range.
    boosting : bool
        Whether trees on what the best trends leave take part; they cost most of the time.
    """
    if len(runs.logs) > _RUNS:
        some = np.sort(np.random.default_rng(0).permutation(len(runs.logs))[:_RUNS])
        runs, half_widths = runs.rows(some), half_widths[some]
    shells = outer_shells(runs.inputs, signs.tolist(), SHARES)
    if not shells:
        return Winners([USUAL], float("nan"), _USUAL_GROWTH)
    # Hundreds of small matrices: threads would wait for each other longer than they compute.
    with threadpool_limits(1):
        return _race(runs, signs, shells, half_widths, boosting=boosting)


def _race(runs: Runs, signs: Ints, shells: list[Shell], half_widths: Floats, *, boosting: bool) -> Winners:
    entered = _Field(runs, signs, shells)
    trends = [TrendChoice(law, pull) for law in LAWS for pull in PULLS if law != "level" or pull == 0]
    entered.enter([Candidate(trend, rest) for rest in ("none", "neighbours") for trend in trends])
    if boosting and len(runs.logs) >= _BOOSTED:
        entered.enter([Candidate(trend, "boosting") for trend in dict.fromkeys(c.trend for c in entered.ranked[:4])])
    best = entered.errors[entered.ranked[0]]
    chosen = [c for c in entered.ranked if entered.errors[c] <= _NEAR_TIE * best][:_MOST]
    blend = [np.mean([entered.guesses[c][k] for c in chosen], axis=0) for k in range(len(shells))]
    return Winners(chosen, best, _growth(runs, shells, blend, half_widths))


class _Field:
    """Candidates that ran: what they predicted in each shell, and how far off they were."""

    def __init__(self, runs: Runs, signs: Ints, shells: list[Shell]) -> None:
        self._runs, self._signs, self._shells = runs, signs, shells
        self.guesses: dict[Candidate, list[Floats]] = {}
        self.errors: dict[Candidate, float] = {}

    def enter(self, candidates: list[Candidate]) -> None:
        """Let candidates learn the inner runs of each shell and predict the outer ones."""
        for candidate in candidates:
            self.guesses[candidate] = [self._guess(candidate, shell) for shell in self._shells]
            self.errors[candidate] = _error(self._runs, self._shells, self.guesses[candidate])

    def _guess(self, candidate: Candidate, shell: Shell) -> Floats:
        made = Continuation(candidate, self._signs, shell.low, shell.high).fit(self._runs.rows(shell.inner))
        return made.predict(self._runs.inputs.rows(shell.outer))

    @property
    def ranked(self) -> list[Candidate]:
        """Candidates, the best first."""
        return sorted(self.errors, key=self.errors.__getitem__)


def _error(runs: Runs, shells: list[Shell], guesses: list[Floats]) -> float:
    """Geometric mean over shells: the widest, whose errors are largest, is also least like what is beyond."""
    each = [
        max(float(np.average(np.abs(guess - runs.logs[s.outer]), weights=runs.weights[s.outer])), 1e-9)
        for s, guess in zip(shells, guesses, strict=True)
    ]
    # Rounded, so that the unit of time decides no tie.
    return float(np.round(np.exp(np.mean(np.log(each))), 9))


def _growth(runs: Runs, shells: list[Shell], guesses: list[Floats], half_widths: Floats) -> float:
    """By how much intervals must grow per half-range to cover the shells, by quantile over their runs."""
    needed = []
    for shell, guess in zip(shells, guesses, strict=True):
        distance = np.maximum(shell.beyond(runs.inputs.rows(shell.outer)), 1e-3)
        wide = np.maximum(half_widths[shell.outer], 1e-9)
        needed.append((np.abs(guess - runs.logs[shell.outer]) / wide - 1) / distance)
    return max(float(np.quantile(np.concatenate(needed), _COVERED)), 0.5)
