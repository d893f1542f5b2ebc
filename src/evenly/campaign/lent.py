"""What is left of the job in which runs are made: long and wide runs go first, and none is started that would be cut.

Where long ones come last, or wide ones, cores are idle at the end. Times that differ by less than half count as alike.
"""

from __future__ import annotations

import math
import statistics
import time
from collections.abc import Callable, Mapping
from typing import Any, Self

from evenly.campaign.limits import Limits
from evenly.campaign.planning import Schedule
from evenly.campaign.store import Store
from evenly.launch.base import Launcher

__all__ = ["Lent"]

#: Seconds before the job's end by which runs must have ended: the last ones are stored then.
_SPARE_S = 30.0
#: Where only earlier runs tell a run's time, those of its configuration or all, it takes so many times their median.
_MARGIN = 1.5
#: Runs are put in a new order once there are so many times more.
_MORE = 1.5
#: Times that differ by less than this factor count as alike.
_ALIKE = 1.5


class Lent:
    """The time until the job ends in which runs are made, and what fits into it.

    Parameters
    ----------
    ends_at : float
        When it ends, in seconds since the epoch.
    limits : Limits
        What runs are predicted to take.
    cores_for : callable
        How many cores a run of a configuration takes.
    """

    def __init__(self, ends_at: float, limits: Limits, cores_for: Callable[[int], int]) -> None:
        self._ends_at, self._limits, self._cores_for = ends_at, limits, cores_for
        limits.keeps_waiting = True
        self._ordered_at = 0
        self._most: dict[int, float | None] = {}
        self._usual_s: float | None = None
        #: Configurations that would have been cut.
        self.held_back: set[int] = set()

    @classmethod
    def of(
        cls, launcher: Launcher, limits: Limits, cores_for: Callable[[int], int], schedule: Schedule, store: Store
    ) -> Self | None:  # fmt: skip
        """Return the time that is left where a launcher's tasks end with a job; None elsewhere."""
        ends_at = launcher.ends_at()
        if ends_at is None:
            return None
        found = cls(ends_at, limits, cores_for)
        found.order(schedule, store)
        return found

    def order(self, schedule: Schedule, store: Store) -> None:
        """Put long runs first, and of those that take alike the widest; anew once there are half as many runs more."""
        if store.count() < _MORE * self._ordered_at:
            return
        self._ordered_at = store.count()
        self._most = {}
        took = [record.took for record in store.each() if record.status == "ok"]
        self._usual_s = statistics.median(took) if took else None
        known = store.configurations()
        numbers = [number for number, runs in schedule.missing.items() if runs]
        times = self._limits.times([known[number] for number in numbers])
        first: dict[int, tuple[float, ...]] = {}
        for number, found in zip(numbers, times, strict=True):
            seconds = schedule.usual_s(number) if found is None else found[0]
            # Nobody knows how long the others take, so they come before all.
            length = math.inf if not seconds else round(math.log(seconds, _ALIKE))
            first[number] = (-length, -self._cores_for(number))
        schedule.put_first(first)

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
        usual = self._usual_s if usual is None else usual
        return None if usual is None else _MARGIN * usual
