"""Permittivities that vary in space: given by a function of position, or by an array (also in an HDF5 file).

>>> graded = FunctionMaterial(lambda x, y, z: 2.25 + 0.1 * x)
>>> graded.epsilon([0.0, 1.0], 0.0, 0.0).tolist()
[2.25, 2.35]
"""

from __future__ import annotations

import math
from collections.abc import Callable, Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, Literal

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError, MissingExtraError, ReadError
from evenly.fdtd.cell.grid import vector
from evenly.fdtd.media.materials import Medium, vacuum
from evenly.memory import ARRAYS_MIB, check_file, check_unpacked

__all__ = ["ArrayMaterial", "FunctionMaterial", "as_material"]

Array = NDArray[np.float64]
Quantity = Literal["epsilon", "index"]


class _PointByPoint:
    """The common part of materials that are given point by point."""

    quantity: Quantity
    smallest: float
    name: str

    @property
    def label(self) -> str:
        """Name of the material in messages."""
        kind = type(self).__name__
        return f"{kind} {self.name!r}" if self.name else f"a{'n' * kind.startswith('A')} {kind}"

    def _check(self) -> None:
        if self.quantity not in ("epsilon", "index"):
            raise InputError(f"`quantity` of {self.label} must be 'epsilon' or 'index', but got {self.quantity!r}.")
        if not 0 < self.smallest < math.inf:
            raise InputError(f"`smallest` of {self.label} must be positive, but got {self.smallest!r}.")

    def _as_epsilon(self, values: Array) -> Array:
        epsilon = values * values if self.quantity == "index" else values
        if epsilon.size and not (epsilon.min() >= self.smallest * (1 - 1e-12) and np.isfinite(epsilon).all()):
            raise InputError(
                f"ε of {self.label} must be finite and at least `smallest` = {self.smallest:g} everywhere, but it is "
                f"{np.min(epsilon):g} somewhere: give a lower `smallest` if that is meant (it limits the time step)."
            )
        return epsilon


@explained
@dataclass(frozen=True)
class FunctionMaterial(_PointByPoint):
    """A scalar ε (or refractive index) that is a function of position.

    Parameters
    ----------
    function : callable
        ``function(x, y, z)`` of coordinate arrays in a that broadcast. It returns an array of their shape or one
        number. A function of single numbers works too, but is slow.
    quantity : "epsilon" or "index"
        The quantity that the function returns.
    smallest : float
        Smallest ε anywhere. It limits the time step, and a smaller value is an error.
    name : str
        Used in messages.
    """

    function: Callable[..., Any]
    quantity: Quantity = "epsilon"
    smallest: float = 1.0
    name: str = ""

    def __post_init__(self) -> None:
        self._check()
        if not callable(self.function):
            raise InputError(f"`function` of {self.label} must be callable, but got {self.function!r}.")

    def epsilon(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        """Return ε at points; arguments broadcast.

        Raises
        ------
        InputError
            If ε is below `smallest` or not finite somewhere.
        """
        points = np.broadcast_arrays(*(np.asarray(v, dtype=np.float64) for v in (x, y, z)))
        return self._as_epsilon(np.array(np.broadcast_to(self._call(points), points[0].shape)))

    def _call(self, points: Sequence[Array]) -> Array:
        try:
            values = np.asarray(self.function(*points), dtype=np.float64)
            if values.shape in ((), points[0].shape):
                return values
        except (TypeError, ValueError):
            pass  # it may be written for single numbers
        each = [float(self.function(*map(float, point))) for point in zip(*(p.ravel() for p in points), strict=True)]
        return np.array(each).reshape(points[0].shape)


@explained
@dataclass(frozen=True)
class ArrayMaterial(_PointByPoint):
    """A scalar ε (or refractive index) given on a regular lattice, interpolated linearly.

    Parameters
    ----------
    values : array (nx, ny, nz) or path
        The values at the centres of nx × ny × nz equal boxes, or the path of an HDF5 file with such an array. Of a
        file, only the part that a chunk needs is read.
    size, center : three floats
        The region that the lattice fills, in a. Nothing varies along an axis of size 0. Outside the region, the value
        of the nearest lattice point holds.
    dataset : str
        Name of the data set in the file.
    quantity : "epsilon" or "index"
        The quantity that the values give.
    smallest : float
        Smallest ε anywhere. It limits the time step, and a smaller value is an error.
    name : str
        Used in messages.

    Examples
    --------
    >>> ramp = ArrayMaterial(np.array([1.0, 3.0]).reshape(2, 1, 1), size=(2, 0, 0))
    >>> ramp.epsilon([-0.5, 0.0, 9.0], 0, 0).tolist()
    [1.0, 2.0, 3.0]
    """

    values: Any
    size: Sequence[float]
    center: Sequence[float] = (0.0, 0.0, 0.0)
    dataset: str = "epsilon"
    quantity: Quantity = "epsilon"
    smallest: float = 1.0
    name: str = ""
    shape: tuple[int, int, int] = field(init=False, compare=False)

    def __post_init__(self) -> None:
        self._check()
        object.__setattr__(self, "size", vector(self.size, f"size of {self.label}"))
        object.__setattr__(self, "center", vector(self.center, f"center of {self.label}"))
        if min(self.size) < 0:
            raise InputError(f"`size` of {self.label} must not be negative, but got {self.size!r}.")
        try:
            values = Path(self.values) if self._in_file else np.asarray(self.values, dtype=np.float64)
        except (TypeError, ValueError) as error:
            raise InputError(f"`values` of {self.label} must be an array of numbers or a path: {error}.") from error
        object.__setattr__(self, "values", values)
        shape = tuple(self._read_shape())
        if len(shape) != 3 or 0 in shape:
            raise InputError(f"{self.label} must have three axes with points along each, but its shape is {shape}.")
        object.__setattr__(self, "shape", shape)

    @property
    def _in_file(self) -> bool:
        return isinstance(self.values, (str, Path))

    def __hash__(self) -> int:
        return id(self)

    def __eq__(self, other: object) -> bool:
        return self is other

    def epsilon(self, x: ArrayLike, y: ArrayLike, z: ArrayLike) -> Array:
        """Return ε at points; arguments broadcast.

        Raises
        ------
        InputError
            If a value is below `smallest` or not finite.
        ReadError
            If the file can't be read.
        """
        weights = [self._weights(np.asarray(v, dtype=np.float64), axis) for axis, v in enumerate((x, y, z))]
        starts = [int(w[0].min(initial=n - 1)) for w, n in zip(weights, self.shape, strict=True)]
        stops = [int(w[1].max(initial=0)) + 1 for w in weights]
        part = self._read_part(tuple(slice(a, b) for a, b in zip(starts, stops, strict=True)))
        result: Any = 0.0
        for corner in range(8):
            ends = [(corner >> axis) & 1 for axis in range(3)]
            index = tuple(w[end] - start for w, end, start in zip(weights, ends, starts, strict=True))
            share = [w[2] if end else 1 - w[2] for w, end in zip(weights, ends, strict=True)]
            result = result + share[0] * share[1] * share[2] * part[index]
        return self._as_epsilon(np.asarray(result))

    def _weights(self, along: Array, axis: int) -> tuple[NDArray[np.int64], NDArray[np.int64], Array]:
        n, size = self.shape[axis], self.size[axis]
        if n == 1 or size == 0:
            return np.zeros(along.shape, np.int64), np.zeros(along.shape, np.int64), np.zeros(along.shape)
        position = np.clip((along - self.center[axis] + size / 2) / size * n - 0.5, 0, n - 1)
        below = np.minimum(position.astype(np.int64), n - 2)
        return below, below + 1, position - below

    def _read_shape(self) -> tuple[int, ...]:
        if not self._in_file:
            return tuple(self.values.shape)
        return tuple(_read(self.values, self.dataset, lambda found: found.shape))

    def _read_part(self, part: tuple[slice, ...]) -> Array:
        if not self._in_file:
            return np.asarray(self.values[part])
        values: Array = _read(self.values, self.dataset, lambda found: np.asarray(found[part], dtype=np.float64))
        return values


Custom = FunctionMaterial | ArrayMaterial


def as_material(material: Any, owner: str) -> Medium | Custom:
    """Return a material as an object: None is vacuum, and a function of position is taken as ε(x, y, z).

    Examples
    --------
    >>> as_material(None, "a Block").is_vacuum
    True
    """
    if material is None:
        return vacuum
    if isinstance(material, (Medium, FunctionMaterial, ArrayMaterial)):
        return material
    if callable(material):
        return FunctionMaterial(material)
    raise InputError(
        f"`material` of {owner} must be a Medium, FunctionMaterial, ArrayMaterial or a function of x, y, z that "
        f"returns ε, but got {material!r}."
    )


def _read(path: Path, dataset: str, take: Callable[[Any], Any]) -> Any:
    """Return what `take` takes of a data set in a file."""
    try:
        import h5py
    except ImportError:
        raise MissingExtraError("reading ε from an HDF5 file", extra="hdf5") from None
    check_file(path)
    try:
        with h5py.File(path, "r") as file:
            return take(_find(file, path, dataset))
    except ReadError:
        raise
    except (OSError, RuntimeError, KeyError, ValueError, TypeError) as error:
        raise ReadError(path, f"it can't be read as an HDF5 file: {error}") from None


def _find(file: Any, path: Path, dataset: str) -> Any:
    if dataset not in file or not hasattr(file[dataset], "shape"):
        names = ", ".join(sorted(file)) or "none"
        raise ReadError(path, f"it has no data set {dataset!r} (it holds: {names}): give `dataset`")
    found = file[dataset]
    check_unpacked(path, found.size * found.dtype.itemsize, ARRAYS_MIB)
    return found
