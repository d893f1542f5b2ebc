"""The decomposition problem that all searches share: cell, cost model, work density and speeds of the ranks."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.partitioning.density import Density
from evenly.decomposition.partitioning.leaf_owners import grouped_owners
from evenly.decomposition.partitioning.multisection import Tree
from evenly.decomposition.partitioning.plan import Times
from evenly.decomposition.partitioning.predict import times

__all__ = ["Candidate", "CutProblem"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Exponent of the power mean over ranks in `CutProblem.score`.
POWER = 32


@dataclass(frozen=True)
class Candidate:
    """A tree of cuts, the owners of its leaves in depth-first order (leaves,), and its predicted times."""

    tree: Tree
    owners: Ints
    times: Times


@dataclass(frozen=True)
class CutProblem:
    """A cell to cut, with its cost model, its work density and the speeds of the ranks.

    Parameters
    ----------
    cell : Cell
    cost : CostModel
        Seconds per step of chunks and borders.
    density : Density
        Seconds of work per step in any box.
    speeds : (ranks,)
        Relative speed of each rank.
    """

    cell: Cell
    cost: CostModel
    density: Density
    speeds: Array

    def candidate(self, tree: Tree, owners: Ints | None = None) -> Candidate:
        """Return the candidate of a tree, with its predicted times; by default the owners balance the leaves' work."""
        low, high = tree.low[tree.leaves], tree.high[tree.leaves]
        if owners is None:
            owners = grouped_owners(self.density.work(low, high), self.speeds)
        return Candidate(tree, owners, times(self.cell, low, high, owners, len(self.speeds), self.cost))

    def slowest(self, one: Candidate) -> float:
        """Return the seconds per step of the slowest rank, with the speeds of the ranks."""
        return float((one.times.rank_s / self.speeds).max())

    def score(self, found: Times) -> float:
        """Return a smooth maximum of the ranks' seconds, which the searches over single cuts minimise.

        It is the power mean with exponent 32: the 32nd root of the mean of the 32nd powers. If two ranks are equally
        slow and a move helps one of them, the maximum stays the same, but the score falls.
        """
        seconds = found.rank_s / self.speeds
        return float(seconds.max() * np.mean((seconds / seconds.max()) ** POWER) ** (1 / POWER))
