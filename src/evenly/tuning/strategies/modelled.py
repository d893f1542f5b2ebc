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

from evenly.models.array_types import Floats
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
from evenly.tuning.trials import Trial, Trials

__all__ = ["Modelled"]

#: Number of the fastest configurations whose neighbours become candidates, where not all configurations do.
_FASTEST = 5
#: Configurations with a smaller probability of success are tried only if no other configuration is left.
_LEAST_PROBABILITY = 0.2
#: Number of drawn processes. From `_MANY` runs on hyper-parameters are less uncertain: half as many are drawn, and none
#: is compressed.
_SAMPLES, _MANY = 6, 100


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
        if trials.others is None:
            if len(trials) < self._first or len(well) < 2:
                row = most_informative(candidates, trials.table(list(trials)), table, random)
                return Choice(row_of(table, row), "tells most of all others")
            beliefs = _alone(trials, candidates, table, random)
        else:
            transfer = self._learned(trials, candidates)
            if not well:
                row = int(
                    np.argmin(transfer.expected(table) - np.log(success_probabilities(trials, candidates, table)))
                )
                return Choice(row_of(table, row), "expected to be the fastest, by runs of other tasks")
            beliefs = _from_others(trials, candidates, table, transfer, random)
        # Logarithm of acquisition times probability of success, (n,).
        best = _best_logs(trials, table, beliefs)
        success = success_probabilities(trials, candidates, table)
        by_bound = len(trials) % 2 == 0
        worth = (log_lower_bound if by_bound else log_expected_improvement)(beliefs, best) + np.log(success)
        # Configurations that will probably fail come last, even if the others save hardly anything.
        likely = success >= min(_LEAST_PROBABILITY, float(success.max()))
        row = int(np.argmax(np.where(likely, worth, -np.inf)))
        # For the stopping rule: the largest expected saving in the task of the chosen configuration.
        gains, chosen = expected_improvement(beliefs, best) * success, row_of(table, row)
        like = (table[list(trials.tasks)] == table[list(trials.tasks)].iloc[row]).all(axis=1).to_numpy()
        promising = int(np.argmax(np.where(likely & like, gains, -1.0)))
        where = "".join(f" at {name} = {chosen[name]}" for name in trials.tasks)
        why = f"expected to save {gains[row]:.2%} of the best so far{where}"
        if by_bound:
            why = f"may take as little as {np.exp(beliefs.mean[row] - beliefs.deviation[row]):.3g} s{where}"
        return Choice(chosen, why, float(gains[promising]), float(np.exp(beliefs.mean[promising])))

    def _learned(self, trials: Trials, candidates: Candidates) -> Transfer:
        if self._transfer is None:
            assert trials.others is not None  # noqa: S101
            others = trials.others
            everything = candidates.listed if candidates.listed is not None else corners(candidates.space)
            logs = np.log(others["seconds"].to_numpy())
            self._transfer = Transfer.learn(others[trials.space.names], logs, everything, trials.space)
        return self._transfer


def _best_logs(trials: Trials, table: pd.DataFrame, beliefs: Beliefs) -> Floats:
    """Return the lowest log seconds measured in each row's task, (n,).

    For a task without a successful run, it is the lowest predicted mean among the task's candidates.
    """
    bests = {task: float(np.log(trial.mean_s)) for task, trial in trials.bests.items()}
    if not trials.tasks:
        return np.full(len(table), bests[()])
    tasks = list(table[list(trials.tasks)].itertuples(index=False, name=None))
    believed = pd.Series(beliefs.mean).groupby(pd.Index(tasks, tupleize_cols=False)).transform("min")
    return np.array([bests.get(task, lowest) for task, lowest in zip(tasks, believed, strict=True)])


def _alone(trials: Trials, candidates: Candidates, table: pd.DataFrame, random: np.random.Generator) -> Beliefs:
    known, waiting = _timed(trials), trials.of("pending")
    # With tasks nothing is compressed: a slow task would be compressed as a whole.
    of_one_kind = bool(trials.tasks) or len(known) >= _MANY
    kind = SampledProcess if of_one_kind else PartlyCompressed
    surrogate = kind(candidates.placed, samples=_samples(len(known)))
    surrogate.learn(_observed(known, trials, candidates), random)
    if waiting:
        surrogate.condition_on_pending(candidates.inputs(trials.table(waiting)))
    return surrogate.believe(candidates.inputs(table))


def _from_others(
    trials: Trials, candidates: Candidates, table: pd.DataFrame, transfer: Transfer, random: np.random.Generator
) -> Beliefs:
    known, waiting = _timed(trials), trials.of("pending")
    surrogate = TransferredProcess(candidates.placed, samples=_samples(len(known)))
    surrogate.learn(_observed(known, trials, candidates), transfer.expected(trials.table(known)), random)
    if waiting:
        there, expected = candidates.inputs(trials.table(waiting)), transfer.expected(trials.table(waiting))
        surrogate.condition_on_pending(there, surrogate.believe(there, expected).mean, expected)
    return surrogate.believe(candidates.inputs(table), transfer.expected(table))


def _samples(runs: int) -> int:
    return _SAMPLES if runs < _MANY else _SAMPLES // 2


def _timed(trials: Trials) -> list[Trial]:
    """Return trials whose time is known, or a lower bound of it."""
    return [*trials.of("ok"), *trials.of("timed out")]


def _observed(known: Sequence[Trial], trials: Trials, candidates: Candidates) -> Observed:
    """Return trials that succeeded or were ended early as the surrogate's observations."""
    censored = np.array([trial.status == "timed out" for trial in known])
    seconds = np.array([trial.at_least if out else trial.mean_s for trial, out in zip(known, censored, strict=True)])
    weights = np.array([max(1, len(trial.seconds)) for trial in known], dtype=np.float64)
    return Observed(candidates.inputs(trials.table(known)), np.log(seconds), weights, censored)
