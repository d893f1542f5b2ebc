"""Which configurations are run again: where repetitions decide, and to confirm the winner at the end.

The value of one more repetition is the knowledge gradient: by how much the mean log time of the configuration that is
taken for the fastest is expected to fall by it [Gupta and Miescke, Bayesian look ahead one-stage sampling allocations
for selection of the best population, 1996; Frazier, Powell and Dayanik, A knowledge-gradient policy for sequential
information collection, 2008]. It is about the relative saving, as is the expected saving of a new configuration. So a
clear loser is never repeated, and near-ties aren't hunted where another repetition of the fastest ones is worth more.

The last runs of a search confirm its winner: the configurations that may be the fastest are repeated, interleaved with
the reference (the configuration in use today), until further repetitions are worth nothing.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass

from evenly.tuning.standing import Standing
from evenly.tuning.strategies.base import Choice
from evenly.tuning.trials import Key, Trial, Trials

__all__ = ["TODAY", "WORTH", "Repeating"]

#: Gives the standing of each task.
Standings = Callable[[], Mapping[Key, Standing]]
#: Why the configuration in use today is run.
TODAY = "in use today: the reference of all gains"
#: A repetition that is expected to save less than this share of the time isn't worth a run.
WORTH = 1e-3
#: With at least so many runs for confirmation, one of them is made as soon as a model is learned, so that it knows the
#: noise.
_MANY = 3


@dataclass(frozen=True)
class Repeating:
    """When configurations are run again, within a budget of runs.

    Parameters
    ----------
    budget : int
        Number of runs, repetitions included.
    first : int
        Number of runs before a model is learned.
    share : float
        Share of the budget that confirms the winner.
    least, most : int
        Fewest and most runs of a configuration that may be the fastest; with `most` = 1 nothing is repeated.
    within : float
        The winner is repeated until the half-width of the 95 % interval of its mean log time is at most this.
    every : int
        Number of runs after which the reference is repeated; 0 means never.
    early : bool
        Whether the noise must be known early, as for time limits.
    """

    budget: int
    first: int = 5
    share: float = 0.2
    least: int = 1
    most: int = 1_000_000
    within: float = math.inf
    every: int = 20
    early: bool = False

    @property
    def confirming(self) -> int:
        """Number of runs that confirm the winner."""
        return int(self.share * self.budget) if self.most > 1 else 0

    def due(self, trials: Trials, standings: Standings, made: int, spent: float = 0.0) -> Choice | None:
        """Return a run that comes before any new configuration; None if there is none.

        Parameters
        ----------
        trials : Trials
        standings : callable
            Gives the standing of each task; called only if it is needed, since it may take a while.
        made : int
            Number of runs made or under way.
        spent : float
            Share of the time budget that is used up.
        """
        reference = None if trials.reference is None else trials.trial(trials.reference)
        if trials.reference is not None and reference is None:
            return Choice(trials.reference, TODAY)
        if self.most == 1 or not trials.of("ok"):
            return None
        early = self.confirming >= (1 if self.early else _MANY)
        if early and made >= self.first and not trials.noise.is_known and not _under_way_again(trials):
            one = reference if _is_ready(reference, self.most) else trials.best
            return _again(one, "run again, to know the noise")
        since = self.confirming - early - (self.budget - made)
        if since >= 0 or spent >= 1 - self.share:
            return self._confirming(trials, list(standings().values()), reference, max(0, since))
        if self.every and _is_ready(reference, self.most) and self._runs_since(trials) >= self.every:
            return _again(reference, "the reference, run again to see whether the machine drifts")
        return None

    def instead(self, trials: Trials, standings: Standings, choice: Choice | None) -> Choice | None:
        """Return a repetition that is worth more than a new configuration; None if there is none."""
        if choice is None:
            return self.last(standings, math.inf)
        # A repetition is worth less than the standard deviation of a run, so that needn't be computed.
        if self.most == 1 or not trials.noise.is_known or not choice.gain < trials.noise.likely:
            return None
        worth, trial = self._most_worth(standings().values())
        if trial is None or worth < WORTH or not worth > choice.gain:
            return None
        return _again(trial, "may be the fastest, and a repetition decides more than a new configuration")

    def last(self, standings: Standings, production: float) -> Choice | None:
        """Return a repetition that pays although no new configuration does; None if there is none.

        A repetition takes about as long as the fastest run, and what it saves is saved in all runs of the production.
        """
        there = list(standings().values()) if self.confirming else []
        if (one := self._unconfirmed(there, 2)) is not None:
            return _again(one, "the fastest so far, run again to confirm it")
        worth, trial = self._most_worth(there)
        is_worth = trial is not None and worth >= max(WORTH, 1 / max(production, 1.0))
        again = trial if is_worth else self._uncertain(there)
        return None if again is None else _again(again, "may be the fastest: run again to decide")

    def _confirming(
        self, trials: Trials, there: Sequence[Standing], reference: Trial | None, since: int
    ) -> Choice | None:
        """Return the next run of the confirmation, of which `since` were made; None if further ones decide nothing."""
        worth, trial = self._most_worth(there)
        new, wide = self._unconfirmed(there, max(2, self.least)), self._uncertain(there)
        if new is None and wide is None and worth < WORTH:
            return None
        if since and _is_ready(reference, self.most) and all(one.trials[one.winner] is not reference for one in there):
            recent = sum(made.configuration == trials.reference for made in trials.made[-since:])
            # Each third run is one of the reference: it shares the machine's drift with the others.
            if recent < (since + 2) // 3:
                return _again(reference, "the reference, run again beside the fastest ones")
        if new is not None:
            return _again(new, "the fastest so far, run again to confirm it")
        return _again(trial if worth >= WORTH else wide, "may be the fastest: run again to decide")

    def _unconfirmed(self, there: Iterable[Standing], runs: int) -> Trial | None:
        """Return a task's winner that wasn't run so often yet."""
        winners = [one.trials[one.winner] for one in there]
        return next((one for one in winners if len(one.seconds) + one.waiting < min(runs, self.most)), None)

    def _uncertain(self, there: Iterable[Standing]) -> Trial | None:
        """Return a task's winner whose time isn't known as exactly as was asked for."""
        for one in there:
            found, winner = one.interval(one.winner), one.trials[one.winner]
            is_wide = (
                found is not None
                and not one.noise.is_constant
                and found[1] / found[0] > math.exp(min(2 * self.within, 100.0))
            )
            if is_wide and len(winner.seconds) + winner.waiting < self.most:
                return winner
        return None

    def _most_worth(self, there: Iterable[Standing]) -> tuple[float, Trial | None]:
        """Return the largest value of a repetition, and the trial to repeat."""
        found: tuple[float, Trial | None] = (0.0, None)
        for standing in there:
            for worth, trial in zip(standing.values, standing.trials, strict=True):
                if worth > found[0] and len(trial.seconds) + trial.waiting < self.most:
                    found = float(worth), trial
        return found

    @staticmethod
    def _runs_since(trials: Trials) -> int:
        """Return the number of runs made since the last one of the reference."""
        for number, made in enumerate(reversed(trials.made)):
            if made.configuration == trials.reference:
                return number
        return len(trials.made)


def _under_way_again(trials: Trials) -> bool:
    return any(trial.waiting and trial.seconds for trial in trials)


def _is_ready(trial: Trial | None, most: int) -> bool:
    """Return whether a trial went well and may be repeated now."""
    return trial is not None and trial.status == "ok" and not trial.waiting and len(trial.seconds) < most


def _again(trial: Trial | None, why: str) -> Choice:
    assert trial is not None  # noqa: S101
    return Choice(dict(trial.configuration), why)
