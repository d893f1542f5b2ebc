"""Where the configurations of a search stand: what is believed of the true times of those that were run.

Of many configurations that were run once, the one with the least time was lucky. A strategy with a model corrects that:
its posterior believes a time that its neighbours don't support only in part, and repetitions more than a single run.
Without a model, or where no noise is known, measured times are believed as they are.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Self

import numpy as np
from scipy.special import ndtr, stdtrit

from evenly.campaign.noise import Noise
from evenly.models.array_types import Floats
from evenly.tuning.trials import Key, Trial, Trials

__all__ = ["Standing"]

#: So many runs of a configuration tell its time without a model.
_SEVERAL = 3
#: Number of draws by which chances are computed.
_DRAWS = 20_000


@dataclass(frozen=True)
class Standing:
    """Beliefs about the true log seconds of n configurations of one task.

    Attributes
    ----------
    trials : sequence of Trial
    means, deviations : arrays (n,)
        Mean and standard deviation of the believed mean log seconds, without the noise of a run.
    noise : Noise
    """

    trials: Sequence[Trial]
    means: Floats
    deviations: Floats
    noise: Noise

    @classmethod
    def measured(cls, trials: Sequence[Trial], noise: Noise) -> Self:
        """Return the standing by measured times alone: each mean of m runs has the standard error σ/√m."""
        means = np.array([np.mean(one.logs) for one in trials])
        counts = np.array([len(one.seconds) for one in trials])
        return cls(trials, means, (noise.likely if noise.is_known else 0.0) / np.sqrt(counts), noise)

    @classmethod
    def by_task(cls, trials: Trials, believed: tuple[Floats, Floats] | None) -> dict[Key, Self]:
        """Return the standing of each task's successful trials, the fastest task first.

        `believed` are means and standard deviations of all of them in their order; None if there are only their times.
        """
        noise, well = trials.noise, trials.of("ok")
        found: dict[Key, Self] = {}
        for task, group in trials.well_by_task().items():
            if believed is None:
                known = cls.measured(group, noise)
            else:
                rows = [next(n for n, one in enumerate(well) if one is trial) for trial in group]
                known = cls(group, believed[0][rows], believed[1][rows], noise)
            found[task] = known._rounded(trials.resolution_s) if noise.is_known else known
        return found

    def _rounded(self, resolution_s: float) -> Self:
        """Return the standing if times were rounded: repetitions that are rounded alike don't tell the time better."""
        least = resolution_s / np.sqrt(12) / np.array([one.mean_s for one in self.trials])
        return replace(self, deviations=np.maximum(self.deviations, least))

    def beside(self, other: Trial) -> Self:
        """Return the standing with another trial behind all others, by its measured times alone."""
        its = type(self).measured([other], self.noise)
        means, deviations = np.append(self.means, its.means), np.append(self.deviations, its.deviations)
        return replace(self, trials=[*self.trials, other], means=means, deviations=deviations)

    @cached_property
    def order(self) -> list[int]:
        """All n by the mean plus the standard deviation: first those that are fast for sure."""
        return [int(row) for row in np.argsort(self.means + self.deviations, kind="stable")]

    @property
    def winner(self) -> int:
        """The one that is taken for the fastest: the first in `order`."""
        return self.order[0]

    @cached_property
    def values(self) -> Floats:
        """The value of one more run of each: the expected fall of the least mean log time, (n,).

        It is the knowledge gradient for independent normal beliefs [Frazier, Powell and Dayanik 2008, equation 14].
        Runs under way count as made, with times as expected.

        Examples
        --------
        >>> seconds = [(1.0, 1.0), (1.01,), (1.5,)]
        >>> trials = [Trial({}, seconds=s, drifts=(0.0,) * len(s)) for s in seconds]
        >>> Standing.measured(trials, Noise(0.05, 5)).values.round(4).tolist()
        [0.0041, 0.0097, 0.0]
        """
        sigma = self.noise.likely
        if len(self.trials) < 2 or self.noise.is_constant:
            return np.zeros(len(self.trials))
        waiting = np.array([one.waiting for one in self.trials])
        variances = 1 / (1 / np.maximum(self.deviations, 1e-9) ** 2 + waiting / sigma**2)
        # One more run changes the mean by a normal number; its variance is what the run takes from that of the belief.
        change = variances / np.sqrt(variances + sigma**2)
        order = np.argsort(self.means, kind="stable")
        first, second = self.means[order[0]], self.means[order[1]]
        away = -np.abs(self.means - np.where(np.arange(len(order)) == order[0], second, first)) / change
        return np.asarray(change * (away * ndtr(away) + np.exp(-0.5 * away**2) / np.sqrt(2 * np.pi)))

    @cached_property
    def chances(self) -> Floats:
        """The probability that each is the fastest of all n, (n,); nan where no noise is known."""
        if not self.noise.is_known:
            return np.full(len(self.trials), np.nan)
        random = np.random.default_rng(0)
        drawn = self._heavy(random, _DRAWS) * self.deviations * random.standard_normal((_DRAWS, len(self.trials)))
        return np.bincount(np.argmin(self.means + drawn, axis=1), minlength=len(self.trials)) / _DRAWS

    def _heavy(self, random: np.random.Generator, draws: int) -> Floats:
        """Draw factors of the standard deviation, since few repetitions don't tell the noise well (Student's t)."""
        freedom = self._freedom
        return np.asarray(np.sqrt(freedom / random.chisquare(freedom, (draws, 1))))

    @property
    def _freedom(self) -> float:
        """Degrees of freedom: the noise is that of the repetitions, and of a usual one that counts as one more."""
        return self.noise.freedom + 1

    def interval(self, row: int) -> tuple[float, float] | None:
        """Return the 95 % interval of the seconds of one; None where no noise is known.

        It holds the mean of three runs or more: a model that contradicts them may be the wrong one.
        """
        found, logs = self.ratio(row, None), self.trials[row].logs
        if found is None or len(logs) < _SEVERAL:
            return found
        mean = float(np.exp(np.mean(logs)))
        return min(found[0], mean), max(found[1], mean)

    def ratio(self, row: int, other: int | None) -> tuple[float, float] | None:
        """Return the 95 % interval of the seconds of one, relative to those of another; None if no noise is known."""
        if not self.noise.is_known:
            return None
        mean, variance = self.means[row], self.deviations[row] ** 2
        if other is not None:
            mean, variance = mean - self.means[other], (variance + self.deviations[other] ** 2) * (row != other)
        half = stdtrit(self._freedom, 0.975) * np.sqrt(variance)
        return float(np.exp(mean - half)), float(np.exp(mean + half))

    def seconds(self, row: int) -> float:
        """Return the believed seconds of one; where it can only be what was measured, exactly that."""
        trial = self.trials[row]
        return trial.mean_s if not self.noise.matters else float(np.exp(self.means[row]))

    def is_alike(self, row: int) -> bool:
        """Return whether one can't be told from the winner: the difference lies within its 95 % interval."""
        found = self.ratio(row, self.winner)
        is_within = found is not None and found[0] <= 1.0
        return row == self.winner or is_within or bool(self.means[row] <= self.means[self.winner])
