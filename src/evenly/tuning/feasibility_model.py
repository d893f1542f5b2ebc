"""The probability that a run succeeds, learned from successful and failed runs.

It is a classifier of extremely randomised trees [Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006].
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any, Self

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.tuning.candidates import Candidates
from evenly.tuning.trials import Trials

__all__ = ["FeasibilityModel"]

_TREES = 60


@dataclass(frozen=True)
class FeasibilityModel:
    """Extremely randomised trees that predict the probability that a run succeeds.

    Attributes
    ----------
    trees : ExtraTreesClassifier or None
        None where no run has failed.
    """

    trees: Any = None

    @classmethod
    def learn(cls, trials: Trials, candidates: Candidates) -> Self:
        """Learn from all trials that have ended; a run that timed out counts as a success."""
        finished = [*trials.of("ok"), *trials.of("timed out"), *trials.of("failed")]
        well = np.array([trial.status != "failed" for trial in finished])
        if well.all():
            return cls()
        from sklearn.ensemble import ExtraTreesClassifier

        trees = ExtraTreesClassifier(_TREES, random_state=0)
        return cls(trees.fit(candidates.inputs(trials.table(finished)).matrix, well))

    def probabilities(self, asked: Inputs) -> Floats:
        """Return the probability of success, (n,): 1 where no run has failed, else between 0 and 1 exclusive."""
        if self.trees is None:
            return np.ones(len(asked))
        classes = list(self.trees.classes_)
        found = self.trees.predict_proba(asked.matrix)
        share = found[:, classes.index(True)] if True in classes else np.zeros(len(asked))
        # Laplace's rule of succession: add one success and one failure to the trees' votes.
        return np.asarray((share * _TREES + 1) / (_TREES + 2))
