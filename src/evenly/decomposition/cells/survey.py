"""Surveys: the number of grid points of each kind in any box of a cell, by a few look-ups in a summed-area table.

The cell is divided into blocks along its three axes. Blocks have unequal sizes, so that thin films and layers can have
their own. A table holds the points of each kind below every block corner (summed-area table: F. C. Crow, SIGGRAPH 18,
207 (1984)). The count of a box is a signed sum over its eight corners. Between block corners the table is interpolated
linearly, as if points were spread evenly over a block. So blocks of one point make every count exact.

>>> blocks = np.array([4.0, 0.0]).reshape(2, 1, 1, 1)
>>> survey = Survey.of_blocks(((0, 4, 8), (0, 1), (0, 1)), ("poles",), blocks)
>>> survey.counts([[0, 0, 0], [2, 0, 0]], [[8, 1, 1], [5, 1, 1]]).tolist()
[[4.0], [2.0]]
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import cast

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError

__all__ = ["Survey"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Edges = tuple[Ints, Ints, Ints]
#: Boxes summed at a time without numba, few enough for their counts to stay in the cache.
BATCH = 1024


@dataclass(frozen=True)
class Survey:
    """Summed-area table of a cell's points of each kind.

    Parameters
    ----------
    edges : three arrays of int
        Block edges along x, y, z in grid indices, from 0 to the number of points of the cell.
    kinds : tuple of str
        Names of the kinds, as in `evenly.fdtd.counting.counts.Counts`; each pole is a kind of its own.
    table : (x edges, y edges, z edges, kinds)
        Points of each kind below each block corner.

    Raises
    ------
    InputError
        If the edges aren't whole numbers that rise from 0, or the table has another shape.
    """

    edges: Edges
    kinds: tuple[str, ...]
    table: Array

    def __post_init__(self) -> None:
        for edges in self.edges:
            rising = edges.ndim == 1 and len(edges) > 1 and edges[0] == 0 and bool(np.all(np.diff(edges) > 0))
            if not rising or edges.dtype.kind != "i":
                raise InputError(f"the blocks of a survey must end at whole numbers that rise from 0, not at {edges}.")
        expected = (*(len(edges) for edges in self.edges), len(self.kinds))
        if self.table.shape != expected:
            raise InputError(f"the table of a survey must be of shape {expected}, but is of {self.table.shape}.")

    @classmethod
    def of_blocks(cls, edges: Sequence[ArrayLike], kinds: Sequence[str], blocks: Array) -> Survey:
        """Return the survey made from the points of each kind in each block, (x blocks, y blocks, z blocks, kinds)."""
        x, y, z = (np.asarray(e, dtype=np.int64) for e in edges)
        table = np.zeros((len(x), len(y), len(z), len(kinds)))
        table[1:, 1:, 1:] = blocks
        return cls.of_padded((x, y, z), kinds, table)

    @classmethod
    def of_padded(cls, edges: Edges, kinds: Sequence[str], table: Array) -> Survey:
        """Return the survey made from a table of blocks, padded to (x edges, y edges, z edges, kinds).

        Entry (i, j, k) holds the points of the block below corner (i, j, k), and 0 where there is none. The array is
        overwritten and becomes the survey's table.
        """
        for axis in range(3):
            np.cumsum(table, axis=axis, out=table)
        return cls(edges, tuple(kinds), table)

    @property
    def shape(self) -> tuple[int, int, int]:
        """Grid points of the cell along x, y, z."""
        x, y, z = (int(e[-1]) for e in self.edges)
        return x, y, z

    @cached_property
    def totals(self) -> dict[str, float]:
        """Points of each kind in the whole cell."""
        return dict(zip(self.kinds, self.table[-1, -1, -1].tolist(), strict=True))

    def counts(self, low: ArrayLike, high: ArrayLike) -> Array:
        """Return the points of each kind (n, kinds) in boxes from `low` up to, not including, `high`, both (n, 3)."""
        low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
        result = np.zeros((len(low), len(self.kinds)))
        kernel = _compiled()
        if kernel is not None:
            strides = np.array(self.table.strides[:3]) // self.table.itemsize
            kernel(self.table.reshape(-1), strides, low, high, *self._places, result)
        else:
            for start in range(0, len(low), BATCH):
                part = slice(start, start + BATCH)
                self._add_corners(low[part], high[part], result[part])
        # Rounding residues of corners that cancel would look like a few points of a kind, so they become 0.
        result[np.abs(result) < self._noise] = 0
        return result

    @cached_property
    def _noise(self) -> Array:
        """Upper bound of the rounding error of a sum over 64 corners in double precision, (kinds,)."""
        return np.asarray(64 * np.finfo(np.float64).eps * np.abs(self.table[-1, -1, -1]))

    def _add_corners(self, low: Ints, high: Ints, result: Array) -> None:
        """Add the counts of boxes (n, 3) to `result` (n, kinds), corner by corner."""
        weights = [self._along(axis, low[:, axis], high[:, axis]) for axis in range(3)]
        nx, ny, nz, kinds = self.table.shape
        flat = self.table.reshape(nx * ny * nz, kinds)
        rows = np.empty_like(result)
        for (i, a), (j, b) in itertools.product(*weights[:2]):
            across, start = a * b, (i * ny + j) * nz
            for k, c in weights[2]:
                np.take(flat, start + k, axis=0, out=rows, mode="clip")
                rows *= (across * c)[:, None]
                result += rows

    def _along(self, axis: int, low: Ints, high: Ints) -> list[tuple[Ints, Array]]:
        """Return indices into the table along an axis and their weights: their sum is what lies from low to high."""
        blocks, shares, starts = self._places
        found = []
        for at, sign in ((low, -1.0), (high, 1.0)):
            block, share = blocks[starts[axis] + at], shares[starts[axis] + at]
            found.append((block, sign * (1 - share)))
            if share.any():
                found.append((block + 1, sign * share))
        return found

    @cached_property
    def _places(self) -> tuple[Ints, Array, Ints]:
        """Block of each grid index, the share of the block below it, and the first entry of each axis in these two.

        The first two arrays hold the indices along x, then y, then z.
        """
        blocks, shares = [], []
        for edges in self.edges:
            widths = np.diff(edges)
            block = np.append(np.repeat(np.arange(len(widths)), widths), len(widths))
            blocks.append(block)
            shares.append((np.arange(edges[-1] + 1) - edges[block]) / np.append(widths, 1)[block])
        starts = np.cumsum([0, *(len(block) for block in blocks[:2])])
        return np.concatenate(blocks), np.concatenate(shares), starts


def _compiled() -> Callable[..., None] | None:
    """Return the compiled sum, or None if numba is not installed."""
    try:
        from evenly.decomposition.cells.survey_kernel import add_corners
    except ImportError:
        return None
    return cast("Callable[..., None]", add_corners)
