"""The Yee grid: the positions of the field components in space and in time.

Units: the speed of light is 1, lengths are in the user's unit *a*, times in a/c, frequencies in c/a (so the
vacuum wavelength is 1/frequency). The origin of coordinates is the centre of the cell. Point ``(i, j, k)`` of the
grid has its node at ``(i, j, k) / resolution - size / 2``. A component of E is half a spacing from the node along its
own axis, and a component of H is half a spacing from it along both other axes (K. S. Yee, IEEE Trans. Antennas Propag.
14, 302 (1966)). E is known at whole time steps, H half a step later.

An axis of size 0 is *thin*: it has one point, and nothing varies along it. A cell with two thin axes is
one-dimensional.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box, Index

__all__ = ["COMPONENTS", "ELECTRIC", "MAGNETIC", "OFFSETS", "Grid", "axis_index", "vector"]

ELECTRIC = ("Ex", "Ey", "Ez")
MAGNETIC = ("Hx", "Hy", "Hz")
COMPONENTS = ELECTRIC + MAGNETIC
Vector = tuple[float, float, float]

# Position of each component relative to its node, in grid spacings along x, y, z. The off-diagonal elements of 1/ε are
# at "node", those of 1/μ at "centre".
OFFSETS: dict[str, Vector] = {
    **{f"{name}{AXES[a]}": (0.5 * (a == 0), 0.5 * (a == 1), 0.5 * (a == 2)) for name in "ED" for a in range(3)},
    **{f"{name}{AXES[a]}": (0.5 * (a != 0), 0.5 * (a != 1), 0.5 * (a != 2)) for name in "HB" for a in range(3)},
    "node": (0.0, 0.0, 0.0),
    "centre": (0.5, 0.5, 0.5),
}


def axis_index(axis: str | int) -> int:
    """Return the number 0, 1 or 2 of an axis that is given as a letter or a number.

    Examples
    --------
    >>> axis_index("y"), axis_index(2)
    (1, 2)
    """
    if isinstance(axis, str) and axis.lower() in AXES:
        return AXES.index(axis.lower())
    if isinstance(axis, (int, np.integer)) and not isinstance(axis, bool) and 0 <= int(axis) < 3:
        return int(axis)
    raise InputError(f"An axis is one of x, y, z (or 0, 1, 2), but got {axis!r}.")


def vector(value: Sequence[float] | float, name: str, *, length: int = 3) -> Vector:
    """Return three finite floats; a shorter sequence is filled with zeros.

    Examples
    --------
    >>> vector((1, 2), "size")
    (1.0, 2.0, 0.0)
    """
    try:
        numbers = [float(v) for v in (value if isinstance(value, (Sequence, np.ndarray)) else [value])]
    except (TypeError, ValueError):
        raise InputError(f"`{name}` must be up to {length} numbers (x, y, z), but got {value!r}.") from None
    if len(numbers) > length or not all(math.isfinite(v) for v in numbers):
        raise InputError(f"`{name}` must be up to {length} finite numbers (x, y, z), but got {value!r}.")
    x, y, z = numbers + [0.0] * (3 - len(numbers))
    return x, y, z


@explained
@dataclass(frozen=True)
class Grid:
    """A cell's grid.

    Parameters
    ----------
    size : tuple of three floats
        Edge lengths in a; 0 makes an axis thin.
    resolution : float
        Points per a.
    courant : float
        Time step times resolution. The scheme is stable up to n/sqrt(dimensions), with n the smallest refractive index.
    center : three floats
        The middle of the grid, in a: other than 0 if it is a part of a cell.

    Attributes
    ----------
    dx, dt : float
        Grid spacing in a, and time step in a/c.
    thin : three bools
        Whether nothing varies along x, y, z.
    dimensions : int
        Number of axes that are not thin.
    shape : three ints
        Points along x, y, z.
    box : Box
        All points of the cell.
    origin, end : three floats
        Coordinates of the cell's lower sides, where the node with index (0, 0, 0) is, and of its upper sides, in a; 0
        along thin axes.

    Examples
    --------
    >>> grid = Grid((4.0, 2.0, 0.0), 10)
    >>> grid.shape, grid.dimensions, grid.dt
    ((40, 20, 1), 2, 0.05)
    >>> grid.coordinates("Ex", 0, 0, 3).tolist()
    [-1.95, -1.85, -1.75]
    """

    size: Vector
    resolution: float
    courant: float = 0.5
    center: Vector = field(default=(0.0, 0.0, 0.0), repr=False)
    dx: float = field(init=False, repr=False, compare=False)
    dt: float = field(init=False, repr=False, compare=False)
    thin: tuple[bool, bool, bool] = field(init=False, repr=False, compare=False)
    dimensions: int = field(init=False, repr=False, compare=False)
    shape: Index = field(init=False, repr=False, compare=False)
    box: Box = field(init=False, repr=False, compare=False)
    origin: Vector = field(init=False, repr=False, compare=False)
    end: Vector = field(init=False, repr=False, compare=False)

    def __post_init__(self) -> None:
        object.__setattr__(self, "size", vector(self.size, "cell"))
        if not 0 < float(self.resolution) < math.inf:
            raise InputError(f"`resolution` must be a positive number of points per length, got {self.resolution!r}.")
        if min(self.size) < 0 or max(self.size) == 0:
            raise InputError(
                f"`cell` must have a positive size along at least one axis and none negative, but got {self.size}; "
                "give 0 for an axis along which nothing varies."
            )
        if not max(self.size) * self.resolution < 2**31:
            raise InputError(
                f"`cell` times `resolution` must be fewer than 2^31 points along each axis, but got {self.size} times "
                f"{self.resolution!r}: lower one."
            )
        thin = tuple(s == 0 for s in self.size)
        dimensions = 3 - sum(thin)
        limit = 1 / math.sqrt(dimensions)
        if not self.courant > 0:
            raise InputError(f"`courant` must be positive, but got {self.courant!r} (0.5 is the default).")
        if self.courant > limit * (1 + 1e-12):
            raise InputError(
                f"`courant` must be at most 1/sqrt({dimensions}) = {limit:.4g} in {dimensions} dimensions, "
                f"or the fields grow without bound, but got {self.courant!r}: lower it (0.5 is the default)."
            )
        dx = 1 / self.resolution
        nx, ny, nz = shape = tuple(max(1, round(s * self.resolution)) for s in self.size)
        middles = vector(self.center, "center")
        origin = tuple(0.0 if t else c - n / 2 * dx for c, n, t in zip(middles, shape, thin, strict=True))
        end = tuple(0.0 if t else o + n * dx for o, n, t in zip(origin, shape, thin, strict=True))
        # The class is frozen for its users: what follows from the parameters is set once, here.
        vars(self).update(dx=dx, dt=self.courant / self.resolution, thin=thin, dimensions=dimensions)
        vars(self).update(shape=shape, box=Box((0, 0, 0), (nx, ny, nz)), origin=origin, end=end)

    def coordinates(self, component: str, axis: int, start: int, stop: int) -> NDArray[np.float64]:
        """Return the coordinates, in a, of indices start … stop-1 of `component` along `axis`; 0 along a thin axis.

        `component` is a field component, ``"node"`` or ``"centre"``.
        """
        if self.thin[axis]:
            return np.zeros(stop - start)
        indices = np.arange(start, stop, dtype=np.float64)
        return self.origin[axis] + (indices + OFFSETS[component][axis]) * self.dx

    def points(self, component: str, box: Box) -> tuple[NDArray[np.float64], ...]:
        """Return coordinates x, y, z of a box's points, with shapes (nx, 1, 1), (1, ny, 1), (1, 1, nz)."""
        along = [self.coordinates(component, a, box.lo[a], box.hi[a]) for a in range(3)]
        return along[0][:, None, None], along[1][None, :, None], along[2][None, None, :]

    def index(self, position: float, axis: int, component: str = "node") -> float:
        """Return the fractional index of coordinate `position` along `axis`, in the points of `component`."""
        if self.thin[axis]:
            return 0.0
        return (position - self.origin[axis]) * self.resolution - OFFSETS[component][axis]
