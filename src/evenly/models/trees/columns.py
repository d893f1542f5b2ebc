"""What trees are given: coded numbers, derived inputs, labels as indicators and ordered by effect, and the trend."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.inputs.derived import Derived
from evenly.models.trees.trend import Trend

__all__ = ["Columns"]

Floats = NDArray[np.float64]
Singles = NDArray[np.float32]
#: Runs of usual time that each label counts beside its own.
_USUAL = 3.0


@dataclass(frozen=True)
class Columns:
    """How inputs become a matrix.

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
        effects = [_effects(inputs.labels[:, k], size, logs, weights) for k, size in enumerate(inputs.sizes)]
        return cls(derived, effects, trend), left_out

    def matrix(self, inputs: Inputs, trend: Floats) -> Singles:
        """Return all columns, (n, k), given the trend there, (n,)."""
        effects = [effect[inputs.labels[:, k]] for k, effect in enumerate(self.effects)]
        parts = [inputs.matrix, self.derived.columns(inputs), *(e[:, None] for e in effects), trend[:, None]]
        return np.hstack(parts).astype(np.float32)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "derived": self.derived.to_state(), "effects": list(self.effects), "trend": self.trend.to_state(),
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Columns:
        """Restore what `to_state` returned."""
        effects = [np.asarray(effect, dtype=np.float64) for effect in state["effects"]]
        return cls(Derived.from_state(state["derived"]), effects, Trend.from_state(state["trend"]))


def _effects(labels: NDArray[np.int64], size: int, logs: Floats, weights: Floats) -> Floats:
    usual = float(np.average(logs, weights=weights))
    total = np.bincount(labels, weights * (logs - usual), size)
    return np.asarray(total / (np.bincount(labels, weights, size) + _USUAL))
