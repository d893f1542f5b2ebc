"""Search strategies compared on runs that were measured before: how far from the optimum after how many runs.

The table is the program: what a search asks for is looked up, and what failed when it was measured fails again. This is
the experiment of the CICE study: each search is repeated ten times, and the mean deviation from the optimal time in per
cent is compared. A t-test tells differences from luck [Balaprakash et al., Machine-learning-based load balancing for
Community Ice Code component in CESM, 2014, section 4].
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.models.array_types import Floats
from evenly.runs.runs import Runs
from evenly.space.space import Space
from evenly.tuning.candidates import Candidates
from evenly.tuning.search import Search

__all__ = ["StrategyComparison", "compare_strategies"]

#: Smaller variances of relative deviations are round-off.
_ROUND_OFF = 1e-18


@dataclass(frozen=True)
class StrategyComparison:
    """How far from the optimum searches were after each run.

    Attributes
    ----------
    above : dict of str to array (n_seeds, n_runs)
        For each strategy, by which fraction the time of the fastest configuration found so far lies above the optimum
        (0.1 is 10 %). A search that has found none counts as one that found the slowest.
    configurations : int
        Number of configurations in the table.
    failed : int
        Number of those that failed.
    best_s : float
        The optimum: the least time in the table, in seconds.
    """

    above: dict[str, Floats]
    configurations: int
    failed: int
    best_s: float

    @property
    def runs(self) -> int:
        """Number of runs of each search."""
        return int(next(iter(self.above.values())).shape[1])

    def chance_of_luck(self, one: str, other: str, run: int) -> float:
        """Return how probable so large a difference of the means after a run is, if two strategies are equally good.

        It is Welch's t-test of the deviations; nan where neither strategy's deviations differ from seed to seed.
        """
        from scipy.special import stdtr

        first, second = self.above[one][:, run - 1], self.above[other][:, run - 1]
        squares = np.array([part.var(ddof=1) / len(part) for part in (first, second)])
        if not (squares > _ROUND_OFF).any():
            return math.nan
        freedom = squares.sum() ** 2 / np.sum(squares**2 / (len(first) - 1))
        return float(2 * stdtr(freedom, -abs(first.mean() - second.mean()) / np.sqrt(squares.sum())))


@explained
def compare_strategies(
    runs: Runs, strategies: Sequence[str] = ("model", "random"), *, seeds: int = 10, most: int = 20
) -> StrategyComparison:
    """Compare search strategies on measured runs: each search is told the measured times of what it asks for.

    Parameters
    ----------
    runs : Runs
        What was measured, best of all configurations. Repetitions count by their median, failed runs fail again.
    strategies : sequence of str
        "model", "random", "greedy" or "greedy:SURROGATE" (forest, svm, gp, neural-net), see `Search`. Surrogates learn
        log times, and raw ones with ":raw", as those of the study did: "greedy:forest:raw".
    seeds : int
        Number of searches of each strategy, at least 2.
    most : int
        Number of runs of each search; at most that of all configurations.

    Raises
    ------
    InputError
        If there is nothing to search in, or a strategy or a number makes no sense.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"n": range(12), "seconds": [1 + (n - 7) ** 2 for n in range(12)]})
    >>> found = compare_strategies(Runs.from_frame(table, ["n"]), ["random"], seeds=2, most=12)
    >>> found.above["random"][:, -1].tolist(), found.best_s
    ([0.0, 0.0], 1.0)
    """
    for name, value, least in (("seeds", seeds, 2), ("most", most, 1)):
        if value < least:
            raise InputError(f"{name} must be at least {least}, but got {value}")
    names = [name for name in runs.parameters if runs.configurations[name].nunique() > 1]
    if not names:
        raise InputError("a search is replayed in the runs of several configurations, but no parameter varies")
    grouped = runs.configurations.assign(seconds=runs.values).groupby(names, sort=False)["seconds"].median()
    table, seconds = grouped.reset_index()[names], grouped.to_numpy()
    well = np.isfinite(seconds)
    if not well.any():
        raise InputError("a search is replayed in the runs of several configurations, but none of them went well")
    space = Space.from_frame(table[names])
    times = dict(zip(table[names].itertuples(index=False, name=None), seconds, strict=True))
    candidates, most = Candidates(space), min(most, len(table))
    above: dict[str, Floats] = {}
    for strategy in dict.fromkeys(strategies):
        settings = _settings(strategy)
        searches = (Search(space, seed=seed, candidates=candidates, **settings) for seed in range(seeds))
        above[strategy] = np.array([_curve(search, times, names, most) for search in searches])
    return StrategyComparison(above, len(table), int(np.sum(~well)), float(seconds[well].min()))


def _settings(strategy: str) -> dict[str, Any]:
    kind, _, surrogate = strategy.partition(":")
    return {"strategy": kind, "surrogate": surrogate or None}


def _curve(search: Search, times: dict[tuple[Any, ...], float], names: Sequence[str], most: int) -> Floats:
    """Return by which fraction the best found lies above the optimum after each run of a search, (most,)."""
    well = [took for took in times.values() if np.isfinite(took)]
    best, found = min(well), max(well)
    reached = np.zeros(most)
    for run in range(most):
        if found == best:
            break  # it can't be left any more
        configuration = search.ask()
        assert configuration is not None  # noqa: S101
        took = times[tuple(configuration[name] for name in names)]
        search.tell(configuration, float(took) if np.isfinite(took) else None)
        found = min(found, took) if np.isfinite(took) else found
        reached[run] = found / best - 1
    return reached
