"""Planes normal to an axis, and surfaces of boxes, with pairs of E and H components at the same points.

A plane is moved to the nearest plane of E nodes. Let a be the normal and a, b, c cyclic. When H is averaged over the
two planes half a spacing away, the tangential components E_b and H_c are at the same points, and so are E_c and H_b. So
no interpolation within the plane is needed. The sum of E x H over these pairs is the discrete Poynting vector of the
scheme. Ends of a plane between grid points get fractional weights (see `evenly.fdtd.cell.extents`).
"""

from __future__ import annotations

import itertools
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES
from evenly.fdtd.cell.extents import AxisWeights, axis_weights, check_inside, check_region, hull, merged
from evenly.fdtd.cell.grid import Grid, axis_index
from evenly.fdtd.monitors.files import Region
from evenly.memory import check_room

__all__ = ["Face", "Pairing", "faces", "pairings"]


@dataclass(frozen=True)
class Face:
    """A rectangle in a plane of E nodes.

    Parameters
    ----------
    axis : int
        Axis of the normal.
    sign : int
        +1 if the normal points in the positive direction of the axis, else -1.
    index : int
        Index of the E nodes along the normal.
    low, high : tuple of three floats
        Ends in a.
    """

    axis: int
    sign: int
    index: int
    low: tuple[float, ...]
    high: tuple[float, ...]

    @property
    def name(self) -> str:
        """The direction of the normal, such as ``"+x"``."""
        return f"{'+' if self.sign > 0 else '-'}{AXES[self.axis]}"


@dataclass(frozen=True)
class Pairing:
    """One tangential component of E and its partner of H, on one box of a face.

    Parameters
    ----------
    face : Face
    electric, magnetic : Region
        The transforms of E and of H, on the same box.
    sign : int
        Sign of this pair's product in E x H along the face's normal; it includes the normal's sign.
    weights : array of shape box.shape
        Area of each point in a² (length in 2d, 1 in 1d).
    """

    face: Face
    electric: Region
    magnetic: Region
    sign: int
    weights: NDArray[np.float64]


def faces(grid: Grid, center: Sequence[float], size: Sequence[float], direction: str | None, label: str) -> list[Face]:
    """Return the plane, or the faces of the box with outward normals, given by `center` and `size`.

    Parameters
    ----------
    grid : Grid
    center, size : sequences of up to three floats
        In a. Size 0 along exactly one axis that isn't thin gives a plane normal to it; no size 0 gives a box.
    direction : str, optional
        Normal of a plane, such as ``"x"``, ``"+x"`` or ``"-x"``.
    label : str
        Name for messages.

    Raises
    ------
    InputError
        If the region lies outside the cell, is a line or a point, or is a box thinner than a grid spacing.

    Examples
    --------
    >>> grid = Grid((2.0, 2.0, 0.0), 10)
    >>> [face.name for face in faces(grid, (0, 0), (1, 1), None, "a box")]
    ['-x', '+x', '-y', '+y']
    >>> faces(grid, (0.52, 0), (0, 1), "-x", "a plane")[0].index
    15
    """
    middle, extent = check_region(center, size, label)
    check_inside(grid, middle, extent, label)
    flat = [a for a in range(3) if extent[a] == 0 and not grid.thin[a]]
    axis = _normal(grid, flat, direction, label)
    low, high = ([m + s * e / 2 for m, e in zip(middle, extent, strict=True)] for s in (-1, 1))
    if axis is None:
        return _box_faces(grid, low, high, label)
    sign = -1 if (direction or "").startswith("-") else 1
    return [Face(axis, sign, _node(grid, axis, middle[axis]), tuple(low), tuple(high))]


def pairings(
    grid: Grid, center: Sequence[float], size: Sequence[float], direction: str | None, label: str
) -> list[Pairing]:
    """Return all pairs of tangential components on the `faces` of a plane or box, with their regions and weights.

    Examples
    --------
    >>> grid = Grid((2.0, 2.0, 2.0), 10)
    >>> [(p.electric.component, p.magnetic.component, p.sign, float(p.weights.sum().round(12)))
    ...  for p in pairings(grid, (0, 0, 0), (1, 1, 0), None, "a plane")]
    [('Ex', 'Hy', 1, 1.0), ('Ey', 'Hx', -1, 1.0)]
    """
    pairs = []
    for number, face in enumerate(faces(grid, center, size, direction, label)):
        b, c = AXES[(face.axis + 1) % 3], AXES[(face.axis + 2) % 3]
        average = None if grid.thin[face.axis] else face.axis
        for e, h, sign in ((f"E{b}", f"H{c}", face.sign), (f"E{c}", f"H{b}", -face.sign)):
            along = [_along(grid, face, e, axis) for axis in range(3)]
            for part, (x, y, z) in enumerate(itertools.product(*along)):
                box, name = hull((x, y, z)), f"{number}{face.name}"
                electric, magnetic = Region(f"{name}/{e}/{part}", e, box), Region(f"{name}/{h}/{part}", h, box, average)
                room = 24.0 * len(x.weights) * len(y.weights) * len(z.weights)
                check_room(f"{label} with {room / 24:.4g} grid points", room, "lower the resolution")
                weights = x.weights[:, None, None] * y.weights[:, None] * z.weights
                pairs.append(Pairing(face, electric, magnetic, sign, np.asarray(weights, dtype=np.float64)))
    return pairs


def _along(grid: Grid, face: Face, component: str, axis: int) -> list[AxisWeights]:
    if axis == face.axis:
        return [AxisWeights(face.index, np.ones(1))]
    step = 1.0 if grid.thin[axis] else grid.dx
    return merged(axis_weights(grid, component, axis, face.low[axis], face.high[axis]), step)


def _normal(grid: Grid, flat: list[int], direction: str | None, label: str) -> int | None:
    if direction is not None:
        axis = axis_index(direction.lstrip("+-"))
        if any(other != axis for other in flat) or (axis not in flat and not grid.thin[axis]):
            raise InputError(
                f"A plane across {AXES[axis]} must have size 0 along {AXES[axis]} and a positive size along each other "
                f"axis along which the cell extends, but {label} has size 0 along {_letters(flat)}."
            )
        return axis
    if len(flat) > 1:
        raise InputError(
            f"{label[0].upper()}{label[1:]} must be a plane (size 0 along just one axis along which the cell extends) "
            f"or a box (along none), but its size is 0 along {_letters(flat)}: give it a size there."
        )
    return flat[0] if flat else None


def _box_faces(grid: Grid, low: list[float], high: list[float], label: str) -> list[Face]:
    axes = [a for a in range(3) if not grid.thin[a]]
    ends = {a: [_node(grid, a, low[a]), _node(grid, a, high[a])] for a in axes}
    for a in axes:
        if ends[a][0] == ends[a][1]:
            raise InputError(
                f"{label[0].upper()}{label[1:]} is a box, so it must be at least one grid spacing ({grid.dx:g}) long "
                f"along {AXES[a]}, but got {high[a] - low[a]:g}; give 0 for a plane."
            )
        # The faces are moved to planes of E nodes. They only meet at the edges if they also end at these planes.
        low[a], high[a] = (grid.origin[a] + index * grid.dx for index in ends[a])
    return [Face(a, sign, ends[a][sign > 0], tuple(low), tuple(high)) for a in axes for sign in (-1, 1)]


def _node(grid: Grid, axis: int, position: float) -> int:
    # The cell's upper side is replaced by its lower side. In a periodic cell both are the same plane, and at walls
    # nothing flows through either.
    nearest = int(np.floor(grid.index(position, axis) + 0.5 + 1e-7))
    return max(0, nearest) % grid.shape[axis]


def _letters(axes: list[int]) -> str:
    return " and ".join(AXES[a] for a in axes) if axes else "no axis"
