"""How many grid points of each kind any box of a cell holds, in a few look-ups.

The cell is divided into blocks along its three axes (unequal ones, so that thin films and layers can have blocks of
their own); a table holds the points of each kind below every block corner (a summed-area table: F. C. Crow, SIGGRAPH
18, 207 (1984)). A box is then a sum over its eight corners. Between block corners the table is interpolated: points
are taken as spread evenly over a block, so blocks of one point make every count exact.

>>> blocks = np.array([4.0, 0.0]).reshape(2, 1, 1, 1)
>>> survey = Survey.of_blocks(((0, 4, 8), (0, 1), (0, 1)), ("poles",), blocks)
>>> survey.counts([[0, 0, 0], [2, 0, 0]], [[8, 1, 1], [5, 1, 1]]).tolist()
[[4.0], [2.0]]
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Survey"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Edges = tuple[Ints, Ints, Ints]


@dataclass(frozen=True)
class Survey:
    """Summed tables of a cell's points.

    Parameters
    ----------
    edges : three arrays of int
        Corners of the blocks along x, y, z in grid indices, from 0 to the points of the cell.
    kinds : tuple of str
        What is counted, named as in `evenly.fdtd.cell.counts.Counts`; poles one by one.
    table : (x edges, y edges, z edges, kinds)
        Points of each kind below each corner.
    """

    edges: Edges
    kinds: tuple[str, ...]
    table: Array

    @classmethod
    def of_blocks(cls, edges: Sequence[ArrayLike], kinds: Sequence[str], blocks: Array) -> Survey:
        """Return the survey of blocks that hold so many points of each kind, (x blocks, y, z, kinds)."""
        x, y, z = (np.asarray(e, dtype=np.int64) for e in edges)
        table = np.zeros((len(x), len(y), len(z), len(kinds)))
        table[1:, 1:, 1:] = blocks
        for axis in range(3):
            np.cumsum(table, axis=axis, out=table)
        return cls((x, y, z), tuple(kinds), table)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Grid points of the cell along x, y, z."""
        x, y, z = (int(e[-1]) for e in self.edges)
        return x, y, z

    @cached_property
    def totals(self) -> dict[str, float]:
        """Points of each kind of the whole cell."""
        return dict(zip(self.kinds, self.table[-1, -1, -1].tolist(), strict=True))

    def counts(self, low: ArrayLike, high: ArrayLike) -> Array:
        """Return the points of each kind (n, kinds) in boxes from `low` up to, not including, `high`, both (n, 3)."""
        low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
        weights = [self._along(axis, low[:, axis], high[:, axis]) for axis in range(3)]
        nx, ny, nz, kinds = self.table.shape
        flat = self.table.reshape(nx * ny * nz, kinds)
        result = np.zeros((len(low), kinds))
        for (i, a), (j, b), (k, c) in itertools.product(*weights):
            result += (a * b * c)[:, None] * flat[(i * ny + j) * nz + k]
        return result

    def _along(self, axis: int, low: Ints, high: Ints) -> list[tuple[Ints, Array]]:
        """Return indices and weights into the table along an axis whose sum is what lies between low and high."""
        found = []
        for at, sign in ((low, -1.0), (high, 1.0)):
            edges = self.edges[axis]
            block = np.clip(np.searchsorted(edges, at, side="right") - 1, 0, len(edges) - 2)
            share = (at - edges[block]) / (edges[block + 1] - edges[block])
            if np.any((share != 0) & (share != 1)):
                found += [(block, sign * (1 - share)), (block + 1, sign * share)]
            else:
                found.append((block + (share == 1), np.full(len(at), sign)))
        return found
