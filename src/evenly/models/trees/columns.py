"""The input columns of trees: coded numbers, derived inputs, one-hot and target-encoded labels, and the trend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.inputs.derived import Derived
from evenly.models.stored_dataclass import Stored
from evenly.models.trees.trend import Trend

__all__ = ["Columns"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
#: Number of pseudo-runs with the overall mean that are added to each label, which shrinks its effect.
_USUAL = 3.0


@dataclass(frozen=True)
class Columns(Stored):
    """The mapping from inputs to the matrix on which trees are fitted.

    Attributes
    ----------
    derived : Derived
    effects : list of arrays
        For each categorical parameter, the mean log time of each label relative to all runs (target encoding). One
        split on it separates slow labels from fast ones.
    trend : Trend
        The trend's prediction is a column too, since residuals may depend on the predicted time.
    """

    derived: Derived
    effects: list[Floats]
    trend: Trend

    @classmethod
    def learn(cls, inputs: Inputs, logs: Floats, weights: Floats, derived: Derived) -> tuple[Columns, Floats]:
        """Learn from runs, (n,).

        Returns
        -------
        columns : Columns
        left_out : array (n,)
            Leave-one-out predictions of the trend, to be given to `matrix` for the training runs.
        """
        trend, left_out = Trend.learn(inputs, logs, weights)
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

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Columns:
        """Restore what `to_state` returned."""
        effects = [np.asarray(effect, dtype=np.float64) for effect in state["effects"]]
        return cls(Derived.from_state(state["derived"]), effects, Trend.from_state(state["trend"]))
