"""Pieces: boxes of a cell, split at the borders of absorbing layers as the program steps them, with their contents.

All functions work on many boxes at once.
"""

from __future__ import annotations

import itertools
from dataclasses import dataclass
from functools import cached_property

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.decomposition.cells.cell import Cell

__all__ = ["Pieces", "outer_faces", "pieces_of"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
Flags = NDArray[np.bool_]


@dataclass(frozen=True)
class Pieces:
    """Chunks of a cell, made by splitting boxes at the borders of layers.

    Parameters
    ----------
    cell : Cell
    low, high : (n, 3)
        First grid index and one past the last along x, y, z.
    box : (n,)
        Index of the original box of each piece.
    pml, absorber : (n, 3) of bool
        Whether the piece lies in a layer along x, y, z; always false for layers without separate chunks
        (`Cell.layers_apart`).
    """

    cell: Cell
    low: Ints
    high: Ints
    box: Ints
    pml: Flags
    absorber: Flags

    @property
    def shape(self) -> Ints:
        """Points along x, y, z, (n, 3)."""
        return self.high - self.low

    @cached_property
    def volume(self) -> Array:
        """Points of each piece, (n,)."""
        return np.asarray(np.prod(self.shape, axis=1), dtype=np.float64)

    @cached_property
    def counts(self) -> Array:
        """Points of each of the survey's kinds, (n, kinds)."""
        return self.cell.survey.counts(self.low, self.high)

    def count(self, kind: str) -> Array:
        """Return the points (n,) of one kind; zeros where the cell has none."""
        return self.cell.column(self.counts, kind)

    @cached_property
    def faces(self) -> Array:
        """Number of faces of points that each piece shares with the rest of the cell, (n,)."""
        return outer_faces(self.cell, self.low, self.high)

    @cached_property
    def transforms(self) -> tuple[Array, Array]:
        """Values that are Fourier transformed per step, and the sum of these values times frequencies, each (n,)."""
        values = np.zeros(len(self.low))
        products = np.zeros(len(self.low))
        for transform in self.cell.transforms:
            across = np.minimum(self.high, transform.high) - np.maximum(self.low, transform.low)
            inside = np.prod(np.maximum(across, 0), axis=1) * transform.values * self.cell.parts
            values += inside
            products += inside * transform.frequencies
        return values, products

    def sums(self, values: Array, boxes: int) -> Array:
        """Return the sums of values (n,) or (n, m) over the pieces of each box, (boxes,) or (boxes, m)."""
        if values.ndim == 1:
            return np.asarray(np.bincount(self.box, values, boxes), dtype=np.float64)
        return np.stack([self.sums(column, boxes) for column in values.T], axis=1)


def pieces_of(cell: Cell, low: ArrayLike, high: ArrayLike) -> Pieces:
    """Return the pieces of boxes (n, 3), split at the borders of layers for which the program makes separate chunks."""
    low, high = np.asarray(low, dtype=np.int64), np.asarray(high, dtype=np.int64)
    none = np.zeros((len(low), 3), dtype=bool)
    parts = [low, high, np.arange(len(low)), none, none]
    for axis in range(3):
        n = cell.grid.shape[axis]
        depths = [getattr(cell, kind)[axis] if kind in cell.layers_apart else (0, 0) for kind in ("pml", "absorber")]
        borders = sorted({0, n} | {at for near, far in depths for at in (near, n - far)})
        found = []
        for start, stop in itertools.pairwise(borders) if any(map(any, depths)) else ():
            # The part of each box that lies between two borders of layers.
            in_pml, in_absorber = (stop <= near or start >= n - far for near, far in depths)
            there = np.flatnonzero((parts[0][:, axis] < stop) & (parts[1][:, axis] > start))
            low, high, box, pml, absorber = (column[there] for column in parts)
            np.maximum(low[:, axis], start, out=low[:, axis])
            np.minimum(high[:, axis], stop, out=high[:, axis])
            pml[:, axis], absorber[:, axis] = in_pml, in_absorber
            found.append((low, high, box, pml, absorber))
        parts = [np.concatenate(columns) for columns in zip(*found, strict=True)] if found else parts
    return Pieces(cell, *parts)


def outer_faces(cell: Cell, low: Ints, high: Ints) -> Array:
    """Return the number of faces of points that boxes (n, 3) share with the rest of the cell, (n,).

    Faces over periodic sides count too.
    """
    shape = high - low
    volume = np.prod(shape, axis=1)
    faces = np.zeros(len(low))
    for axis in range(3):
        if cell.grid.thin[axis]:
            continue
        n = cell.grid.shape[axis]
        joined = (shape[:, axis] < n) if cell.periodic[axis] else np.zeros(len(low), dtype=bool)
        sides = ((low[:, axis] > 0) | joined).astype(float) + ((high[:, axis] < n) | joined)
        faces += sides * volume / np.maximum(1, shape[:, axis])
    return faces
