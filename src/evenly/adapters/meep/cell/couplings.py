"""Pairs of axes that the permittivity couples, and where. Meep allocates a pair in each chunk where it occurs.

Subpixel averaging at slanted interfaces couples axes, as an anisotropic medium does. The side of a rod along z couples
only x and y, a sphere couples all three pairs.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.cell.varying_materials import is_averaged
from evenly.decomposition.cells.fdtd.lattice import Painter
from evenly.decomposition.cells.survey import Survey
from evenly.fdtd.cell.box import Box
from evenly.fdtd.media.solids import GeometricObject
from evenly.fdtd.media.structure import Structure

__all__ = ["KINDS", "coarser", "has_leaning_surfaces", "with_couplings"]

Array = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Kinds of a survey, in the order in which a `Structure` keeps the elements: yz, zx, xy.
KINDS = ("off-diagonal yz", "off-diagonal xz", "off-diagonal xy")
_FOUND_IN = "electric_anisotropic"
_SLAB = 250_000
#: Number of points of the coarser grid on which a large cell is sampled.
COARSE = 200_000
# At the rims of faces, evenly couples axes that Meep doesn't couple. A pair at so few points is such a case.
_RIMS = 0.2
# The step in grid spacings for slopes of distances; at edges, slopes ahead and behind differ by more than the second.
_STEP, _KINK = 1e-4, 1e-2
_LEVEL = 1e-6


def with_couplings(survey: Survey, structure: Structure, coarse: Callable[[], Structure] | None = None) -> Survey:
    """Return a survey with the points at which each pair of axes is coupled.

    Parameters
    ----------
    survey : Survey
        The survey of `structure`.
    structure : Structure
        It is sampled where the survey has anisotropic points, unless `coarse` is given.
    coarse : callable, optional
        A function that returns the structure on a coarser grid. This grid determines the pairs of the whole cell.
    """
    if _FOUND_IN not in survey.kinds:
        return survey
    blocks = _blocks(survey)
    if coarse is not None:
        rough = coarse()
        pairs = [bool(mask.any()) for mask in _without_rims(_masks(rough, rough.grid.box))]
        column = blocks[..., survey.kinds.index(_FOUND_IN)]
        # The survey has the number of anisotropic points of each block. The coarse grid has the pairs that occur.
        counts = [column * pair for pair in pairs]
    else:
        box = _reach(survey, blocks)
        counts = [_summed(mask, box, survey) for mask in _without_rims(_masks(structure, box))]
    kept = [n for n, count in enumerate(counts) if count.any()]
    if not kept:
        return survey
    table = np.concatenate([blocks, np.stack([counts[n] for n in kept], axis=-1)], axis=-1)
    return Survey.of_blocks(survey.edges, (*survey.kinds, *(KINDS[n] for n in kept)), table)


def coarser(resolution: float, points: int, dimensions: int) -> float:
    """Return the resolution at which a cell with `points` points has only `COARSE` points.

    Examples
    --------
    >>> round(coarser(40.0, 8 * COARSE, 3), 6)
    20.0
    """
    return resolution * float(min(1.0, COARSE / points) ** (1 / dimensions))


def has_leaning_surfaces(structure: Structure) -> bool:
    """Return whether Meep averages media of a plane at a surface that leans: neither upright nor along the plane.

    The surface between two objects is that of the one in front.
    """
    grid, objects = structure.grid, structure.objects
    if not structure.subpixel:
        return False
    x, y, z = (grid.coordinates("node", axis, 0, grid.shape[axis]) for axis in range(3))
    none_whole = np.zeros(len(objects), dtype=bool)
    owners = Painter(structure, (x, y, z), none_whole).owners(0, len(x))[..., 0]
    medium, averaged = structure.palettes[0].medium, np.array([is_averaged(thing) for thing in objects])
    for low, high in ((owners[:-1], owners[1:]), (owners[:, :-1], owners[:, 1:])):
        at = np.nonzero((medium[low] != medium[high]) & averaged[low] & averaged[high])
        front = np.maximum(low[at], high[at])
        if any(_leans(objects[k], x[at[0][front == k]], y[at[1][front == k]], grid.dx) for k in np.unique(front)):
            return True
    return False


def _leans(thing: GeometricObject, x: Array, y: Array, dx: float) -> bool:
    """Return whether the surface of a solid leans near any of some points of the plane z = 0."""
    places, step = (x, y, np.zeros(len(x))), _STEP * dx
    here, slopes, smooth = thing.distance(*places), [], np.ones(len(x), dtype=bool)
    for axis in range(3):
        before, after = (
            thing.distance(*(v + way * step * (a == axis) for a, v in enumerate(places))) for way in (-1, 1)
        )
        smooth &= np.abs(after + before - 2 * here) < _KINK * step
        slopes.append((after - before) / (2 * step))
    return bool(np.any(smooth & (np.abs(slopes[2]) > _LEVEL) & (np.hypot(*slopes[:2]) > _LEVEL)))


def _blocks(survey: Survey) -> NDArray[np.float64]:
    table = survey.table
    for axis in range(3):
        table = np.diff(table, axis=axis)
    return table


def _reach(survey: Survey, blocks: NDArray[np.float64]) -> Box:
    """Return the box outside which no axes are coupled."""
    there = blocks[..., survey.kinds.index(_FOUND_IN)] > 0
    ends = []
    for axis in range(3):
        found = np.flatnonzero(there.any(axis=tuple(a for a in range(3) if a != axis)))
        ends.append((int(survey.edges[axis][found[0]]), int(survey.edges[axis][found[-1] + 1])))
    (a, d), (b, e), (c, f) = ends
    return Box((a, b, c), (d, e, f))


def _masks(structure: Structure, box: Box) -> list[Flags]:
    """Return for each pair the points of a box at whose node the pair is coupled."""
    found = [np.zeros(box.shape, dtype=bool) for _ in KINDS]
    longest = max(range(3), key=lambda axis: box.shape[axis])
    own = tuple(slice(None) if thin else slice(None, -1) for thin in structure.grid.thin)
    for slab in box.slabs(longest, _SLAB):
        elements = structure.sample(slab).electric.off_diagonal
        if elements is not None:
            where = slab.slices(box.lo)
            for mask, values in zip(found, elements, strict=True):
                mask[where] = np.abs(values[own]) > 1e-9
    return found


def _without_rims(masks: list[Flags]) -> list[Flags]:
    most = max(int(np.count_nonzero(mask)) for mask in masks)
    return [mask if np.count_nonzero(mask) > _RIMS * most else np.zeros_like(mask) for mask in masks]


def _summed(mask: Flags, box: Box, survey: Survey) -> NDArray[np.float64]:
    """Return the number of marked points in each block of the survey."""
    full = np.zeros([len(e) - 1 for e in survey.edges])
    if not mask.any():
        return full
    counts = mask.astype(np.float64)
    where = []
    for axis in range(3):
        edges = survey.edges[axis]
        first, last = np.searchsorted(edges, (box.lo[axis], box.hi[axis]))
        counts = np.add.reduceat(counts, edges[first:last] - box.lo[axis], axis=axis)
        where.append(slice(int(first), int(last)))
    full[tuple(where)] = counts
    return full
