"""The ask-and-tell interface of a search for the fastest configuration; `evenly.tune` is the loop around it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any, Literal, get_args

import numpy as np

from evenly.arguments import check_seed, explained
from evenly.campaign.program import check_number
from evenly.errors import InputError, did_you_mean
from evenly.runs.runs import Runs
from evenly.space.sampling import combinations
from evenly.space.space import Space
from evenly.threads import one_blas_thread
from evenly.tuning.candidates import Candidates, corners
from evenly.tuning.repeating import TODAY, WORTH, Repeating
from evenly.tuning.standing import Standing
from evenly.tuning.strategies.base import Choice, Strategy, stop_reason
from evenly.tuning.strategies.greedy import Greedy
from evenly.tuning.strategies.modelled import Modelled
from evenly.tuning.strategies.random_search import Enumeration, RandomSearch
from evenly.tuning.trials import Key, Trials

__all__ = ["STRATEGIES", "Search", "StrategyName"]

StrategyName = Literal["model", "greedy", "random", "all"]
STRATEGIES: tuple[str, ...] = get_args(StrategyName)
#: A run that failed or was ended early is near the best if its log time is expected to be at most this above it, and it
#: may succeed if that is at least so probable.
_NEAR, _SURE = 0.1, 0.5


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
        The model of "greedy": "forest", "svm", "gp" or "neural-net". It learns log times, and raw ones with ":raw", as
        in "forest:raw".
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
    baseline : mapping, optional
        The configuration in use today, with a value for each parameter that has an effect: it is run first.
    repeating : Repeating, optional
        When configurations are run again; by default, each is asked for once.
    production : float, optional
        Number of production runs after the search, which ends when the next run is expected to take longer than it
        would save in all of them.

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
        baseline: Mapping[str, Any] | None = None,
        repeating: Repeating | None = None,
        production: float | None = None,
    ) -> None:
        strange = [name for name in tasks if name not in space.parameters]
        if strange:
            raise InputError(
                f"tasks must be parameters of the space ({', '.join(space.names)}), but got {strange[0]!r}"
            )
        check_seed(seed)
        if production is not None:
            check_number("production", float(production), above=0)
        if first < 2:
            raise InputError(f"first must be at least 2, since a model needs two runs, but got {first}")
        self.space, self.seed = space, seed
        self.candidates = candidates or Candidates(space)
        several = [name for name in tasks if combinations({name: space.parameters[name]}) > 1]
        self.trials = Trials(space, several, None if baseline is None else _checked(space, baseline))
        self._strategy, self._repeating = _strategy(strategy, first, surrogate), repeating
        self._production = production
        #: Why nothing more is proposed although some configurations haven't been run; else empty.
        self.stopped = ""
        #: Share of the time budget that is used up, if there is one.
        self.spent = 0.0
        if known is not None:
            self._take(known, tasks)
        self._known = len(self.trials.made)

    @property
    def made(self) -> int:
        """Number of runs that have ended, without those that were known from the beginning."""
        return len(self.trials.made) - self._known

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
            configuration = {name: row[name] for name in self.space.names}
            self.tell(configuration, float(took) if np.isfinite(took) else None, why="known before")
        elsewhere = np.zeros(len(table), dtype=np.bool_)
        for name in tasks:
            elsewhere |= ~self.space.parameters[name].contains(table[name])
        others = table.assign(seconds=seconds)[elsewhere & np.isfinite(seconds)]
        if len(others) > 1:
            self.trials.others = others[[*self.space.names, "seconds"]].reset_index(drop=True)

    def ask(self) -> dict[str, Any] | None:
        """Return the configuration to run next; None if all have been proposed, or another run wouldn't pay.

        It counts as under way until `tell` reports its time. Until then, `ask` returns other configurations, chosen as
        if the runs under way took their predicted times.
        """
        choice = self.choose()
        return None if choice is None else choice.configuration

    def choose(self) -> Choice | None:
        """Return the configuration to run next, the reason, and the expected saving; see `ask`."""
        # One thread: for matrices of some ten runs, threads cost more time than they save.
        with one_blas_thread():
            choice = self._retry() or self._due() or self._new()
        if choice is not None:
            self.trials.ask(choice.configuration, choice.why)
        return choice

    def _random(self) -> np.random.Generator:
        return np.random.default_rng([self.seed, len(self.trials)])

    def standings(self, *, is_answer: bool = False) -> dict[Key, Standing]:
        """Return what is believed of the true times of the configurations that were run, by task, the fastest first."""
        with one_blas_thread():
            believed = self._strategy.believed(self.trials, self.candidates, self._random(), is_answer=is_answer)
        return Standing.by_task(self.trials, believed)

    def _due(self) -> Choice | None:
        """Return a run that comes before new configurations; the one in use today is the first of all."""
        # Where all configurations are run in order, the winner is confirmed after that.
        if self._repeating is None or isinstance(self._strategy, Enumeration):
            reference = self.trials.reference
            if reference is None or self.trials.trial(reference) is not None:
                return None
            return Choice(reference, TODAY)
        return self._repeating.due(self.trials, self.standings, self.made + self.trials.waiting, self.spent)

    def _new(self) -> Choice | None:
        """Return a new configuration, or a repetition where that is worth more."""
        choice, repeating = self._strategy.choose(self.trials, self.candidates, self._random()), self._repeating
        reason = None if choice is None else stop_reason(choice, self.trials, self._production)
        if reason is not None:
            last = None if repeating is None else repeating.last(self.standings, self._production or 0.0)
            self.stopped = "" if last is not None else reason
            return last
        return choice if repeating is None else repeating.instead(self.trials, self.standings, choice) or choice

    def _retry(self) -> Choice | None:
        """Return a run that failed or was ended early, although it was expected to be near the best: once more.

        A program fails now and then by chance, and a run is slow now and then. What this rules out for good would be
        lost.
        """
        if self._repeating is None or self._repeating.most == 1 or not self.made:
            return None
        last = self.trials.made[-1]
        trial, best = self.trials.trial(last.configuration), self.trials.best_like(last.configuration)
        if trial is None or last.status == "ok" or trial.waiting:
            return None
        bad = trial.failures + len(trial.bounds)
        if trial.seconds or last.configuration == self.trials.reference:
            # It went well before, so it is no configuration that always fails; or all gains are those over it.
            return Choice(trial.configuration, f"run again, since it {_ended(last.status)}") if bad == 1 else None
        if best is None:
            return None
        retried = sum(one.failures + len(one.bounds) > 1 for one in self.trials)
        if bad > 1 or retried >= max(1, self._repeating.confirming):
            return None
        expected_s, success = self._strategy.expected(trial, self.trials, self.candidates, self._random())
        near = best.mean_s * np.exp(max(_NEAR, 2 * self.trials.noise.likely))
        if not (expected_s <= near and success >= _SURE):
            return None
        why = f"run again, since it {_ended(last.status)} and was expected to take {expected_s:.3g} s"
        return Choice(trial.configuration, why)

    @explained
    def tell(
        self,
        configuration: Mapping[str, Any],
        seconds: float | None,
        *,
        at_least: float | None = None,
        why: str = "told",
    ) -> None:
        """Record a run, whether `ask` proposed it or not.

        Parameters
        ----------
        configuration : mapping
        seconds : float or None
            Its time in seconds; None if the run failed or was ended early.
        at_least : float, optional
            If the run was ended early (a censored time): the seconds it had run by then.
        why : str
            The reason of a run that `ask` didn't propose, for the history.

        Raises
        ------
        InputError
            If the configuration isn't feasible, or a time isn't a finite number above zero.
        """
        self.trials.tell(configuration, seconds, at_least=at_least, why=why)

    @property
    def all_run(self) -> str:
        """What to say where all configurations have been run, and nothing more is proposed."""
        said = "all configurations have been run"
        noise, repeating = self.trials.noise, self._repeating
        if repeating is None or repeating.most == 1 or not noise.is_known or noise.is_constant:
            return said
        if any(len(trial.seconds) >= repeating.most for trial in self.trials.bests.values()):
            return f"{said}, and the fastest as often as `repeats` (in a study, `most`) allows"
        return f"{said}, and more repetitions are expected to save less than {100 * WORTH:g} %"

    @property
    def best(self) -> dict[str, Any] | None:
        """The fastest configuration so far, over all tasks; None if no run has succeeded."""
        best = self.trials.best
        return None if best is None else dict(best.configuration)


def _checked(space: Space, baseline: Mapping[str, Any]) -> dict[str, Any]:
    """Return the configuration in use today with a value for each parameter; values without effect are replaced."""
    strange, given = set(baseline) - set(space.names), dict(baseline)
    missing = [name for name in space.names if name not in baseline]
    if missing and not strange:  # a parameter that the others switch off needs no value
        ends = [{name: row[name] for name in missing} for row in corners(space).iloc[[0, -1]].to_dict("records")]
        low, high = (space.fix_inactive(space.frame({n: [{**given, **end}[n]] for n in space.names})) for end in ends)
        given |= ends[0]
        missing = [name for name in missing if low[name].tolist() != high[name].tolist()]
    if strange or missing:
        wrong = f"has {sorted(strange)[0]!r}, which is no parameter" if strange else f"lacks {missing[0]!r}"
        raise InputError(
            f"baseline is the configuration in use today, with a value for each parameter ({', '.join(space.names)}), "
            f"but it {wrong}"
        )
    table = space.fix_inactive(space.frame({name: [given[name]] for name in space.names}))
    if broken := space.why_infeasible(table):
        raise InputError(f"baseline can't be run in the space: {'; '.join(broken)}")
    return {name: table[name].tolist()[0] for name in space.names}


def _ended(status: str) -> str:
    return "failed" if status == "failed" else "was ended early"


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
