"""Maps of fields at chosen frequencies, on points, lines, planes and volumes.

Each component keeps its own points of the Yee grid, so nothing is interpolated along the extents of a region. Along an
axis where the region has size 0, the values are interpolated linearly to its position.
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.extents import check_inside, check_region
from evenly.fdtd.cell.grid import COMPONENTS, Grid, Vector
from evenly.fdtd.monitors.monitor import FourierMonitor, Region

__all__ = ["DftFields", "FieldMap"]

_SNAP = 1e-7


@dataclass(frozen=True)
class FieldMap:
    """Values of one field component on a lattice of points, at each frequency.

    Parameters
    ----------
    x, y, z : arrays of shape (nx,), (ny,), (nz,)
        Coordinates in a.
    frequencies : array of shape (n_frequencies,)
        In c/a.
    values : array of shape (n_frequencies, nx, ny, nz)
    """

    x: NDArray[np.float64]
    y: NDArray[np.float64]
    z: NDArray[np.float64]
    frequencies: NDArray[np.float64]
    values: NDArray[np.generic]


@dataclass(frozen=True)
class _Span:
    """A range of points along one axis; with `weights`, the values are summed with them to interpolate."""

    start: int
    stop: int
    weights: tuple[float, ...] = ()


@explained
class DftFields(FourierMonitor):
    """Field components at chosen frequencies in a region.

    Parameters
    ----------
    components : sequence of str
        One or more of ``"Ex"`` … ``"Hz"``.
    center, size : sequences of up to three floats
        In a; with size 0 along an axis, the region has a single position along it.
    frequencies : sequence of floats
        In c/a.
    every : int, optional
        Sampling interval in steps (see `FourierMonitor`).
    name : str
        Name for messages.

    Raises
    ------
    InputError
        If a component is unknown or given twice.

    Examples
    --------
    >>> monitor = DftFields(["Ez"], (0, 0, 0), (1, 0, 0), [1.0])
    >>> monitor.regions(Grid((2.0, 2.0, 0.0), 10))[0].box
    Box(lo=(5, 10, 0), hi=(16, 11, 1))
    """

    kind = "field monitor"

    def __init__(
        self,
        components: Sequence[str],
        center: Sequence[float],
        size: Sequence[float],
        frequencies: ArrayLike,
        *,
        every: int | None = None,
        name: str = "",
    ) -> None:
        super().__init__(frequencies, every=every, name=name)
        self.components = (components,) if isinstance(components, str) else tuple(components)
        unknown = [component for component in self.components if component not in COMPONENTS]
        if unknown or not self.components or len(set(self.components)) < len(self.components):
            raise InputError(
                f"The components of {self.label} must be one or more of {', '.join(COMPONENTS)}, each once, but got "
                f"{components!r}."
            )
        self.center, self.size = check_region(center, size, self.label)

    def regions(self, grid: Grid) -> list[Region]:
        check_inside(grid, self.center, self.size, self.label)
        return [Region(name, name, _box(_spans(grid, name, self.center, self.size))) for name in self.components]

    def field(self, component: str) -> FieldMap:
        """Return the transforms of one component, gathered on every rank (all ranks must call).

        Raises
        ------
        InputError
            If the monitor does not hold this component.
        """
        if component not in self.components:
            raise InputError(f"{self.label} holds {', '.join(self.components)}, but got {component!r}.")
        grid = self.stage.grid
        spans = _spans(grid, component, self.center, self.size)
        values = self.data(component).arrays[component]
        places = []
        for axis, span in enumerate(spans):
            places.append(grid.coordinates(component, axis, span.start, span.stop))
            if span.weights:
                values = np.tensordot(values, np.array(span.weights), (axis + 1, 0))
                values = np.expand_dims(values, axis + 1)
                places[-1] = np.array([self.center[axis]])
        return FieldMap(places[0], places[1], places[2], self.frequencies, values)


def _spans(grid: Grid, component: str, center: Vector, size: Vector) -> list[_Span]:
    return [_span(grid, component, a, center[a] - size[a] / 2, center[a] + size[a] / 2) for a in range(3)]


def _span(grid: Grid, component: str, axis: int, low: float, high: float) -> _Span:
    if grid.thin[axis]:
        return _Span(0, 1)
    count = grid.shape[axis]
    first = math.ceil(grid.index(low, axis, component) - _SNAP)
    last = math.floor(grid.index(high, axis, component) + _SNAP)
    # All grid points inside the extent. If there are none: two points, with the weights of linear interpolation.
    first, last = max(0, first), min(count - 1, last)
    if low < high and first <= last:
        return _Span(first, last + 1)
    # Positions up to one spacing past the last plane get the values of that plane.
    place = min(max(0.0, grid.index((low + high) / 2, axis, component)), count - 1.0)
    below = math.floor(place + _SNAP)
    part = place - below
    return _Span(below, below + 1, (1.0,)) if abs(part) < _SNAP else _Span(below, below + 2, (1 - part, part))


def _box(spans: Sequence[_Span]) -> Box:
    x, y, z = spans
    return Box((x.start, y.start, z.start), (x.stop, y.stop, z.stop))
