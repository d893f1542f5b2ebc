"""Weights of grid points for a point, line, plane or volume at any position relative to the grid.

Fields are interpolated linearly between grid points, so the weights are hat functions. For a point x, each of the two
grid points around it gets 1 - |x - x_i|/dx. For an extent [lo, hi], grid point i gets the integral
∫ hat((x - x_i)/dx) dx / dx over the extent, which is 1 inside and a fraction at the ends. The weights of an extent add
up exactly to its length divided by dx.

At the ends of the cell: along a periodic axis, a point past the last one is the first point of the next period. The
phase factor between them is 1, or exp(ikL) along a Bloch axis. Along an axis with walls, components half a spacing
from the wall have a mirror image of the same sign (E normal to the wall, H along it). So their weights past the end are
added to the last point inside.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import AXES, Box
from evenly.fdtd.cell.grid import OFFSETS, Grid, Vector, vector
from evenly.memory import check_room

__all__ = ["AxisWeights", "axis_weights", "check_inside", "check_region", "hat_weights", "hull", "merged", "weights_in"]

_SNAP = 1e-7
Phase = complex | None


@dataclass(frozen=True)
class AxisWeights:
    """Consecutive grid points along one axis, with their weights.

    Parameters
    ----------
    start : int
        First index, inside the cell.
    weights : array of shape (n,)
        Real, or complex for points in another period of a Bloch axis.
    shift : int
        Add this to an index to get the original index, which may lie outside the cell by a period.
    """

    start: int
    weights: NDArray[Any]
    shift: int = 0

    @property
    def stop(self) -> int:
        """One past the last index."""
        return self.start + len(self.weights)


def hat_weights(low: float, high: float) -> tuple[int, NDArray[np.float64]]:
    """Return the first index and the weights of the grid points for a point or extent in fractional indices.

    Parameters
    ----------
    low, high : float
        Ends in fractional indices; equal for a point.

    Returns
    -------
    start : int
    weights : array of shape (n,)
        Their sum is ``high - low``, or 1 for a point.

    Examples
    --------
    >>> hat_weights(1.25, 1.25)
    (1, array([0.75, 0.25]))
    >>> hat_weights(0.0, 2.0)
    (0, array([0.5, 1. , 0.5]))
    >>> hat_weights(-0.5, 1.5)
    (-1, array([0.125, 0.875, 0.875, 0.125]))
    """
    # Coordinates carry round-off: 2.9999999 means 3. Indices are snapped to whole and half numbers.
    low, high = (near if abs(v - (near := round(2 * v) / 2)) < _SNAP else v for v in (low, high))
    start = int(np.floor(low))
    check_room(f"a line of {high - low:.4g} grid points", 32.0 * (high - low), "lower the resolution")
    points = np.arange(start, int(np.ceil(high)) + 1, dtype=np.float64)
    if high == low:
        weights = np.maximum(0.0, 1 - np.abs(points - low))
    else:
        weights = _hat_integral(high - points) - _hat_integral(low - points)
    keep = np.flatnonzero(weights)
    return int(points[keep[0]]), weights[keep[0] : keep[-1] + 1]


def axis_weights(
    grid: Grid, component: str, axis: int, low: float, high: float, phase: Phase = None
) -> list[AxisWeights]:
    """Return the weights of the points of `component` along `axis` for a point or extent in coordinates.

    Parameters
    ----------
    grid : Grid
    component : str
        A field component, or "node" or "centre".
    axis : int
    low, high : float
        Coordinates in a, inside the cell; equal for a point.
    phase : complex, optional
        exp(ikL) along a periodic axis (1 without Bloch); None along an axis with walls.

    Returns
    -------
    list of AxisWeights
        Those inside the cell, and further ones for points past an end of the cell, moved by a period.

    Examples
    --------
    >>> grid = Grid((0.4, 1.0, 1.0), 10)
    >>> [(part.start, part.weights.tolist()) for part in axis_weights(grid, "Ex", 0, -0.2, 0.2, phase=1)]
    [(0, [0.875, 1.0, 1.0, 0.875]), (3, [0.125]), (0, [0.125])]
    >>> [(part.start, part.weights.tolist()) for part in axis_weights(grid, "Ex", 0, -0.2, 0.2)]
    [(0, [1.0, 1.0, 1.0, 1.0])]
    """
    if grid.thin[axis]:
        return [AxisWeights(0, np.ones(1))]
    low, high = (min(max(v, grid.origin[axis]), grid.end[axis]) for v in (low, high))
    start, weights = hat_weights(grid.index(low, axis, component), grid.index(high, axis, component))
    count = grid.shape[axis]
    if phase is None and OFFSETS[component][axis] == 0.5:
        return [_folded(start, weights, count)]
    return _wrapped(start, weights, count, 1 if phase is None else phase)


def merged(found: list[AxisWeights], scale: float = 1.0) -> list[AxisWeights]:
    """Return the weights, times `scale`, merged so that no two parts overlap: those of the same point are added.

    Examples
    --------
    >>> whole = axis_weights(Grid((0.4, 1.0, 1.0), 10), "Ey", 0, -0.2, 0.2, phase=1)
    >>> [(part.start, part.weights.tolist()) for part in merged(whole)]
    [(0, [1.0, 1.0, 1.0, 1.0])]
    """
    start, stop = min(part.start for part in found), max(part.stop for part in found)
    total = np.zeros(stop - start, dtype=np.result_type(*(part.weights for part in found)))
    for part in found:
        total[part.start - start : part.stop - start] += part.weights
    filled = np.flatnonzero(total)
    groups = np.split(filled, np.flatnonzero(np.diff(filled) > 1) + 1)
    return [AxisWeights(start + int(group[0]), total[group] * scale) for group in groups if len(group)]


def hull(along: Sequence[AxisWeights]) -> Box:
    """Return the box of the points that have weights along x, y and z.

    Examples
    --------
    >>> hull([AxisWeights(2, np.ones(3)), AxisWeights(0, np.ones(1)), AxisWeights(1, np.ones(2))])
    Box(lo=(2, 0, 1), hi=(5, 1, 3))
    """
    x, y, z = along
    return Box((x.start, y.start, z.start), (x.stop, y.stop, z.stop))


def weights_in(along: Sequence[AxisWeights], box: Box) -> tuple[NDArray[Any], NDArray[Any], NDArray[Any]]:
    """Return the weights along x, y, z of the points of `box`, which must lie inside their `hull`.

    Examples
    --------
    >>> [w.tolist() for w in weights_in([AxisWeights(0, np.array([0.5, 1.0]))] * 3, Box((0, 1, 0), (1, 2, 2)))]
    [[0.5], [1.0], [0.5, 1.0]]
    """
    x, y, z = (w.weights[a - w.start : b - w.start] for w, a, b in zip(along, box.lo, box.hi, strict=True))
    return x, y, z


def check_region(center: Sequence[float] | float, size: Sequence[float] | float, name: str) -> tuple[Vector, Vector]:
    """Return the centre and size of a region as three floats each, after checking them.

    Raises
    ------
    InputError
        If they are not finite numbers, or a size is negative.

    Examples
    --------
    >>> check_region(0.5, (1, 2), "a source")
    ((0.5, 0.0, 0.0), (1.0, 2.0, 0.0))
    """
    middle, extent = vector(center, f"center of {name}"), vector(size, f"size of {name}")
    if min(extent) < 0:
        raise InputError(f"The size of {name} must not be negative, but got {extent}.")
    return middle, extent


def check_inside(grid: Grid, center: Vector, size: Sequence[float], name: str) -> None:
    """Check that a region lies inside the cell; along a thin axis, check that it contains coordinate 0.

    Raises
    ------
    InputError
        If it doesn't; the message holds `name`, the axis, and the cell's ends.

    Examples
    --------
    >>> check_inside(Grid((2.0, 1.0, 0.0), 10), (0.5, 0, 0), (1.0, 0, 0), "a source")
    """
    for axis in range(3):
        low, high = center[axis] - size[axis] / 2, center[axis] + size[axis] / 2
        start, end = grid.origin[axis], grid.end[axis]
        # The cell is rounded to whole points, so a region that fits the given size may reach half a point further.
        slack = 0.5 * grid.dx * (1 + 1e-6)
        if grid.thin[axis]:
            if low > _SNAP or high < -_SNAP:
                raise InputError(
                    f"{name[0].upper()}{name[1:]} must be where the cell is, which is thin along {AXES[axis]}: at "
                    f"{AXES[axis]} = 0, but it reaches from {low:g} to {high:g}: move it to 0."
                )
        elif low < start - slack or high > end + slack:
            raise InputError(
                f"{name[0].upper()}{name[1:]} must lie inside the cell, {AXES[axis]} from {start:g} to {end:g}, but it "
                f"reaches from {low:g} to {high:g}: move or shrink it, or enlarge the cell."
            )


def _hat_integral(x: NDArray[np.float64]) -> NDArray[np.float64]:
    """∫ from -∞ to x of hat."""
    x = np.clip(x, -1, 1)
    return np.asarray(np.where(x < 0, 0.5 * (1 + x) ** 2, 1 - 0.5 * (1 - x) ** 2))


def _folded(start: int, weights: NDArray[np.float64], count: int) -> AxisWeights:
    kept = weights[max(0, -start) : count - start].copy()
    if start < 0:
        kept[0] += weights[:-start].sum()
    past = start + len(weights) - count
    if past > 0:
        kept[-1] += weights[-past:].sum()
    return AxisWeights(max(0, start), kept)


def _wrapped(start: int, weights: NDArray[np.float64], count: int, phase: complex) -> list[AxisWeights]:
    """Return weights inside the cell for points in this and the two neighbouring periods, with Bloch phases.

    A point m periods further has the field of the cell's point times phase^m. The factor here is phase^-m.
    """
    phase = phase.real if complex(phase).imag == 0 else phase
    found = []
    for period in (0, -1, 1):
        first, last = max(start, period * count), min(start + len(weights), (period + 1) * count)
        if first < last:
            part = weights[first - start : last - start]
            turned = part if period == 0 or phase == 1 else part * phase ** (-period)
            found.append(AxisWeights(first - period * count, turned, shift=period * count))
    return found
