"""The balancer of Meep's documentation: equal time per rank on both sides of every cut, from volumes and times alone.

Let V be the points, t the time and n the ranks of one side of a cut, and l = t/n its load per rank. The wanted volumes
of the two sides are in the ratio of their V/l. The cut moves the fraction `sensitivity` of the way to this ratio.

>>> from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
>>> halves = [ChunkVolume((-2, 0, 0), (0, 0, 0), (20, 1, 1)), ChunkVolume((0, 0, 0), (2, 0, 0), (20, 1, 1))]
>>> old = BinaryPartition([("x", 0.0), 0, 1])
>>> ChunkBalancer(sensitivity=1.0).compute_new_chunk_layout(Timings([1.0, 3.0]), old, halves, [0, 1])
BinaryPartition([('x', 1.0), 0, 1])

This balancer knows neither borders nor materials. Where the cost is uneven inside a chunk, it needs several rounds;
`evenly.decomposition.rebalancing.cost_balancer` needs fewer.
"""

from __future__ import annotations

from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.decomposition.rebalancing.base import AbstractChunkBalancer, check_owners, checked_sensitivity
from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Lattice, Timings
from evenly.decomposition.rebalancing.trees import CutTree
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["ChunkBalancer"]

Array = NDArray[np.float64]
# A side that took no time counts as one with this fraction of the mean load, so that the other side isn't left empty.
_FAINTEST = 1e-3


class ChunkBalancer(AbstractChunkBalancer):
    """Meep's balancer: equalises the time per rank at each node of the tree.

    A rank with several leaves counts in each subtree in proportion to its points there.

    Parameters
    ----------
    sensitivity : float
        How far cuts move: 0 means not at all, 1 means to where the times are predicted to be equal.

    Raises
    ------
    InputError
        If `sensitivity` isn't between 0 and 1.
    """

    def __init__(self, *, sensitivity: float = 0.5) -> None:
        self.sensitivity = checked_sensitivity(sensitivity)

    def compute_new_chunk_layout(
        self,
        timing_measurements: Timings,
        old_chunk_layout: BinaryPartition,
        chunk_volumes: Sequence[ChunkVolume],
        chunk_owners: ArrayLike,
        *,
        sensitivity: float | None = None,
    ) -> BinaryPartition:
        """Return the adjusted layout; `sensitivity` replaces the balancer's own for this call. See the base class."""
        share = self.sensitivity if sensitivity is None else checked_sensitivity(sensitivity)
        tree, lattice = CutTree.of(old_chunk_layout), Lattice.of(chunk_volumes)
        check_owners(chunk_owners, len(chunk_volumes), timing_measurements.ranks)
        points = tree.points_of_leaves(chunk_volumes)
        wanted = _wanted_fractions(tree, points, timing_measurements)
        return tree.partition(lattice, _moved(tree, lattice, wanted, share))


def _wanted_fractions(tree: CutTree, points: Array, timings: Timings) -> Array:
    """Return the share of each node's volume that its left side should have, (nodes,)."""
    owners = tree.owners % timings.ranks
    share = points / np.maximum(1.0, np.bincount(owners, points, timings.ranks)[owners])
    # V, t and n of Meep's documentation for every node, (nodes,): points, seconds, and ranks (with fractions).
    volume, time, ranks = (tree.leaves_below(v) for v in (points, timings.seconds[owners] * share, share))
    # A node without chunks has load 0. Without any measured time all loads are 0; then the floor below is the same for
    # both sides, and the volumes stay in proportion.
    load = np.divide(time, ranks, out=np.zeros_like(time), where=ranks > 0)
    mean = load[0] if load[0] > 0 else 1.0
    wanted = volume / np.maximum(load, _FAINTEST * mean)
    left, both = wanted[tree.left], wanted[tree.left] + wanted[tree.right]
    return np.divide(left, both, out=np.full_like(left, 0.5), where=both > 0)


def _moved(tree: CutTree, lattice: Lattice, wanted: Array, sensitivity: float) -> Array:
    """Return the new positions of the cuts, (nodes,), in grid indices that aren't rounded."""
    low = np.zeros((len(tree.axis), 3), dtype=np.int64)
    high = np.zeros_like(low)
    high[0] = lattice.shape
    at = tree.indices(lattice)
    # From the root down, since boxes depend on the cuts above them.
    for level in tree.levels:
        axis = tree.axis[level]
        start, stop = low[level, axis], high[level, axis]
        lowest, highest = tree.room(level, low, high)
        target = start + (stop - start) * wanted[level]
        at[level] = np.clip(sensitivity * target + (1 - sensitivity) * at[level], lowest, highest)
        tree.split(level, np.floor(at[level] + 0.5).astype(np.int64), low, high)
    return at
