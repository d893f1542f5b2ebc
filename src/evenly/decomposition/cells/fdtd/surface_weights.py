"""Surfaces of a structure's objects on its grid, and the weights by which a coarse lattice chooses its edges."""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

if TYPE_CHECKING:
    from evenly.fdtd.media.solids import GeometricObject
    from evenly.fdtd.media.structure import Structure

__all__ = ["Surfaces", "edge_weights", "first_above"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Weight of an index without a face within the bounds of a curved object.
EVEN = 1e-9
#: Weight of a layer's border.
BORDER = 1e9


@dataclass(frozen=True)
class Surfaces:
    """Bounds and shapes of objects, by object, axis and side.

    Attributes
    ----------
    at : (objects, 3, 2)
        Lower and upper bound as grid indices with fractions; they lie outside the cell where the object does.
    flat : (objects, 3) of bool
        Whether the faces across an axis are flat.
    slanted : (objects, 3) of bool
        Whether faces towards an axis may be at an angle to the grid.
    whole : (objects,) of bool
        Whether an object fills its bounding box.
    """

    at: Array
    flat: NDArray[np.bool_]
    slanted: NDArray[np.bool_]
    whole: NDArray[np.bool_]

    @classmethod
    def of(cls, structure: Structure) -> Surfaces:
        """Return the surfaces of a structure's objects, the background first."""
        grid = structure.grid
        low, high = (np.array([thing.bounds()[side] for thing in structure.objects]) for side in (0, 1))
        at = (np.stack([low, high], axis=2) - np.array(grid.origin)[:, None]) * grid.resolution
        # Remove the round-off of faces that are meant to lie on a point or halfway between two.
        near = np.round(2 * at) / 2
        at = np.where(np.abs(at - near) < 1e-7, near, at)
        flat = np.array([_flat_axes(thing) for thing in structure.objects])
        slanted = np.array([[thing.slanted] * 3 for thing in structure.objects]) & ~flat
        whole = np.array([_fills_bounds(thing) for thing in structure.objects])
        return cls(at, flat, slanted, whole)


def first_above(at: Array, side: int) -> Ints:
    """Return the first grid index whose middle lies above each face, (n,); a middle on a face lies in the object.

    Parameters
    ----------
    at : (n,)
        Positions of the faces as grid indices with fractions.
    side : int
        0 for low sides, 1 for high sides.

    Examples
    --------
    >>> at = np.array([3.0, 3.5, 3.6])
    >>> first_above(at, 0).tolist(), first_above(at, 1).tolist()
    ([3, 3, 4], [3, 4, 4])
    """
    at = np.clip(at, -1e15, 1e15) - 0.5
    return (np.floor(at) + 1 if side else np.ceil(at)).astype(np.int64)


def edge_weights(structure: Structure, surfaces: Surfaces, axis: int) -> Array:
    """Return the weight of each grid index along an axis, (points + 1,), for `chosen_edges`.

    A flat face has its share of the cell's cross-section as its weight. An index of weight 0 isn't needed as an edge.
    """
    n = structure.grid.shape[axis]
    weights = np.zeros(n + 1)
    spans = [_inside(surfaces.at[:, a], structure.grid.shape[a]) for a in range(3)]
    present = np.all([high > low for low, high in spans], axis=0)
    area = np.prod([(high - low) / structure.grid.shape[a] for a, (low, high) in enumerate(spans) if a != axis], axis=0)
    for side in (0, 1):
        at = surfaces.at[:, axis, side]
        index = first_above(at, side)
        for k in np.flatnonzero(present & surfaces.flat[:, axis] & (at > -1) & (at < n + 1)):
            # The planes of points next to the face differ from those in the medium, so they get weights too.
            for away, share in ((0, 1.0), (1, 0.5), (-1, 0.25 * (at[k] % 1 >= 0.5))):
                if 0 < index[k] + away < n:
                    weights[index[k] + away] += share * area[k]
    low, high = spans[axis]
    custom = np.array([one is not None for one in structure.palettes[0].custom])[structure.palettes[0].medium]
    for k in np.flatnonzero(present & (~surfaces.flat[:, axis] | custom)):
        weights[int(low[k]) : int(np.ceil(high[k])) + 1] += EVEN
    for borders in (structure.layers.pml[axis], structure.layers.absorber[axis]):
        weights[[borders[0], n - borders[1]]] += BORDER
    kept = structure.layers.kept
    weights[[0, kept.lo[axis], kept.hi[axis], n]] = BORDER
    return weights


def _inside(at: Array, n: int) -> tuple[Array, Array]:
    return np.clip(at[:, 0], 0, n), np.clip(at[:, 1], 0, n)


def _fills_bounds(thing: GeometricObject) -> bool:
    from evenly.fdtd.media.solids import Block

    return isinstance(thing, Block) and not thing.slanted


def _flat_axes(thing: GeometricObject) -> list[bool]:
    from evenly.fdtd.media.prism import Prism
    from evenly.fdtd.media.solids import Block, Cylinder

    if isinstance(thing, Block):
        return [any(np.flatnonzero(direction).tolist() == [axis] for direction in thing.axes) for axis in range(3)]
    if isinstance(thing, Cylinder):
        return [np.flatnonzero(thing.axis).tolist() == [axis] for axis in range(3)]
    if isinstance(thing, Prism):
        return [axis == int(thing.axis) or not thing.slanted for axis in range(3)]
    return [False] * 3
