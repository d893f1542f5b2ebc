"""Materials that vary within an object: functions of position, files, and material grids.

A varying material is split into several media, each of which fills a part of the object. `classify` returns the medium
at any point. So later objects cover the parts as they cover any other object.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, replace
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.adapters.meep.cell.media import METAL, is_medium, medium_of, mixture
from evenly.adapters.meep.cell.solids import moved
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid, Vector
from evenly.fdtd.media.materials import Medium, vacuum
from evenly.fdtd.media.solids import GeometricObject

__all__ = ["POINTS", "Varied", "from_array", "from_function", "from_grid", "is_averaged", "parts", "shifted"]

Array = NDArray[np.float64]
Ints = NDArray[np.int64]
_Classify = Callable[[Array, Array, Array], Ints]
#: Largest number of points at which a function is evaluated. A call takes some microseconds.
POINTS = 100_000
FAR = 1e20
DIELECTRIC = Medium(epsilon=2.0, name="dielectric")


@dataclass(frozen=True)
class Varied:
    """A material that varies.

    Parameters
    ----------
    media : sequence of Medium
    classify : callable
        Returns the index of the medium at points x, y, z: arrays that broadcast, relative to the middle of the cell.
    """

    media: Sequence[Medium]
    classify: _Classify


@dataclass(frozen=True, kw_only=True)
class _Part(GeometricObject):
    """The part of a solid with one medium of a varying material.

    No point is near its borders, because Meep does not average there.
    """

    solid: GeometricObject
    classify: _Classify
    which: int

    def distance(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        points = [np.asarray(v, dtype=np.float64) for v in (x, y, z)]
        there = self.classify(points[0], points[1], points[2]) == self.which
        return np.asarray(np.where(there & self.solid.contains(x, y, z), -FAR, FAR))

    def bounds(self) -> tuple[Vector, Vector]:
        return self.solid.bounds()


def parts(solid: GeometricObject, varied: Varied) -> list[GeometricObject]:
    """Return the parts of a solid that are filled with each medium."""
    return [
        _Part(solid=solid, classify=varied.classify, which=k, material=medium) for k, medium in enumerate(varied.media)
    ]


def is_averaged(thing: GeometricObject) -> bool:
    """Return whether Meep averages the medium of a solid with others along the normal of the surface between them."""
    return not isinstance(thing, _Part) and getattr(thing.material, "name", "") != METAL


def shifted(part: GeometricObject, by: Vector) -> GeometricObject:
    """Return a solid, or a part of a solid, moved by a period."""
    if not isinstance(part, _Part) or not any(by):
        return moved(part, by)
    own, (dx, dy, dz) = part.classify, by
    return replace(part, solid=moved(part.solid, by), classify=lambda x, y, z: own(x - dx, y - dy, z - dz))


def from_function(function: Any, grid: Grid, origin: Vector, bounds: tuple[Vector, Vector], vector: Any) -> Varied:
    """Return the material of a function of position. The function is sampled at each grid point, or more coarsely.

    Parameters
    ----------
    function : callable
        A material function of Meep. It takes a vector, and returns a medium, or ε if its attribute ``eps`` is true.
    grid : Grid
    origin : three floats
        Middle of the cell in Meep's coordinates.
    bounds : two times three floats
        The bounds of the object, relative to the middle of the cell.
    vector : callable
        Returns a vector for x, y, z: ``meep.Vector3``.
    """
    lattice = _Lattice.within(grid, bounds)
    known: dict[Medium, int] = {}
    labels = np.empty(lattice.shape, dtype=np.int64)
    for index, point in lattice.points(origin):
        medium = _kind_of(function(vector(*point)))
        labels[index] = known.setdefault(medium, len(known))
    return Varied(list(known), lattice.nearest(labels))


def from_array(values: Array, grid: Grid) -> Varied:
    """Return the material of values of ε on a lattice that fills the cell, interpolated; for example, of a file."""
    full = np.asarray(values, dtype=np.float64)
    full = full.reshape(full.shape + (1,) * (3 - full.ndim))
    size = [max(s, grid.dx) for s in grid.size]

    def classify(x: Array, y: Array, z: Array) -> Ints:
        share = [v / s + 0.5 for v, s in zip((x, y, z), size, strict=True)]
        return np.asarray(_interpolated(full, share) != 1.0, dtype=np.int64)

    return Varied([vacuum, DIELECTRIC], classify)


def from_grid(material: Any, frame: Callable[[Array, Array, Array], list[Array]]) -> Varied:
    """Return the media of a ``meep.MaterialGrid``: the first medium, a mixture, and the second medium.

    Parameters
    ----------
    material : meep.MaterialGrid
    frame : callable
        Converts coordinates x, y, z to shares 0 … 1 of the block that the grid fills.
    """
    size = material.grid_size
    weights = np.asarray(material.weights, dtype=np.float64).reshape(int(size.x), int(size.y), int(size.z))
    beta, eta = float(material.beta), float(material.eta)

    def classify(x: Array, y: Array, z: Array) -> Ints:
        # Meep's projection of weights u with steepness beta and threshold eta (Wang, Lazarov and Sigmund 2011):
        # (tanh(beta eta) + tanh(beta (u - eta))) / (tanh(beta eta) + tanh(beta (1 - eta))).
        u = _interpolated(weights, frame(x, y, z))
        if beta:
            ends = math.tanh(beta * eta) if math.isfinite(beta) else 1.0
            top = math.tanh(beta * (1 - eta)) if math.isfinite(beta) else 1.0
            u = (ends + np.tanh(beta * (u - eta))) / (ends + top) if math.isfinite(beta) else (u > eta).astype(float)
        return np.asarray(np.where(u <= 1e-9, 0, np.where(u >= 1 - 1e-9, 2, 1)), dtype=np.int64)

    first, second = medium_of(material.medium1), medium_of(material.medium2)
    between = mixture(first, second, lossy=bool(material.damping))
    return Varied([first, between, second], classify)


@dataclass(frozen=True)
class _Lattice:
    """Equal boxes that fill a region; coordinates are relative to the middle of the cell."""

    low: Vector
    step: Vector
    shape: tuple[int, int, int]

    @classmethod
    def within(cls, grid: Grid, bounds: tuple[Vector, Vector]) -> _Lattice:
        half = [0.0 if thin else n * grid.dx / 2 for n, thin in zip(grid.shape, grid.thin, strict=True)]
        low = [max(-h, b) for h, b in zip(half, bounds[0], strict=True)]
        long = [max(0.0, min(h, b) - a) for h, b, a in zip(half, bounds[1], low, strict=True)]
        wanted = [max(1.0, length / grid.dx) for length in long]
        factor = max(1.0, (math.prod(wanted) / POINTS) ** (1 / sum(w > 1 for w in wanted))) if max(wanted) > 1 else 1.0
        shape = [max(1, math.ceil(w / factor)) for w in wanted]
        step = [length / n for length, n in zip(long, shape, strict=True)]
        return cls((low[0], low[1], low[2]), (step[0], step[1], step[2]), (shape[0], shape[1], shape[2]))

    def points(self, origin: Vector) -> Any:
        """Yield the index of each box, and its middle in Meep's coordinates."""
        for index in np.ndindex(*self.shape):
            parts = zip(index, self.low, self.step, origin, strict=True)
            yield index, [a + (i + 0.5) * s + o for i, a, s, o in parts]

    def nearest(self, labels: Ints) -> _Classify:
        """Return a function that gives the label of the box of a point, or of the nearest box."""

        def classify(x: Array, y: Array, z: Array) -> Ints:
            index = []
            for v, low, step, n in zip((x, y, z), self.low, self.step, self.shape, strict=True):
                at = np.floor((v - low) / step) if step else np.zeros(np.shape(v))
                index.append(np.clip(at, 0, n - 1).astype(np.int64))
            return np.asarray(labels[tuple(np.broadcast_arrays(*index))])

        return classify


def _interpolated(values: Array, share: Sequence[Array]) -> Array:
    """Interpolate values at the middles of equal boxes linearly, at shares 0 … 1 of their region."""
    ends = []
    for s, n in zip(share, values.shape, strict=True):
        at = np.clip(np.asarray(s) * n - 0.5, 0, n - 1)
        low = np.floor(at).astype(np.int64)
        ends.append((low, np.minimum(low + 1, n - 1), at - low))
    # Trilinear: the sum over the eight corners around a point, with the product of the three weights.
    result: Any = 0.0
    for corner in np.ndindex(2, 2, 2):
        weight: Any = 1.0
        for end, (_, _, w) in zip(corner, ends, strict=True):
            weight = weight * (w if end else 1 - w)
        result = result + weight * values[tuple(e[end] for end, e in zip(corner, ends, strict=True))]
    return np.asarray(result)


def _kind_of(given: Any) -> Medium:
    """Return the representative of all media that need the same work as the result of a material function."""
    if is_medium(given):
        return _standard(medium_of(given))
    if isinstance(given, (int, float, complex, np.number)):
        return vacuum if given == 1 else DIELECTRIC
    raise InputError(f"A material function must return a medium or a number, but it returned {given!r}.")


def _standard(medium: Medium) -> Medium:
    def flags(value: Any, usual: float, other: float) -> Vector:
        x, y, z = (usual if v == usual else other for v in value)
        return x, y, z

    return Medium(
        epsilon=flags(medium.epsilon, 1.0, 2.0),
        epsilon_off_diagonal=flags(medium.epsilon_off_diagonal, 0.0, 0.1),
        mu=flags(medium.mu, 1.0, 2.0),
        mu_off_diagonal=flags(medium.mu_off_diagonal, 0.0, 0.1),
        electric_poles=[pole.unit() for pole in medium.electric_poles],
        magnetic_poles=[pole.unit() for pole in medium.magnetic_poles],
        electric_conductivity=flags(medium.electric_conductivity, 0.0, 1.0),
        magnetic_conductivity=flags(medium.magnetic_conductivity, 0.0, 1.0),
        chi2=flags(medium.chi2, 0.0, 1.0),
        chi3=flags(medium.chi3, 0.0, 1.0),
    )
