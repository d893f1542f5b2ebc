"""How noisy a machine is, and whether it changed: intervals of repetitions, drift of the anchor, load of others."""

from __future__ import annotations

import os
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Drift", "busy_seconds", "drift_of", "half_width"]

_LEVEL = 0.95
#: Slower or faster by less than this is no drift worth telling.
_DRIFT = 0.05
#: With a larger error nothing is said about drift.
_TOLD = 0.2


def half_width(seconds: Sequence[float]) -> float:
    """Return the half-width of the 95 % interval of the mean log time: about the relative error.

    Parameters
    ----------
    seconds : sequence of float (n,)
        Repetitions; one alone tells nothing.

    Examples
    --------
    >>> round(half_width([1.0, 1.1, 0.9, 1.0]), 3)
    0.13
    """
    from scipy.stats import t

    n = len(seconds)
    if n < 2:
        return float("inf")
    return float(t.ppf((1 + _LEVEL) / 2, n - 1) * np.std(np.log(seconds), ddof=1) / np.sqrt(n))


@dataclass(frozen=True)
class Drift:
    """How the anchor's time went with the hours.

    Attributes
    ----------
    runs : int
        How often it was run.
    change : float
        By which share it rose from the first run to the last, along a line through the logarithms.
    error : float
        Half-width of the 95 % interval of `change`.
    """

    runs: int
    change: float
    error: float

    @property
    def matters(self) -> bool:
        """Whether it is more than chance, and more than 5 %."""
        return abs(self.change) > max(self.error, _DRIFT)

    def __str__(self) -> str:
        if self.runs < 3:
            return "too few runs to tell whether the machine drifted"
        told = f"{self.change:+.1%} ± {self.error:.1%} from the first of its {self.runs} runs to the last"
        if self.matters:
            return f"the machine drifted: the anchor took {told}"
        return f"{'no drift' if self.error < _TOLD else 'noise hides any drift'}: the anchor took {told}"


def drift_of(when: ArrayLike, seconds: ArrayLike) -> Drift:
    """Return the drift that the anchor's runs show.

    Parameters
    ----------
    when, seconds : array_like (n,)
        When it was run, and what it took.

    Examples
    --------
    >>> drift_of([0, 10, 20, 30], [1.0, 1.1, 1.2, 1.31]).matters
    True
    """
    x, y = np.asarray(when, dtype=np.float64), np.log(np.asarray(seconds, dtype=np.float64))
    if len(x) < 3 or np.ptp(x) == 0:
        return Drift(len(x), 0.0, float("inf"))
    return Drift(len(x), *_line(x / np.ptp(x), y))


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    """Slope of a line and the half-width of its 95 % interval, as shares."""
    from scipy.stats import linregress, t

    fit = linregress(x, y)
    width = t.ppf((1 + _LEVEL) / 2, len(x) - 2) * fit.stderr
    return float(np.expm1(fit.slope)), float(np.exp(fit.slope) * np.expm1(width))


def busy_seconds() -> float | None:
    """Return the CPU seconds all processes of this machine have used since it began; None where it doesn't tell."""
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    # user nice system idle iowait irq softirq: all but the two that wait.
    ticks = [int(x) for x in first[1:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK")
