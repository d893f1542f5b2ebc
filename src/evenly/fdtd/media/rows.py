"""Mean length of rows of consecutive points with poles along each axis, for the choice of a chunk's memory order.

>>> from evenly.fdtd.cell.grid import Grid
>>> from evenly.fdtd.media.materials import LorentzPole, Medium
>>> from evenly.fdtd.media.solids import Block
>>> metal = Medium(electric_poles=[LorentzPole(1.0)])
>>> wires = [Block(size=(math.inf, 0.2, 0.4), center=(0, y, 0), material=metal) for y in (-0.5, 0.5)]
>>> structure = Structure(Grid((2, 2, 2), 10), wires, subpixel=False)
>>> [round(length, 1) for length in mean_rows(structure, structure.grid.box)]
[20.0, 2.6, 4.6]
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.box import Box
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.structure import Response, Structure

__all__ = ["mean_rows"]

SLAB_POINTS = 500_000
Mask = NDArray[np.bool_]


def mean_rows(structure: Structure, box: Box) -> tuple[float, float, float]:
    """Return the mean length of rows of points with poles in a box, along x, y, z; infinite if there are none.

    Each component has its own rows; different poles of a component are not distinguished.
    """
    hull = _hull(structure, box)
    values, rows = 0, [0, 0, 0]
    above: dict[tuple[str, int], Mask] = {}
    for slab in [] if hull.empty else hull.slabs(0, SLAB_POINTS):
        sample = structure.sample(slab)
        for side, response in (("E", sample.electric), ("H", sample.magnetic)):
            for component, mask in enumerate(_polarised(response, slab)):
                values += int(np.count_nonzero(mask))
                before = above.get((side, component), np.zeros_like(mask[0]))
                rows[0] += int(np.count_nonzero(mask & ~np.concatenate([before[None], mask[:-1]])))
                rows[1] += int(np.count_nonzero(mask[:, 0]) + np.count_nonzero(mask[:, 1:] & ~mask[:, :-1]))
                rows[2] += int(np.count_nonzero(mask[:, :, 0]) + np.count_nonzero(mask[:, :, 1:] & ~mask[:, :, :-1]))
                above[side, component] = mask[-1]
    x, y, z = (values / n if n else math.inf for n in rows)
    return x, y, z


def _hull(structure: Structure, box: Box) -> Box:
    """Return a box around all points of `box` that may have poles, with a margin since components are off the nodes."""
    grid = structure.grid
    low, high = list(box.hi), list(box.lo)
    for thing in structure.objects:
        if isinstance(thing.material, Medium) and (thing.material.electric_poles or thing.material.magnetic_poles):
            for axis, ends in enumerate(zip(*thing.bounds(), strict=True)):
                first, last = (box.lo[axis] - 1, box.hi[axis] + 1) if grid.thin[axis] else (
                    _index(grid.index(end, axis), box, axis) for end in ends
                )  # fmt: skip
                low[axis], high[axis] = min(low[axis], first - 1), max(high[axis], last + 2)
    return Box((low[0], low[1], low[2]), (high[0], high[1], high[2])) & box


def _index(place: float, box: Box, axis: int) -> int:
    return math.floor(min(max(place, box.lo[axis] - 2), box.hi[axis] + 2))


def _polarised(response: Response, box: Box) -> list[Mask]:
    """Return a mask for each component: where it has a pole. The list is empty if the field has no poles at all."""
    if not response.poles:
        return []
    found = [np.zeros(box.shape, dtype=bool) for _ in range(3)]
    for strengths in response.poles.values():
        for mask, strength in zip(found, strengths, strict=True):
            if strength is not None:
                mask |= np.asarray(strength) != 0
    return found
