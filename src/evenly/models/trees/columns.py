"""The input columns of trees: coded numbers, derived inputs, one-hot and target-encoded labels, and the trend."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats, Singles
from evenly.models.inputs.coding import Inputs
from evenly.models.inputs.derived import Derived
from evenly.models.stored_dataclass import Stored
from evenly.models.trees.trend import QuadraticTrend

__all__ = ["TreeColumns"]

#: Number of pseudo-runs with the overall mean that are added to each label, which shrinks its effect.
_USUAL = 3.0


@dataclass(frozen=True)
class TreeColumns(Stored):
    """The mapping from inputs to the matrix on which trees are fitted.

    Attributes
    ----------
    derived : Derived
    effects : list of arrays
        For each categorical parameter, the mean log time of each label relative to all runs (target encoding). One
        split on it separates slow labels from fast ones.
    trend : QuadraticTrend
        The trend's prediction is a column too, since residuals may depend on the predicted time.
    """

    derived: Derived
    effects: list[Floats]
    trend: QuadraticTrend

    @classmethod
    def learn(cls, inputs: Inputs, logs: Floats, weights: Floats, derived: Derived) -> tuple[TreeColumns, Floats]:
        """Learn from runs, (n,).

        Returns
        -------
        columns : TreeColumns
        left_out : array (n,)
            Leave-one-out predictions of the trend, to be given to `matrix` for the training runs.
        """
        trend, left_out = QuadraticTrend.learn(inputs, logs, weights)
        # Target encoding [Micci-Barreca 2001]: each label's mean minus the mean of all runs, shrunk to 0 for few runs.
        usual = float(np.average(logs, weights=weights))
        effects = [
            np.asarray(
                np.bincount(labels, weights * (logs - usual), size) / (np.bincount(labels, weights, size) + _USUAL)
            )
            for labels, size in zip(inputs.labels.T, inputs.sizes, strict=True)
        ]
        return cls(derived, effects, trend), left_out

    def matrix(self, inputs: Inputs, trend: Floats) -> Singles:
        """Return all columns, (n, k), given the trend's predictions, (n,)."""
        effects = [effect[inputs.labels[:, k]] for k, effect in enumerate(self.effects)]
        parts = [inputs.matrix, self.derived.columns(inputs), *(e[:, None] for e in effects), trend[:, None]]
        return np.hstack(parts).astype(np.float32)
