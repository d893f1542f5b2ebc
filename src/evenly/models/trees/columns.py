"""The columns that trees split: coded numbers, derived inputs, indicators and effects of labels, and the trend."""

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
#: Runs of mean time that count for each label beside its own.
_USUAL = 3.0


@dataclass(frozen=True)
class Columns(Stored):
    """How inputs become the matrix that trees are grown on.

    Attributes
    ----------
    derived : Derived
    effects : list of arrays
        Of each categorical parameter, the mean log of each label: one split then parts slow labels from fast ones.
    trend : Trend
        Its prediction is a column too: where times are long, what is missing from the trend may differ.
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
            The trend of each run as the others have it, to be handed to `matrix` for the runs learned from.
        """
        trend, left_out = Trend.learn(inputs, logs, weights)
        # Target encoding [Micci-Barreca 2001]: each label's mean less that of all runs, shrunk to 0 for few runs.
        usual = float(np.average(logs, weights=weights))
        effects = [
            np.asarray(
                np.bincount(labels, weights * (logs - usual), size) / (np.bincount(labels, weights, size) + _USUAL)
            )
            for labels, size in zip(inputs.labels.T, inputs.sizes, strict=True)
        ]
        return cls(derived, effects, trend), left_out

    def matrix(self, inputs: Inputs, trend: Floats) -> Singles:
        """Return all columns, (n, k), given the trend there, (n,)."""
        effects = [effect[inputs.labels[:, k]] for k, effect in enumerate(self.effects)]
        parts = [inputs.matrix, self.derived.columns(inputs), *(e[:, None] for e in effects), trend[:, None]]
        return np.hstack(parts).astype(np.float32)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Columns:
        """Restore what `to_state` returned."""
        effects = [np.asarray(effect, dtype=np.float64) for effect in state["effects"]]
        return cls(Derived.from_state(state["derived"]), effects, Trend.from_state(state["trend"]))
