"""Boxes of grid points: the points of a chunk, of a message or of a monitor.

A box is half open, ``lo <= index < hi`` along x, y and z, in global indices of the cell's grid.
"""

from __future__ import annotations

import math
from dataclasses import dataclass
from operator import add, sub

__all__ = ["AXES", "Box", "Index"]

Index = tuple[int, int, int]
AXES = ("x", "y", "z")


@dataclass(frozen=True, order=True)
class Box:
    """A half-open box of grid indices.

    Parameters
    ----------
    lo, hi : tuple of three ints
        First index and one past the last along x, y, z.

    Examples
    --------
    >>> box = Box((0, 0, 0), (4, 3, 2))
    >>> box.shape, box.volume
    ((4, 3, 2), 24)
    >>> box & Box((2, 0, 0), (9, 9, 1))
    Box(lo=(2, 0, 0), hi=(4, 3, 1))
    """

    lo: Index
    hi: Index

    @property
    def shape(self) -> Index:
        """Points along x, y, z; never negative."""
        x, y, z = (max(0, b - a) for a, b in zip(self.lo, self.hi, strict=True))
        return x, y, z

    @property
    def volume(self) -> int:
        """Number of points."""
        return math.prod(self.shape)

    @property
    def empty(self) -> bool:
        """Whether the box holds no point."""
        return self.volume == 0

    def __and__(self, other: Box) -> Box:
        """Return the intersection; it may be empty."""
        (a, b, c), (d, e, f) = map(max, self.lo, other.lo), map(min, self.hi, other.hi)
        return Box((a, b, c), (d, e, f))

    def __contains__(self, index: Index) -> bool:
        return all(a <= i < b for a, i, b in zip(self.lo, index, self.hi, strict=True))

    def covers(self, other: Box) -> bool:
        """Whether every point of `other` is in this box."""
        return other.empty or (self & other) == other

    def shift(self, by: Index) -> Box:
        """Return the box moved by `by` points."""
        (a, b, c), (d, e, f) = map(add, self.lo, by), map(add, self.hi, by)
        return Box((a, b, c), (d, e, f))

    def grow(self, by: int | Index) -> Box:
        """Return the box with `by` more points on both sides of each axis."""
        more = (by, by, by) if isinstance(by, int) else by
        (a, b, c), (d, e, f) = map(sub, self.lo, more), map(add, self.hi, more)
        return Box((a, b, c), (d, e, f))

    def replace(self, axis: int, lo: int, hi: int) -> Box:
        """Return the box with another range along one axis (0, 1 or 2).

        Examples
        --------
        >>> Box((0, 0, 0), (4, 4, 4)).replace(1, 2, 3)
        Box(lo=(0, 2, 0), hi=(4, 3, 4))
        """
        low, high = list(self.lo), list(self.hi)
        low[axis], high[axis] = lo, hi
        return Box((low[0], low[1], low[2]), (high[0], high[1], high[2]))

    def split(self, axis: int, at: int) -> tuple[Box, Box]:
        """Return the parts with indices < `at` and >= `at` along `axis`; one of them may be empty."""
        at = min(max(at, self.lo[axis]), self.hi[axis])
        return self.replace(axis, self.lo[axis], at), self.replace(axis, at, self.hi[axis])

    def slabs(self, axis: int, points: int) -> list[Box]:
        """Return slabs normal to `axis` with at most `points` points each, but at least one layer each."""
        layer = max(1, self.volume // max(1, self.shape[axis]))
        step = max(1, points // layer)
        starts = range(self.lo[axis], self.hi[axis], step)
        return [self.replace(axis, a, min(a + step, self.hi[axis])) for a in starts]

    def without(self, other: Box) -> list[Box]:
        """Return disjoint boxes that cover this box except `other`.

        Examples
        --------
        >>> sum(part.volume for part in Box((0, 0, 0), (3, 3, 3)).without(Box((1, 1, 1), (2, 2, 2))))
        26
        """
        inner = self & other
        if inner.empty:
            return [] if self.empty else [self]
        rest, parts = self, []
        for axis in range(3):
            below, rest = rest.split(axis, inner.lo[axis])
            rest, above = rest.split(axis, inner.hi[axis])
            parts += [part for part in (below, above) if not part.empty]
        return parts

    def slices(self, origin: Index) -> tuple[slice, slice, slice]:
        """Return slices of this box in an array whose first element is at global index `origin`."""
        x, y, z = (slice(a - o, b - o) for a, b, o in zip(self.lo, self.hi, origin, strict=True))
        return x, y, z
