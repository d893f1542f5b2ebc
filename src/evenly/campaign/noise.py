"""Noise of a machine: scatter and confidence intervals of repetitions, and drift of the anchor's time."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike

__all__ = ["UNKNOWN", "Drift", "Noise", "drift_of", "drift_per_run", "half_width", "noise_of", "resolution"]

_LEVEL = 0.95
#: A drift below this fraction is not reported.
_DRIFT = 0.05
#: With a larger error of the change, the runs can't show whether the machine drifted.
_CLEAR = 0.2
#: What is assumed of the scatter before it is measured, worth one repetition: few machines are quieter or much louder.
_USUAL, _WORTH = 0.05, 1.0
#: Times that were rounded to less than this fraction of the shortest one are as good as exact.
_COARSE = 1e-3
#: Standard deviations by which runs may be lucky or unlucky.
_DEVIATIONS = 2.0


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
        change = (
            f"{100 * self.change:+.1f} % ± {100 * self.error:.1f} % from the first of its {self.runs} runs to the last"
        )
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


@dataclass(frozen=True)
class Noise:
    """The scatter of repeated runs.

    Attributes
    ----------
    deviation : float
        Standard deviation of log seconds, pooled over the configurations that were repeated; 0 if none was.
    freedom : int
        Its degrees of freedom: repetitions beyond the first of each configuration; 0 if none was repeated.
    rounding : float
        Standard deviation of log seconds by the rounding of their times; 0 where times are exact.
    """

    deviation: float
    freedom: int
    rounding: float = 0.0

    @property
    def is_known(self) -> bool:
        """Whether any configuration was repeated."""
        return self.freedom > 0

    @property
    def is_constant(self) -> bool:
        """Whether repetitions always gave the same time, so that further ones tell nothing."""
        return self.is_known and self.deviation == 0

    @property
    def matters(self) -> bool:
        """Whether the noise is known, and there is some: times that are the same again may have been rounded."""
        return self.is_known and self.likely > 0

    @property
    def likely(self) -> float:
        """A standard deviation to decide by: that of the repetitions with one of 5 % that counts as one more of them.

        A program that takes exactly the same time again has none but that of rounding, which is the least anyway.

        Examples
        --------
        >>> [round(Noise(0.2, n).likely, 3) for n in (0, 1, 100)], Noise(0.0, 1).likely, Noise(0.0, 1, 0.03).likely
        ([0.05, 0.146, 0.199], 0.0, 0.03)
        """
        if self.is_constant:
            return self.rounding
        squares = self.freedom * self.deviation**2 + _WORTH * _USUAL**2
        return max(float(np.sqrt(squares / (self.freedom + _WORTH))), self.rounding)

    def slack(self, runs: int) -> float:
        """Return a factor by which the mean of so many runs may be lucky, and a new run unlucky.

        It is two standard deviations of the difference of both.

        Examples
        --------
        >>> Noise(0.0, 1).slack(3), round(Noise(0.1, 100).slack(1), 2)
        (1.0, 1.33)
        """
        return float(np.exp(_DEVIATIONS * self.likely * np.sqrt(1 + 1 / runs)))


#: The noise where nothing was repeated.
UNKNOWN = Noise(0.0, 0)


def noise_of(repetitions: Iterable[Sequence[float]], resolution_s: float = 0.0) -> Noise:
    """Return the noise of repeated log times: one sequence for each configuration.

    If the times were rounded to `resolution_s`, their errors are uniform: they have the standard deviation r/√12.

    Examples
    --------
    >>> noise_of([(0.0, 0.2), (1.0,), (3.0, 3.0)])
    Noise(deviation=0.1, freedom=2, rounding=0.0)
    >>> round(noise_of([(0.0, 0.0)], 0.1).rounding, 3)
    0.029
    """
    squares, rounded, freedom = 0.0, 0.0, 0
    for logs in repetitions:
        squares += float(np.sum((np.array(logs) - np.mean(logs)) ** 2))
        rounded += (len(logs) - 1) * float(resolution_s**2 / 12 / np.exp(2 * np.mean(logs)))
        freedom += len(logs) - 1
    if not freedom:
        return UNKNOWN
    # Round-off of logarithms is no noise.
    return Noise(round(float(np.sqrt(squares / freedom)), 12), freedom, float(np.sqrt(rounded / freedom)))


def resolution(seconds: Iterable[float]) -> float:
    """Return to how many seconds times were rounded: the largest power of ten of which all are multiples.

    It is 0 where that is too little to matter.

    Examples
    --------
    >>> [resolution(times) for times in ([12.0, 13.0], [0.012, 0.03], [3.3, 12.0], [3.1234, 2.0])]
    [1.0, 0.001, 0.1, 0.0]
    """
    times = np.fromiter(seconds, np.float64)
    if not len(times):
        return 0.0
    largest = int(np.floor(np.log10(times.min())))
    for power in range(largest, largest - 4, -1):
        # Divided, not multiplied: 0.1 isn't exact in binary, 10 is.
        many = times * 10.0**-power if power < 0 else times / 10.0**power
        if 10.0**power > _COARSE * times.min() and np.abs(many - np.round(many)).max() < 1e-6:
            return 10.0**power
    return 0.0


def drift_per_run(turns: Sequence[int], seconds: Sequence[float]) -> float:
    """Return by how much log times grow from one run to the next, by the runs of one configuration; 0 if it is unclear.

    Parameters
    ----------
    turns : sequence of int (n,)
        The place of each run in the order of all runs.
    seconds : sequence of float (n,)

    Examples
    --------
    >>> round(drift_per_run([0, 10, 20, 30], [1.0, 1.1, 1.2, 1.31]), 3)
    0.009
    >>> drift_per_run([0, 10, 20], [1.0, 1.1, 0.9])
    0.0
    """
    if len(turns) < 3:
        return 0.0
    found = drift_of(turns, seconds)
    return float(np.log1p(found.change) / (turns[-1] - turns[0])) if found.matters else 0.0
