"""A prism: a polygon extruded along an axis of the grid.

>>> wedge = Prism(vertices=[(0, 0), (2, 0), (0, 2)], height=1, base=-0.5)
>>> wedge.contains([0.5, 1.5], 0.9, 0.0).tolist()
[True, False]
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Vector, axis_index, vector
from evenly.fdtd.media.faces import TOUCH, Faces, Piece, meet, moved_out, slab
from evenly.fdtd.media.solids import GeometricObject, length

__all__ = ["Prism"]

Array = NDArray[np.float64]


@explained
@dataclass(frozen=True, kw_only=True)
class Prism(GeometricObject):
    """A right prism over any simple polygon.

    Parameters
    ----------
    vertices : sequence of pairs
        Corners in a, clockwise or anticlockwise: (x, y) for an axis along z, (y, z) for x, (z, x) for y.
    height : float
        In a; `math.inf` (with base = -inf or 0) fills the cell.
    axis : "x", "y" or "z"
        Axis of the prism.
    base : float
        Lower end along the axis, in a; by default the prism is centred on 0.
    material, name
        Material, and name for messages.

    Raises
    ------
    InputError
        If the polygon has fewer than three corners, no area, or edges that cross.
    """

    vertices: Sequence[Sequence[float]]
    height: float = math.inf
    axis: str | int = "z"
    base: float | None = None

    def __post_init__(self) -> None:
        super().__post_init__()
        object.__setattr__(self, "height", length(self.height, "height", self.label))
        base = -self.height / 2 if self.base is None else max(float(self.base), -self.height)
        object.__setattr__(self, "base", vector([base], f"base of {self.label}")[0])
        object.__setattr__(self, "axis", axis_index(self.axis))
        object.__setattr__(self, "vertices", _polygon(self.vertices, self.label))

    @cached_property
    def _edges(self) -> tuple[Array, Array, Array]:
        """Starts, ends and outward unit normals of the edges, (n, 2) each."""
        start = np.array(self.vertices)
        end = np.roll(start, -1, axis=0)
        along = end - start
        size = np.sqrt(along[:, 0] ** 2 + along[:, 1] ** 2)
        return start, end, np.stack([along[:, 1], -along[:, 0]], axis=1) / size[:, None]

    @property
    def slanted(self) -> bool:
        """Whether an edge is at an angle to the grid."""
        return bool(np.any(np.all(self._edges[2] != 0, axis=1)))

    @property
    def _order(self) -> tuple[int, int, int]:
        """Axes of the polygon's coordinates and of the prism."""
        axis = int(self.axis)
        return (axis + 1) % 3, (axis + 2) % 3, axis

    @property
    def _middle(self) -> float:
        return float(self.base or 0.0) + self.height / 2

    def _turned(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> list[Any]:
        given = [np.asarray(v, dtype=np.float64) for v in (x, y, z)]
        return [given[a] for a in self._order]

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        u, v, w = self._turned(x, y, z)
        nearest = np.sqrt(np.minimum.reduce([square for square, _ in self._to_edges(u, v)]))
        outline = np.where(self._inside(u, v), -nearest, nearest)
        return np.asarray(np.maximum(outline, np.abs(w - self._middle) - self.height / 2))

    def _to_edges(self, u: Any, v: Any) -> list[tuple[Any, Any]]:
        """Return, per edge, the points' squared distance from it and their signed distance from its line (out: +)."""
        result = []
        for (u0, v0), (u1, v1), (nu, nv) in zip(*self._edges, strict=True):
            du, dv = u1 - u0, v1 - v0
            share = np.clip(((u - u0) * du + (v - v0) * dv) / (du * du + dv * dv), 0.0, 1.0)
            square = (u - u0 - share * du) ** 2 + (v - v0 - share * dv) ** 2
            result.append((square, (u - u0) * nu + (v - v0) * nv))
        return result

    def _inside(self, u: Any, v: Any) -> Any:
        # A point is inside if a ray from it along u crosses the outline an odd number of times.
        inside: Any = False
        for (u0, v0), (u1, v1) in zip(*self._edges[:2], strict=True):
            if v0 != v1:
                inside = inside ^ (((v0 > v) != (v1 > v)) & (u < u0 + (v - v0) * ((u1 - u0) / (v1 - v0))))
        return inside

    def bounds(self) -> tuple[Vector, Vector]:
        corners = np.array(self.vertices)
        base = float(self.base or 0.0)
        low, high = (*corners.min(axis=0), base), (*corners.max(axis=0), base + self.height)
        places = [self._order.index(a) for a in range(3)]
        return vector([low[p] for p in places], "bounds"), vector([high[p] for p in places], "bounds")

    def faces(self, points: Array, half: Vector) -> Faces:
        u, v, w = self._turned(*points.T)
        order = self._order
        reach = half[order[0]] ** 2 + half[order[1]] ** 2
        edges, normals = self._to_edges(u, v), self._edges[2]
        near = np.stack([square < reach for square, _ in edges])
        which = np.argmax(near, axis=0)
        outward = np.stack([d for _, d in edges])[which, np.arange(len(points))]
        alone = near.sum(axis=0) == 1
        flat_normal = np.where(alone[:, None], normals[which], 0.0)
        normal = np.zeros((len(points), 3))
        normal[:, order[0]], normal[:, order[1]] = flat_normal.T
        width = np.abs(flat_normal[:, 0]) * half[order[0]] + np.abs(flat_normal[:, 1]) * half[order[1]]
        side = self._side(outward, width, alone, near.any(axis=0), self._inside(u, v))
        caps = slab(w - self._middle, self.height / 2, half[order[2]])
        ends = np.zeros((len(points), 3))
        ends[:, order[2]] = 1.0
        straight = np.all(np.any(normals == 0, axis=1)[:, None] | ~near, axis=0)
        faces = meet([normal, ends], [side, caps], [straight, True])
        corner = near.any(axis=0) & ~alone & (faces.low < faces.high)
        return replace(faces, flat=faces.flat & ~corner, aligned=faces.aligned & straight)

    @staticmethod
    def _side(outward: Array, width: Array, alone: Any, near: Any, inside: Any) -> Piece:
        low, high, absent, cut = slab(outward, 0.0, width)
        # A box near exactly one edge is cut by its face. A box near none is wholly inside or outside. A box near
        # several edges is sampled later.
        absent = np.where(alone, high <= -width * (1 - 2 * TOUCH), ~near & ~inside)
        cut = alone & np.isfinite(high) & ~absent
        return np.full(len(low), -np.inf), np.where(alone, high, np.inf), absent, cut

    def extended(self, lo: Vector, hi: Vector, by: float) -> GeometricObject:
        axis, base = int(self.axis), float(self.base or 0.0)
        low, high = moved_out(base, lo[axis], -by), moved_out(base + self.height, hi[axis], by)
        across = self._order[:2]
        corners = [
            [moved_out(moved_out(v, lo[a], -by), hi[a], by) for v, a in zip(corner, across, strict=True)]
            for corner in self.vertices
        ]
        return replace(self, vertices=corners, base=low, height=high - low)


def _polygon(vertices: Any, label: str) -> tuple[tuple[float, float], ...]:
    try:
        corners = [(float(u), float(v)) for u, v in vertices]
    except (TypeError, ValueError):
        raise InputError(f"`vertices` of {label} must be pairs of numbers, but got {vertices!r}.") from None
    corners = [c for i, c in enumerate(corners) if c != corners[i - 1]]
    area = sum(u0 * v1 - u1 * v0 for (u0, v0), (u1, v1) in zip(corners, corners[1:] + corners[:1], strict=True)) / 2
    if len(corners) < 3 or area == 0 or not math.isfinite(area):
        raise InputError(f"`vertices` of {label} must be at least three corners of a polygon with an area.")
    _check_simple(corners, label)
    return tuple(corners if area > 0 else corners[::-1])


def _check_simple(corners: list[tuple[float, float]], label: str) -> None:
    n = len(corners)
    for i in range(n):
        for j in range(i + 2, n if i else n - 1):
            if _cross(corners[i], corners[(i + 1) % n], corners[j], corners[(j + 1) % n]):
                raise InputError(
                    f"The edges of {label} must not cross, but those from {corners[i]} and {corners[j]} do: give the "
                    "corners in order."
                )


def _cross(a: Any, b: Any, c: Any, d: Any) -> bool:
    def side(p: Any, q: Any, r: Any) -> float:
        return float((q[0] - p[0]) * (r[1] - p[1]) - (q[1] - p[1]) * (r[0] - p[0]))

    return side(a, b, c) * side(a, b, d) < 0 and side(c, d, a) * side(c, d, b) < 0
