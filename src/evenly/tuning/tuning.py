"""`tune`: a loop that chooses, runs and learns until the budget is used up or a run costs more than it saves."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from concurrent.futures import FIRST_COMPLETED, Future, ThreadPoolExecutor, wait
from contextlib import nullcontext, suppress
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

import numpy as np

from evenly.arguments import explained
from evenly.campaign.program import check_number
from evenly.errors import EvenlyError, InputError, RunFailed
from evenly.log import log
from evenly.showing import NotebookBar, notebook_bar
from evenly.space.space import Space
from evenly.tuning.repeating import Repeating
from evenly.tuning.result import Result
from evenly.tuning.search import Search
from evenly.tuning.stored_runs import KeptRuns
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
    baseline: Mapping[str, Any] | None = None,
    repeats: int | None = None,
    limit: float | None = None,
    production: float | None = None,
    workers: int = 1,
    store: Path | str | None = None,
    progress: Callable[[Trial], None] | None = None,
    **searching: Any,
) -> Result:
    """Find the fastest configuration of a program in few runs, and confirm it.

    The last fifth of the budget repeats the configurations that may be the fastest, as far as repetitions decide
    anything; what is left of it goes on searching. Before, a configuration is repeated only if that is worth more than
    running a new one.

    Parameters
    ----------
    space : Space
        The configurations that may be run.
    run : callable
        Runs a configuration (dict) and returns its time in seconds; raises `evenly.RunFailed` if the run fails.
    budget : int
        Maximum number of runs, repetitions included.
    seed : int
    baseline : mapping, optional
        The configuration in use today, with a value for each parameter that has an effect. It is run first, again
        beside the fastest ones, and every 20 runs: the result compares the fastest with it, and it shows the drift of
        the machine.
    repeats : int, optional
        Maximum number of runs of the same configuration; 1 means that nothing is repeated.
    limit : float, optional
        Time limit of a run, as a multiple of the best time so far. With it, `run` is called as ``run(configuration,
        limit_s)``, with the limit in seconds, or None while there is no best time, and for repetitions. It should stop
        a run at the limit and raise ``RunFailed(…, at_least=limit_s)``. The limit is larger where runs are noisy.
    production : float, optional
        Number of production runs of the program after the search. The search ends when the next run is expected to
        take longer than it would save in all production runs.
    workers : int
        Number of concurrent runs, each in its own thread.
    store : path, optional
        File in which each run is kept as it ends. A search with the same file goes on with its runs, which count in the
        budget; `evenly runs list` lists them.
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
    Exception
        What `run` raises apart from `RunFailed`, and an interruption: runs under way end first, and the exception's
        attribute ``result`` is the `Result` of the runs made, if any succeeded.

    Examples
    --------
    >>> from evenly.space.parameters import Categorical, Integer
    >>> space = Space(block=Integer(1, 64, scale="log"), solver=Categorical("cg", "gmres"))
    >>> def run(configuration):
    ...     slower = 1.5 if configuration["solver"] == "gmres" else 1.0
    ...     return slower * (1 + np.log2(configuration["block"] / 8) ** 2)
    >>> result = tune(space, run, budget=16, baseline={"block": 32, "solver": "cg"})
    >>> result.best, result.seconds, result.gain.saved
    ({'block': 8, 'solver': 'cg'}, 1.0, 0.8)
    """
    for name, value in (("budget", budget), ("repeats", repeats), ("workers", workers)):
        if value is not None:
            check_number(name, value.item() if isinstance(value, np.generic) else value, above=0, whole=True)
    if limit is not None and not limit > 1:
        raise InputError(f"limit must be above 1, times the best so far, but got {limit}")
    repeating = Repeating(budget, searching.get("first", 5), most=repeats or 1_000_000, early=limit is not None)
    search = Search(space, seed=seed, baseline=baseline, repeating=repeating, production=production, **searching)
    with nullcontext() if store is None else KeptRuns(store, space, run) as kept:
        if kept is not None:
            kept.tell(search)
        bar = notebook_bar("searching") if progress is None else None
        loop = _Loop(search, run, budget, limit, kept, progress, bar)
        stopped = loop.go(workers)
    if search.trials.best is None:
        raise EvenlyError(f"none of {search.made} runs went well; the last said: {loop.message}")
    return Result.of(search, stopped)


@dataclass
class _Loop:
    """State of the search loop: settings, and what the last failed run said."""

    search: Search
    run: Run
    budget: int
    limit: float | None
    kept: KeptRuns | None
    progress: Callable[[Trial], None] | None
    bar: NotebookBar | None = None
    message: str = ""
    error: BaseException | None = None
    waiting: dict[Future[_Ended], dict[str, Any]] = field(default_factory=dict)

    def go(self, workers: int) -> str:
        """Make runs until the search stops, and return the reason why it stopped."""
        stopped = ""
        try:
            with ThreadPoolExecutor(workers) if workers > 1 else nullcontext(_Inline()) as pool:
                while self.waiting or not stopped:
                    while not stopped and self.error is None and len(self.waiting) < workers:
                        configuration, stopped = self._next()
                        if configuration is None:
                            break
                        arguments = () if self.limit is None else (self._limit_s(configuration),)
                        future = pool.submit(_made, self.run, dict(configuration), *arguments)
                        self.waiting[future] = configuration
                    self._collect(FIRST_COMPLETED)
                    if self.error is not None and not self.waiting:
                        raise self.error
        except BaseException as error:
            self._leave(error)
            raise
        finally:
            if self.bar is not None:
                self.bar.close()
        return stopped

    def _next(self) -> tuple[dict[str, Any] | None, str]:
        """Return the next configuration and an empty string, or None and the reason to stop (empty: wait for runs)."""
        if self.search.made + len(self.waiting) >= self.budget:
            return None, "the budget is used up"
        choice = self.search.choose()
        if choice is not None:
            return choice.configuration, ""
        if self.search.stopped:
            return None, self.search.stopped
        # All configurations have been chosen, but one that is under way may have to be repeated.
        return None, "" if self.waiting else self.search.all_run

    def _limit_s(self, configuration: Mapping[str, Any]) -> float | None:
        best, trial = self.search.trials.best_like(configuration), self.search.trials.trial(configuration)
        if self.limit is None or best is None or (trial is not None and trial.seconds):
            return None
        return self.limit * best.mean_s * self.search.trials.noise.slack(len(best.seconds))

    def _collect(self, when: str) -> None:
        """Wait for runs, and tell the search of those that have ended."""
        for done in wait(self.waiting, return_when=when).done:
            configuration = self.waiting.pop(done)
            if (error := done.exception()) is not None:
                # Runs under way are waited for first, so that nothing is lost.
                self.error = self.error or error
                self.search.trials.forget(configuration)
            else:
                self._ended(configuration, done.result())

    def _ended(self, configuration: dict[str, Any], run: _Ended) -> None:
        self.message = run.message or self.message
        self.search.tell(configuration, run.seconds, at_least=run.at_least)
        made = self.search.trials.made[-1]
        if self.kept is not None:
            self.kept.add(
                configuration, made.status, made.seconds, made.why, started=run.started, took=run.took,
                message=run.message,
            )  # fmt: skip
        trial = self.search.trials.trial(configuration)
        log.info("run %d of %d: %s: %s", self.search.made, self.budget, configuration, run.message or run.seconds)
        if self.bar is not None:
            self.bar.show(self.search.made / self.budget, f"{self.search.made} of {self.budget} runs")
        if self.progress is not None and trial is not None:
            self.progress(trial)

    def _leave(self, error: BaseException) -> None:
        """Before an exception goes on to the user: collect what ended, and give the exception the result so far."""
        with suppress(BaseException):
            self._collect("ALL_COMPLETED")
        if self.search.trials.best is not None:
            made = self.search.made
            with suppress(AttributeError):
                error.result = Result.of(self.search, f"an exception ended it: {error!r}")  # type: ignore[attr-defined]
                error.add_note(f"{made} runs of the search are kept: `result` of this exception holds them")


@dataclass(frozen=True)
class _Ended:
    """What came of a run, and when it was made: start in seconds since the epoch, and wall seconds."""

    started: float
    took: float
    seconds: float | None = None
    at_least: float | None = None
    message: str = ""


def _made(run: Run, configuration: dict[str, Any], *arguments: Any) -> _Ended:
    """Make a run."""
    started, begin = time.time(), time.perf_counter()
    try:
        returned = run(dict(configuration), *arguments)
    except RunFailed as error:
        return _Ended(started, time.perf_counter() - begin, at_least=error.at_least, message=str(error))
    return _Ended(started, time.perf_counter() - begin, _seconds(returned, configuration))


class _Inline:
    """Replacement of an executor for a single worker: makes each run at once, in this thread."""

    @staticmethod
    def submit(function: Callable[..., _Ended], *arguments: Any) -> Future[_Ended]:
        """Make the run and return its finished future."""
        done: Future[_Ended] = Future()
        try:
            done.set_result(function(*arguments))
        except BaseException as error:
            done.set_exception(error)
        return done


def _seconds(returned: Any, configuration: Mapping[str, Any]) -> float:
    try:
        # True would be a second.
        seconds = float("nan") if isinstance(returned, bool | np.bool_) else float(returned)
    except (TypeError, ValueError):
        seconds = float("nan")
    if not (np.isfinite(seconds) and seconds > 0):
        raise InputError(
            f"run must return the seconds that it took, a finite number above 0, but got {returned!r} for "
            f"{dict(configuration)}: raise evenly.RunFailed where a run fails"
        )
    return seconds
