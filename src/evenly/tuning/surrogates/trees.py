"""Extremely randomised trees: what they say of a place differs as much as the runs around it leave open.

Each tree learns from a sample of the runs, drawn with replacement, so that the trees disagree where few runs tell
[P. Geurts, D. Ernst and L. Wehenkel, Extremely randomized trees, 2006; the spread of trees as uncertainty as in
F. Hutter, H. Hoos and K. Leyton-Brown, Sequential model-based optimization for general algorithm configuration, 2011].
"""

from __future__ import annotations

from typing import Any, final

import numpy as np
from numpy.typing import NDArray

from evenly.models._inputs import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate

__all__ = ["Trees"]

Floats = NDArray[np.float64]
_LEAST_DEVIATION = 1e-3


@final
class Trees(Surrogate):
    """A forest whose spread is its uncertainty.

    Runs that were ended early count as if they took what they had taken, at least the mean of the others.

    Parameters
    ----------
    count : int
        Of trees.
    """

    def __init__(self, count: int = 200) -> None:
        self._count, self._seed = count, 0
        self._rows, self._logs, self._weights = np.zeros((0, 0)), np.zeros(0), np.zeros(0)
        self._trees: Any = None

    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        usual = float(np.mean(observed.logs))
        logs = np.where(observed.ended, np.maximum(observed.logs, usual), observed.logs)
        self._seed = int(random.integers(2**31))
        self._rows, self._logs, self._weights = observed.inputs.matrix, logs, observed.weights
        self._fit()

    def _fit(self) -> None:
        from sklearn.ensemble import ExtraTreesRegressor

        trees = ExtraTreesRegressor(self._count, bootstrap=True, random_state=self._seed)
        self._trees = trees.fit(self._rows, self._logs, self._weights)

    def suppose(self, inputs: Inputs, logs: Floats) -> None:
        """Take runs for made that took so long."""
        self._rows = np.vstack([self._rows, inputs.matrix])
        self._logs = np.concatenate([self._logs, logs])
        self._weights = np.concatenate([self._weights, np.ones(len(logs))])
        self._fit()

    def believe(self, asked: Inputs) -> Beliefs:
        rows = np.ascontiguousarray(asked.matrix, dtype=np.float32)
        each = np.array([tree.tree_.predict(rows)[:, 0] for tree in self._trees.estimators_])
        deviation = np.maximum(each.std(axis=0), _LEAST_DEVIATION)
        return Beliefs(each.mean(axis=0)[None], deviation[None])
