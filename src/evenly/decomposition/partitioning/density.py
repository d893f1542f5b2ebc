"""The work in any box of a cell, as it will be once the cell is cut into chunks of a given size.

What a chunk costs depends on what is present in it, so the cost of a large box is not that of one large chunk: the
cell is divided into blocks not much smaller than the chunks will be, each is charged as a chunk for what lies on its
points, and a summed table of that answers for every box in a few look-ups. What chunks and their sides cost as such is
left out: it comes once for each, wherever the cuts are.
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
#: Blocks per chunk: more see where within a chunk the work is, fewer see what is present as a chunk does.
BLOCKS_PER_CHUNK = 16
FEWEST, MOST = 4_096, 1_000_000
#: Boxes that are charged at a time, so that memory stays small.
BATCH = 50_000


@dataclass(frozen=True)
class Density:
    """Seconds of work per step in boxes of a cell.

    Parameters
    ----------
    survey : Survey
        Of one kind, "seconds".
    """

    survey: Survey

    @classmethod
    def of(cls, cell: Cell, cost: CostModel, chunks: int) -> Density:
        """Return the density of a cell that is to be cut into about so many chunks."""
        blocks = min(max(BLOCKS_PER_CHUNK * chunks, FEWEST), MOST)
        thick = ~np.array(cell.grid.thin)
        # Blocks are nearly cubic, of so many points along each axis, and end where layers begin.
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
        """Return where to cut boxes (n, 3), each across its own axis (n,), so that `share` (n,) of the work is below.

        By binary search for the index at which the cumulative work, which never falls, passes the share; of the two
        indices around it the nearer one. At least one layer of points is left on both sides.
        """
        return find_cuts(self.survey.table[:, :, :, 0], self.survey.edges, low, high, axis, share)[0]

    def imbalances(self, low: Ints, high: Ints, axis: Ints, share: Array) -> Array:
        """Return for the best cut of each box the work per capacity of the heavier side over that of both, (n,)."""
        _, below, whole = find_cuts(self.survey.table[:, :, :, 0], self.survey.edges, low, high, axis, share)
        return np.asarray(np.maximum(below / share, (whole - below) / (1 - share)) / np.maximum(whole, 1e-300))
