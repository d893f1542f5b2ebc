"""The default strategy: Bayesian optimisation with Gaussian processes of log times.

1. The first runs are those that lower the posterior variance most (`evenly.tuning.initial_design`).
2. Then Gaussian processes are learned; their hyper-parameters are drawn from the posterior, and predictions averaged.
   Runs under way count as if they took their predicted mean. Known runs of other tasks give the prior mean.
3. The acquisition function alternates between expected improvement and a lower confidence bound, since neither is
   better for all programs [Hoffman, Brochu and de Freitas, Portfolio allocation for Bayesian optimization,
   2011].
4. The acquisition is multiplied by the probability that the run doesn't fail [Gelbart, Snoek and Adams, Bayesian
   optimization with unknown constraints, 2014].
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import final

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.tuning.acquisition import expected_improvement, log_expected_improvement, log_lower_bound
from evenly.tuning.candidates import Candidates, corners
from evenly.tuning.feasibility_model import success_probabilities
from evenly.tuning.initial_design import most_informative
from evenly.tuning.strategies.base import Choice, Strategy, row_of
from evenly.tuning.surrogates.base import Beliefs, Observed
from evenly.tuning.surrogates.compressed import PartlyCompressed
from evenly.tuning.surrogates.gaussian_process import SampledProcess
from evenly.tuning.surrogates.transferred import TransferredProcess
from evenly.tuning.transfer import Transfer
from evenly.tuning.trials import Key, Trial, Trials

__all__ = ["Modelled"]

#: Number of the fastest configurations whose neighbours become candidates, where not all configurations do.
_FASTEST = 5
#: Configurations with a smaller probability of success are tried only if no other configuration is left.
_LEAST_PROBABILITY = 0.2
#: A run that took more than so many times as long as the fastest one was slow.
_SLOW = 2.0
#: Number of drawn processes. From `_MANY` runs on hyper-parameters are less uncertain: half as many are drawn, and none
#: is compressed. The answer of a search takes more, since they decide how wide its intervals are.
_SAMPLES, _MANY, _OF_ANSWER = 6, 100, 4


@final
class Modelled(Strategy):
    """Bayesian optimisation: expected improvement and a lower bound, in turns, under sampled Gaussian processes.

    Parameters
    ----------
    first : int
        Number of runs before a model is learned.
    """

    def __init__(self, first: int = 5) -> None:
        self._first = first
        self._transfer: Transfer | None = None

    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        well = trials.of("ok")
        # Feasible, untried configurations (n, n_parameters), among them neighbours of the fastest ones.
        fastest = sorted(well, key=lambda trial: trial.mean_s)[:_FASTEST]
        of_tasks = [trial for trial in trials.bests.values() if trial not in fastest]
        table = candidates.open(trials.keys, trials.table([*fastest, *of_tasks]), random)
        if not len(table):
            return None
        transfer = None if trials.others is None else self._learned(trials, candidates)
        if transfer is None and (len(trials) < self._first or len(well) < 2):
            success = success_probabilities(trials, candidates, table)
            row = most_informative(candidates, trials.table(list(trials)), table, random, success)
            return Choice(row_of(table, row), "tells most of all others")
        if transfer is not None and not well:
            success = success_probabilities(trials, candidates, table)
            row = int(np.argmin(transfer.expected(table) - np.log(success)))
            return Choice(row_of(table, row), "expected to be the fastest, by runs of other tasks")
        beliefs, tried = _believed(trials, candidates, [table, trials.table(well)], transfer, random)
        # Logarithm of acquisition times probability of success, (n,).
        best = _best_logs(trials, table, beliefs, tried)
        success = success_probabilities(trials, candidates, table)
        by_bound = len(trials) % 2 == 0
        worth = (log_lower_bound if by_bound else log_expected_improvement)(beliefs, best) + np.log(success)
        # Configurations that will probably fail come last, even if the others save hardly anything.
        likely = success >= min(_LEAST_PROBABILITY, float(success.max()))
        near = likely & ~_beyond_slow_ends(trials, candidates, table)
        likely = near if near.any() else likely
        row = int(np.argmax(np.where(likely, worth, -np.inf)))
        # For the stopping rule: the largest expected saving in the task of the chosen configuration.
        gains, chosen = expected_improvement(beliefs, best) * success, row_of(table, row)
        like = (table[list(trials.tasks)] == table[list(trials.tasks)].iloc[row]).all(axis=1).to_numpy()
        promising = int(np.argmax(np.where(likely & like, gains, -1.0)))
        where = "".join(f" at {name} = {chosen[name]}" for name in trials.tasks)
        why = f"expected to save {100 * gains[row]:.2f} % of the best so far{where}"
        if by_bound:
            why = f"may take as little as {np.exp(beliefs.mean[row] - beliefs.deviation[row]):.3g} s{where}"
        return Choice(chosen, why, float(gains[promising]), float(np.exp(beliefs.mean[promising])))

    def expected(
        self, trial: Trial, trials: Trials, candidates: Candidates, random: np.random.Generator
    ) -> tuple[float, float]:
        if len(trials.of("ok")) < 2:
            return float("nan"), float("nan")
        table = trials.table([trial])
        transfer = None if trials.others is None else self._learned(trials, candidates)
        (beliefs,) = _believed(trials, candidates, [table], transfer, random, without=trial, compressed=False)
        success = success_probabilities(trials, candidates, table, without=trial)
        return float(np.exp(beliefs.mean[0])), float(success[0])

    def believed(
        self, trials: Trials, candidates: Candidates, random: np.random.Generator, *, is_answer: bool = False
    ) -> tuple[Floats, Floats] | None:
        well = trials.of("ok")
        if len(well) < self._first or not trials.noise.matters:
            return None
        transfer = None if trials.others is None else self._learned(trials, candidates)
        samples = _samples(trials) * (_OF_ANSWER if is_answer else 1)
        asked = [trials.table(well)]
        (beliefs,) = _believed(trials, candidates, asked, transfer, random, samples=samples, compressed=False)
        return beliefs.mean, beliefs.deviation

    def _learned(self, trials: Trials, candidates: Candidates) -> Transfer:
        if self._transfer is None:
            assert trials.others is not None  # noqa: S101
            others = trials.others
            everything = candidates.listed if candidates.listed is not None else corners(candidates.space)
            logs = np.log(others["seconds"].to_numpy())
            self._transfer = Transfer.learn(others[trials.space.names], logs, everything, trials.space)
        return self._transfer


def _beyond_slow_ends(trials: Trials, candidates: Candidates, table: pd.DataFrame) -> Flags:
    """Return which configurations, (n,), lie beyond the least or largest tried value of a number with slow runs.

    Times must grow towards this value: the fastest run there took longer than those at the next two tried values, and
    is slow. Far from all runs, a process knows nothing, so a corner of the space seems to be worth a run. Other runs at
    the last tried value tell as much, and cost less. One that is fast opens the corner. With tasks, a value may be slow
    because its task is.
    """
    well = trials.of("ok")
    if trials.tasks:
        return np.zeros(len(table), dtype=np.bool_)
    seconds = np.array([trial.mean_s for trial in well])
    tried, asked = (candidates.inputs(rows).numbers for rows in (trials.table(well), table))
    beyond = np.zeros(len(table), dtype=np.bool_)
    for column, end in ((k, sign) for k in range(tried.shape[1]) for sign in (-1, 1)):
        values = end * tried[:, column]
        last = [float(seconds[values == value].min()) for value in np.unique(values)[-3:]]
        if len(last) == 3 and last[0] < last[1] < last[2] and last[2] > _SLOW * seconds.min():
            beyond |= end * asked[:, column] > values.max()
    return beyond


def _best_logs(trials: Trials, table: pd.DataFrame, beliefs: Beliefs, tried: Beliefs) -> Floats:
    """Return the lowest log seconds of each row's task, (n,), given beliefs of the rows and of the successful trials.

    Where repetitions show how noisy runs are, it is the lowest predicted mean of the task's trials: the least time was
    lucky, and what is to be beaten is the true time. Else it is the least time. For a task without a successful run, it
    is the lowest predicted mean among the task's candidates.
    """
    well, is_noisy = trials.of("ok"), trials.noise.matters
    logs = tried.mean if is_noisy else np.log([trial.mean_s for trial in well])
    bests: dict[Key, float] = {}
    for trial, log in zip(well, logs, strict=True):
        task = trials.task_of(trial.configuration)
        bests[task] = min(bests.get(task, np.inf), float(log))
    if not trials.tasks:
        return np.full(len(table), bests[()])
    tasks = list(table[list(trials.tasks)].itertuples(index=False, name=None))
    believed = pd.Series(beliefs.mean).groupby(pd.Index(tasks, tupleize_cols=False)).transform("min")
    return np.array([bests.get(task, lowest) for task, lowest in zip(tasks, believed, strict=True)])


def _believed(
    trials: Trials,
    candidates: Candidates,
    asked: Sequence[pd.DataFrame],
    transfer: Transfer | None,
    random: np.random.Generator,
    without: Trial | None = None,
    samples: int = 0,
    compressed: bool = True,
) -> list[Beliefs]:
    """Return what is believed of the configurations of each table, learned from all trials but one.

    For half of the processes, long times may be compressed: this finds the fastest, but tells nothing of slow ones.
    """
    known = [trial for trial in _timed(trials) if trial is not without]
    waiting = [trial for trial in trials.of("pending") if trial is not without]
    observed, coded = _observed(known, trials, candidates), candidates.inputs
    samples = samples or _samples(trials)
    if transfer is not None:
        shared = TransferredProcess(candidates.placed, samples=samples)
        shared.learn(observed, transfer.expected(trials.table(known)), random)
        if waiting:
            there, expected = coded(trials.table(waiting)), transfer.expected(trials.table(waiting))
            shared.condition_on_pending(there, shared.believe(there, expected).mean, expected)
        return [shared.believe(coded(table), transfer.expected(table)) for table in asked]
    # With tasks nothing is compressed: a slow task would be compressed as a whole.
    of_one_kind = not compressed or bool(trials.tasks) or len(known) >= _MANY
    kind = SampledProcess if of_one_kind else PartlyCompressed
    surrogate = kind(candidates.placed, samples=samples)
    surrogate.learn(observed, random)
    if waiting:
        surrogate.condition_on_pending(coded(trials.table(waiting)))
    return [surrogate.believe(coded(table)) for table in asked]


def _samples(trials: Trials) -> int:
    return _SAMPLES if len(_timed(trials)) < _MANY else _SAMPLES // 2


def _timed(trials: Trials) -> list[Trial]:
    """Return trials whose time is known, or a lower bound of it."""
    return [*trials.of("ok"), *trials.of("timed out")]


def _observed(known: Sequence[Trial], trials: Trials, candidates: Candidates) -> Observed:
    """Return trials that succeeded or were ended early as the surrogate's observations."""
    censored = np.array([trial.status == "timed out" for trial in known])
    seconds = np.array([trial.at_least if out else trial.mean_s for trial, out in zip(known, censored, strict=True)])
    weights = np.array([max(1, len(trial.seconds)) for trial in known], dtype=np.float64)
    return Observed(candidates.inputs(trials.table(known)), np.log(seconds), weights, censored, trials.noise)
