"""Meep's geometric objects as solids of evenly, with exact positions.

Objects are moved so that the centre of the cell is the origin. Distances are signed, negative inside. Where the true
distance is expensive, a bound is used: a smaller distance with the same sign. It is enough to assign points to objects.

>>> cone = Frustum(radius=1.0, tip=0.0, height=2.0)
>>> cone.contains([0.4, 0.6], 0.0, [0.0, 0.0]).tolist()
[True, False]
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.adapters.meep.grid import numbers
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Vector
from evenly.fdtd.media.solids import Block, Cylinder, GeometricObject, Sphere

__all__ = ["Ellipsoid", "Frustum", "Parallelepiped", "Tapered", "Wedge", "solid_of"]

Array = NDArray[np.float64]
FAR = 1e20


def solid_of(thing: Any, material: Any, origin: Vector) -> GeometricObject:
    """Return one of Meep's objects as a solid of evenly.

    Parameters
    ----------
    thing : meep.GeometricObject
    material : Medium
        The medium of the object.
    origin : three floats
        Middle of the cell in Meep's coordinates.

    Raises
    ------
    InputError
        If evenly doesn't know this kind of object.
    """
    kinds = [kind.__name__ for kind in type(thing).__mro__]
    for name, convert in _CONVERSIONS.items():
        if name in kinds:
            solid = convert(thing, material)
            return moved(solid, (-origin[0], -origin[1], -origin[2]))
    raise InputError(
        f"An object of the geometry is a {type(thing).__name__}, which evenly doesn't know: it knows "
        f"{', '.join(_CONVERSIONS)}."
    )


def moved(solid: GeometricObject, by: Vector) -> GeometricObject:
    """Return a copy of a solid, moved by a vector."""
    if not any(by):
        return solid
    center = tuple(c + d for c, d in zip(solid.center, by, strict=True))  # type: ignore[attr-defined]
    return replace(solid, center=center)  # type: ignore[call-arg]


@dataclass(frozen=True, kw_only=True)
class _Framed(GeometricObject):
    """A solid with a centre, three directions that aren't all in one plane, and its size along each of them."""

    size: Any
    center: Any = (0.0, 0.0, 0.0)
    axes: Any = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    @cached_property
    def _inverse(self) -> Array:
        """The matrix (3, 3) whose rows give the coordinates along the unit directions."""
        axes = np.array(self.axes, dtype=np.float64)
        return np.linalg.inv((axes / np.linalg.norm(axes, axis=1)[:, None]).T)

    def _along(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> list[Any]:
        """Return coordinates along the directions, from the centre."""
        away = _from(self.center, x, y, z)
        return [sum(w * a for w, a in zip(row, away, strict=True)) for row in self._inverse]

    def bounds(self) -> tuple[Vector, Vector]:
        # The bounds of the box from -size/2 to size/2 along the directions.
        reach = np.abs(np.linalg.inv(self._inverse) * [s / 2 for s in self.size]).sum(axis=1)
        return _around(self.center, -reach, reach)


@dataclass(frozen=True, kw_only=True)
class Parallelepiped(_Framed):
    """A block whose edges need not be at right angles."""

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        # The largest distance from the three pairs of faces. A coordinate changes by at most its row's norm per length.
        slopes = np.linalg.norm(self._inverse, axis=1)
        parts = zip(self._along(x, y, z), self.size, slopes, strict=True)
        return np.asarray(np.maximum.reduce(np.broadcast_arrays(*((np.abs(c) - s / 2) / m for c, s, m in parts))))


@dataclass(frozen=True, kw_only=True)
class Ellipsoid(_Framed):
    """The ellipsoid inscribed in a block."""

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        # |A x| - 1, where A maps to the unit sphere, over A's largest singular value: a lower bound of the distance.
        half = [max(s / 2, 1e-300) for s in self.size]
        scaled = [c / h for c, h in zip(self._along(x, y, z), half, strict=True)]
        reach = np.sqrt(sum(c * c for c in scaled))
        steepest = float(np.linalg.norm(self._inverse / np.array(half)[:, None], 2))
        return np.asarray((reach - 1) / steepest)


@dataclass(frozen=True, kw_only=True)
class _Round(GeometricObject):
    """A solid around an axis."""

    center: Any = (0.0, 0.0, 0.0)
    axis: Any = (0.0, 0.0, 1.0)
    radius: float
    height: float

    @cached_property
    def _direction(self) -> Array:
        axis = np.array(self.axis, dtype=np.float64)
        return np.asarray(axis / np.linalg.norm(axis))

    def _split(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Any, list[Any]]:
        away = _from(self.center, x, y, z)
        along: Any = sum(e * a for e, a in zip(self._direction, away, strict=True))
        return along, [a - along * e for a, e in zip(away, self._direction, strict=True)]

    @property
    def _widest(self) -> float:
        return self.radius

    def bounds(self) -> tuple[Vector, Vector]:
        across = np.sqrt(np.maximum(0.0, 1 - self._direction**2)) * self._widest
        reach = np.abs(self._direction) * self.height / 2 + across
        return _around(self.center, -reach, reach)


@dataclass(frozen=True, kw_only=True)
class Frustum(_Round):
    """A cone or a truncated cone, with `radius` at its base, and `tip` as the radius at the end of the axis."""

    tip: float = 0.0

    @property
    def _widest(self) -> float:
        return max(self.radius, self.tip)

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        along, (a, b, c) = self._split(x, y, z)
        # The distance normal to the wall, and the distance from the two ends.
        slope = (self.tip - self.radius) / self.height if self.height else 0.0
        side = np.sqrt(a * a + b * b + c * c) - (self.radius + slope * (along + self.height / 2))
        return np.asarray(np.maximum(side / math.hypot(1, slope), np.abs(along) - self.height / 2))


@dataclass(frozen=True, kw_only=True)
class Wedge(_Round):
    """A sector of a cylinder. It begins at the direction `start` and turns by an angle, right-handed about the axis."""

    start: Any
    angle: float

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        along, away = self._split(x, y, z)
        side = np.sqrt(sum(a * a for a in away)) - self.radius
        rod = np.maximum(side, np.abs(along) - self.height / 2)
        if abs(self.angle) >= 2 * math.pi:
            return np.asarray(rod)
        # The wedge is the cylinder within two half spaces: their intersection up to half a turn, else their union.
        first = np.array(self.start) - self._direction * float(np.dot(self._direction, self.start))
        first /= np.linalg.norm(first)
        second = np.cross(self._direction, first) * math.copysign(1.0, self.angle)
        u, v = (sum(e * a for e, a in zip(way, away, strict=True)) for way in (first, second))
        wide = abs(self.angle)
        before, after = -v, v * math.cos(wide) - u * math.sin(wide)
        sector = np.maximum(before, after) if wide <= math.pi else np.minimum(before, after)
        return np.asarray(np.maximum(rod, sector))


@dataclass(frozen=True, kw_only=True)
class Tapered(GeometricObject):
    """A prism whose walls lean inward by an angle.

    Parameters
    ----------
    corners : (n, 3)
        Corners of the base in order, in one plane, relative to `center`.
    axis : three floats
        The direction from the base upwards.
    height : float
    lean : float
        The angle in radians. If it is above 0, the top is smaller than the base.
    """

    center: Any = (0.0, 0.0, 0.0)
    corners: Any
    axis: Any
    height: float
    lean: float = 0.0

    @cached_property
    def _frame(self) -> tuple[Array, Array, Array]:
        """Two unit vectors in the plane of the base, and the unit vector of the axis; they are right-handed."""
        up = np.array(self.axis, dtype=np.float64)
        up /= np.linalg.norm(up)
        helper = np.eye(3)[int(np.argmin(np.abs(up)))]
        first = np.cross(helper, up)
        first /= np.linalg.norm(first)
        return first, np.cross(up, first), up

    @cached_property
    def _outline(self) -> tuple[Array, Array, float]:
        """Corners (n, 2) in the plane, counter-clockwise; outward normals of the edges; coordinate of the plane."""
        first, second, up = self._frame
        corners = np.array(self.corners, dtype=np.float64)
        flat = np.stack([corners @ first, corners @ second], axis=1)
        after = np.roll(flat, -1, axis=0)
        if (flat[:, 0] * after[:, 1] - flat[:, 1] * after[:, 0]).sum() < 0:
            flat = flat[::-1]
        along = np.roll(flat, -1, axis=0) - flat
        normals = np.stack([along[:, 1], -along[:, 0]], axis=1) / np.linalg.norm(along, axis=1)[:, None]
        return flat, normals, float(corners[0] @ up)

    @cached_property
    def _convex(self) -> bool:
        flat, normals, _ = self._outline
        return bool(np.all((flat[None] - flat[:, None]) @ normals[:, :, None] <= 1e-9 * np.abs(flat).max()))

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        away = _from(self.center, x, y, z)
        u, v, w = (sum(e * a for e, a in zip(way, away, strict=True)) for way in self._frame)
        up = w - self._outline[2]
        side = (self._from_outline(u, v) + up * math.tan(self.lean)) * math.cos(self.lean)
        return np.asarray(np.maximum(side, np.maximum(-up, up - self.height)))

    def _from_outline(self, u: Any, v: Any) -> Any:
        flat, normals, _ = self._outline
        if self._convex:
            # If it is convex: the largest distance from the lines through the edges.
            lines = [(u - a) * m + (v - b) * n for (a, b), (m, n) in zip(flat, normals, strict=True)]
            return np.maximum.reduce(lines)
        # Else: the distance from the nearest edge. It is negative inside, by the even-odd rule for a ray along u.
        square, inside = np.inf, np.zeros(np.broadcast_shapes(np.shape(u), np.shape(v)), dtype=bool)
        for (a, b), (c, d) in zip(flat, np.roll(flat, -1, axis=0), strict=True):
            du, dv = c - a, d - b
            share = np.clip(((u - a) * du + (v - b) * dv) / (du * du + dv * dv), 0.0, 1.0)
            square = np.minimum(square, (u - a - share * du) ** 2 + (v - b - share * dv) ** 2)
            if b != d:
                inside = inside ^ (((b > v) != (d > v)) & (u < a + (v - b) * (du / dv)))
        return np.where(inside, -1.0, 1.0) * np.sqrt(square)

    def bounds(self) -> tuple[Vector, Vector]:
        flat, normals, base = self._outline
        grown = max(0.0, -math.tan(self.lean)) * self.height
        # If the outline grows, each corner moves outwards by an amount that depends on its angle.
        sharp = np.sqrt(np.maximum(1e-3, (1 + (normals * np.roll(normals, 1, axis=0)).sum(axis=1)) / 2))
        reach = grown / float(sharp.min())
        first, second, up = self._frame
        floor = flat @ np.stack([first, second]) + up * base
        ends = np.concatenate([floor, floor + up * min(self.height, FAR)])
        return _around(self.center, ends.min(axis=0) - reach, ends.max(axis=0) + reach)


def _from(center: Any, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> list[Array]:
    """Return points x, y, z relative to a centre."""
    return [np.asarray(v, dtype=np.float64) - c for v, c in zip((x, y, z), center, strict=True)]


def _around(center: Any, low: Array, high: Array) -> tuple[Vector, Vector]:
    """Return the corners of a box from `low` to `high`, both relative to a centre."""
    first, last = (tuple(float(c + e) for c, e in zip(center, end, strict=True)) for end in (low, high))
    return first, last  # type: ignore[return-value]


def _sizes(thing: Any) -> Vector:
    x, y, z = (min(abs(s), FAR) for s in numbers(thing.size))
    return x, y, z


def _axes(thing: Any) -> list[Vector]:
    return [numbers(e) for e in (thing.e1, thing.e2, thing.e3)]


def _block(thing: Any, material: Any) -> GeometricObject:
    axes, center = np.array(_axes(thing)), numbers(thing.center)
    unit = axes / np.linalg.norm(axes, axis=1)[:, None]
    if np.abs(unit @ unit.T - np.eye(3)).max() < 1e-9:
        return Block(size=_sizes(thing), center=center, axes=unit.tolist(), material=material)
    return Parallelepiped(size=_sizes(thing), center=center, axes=axes.tolist(), material=material)


def _ellipsoid(thing: Any, material: Any) -> GeometricObject:
    return Ellipsoid(size=_sizes(thing), center=numbers(thing.center), axes=_axes(thing), material=material)


def _round(thing: Any, material: Any) -> dict[str, Any]:
    return {
        "center": numbers(thing.center),
        "axis": numbers(thing.axis),
        "radius": min(float(thing.radius), FAR),
        "height": min(float(thing.height), FAR),
        "material": material,
    }


def _prism(thing: Any, material: Any) -> GeometricObject:
    corners = np.array([numbers(v) for v in thing.vertices])
    height, axis = min(float(thing.height), FAR), np.array(numbers(thing.axis))
    # Meep leans walls along the edges' normals in the xy plane. So walls don't lean if the axis is normal to z, and
    # they lean outwards if it is along -z.
    lean = float(np.sign(axis[2])) * float(thing.sidewall_angle or 0.0)
    return Tapered(corners=corners.tolist(), axis=axis.tolist(), height=height, lean=lean, material=material)


_CONVERSIONS: dict[str, Any] = {
    "Ellipsoid": _ellipsoid,
    "Block": _block,
    "Sphere": lambda t, m: Sphere(radius=float(t.radius), center=numbers(t.center), material=m),
    "Wedge": lambda t, m: Wedge(**_round(t, m), start=numbers(t.wedge_start), angle=float(t.wedge_angle)),
    "Cone": lambda t, m: Frustum(**_round(t, m), tip=min(float(t.radius2), FAR)),
    "Cylinder": lambda t, m: Cylinder(**_round(t, m)),
    "Prism": _prism,
}
