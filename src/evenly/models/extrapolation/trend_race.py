"""The race of trends: candidates for one side of the range are compared on outer shells held out on that side.

A candidate is a trend and a regression of its residuals. For each of several shells it learns from the inner runs and
predicts the outer ones. The best candidate and those with nearly the same error are averaged.

Intervals come from how far candidates disagree. Errors in shells hardly tell which of several candidates holds far
beyond the range, so each keeps a credibility that falls with its error. The credible ones agree near the range and
diverge beyond it; an interval is wider by their root mean square distance from the prediction. What all of them miss is
added: it grows with the distance, as fast as the errors in the shells show.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from threadpoolctl import threadpool_limits

from evenly.models.array_types import Floats, Ints
from evenly.models.extrapolation.edge_shells import Shell, outer_shells
from evenly.models.extrapolation.residuals import RESIDUALS
from evenly.models.extrapolation.trends import DECAYS, LAWS, Places, Trend, TrendChoice
from evenly.models.inputs.coding import Coding, Inputs

__all__ = [
    "NORMAL_90", "USUAL", "Extrapolator", "RaceResult", "Runs", "TrendCandidate", "credible", "disagreement", "race",
    "ranking",
]  # fmt: skip

#: Shares of each parameter's range to hold out, one shell each: at sides of one parameter, and of several at once.
_SHARES, _SHARES_OF_SEVERAL = (0.08, 0.12, 0.18, 0.24, 0.36), (0.12, 0.24, 0.36)
#: Candidates whose error is at most this factor above the least are averaged; largest number of them.
_NEAR_TIE, _MOST = 1.15, 4
#: Maximum number of runs in a race; more make it slower, but hardly more reliable.
_RUNS = 4096
#: Default growth of intervals per half-range, where no shell can be held out.
_USUAL_GROWTH = 3.0
#: Least growth of intervals per half-range: shells can't show what sets in only beyond the range, as a cache that ends.
_LEAST_GROWTH = 2.0
#: Share of held-out runs that widened 90 % intervals must cover.
_COVERED = 0.9
#: A candidate whose error is f times the least has f^-_SHARPNESS of its credibility; largest number of rivals.
_SHARPNESS, _RIVALS = 5.0, 24
#: Half-width of the 90 % interval of a normal distribution, in standard deviations.
NORMAL_90 = 1.645
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
    rivals : dict of TrendCandidate to float
        Credible candidates and their credibilities, which sum to 1: intervals are wider by how far these disagree.
        Empty without shells.
    """

    candidates: list[TrendCandidate]
    error: float
    growth: float
    rivals: dict[TrendCandidate, float] = field(default_factory=dict)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        chosen = [_listed(c) for c in self.candidates]
        rivals = [[*_listed(c), share] for c, share in self.rivals.items()]
        error = self.error if np.isfinite(self.error) else None
        return {"candidates": chosen, "error": error, "growth": self.growth, "rivals": rivals}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RaceResult:
        """Restore what `to_state` returned; models of earlier versions have no rivals."""
        chosen = [_from_list(one) for one in state["candidates"]]
        error = float("nan") if state["error"] is None else float(state["error"])
        rivals = {_from_list(one[:3]): float(one[3]) for one in state.get("rivals", [])}
        return cls(chosen, error, float(state["growth"]), rivals)


def _listed(candidate: TrendCandidate) -> list[Any]:
    return [candidate.trend.law, candidate.trend.decay, candidate.rest]


def _from_list(listed: Sequence[Any]) -> TrendCandidate:
    law, decay, rest = listed
    return TrendCandidate(TrendChoice(str(law), float(decay)), str(rest))


@dataclass
class Extrapolator:
    """A candidate fitted to the runs inside a box, which extrapolates to one side of the box."""

    candidate: TrendCandidate
    signs: Ints
    low: Floats
    high: Floats

    def fit(self, runs: Runs, like: Extrapolator | None = None) -> Extrapolator:
        """Fit the trend, then the regression of its residuals, to the runs of the box.

        `like` has the same trend, fitted to the same runs: it isn't fitted again.
        """
        self._coding = runs.coding
        logs = np.array([kind == "log" for kind in runs.coding.kinds if kind != "label"], dtype=bool)
        places = Places.of(runs.inputs, runs.coding, self.low, self.high)
        if like is None:
            self._trend = Trend(self.candidate.trend, self.signs[logs]).fit(places, runs.logs, runs.weights)
        else:
            self._trend = like._trend
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
    one_sided = np.abs(signs).sum() == 1
    held_out = _SHARES if one_sided else _SHARES_OF_SEVERAL
    shells = [one for one in outer_shells(runs.inputs, signs.tolist(), held_out) if _tells(one, runs.inputs, signs)]
    if not shells:
        return RaceResult([USUAL], float("nan"), _USUAL_GROWTH)
    guesses: dict[TrendCandidate, list[Floats]] = {}
    missed: dict[TrendCandidate, Floats] = {}
    fitted: dict[tuple[TrendChoice, int], Extrapolator] = {}

    def enter(candidate: TrendCandidate) -> None:
        """Fit a candidate to the inner runs of each shell, predict the outer runs, and record its errors."""
        guesses[candidate] = []
        for k, shell in enumerate(shells):
            made = Extrapolator(candidate, signs, shell.low, shell.high)
            made.fit(runs.rows(shell.inner), fitted.get((candidate.trend, k)))
            guesses[candidate].append(made.predict(runs.inputs.rows(shell.outer)))
            fitted[candidate.trend, k] = made
        outer = [shell.outer for shell in shells]
        errors = [np.abs(g - runs.logs[o]) for g, o in zip(guesses[candidate], outer, strict=True)]
        means = [np.average(e, weights=runs.weights[o]) for e, o in zip(errors, outer, strict=True)]
        missed[candidate] = np.log(np.maximum(means, 1e-9))

    # One thread: for hundreds of small matrices, synchronising threads takes longer than computing.
    with threadpool_limits(1):
        # Steeper terms in several parameters at once would grow without measure.
        laws = [law for law in LAWS if law != "turning" or one_sided]
        trends = [TrendChoice(law, decay) for law in laws for decay in DECAYS if law != "level" or decay == 0]
        for rest in ("none", "neighbours"):
            for trend in trends:
                enter(TrendCandidate(trend, rest))
        if boosting and len(runs.logs) >= _BOOSTED:
            best = sorted(missed, key=lambda c: float(missed[c].mean()))[:4]
            for trend in dict.fromkeys(c.trend for c in best):
                enter(TrendCandidate(trend, "boosting"))
    entrants, errors = list(missed), np.array(list(missed.values()))
    ranked, shares = ranking(errors), credible(errors)
    per_shell = [np.array([guesses[c][k] for c in entrants]) for k in range(len(shells))]
    return RaceResult(
        [entrants[c] for c in ranked],
        float(_scores(errors)[ranked[0]]),
        _growth(runs, shells, per_shell, errors, half_widths),
        {entrants[c]: float(shares[c]) for c in np.flatnonzero(shares)},
    )


def _scores(missed: Floats) -> Floats:
    """Return the geometric mean over shells of each candidate's error, (n,), from log errors (n, n_shells)."""
    # The widest shell has the largest errors, but resembles extrapolation from the whole range least. Rounded, so that
    # the unit of time can't break ties.
    return np.asarray(np.round(np.exp(missed.mean(axis=1)), 9))


def ranking(missed: Floats) -> Ints:
    """Return the indices of the candidates to average, the best first, from log errors in shells (n, n_shells).

    Examples
    --------
    >>> ranking(np.log([[0.5, 0.4], [0.11, 0.1], [0.1, 0.1]]))
    array([2, 1])
    """
    scores = _scores(missed)
    order = np.argsort(scores, kind="stable")
    return np.asarray(order[scores[order] <= _NEAR_TIE * scores[order[0]]][:_MOST], dtype=np.int64)


def credible(missed: Floats) -> Floats:
    """Return the credibility of each candidate, (n,), with sum 1, from log errors in shells (n, n_shells).

    A candidate of twice the error has a 32nd of the credibility. Only the `_RIVALS` most credible keep theirs.

    Examples
    --------
    >>> credible(np.log([[0.2, 0.2], [0.1, 0.1], [0.1, 0.1]])).round(3)
    array([0.015, 0.492, 0.492])
    """
    scores = np.maximum(_scores(missed), 1e-9)
    shares = (scores / scores.min()) ** -_SHARPNESS
    shares[np.argsort(-shares, kind="stable")[_RIVALS:]] = 0.0
    return np.asarray(shares / shares.sum())


def disagreement(guesses: Floats, centre: Floats, shares: Floats) -> Floats:
    """Return how far candidates lie from a prediction, (n,): the root mean square of their distances, in logs.

    Parameters
    ----------
    guesses : array (n_candidates, n)
        Logarithms that the candidates predict.
    centre : array (n,)
        The prediction.
    shares : array (n_candidates,)
        Credibility of each candidate.
    """
    return np.asarray(np.sqrt(shares @ (guesses - centre) ** 2))


def _tells(shell: Shell, inputs: Inputs, signs: Ints) -> bool:
    """Tell whether the inner runs tell how times change towards the shell: of two values, one alone doesn't."""
    varied = np.ptp(inputs.numbers, axis=0) > 0
    return bool((shell.high > shell.low)[varied & (signs != 0)].all())


def _growth(runs: Runs, shells: list[Shell], guesses: list[Floats], missed: Floats, half_widths: Floats) -> float:
    """Return the growth per half-range with which intervals cover the share `_COVERED` of the runs in the shells.

    At distance x from the range (in half-ranges), the half-width is the one inside times 1 + growth · x, plus the
    disagreement of the rivals. The growth is the quantile over runs of the growth that each run needs to be covered.
    For each shell, winners and rivals are chosen by the errors in the other shells.
    """
    needed = []
    for k, (shell, guess) in enumerate(zip(shells, guesses, strict=True)):
        others = np.delete(missed, k, axis=1) if len(shells) > 1 else missed
        centre = guess[ranking(others)].mean(axis=0)
        apart = NORMAL_90 * disagreement(guess, centre, credible(others))
        distance = np.maximum(shell.beyond(runs.inputs.rows(shell.outer)), 1e-3)
        wide = np.maximum(half_widths[shell.outer], 1e-9)
        rest = np.maximum(np.abs(centre - runs.logs[shell.outer]) - apart, 0.0)
        needed.append((rest / wide - 1) / distance)
    return max(float(np.quantile(np.concatenate(needed), _COVERED)), _LEAST_GROWTH)
