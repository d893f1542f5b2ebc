"""The result of a search: the fastest configuration, its confidence interval, and all trials."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
import pandas as pd

from evenly.runs.runs import Runs
from evenly.showing import Shown
from evenly.space.space import Space
from evenly.tuning.standing import Standing
from evenly.tuning.trials import Key, Trials

if TYPE_CHECKING:
    from evenly.tuning.search import Search

__all__ = ["Gain", "Result"]


@dataclass(frozen=True)
class Gain:
    """How much faster the fastest configuration is than the one in use today; of several tasks, in the task of that.

    Attributes
    ----------
    baseline : dict
        The configuration in use today.
    seconds : float
        Its time.
    saved : float
        The share of this time that the fastest configuration saves: 0.2 is 20 %.
    interval : tuple of float or None
        95 % confidence interval of `saved`; None where no configuration was repeated.
    well, bad : int
        How many of its runs went well, and how many failed or were ended early.
    """

    baseline: dict[str, Any]
    seconds: float
    saved: float
    interval: tuple[float, float] | None
    well: int = 1
    bad: int = 0


@dataclass(frozen=True)
class Result(Shown):
    """The fastest configuration, and how it was found.

    Attributes
    ----------
    best : dict
        The fastest configuration.
    seconds : float
        Its time in seconds. Where repetitions show how noisy runs are, it is what the model believes, since a run that
        was chosen for its time was lucky (see `evenly.tuning.standing`); else it is the measured time.
    interval : tuple of float or None
        95 % confidence interval of `seconds`; None where no configuration was repeated.
    chance : float
        Probability that `best` is the fastest of all configurations that were run, as far as the noise of the runs
        decides; nan where no configuration was repeated.
    alike : DataFrame
        Configurations whose times don't differ significantly from the best one's, with ``seconds`` and the ``chance``
        that each is the fastest. First are those that are fast for sure, by their time and its uncertainty: one that
        was run once may have a larger chance than the best one.
    gain : Gain or None
        How much the best one saves of the time of the configuration in use today, where there are tasks: the best one
        of the same task; None if none was named, or its time isn't known.
    no_gain : str
        Why that isn't known, though it was named; else "".
    history : DataFrame
        One row per configuration, in the order in which they were chosen: parameters, ``seconds``, ``repetitions``,
        ``status``, ``why`` it was chosen, and the ``best`` seconds so far.
    made : DataFrame
        One row per run, in the order in which they ended: parameters, ``seconds``, ``status``, and ``why`` it was made.
        The seconds of a run that was ended early are a lower bound.
    drift : float
        By how much the machine became slower during the search (0.1 is 10 %), which is taken out of all times; 0 where
        that isn't known.
    resolution : float
        To how many seconds the measured times were rounded; 0 where that is too little to matter.
    tasks : DataFrame
        The fastest configuration of each task, its ``seconds`` with their interval from ``lower`` to ``upper``, and its
        ``chance`` (nan where no configuration was repeated), and how many configurations of the task went well
        (``tried``); a single row if the search has no tasks.
    task_names : tuple of str
        Names of the parameters that define the tasks.
    tasks_without : list of dict
        The tasks of which no run went well; none where the space is too large to list.
    stopped : str
        Why the search ended.
    """

    best: dict[str, Any]
    seconds: float
    interval: tuple[float, float] | None
    chance: float
    alike: pd.DataFrame
    gain: Gain | None
    no_gain: str
    history: pd.DataFrame
    made: pd.DataFrame
    drift: float
    resolution: float
    stopped: str
    space: Space
    tasks: pd.DataFrame
    task_names: tuple[str, ...]
    tasks_without: list[dict[str, Any]]

    @classmethod
    def of(cls, search: Search, stopped: str) -> Result:
        """Return the result of a search, of which at least one run succeeded."""
        trials, standings = search.trials, search.standings(is_answer=True)
        winners = {task: one.trials[one.winner] for task, one in sorted(standings.items())}
        tasks = trials.table(list(winners.values()))
        tasks["seconds"] = [standings[task].seconds(standings[task].winner) for task in winners]
        ends = [standings[task].interval(standings[task].winner) or (np.nan, np.nan) for task in winners]
        tasks["lower"], tasks["upper"] = [low for low, _ in ends], [high for _, high in ends]
        tasks["chance"] = [standings[task].chances[standings[task].winner] for task in winners]
        tasks["tried"] = [len(standings[task].trials) for task in winners]
        # All others solve other problems than the task with the fastest run.
        there = min(standings.values(), key=lambda one: one.seconds(one.winner))
        rows = [row for row in there.order if there.is_alike(row)]
        alike = trials.table([there.trials[row] for row in rows])
        alike["seconds"] = [there.seconds(row) for row in rows]
        alike["chance"] = there.chances[rows]
        made = trials.space.frame({name: [m.configuration[name] for m in trials.made] for name in trials.space.names})
        for name in ("seconds", "status", "why"):
            made[name] = [getattr(m, name) for m in trials.made]
        best, seconds = there.trials[there.winner], there.seconds(there.winner)
        gain = next(filter(None, (_gain(trials, task, one) for task, one in standings.items())), None)
        return cls(
            dict(best.configuration), seconds, there.interval(there.winner), float(there.chances[there.winner]), alike,
            gain, _no_gain(trials, gain), trials.history(), made, float(np.expm1(trials.drift)),
            trials.resolution_s, stopped, trials.space, tasks, trials.tasks, _without(search, set(winners)),
        )  # fmt: skip

    @property
    def runs(self) -> Runs:
        """All runs that have ended, to learn from; runs that failed or were ended early are marked as such."""
        return Runs.from_frame(self.made.drop(columns="why"), self.space.names, space=self.space)


def _without(search: Search, known: set[Key]) -> list[dict[str, Any]]:
    """Return the tasks of a listed space that aren't among those with a result."""
    names, listed = list(search.trials.tasks), search.candidates.listed
    if not names or listed is None:
        return []
    rows = [dict(zip(names, row, strict=True)) for row in listed[names].drop_duplicates().itertuples(index=False)]
    return [row for row in rows if search.trials.task_of(row) not in known]


def _gain(trials: Trials, task: Key, standing: Standing) -> Gain | None:
    """Return what a task's winner saves of the time of the configuration in use today, if that is of this task.

    If that one fails so often that it isn't among those that may win, its runs that went well still tell its time.
    """
    today = None if trials.reference is None else trials.trial(trials.reference)
    if today is None or not today.seconds or trials.task_of(today.configuration) != task:
        return None
    winner = standing.winner
    known = standing if any(one is today for one in standing.trials) else standing.beside(today)
    row = next(row for row, one in enumerate(known.trials) if one is today)
    found, seconds = known.ratio(winner, row), known.seconds(row)
    saved = 1 - known.seconds(winner) / seconds
    interval = None if found is None else (1 - found[1], 1 - found[0])
    bad = today.failures + len(today.bounds)
    return Gain(dict(today.configuration), seconds, round(saved, 12), interval, len(today.seconds), bad)


def _no_gain(trials: Trials, gain: Gain | None) -> str:
    """Return why the time of the configuration in use today isn't known, if it was named; else nothing."""
    if trials.reference is None or gain is not None:
        return ""
    today = trials.trial(trials.reference)
    status = "pending" if today is None else today.status
    said = {"failed": "it failed", "timed out": "it was ended early"}
    return said.get(status, "it wasn't run: the runs were used up")
