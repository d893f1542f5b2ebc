"""Input of the balancers: the measured working time of each rank, and the positions of the chunks.

Both are plain numbers, so that they can come from any program: `evenly.fdtd`
(`evenly.decomposition.rebalancing.simulation_interface`), Meep (`evenly.adapters.meep`), or a file.

>>> halves = [ChunkVolume((-2, -1, 0), (0, 1, 0), (20, 20, 1)), ChunkVolume((0, -1, 0), (2, 1, 0), (20, 20, 1))]
>>> Lattice.of(halves).shape
(40, 20, 1)
>>> Timings([1.0, 3.0], steps=10).imbalance
1.5
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError

__all__ = ["ChunkVolume", "Lattice", "Timings"]

Array = NDArray[np.float64]
Vector = tuple[float, float, float]
Index = tuple[int, int, int]


@dataclass(frozen=True, eq=False)
class Timings:
    """Measured working time per step of each rank.

    Parameters
    ----------
    seconds : (ranks,)
        CPU seconds per step of each rank, for its own points, transforms and borders, without waiting.
    steps : int
        Number of measured steps.
    noise : float
        Relative standard error of a rank's seconds; nan where it is not known.

    Raises
    ------
    InputError
        If times are negative or not finite, or all of them are 0.
    """

    seconds: Array
    steps: int = 1
    noise: float = math.nan

    def __init__(self, seconds: ArrayLike, steps: int = 1, noise: float = math.nan) -> None:
        values = np.atleast_1d(np.asarray(seconds, dtype=np.float64))
        if values.ndim != 1 or not (np.isfinite(values).all() and (values >= 0).all() and (values > 0).any()):
            raise InputError(
                "Timings are one time per rank, finite, at least 0 and not all 0, but got "
                f"{np.array2string(values, threshold=8)}: let the run make steps before it is balanced."
            )
        if steps < 1:
            raise InputError(f"Timings need at least 1 step, but got steps={steps!r}.")
        object.__setattr__(self, "seconds", values)
        object.__setattr__(self, "steps", int(steps))
        object.__setattr__(self, "noise", float(noise))

    @property
    def ranks(self) -> int:
        """Number of ranks."""
        return len(self.seconds)

    @property
    def imbalance(self) -> float:
        """Imbalance: seconds of the slowest rank over the mean of all ranks."""
        return float(self.seconds.max() / self.seconds.mean())

    def since(self, earlier: Timings) -> Timings:
        """Return the timings of the steps since `earlier` timings by the same clocks; their noise isn't known.

        Examples
        --------
        >>> Timings([2.0, 1.0], steps=30).since(Timings([1.0, 1.0], steps=10)).seconds
        array([2.5, 1. ])
        """
        steps = self.steps - earlier.steps
        seconds = (self.seconds * self.steps - earlier.seconds * earlier.steps) / max(1, steps)
        return Timings(np.maximum(seconds, 0.0), steps)


@dataclass(frozen=True)
class ChunkVolume:
    """Position and size of a chunk.

    Parameters
    ----------
    low, high : three floats
        Corners of the chunk, in units of a, from the centre of the cell; equal along axes without extent.
    shape : three ints
        Grid points along x, y, z.
    """

    low: Vector
    high: Vector
    shape: Index

    @property
    def points(self) -> int:
        """Grid points."""
        return math.prod(self.shape)

    @property
    def center(self) -> Vector:
        """Middle of the chunk."""
        x, y, z = ((a + b) / 2 for a, b in zip(self.low, self.high, strict=True))
        return x, y, z


@dataclass(frozen=True)
class Lattice:
    """The grid of a cell: origin, spacing and number of points, which place the cuts.

    Parameters
    ----------
    origin : three floats
        Lowest corner of the cell, in units of a.
    spacing : three floats
        Distance between grid points, in units of a; 1 along axes without extent.
    shape : three ints
        Grid points along x, y, z.
    """

    origin: Vector
    spacing: Vector
    shape: Index

    @classmethod
    def of(cls, volumes: Sequence[ChunkVolume]) -> Lattice:
        """Return the grid of a cell from all of its chunks.

        Raises
        ------
        InputError
            If there are no chunks, or they don't fill a box.
        """
        if not volumes:
            raise InputError("The volumes of the cell's chunks are needed to balance it, but got none.")
        low = np.array([v.low for v in volumes], dtype=float)
        high = np.array([v.high for v in volumes], dtype=float)
        counts = np.array([v.shape for v in volumes], dtype=np.int64)
        extent = np.sum((high - low) * counts.prod(axis=1)[:, None], axis=0)
        # All chunks have the same spacing. The mean, weighted by points, averages out the rounding of their corners.
        spacing = extent / np.sum(counts * counts.prod(axis=1)[:, None], axis=0)
        spacing = np.where(spacing > 0, spacing, 1.0)
        shape = np.maximum(1, np.rint((high.max(axis=0) - low.min(axis=0)) / spacing)).astype(np.int64)
        if counts.prod(axis=1).sum() != shape.prod():
            raise InputError(
                f"The volumes of chunks must fill the cell, but hold {counts.prod(axis=1).sum()} points of "
                f"{shape.prod()}: give those of all ranks' chunks, each once."
            )
        return cls(_three(low.min(axis=0)), _three(spacing), _index(shape))


def _three(values: Array) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _index(values: NDArray[np.int64]) -> Index:
    x, y, z = (int(v) for v in values)
    return x, y, z
