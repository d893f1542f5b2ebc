"""A chunk's arrays in memory: one ghost point around, axes permuted so that rows are long."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, field
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box, Index
from evenly.fdtd.media.rows import mean_rows
from evenly.fdtd.stepping.kernels.runs import find_runs

if TYPE_CHECKING:
    from evenly.fdtd.cell.boundaries import Layers
    from evenly.fdtd.media.structure import Structure

__all__ = ["Array", "Frame", "Runs", "memory_order", "packed_indices"]

Array = NDArray[Any]
Runs = NDArray[np.int64]


@dataclass(frozen=True)
class Frame:
    """A chunk's arrays in memory: which box, in which order of axes, with which ghosts.

    Attributes
    ----------
    box : Box
        The chunk's own points (user order of axes).
    order : three ints
        ``order[a]`` is the user's axis that is axis `a` in memory; a cyclic permutation, so curls keep their sign.
    ghosts : three ints
        Ghost points on either side, in memory order: 0 along thin axes.
    shape, size : three ints, int
        Points with ghosts, in memory order, and their number.
    """

    box: Box
    order: Index
    ghosts: Index
    shape: Index = field(init=False)
    size: int = field(init=False)

    def __post_init__(self) -> None:
        x, y, z = (self.box.shape[u] + 2 * g for u, g in zip(self.order, self.ghosts, strict=True))
        vars(self).update(shape=(x, y, z), size=x * y * z)

    def view(self, flat: Array, box: Box) -> Array:
        """Return a view of `flat`, axes in user order, on a global box (which may reach one ghost layer out)."""
        memory = flat.reshape(self.shape)[self.slices(box)]
        return memory.transpose(tuple(self.order.index(u) for u in range(3)))

    def slices(self, box: Box) -> tuple[slice, slice, slice]:
        """Return the slices of a global box in memory order."""
        low = [self.box.lo[u] - g for u, g in zip(self.order, self.ghosts, strict=True)]
        x, y, z = (slice(box.lo[u] - o, box.hi[u] - o) for u, o in zip(self.order, low, strict=True))
        return x, y, z

    def local(self, box: Box) -> NDArray[np.int64]:
        """Return first indices and one past the last, (2, 3), of a global box in memory order."""
        slices = self.slices(box)
        return np.array([[s.start for s in slices], [s.stop for s in slices]], np.int64)

    def runs(self, mask: NDArray[np.bool_], box: Box) -> Runs:
        """Return the runs of a mask given on `box` in user order."""
        start = [s.start for s in self.slices(box)]
        return find_runs(mask.transpose(self.order), (start[0], start[1], start[2]), self.shape)


def packed_indices(runs: Runs) -> NDArray[np.int64]:
    """Return the flat index of every packed point of `runs`, (n_points,)."""
    total = int(runs[:, 1].sum())
    return np.repeat(runs[:, 0] - runs[:, 2], runs[:, 1]) + np.arange(total)


def memory_order(box: Box, structure: Structure, layers: Layers, layered: Sequence[bool]) -> Index:
    """Return the cyclic order of axes whose last, along which rows run, makes them long and undisturbed."""
    rows, merits = mean_rows(structure, box), []
    for axis in range(3):
        # Rows end where the medium changes, and layers cost time per row; beyond 64 points longer ones gain nothing.
        length = min(box.shape[axis], 4 * rows[axis]) * (0.25 if layered[axis] else 1.0)
        whole = box.shape[axis] == layers.kept.shape[axis]
        merits.append((not layers.grid.thin[axis], min(length, 64) * (1.2 if whole else 1.0), axis))
    last = max(merits)[2]
    return (last + 1) % 3, (last + 2) % 3, last
