"""Cuts boxes of grid points: absorbing layers become separate chunks, and threads get parts of equal size.

>>> from evenly.fdtd.cell.box import AXES, Box
>>> [part.shape for part in divide(Box((0, 0, 0), (10, 4, 4)), 3)]
[(3, 4, 4), (4, 4, 4), (3, 4, 4)]
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from typing import Any, Protocol

from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import Grid

__all__ = ["ChunkBox", "HasLayers", "divide", "equal_parts", "layer_pieces", "split_for_threads"]

Depths = Sequence[Sequence[int]]
Flags = tuple[bool, bool, bool]


class HasLayers(Protocol):
    """Thickness of the absorbing layers in points, (low, high) along x, y, z."""

    @property
    def pml(self) -> Depths: ...

    @property
    def absorber(self) -> Depths: ...


@dataclass(frozen=True)
class ChunkBox:
    """A box of grid points that one rank steps as a whole.

    Parameters
    ----------
    box : Box
        The points.
    owner : int
        The rank that steps them.
    leaf : int
        Number of the partition's leaf that the points belong to, depth first.
    pml, absorber : three bools
        Per axis x, y, z: whether all points lie in a perfectly matched layer (absorber). If False, no point does.

    Examples
    --------
    >>> sum(ChunkBox(Box((0, 0, 0), (5, 5, 20)), owner=0, leaf=0, pml=(True, True, False)).pml)
    2
    """

    box: Box
    owner: int
    leaf: int
    pml: Flags = (False, False, False)
    absorber: Flags = (False, False, False)


def layer_pieces(box: Box, grid: Grid, layers: HasLayers | None, *, owner: int, leaf: int) -> list[ChunkBox]:
    """Return `box` cut into parts that each lie wholly inside or wholly outside every absorbing layer.

    Parameters
    ----------
    box : Box
        Points of one leaf of a partition.
    grid : Grid
        The cell.
    layers : optional
        Thickness of the layers in points; without it there are no layers.
    owner, leaf : int
        Passed on to every piece.

    Raises
    ------
    InputError
        If two layers together are thicker than the cell.

    Examples
    --------
    >>> from evenly.fdtd.cell.boundaries import PML, resolve
    >>> cell = Grid((4.0, 4.0, 4.0), 10)
    >>> pieces = layer_pieces(cell.box, cell, resolve([PML(1.0)], cell), owner=0, leaf=0)
    >>> [sum(sum(piece.pml) == n for piece in pieces) for n in range(4)]
    [1, 6, 12, 8]
    """
    if layers is None:
        return [ChunkBox(box, owner, leaf)]
    pieces = []
    for x, y, z in itertools.product(*(_intervals(box, axis, grid, layers) for axis in range(3))):
        part = Box((x[0], y[0], z[0]), (x[1], y[1], z[1]))
        pieces.append(ChunkBox(part, owner, leaf, (x[2], y[2], z[2]), (x[3], y[3], z[3])))
    return pieces


def _intervals(box: Box, axis: int, grid: Grid, layers: HasLayers) -> list[tuple[int, int, bool, bool]]:
    """Return the intervals of one axis of `box`: start, stop, and whether they are in a PML and in an absorber."""
    lo, hi, n = box.lo[axis], box.hi[axis], grid.shape[axis]
    inner = []
    for low, high in (layers.pml[axis], layers.absorber[axis]):
        if min(low, high) < 0 or low + high > n:
            raise InputError(
                f"The layers along {AXES[axis]} must fit into the cell, but {low} and {high} points are more than {n}: "
                "make them thinner or the cell larger."
            )
        inner.append((low, n - high))
    edges = sorted({lo, hi} | {edge for ends in inner for edge in ends if lo < edge < hi})
    found = []
    for a, b in itertools.pairwise(edges):
        pml, absorber = (b <= low or a >= high for low, high in inner)
        found.append((a, b, pml, absorber))
    return found


def divide(box: Box, parts: int) -> list[Box]:
    """Return `box` cut into `parts` slabs along its longest axis; their thicknesses differ by at most one layer.

    If that axis has fewer points than `parts`, there is one slab per point.

    Raises
    ------
    InputError
        If `parts` is less than 1.

    Examples
    --------
    >>> len(divide(Box((0, 0, 0), (2, 2, 1)), 8))
    2
    """
    if parts < 1:
        raise InputError(f"`parts` must be at least 1, but got {parts}.")
    if box.empty:
        return []
    axis = box.shape.index(max(box.shape))
    start, points = box.lo[axis], box.shape[axis]
    parts = min(parts, points)
    edges = [start + (points * k + parts // 2) // parts for k in range(parts + 1)]
    return [box.replace(axis, a, b) for a, b in itertools.pairwise(edges)]


def split_for_threads(chunks: Iterable[ChunkBox], threads: int) -> list[ChunkBox]:
    """Return the chunks cut further, so that each holds at most about 1/`threads` of its owner's points.

    A chunk that is larger is cut across its longest axis. Its parts keep its owner, leaf and layers.

    Raises
    ------
    InputError
        If `threads` is less than 1.

    Examples
    --------
    >>> whole = [ChunkBox(Box((0, 0, 0), (100, 10, 10)), owner=0, leaf=0)]
    >>> [chunk.box.shape for chunk in split_for_threads(whole, 2)]
    [(50, 10, 10), (50, 10, 10)]
    """
    if threads < 1:
        raise InputError(f"`threads` must be at least 1, but got {threads}.")
    chunks = list(chunks)
    points: dict[int, int] = {}
    for chunk in chunks:
        points[chunk.owner] = points.get(chunk.owner, 0) + chunk.box.volume
    return list(_divided(chunks, points, threads))


def _divided(chunks: list[ChunkBox], points: dict[int, int], threads: int) -> Iterator[ChunkBox]:
    for chunk in chunks:
        parts = max(1, math.ceil(chunk.box.volume * threads / max(1, points[chunk.owner])))
        yield from (replace(chunk, box=box) for box in divide(chunk.box, parts))


def equal_parts(grid: Grid, box: Box, n: int, owners: Iterator[int]) -> Any:
    """Return nested lists that cut `box` into `n` chunks of equal volume; see `BinaryPartition.equal`.

    Parameters
    ----------
    grid : Grid
        The cell.
    box : Box
        A box of at least `n` points of the cell.
    n : int
        Number of chunks.
    owners : iterator of int
        Owners of the leaves, depth first.

    Examples
    --------
    >>> cell = Grid((4.0, 2.0, 0.0), 10)
    >>> equal_parts(cell, cell.box, 2, itertools.count())
    [(0, 0.0), 0, 1]
    """
    if n == 1:
        return next(owners)
    axis = box.shape.index(max(box.shape))
    parts = _parts(box, axis, n)
    return _row(grid, axis, parts, owners)


def _parts(box: Box, axis: int, n: int) -> list[tuple[Box, int]]:
    """Return `box` cut along `axis` into boxes, and the number of chunks that each is to be cut into."""
    # As many equal slabs as the largest prime factor of n, if each slab has enough points; else two parts.
    points, start, prime = box.shape[axis], box.lo[axis], _largest_prime(n)
    layer = box.volume // points
    if points >= prime and layer * (points // prime) >= n // prime:
        edges = [start + (points * k + prime // 2) // prime for k in range(prime + 1)]
        return [(box.replace(axis, a, b), n // prime) for a, b in itertools.pairwise(edges)]
    at = min(max(round(points * (n // 2) / n), 1), points - 1)
    # Neither side may get more chunks than it has points.
    first = min(max(n // 2, n - (points - at) * layer), at * layer)
    below, above = box.split(axis, start + at)
    return [(below, first), (above, n - first)]


def _row(grid: Grid, axis: int, parts: list[tuple[Box, int]], owners: Iterator[int]) -> Any:
    if len(parts) == 1:
        return equal_parts(grid, *parts[0], owners)
    middle = len(parts) // 2
    at = grid.origin[axis] + parts[middle][0].lo[axis] * grid.dx
    left = _row(grid, axis, parts[:middle], owners)
    return [(axis, at), left, _row(grid, axis, parts[middle:], owners)]


def _largest_prime(n: int) -> int:
    factor, largest = 2, 1
    while factor * factor <= n:
        while n % factor == 0:
            n, largest = n // factor, factor
        factor += 1
    return max(n, largest)
