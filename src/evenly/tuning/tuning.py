"""`tune`: run, learn, choose, run, until the budget is used up or another run no longer pays."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np

from evenly.errors import EvenlyError, InputError, RunFailed
from evenly.runs import Runs
from evenly.space import Space
from evenly.tuning.result import Result
from evenly.tuning.search import Search, StrategyName
from evenly.tuning.strategies.base import Strategy
from evenly.tuning.trials import Trial

__all__ = ["tune"]

Run = Callable[[dict[str, Any]], float]


def tune(
    space: Space,
    run: Run,
    *,
    budget: int = 20,
    strategy: StrategyName | Strategy = "model",
    first: int = 5,
    surrogate: str | None = None,
    known: Runs | None = None,
    seed: int = 0,
    progress: Callable[[Trial], None] | None = None,
) -> Result:
    """Find the fastest configuration in few runs.

    Parameters
    ----------
    space : Space
        What may be run.
    run : callable
        Runs a configuration (dict) and returns its seconds; raises `evenly.RunFailed` where it fails.
    budget : int
        How many runs are made at most.
    strategy, first, surrogate, known, seed
        See `Search`.
    progress : callable, optional
        Told each run as it ends.

    Returns
    -------
    Result

    Raises
    ------
    InputError
        If no run went well, or `run` returned something else than a finite number above zero.

    Examples
    --------
    >>> from evenly.parameters import Categorical, Integer
    >>> space = Space(block=Integer(1, 64, scale="log"), solver=Categorical("cg", "gmres"))
    >>> def run(configuration):
    ...     slower = 1.5 if configuration["solver"] == "gmres" else 1.0
    ...     return slower * (1 + np.log2(configuration["block"] / 8) ** 2)
    >>> result = tune(space, run, budget=16)
    >>> result.best, result.seconds
    ({'block': 8, 'solver': 'cg'}, 1.0)
    """
    if budget < 1:
        raise InputError(f"budget must be at least 1 run, but got {budget}")
    search = Search(space, strategy=strategy, first=first, surrogate=surrogate, seed=seed, known=known)
    stopped = "the budget is used up"
    message = ""
    for _ in range(budget):
        configuration = search.ask()
        if configuration is None:
            stopped = "all configurations have been run"
            break
        try:
            seconds = _seconds(run(dict(configuration)), configuration)
        except RunFailed as error:
            seconds, message = None, str(error)
        search.tell(configuration, seconds)
        if progress is not None:
            progress(next(trial for trial in reversed(list(search.trials)) if trial.configuration == configuration))
    if search.trials.best is None:
        raise EvenlyError(f"none of {len(search.trials)} runs went well; the last said: {message}")
    return Result.of(search.trials, stopped)


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
