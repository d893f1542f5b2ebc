"""The result of a search: the fastest configuration, its confidence interval, and all trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from scipy.special import stdtrit

from evenly.runs.runs import Runs
from evenly.showing import Shown
from evenly.space.space import Space
from evenly.tuning.trials import Trials

__all__ = ["Result"]


@dataclass(frozen=True)
class Result(Shown):
    """The fastest configuration, and how it was found.

    Attributes
    ----------
    best : dict
        The fastest configuration.
    seconds : float
        Its time in seconds: the geometric mean over repetitions.
    interval : tuple of float or None
        95 % confidence interval of `seconds`; None where no configuration was repeated.
    alike : DataFrame
        Configurations whose times don't differ significantly from the best one's, with ``seconds``; the best one first.
    history : DataFrame
        One row per configuration, in the order in which they were chosen: parameters, ``seconds``, ``repetitions``,
        ``status``, ``why`` it was chosen, and the ``best`` seconds so far.
    tasks : DataFrame
        The fastest configuration of each task and its ``seconds``; a single row if the search has no tasks.
    task_names : tuple of str
        Names of the parameters that define the tasks.
    stopped : str
        Why the search ended.
    """

    best: dict[str, Any]
    seconds: float
    interval: tuple[float, float] | None
    alike: pd.DataFrame
    history: pd.DataFrame
    stopped: str
    space: Space
    tasks: pd.DataFrame
    task_names: tuple[str, ...]

    @classmethod
    def of(cls, trials: Trials, stopped: str) -> Result:
        """Return the result of trials, at least one of which succeeded."""
        best = trials.best
        assert best is not None  # noqa: S101 - the callers' business
        spread, freedom = _spread(trials)
        alike = [best]
        # Student's t-test of the difference of mean log times from the best one's, two-sided at 95 %, with a variance
        # that is pooled over all repeated configurations.
        for trial in sorted(trials.of("ok"), key=lambda one: one.mean_s):
            apart = np.log(trial.mean_s / best.mean_s)
            error = spread * np.sqrt(1 / len(trial.seconds) + 1 / len(best.seconds)) if freedom else 0.0
            if trial is not best and apart <= (stdtrit(freedom, 0.975) * error if freedom else 0.0):
                alike.append(trial)
        table = trials.table(alike)
        table["seconds"] = [trial.mean_s for trial in alike]
        half = stdtrit(freedom, 0.975) * spread / np.sqrt(len(best.seconds)) if freedom else 0.0
        interval = (best.mean_s * np.exp(-half), best.mean_s * np.exp(half)) if freedom else None
        of_tasks = sorted(trials.bests.items())
        tasks = trials.table([trial for _, trial in of_tasks])
        tasks["seconds"] = [trial.mean_s for _, trial in of_tasks]
        return cls(
            dict(best.configuration), best.mean_s, interval, table, trials.history(), stopped, trials.space, tasks,
            trials.tasks,
        )  # fmt: skip

    @property
    def runs(self) -> Runs:
        """All runs that have ended, to learn from; runs that failed or were ended early are marked as such."""
        table = self.history[[*self.space.names, "seconds", "status"]]
        return Runs.from_frame(table[table["status"] != "pending"], self.space.names, space=self.space)


def _spread(trials: Trials) -> tuple[float, int]:
    """Return the standard deviation of log seconds, pooled over repeated configurations, and its degrees of freedom."""
    squares, freedom = 0.0, 0
    for trial in trials.of("ok"):
        logs = np.log(trial.seconds)
        squares += float(np.sum((logs - logs.mean()) ** 2))
        freedom += len(logs) - 1
    return (float(np.sqrt(squares / freedom)), freedom) if freedom else (0.0, 0)
