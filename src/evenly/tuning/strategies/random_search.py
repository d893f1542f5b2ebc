"""Random search and full enumeration: the baselines of the other strategies."""

from __future__ import annotations

from typing import final

import numpy as np

from evenly.errors import InputError
from evenly.tuning.candidates import Candidates
from evenly.tuning.strategies.base import Choice, Strategy, row_of
from evenly.tuning.trials import Trials

__all__ = ["Enumeration", "RandomSearch"]


@final
class RandomSearch(Strategy):
    """Draws an untried configuration: uniformly from a listed space, else along the scales of the parameters."""

    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        table = candidates.open(trials.keys, trials.table([]), random)
        return Choice(row_of(table, int(random.integers(len(table)))), "drawn at random") if len(table) else None


@final
class Enumeration(Strategy):
    """Runs all configurations in the order of the space."""

    def choose(self, trials: Trials, candidates: Candidates, random: np.random.Generator) -> Choice | None:
        del random
        if candidates.listed is None:
            raise InputError("the space has too many configurations to run all of them: use another strategy")
        taken = trials.keys
        for row, key in enumerate(candidates.listed.itertuples(index=False, name=None)):
            if key not in taken:
                return Choice(row_of(candidates.listed, row), "the next in order")
        return None
