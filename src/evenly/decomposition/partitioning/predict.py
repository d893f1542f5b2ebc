"""Predicted seconds per step of every rank of a layout, by a cost model.

>>> from evenly.decomposition.costs.cost_model import Coefficient, CostModel
>>> from evenly.decomposition.cells.survey import Survey
>>> from evenly.fdtd.cell.grid import Grid
>>> survey = Survey.of_blocks(((0, 40), (0, 40), (0, 40)), (), np.zeros((1, 1, 1, 0)))
>>> cell = Cell("fdtd", Grid((4, 4, 4), 10), survey)
>>> cost = CostModel("fdtd", {"points": Coefficient(3e-9)})
>>> round(predict(cell, BinaryPartition([("x", -1.0), 0, 1]), 2, cost).imbalance, 6)    # 1/4 and 3/4 of the points
1.5
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.neighbours import owners_borders, touching
from evenly.decomposition.partitioning.plan import Prediction, Times
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["corners", "predict", "times"]

Ints = NDArray[np.int64]


def predict(cell: Cell, layout: BinaryPartition, ranks: int, cost: CostModel) -> Prediction:
    """Return the predicted seconds per step of a layout's chunks and ranks, by a cost model.

    Parameters
    ----------
    cell : Cell
    layout : BinaryPartition
        Owners are taken modulo `ranks`.
    ranks : int
    cost : CostModel
        Cost model of the cell's program.

    Raises
    ------
    InputError
        If the layout doesn't fit the cell, or the cost model is for another program.
    """
    cost.check(cell)
    low, high = corners(cell, layout)
    return Prediction.of(times(cell, low, high, np.asarray(layout.owners, dtype=np.int64) % ranks, ranks, cost), layout)


def times(
    cell: Cell,
    low: Ints,
    high: Ints,
    owners: Ints,
    ranks: int,
    cost: CostModel,
    chunk_s: NDArray[np.float64] | None = None,
) -> Times:
    """Return the predicted seconds per step of leaves given by their corners (leaves, 3) and owners (leaves,).

    `chunk_s` (leaves,), the seconds of work in each leaf, is computed by the cost model unless it is given.
    """
    if chunk_s is None:
        chunk_s = cost.chunk_seconds(cell, low, high)
    joined = np.array(cell.periodic) & ~np.array(cell.grid.thin)
    faces, neighbours = owners_borders(touching(low, high, cell.grid.shape, joined), owners, ranks)
    border_s = cost.border_seconds(cell, faces, neighbours)
    work_s = np.asarray(np.bincount(owners, chunk_s, ranks), dtype=np.float64)
    return Times(chunk_s, border_s, work_s, faces, neighbours)


def corners(cell: Cell, layout: BinaryPartition) -> tuple[Ints, Ints]:
    """Return the first grid index of each leaf of a layout and one past the last, both (leaves, 3)."""
    boxes = layout.boxes(cell.grid)
    return np.array([box.lo for box in boxes], dtype=np.int64), np.array([box.hi for box in boxes], dtype=np.int64)
