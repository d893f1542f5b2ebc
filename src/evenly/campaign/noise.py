"""Noise of a machine: confidence intervals of repetitions, and drift of the anchor's time."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["Drift", "drift_of", "half_width"]

_LEVEL = 0.95
#: A drift below this fraction is not reported.
_DRIFT = 0.05
#: With a larger error of the change, the runs can't show whether the machine drifted.
_CLEAR = 0.2


def half_width(seconds: Sequence[float]) -> float:
    """Return the half-width of the 95 % interval of the mean log time, by Student's t: about the relative error.

    Parameters
    ----------
    seconds : sequence of float (n,)
        Times of the repetitions; a single one has an infinite half-width.

    Examples
    --------
    >>> round(half_width([1.0, 1.1, 0.9, 1.0]), 3)
    0.13
    """
    from scipy.special import stdtrit

    n = len(seconds)
    if n < 2:
        return float("inf")
    return float(stdtrit(n - 1, (1 + _LEVEL) / 2) * np.std(np.log(seconds), ddof=1) / np.sqrt(n))


@dataclass(frozen=True)
class Drift:
    """Change of the anchor's time over the campaign.

    Attributes
    ----------
    runs : int
        Runs of the anchor.
    change : float
        Fraction by which the anchor's time rose from the first run to the last: a linear fit to the log times.
    error : float
        Half-width of the 95 % interval of `change`.
    """

    runs: int
    change: float
    error: float

    @property
    def matters(self) -> bool:
        """Whether the change is larger than both its error and 5 %."""
        return abs(self.change) > max(self.error, _DRIFT)

    def __str__(self) -> str:
        if self.runs < 3:
            return "too few runs to tell whether the machine drifted"
        change = f"{self.change:+.1%} ± {self.error:.1%} from the first of its {self.runs} runs to the last"
        if self.matters:
            return f"the machine drifted: the anchor took {change}"
        return f"{'no drift' if self.error < _CLEAR else 'noise hides any drift'}: the anchor took {change}"


def drift_of(when: ArrayLike, seconds: ArrayLike) -> Drift:
    """Return the drift over the anchor's runs, by least squares on log time.

    Parameters
    ----------
    when, seconds : array_like (n,)
        Start and duration of each run, in seconds.

    Examples
    --------
    >>> drift_of([0, 10, 20, 30], [1.0, 1.1, 1.2, 1.31]).matters
    True
    """
    x, y = np.asarray(when, dtype=np.float64), np.log(np.asarray(seconds, dtype=np.float64))
    if len(x) < 3 or np.ptp(x) == 0:
        return Drift(len(x), 0.0, float("inf"))
    from scipy.special import stdtrit

    x, y = (x - x.mean()) / np.ptp(x), y - y.mean()
    slope = float(x @ y / (x @ x))
    error = np.sqrt(np.sum((y - slope * x) ** 2) / (len(x) - 2) / (x @ x))
    width = float(stdtrit(len(x) - 2, (1 + _LEVEL) / 2) * error)
    # On log times, a slope b is a relative change of exp(b) - 1. With a half-width w of b, the interval's upper end is
    # exp(b + w) - 1. The half-width of the change is the distance to this end: exp(b) (exp(w) - 1).
    return Drift(len(x), float(np.expm1(slope)), float(np.exp(slope) * np.expm1(width)))
