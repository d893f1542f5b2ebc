"""A coarse lattice of samples and blocks over a cell, and the object in which each sample lies."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cached_property
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.fdtd.block_edges import Edges

if TYPE_CHECKING:
    from evenly.fdtd.media.structure import Structure

__all__ = ["Lattice", "Painter"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Owners = NDArray[np.int32]
#: Most samples painted at a time.
SLAB = 500_000


@dataclass(frozen=True)
class Lattice:
    """Edges of samples and blocks along the three axes; a block consists of whole samples.

    Parameters
    ----------
    edges : three arrays
        Edges of the samples along x, y, z, in grid indices.
    blocks : three arrays
        Edges of the blocks, in grid indices; each is also an edge of samples.
    """

    edges: Edges
    blocks: Edges

    @cached_property
    def shape(self) -> tuple[int, int, int]:
        """Blocks along x, y, z."""
        x, y, z = (len(b) - 1 for b in self.blocks)
        return x, y, z

    @cached_property
    def widths(self) -> tuple[Array, Array, Array]:
        """Points of each sample along x, y, z."""
        x, y, z = (np.diff(e).astype(np.float64) for e in self.edges)
        return x, y, z

    @cached_property
    def block_of(self) -> Edges:
        """Index of the block in which each sample lies, along x, y, z."""
        pairs = zip(self.edges, self.blocks, strict=True)
        x, y, z = (np.searchsorted(b, e[:-1], side="right").astype(np.int64) - 1 for e, b in pairs)
        return x, y, z

    def middles(self, structure: Structure) -> tuple[Array, Array, Array]:
        """Return the coordinates of the samples' middles along x, y, z."""
        grid = structure.grid
        x, y, z = (
            np.zeros(1) if grid.thin[axis] else grid.origin[axis] + (e[:-1] + e[1:]) / 2 * grid.dx
            for axis, e in enumerate(self.edges)
        )
        return x, y, z

    def slabs(self) -> Iterator[tuple[int, int]]:
        """Yield the first sample along x and one past the last of slabs that consist of whole blocks."""
        across = (len(self.edges[1]) - 1) * (len(self.edges[2]) - 1)
        ends = np.searchsorted(self.edges[0], self.blocks[0])
        first = 0
        for this, following in zip(ends[1:], [*ends[2:], ends[-1] + SLAB], strict=True):
            if (following - first) * across > SLAB:
                yield int(first), int(this)
                first = this


@dataclass(frozen=True)
class Painter:
    """Finds the object in which each sample lies by painting objects in their order; later ones hide earlier ones.

    Parameters
    ----------
    structure : Structure
    along : three arrays
        Coordinates of the samples' middles along x, y, z.
    whole : (objects,) of bool
        Whether an object fills its bounding box.
    """

    structure: Structure
    along: tuple[Array, Array, Array]
    whole: NDArray[np.bool_]

    @cached_property
    def _reach(self) -> tuple[Ints, Ints]:
        """First sample within the bounds of each object and one past the last, (objects, 3)."""
        low, high = (np.array([thing.bounds()[side] for thing in self.structure.objects]) for side in (0, 1))
        slack = self._slack
        first = [np.searchsorted(c, low[:, axis] - slack) for axis, c in enumerate(self.along)]
        last = [np.searchsorted(c, high[:, axis] + slack, side="right") for axis, c in enumerate(self.along)]
        return np.stack(first, axis=1), np.stack(last, axis=1)

    @property
    def _slack(self) -> float:
        return 1e-9 * self.structure.grid.dx

    def owners(self, start: int, stop: int) -> Owners:
        """Return the index of the object in which each sample lies, for samples `start` to `stop` along x."""
        owners = np.zeros((stop - start, len(self.along[1]), len(self.along[2])), dtype=np.int32)
        first, last = self._reach
        first, last = np.maximum(first, [start, 0, 0]), np.minimum(last, [stop, *owners.shape[1:]])
        for k in np.flatnonzero(np.all(first < last, axis=1)):
            (a, b, c), (d, e, f) = first[k], last[k]
            part = owners[a - start : d - start, b:e, c:f]
            if self.whole[k]:
                part[...] = k
                continue
            x, y, z = self.along[0][a:d, None, None], self.along[1][b:e, None], self.along[2][c:f]
            inside = self.structure.objects[k].distance(x, y, z) <= self._slack
            part[np.broadcast_to(inside, part.shape)] = k
        return owners
