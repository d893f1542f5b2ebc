"""Work density: seconds of work per step in any box of a cell that will be cut into chunks of a given size.

A chunk's cost depends on which materials are present in it. So a large box that will be cut further doesn't cost as
much as one large chunk. The cell is therefore divided into blocks that are somewhat smaller than the chunks will be.
Each block is charged, like a chunk, for the work on its points. A summed-area table of these costs gives the work in
any box by a few look-ups. Fixed costs of chunks and of their sides are left out, as they don't depend on where the
cuts are.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.kernels import find_cuts

__all__ = ["Density"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Blocks per chunk. More blocks resolve better where the work lies; fewer are closer to what is present in a chunk.
BLOCKS_PER_CHUNK = 16
FEWEST, MOST = 4_096, 1_000_000
#: Number of blocks whose cost is computed at a time, so that memory stays small.
BATCH = 50_000


@dataclass(frozen=True)
class Density:
    """Seconds of work per step in boxes of a cell.

    Parameters
    ----------
    survey : Survey
        A survey with one kind, "seconds": the table sums seconds instead of points.
    """

    survey: Survey

    @classmethod
    def of(cls, cell: Cell, cost: CostModel, chunks: int) -> Density:
        """Return the work density of a cell that is to be cut into about `chunks` chunks, by a cost model."""
        blocks = min(max(BLOCKS_PER_CHUNK * chunks, FEWEST), MOST)
        thick = ~np.array(cell.grid.thin)
        # Blocks are nearly cubic, `side` points along each axis; no block crosses the border of a layer.
        side = max(1.0, float(np.prod(np.array(cell.grid.shape, float)[thick]) / blocks) ** (1 / max(1, thick.sum())))
        edges = []
        for axis in range(3):
            ends = itertools.pairwise(sorted({0, cell.grid.shape[axis]} | cell.layer_borders(axis)))
            pieces = [np.linspace(a, b, max(1, round((b - a) / side)) + 1) for a, b in ends]
            edges.append(np.unique(np.rint(np.concatenate(pieces)).astype(np.int64)))
        counts = [len(e) - 1 for e in edges]
        low = np.stack([g.ravel() for g in np.meshgrid(*(e[:-1] for e in edges), indexing="ij")], axis=1)
        high = np.stack([g.ravel() for g in np.meshgrid(*(e[1:] for e in edges), indexing="ij")], axis=1)
        parts = [slice(start, start + BATCH) for start in range(0, len(low), BATCH)]
        seconds = np.concatenate([cost.spread_seconds(cell, low[part], high[part]) for part in parts])
        return cls(Survey.of_blocks(edges, ("seconds",), seconds.reshape(*counts, 1)))

    def work(self, low: Ints, high: Ints) -> Array:
        """Return the seconds of work (n,) in boxes (n, 3)."""
        return self.survey.counts(low, high)[:, 0]

    def cuts(self, low: Ints, high: Ints, axis: Ints, share: Array) -> Ints:
        """Return the grid indices (n,) at which to cut boxes (n, 3) so that `share` (n,) of the work is below the cut.

        Each box is cut across its own axis (n,). The cumulative work never falls along the axis, so a binary search
        finds where it passes the share; the nearer of the two indices around is taken. At least one layer of points is
        left on both sides.
        """
        return find_cuts(self.survey.table[:, :, :, 0], self.survey.edges, low, high, axis, share)[0]

    def imbalances(self, low: Ints, high: Ints, axis: Ints, share: Array) -> Array:
        """Return the imbalance (n,) of each box's best cut: the heavier side's work per capacity over the box's."""
        _, below, whole = find_cuts(self.survey.table[:, :, :, 0], self.survey.edges, low, high, axis, share)
        return np.asarray(np.maximum(below / share, (whole - below) / (1 - share)) / np.maximum(whole, 1e-300))
