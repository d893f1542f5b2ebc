"""The fastest configuration of each task of a search: when a run can't win any more, and what its time is at least.

One lucky run decides neither: the noise of repetitions is allowed for.
"""

from __future__ import annotations

from collections.abc import Iterable
from typing import Any

import numpy as np

from evenly.campaign.noise import noise_of
from evenly.campaign.record import Record

__all__ = ["Fastest"]

Task = tuple[Any, ...]
#: Standard deviations by which the fastest runs may have been lucky, and a new one unlucky.
_DEVIATIONS = 2.0


class Fastest:
    """The successful runs of each task, by configuration.

    Examples
    --------
    >>> fastest = Fastest()
    >>> for took in (1.0, 1.0):
    ...     fastest.add((), Record(1, 0, "ok", {"seconds": took}, took=took))
    >>> fastest.limit_s((), 2.0), fastest.bound((), 3.0)
    (2.0, 3.0)
    """

    def __init__(self) -> None:
        self._runs: dict[Task, dict[int, list[tuple[float, float]]]] = {}

    def add(self, task: Task, record: Record) -> None:
        """Add a run, if it went well."""
        seconds = record.quantities.get("seconds", 0.0)
        if record.status == "ok" and seconds > 0 and record.took > 0:
            of_task = self._runs.setdefault(task, {})
            of_task.setdefault(record.configuration, []).append((np.log(seconds), np.log(record.took)))

    def has(self, task: Task, configuration: int) -> bool:
        """Return whether a run of a configuration went well."""
        return configuration in self._runs.get(task, {})

    def limit_s(self, task: Task, many: float) -> float | None:
        """Return `many` times the wall seconds of the fastest, and more by the noise; None without runs."""
        best = self._best(task)
        if best is None:
            return None
        noise = noise_of([took for _, took in runs] for runs in self._all())
        return many * float(np.exp(np.mean([took for _, took in best]))) * noise.slack(len(best))

    def bound(self, task: Task, took_s: float) -> float | None:
        """Return a lower bound of the timed part of a run that was ended after `took_s` wall seconds; None if unknown.

        All runs of a task solve the same problem. Suppose that the run lasted r times as long as the fastest
        configuration. Then its timed part takes at least r times as long, since the untimed part takes the same time in
        all runs, and so it only makes r smaller. How much untimed parts scatter is allowed for.
        """
        best = self._best(task)
        if best is None:
            return None
        shares = self._noise([seconds - took for seconds, took in runs] for runs in self._all()) / np.sqrt(len(best))
        share = np.exp(np.mean([seconds - took for seconds, took in best]) - _DEVIATIONS * shares)
        fastest = float(np.exp(np.mean([seconds for seconds, _ in best])))
        bound = float(share * took_s)
        return bound if bound > fastest else None

    def _all(self) -> Iterable[list[tuple[float, float]]]:
        return (runs for task in self._runs.values() for runs in task.values())

    @staticmethod
    def _noise(repetitions: Iterable[list[float]]) -> float:
        return noise_of(repetitions).likely

    def _best(self, task: Task) -> list[tuple[float, float]] | None:
        """Return the runs of the configuration with the least mean log seconds plus standard error."""
        noise = self._noise([seconds for seconds, _ in runs] for runs in self._all())
        return min(
            self._runs.get(task, {}).values(),
            key=lambda runs: float(np.mean([seconds for seconds, _ in runs]) + noise / np.sqrt(len(runs))),
            default=None,
        )
