"""How many runs of a campaign are in which state, and the core-hours that they took and will take."""

from __future__ import annotations

import math
from dataclasses import dataclass

from evenly.campaign.making import Making
from evenly.campaign.one_run import Runner
from evenly.campaign.store import Store
from evenly.campaign.study import Study

__all__ = ["Counts", "counts_of"]


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

    def __str__(self) -> str:
        left = f", about {self.left:.3g} left" if self.left >= 0 else ""
        return (
            f"{self.queued} queued, {self.running} running, {self.done} done, {self.failed} failed; "
            f"{self.spent:.3g} core-hours spent{left}"
        )


def counts_of(study: Study, store: Store, runner: Runner, making: Making, seconds_left: float) -> Counts:
    """Return the counts of a campaign, which has so many expected seconds left."""
    records, queued, under_way = store.records(), making.queued, len(making.under_way)
    cores = {number: runner.cores_needed(store.configuration(number)) for number in {r.configuration for r in records}}
    spent = sum(cores[r.configuration] * (r.took + float(r.details.get("cut_s", 0.0))) for r in records) / 3600
    failed, took = sum(r.status != "ok" for r in records), sum(r.took for r in records)
    # Per second of a run, those that are left need as many cores as those that were made.
    left = spent / took * seconds_left * study.program.placement.concurrent if took > 0 else math.nan
    return Counts(queued, under_way - queued, len(records) - failed, failed, spent, left)
