"""What Meep makes of a cell with symmetries; this module runs in Meep's own Python.

Meep halves the cell across each axis that an image of the symmetry changes, until there are as many parts as images.
It keeps the high part and one layer of points below it. (``choose_chunkdivision`` in Meep's structure.cpp, and
``grid_volume::halve``.) Monitors are transformed in this part once for each image of their regions.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.fdtd.cell.grid import Vector

__all__ = ["Image", "images", "kept", "kept_axes"]


@dataclass(frozen=True)
class Image:
    """One of the images under a symmetry: the point p becomes ``turn @ p + shift``.

    Parameters
    ----------
    turn : (3, 3)
        Elements are 0, 1 and -1.
    shift : (3,)
    """

    turn: NDArray[np.float64]
    shift: NDArray[np.float64]

    def place(self, center: Vector, size: Vector) -> tuple[Vector, Vector]:
        """Return centre and size of the image of a box."""
        x, y, z = (float(v) for v in self.turn @ center + self.shift)
        a, b, c = (float(v) for v in np.abs(self.turn) @ size)
        return (x, y, z), (a, b, c)

    def component(self, name: str) -> str:
        """Return the component that becomes the image of a component, such as "Ex"."""
        return name[0] + "xyz"[int(np.flatnonzero(self.turn[:, "xyz".index(name[1])])[0])]


def kept(volume: Any, symmetry: Any) -> Any:
    """Return the part of a volume that Meep steps."""
    for axis in kept_axes(volume, symmetry):
        volume = volume.halve(axis)
    return volume


def kept_axes(volume: Any, symmetry: Any) -> list[int]:
    """Return the directions (0: X, 1: Y, 2: Z) across which Meep halves a volume."""
    found: list[int] = []
    for axis in _axes(volume):
        broken = any(image.turn[axis, axis] != 1 for image in images(volume, symmetry))
        if broken and 2 ** len(found) < symmetry.multiplicity():
            found.append(axis)
    return found


def images(volume: Any, symmetry: Any) -> Iterator[Image]:
    """Yield the images under a symmetry, first the cell itself."""
    axes = _axes(volume)
    for number in range(symmetry.multiplicity()):
        shift = _moved(volume, symmetry, number, (0.0, 0.0, 0.0))
        turn = np.eye(3)
        for axis in axes:
            one = _moved(volume, symmetry, number, tuple(np.eye(3)[axis]))
            turn[:, axis] = np.round(one - shift)
        yield Image(turn, shift)


def _axes(volume: Any) -> tuple[int, ...]:
    import meep

    return {meep.D1: (2,), meep.D2: (0, 1), meep.D3: (0, 1, 2)}.get(volume.dim, (2,))


def _moved(volume: Any, symmetry: Any, number: int, point: tuple[float, ...]) -> NDArray[np.float64]:
    import meep

    x, y, z = point
    if volume.dim == meep.D1:
        return np.array([0.0, 0.0, symmetry.transform(meep.vec(z), number).z()])
    if volume.dim == meep.D2:
        image = symmetry.transform(meep.vec(x, y), number)
        return np.array([image.x(), image.y(), 0.0])
    if volume.dim == meep.D3:
        image = symmetry.transform(meep.vec(x, y, z), number)
        return np.array([image.x(), image.y(), image.z()])
    return np.array([0.0, 0.0, symmetry.transform(meep.veccyl(x, z), number).z()])
