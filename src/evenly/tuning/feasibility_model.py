"""The probability that a run succeeds, learned from successful and failed runs.

The model is a classifier of extremely randomised trees [Geurts, Ernst and Wehenkel, Extremely randomized trees, 2006].
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.tuning.candidates import Candidates
from evenly.tuning.trials import Trials

__all__ = ["success_probabilities"]

_TREES = 60


def success_probabilities(trials: Trials, candidates: Candidates, table: pd.DataFrame) -> Floats:
    """Return the probability that a run of each configuration (n, …) succeeds, (n,).

    It is 1 where no run has failed, else between 0 and 1 exclusive. A run that timed out counts as a success.
    """
    ended = [*trials.of("ok"), *trials.of("timed out"), *trials.of("failed")]
    well = np.array([trial.status != "failed" for trial in ended])
    if well.all():
        return np.ones(len(table))
    from sklearn.ensemble import ExtraTreesClassifier

    trees = ExtraTreesClassifier(_TREES, random_state=0).fit(candidates.inputs(trials.table(ended)).matrix, well)
    found, classes = trees.predict_proba(candidates.inputs(table).matrix), list(trees.classes_)
    share = found[:, classes.index(True)] if True in classes else np.zeros(len(table))
    # Laplace's rule of succession: add one success and one failure to the trees' votes.
    return np.asarray((share * _TREES + 1) / (_TREES + 2))
