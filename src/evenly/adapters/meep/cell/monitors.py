"""The Fourier transforms of a simulation's monitors, before Meep creates them.

Meep creates monitors only at the first step, so its own cost model and its statistics do not include them. This module
computes the boxes of grid points over which Meep will loop. They are points of Meep's centred grid or of a component's
own grid. A box extends from the point at or below the region's low end to the point at or above its high end.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from typing import Any

import numpy as np

from evenly.adapters.meep.grid import numbers
from evenly.decomposition.cells.cell import Transform
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC, OFFSETS, Grid, Vector

__all__ = ["decimation", "period_of", "transforms_of"]

_CENTRED = "centre"
Ends = tuple[int, int]


def transforms_of(sim: Any, grid: Grid, origin: Vector, active: Sequence[str]) -> tuple[Transform, ...]:
    """Return what the monitors of a simulation transform.

    Parameters
    ----------
    sim : meep.Simulation
    grid : Grid
        Of the cell.
    origin : three floats
        Its middle in Meep's coordinates.
    active : sequence of str
        Components that are stepped.
    """
    periodic = bool(sim.k_point)
    found: Counter[tuple[tuple[int, ...], tuple[int, ...], int]] = Counter()
    for monitor in sim.dft_objects:
        kind, frequencies, every = _told(monitor)
        steps = every or decimation(sim, frequencies, grid.dt)
        for center, size, components in _regions(monitor, kind, grid):
            for name, lattice in components:
                if name in active:
                    for low, high in _boxes(grid, origin, center, size, lattice, periodic=periodic):
                        found[low, high, len(frequencies)] += 1 / steps  # type: ignore[assignment]
    return tuple(Transform(low, high, values, n) for (low, high, n), values in found.items())  # type: ignore[arg-type]


def decimation(sim: Any, frequencies: Sequence[float], dt: float) -> int:
    """Return every how many steps Meep transforms fields where it is left to it (its rule is Nyquist's).

    Parameters
    ----------
    sim : meep.Simulation
        Whose sources limit the band.
    frequencies : sequence of float
    dt : float
        Time step.
    """
    # The highest frequency of the sources' band, and of the monitor: their sum must be sampled.
    highest = 0.0
    for source in sim.sources:
        width = source.src.swigobj.get_fwidth()
        if width == 0:
            return 1
        highest = max(highest, abs(complex(source.src.swigobj.frequency()).real) + 0.5 * width)
    wanted = max((abs(f) for f in frequencies), default=0.0)
    if highest <= 0 or wanted <= 0:
        return 1
    return max(1, math.floor(1 / (dt * (wanted + highest))))


def period_of(sim: Any, dt: float) -> int:
    """Return after how many steps all monitors of a simulation have transformed equally often again.

    Parameters
    ----------
    sim : meep.Simulation
    dt : float
        Time step.
    """
    told = (_told(monitor)[1:] for monitor in sim.dft_objects)
    return math.lcm(*(every or decimation(sim, frequencies, dt) for frequencies, every in told))


def _told(monitor: Any) -> tuple[str, list[float], int]:
    """Return a monitor's kind, its frequencies, and every how many steps it was told to transform (0: Meep decides)."""
    kind = type(monitor).__name__
    if kind == "DftFields":
        return kind, _floats(monitor.args[4]), int(monitor.args[6])
    return kind, _floats(monitor.args[0]), int(monitor.args[-1])


def _floats(values: Any) -> list[float]:
    return [float(v) for v in np.ravel(values)]


def _regions(monitor: Any, kind: str, grid: Grid) -> Iterator[tuple[Vector, Vector, list[tuple[str, str]]]]:
    """Yield centre and size, in Meep's coordinates, and the components with their lattices, of each region."""
    if kind == "DftFields":
        lattice = _CENTRED if monitor.args[5] else ""
        names = [_component(c) for c in monitor.args[0]]
        for region in monitor.regions:
            yield *_where(region), [(name, lattice or name) for name in names]
        return
    for region in monitor.regions:
        center, size = _where(region)
        yield center, size, list(_of_region(kind, monitor, region, size, grid))


def _where(region: Any) -> tuple[Vector, Vector]:
    where = getattr(region, "where", None)
    if where is not None and region.center is None:
        return numbers(where.center), numbers(where.size)
    return numbers(region.center), numbers(region.size)


def _of_region(kind: str, monitor: Any, region: Any, size: Vector, grid: Grid) -> Iterator[tuple[str, str]]:
    """Yield the components, with the lattice they are taken on, that a region of a kind of monitor needs."""
    if kind == "DftEnergy":
        # E, D, H and B of all directions: D and B are counted as E and H.
        yield from ((name, _CENTRED) for name in (*ELECTRIC, *MAGNETIC) * 2)
        return
    across = _normal(size, grid)
    told = int(region.direction)
    direction = told if 0 <= told < 3 else across
    if kind == "DftForce" and direction == across:
        yield from ((name, name) for name in (*ELECTRIC, *MAGNETIC))
    elif kind == "DftForce":
        for axis in {direction, across}:
            yield from ((name[axis], _CENTRED) for name in (ELECTRIC, MAGNETIC))
    else:
        own = kind == "DftNear2Far" or (monitor.func.__name__ == "_add_mode_monitor" and bool(monitor.args[2]))
        for axis in (a for a in range(3) if a != direction):
            for name in (ELECTRIC[axis], MAGNETIC[axis]):
                yield name, name if own else _CENTRED


def _normal(size: Vector, grid: Grid) -> int:
    """Return the axis across which a region has no extent; the first of those along which the cell has one."""
    flat = [axis for axis in range(3) if size[axis] == 0]
    inside = [axis for axis in flat if not grid.thin[axis]]
    return (inside or flat or [0])[0]


def _component(code: int) -> str:
    """Return the name of one of Meep's components, D and B as E and H.

    Meep numbers x, y, r, p, z of E, then of H, D and B.
    """
    family, axis = divmod(int(code), 5)
    return "EHEH"[min(family, 3)] + {0: "x", 1: "y", 4: "z"}.get(axis, "z")


def _boxes(
    grid: Grid, origin: Vector, center: Vector, size: Vector, lattice: str, *, periodic: bool
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    along = [
        [(0, 1)] if grid.thin[a] else list(_runs(grid, origin[a], center[a], size[a], lattice, a, periodic=periodic))
        for a in range(3)
    ]
    for ends in itertools.product(*along):
        yield tuple(end[0] for end in ends), tuple(end[1] for end in ends)


def _runs(
    grid: Grid, origin: float, center: float, size: float, lattice: str, axis: int, *, periodic: bool
) -> Iterator[Ends]:
    """Yield the ranges of grid points of a region along an axis; what sticks out of a periodic side comes in again."""
    shift = OFFSETS[lattice][axis]
    low, high = (grid.index(center - origin + side * size / 2, axis) - shift for side in (-1, 1))
    # Meep's points are half a spacing above their node, or, where they sit on nodes, belong to the one below.
    first, last = math.floor(low + 1e-9) - (shift == 0), math.ceil(high - 1e-9) + 1 - (shift == 0)
    n = grid.shape[axis]
    for period in (-1, 0, 1) if periodic else (0,):
        start, stop = max(first, period * n), min(last, (period + 1) * n)
        if start < stop:
            yield start - period * n, stop - period * n
