"""What each search of a cut is given: the cell, what its chunks cost, where its work is, and how fast ranks are."""

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
#: Exponent of the mean over ranks in `CutProblem.score`.
POWER = 32


@dataclass(frozen=True)
class Candidate:
    """A tree of cuts, the owners of its leaves, depth first (leaves,), and what that is predicted to take."""

    tree: Tree
    owners: Ints
    times: Times


@dataclass(frozen=True)
class CutProblem:
    """A cell that is to be cut.

    Parameters
    ----------
    cell : Cell
    cost : CostModel
        What chunks and borders take.
    density : Density
        Seconds of work in any box.
    speeds : (ranks,)
        How fast each rank is, as a factor.
    """

    cell: Cell
    cost: CostModel
    density: Density
    speeds: Array

    def candidate(self, tree: Tree, owners: Ints | None = None) -> Candidate:
        """Return a tree with the owners of its leaves, which balance their work when left out, and predicted times."""
        low, high = tree.low[tree.leaves], tree.high[tree.leaves]
        if owners is None:
            owners = grouped_owners(self.density.work(low, high), self.speeds)
        return Candidate(tree, owners, times(self.cell, low, high, owners, len(self.speeds), self.cost))

    def slowest(self, one: Candidate) -> float:
        """Return the seconds per step of the slowest rank at its speed."""
        return float((one.times.rank_s / self.speeds).max())

    def score(self, found: Times) -> float:
        """Return a smooth maximum over ranks, in seconds: what searches by single moves make smaller.

        It is the mean of 32nd powers of the ranks' seconds, and the 32nd root of that: a move that helps one of two
        ranks that are equally slow counts, though the maximum stays as it is.
        """
        seconds = found.rank_s / self.speeds
        return float(seconds.max() * np.mean((seconds / seconds.max()) ** POWER) ** (1 / POWER))
