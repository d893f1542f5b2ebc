"""Finds the medium at each point of a lattice, and the interfaces: objects are painted in order over each other."""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.box import Box, Index
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.fractions import Mixture, mixtures
from evenly.fdtd.media.palette import Palette
from evenly.fdtd.media.solids import GeometricObject

__all__ = ["Lattice", "covered", "paint"]

Array = NDArray[np.float64]
Ints = NDArray[np.intp]
# Points nearer to a face than this (in grid spacings) count as on it, because coordinates carry round-off.
ON_FACE = 1e-9


@dataclass(frozen=True)
class Lattice:
    """The points of one component in a box, with the object at each point and the mixtures at interfaces.

    Attributes
    ----------
    shape : tuple of three ints
        Points along x, y, z.
    along : three arrays
        Coordinates of the points along each axis.
    medium : array of int (shape)
        Row of the palette's tables at each point.
    sole : int or None
        That row, if all points lie in one object and no interface is near.
    where : (n,)
        Flat indices of the points whose boxes may hold an interface.
    points : (n, 3)
        Coordinates of these points.
    mixtures : list of Mixture
        The contents of those boxes that hold several media.
    """

    shape: Index
    along: tuple[Array, Array, Array]
    medium: Ints
    sole: int | None = None
    where: Ints = field(default_factory=lambda: np.zeros(0, dtype=np.intp))
    points: Array = field(default_factory=lambda: np.zeros((0, 3)))
    mixtures: list[Mixture] = field(default_factory=list)


def covered(grid: Grid, objects: Sequence[GeometricObject], name: str, box: Box) -> bool:
    """Return whether an object whose surface may be slanted is within one grid spacing of the box."""
    half = grid.dx
    for thing in objects[1:]:
        if thing.slanted:
            lo, hi = thing.bounds()
            ends = [grid.coordinates(name, a, box.lo[a], box.hi[a])[[0, -1]] for a in range(3)]
            if all(e[0] - half <= h and e[1] + half >= low for e, low, h in zip(ends, lo, hi, strict=True)):
                return True
    return False


def paint(
    grid: Grid,
    layers: Layers,
    objects: Sequence[GeometricObject],
    name: str,
    box: Box,
    tables: Palette,
    *,
    subpixel: bool,
    width: int = 1,
) -> Lattice:
    """Return the object at each point of component `name` in `box`, and the mixtures at interfaces.

    Parameters
    ----------
    grid, layers
        The cell; positions beyond a periodic side are moved to the opposite side.
    objects : sequence
        In the order of painting; the first fills the cell.
    name : str
        A component, "node" or "centre".
    box : Box
        The points.
    tables : Palette
        The objects' media.
    subpixel : bool
        Whether to look for interfaces.
    width : int
        Edge length of the boxes around the points, in grid spacings.
    """
    along = _coordinates(grid, layers, name, box)
    # Half the edge lengths of the box around a grid point.
    hx, hy, hz = (0.0 if thin else width * grid.dx / 2 for thin in grid.thin)
    reach = math.sqrt(hx * hx + hy * hy + hz * hz) if subpixel else 0.0
    shape = box.shape
    owner = np.zeros(shape, dtype=np.int16)
    near = np.zeros(shape, dtype=bool) if subpixel else None
    touched = False
    for k, thing in enumerate(objects[1:], 1):
        part = _inside_bounds(thing, along, reach + ON_FACE * grid.dx)
        if part is None:
            continue
        touched = True
        x, y, z = (c[s] for c, s in zip(along, part, strict=True))
        distance = np.broadcast_to(
            thing.distance(x[:, None, None], y[:, None], z), tuple(s.stop - s.start for s in part)
        )
        owner[part][distance <= ON_FACE * grid.dx] = k
        if near is not None:
            close = near[part]
            close &= distance >= -reach
            close |= np.abs(distance) < reach
    if not touched or (owner.size and (near is None or not near.any()) and owner.min() == owner.max()):
        sole = int(tables.medium[owner.flat[0] if owner.size else 0])
        return Lattice(shape, along, np.broadcast_to(np.intp(sole), shape), sole)
    medium = tables.medium[owner]
    if near is None:
        return Lattice(shape, along, medium)
    where = np.flatnonzero(near)
    index = np.unravel_index(where, shape)
    points = np.stack([c[i] for c, i in zip(along, index, strict=True)], axis=1)
    found = list(mixtures(objects, tables.medium, tables.label, points, (hx, hy, hz)))
    return Lattice(shape, along, medium, None, where, points, found)


def _coordinates(grid: Grid, layers: Layers, name: str, box: Box) -> tuple[Array, Array, Array]:
    along = []
    for axis in range(3):
        start, stop = box.lo[axis], box.hi[axis]
        if layers.kinds[axis] == "periodic" and not grid.thin[axis]:
            n = grid.shape[axis]
            whole = grid.coordinates(name, axis, 0, n)
            along.append(whole[np.arange(start, stop) % n])
        else:
            along.append(grid.coordinates(name, axis, start, stop))
    return along[0], along[1], along[2]


def _inside_bounds(thing: GeometricObject, along: Sequence[Array], reach: float) -> tuple[slice, slice, slice] | None:
    """Return the part of the lattice that lies within `reach` of the object's bounds; None if it is empty."""
    parts = []
    for low, high, c in zip(*thing.bounds(), along, strict=True):
        hit = np.flatnonzero((c >= low - reach) & (c <= high + reach))
        if not hit.size:
            return None
        parts.append(slice(int(hit[0]), int(hit[-1]) + 1))
    return parts[0], parts[1], parts[2]
