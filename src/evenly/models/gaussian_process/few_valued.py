"""Numbers with few measured values, which are coded as labels too: times may not vary smoothly between such values."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.models.stored_dataclass import Stored

__all__ = ["Levels"]

_FEWEST, _MOST, _RUNS_PER_LEVEL = 3, 16, 4
_SAME = 1e-8


@dataclass(frozen=True)
class Levels(Stored):
    """The numbers that are coded as labels too, with their values (levels).

    Attributes
    ----------
    columns : list of int
        Indices of these numbers.
    values : list of arrays
        Rising levels of each of these numbers, in coded units.
    """

    columns: list[int]
    values: list[Floats]

    @classmethod
    def learn(cls, inputs: Inputs) -> Levels:
        """Select the numbers with 3 to 16 values and, on average, at least four runs per value."""
        columns, values = [], []
        for column in range(inputs.numbers.shape[1]):
            x = np.unique(np.round(inputs.numbers[:, column], 9))
            if _FEWEST <= len(x) <= min(_MOST, len(inputs) // _RUNS_PER_LEVEL):
                columns.append(column)
                values.append(x)
        return cls(columns, values)

    def added(self, inputs: Inputs) -> Inputs:
        """Return the inputs with one more label column per selected number: the level's index, or -1 between levels."""
        labels = [inputs.labels]
        for column, levels in zip(self.columns, self.values, strict=True):
            x = inputs.numbers[:, column]
            found = np.clip(np.searchsorted(levels, x - _SAME), 0, len(levels) - 1)
            labels.append(np.where(np.abs(levels[found] - x) < _SAME, found, -1)[:, None])
        return Inputs(inputs.numbers, np.hstack(labels), (*inputs.sizes, *(len(levels) for levels in self.values)))
