"""The grid of a tensor with positive factors: cells along each number, and interpolation between their centres."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Inputs
from evenly.models.stored_dataclass import Stored

__all__ = ["CellGrid", "Cells"]

#: Largest and least number of cells along a number.
_MOST, _FEWEST = 24, 4


@dataclass(frozen=True)
class Cells:
    """The measured elements (cells) of the tensor.

    Attributes
    ----------
    index : array (n_cells, n_modes)
        Row of each mode.
    logs, weights : array (n_cells,)
        Mean log time and total weight of the runs in each cell.
    """

    index: Ints
    logs: Floats
    weights: Floats


@dataclass(frozen=True)
class CellGrid(Stored):
    """Centres of cells along numbers, and one row per label.

    Attributes
    ----------
    centres : list of array (n_centres,)
        Rising cell centres in coded numbers, one array per number; if a number has few distinct values, these values.
    sizes : tuple of int
        Number of labels of each categorical parameter.
    """

    centres: list[Floats]
    sizes: tuple[int, ...]

    @classmethod
    def learn(cls, inputs: Inputs, cells: int | None = None) -> CellGrid:
        """Divide the range of each number into `cells` equally wide cells; by default, a number that suits the runs."""
        d = max(sum(len(np.unique(x)) > 1 for x in inputs.numbers.T), 1)
        count = cells or int(np.clip(round(1.5 * len(inputs) ** (1 / d)), _FEWEST, _MOST))
        centres = []
        for x in inputs.numbers.T:
            values = np.unique(x)
            edges = np.linspace(values[0], values[-1], count + 1)
            centres.append(values if len(values) <= count else (edges[:-1] + edges[1:]) / 2)
        return cls(centres, inputs.sizes)

    @property
    def shape(self) -> tuple[int, ...]:
        """Length of each mode: numbers first, then labels."""
        return (*(len(c) for c in self.centres), *self.sizes)

    def cells(self, inputs: Inputs, logs: Floats, weights: Floats) -> Cells:
        """Return the mean of the runs in each cell, after moving each run to the cell's centre along a power law.

        The power law is fitted to all runs.
        """
        nearest = [np.abs(x[:, None] - c).argmin(axis=1) for x, c in zip(inputs.numbers.T, self.centres, strict=True)]
        index = np.column_stack([*nearest, inputs.labels]) if nearest else inputs.labels.copy()
        steps = [c[i] - x for c, i, x in zip(self.centres, index.T, inputs.numbers.T, strict=False)]
        if steps:
            # A linear regression in coded inputs; the ridge keeps undetermined slopes at zero.
            design = np.hstack([np.ones((len(logs), 1)), inputs.matrix])
            gram = design.T @ (design * weights[:, None])
            slopes = np.linalg.solve(gram + 1e-6 * weights.sum() * np.eye(len(gram)), design.T @ (weights * logs))
            logs = logs + np.column_stack(steps) @ slopes[1 : 1 + len(steps)]
        # Section 5.1: one tensor element per measured cell, the mean of its runs (here of their logs).
        found, cell = np.unique(index, axis=0, return_inverse=True)
        total = np.bincount(np.ravel(cell), weights).astype(np.float64)
        return Cells(found.astype(np.int64), np.bincount(np.ravel(cell), weights * logs) / total, total)

    def between(self, mode: int, x: Floats) -> tuple[Ints, Floats]:
        """Return the index of the centre below each x (n,), and x's relative distance from it to the next centre (n,).

        Outside the outermost centres this distance is below 0 or above 1.
        """
        c = self.centres[mode]
        if len(c) == 1:
            return np.zeros(len(x), np.int64), np.zeros(len(x))
        below = np.clip(np.searchsorted(c, x, side="right") - 1, 0, len(c) - 2)
        return below, (x - c[below]) / (c[below + 1] - c[below])
