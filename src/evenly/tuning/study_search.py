"""Search in a study: a campaign runs the program and stores the runs, and a search chooses the next ones."""

from __future__ import annotations

import dataclasses
import math
import warnings
from collections.abc import Callable
from typing import Any

import pandas as pd

from evenly.campaign.measuring import Campaign
from evenly.campaign.planning import Progress, rows_of
from evenly.campaign.store import Record
from evenly.campaign.study import Repetitions, Study
from evenly.errors import EvenlyWarning
from evenly.runs.runs import Runs
from evenly.tuning.candidates import Candidates
from evenly.tuning.result import Result
from evenly.tuning.search import Search, StrategyName
from evenly.tuning.strategies.base import stop_reason

__all__ = ["Proposer", "searched", "tune_study"]


class Proposer:
    """Chooses the next runs of a campaign from its stored runs only, so that a killed campaign resumes the same way.

    Parameters
    ----------
    study : Study
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
        self._said = False
        self._settings: dict[str, Any] = {"strategy": strategy, "first": first, "surrogate": surrogate}
        self.search(None)  # invalid settings raise an error before anything runs

    def search(self, runs: Runs | None) -> Search:
        """Return a search that has been told the runs."""
        seed = self._study.plan.seed
        search = Search(
            self._study.space, seed=seed, known=self._known, tasks=self._study.plan.tasks,
            candidates=self._candidates, **self._settings,
        )  # fmt: skip
        if runs is None or not len(runs):
            return search
        # The status decides whether a run succeeded: its seconds alone don't show it.
        names = self._study.space.names
        there = self._study.space.contains(runs.configurations)
        if not there.all() and not self._said:
            self._said = True
            gone = runs.configurations[~there].drop_duplicates()
            these = f"{len(gone)} configurations that aren't" if len(gone) > 1 else "1 configuration that isn't"
            named = ", ".join(f"{name} = {value}" for name, value in gone.iloc[0].items())
            warnings.warn(
                f"runs of {these} in the study any more ({named}{', …' * (len(gone) > 1)}): the search "
                "doesn't use them, and they stay in the table",
                EvenlyWarning,
                stacklevel=2,
            )
        runs = runs.where(there)
        table = runs.to_frame()
        bounds = runs.learning("seconds").bounds.tolist()
        for configuration, seconds, status, bound in zip(
            rows_of(table[names]), table["seconds"].tolist(), table["status"], bounds, strict=True
        ):
            at_least = bound if math.isfinite(bound) else None
            search.tell(configuration, seconds if status == "ok" else None, at_least=at_least)
        return search

    def __call__(self, runs: Runs, count: int) -> pd.DataFrame:
        """Return at most `count` configurations to run next."""
        search, asked = self.search(runs), list[dict[str, Any]]()
        for _ in range(count):
            choice = search.choose()
            if choice is None:
                break
            self.stopped = stop_reason(choice, search.trials, self._study.plan.production) or ""
            if self.stopped:
                break
            asked.append(choice.configuration)
        return self._study.space.frame({name: [one[name] for one in asked] for name in self._study.space.names})


def searched(study: Study, runs: int, *, repeated: bool, **settings: Any) -> Study:
    """Return a study in which a search proposes `runs` configurations, each of which is run once unless `repeated`.

    `settings` are those of the plan: ``tasks``, ``limit``, ``production``.
    """
    plan = dataclasses.replace(study.plan, design="tune", runs=runs, anchor_every=0, **settings)
    repetitions = study.repetitions if repeated else Repetitions(1, 1)
    return dataclasses.replace(study, plan=plan, repetitions=repetitions)


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
    >>> len(result.history), result.best
    (6, {'n': 1})
    """
    campaign.run(progress)
    runs = campaign.runs()
    plan = campaign.study.plan
    tried = len(runs.configurations.drop_duplicates())
    if proposer.stopped:
        stopped = proposer.stopped
    elif tried >= (plan.runs or 0):
        stopped = "the runs that were asked for are made"
    else:
        spent = plan.budget_s is not None
        stopped = "the study's budget_s is used up" if spent else "all configurations have been run"
    return Result.of(proposer.search(runs).trials, stopped)
