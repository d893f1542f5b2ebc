"""What is left of the job in which runs are made: long runs go first, and none is started that would be cut."""

from __future__ import annotations

import time
from collections.abc import Mapping
from typing import Any, Self

from evenly.campaign.limits import Limits
from evenly.campaign.planning import Schedule
from evenly.campaign.store import Store
from evenly.launch.base import Launcher

__all__ = ["Lent"]

#: Seconds before the job's end by which runs must have ended: the last ones are stored then.
_SPARE_S = 30.0
#: Where only earlier runs of a configuration tell its time, another takes at most so many times their median.
_MARGIN = 1.5
#: Runs are put in a new order once there are so many times more.
_MORE = 1.5


class Lent:
    """The time until the job ends in which runs are made, and what fits into it.

    Parameters
    ----------
    ends_at : float
        When it ends, in seconds since the epoch.
    limits : Limits
        What runs are predicted to take.
    """

    def __init__(self, ends_at: float, limits: Limits) -> None:
        self._ends_at, self._limits = ends_at, limits
        self._ordered_at = 0
        self._most: dict[int, float | None] = {}
        #: Configurations that would have been cut.
        self.held_back: set[int] = set()

    @classmethod
    def of(cls, launcher: Launcher, limits: Limits, schedule: Schedule, store: Store) -> Self | None:
        """Return the time that is left where a launcher's tasks end with a job; None elsewhere."""
        ends_at = launcher.ends_at()
        if ends_at is None:
            return None
        found = cls(ends_at, limits)
        found.order(schedule, store)
        return found

    def order(self, schedule: Schedule, store: Store) -> None:
        """Put long runs first, anew once there are half as many runs more."""
        if store.count() < max(1.0, _MORE * self._ordered_at):
            return
        self._ordered_at = store.count()
        self._most = {}
        known = store.configurations()
        numbers = [number for number, runs in schedule.missing.items() if runs]
        times = self._limits.times([known[number] for number in numbers])
        expected: dict[int, float] = {}
        for number, found in zip(numbers, times, strict=True):
            seconds = schedule.usual_s(number) if found is None else found[0]
            if seconds is not None:
                expected[number] = seconds
        if expected:
            schedule.longest_first(expected)

    def has_time_for(self, number: int, schedule: Schedule, store: Store) -> bool:
        """Tell whether a run of a configuration ends before the job does, as far as is known."""
        if number not in self._most:
            self._most[number] = self._at_most(store.configuration(number), schedule.usual_s(number))
        most, left = self._most[number], self._ends_at - time.time() - _SPARE_S
        has_time = left > (most or 0.0)
        if has_time:
            self.held_back.discard(number)
        else:
            self.held_back.add(number)
        return has_time

    def _at_most(self, configuration: Mapping[str, Any], usual: float | None) -> float | None:
        (found,) = self._limits.times([configuration])
        if found is not None:
            return found[1]
        return None if usual is None else _MARGIN * usual
