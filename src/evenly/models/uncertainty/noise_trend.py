"""How the size of errors changes across the inputs, by a law of few coefficients.

Noise often grows in one direction: short runs scatter more than long ones, many nodes more than one. The scale of the
absolute log residuals is ``exp(b · x)``, where x are a one, the coded numbers (and their squares) and the one-hot
labels: multiplicative heteroscedasticity [Harvey, Estimating regression models with multiplicative heteroscedasticity,
1976]. The coefficients b maximise the likelihood of exponentially distributed absolute residuals, ``-Σ (|r| exp(-b · x)
+ b · x)``, less a ridge penalty. This is convex, so Newton's method finds the maximum; unlike least squares of log r²,
it isn't led by residuals that happen to be near zero.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.stored_dataclass import Stored

__all__ = ["NoiseTrend", "interval_score"]

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
    >>> NoiseTrend.learn(x, residuals).coefficients.round(1)
    array([-0. ,  2. ])
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
    >>> interval_score(np.array([0.5, 2.0]), np.array([1.0, 1.0]), 0.9)
    12.0
    """
    outside = np.maximum(np.abs(residuals) - half, 0.0)
    return float(np.mean(2 * half + 2 / (1 - level) * outside))
