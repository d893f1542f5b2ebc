"""The probability that a run succeeds, learned from successful and failed runs.

Two explanations are averaged by how well each predicts the runs that it has not seen (pseudo-Bayes factor [Geisser and
Eddy, A predictive approach to model selection, 1979]): all configurations fail at the same rate, or failures depend on
the configuration. The second one is a classifier of extremely randomised trees [Geurts, Ernst and Wehenkel, Extremely
randomized trees, 2006]; it is judged by trees on bootstrap samples, of which those predict a run that haven't seen it.
So few failures, or failures at random, hardly rule out neighbours.
"""

from __future__ import annotations

import warnings

import numpy as np
import pandas as pd

from evenly.models.array_types import Flags, Floats
from evenly.tuning.candidates import Candidates
from evenly.tuning.trials import Trial, Trials

__all__ = ["success_probabilities"]

_TREES = 60
#: Share of the trees that haven't seen a run: 1/e.
_UNSEEN = 0.37


def success_probabilities(
    trials: Trials, candidates: Candidates, table: pd.DataFrame, without: Trial | None = None
) -> Floats:
    """Return the probability that a run of each configuration (n, …) succeeds, (n,).

    It is 1 where no run has failed, else between 0 and 1 exclusive. A run that timed out counts as a success. One trial
    may be left out (`without`).
    """
    ended = [one for one in trials.of("ok", "timed out", "failed") if one is not without]
    well = np.array([trial.status != "failed" for trial in ended], dtype=np.bool_)
    if well.all():
        return np.ones(len(table))
    # Laplace's rule of succession: one success and one failure are added.
    constant = np.full(len(table), (well.sum() + 1) / (len(well) + 2))
    if not well.any():
        return constant
    from sklearn.ensemble import ExtraTreesClassifier

    matrix = candidates.inputs(trials.table(ended)).matrix
    judged = ExtraTreesClassifier(_TREES, bootstrap=True, oob_score=True, random_state=0)
    with warnings.catch_warnings():
        # A run that each tree has seen has no vote, which counts as undecided.
        warnings.simplefilter("ignore")
        judged.fit(matrix, well)
    unseen = np.nan_to_num(judged.oob_decision_function_[:, 1], nan=0.5)
    trees = ExtraTreesClassifier(_TREES, random_state=0).fit(matrix, well)
    share = trees.predict_proba(candidates.inputs(table).matrix)[:, 1]
    learned = (share * _TREES + 1) / (_TREES + 2)
    weight = _weight(_smooth(unseen, _TREES * _UNSEEN), well)
    return np.asarray(weight * learned + (1 - weight) * constant)


def _smooth(share: Floats, votes: float) -> Floats:
    return np.asarray((share * votes + 1) / (votes + 2))


def _weight(unseen: Floats, well: Flags) -> float:
    """Return the weight of a classifier with these predictions of unseen runs, against a constant rate.

    Examples
    --------
    >>> well = np.array([True] * 6 + [False] * 3)
    >>> [round(_weight(p, well), 2) for p in (np.where(well, 0.9, 0.1), np.full(9, 0.6), np.where(well, 0.3, 0.6))]
    [1.0, 0.7, 0.04]
    """
    # A constant rate that hasn't seen a run either: by Laplace's rule from the n - 1 others.
    rate = np.where(well, well.sum(), (~well).sum()) / (len(well) + 1)
    odds = float(np.sum(np.log(np.where(well, unseen, 1 - unseen)) - np.log(rate)))
    return float(1 / (1 + np.exp(-np.clip(odds, -50, 50))))
