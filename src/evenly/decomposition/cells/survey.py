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
#: Boxes that are summed at once without it, few enough for their counts to stay in cache.
BATCH = 1024


@dataclass(frozen=True)
class Survey:
    """Summed tables of a cell's points.

    Parameters
    ----------
    edges : three arrays of int
        Corners of the blocks along x, y, z in grid indices, from 0 to the points of the cell.
    kinds : tuple of str
        What is counted, named as in `evenly.fdtd.counting.counts.Counts`; poles one by one.
    table : (x edges, y edges, z edges, kinds)
        Points of each kind below each corner.

    Raises
    ------
    InputError
        If edges don't rise from 0 in whole numbers, or the table has another shape.
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
        """Return the survey of blocks that hold so many points of each kind, (x blocks, y, z, kinds)."""
        x, y, z = (np.asarray(e, dtype=np.int64) for e in edges)
        table = np.zeros((len(x), len(y), len(z), len(kinds)))
        table[1:, 1:, 1:] = blocks
        return cls.of_padded((x, y, z), kinds, table)

    @classmethod
    def of_padded(cls, edges: Edges, kinds: Sequence[str], table: Array) -> Survey:
        """Return the survey of blocks in an array with room for the corners, (x edges, y, z, kinds), which is taken.

        Entry (i, j, k) holds the points of the block below corner (i, j, k), and 0 where there is none.
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
        """Points of each kind of the whole cell."""
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
        # What is left of corners that cancel would be taken for a few points of a kind.
        result[np.abs(result) < self._noise] = 0
        return result

    @cached_property
    def _noise(self) -> Array:
        """Largest error that sums over corners may have, (kinds,): 64 corners and weights of double precision."""
        return np.asarray(64 * np.finfo(np.float64).eps * np.abs(self.table[-1, -1, -1]))

    def _add_corners(self, low: Ints, high: Ints, result: Array) -> None:
        """Add the counts of boxes, corner by corner."""
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
        """Return indices and weights into the table along an axis whose sum is what lies between low and high."""
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
        """Block that each index is in and how far, along x, y and z one after the other, and where each axis begins."""
        blocks, shares = [], []
        for edges in self.edges:
            widths = np.diff(edges)
            block = np.append(np.repeat(np.arange(len(widths)), widths), len(widths))
            blocks.append(block)
            shares.append((np.arange(edges[-1] + 1) - edges[block]) / np.append(widths, 1)[block])
        starts = np.cumsum([0, *(len(block) for block in blocks[:2])])
        return np.concatenate(blocks), np.concatenate(shares), starts


def _compiled() -> Callable[..., None] | None:
    """Return the compiled sum, or None where numba is not installed."""
    try:
        from evenly.decomposition.cells.survey_kernel import add_corners
    except ImportError:
        return None
    return cast("Callable[..., None]", add_corners)
