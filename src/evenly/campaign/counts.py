"""How many runs of a campaign are in which state, and the core-hours that they took and will take."""

from __future__ import annotations

import math
from collections import Counter
from dataclasses import dataclass

from evenly.campaign.making import Making
from evenly.campaign.one_run import Runner
from evenly.campaign.store import Store
from evenly.campaign.study import Study

__all__ = ["Counts", "Tally"]


@dataclass(frozen=True)
class Counts:
    """The runs of a campaign by their state; core-hours spent, and left as far as is known (NaN if nothing is).

    Examples
    --------
    >>> print(Counts(queued=3, running=5, done=40, failed=2, spent=12.34, left=30.0))
    3 queued, 5 running, 40 done, 2 failed; 12.3 core-hours spent, about 30 left
    """

    queued: int
    running: int
    done: int
    failed: int
    spent: float
    left: float
    timed_out: int = 0

    def __str__(self) -> str:
        left = f", about {self.left:.3g} left" if self.left >= 0 else ""
        timed_out = f", {self.timed_out} timed out" if self.timed_out else ""
        return (
            f"{self.queued} queued, {self.running} running, {self.done} done, {self.failed} failed{timed_out}; "
            f"{self.spent:.3g} core-hours spent{left}"
        )


class Tally:
    """The sums over a campaign's stored runs, kept as runs come: a count costs nothing for those that were counted.

    Parameters
    ----------
    study : Study
    store : Store
    runner : Runner
    """

    def __init__(self, study: Study, store: Store, runner: Runner) -> None:
        self._study, self._store, self._runner = study, store, runner
        self.reset()

    def reset(self) -> None:
        """Count all runs anew, since some were deleted."""
        self._seen, self._took, self._spent = 0, 0.0, 0.0
        self._status: Counter[str] = Counter()
        self._cores: dict[int, int] = {}

    def _count(self) -> None:
        for record in self._store.records(self._seen):
            self._seen += 1
            self._status[record.status] += 1
            self._took += record.took
            self._spent += self._cores_of(record.configuration) * record.spent_s / 3600

    def _cores_of(self, number: int) -> int:
        if number not in self._cores:
            self._cores[number] = self._runner.cores_needed(self._store.configuration(number))
        return self._cores[number]

    def counts(self, making: Making, seconds_left: float) -> Counts:
        """Return the counts of the campaign, which has so many expected seconds left."""
        self._count()
        queued, under_way = making.queued, len(making.under_way)
        # Per second of a run, those that are left need as many cores as those that were made.
        left = math.nan
        if self._took > 0:
            left = self._spent / self._took * seconds_left * self._study.program.placement.concurrent
        return Counts(
            queued, under_way - queued, self._status["ok"], self._status["failed"], self._spent, left,
            self._status["timed out"],
        )  # fmt: skip
