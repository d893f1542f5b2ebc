"""The race of trends: candidates for one side of the range are compared on outer shells held out on that side.

A candidate is a trend and a regression of its residuals. For each of several shells it learns from the inner runs and
predicts the outer ones. The best candidate and those with nearly the same error are averaged. Their errors in the
shells determine how fast intervals widen with the distance from the range.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenly.models.array_types import Floats, Ints
from evenly.models.extrapolation.edge_shells import Shell, outer_shells
from evenly.models.extrapolation.residuals import RESIDUALS
from evenly.models.extrapolation.trends import DECAYS, LAWS, Places, Trend, TrendChoice
from evenly.models.inputs.coding import Coding, Inputs

__all__ = ["USUAL", "Extrapolator", "RaceResult", "Runs", "TrendCandidate", "race"]

#: Shares of each parameter's range to hold out, one shell each.
_SHARES = (0.12, 0.24, 0.36)
#: Candidates whose error is at most this factor above the least are averaged; largest number of them.
_NEAR_TIE, _MOST = 1.15, 4
#: Maximum number of runs in a race; more make it slower, but hardly more reliable.
_RUNS = 4096
#: Default growth of intervals per half-range, where no shell can be held out.
_USUAL_GROWTH = 3.0
#: Share of held-out runs that widened 90 % intervals must cover: above 0.9, since winners were chosen on these runs.
_COVERED = 0.96
#: Least number of runs for boosted trees; with fewer runs trees overfit the residuals.
_BOOSTED = 300


@dataclass(frozen=True)
class Runs:
    """Runs to learn from: coded inputs (n, …), log times (n,), weights (n,), and the coding of the inputs."""

    inputs: Inputs
    logs: Floats
    weights: Floats
    coding: Coding

    def rows(self, which: Any) -> Runs:
        """Return some of the runs."""
        return Runs(self.inputs.rows(which), self.logs[which], self.weights[which], self.coding)


@dataclass(frozen=True)
class TrendCandidate:
    """A trend, and the name of a regression of its residuals (a key of `RESIDUALS`)."""

    trend: TrendChoice
    rest: str

    @property
    def name(self) -> str:
        """A short name for tables."""
        return f"{self.trend.law}/{self.trend.decay:g}/{self.rest}"


#: The default candidate, where no shell can be held out.
USUAL = TrendCandidate(TrendChoice("rounded", 0.0), "none")


@dataclass(frozen=True)
class RaceResult:
    """Result of a race.

    Attributes
    ----------
    candidates : list of TrendCandidate
        The candidates to average, the best first.
    error : float
        Mean absolute log error of the best candidate in a shell, as geometric mean over shells; NaN without shells.
    growth : float
        Growth of intervals per half-range of distance, relative to their width inside the range.
    """

    candidates: list[TrendCandidate]
    error: float
    growth: float

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        chosen = [[c.trend.law, c.trend.decay, c.rest] for c in self.candidates]
        return {"candidates": chosen, "error": self.error if np.isfinite(self.error) else None, "growth": self.growth}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RaceResult:
        """Restore what `to_state` returned."""
        chosen = [
            TrendCandidate(TrendChoice(str(law), float(decay)), str(rest)) for law, decay, rest in state["candidates"]
        ]
        error = float("nan") if state["error"] is None else float(state["error"])
        return cls(chosen, error, float(state["growth"]))


@dataclass
class Extrapolator:
    """A candidate fitted to the runs inside a box, which extrapolates to one side of the box."""

    candidate: TrendCandidate
    signs: Ints
    low: Floats
    high: Floats

    def fit(self, runs: Runs) -> Extrapolator:
        """Fit the trend, then the regression of its residuals, to the runs of the box."""
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


def race(runs: Runs, signs: Ints, half_widths: Floats, *, boosting: bool = True) -> RaceResult:
    """Choose the candidates with the least errors in shells on one side of the range.

    Parameters
    ----------
    runs : Runs
    signs : array (n_numeric,)
        The side: 1 above, -1 below, 0 inside.
    half_widths : array (n,)
        Half-widths of the 90 % intervals that hold inside the range, at each run, in logarithms.
    boosting : bool
        Whether boosted trees on the residuals of the best trends enter the race; they take most of the time.
    """
    if len(runs.logs) > _RUNS:
        some = np.sort(np.random.default_rng(0).permutation(len(runs.logs))[:_RUNS])
        runs, half_widths = runs.rows(some), half_widths[some]
    shells = [one for one in outer_shells(runs.inputs, signs.tolist(), _SHARES) if _tells(one, runs.inputs, signs)]
    if not shells:
        return RaceResult([USUAL], float("nan"), _USUAL_GROWTH)
    guesses: dict[TrendCandidate, list[Floats]] = {}
    errors: dict[TrendCandidate, float] = {}

    def enter(candidate: TrendCandidate) -> None:
        """Fit a candidate to the inner runs of each shell, predict the outer runs, and record its error."""
        guesses[candidate], each = [], []
        for shell in shells:
            made = Extrapolator(candidate, signs, shell.low, shell.high).fit(runs.rows(shell.inner))
            guess = made.predict(runs.inputs.rows(shell.outer))
            missed = np.average(np.abs(guess - runs.logs[shell.outer]), weights=runs.weights[shell.outer])
            guesses[candidate].append(guess)
            each.append(max(float(missed), 1e-9))
        # Geometric mean over shells: the widest shell has the largest errors, but resembles extrapolation from the
        # whole range least. Rounded, so that the unit of time can't break ties.
        errors[candidate] = float(np.round(np.exp(np.mean(np.log(each))), 9))

    # One thread: for hundreds of small matrices, synchronising threads takes longer than computing.
    with threadpool_limits(1):
        trends = [TrendChoice(law, decay) for law in LAWS for decay in DECAYS if law != "level" or decay == 0]
        for rest in ("none", "neighbours"):
            for trend in trends:
                enter(TrendCandidate(trend, rest))
        if boosting and len(runs.logs) >= _BOOSTED:
            for trend in dict.fromkeys(c.trend for c in sorted(errors, key=errors.__getitem__)[:4]):
                enter(TrendCandidate(trend, "boosting"))
    ranked = sorted(errors, key=errors.__getitem__)
    best = errors[ranked[0]]
    chosen = [c for c in ranked if errors[c] <= _NEAR_TIE * best][:_MOST]
    blend = [np.mean([guesses[c][k] for c in chosen], axis=0) for k in range(len(shells))]
    return RaceResult(chosen, best, _growth(runs, shells, blend, half_widths))


def _tells(shell: Shell, inputs: Inputs, signs: Ints) -> bool:
    """Tell whether the inner runs tell how times change towards the shell: of two values, one alone doesn't."""
    varied = np.ptp(inputs.numbers, axis=0) > 0
    return bool((shell.high > shell.low)[varied & (signs != 0)].all())


def _growth(runs: Runs, shells: list[Shell], guesses: list[Floats], half_widths: Floats) -> float:
    """Return the growth per half-range with which intervals cover the share `_COVERED` of the runs in the shells.

    At distance x from the range (in half-ranges), the half-width is the one inside times 1 + growth · x. The growth is
    the quantile over runs of the growth that each run needs to be covered.
    """
    needed = []
    for shell, guess in zip(shells, guesses, strict=True):
        distance = np.maximum(shell.beyond(runs.inputs.rows(shell.outer)), 1e-3)
        wide = np.maximum(half_widths[shell.outer], 1e-9)
        needed.append((np.abs(guess - runs.logs[shell.outer]) / wide - 1) / distance)
    return max(float(np.quantile(np.concatenate(needed), _COVERED)), 0.5)
