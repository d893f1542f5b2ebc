"""Stacks of films along z, and pits in them.

>>> stack = Stack([Film("air", 1.0, vacuum), Film("glass", 0.5, Medium(index=1.5))])
>>> stack.height, stack.top("glass"), stack.bottom("glass")
(1.5, -0.25, -0.75)
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from functools import cached_property
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.fdtd.cell.grid import Vector, vector
from evenly.fdtd.media.faces import Faces, dot, meet, slab
from evenly.fdtd.media.materials import Medium, vacuum
from evenly.fdtd.media.solids import Block, GeometricObject

__all__ = ["Film", "Pit", "Stack"]

Array = NDArray[np.float64]


@dataclass(frozen=True)
class Film:
    """One film: its name, thickness in a, and material."""

    name: str
    thickness: float
    material: Medium


class Stack:
    """Films from top to bottom, centred on z = 0; the top and bottom films extend beyond the cell.

    Parameters
    ----------
    films : sequence of Film
        From top to bottom, with unique names; those of thickness 0 are dropped.
    """

    def __init__(self, films: Sequence[Film]) -> None:
        self.films = [film for film in films if film.thickness > 0]

    @cached_property
    def height(self) -> float:
        """Total thickness of the films."""
        return math.fsum(film.thickness for film in self.films)

    def top(self, name: str) -> float:
        """Return the height z of a film's upper face."""
        above = [film.thickness for film in self.films[: self._names.index(name)]]
        return self.height / 2 - math.fsum(above)

    def bottom(self, name: str) -> float:
        """Return the height z of a film's lower face."""
        return self.top(name) - self.films[self._names.index(name)].thickness

    def middle(self, name: str) -> float:
        """Return the height z of a film's middle."""
        return (self.top(name) + self.bottom(name)) / 2

    @property
    def _names(self) -> list[str]:
        return [film.name for film in self.films]

    def blocks(self) -> list[Block]:
        """Return the films as blocks of infinite width; films of vacuum are left out."""
        made = []
        for n, film in enumerate(self.films):
            # The outermost films extend beyond the cell, because the cell's height is rounded to grid points.
            high = self.top(film.name) + (self.height if n == 0 else 0)
            low = self.bottom(film.name) - (self.height if n == len(self.films) - 1 else 0)
            if film.material != vacuum:
                made.append(layer(film.name, low, high, film.material))
        return made


def layer(name: str, low: float, high: float, material: Medium) -> Block:
    """Return a block of infinite width between two heights."""
    size = (math.inf, math.inf, high - low)
    return Block(size=size, center=(0, 0, (low + high) / 2), material=material, name=name)


@dataclass(frozen=True, kw_only=True)
class Pit(GeometricObject):
    """An inverted pyramid with a square opening, as it results from wet etching of silicon.

    Parameters
    ----------
    width : float
        Edge of the opening in a.
    depth : float
        In a; the (111) planes of silicon give width / sqrt(2).
    center : three floats
        Centre of the opening, in a.
    material, name
        Material that fills the pit, and name for messages.

    Examples
    --------
    >>> pit = Pit(width=2.0, depth=1.0)
    >>> pit.contains([0.0, 0.9, 0.9], 0.0, [-0.9, -0.05, -0.2]).tolist()
    [True, True, False]
    """

    width: float
    depth: float
    center: Any = (0.0, 0.0, 0.0)

    @cached_property
    def _planes(self) -> list[tuple[Vector, float]]:
        """Outward normals of the faces and their distances from the centre of the opening, which is the first face."""
        half, long = self.width / 2, math.hypot(self.width / 2, self.depth)
        across, down = self.depth / long, half / long
        sides: list[Vector] = [(across, 0, -down), (-across, 0, -down), (0, across, -down), (0, -across, -down)]
        return [((0.0, 0.0, 1.0), 0.0), *((side, across * half) for side in sides)]

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        away = [np.asarray(v) - c for v, c in zip((x, y, z), self.center, strict=True)]
        result: Any = -np.inf
        for normal, far in self._planes:
            result = np.maximum(result, dot(normal, away) - far)
        return np.asarray(result)

    def bounds(self) -> tuple[Vector, Vector]:
        x, y, z = vector(self.center, "center")
        half = self.width / 2
        return (x - half, y - half, z - self.depth), (x + half, y + half, z)

    def faces(self, points: Array, half: Vector) -> Faces:
        away = [v - c for v, c in zip(points.T, self.center, strict=True)]
        pieces, normals = [], []
        for normal, far in self._planes:
            _, high, _, _ = slab(dot(normal, away), far, dot(np.abs(normal), half))
            low = np.full(len(points), -np.inf)
            absent = far - dot(normal, away) <= -dot(np.abs(normal), half) * (1 - 2e-7)
            pieces.append((low, high, absent, np.isfinite(high)))
            normals.append(np.broadcast_to(np.asarray(normal, dtype=np.float64), points.shape))
        return meet(normals, pieces, [True, False, False, False, False])
