"""The solids of a structure: block, sphere, cylinder, prism. Later objects hide earlier ones.

An object describes its place by two methods. `distance` is a signed distance (negative inside), which finds the grid
points near the surface. `faces` describes the surface inside a small box as one flat slice, where that is possible.
Then the object's share of the box is exact for any flat surface at any angle.

>>> ball = Sphere(radius=1.0, center=(0, 0, 2), material=Medium(index=1.5))
>>> bool(ball.contains(0, 0, 2.5)), ball.bounds()
(True, ((-1.0, -1.0, 1.0), (1.0, 1.0, 3.0)))
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Vector, axis_index, vector
from evenly.fdtd.media.custom import ArrayMaterial, FunctionMaterial, as_material
from evenly.fdtd.media.faces import Faces, dot, meet, moved_out, slab, unit_vectors
from evenly.fdtd.media.materials import Medium, vacuum

__all__ = ["Block", "Cylinder", "GeometricObject", "Material", "Sphere", "length"]

Array = NDArray[np.float64]
# Three numbers: any sequence or array of them; checked when an object is made.
Numbers = Any
Material = Medium | FunctionMaterial | ArrayMaterial | Callable[..., Any]
INFINITE = 1e20


@dataclass(frozen=True, kw_only=True)
class GeometricObject(ABC):
    """A solid of one material.

    Invariants: ``contains`` is true where ``distance`` <= 0. The distances at two points differ by at most the
    distance between the points. The solid lies inside ``bounds()``.
    """

    material: Material = field(default=vacuum)
    name: str = ""

    def __post_init__(self) -> None:
        object.__setattr__(self, "material", as_material(self.material, self.label))

    @property
    def label(self) -> str:
        """Name of the object in messages."""
        return f"{type(self).__name__} {self.name!r}" if self.name else f"a {type(self).__name__}"

    @property
    def slanted(self) -> bool:
        """Whether a face may be at an angle to the grid."""
        return True

    @abstractmethod
    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        """Return the signed distance to the surface, negative inside; arguments broadcast."""

    @abstractmethod
    def bounds(self) -> tuple[Vector, Vector]:
        """Return the lowest and highest coordinates."""

    def contains(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> NDArray[np.bool_]:
        """Return whether points are inside or on the surface; arguments broadcast."""
        return self.distance(x, y, z) <= 0

    def faces(self, points: Array, half: Vector) -> Faces:  # noqa: ARG002 - for those that can
        """Return the surface inside boxes around points (n, 3); `half` is half their edges. By default never flat."""
        n = len(points)
        none = np.zeros(n, dtype=bool)
        return Faces(np.zeros((n, 3)), np.full(n, -np.inf), np.full(n, np.inf), none, none)

    def extended(self, lo: Vector, hi: Vector, by: float) -> GeometricObject:  # noqa: ARG002 - for those that can
        """Return the object with those of its faces that lie on the cell's borders `lo`, `hi` moved out by `by`."""
        return self


@explained
@dataclass(frozen=True, kw_only=True)
class Block(GeometricObject):
    """A rectangular block, possibly rotated.

    Parameters
    ----------
    size : three floats
        Edge lengths in a; `math.inf` along directions in which it fills the cell.
    center : three floats
        In a.
    axes : three vectors
        Directions of the edges, at right angles; x, y, z by default.
    material, name
        Material, and name for messages.

    Raises
    ------
    InputError
        If a size is negative or the axes are not at right angles.

    Examples
    --------
    >>> bool(Block(size=(2, 2, 0.5)).contains(0.9, 0, 0.3))
    False
    """

    size: Numbers
    center: Numbers = (0.0, 0.0, 0.0)
    axes: Numbers = ((1.0, 0.0, 0.0), (0.0, 1.0, 0.0), (0.0, 0.0, 1.0))

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "center", vector(self.center, f"center of {self.label}"))
        for what, given in (("size", self.size), ("axes", self.axes)):
            if not isinstance(given, (Sequence, np.ndarray)) or getattr(given, "ndim", 1) == 0 or len(given) != 3:
                three = "lengths (x, y, z)" if what == "size" else "vectors"
                raise InputError(f"`{what}` of {self.label} must be three {three}, but got {given!r}.")
        object.__setattr__(self, "size", tuple(length(s, "size", self.label) for s in self.size))
        e1, e2, e3 = (_direction(axis, self.label) for axis in self.axes)
        if max(abs(dot(e1, e2)), abs(dot(e1, e3)), abs(dot(e2, e3))) > 1e-9:
            raise InputError(f"`axes` of {self.label} must be at right angles to each other, but got {self.axes!r}.")
        object.__setattr__(self, "axes", (e1, e2, e3))

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        result: Any = -np.inf
        for along, size in zip(self._local(x, y, z), self.size, strict=True):
            result = np.maximum(result, np.abs(along) - size / 2)
        return np.asarray(result)

    @property
    def slanted(self) -> bool:
        """Whether the block is rotated relative to the grid."""
        return not all(_is_grid_axis(axis) for axis in self.axes)

    def _local(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> list[Any]:
        from_center = [np.asarray(v) - c for v, c in zip((x, y, z), self.center, strict=True)]
        return [dot(axis, from_center) for axis in self.axes]

    def bounds(self) -> tuple[Vector, Vector]:
        reach = [sum(abs(e[a]) * s / 2 for e, s in zip(self.axes, self.size, strict=True)) for a in range(3)]
        return _around(self.center, reach)

    def faces(self, points: Array, half: Vector) -> Faces:
        pieces = [
            slab(along, size / 2, dot(np.abs(axis), half))
            for along, size, axis in zip(self._local(*points.T), self.size, self.axes, strict=True)
        ]
        normals = [np.broadcast_to(np.asarray(axis), points.shape) for axis in self.axes]
        return meet(normals, pieces, [_is_grid_axis(axis) for axis in self.axes])

    def extended(self, lo: Vector, hi: Vector, by: float) -> GeometricObject:
        if self.slanted:
            return self
        low, high = self.bounds()
        new_low = [moved_out(v, border, -by) for v, border in zip(low, lo, strict=True)]
        new_high = [moved_out(v, border, by) for v, border in zip(high, hi, strict=True)]
        if (tuple(new_low), tuple(new_high)) == (low, high):
            return self
        return replace(
            self,
            size=[b - a for a, b in zip(new_low, new_high, strict=True)],
            center=[(a + b) / 2 for a, b in zip(new_low, new_high, strict=True)],
            axes=np.eye(3).tolist(),
        )


@explained
@dataclass(frozen=True, kw_only=True)
class Sphere(GeometricObject):
    """A solid sphere.

    Parameters
    ----------
    radius : float
        In a.
    center : three floats
        In a.
    material, name
        Material, and name for messages.

    Examples
    --------
    >>> float(Sphere(radius=1).distance(3, 0, 4))
    4.0
    """

    radius: float
    center: Numbers = (0.0, 0.0, 0.0)

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "center", vector(self.center, f"center of {self.label}"))
        length(self.radius, "radius", self.label)

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        dx, dy, dz = (np.asarray(v) - c for v, c in zip((x, y, z), self.center, strict=True))
        return np.asarray(np.sqrt(dx * dx + dy * dy + dz * dz) - self.radius)

    def bounds(self) -> tuple[Vector, Vector]:
        return _around(self.center, [self.radius] * 3)

    def faces(self, points: Array, half: Vector) -> Faces:
        away = points - np.asarray(self.center)
        normal, far = unit_vectors(away)
        # Mean depth of the curved surface under its tangent plane: <t²>/2R for two tangents, <t²> = half²/3 each.
        wide = [h for h in half if h > 0]
        sag = sum(h * h for h in wide) / 3 * (1 - 1 / len(wide)) / (2 * self.radius) if wide else 0.0
        piece = slab(far, self.radius - sag, dot(np.abs(normal.T), half))
        low = np.full(len(points), -np.inf)
        flat = (far > 0) & (self.radius > 4 * max(half))
        faces = meet([normal], [(low, piece[1], piece[2], piece[3])], [False])
        return replace(faces, flat=faces.flat & (flat | ~np.any(faces.normal, axis=1)))


@explained
@dataclass(frozen=True, kw_only=True)
class Cylinder(GeometricObject):
    """A circular cylinder.

    Parameters
    ----------
    radius, height : float
        In a; the height may be `math.inf`.
    center : three floats
        Centre of the cylinder, in a.
    axis : letter or three floats
        Direction of its axis.
    material, name
        Material, and name for messages.

    Examples
    --------
    >>> rod = Cylinder(radius=0.5, height=2, axis="x")
    >>> rod.contains([0.9, 1.1], 0, 0.4).tolist()
    [True, False]
    """

    radius: float
    height: float = math.inf
    center: Numbers = (0.0, 0.0, 0.0)
    axis: Any = "z"

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "center", vector(self.center, f"center of {self.label}"))
        object.__setattr__(self, "axis", _direction(self.axis, self.label))
        object.__setattr__(self, "height", length(self.height, "height", self.label))
        length(self.radius, "radius", self.label)

    def _split(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> tuple[Any, list[Any]]:
        away = [np.asarray(v) - c for v, c in zip((x, y, z), self.center, strict=True)]
        along = dot(self._direction, away)
        return along, [v - along * e for v, e in zip(away, self._direction, strict=True)]

    @property
    def _direction(self) -> Vector:
        return vector(self.axis, "axis")

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        along, (dx, dy, dz) = self._split(x, y, z)
        side = np.sqrt(dx * dx + dy * dy + dz * dz) - self.radius
        return np.asarray(np.maximum(side, np.abs(along) - self.height / 2))

    def bounds(self) -> tuple[Vector, Vector]:
        reach = [abs(e) * self.height / 2 + self.radius * math.sqrt(max(0.0, 1 - e * e)) for e in self._direction]
        return _around(self.center, reach)

    def faces(self, points: Array, half: Vector) -> Faces:
        along, away = self._split(*points.T)
        normal, far = unit_vectors(np.stack(away, axis=1))
        around = np.cross(np.asarray(self._direction), normal)
        sag = dot(np.asarray(half) ** 2, (around * around).T) / 3 / (2 * self.radius) if self.radius else 0.0
        side = slab(far, self.radius - sag, dot(np.abs(normal.T), half))
        side = (np.full(len(points), -np.inf), *side[1:])
        caps = slab(along, self.height / 2, dot(np.abs(self._direction), half))
        ends = np.broadcast_to(np.asarray(self._direction), points.shape)
        faces = meet([normal, ends], [side, caps], [False, _is_grid_axis(self._direction)])
        # A lateral surface that is strongly curved within a box can't count as flat: such boxes are sampled.
        curved = (self.radius <= 4 * max(half)) & (np.abs(dot(faces.normal.T, self._direction)) < 0.5)
        return replace(faces, flat=faces.flat & ~(curved & np.any(faces.normal, axis=1)))

    def extended(self, lo: Vector, hi: Vector, by: float) -> GeometricObject:
        if not _is_grid_axis(self._direction):
            return self
        axis = int(np.argmax(np.abs(self._direction)))
        low, high = self.center[axis] - self.height / 2, self.center[axis] + self.height / 2
        new_low, new_high = moved_out(low, lo[axis], -by), moved_out(high, hi[axis], by)
        if (new_low, new_high) == (low, high):
            return self
        center = [(new_low + new_high) / 2 if a == axis else c for a, c in enumerate(self.center)]
        return replace(self, height=new_high - new_low, center=center)


def _is_grid_axis(direction: Any) -> bool:
    return bool(np.count_nonzero(np.asarray(direction)) == 1)


def _around(center: Sequence[float], reach: Sequence[float]) -> tuple[Vector, Vector]:
    low = vector([c - r for c, r in zip(center, reach, strict=True)], "bounds")
    return low, vector([c + r for c, r in zip(center, reach, strict=True)], "bounds")


def length(value: Any, what: str, label: str) -> float:
    """Return `value` as a float, checked to be a length; infinity becomes the large finite number `INFINITE`."""
    try:
        number = float(value)
    except (TypeError, ValueError):
        number = math.nan
    if not number >= 0:
        raise InputError(f"`{what}` of {label} must be a length, 0 or more, but got {value!r}.")
    return min(number, INFINITE)


def _direction(axis: Any, label: str) -> Vector:
    if isinstance(axis, (str, int)):
        along = axis_index(axis)
        return vector([float(a == along) for a in range(3)], "axis")
    x, y, z = vector(axis, f"axis of {label}")
    norm = math.sqrt(x * x + y * y + z * z)
    if norm == 0:
        raise InputError(f"`axis` of {label} must be a letter or a vector other than 0, but got {axis!r}.")
    # Small components are round-off of a direction along the grid; they would make the faces slanted.
    x, y, z = (0.0 if abs(v) < 1e-12 * norm else v / norm for v in (x, y, z))
    return x, y, z
