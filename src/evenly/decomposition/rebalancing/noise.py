"""Noise of measured and predicted times, and its effect on the slowest of many ranks.

A step takes as long as its slowest rank, and the slowest of many equal ranks seems slow by chance alone. So this module
computes the distribution of the maximum over ranks from the errors of the single ranks.

>>> round(float(slowest(np.ones(8), np.full(8, 0.02), SURE)), 3)
1.05
"""

from __future__ import annotations

import math
from statistics import NormalDist

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.rebalancing.measured_times import Timings

__all__ = ["MOST_WINDOWS", "SURE", "Windows", "measurement_doubt", "noise_of", "slowest", "standard_error"]

Array = NDArray[np.float64]
#: Probability of the error bounds that a gain must exceed.
SURE = 0.95
#: The windows of a run stay below this number; when they reach it, they are merged in pairs.
MOST_WINDOWS = 16
#: Fewest windows from which noise is estimated.
LEAST_WINDOWS = 4
#: Relative standard error of a rank's seconds if it isn't known, and a lower bound for known ones.
USUAL_NOISE, LEAST_NOISE = 0.02, 1e-3
_NORMAL = NormalDist()
_HALVINGS = 50


class Windows:
    """Working seconds of one process, kept as a small number of windows with equal numbers of steps.

    Windows become longer during the run, so disturbances of one window hardly reach the next.

    Examples
    --------
    >>> windows = Windows()
    >>> for _ in range(100):
    ...     windows.add(0.5)
    >>> len(windows.rates), windows.rates[0], windows.steps, windows.seconds
    (12, 0.5, 100, 50.0)
    """

    def __init__(self) -> None:
        self.seconds, self.steps = 0.0, 0
        self._sums: list[float] = []
        self._size, self._open, self._in_open = 1, 0.0, 0

    def add(self, seconds: float, steps: int = 1) -> None:
        """Add the seconds of one step, or of several together; these count in the total, but not in the windows."""
        self.seconds += seconds
        self.steps += steps
        if steps > 1:
            return
        self._open += seconds
        self._in_open += 1
        if self._in_open == self._size:
            self._sums.append(self._open)
            self._open, self._in_open = 0.0, 0
        if len(self._sums) == MOST_WINDOWS:
            self._sums = [a + b for a, b in zip(self._sums[::2], self._sums[1::2], strict=True)]
            self._size *= 2

    @property
    def rates(self) -> list[float]:
        """Seconds per step of each full window, in time order."""
        return [each / self._size for each in self._sums]


def standard_error(rates: Array) -> float:
    """Return the relative standard error of a rank's mean seconds per step; nan with fewer than 4 windows.

    Parameters
    ----------
    rates : (ranks, windows)
        Seconds per step of each rank in each window. Variation common to all ranks, as when the machine slows down,
        doesn't count, since it causes no imbalance.

    Examples
    --------
    >>> rates = np.array([[1.0, 1.1, 0.9, 1.0], [2.0, 2.2, 1.8, 2.0]])
    >>> standard_error(rates) < 1e-12
    True
    """
    there = np.asarray(rates, dtype=np.float64)
    there = there[(there > 0).all(axis=1)] if there.size else there
    if there.ndim != 2 or not there.size or there.shape[1] < LEAST_WINDOWS:
        return math.nan
    ranks, windows = there.shape
    logs = np.log(there)
    freedom = windows - 1.0
    if ranks > 1:
        logs = logs - logs.mean(axis=0)
        freedom *= (ranks - 1) / ranks
    spread = logs - logs.mean(axis=1, keepdims=True)
    return float(np.sqrt((spread**2).sum() / (ranks * freedom) / windows))


def slowest(seconds: Array, errors: Array, level: float) -> float:
    """Return a quantile, in seconds, of the maximum of independent normal times, by bisection.

    Parameters
    ----------
    seconds, errors : (ranks,)
        Means and standard errors of the times.
    level : float
        Probability that the maximum is below the quantile.
    """
    sure = float(seconds[errors <= 0].max(initial=0.0))
    there = errors > 0
    if not there.any():
        return sure
    middle, error = seconds[there], errors[there]
    # The quantile of the maximum is at least that of each single time. The union bound gives an upper limit: each time
    # exceeds it with a probability of at most (1 - level) / n.
    low = float((middle + error * _NORMAL.inv_cdf(level)).max())
    high = float((middle + error * _NORMAL.inv_cdf(1 - (1 - level) / len(middle))).max())
    for _ in range(_HALVINGS):
        if high - low <= 1e-6 * abs(high):
            break
        at = (low + high) / 2
        below = sum(math.log(max(_NORMAL.cdf(float(z)), 1e-300)) for z in (at - middle) / error)
        low, high = (at, high) if below < math.log(level) else (low, at)
    return max(high, sure)


def noise_of(timings: Timings) -> float:
    """Return the relative standard error of a rank's seconds, or a usual value if it isn't known."""
    return USUAL_NOISE if math.isnan(timings.noise) else max(timings.noise, LEAST_NOISE)


def measurement_doubt(timings: Timings) -> float:
    """Return the `SURE` quantile of the seconds by which noise makes the slowest of equal ranks seem too slow.

    Examples
    --------
    >>> round(measurement_doubt(Timings([1.0] * 8, noise=0.02)), 3)
    0.05
    """
    working = int(np.count_nonzero(timings.seconds))
    return float(timings.seconds.max() * noise_of(timings) * _NORMAL.inv_cdf(SURE ** (1 / working)))
