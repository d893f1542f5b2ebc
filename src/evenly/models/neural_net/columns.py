"""The input columns of nets: standardised numbers, derived inputs and one-hot labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Flags, Floats, Singles
from evenly.models.inputs.coding import Inputs
from evenly.models.inputs.derived import Derived
from evenly.models.stored_dataclass import Stored

__all__ = ["NetColumns"]


@dataclass(frozen=True)
class NetColumns(Stored):
    """The mapping from inputs to a matrix of columns with mean 0 and standard deviation 1.

    One-hot labels times the first layer's weights are a learned embedding of the labels.

    Attributes
    ----------
    derived : Derived
    centres, spreads : arrays (n_columns,)
        Mean and standard deviation of each column over the runs.
    lowest, highest : arrays (n_columns,)
        Range of each column over the runs. Values outside are clipped to it; there only the trend extrapolates.
    """

    derived: Derived
    centres: Floats
    spreads: Floats
    lowest: Floats
    highest: Floats

    @classmethod
    def learn(cls, inputs: Inputs, derived: Derived) -> NetColumns:
        """Learn from runs."""
        raw = _raw(inputs, derived)
        spreads = raw.std(axis=0)
        return cls(derived, raw.mean(axis=0), np.where(spreads > 0, spreads, 1.0), raw.min(axis=0), raw.max(axis=0))

    def matrix(self, inputs: Inputs) -> Singles:
        """Return all columns, (n, k)."""
        raw = np.clip(_raw(inputs, self.derived), self.lowest, self.highest)
        return np.asarray((raw - self.centres) / self.spreads, dtype=np.float32)

    def seen(self, groups: Sequence[str]) -> Flags:
        """Return the mask of the columns of a net that uses only some `groups` of derived inputs, (n_columns,)."""
        derived = [np.repeat(group in groups, count) for group, count in self.derived.counts().items()]
        others = len(self.centres) - sum(map(len, derived))
        k = len(self.derived.kinds)
        return np.concatenate([np.ones(k, bool), *derived, np.ones(others - k, bool)])


def _raw(inputs: Inputs, derived: Derived) -> Floats:
    return np.hstack([inputs.numbers, derived.columns(inputs), inputs.one_hot])
