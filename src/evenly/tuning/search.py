"""The ask-and-tell interface of a search for the fastest configuration; `evenly.tune` is the loop around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np
from threadpoolctl import threadpool_limits

from evenly.arguments import check_seed, explained
from evenly.errors import InputError, did_you_mean
from evenly.runs.runs import Runs
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.strategies.base import Choice, Strategy
from evenly.tuning.strategies.greedy import Greedy
from evenly.tuning.strategies.modelled import Modelled
from evenly.tuning.strategies.random_search import Enumeration, RandomSearch
from evenly.tuning.trials import Trials

__all__ = ["STRATEGIES", "Search", "StrategyName"]

StrategyName = Literal["model", "greedy", "random", "all"]
STRATEGIES: tuple[str, ...] = get_args(StrategyName)


@explained
class Search:
    """A search for the fastest configuration, with an ask-and-tell interface.

    Proposals depend only on the space, the settings (with the seed), and the runs it was told, in their order. So a
    search is reproducible.

    Parameters
    ----------
    space : Space
        The configurations that may be run.
    strategy : {"model", "greedy", "random", "all"} or Strategy
        "model": Bayesian optimisation with Gaussian processes; "greedy": some random runs, then always the shortest
        predicted time (algorithm 1 of the CICE study); "random": random search; "all": all configurations, in order.
    first : int
        Number of runs before a model is learned.
    surrogate : str, optional
        The model of "greedy": "forest", "svm", "gp" or "neural-net".
    seed : int
    known : Runs, optional
        Runs that were measured before.
    tasks : sequence of str
        Names of the parameters that define a task, such as the number of cores, a size or an input. If they have
        several values in the space, the fastest configuration of each task is searched for, with one model of all
        tasks. The next run is the one with the largest expected relative saving in its own task. Known runs with
        values outside the space belong to other tasks; the search learns from them as far as they agree with the runs
        of its own tasks.
    candidates : Candidates, optional
        The candidates of the same space, so that several searches enumerate it only once.

    Examples
    --------
    >>> from evenly.space.parameters import Integer
    >>> search = Search(Space(n=Integer(0, 100)))
    >>> for _ in range(14):
    ...     configuration = search.ask()
    ...     search.tell(configuration, 1 + (configuration["n"] - 61) ** 2)
    >>> search.best
    {'n': 61}
    """

    def __init__(
        self,
        space: Space,
        *,
        strategy: StrategyName | Strategy = "model",
        first: int = 5,
        surrogate: str | None = None,
        seed: int = 0,
        known: Runs | None = None,
        tasks: Sequence[str] = (),
        candidates: Candidates | None = None,
    ) -> None:
        strange = [name for name in tasks if name not in space.parameters]
        if strange:
            raise InputError(
                f"tasks must be parameters of the space ({', '.join(space.names)}), but got {strange[0]!r}"
            )
        check_seed(seed)
        if first < 2:
            raise InputError(f"first must be at least 2, since a model needs two runs, but got {first}")
        self.space, self.seed = space, seed
        self.candidates = candidates or Candidates(space)
        self.trials = Trials(space, tasks)
        self._strategy = _strategy(strategy, first, surrogate)
        if known is not None:
            self._take(known, tasks)

    def _take(self, known: Runs, tasks: Sequence[str]) -> None:
        missing = [name for name in self.space.names if name not in known.parameters]
        if missing:
            raise InputError(
                f"the known runs have no {missing[0]!r}: they need the parameters {', '.join(self.space.names)}, "
                f"but have {', '.join(known.parameters)}"
            )
        table, seconds = known.configurations, known.values
        here = self.space.contains(table)
        for row, took in zip(table[here].to_dict("records"), seconds[here], strict=True):
            self.tell({name: row[name] for name in self.space.names}, float(took) if np.isfinite(took) else None)
        elsewhere = np.zeros(len(table), dtype=np.bool_)
        for name in tasks:
            elsewhere |= ~self.space.parameters[name].contains(table[name])
        others = table.assign(seconds=seconds)[elsewhere & np.isfinite(seconds)]
        if len(others) > 1:
            self.trials.others = others[[*self.space.names, "seconds"]].reset_index(drop=True)

    def ask(self) -> dict[str, Any] | None:
        """Return the configuration to run next; None if all have been proposed.

        It counts as under way until `tell` reports its time. Until then, `ask` returns other configurations, chosen as
        if the runs under way took their predicted times.
        """
        choice = self.choose()
        return None if choice is None else choice.configuration

    def choose(self) -> Choice | None:
        """Return the configuration to run next, the reason, and the expected saving; see `ask`."""
        random = np.random.default_rng([self.seed, len(self.trials)])
        # One thread: for matrices of some ten runs, threads cost more time than they save.
        with threadpool_limits(1, "blas"):
            choice = self._strategy.choose(self.trials, self.candidates, random)
        if choice is not None:
            self.trials.ask(choice.configuration, choice.why)
        return choice

    @explained
    def tell(self, configuration: Mapping[str, Any], seconds: float | None, *, at_least: float | None = None) -> None:
        """Record a run, whether `ask` proposed it or not.

        Parameters
        ----------
        configuration : mapping
        seconds : float or None
            Its time in seconds; None if the run failed or was ended early.
        at_least : float, optional
            If the run was ended early (a censored time): the seconds it had run by then.

        Raises
        ------
        InputError
            If the configuration isn't feasible, or a time isn't a finite number above zero.
        """
        self.trials.tell(configuration, seconds, at_least=at_least)

    @property
    def best(self) -> dict[str, Any] | None:
        """The fastest configuration so far, over all tasks; None if no run has succeeded."""
        best = self.trials.best
        return None if best is None else dict(best.configuration)


def _strategy(strategy: StrategyName | Strategy, first: int, surrogate: str | None) -> Strategy:
    if surrogate is not None and strategy != "greedy":
        raise InputError(f"surrogate = {surrogate!r} belongs to strategy = 'greedy', but the strategy is {strategy!r}")
    if isinstance(strategy, Strategy):
        return strategy
    if strategy not in STRATEGIES:
        raise InputError(
            f"strategy must be one of {', '.join(STRATEGIES)}, but got {strategy!r}"
            f"{did_you_mean(str(strategy), STRATEGIES)}"
        )
    if strategy == "greedy":
        return Greedy(first, surrogate or "neural-net")
    return {"model": Modelled(first), "random": RandomSearch(), "all": Enumeration()}[strategy]
