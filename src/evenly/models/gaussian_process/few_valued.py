"""Numbers that were measured at few values, as labels besides: 64 ranks need not lie between 32 and 128 in all."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs

__all__ = ["Levels"]

Floats = NDArray[np.float64]
_FEWEST, _MOST, _RUNS_PER_LEVEL = 3, 16, 4
_SAME = 1e-8


@dataclass(frozen=True)
class Levels:
    """Which numbers have levels, and where.

    Attributes
    ----------
    columns : list of int
    values : list of arrays
        Levels of each of these numbers, ascending.
    """

    columns: list[int]
    values: list[Floats]

    @classmethod
    def learn(cls, inputs: Inputs) -> Levels:
        """Take numbers of 3 to 16 values with at least four runs each in the mean."""
        columns, values = [], []
        for column in range(inputs.numbers.shape[1]):
            x = np.unique(np.round(inputs.numbers[:, column], 9))
            if _FEWEST <= len(x) <= min(_MOST, len(inputs) // _RUNS_PER_LEVEL):
                columns.append(column)
                values.append(x)
        return cls(columns, values)

    def added(self, inputs: Inputs) -> Inputs:
        """Return the inputs with a label for each level; between levels it is -1, like none of them."""
        labels = [inputs.labels]
        for column, levels in zip(self.columns, self.values, strict=True):
            x = inputs.numbers[:, column]
            found = np.clip(np.searchsorted(levels, x - _SAME), 0, len(levels) - 1)
            labels.append(np.where(np.abs(levels[found] - x) < _SAME, found, -1)[:, None])
        return Inputs(inputs.numbers, np.hstack(labels), (*inputs.sizes, *(len(levels) for levels in self.values)))

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {"columns": list(self.columns), "values": list(self.values)}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Levels:
        """Restore what `to_state` returned."""
        return cls([int(k) for k in state["columns"]], [np.asarray(x, dtype=np.float64) for x in state["values"]])
