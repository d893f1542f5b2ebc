"""Extrapolation beyond the measured range: a trend times its residual at the nearest point of the range.

Trees, neighbours and kernels can't extrapolate, and polynomials oscillate beyond the measured range. This model uses a
trend instead: a power law, a parabola in logarithms, or a sum of power laws whose exponents are multiples of one half
(`evenly.models.extrapolation.trends`). The trend is multiplied by its residual (measured over predicted time) at the
nearest point of the range.

The trend is chosen for each side of the range. Candidates are compared on outer shells of the measured range, whose
runs are held out (`evenly.models.extrapolation.edge_shells`). Prediction intervals widen by how far the credible
candidates disagree, and by what all of them missed in the shells (`evenly.models.extrapolation.trend_race`).
"""

from __future__ import annotations

import itertools
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from statistics import NormalDist
from typing import Any, ClassVar, final

import numpy as np
import pandas as pd
from scipy.spatial import KDTree

from evenly.models.array_types import Floats, Ints
from evenly.models.extrapolation.edge_shells import sides
from evenly.models.extrapolation.trend_race import (
    NORMAL_90,
    USUAL,
    Extrapolator,
    RaceResult,
    Runs,
    TrendCandidate,
    disagreement,
    race,
)  # fmt: skip
from evenly.models.extrapolation.trends import TrendChoice
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.space.space import Configurations

__all__ = ["Beyond"]

_NEIGHBOURS = 8
#: Predicted logs are clipped to plus and minus this, so that times don't overflow.
_FINITE = 300.0
#: A warning tells of doubts where laws differ by this factor or more, or miss the outer runs by it.
_DOUBTFUL = 1.5
#: Largest number of configurations in which doubts are looked for.
_LOOKED_AT = 256


class _Beyond(Regressor):
    """The `Extrapolator` models of each side; they are fitted at the first prediction beyond that side."""

    def __init__(self, coding: Coding, boosting: bool) -> None:
        self._coding, self._boosting = coding, boosting
        self._fitted_sides: dict[tuple[TrendCandidate, tuple[int, ...]], Extrapolator] = {}
        self.results: dict[str, RaceResult] = {}

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self._runs, self._fitted_sides = Runs(inputs, logs, weights, self._coding), {}
        # Number of coefficients of a parabola in logarithms.
        d = len(self._coding.numeric)
        self._parabola = 1 + d + d * (d + 1) // 2 + sum(self._coding.sizes)

    def race(self, intervals: LocalConformal) -> None:
        """Compare the candidates for each side, given the prediction intervals inside the range."""
        half_widths = intervals.half_width(self._runs.inputs, 0.9)
        numbers = self._runs.inputs.numbers
        # A parameter with a single value has no outer runs to hold out.
        varied = [j for j in range(numbers.shape[1]) if np.ptp(numbers[:, j]) > 0]
        wanted: dict[str, Ints] = {}
        for j, sign in itertools.product(varied, (1, -1)):
            signs = sign * np.eye(numbers.shape[1], dtype=np.int64)[j]
            wanted[_side_name(signs)] = signs
        if len(varied) > 1:
            everywhere = np.isin(np.arange(numbers.shape[1]), varied).astype(np.int64)
            wanted |= {"several above": everywhere, "several below": -everywhere}
        self.results = {
            name: race(self._runs, signs, half_widths, boosting=self._boosting) for name, signs in wanted.items()
        }

    def result_for(self, signs: Ints) -> RaceResult:
        """Return the result of a side's race, or the default candidate where there was no race, as inside the range."""
        usual = RaceResult([USUAL], float("nan"), 3.0)
        return self.results.get(_side_name(signs), usual) if signs.any() else usual

    def predict(self, inputs: Inputs) -> Floats:
        found = np.zeros(len(inputs))
        for signs, rows in _by_side(inputs):
            here = inputs.rows(rows)
            found[rows] = np.mean([self._logs(c, signs, here) for c in self._candidates(signs)], axis=0)
        return np.clip(found, -_FINITE, _FINITE)

    def disagreement(self, inputs: Inputs) -> Floats:
        """Return how far the rivals lie from the prediction for each configuration, (n,), in logs."""
        centre, found = self.predict(inputs), np.zeros(len(inputs))
        for signs, rows in _by_side(inputs):
            rivals = self.result_for(signs).rivals
            if rivals:
                guesses = np.array([self._logs(c, signs, inputs.rows(rows)) for c in rivals])
                found[rows] = disagreement(guesses, centre[rows], np.array(list(rivals.values())))
        return np.minimum(found, _FINITE)

    def _candidates(self, signs: Ints) -> list[TrendCandidate]:
        if signs.any():
            return self.result_for(signs).candidates
        law = "quadratic" if len(self._runs.logs) >= 3 * self._parabola else "power"
        return [TrendCandidate(TrendChoice(law, 0.0), "neighbours")]

    def _logs(self, candidate: TrendCandidate, signs: Ints, inputs: Inputs) -> Floats:
        return self._extrapolator(candidate, signs).predict(inputs)

    def _extrapolator(self, candidate: TrendCandidate, signs: Ints) -> Extrapolator:
        key = candidate, tuple(int(s) for s in signs)
        if key not in self._fitted_sides:
            low, high = self._runs.inputs.numbers.min(axis=0), self._runs.inputs.numbers.max(axis=0)
            self._fitted_sides[key] = Extrapolator(candidate, signs, low, high).fit(self._runs)
        return self._fitted_sides[key]

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """Predict each run by the trend of all runs plus the residuals of its neighbours in other folds, (n,) logs.

        The trend has few coefficients, so leaving out a fold hardly changes it. None where there are too few runs.
        """
        if len(logs) < 5 * self._parabola:
            return None
        inside = np.zeros(inputs.numbers.shape[1], dtype=np.int64)
        (candidate,) = self._candidates(inside)
        trend = self._extrapolator(candidate, inside).trend(inputs)
        k = min(4 * _NEIGHBOURS, len(logs))
        distances, found = (np.asarray(a) for a in KDTree(inputs.matrix).query(inputs.matrix, np.arange(1, k + 1)))
        # The _NEIGHBOURS nearest runs of other folds, weighted by inverse distance as in `residuals`.
        usable = folds[found] != folds[:, None]
        usable &= np.cumsum(usable, axis=1) <= _NEIGHBOURS
        nearness = np.where(usable, weights[found] / np.maximum(distances + 0.1 * distances[:, -1:], 1e-9), 0.0)
        total = nearness.sum(axis=1)
        rest = np.sum(nearness * (logs - trend)[found], axis=1)
        return np.asarray(trend + np.where(total > 0, rest / np.maximum(total, 1e-300), 0.0))

    @property
    def coefficients(self) -> float:
        return 1.0 + len(self._coding.numeric) + sum(self._coding.sizes)

    def growth(self, inputs: Inputs) -> Floats:
        """Return the relative growth of each configuration's interval per half-range of distance, (n,)."""
        found = np.zeros(len(inputs))
        for signs, rows in _by_side(inputs):
            found[rows] = self.result_for(signs).growth
        return found

    def get_state(self) -> dict[str, Any]:
        return {
            "numbers": self._runs.inputs.numbers, "labels": self._runs.inputs.labels,
            "logs": self._runs.logs, "weights": self._runs.weights,
            "winners": {name: result.to_state() for name, result in self.results.items()},
        }  # fmt: skip

    def set_state(self, state: Mapping[str, Any]) -> None:
        labels = np.asarray(state["labels"], dtype=np.int64)
        inputs = Inputs(np.asarray(state["numbers"], dtype=np.float64), labels, self._coding.sizes)
        self.fit(inputs, np.asarray(state["logs"]), np.asarray(state["weights"]))
        self.results = {name: RaceResult.from_state(one) for name, one in state["winners"].items()}


def _by_side(inputs: Inputs) -> Iterator[tuple[Ints, Ints]]:
    """Yield the signs of each side, (n_numeric,), and the indices of the configurations on it."""
    kinds, group = np.unique(sides(inputs), axis=0, return_inverse=True)
    for n, signs in enumerate(kinds):
        yield signs, np.flatnonzero(np.ravel(group) == n)


def _side_name(signs: Ints) -> str:
    """Return the name of a side from its signs (n_numeric,): "+0" is above the range of the first numeric parameter."""
    if np.sum(np.abs(signs)) > 1:
        return "several below" if (signs <= 0).all() else "several above"
    j = int(np.argmax(np.abs(signs)))
    return f"{'+' if signs[j] > 0 else '-'}{j}"


@final
@dataclass(kw_only=True, eq=False, repr=False)
class Beyond(RegressionModel[_Beyond]):
    """A trend and its residuals, chosen for each side of the range by errors on runs held out there.

    Inside the range it is a power law or, with enough runs, a parabola in logarithms, with nearest neighbours for the
    residuals. Other methods are more accurate inside the range.

    Parameters
    ----------
    boosting : bool
        Whether boosted trees on the residuals of the best trends enter the races, if there are at least 300 runs. They
        then take most of the fitting time.
    folds : int
        Number of folds for the left-out residuals from which intervals inside the range are learned.

    Attributes
    ----------
    choices_ : DataFrame
        For each side: the winning candidates (law / decay towards the edge / regression of the residuals), the mean
        absolute log error of the best one in the shells, and the growth of intervals per half-range.

    Examples
    --------
    >>> n = np.array([8, 11, 16, 23, 32, 45, 64, 91, 128, 181, 256, 362, 512])
    >>> model = Beyond().fit({"n": n}, 1e-6 * n**2 + 1e-4 * n)
    >>> far = {"n": [2048, 4096]}
    >>> import warnings
    >>> with warnings.catch_warnings(action="ignore"):
    ...     print(model.predict({"n": [1024, 2048]}).round(2))  # in truth 1.15 and 4.4
    [1.15 4.4 ]
    """

    method: ClassVar[str] = "beyond"
    summary: ClassVar[str] = "beyond the range: trends raced on held-out outer shells, and what they leave at the edge"

    boosting: bool = False
    folds: int = 5

    def regressor(self, coding: Coding) -> _Beyond:
        return _Beyond(coding, self.boosting)

    # The races need the widths of the intervals inside the range, so they come last. The limits that clip predictions
    # inside the range don't hold outside.
    def _learn(self, table: pd.DataFrame, values: Floats, weights: Floats) -> None:
        super()._learn(table, values, weights)
        self._limits = -_FINITE, _FINITE
        self._fitted.race(self._conformal)

    @property
    def choices_(self) -> pd.DataFrame:
        names = {_side_name(s * row): f"{n} {'above' if s > 0 else 'below'}"
                 for n, row in zip(self._coding.numeric, np.eye(len(self._coding.numeric), dtype=np.int64), strict=True)
                 for s in (1, -1)}  # fmt: skip
        rows = [
            {
                "side": names.get(name, name), "candidates": ", ".join(c.name for c in result.candidates),
                "error": result.error, "growth": result.growth,
            }
            for name, result in self._fitted.results.items()
        ]  # fmt: skip
        return pd.DataFrame(rows, columns=["side", "candidates", "error", "growth"])

    def _doubt(self, table: pd.DataFrame) -> str:
        inputs = self._coding.inputs(table.iloc[: len(table) : max(1, len(table) // _LOOKED_AT)])
        apart = NORMAL_90 * self._fitted.disagreement(inputs)
        worst = inputs.rows([int(np.argmax(apart))])
        result = self._fitted.result_for(sides(worst)[0])
        if not np.isfinite(result.error):
            return "No law is proved there: too few runs lie at the edge of the range to leave them out"
        if result.error > np.log(_DOUBTFUL):
            return f"No law is credible there: the outer runs, left out, are missed by ×{np.exp(result.error):.2g}"
        if apart.max() < np.log(_DOUBTFUL):
            return ""
        run = self._settling(worst)
        factor = "more than ×100" if apart.max() > np.log(100) else f"×{np.exp(apart.max()):.2g}"
        told = ", ".join(
            f"{name} = {value:.4g}" if isinstance(value, float) else f"{name} = {value}" for name, value in run.items()
        )
        return f"Laws that fit the runs alike are up to {factor} off; one run at {told} would tell which hold"

    def settling(self, X: Configurations) -> dict[str, Any] | None:
        """Return the run that would tell which law holds on the way to configurations beyond the range.

        It is the first one on the way to where the laws that fit the runs alike differ most; None if they agree, or if
        too few runs lie at the edge of the range to race laws on them.

        Examples
        --------
        >>> n = np.geomspace(8, 512, 13)
        >>> Beyond().fit({"n": n}, n**2).settling({"n": [4096]}) is None  # the law is plain
        True
        """
        inputs = self._coding.inputs(self.space_.frame(X))
        worst = inputs.rows([int(np.argmax(self._fitted.disagreement(inputs)))])
        apart = NORMAL_90 * self._fitted.disagreement(worst)[0]
        result = self._fitted.result_for(sides(worst)[0])
        agree = apart < np.log(_DOUBTFUL) and not result.error > np.log(_DOUBTFUL)
        return None if agree or not np.isfinite(result.error) else self._settling(worst)

    def _settling(self, asked: Inputs) -> dict[str, Any]:
        """Return the first configuration on the way to an asked one (1, …) where rivals differ by more than noise."""
        edge = np.clip(asked.numbers, -1, 1)
        steps = np.linspace(0.1, 1, 10)[:, None]
        numbers = edge + steps * (asked.numbers - edge)
        way = Inputs(numbers, np.repeat(asked.labels, len(steps), axis=0), asked.sizes)
        table = self._coding.table(way, self.space_)
        noise = self._conformal.half_width(Inputs(edge, asked.labels, asked.sizes), 0.9)
        tells = NORMAL_90 * self._fitted.disagreement(way) >= 2 * noise
        row = int(np.argmax(tells)) if tells.any() else len(steps) - 1
        return {name: table[name].tolist()[row] for name in self.space_.names}

    def _interval(self, table: pd.DataFrame, level: float) -> tuple[Floats, Floats]:
        inputs = self._coding.inputs(table)
        logs = self._coded_logs(inputs)
        edge = Inputs(np.clip(inputs.numbers, -1, 1), inputs.labels, inputs.sizes)
        half = self._conformal.half_width(edge, level) * (1 + self._fitted.growth(inputs) * inputs.beyond)
        far = np.flatnonzero(inputs.beyond > 0)
        if len(far):
            half[far] += NormalDist().inv_cdf((1 + level) / 2) * self._fitted.disagreement(inputs.rows(far))
        return np.exp(logs - half), np.exp(logs + half)
