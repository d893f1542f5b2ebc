"""What chance does to measured and predicted times: how noisy a run is, and how slow the slowest of many ranks seems.

A step takes as long as its slowest rank, and the slowest of many equal ranks looks slow by chance alone. So errors of
single ranks are carried on to the largest of them here.

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
#: Probability with which a gain must be real.
SURE = 0.95
#: A run is told in so many windows at most, and half as many at least.
MOST_WINDOWS = 16
#: Fewer windows than this tell no noise.
LEAST_WINDOWS = 4
#: Relative standard error of a rank's seconds where it isn't known, and the least that is believed.
USUAL_NOISE, LEAST_NOISE = 0.02, 1e-3
_NORMAL = NormalDist()
_HALVINGS = 50


class Windows:
    """Seconds of work of one process, step by step, kept as few windows of equally many steps.

    Windows grow with the run, so they are long enough that what disturbs one is hardly felt in the next.

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
        """Take in a step, or the sum of several, which then tell nothing of noise."""
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
        """Seconds per step of each full window, in order."""
        return [each / self._size for each in self._sums]


def standard_error(rates: Array) -> float:
    """Return the relative standard error of ranks' mean seconds per step, nan where there are too few windows.

    Parameters
    ----------
    rates : (ranks, windows)
        Seconds per step of each rank in each window. What all ranks share, as when the machine slows down, doesn't
        count, since it unbalances nothing.

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
    """Return what the largest of several uncertain times is below with a probability.

    Parameters
    ----------
    seconds, errors : (ranks,)
        Times and their standard errors, which are independent and normal.
    level : float
        The probability.
    """
    sure = float(seconds[errors <= 0].max(initial=0.0))
    there = errors > 0
    if not there.any():
        return sure
    middle, error = seconds[there], errors[there]
    # The largest is above any one's quantile, and below all of a quantile that leaves no more than 1 - level together.
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
    """Return the relative standard error of a rank's seconds, the usual one where it isn't known."""
    return USUAL_NOISE if math.isnan(timings.noise) else max(timings.noise, LEAST_NOISE)


def measurement_doubt(timings: Timings) -> float:
    """Return by how many seconds the slowest rank may seem too slow by noise, with the probability `SURE`.

    Examples
    --------
    >>> round(measurement_doubt(Timings([1.0] * 8, noise=0.02)), 3)
    0.05
    """
    working = int(np.count_nonzero(timings.seconds))
    return float(timings.seconds.max() * noise_of(timings) * _NORMAL.inv_cdf(SURE ** (1 / working)))
