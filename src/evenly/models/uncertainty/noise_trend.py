"""How the size of errors changes across the inputs, by a law of few coefficients.

Noise often grows in one direction: short runs scatter more than long ones, many nodes more than one. The scale of the
absolute log residuals is ``exp(b · x)``, where x are a one, the coded numbers (and their squares) and the one-hot
labels: multiplicative heteroscedasticity [Harvey, Estimating regression models with multiplicative heteroscedasticity,
1976]. The coefficients b maximise the likelihood of exponentially distributed absolute residuals, ``-Σ (|r| exp(-b · x)
+ b · x)``, less a ridge penalty. This is convex, so Newton's method finds the maximum; unlike least squares of log r²,
it isn't led by residuals that happen to be near zero.

The law is used only if intervals with it have a clearly lower interval score than without it.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Coding
from evenly.models.stored_dataclass import Stored
from evenly.models.uncertainty.conformal import LogConformal
from evenly.space.space import Space

__all__ = ["RACED_AT", "NoiseLaw", "NoiseTrend", "interval_score", "raced_law", "raced_trend"]

#: The level of the intervals that the race compares.
RACED_AT = 0.9
#: A law needs so many residuals, and so many for each column. It must lower the interval score by this share, and by
#: the share of so many residuals, which chance can give. It is learned in folds.
_FEWEST, _EACH, _GAIN, _BY_CHANCE, _FOLDS = 30, 5, 0.02, 5.0, 5

#: Ridge penalty of each coefficient but the first, on places within [-1, 1]: as much as so many runs.
_RIDGE = 2.0
#: Newton steps, and the largest change of log scales in one.
_STEPS, _STRIDE = 30, 1.0


@dataclass(frozen=True)
class NoiseTrend(Stored):
    """The scale of residuals as a function of places.

    Attributes
    ----------
    coefficients : array (k + 1,) or (2 k + 1,)
        Of a one and the k columns of `Inputs.matrix`, and of their squares where the law is curved; log scales.
    curved : bool
        Whether there are squares.

    Examples
    --------
    >>> x = np.linspace(-1, 1, 1001)[:, None]
    >>> residuals = np.exp(2 * x[:, 0]) * np.random.default_rng(0).exponential(size=1001)
    >>> bool(np.allclose(NoiseTrend.learn(x, residuals).coefficients, [0, 2], atol=0.2))
    True
    """

    coefficients: Floats
    curved: bool = False

    @classmethod
    def learn(cls, places: Floats, residuals: Floats, *, curved: bool = False) -> NoiseTrend:
        """Learn from residuals (n,) of left-out runs at places (n, k), with squares if the law shall be `curved`."""
        x, sizes = _columns(places, curved), np.abs(residuals)
        # Residuals of zero are rounding errors, of exact data: the law is that of sizes relative to their mean.
        mean = float(np.mean(sizes))
        if not mean > 0:
            return cls(np.zeros(x.shape[1]), curved)
        sizes = sizes / mean
        penalty = _RIDGE * np.r_[1e-9, np.ones(x.shape[1] - 1)]
        b = np.zeros(x.shape[1])
        for _ in range(_STEPS):
            scaled = sizes * np.exp(-np.clip(x @ b, -30, 30))
            gradient = x.T @ (1 - scaled) + penalty * b
            step = np.linalg.solve((x * (scaled + 1e-3)[:, None]).T @ x + np.diag(penalty), -gradient)
            largest = float(np.max(np.abs(x @ step)))
            b = b + step * min(1.0, _STRIDE / max(largest, 1e-12))
            if largest < 1e-6:
                break
        b[0] += np.log(mean)
        return cls(b, curved)

    def scales(self, places: Floats) -> Floats:
        """Return the scale at places (m, k), (m,); beyond the range learned on it is that of the edge."""
        return np.asarray(np.exp(np.clip(_columns(places, self.curved) @ self.coefficients, -30, 30)))


def _columns(places: Floats, curved: bool) -> Floats:
    inside = np.clip(places, -1, 1)
    return np.column_stack([np.ones(len(places)), inside, *([inside**2] if curved else [])])


def interval_score(residuals: Floats, half: Floats, level: float) -> float:
    """Return the mean interval score of half-widths (n,) for residuals (n,): the lower, the better.

    It is the width, and for a residual outside 2 / (1 - level) times its distance from the interval [Gneiting and
    Raftery, Strictly proper scoring rules, prediction, and estimation, 2007, equation 43].

    Examples
    --------
    >>> round(interval_score(np.array([0.5, 2.0]), np.array([1.0, 1.0]), 0.9), 6)
    12.0
    """
    outside = np.maximum(np.abs(residuals) - half, 0.0)
    return float(np.mean(2 * half + 2 / (1 - level) * outside))


@dataclass(frozen=True)
class NoiseLaw(Stored):
    """A `NoiseTrend` of configurations.

    Attributes
    ----------
    coding : Coding
        How configurations become places.
    trend : NoiseTrend
    """

    coding: Coding
    trend: NoiseTrend

    def scales(self, table: pd.DataFrame) -> Floats:
        """Return the scale at configurations (m, n_parameters), (m,)."""
        return self.trend.scales(self.coding.inputs(table).matrix)


def raced_law(
    table: pd.DataFrame, residuals: Floats, leverages: Floats, *, coefficients: float
) -> tuple[LogConformal, NoiseLaw | None]:
    """Return the conformal scores of left-out runs, and the law by which their residuals were divided, if it is better.

    Parameters
    ----------
    table : DataFrame (n, n_parameters)
        Numbers.
    residuals, leverages : array (n,)
        As of `LogConformal.from_residuals`.
    coefficients : float
    """
    coding = Coding.learn(table, Space.from_data(table))
    known = np.flatnonzero(np.isfinite(residuals) & np.isfinite(leverages))

    def half_width(scaled: Floats) -> Floats:
        learned = LogConformal.from_residuals(scaled, leverages[known], coefficients=coefficients)
        return learned.half_width(RACED_AT) * np.sqrt(1.0 + leverages[known])

    trend, scales = raced_trend(coding.inputs(table).matrix[known], residuals[known], half_width)
    scaled = residuals.copy()
    scaled[known] /= scales
    made = LogConformal.from_residuals(scaled, leverages, coefficients=coefficients)
    return made, None if trend is None else NoiseLaw(coding, trend)


def raced_trend(
    places: Floats, residuals: Floats, half_width: Callable[[Floats], Floats]
) -> tuple[NoiseTrend | None, Floats]:
    """Return the law of the size of residuals, if intervals with it are clearly better.

    Parameters
    ----------
    places : array (n, k)
    residuals : array (n,)
        Of left-out runs.
    half_width : callable
        Takes residuals (n,) that were divided by a law, and returns the half-widths (n,) of their intervals at the
        level `RACED_AT`, each learned without this residual.

    Returns
    -------
    trend : NoiseTrend or None
    scales : array (n,)
        What the law says of each residual when learned without it; 1 if there is none.
    """
    count, trend, scales = len(residuals), None, np.ones(len(residuals))
    if count < _FEWEST or not residuals.any():
        return None, scales
    enough = 1 - _GAIN - _BY_CHANCE / count
    least = interval_score(residuals, half_width(residuals), RACED_AT)
    for curved in (False, True):
        if count < _EACH * (1 + curved) * places.shape[1]:
            break
        made = _left_out_scales(places, residuals, curved)
        score = interval_score(residuals, half_width(residuals / made) * made, RACED_AT)
        if score < enough * least:
            trend, scales, least = NoiseTrend.learn(places, residuals, curved=curved), made, score
    return trend, scales


def _left_out_scales(places: Floats, residuals: Floats, curved: bool) -> Floats:
    """Return what a law of the size of residuals (n,) says of each when learned without it, (n,)."""
    fold = np.random.default_rng(0).permutation(len(residuals)) % _FOLDS
    scales = np.empty(len(residuals))
    for k in range(_FOLDS):
        here = fold == k
        scales[here] = NoiseTrend.learn(places[~here], residuals[~here], curved=curved).scales(places[here])
    return scales
