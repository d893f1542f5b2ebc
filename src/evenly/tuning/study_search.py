"""Search in a study: a campaign runs the program and stores the runs, and a search chooses the next ones."""

from __future__ import annotations

import dataclasses
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd

from evenly.campaign.measuring import Campaign
from evenly.campaign.planning import Progress
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.campaign.study import Repetitions, Study
from evenly.errors import EvenlyWarning
from evenly.runs.runs import Runs
from evenly.tuning.candidates import Candidates
from evenly.tuning.repeating import Repeating
from evenly.tuning.result import Result
from evenly.tuning.search import Search, StrategyName
from evenly.tuning.stored_runs import tell_stored
from evenly.tuning.strategies.base import Choice

__all__ = ["Proposer", "searched", "tune_study"]


class Proposer:
    """Chooses the next runs of a campaign from its stored runs only, so that a killed campaign resumes the same way.

    Parameters
    ----------
    study : Study
        From `searched`.
    strategy, first, surrogate
        See `Search`.
    known : Runs, optional
        Runs that were measured before, outside the campaign.
    """

    def __init__(
        self,
        study: Study,
        *,
        strategy: StrategyName = "model",
        first: int = 5,
        surrogate: str | None = None,
        known: Runs | None = None,
    ) -> None:
        self._study, self._known = study, known
        self._candidates = Candidates(study.space)
        #: Why the search proposes no further run although some configurations haven't been run; else empty.
        self.stopped = ""
        self._said = ""
        self._store: Store | None = None
        self._settings: dict[str, Any] = {"strategy": strategy, "first": first, "surrogate": surrogate}
        self.search()  # invalid settings raise an error before anything runs

    def attach(self, store: Store) -> None:
        """Take the store of the campaign, which holds the reasons of runs and which of them are marked as bad."""
        self._store = store

    def search(self) -> Search:
        """Return a search that has been told the stored runs."""
        plan, wanted = self._study.plan, self._study.repetitions
        repeating = Repeating(
            plan.runs or 1, self._settings["first"], least=wanted.least, most=wanted.most, within=wanted.within,
            every=plan.anchor_every, early=plan.limit is not None,
        )  # fmt: skip
        search = Search(
            self._study.space, seed=plan.seed, known=self._known, tasks=plan.tasks, candidates=self._candidates,
            baseline=plan.baseline, repeating=repeating, production=plan.production, **self._settings,
        )  # fmt: skip
        if self._store is None:
            return search
        said = tell_stored(search, self._store)
        if said and said != self._said:
            self._said = said
            warnings.warn(said, EvenlyWarning, stacklevel=2)
        if plan.budget_s is not None:
            search.spent = sum(record.took for record in self._store.records()) / plan.budget_s
        return search

    def __call__(self, runs: Runs, count: int) -> pd.DataFrame:
        """Return at most `count` runs to make next, with their reasons as the attribute ``why`` of the table.

        A configuration that was run may be among them, to be run again.
        """
        del runs
        search, asked = self.search(), list[Choice]()
        while len(asked) < count and (choice := search.choose()) is not None:
            asked.append(choice)
        self.stopped = search.stopped
        names = self._study.space.names
        table = self._study.space.frame({name: [one.configuration[name] for one in asked] for name in names})
        table.attrs["why"] = [one.why for one in asked]
        return table


#: A search repeats what it decides to repeat, as often as it decides.
_AS_NEEDED = Repetitions(1, 1_000_000, 1e6)


def searched(study: Study, runs: int, *, repeated: bool, **settings: Any) -> Study:
    """Return a study in which a search proposes `runs` runs, repetitions included.

    `settings` are those of the plan: ``tasks``, ``limit``, ``production``, ``baseline``. Unless `repeated`, the study
    doesn't say how often configurations are run.
    """
    plan = dataclasses.replace(study.plan, design="tune", runs=runs, **settings)
    return dataclasses.replace(study, plan=plan, repetitions=study.repetitions if repeated else _AS_NEEDED)


def tune_study(
    campaign: Campaign, proposer: Proposer, progress: Callable[[Record, Progress], None] | None = None
) -> Result:
    """Make the runs that a search proposes and that aren't stored yet, and return the result of the search.

    Parameters
    ----------
    campaign : Campaign
        A campaign of a study from `searched`, with the proposer as its advisor.
    proposer : Proposer
    progress : callable, optional
        Called with each run when it ends.

    Raises
    ------
    InputError
        If no run succeeded.

    Examples
    --------
    >>> from evenly.campaign.study import Program
    >>> from evenly import Integer, Space
    >>> from evenly.campaign.timing import Timing
    >>> import tempfile
    >>> from pathlib import Path
    >>> timing = Timing.from_dict({"pattern": "took (.*)", "unit": "s"})
    >>> study = Study("echo", Space(n=Integer(1, 9)), Program("echo took {n}"), timing)
    >>> study = searched(study, 6, repeated=False)
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     proposer = Proposer(study)
    ...     with Campaign(study, Path(folder, "echo.db"), advisor=proposer) as campaign:
    ...         result = tune_study(campaign, proposer)
    >>> len(result.made), result.best
    (6, {'n': 1})
    """
    campaign.run(progress)
    campaign.runs()  # raises an error if no run succeeded
    plan, search = campaign.study.plan, proposer.search()
    if proposer.stopped:
        stopped = proposer.stopped
    elif campaign.held_back:
        stopped = "the job would have ended before the next run; the same command in another job goes on"
    elif campaign.progress.left <= 0:
        stopped = "the runs that were asked for are made"
    else:
        spent = plan.budget_s is not None
        stopped = "the study's budget_s is used up" if spent else search.all_run
    return Result.of(search, stopped)
