"""`tune`: a loop that chooses, runs and learns until the budget is used up or a run costs more than it saves."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext
from dataclasses import dataclass, field
from typing import Any

import numpy as np

from evenly.arguments import explained
from evenly.errors import EvenlyError, InputError, RunFailed
from evenly.space.space import Space
from evenly.tuning.result import Result
from evenly.tuning.search import Search
from evenly.tuning.strategies.base import stop_reason
from evenly.tuning.trials import Trial

__all__ = ["tune"]

Run = Callable[..., float]


@explained
def tune(
    space: Space,
    run: Run,
    *,
    budget: int = 20,
    seed: int = 0,
    repeats: int = 1,
    limit: float | None = None,
    production: float | None = None,
    workers: int = 1,
    progress: Callable[[Trial], None] | None = None,
    **searching: Any,
) -> Result:
    """Find the fastest configuration of a program in few runs.

    Parameters
    ----------
    space : Space
        The configurations that may be run.
    run : callable
        Runs a configuration (dict) and returns its time in seconds; raises `evenly.RunFailed` if the run fails.
    budget : int
        Maximum number of runs.
    seed : int
    repeats : int
        Maximum number of runs of the same configuration. Only the fastest configuration so far is repeated.
    limit : float, optional
        Time limit of a run, as a multiple of the best time so far. With it, `run` is called as ``run(configuration,
        limit_s)``, with the limit in seconds, or None while there is no best time. It should stop a run at the limit
        and raise ``RunFailed(…, at_least=limit_s)``.
    production : float, optional
        Number of production runs of the program after the search. The search ends when the next run is expected to
        take longer than it would save in all production runs.
    workers : int
        Number of concurrent runs, each in its own thread.
    progress : callable, optional
        Called with the trial after each run.
    **searching
        Arguments of `Search`: ``strategy``, ``first``, ``surrogate``, ``known``, ``tasks``.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If an argument is out of range, or `run` doesn't return a finite number above zero.
    EvenlyError
        If no run succeeded.

    Examples
    --------
    >>> from evenly.space.parameters import Categorical, Integer
    >>> space = Space(block=Integer(1, 64, scale="log"), solver=Categorical("cg", "gmres"))
    >>> def run(configuration):
    ...     slower = 1.5 if configuration["solver"] == "gmres" else 1.0
    ...     return slower * (1 + np.log2(configuration["block"] / 8) ** 2)
    >>> result = tune(space, run, budget=16)
    >>> result.best, result.seconds
    ({'block': 8, 'solver': 'cg'}, 1.0)
    """
    for name, value, least in (("budget", budget, 1), ("repeats", repeats, 1), ("workers", workers, 1)):
        if value < least:
            raise InputError(f"{name} must be at least {least}, but got {value}")
    if limit is not None and not limit > 1:
        raise InputError(f"limit must be above 1, times the best so far, but got {limit}")
    search = Search(space, seed=seed, **searching)
    loop = _Loop(search, run, budget, repeats, limit, production, progress)
    stopped = loop.go(workers)
    if search.trials.best is None:
        raise EvenlyError(f"none of {loop.made} runs went well; the last said: {loop.message}")
    return Result.of(search.trials, stopped)


@dataclass
class _Loop:
    """State of the search loop: settings, number of runs made, and configurations to repeat."""

    search: Search
    run: Run
    budget: int
    repeats: int
    limit: float | None
    production: float | None
    progress: Callable[[Trial], None] | None
    made: int = 0
    message: str = ""
    again: list[dict[str, Any]] = field(default_factory=list)

    def go(self, workers: int) -> str:
        """Make runs until the search stops, and return the reason why it stopped."""
        stopped = ""
        waiting: dict[Future[float], dict[str, Any]] = {}
        with ThreadPoolExecutor(workers) if workers > 1 else nullcontext(_Inline()) as pool:
            while waiting or not stopped:
                while not stopped and len(waiting) < workers:
                    configuration, stopped = self._next(len(waiting))
                    if configuration is None:
                        break
                    arguments = () if self.limit is None else (self._limit_s(configuration),)
                    waiting[pool.submit(self.run, dict(configuration), *arguments)] = configuration
                for done in wait(waiting, return_when=FIRST_COMPLETED).done:
                    self._ended(done, waiting.pop(done), list(waiting.values()))
        return stopped

    def _next(self, under_way: int) -> tuple[dict[str, Any] | None, str]:
        """Return the next configuration and an empty string, or None and the reason to stop (empty: wait for runs)."""
        if self.made + under_way >= self.budget:
            return None, "the budget is used up"
        if self.again:
            configuration = self.again.pop(0)
            self.search.trials.ask(configuration, "may be the fastest, so it is run again")
            return configuration, ""
        choice = self.search.choose()
        if choice is None:
            # All configurations have been chosen, but one that is under way may have to be repeated.
            return None, "" if under_way else "all configurations have been run"
        if (reason := stop_reason(choice, self.search.trials, self.production)) is not None:
            self.search.trials.forget(choice.configuration)
            return None, reason
        return choice.configuration, ""

    def _limit_s(self, configuration: Mapping[str, Any]) -> float | None:
        best = self.search.trials.best_like(configuration)
        return None if self.limit is None or best is None else self.limit * best.mean_s

    def _ended(self, done: Future[float], configuration: dict[str, Any], under_way: list[dict[str, Any]]) -> None:
        self.made += 1
        try:
            self.search.tell(configuration, _seconds(done.result(), configuration))
        except RunFailed as error:
            self.message = str(error)
            self.search.tell(configuration, None, at_least=error.at_least)
        best = self.search.trials.best_like(configuration)
        if best is not None and len(best.seconds) < self.repeats and best.configuration not in under_way:
            self.again = [best.configuration]
        if self.progress is not None:
            self.progress(self.search.trials.trial(configuration))


class _Inline:
    """Replacement of an executor for a single worker: makes each run at once, in this thread."""

    @staticmethod
    def submit(run: Run, *arguments: Any) -> Future[float]:
        """Make the run and return its finished future."""
        done: Future[float] = Future()
        try:
            done.set_result(run(*arguments))
        except RunFailed as error:
            done.set_exception(error)
        return done


def _seconds(returned: Any, configuration: Mapping[str, Any]) -> float:
    try:
        seconds = float(returned)
    except (TypeError, ValueError):
        seconds = float("nan")
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"run must return the seconds that it took, a finite number above 0, but got {returned!r} for "
            f"{dict(configuration)}: raise evenly.RunFailed where a run fails"
        )
    return seconds
