"""The Fourier transforms of a simulation's monitors, before Meep creates them.

Meep creates monitors only at the first step, and its own cost model counts them without their decimation. This module
computes the boxes of grid points over which Meep will loop. They are points of Meep's centred grid or of a component's
own grid. A box extends from the point at or below the region's low end to the point at or above its high end.
"""

from __future__ import annotations

import itertools
import math
from collections import Counter
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.adapters.meep.grid import AXIS_OF, numbers, volume_of
from evenly.adapters.meep.symmetry import Image, images, kept_axes
from evenly.decomposition.cells.cell import Transform
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC, OFFSETS, Grid, Vector

__all__ = ["decimation", "period_of", "transforms_of"]

_CENTRED = "centre"
# Makers of monitors whose regions Meep reduces by the cell's symmetry.
_REDUCED = ("_add_flux", "_add_force")
Ends = tuple[int, int]
_Region = tuple[Vector, Vector, list[tuple[str, str]]]


def transforms_of(sim: Any, grid: Grid, origin: Vector, active: Sequence[str]) -> tuple[Transform, ...]:
    """Return the Fourier transforms of the monitors of a simulation.

    Parameters
    ----------
    sim : meep.Simulation
    grid : Grid
        The grid of the cell.
    origin : three floats
        The middle of the cell in Meep's coordinates.
    active : sequence of str
        The components that Meep steps.
    """
    sides = _Sides.of(sim)
    found: Counter[tuple[tuple[int, ...], tuple[int, ...], int]] = Counter()
    for monitor in sim.dft_objects:
        kind, frequencies, every = _told(monitor)
        steps = every or decimation(sim, frequencies, grid.dt)
        regions = list(_regions(monitor, kind, grid))
        if getattr(monitor.func, "__name__", "") in _REDUCED:
            regions = _reduced(regions, sides.images)
        for center, size, components in regions:
            for image, (name, lattice) in itertools.product(sides.images, components):
                if name in active:
                    place, seen = (
                        image.place(center, size),
                        lattice if lattice == _CENTRED else image.component(lattice),
                    )
                    for low, high in _boxes(grid, origin, *place, seen, sides, image):
                        found[low, high, len(frequencies)] += 1 / steps  # type: ignore[assignment]
    return tuple(Transform(low, high, values, n) for (low, high, n), values in found.items())  # type: ignore[arg-type]


@dataclass(frozen=True)
class _Sides:
    """What is beyond the sides of the cell that Meep steps.

    Parameters
    ----------
    images : sequence of Image
        The images under the cell's symmetry, first the cell itself.
    halved : set of int
        Axes whose low side is a plane of symmetry. The points there are images, but those on the plane itself are not.
    periodic : set of int
        Axes whose sides are neighbours.
    """

    images: Sequence[Image]
    halved: frozenset[int]
    periodic: frozenset[int]

    @classmethod
    def of(cls, sim: Any) -> _Sides:
        volume, symmetry = volume_of(sim)
        halved = frozenset(kept_axes(volume, symmetry))
        periodic = frozenset(range(3) if sim.k_point else ()) - halved
        return cls(list(images(volume, symmetry)), halved, periodic)

    def first(self, axis: int, shift: float, image: Image) -> int:
        """Return the first point along an axis that Meep transforms for an image of a region."""
        return int(axis in self.halved and (shift != 0 or image.turn[axis, axis] != 1))


def _reduced(regions: Sequence[_Region], seen: Sequence[Image]) -> list[_Region]:
    """Return the regions that Meep keeps: one of several that are images of each other, half of one that is its own."""
    kept: list[_Region] = []
    for center, size, components in regions:
        if any(_same(image.place(center, size), other[:2]) for image in seen for other in kept):
            continue
        middle, extent = np.array(center), np.array(size)
        for image in seen:
            flipped = [axis for axis in range(3) if image.turn[axis, axis] == -1 and extent[axis] > 0]
            if flipped and _same(image.place(_vector(middle), _vector(extent)), (_vector(middle), _vector(extent))):
                extent[flipped[0]] /= 2
                middle[flipped[0]] += extent[flipped[0]] / 2
        kept.append((_vector(middle), _vector(extent), components))
    return kept


def _vector(values: Any) -> Vector:
    x, y, z = (float(v) for v in values)
    return x, y, z


def _same(one: tuple[Vector, Vector], other: tuple[Vector, Vector]) -> bool:
    return bool(np.allclose(one, other, rtol=0, atol=1e-6))


def decimation(sim: Any, frequencies: Sequence[float], dt: float) -> int:
    """Return the number of steps from one transform to the next if Meep chooses it, by Nyquist's rule.

    Parameters
    ----------
    sim : meep.Simulation
        Its sources limit the band of the fields.
    frequencies : sequence of float
        The frequencies of the monitor.
    dt : float
        The time step.
    """
    # The sum of the highest frequencies of the sources and of the monitor must be sampled.
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
    """Return the number of steps after which the pattern of all monitors' transforms repeats.

    Parameters
    ----------
    sim : meep.Simulation
    dt : float
        Time step.
    """
    told = (_told(monitor)[1:] for monitor in sim.dft_objects)
    return math.lcm(*(every or decimation(sim, frequencies, dt) for frequencies, every in told))


def _told(monitor: Any) -> tuple[str, list[float], int]:
    """Return a monitor's kind, its frequencies, and its number of steps per transform (0 if Meep chooses it)."""
    kind = type(monitor).__name__
    if kind == "DftFields":
        return kind, _floats(monitor.args[4]), int(monitor.args[6])
    return kind, _floats(monitor.args[0]), int(monitor.args[-1])


def _floats(values: Any) -> list[float]:
    return [float(v) for v in np.ravel(values)]


def _regions(monitor: Any, kind: str, grid: Grid) -> Iterator[_Region]:
    """Yield for each region its centre and size, in Meep's coordinates, and its components with their lattices."""
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
    """Yield the components that a region of a kind of monitor needs, each with the lattice of its values."""
    if kind == "DftEnergy":
        # E, D, H and B in all directions: D and B are counted as E and H.
        yield from ((name, _CENTRED) for name in (*ELECTRIC, *MAGNETIC) * 2)
        return
    across = _normal(size, grid)
    direction = AXIS_OF.get(int(region.direction), across)
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
    """Return the axis normal to a flat region, preferably an axis along which the cell has an extent."""
    flat = [axis for axis in range(3) if size[axis] == 0]
    inside = [axis for axis in flat if not grid.thin[axis]]
    return (inside or flat or [0])[0]


def _component(code: int) -> str:
    """Return the name of one of Meep's components, with E for D, H for B, x for r, and y for the angle.

    Meep numbers the directions x, y, r, p, z of E, then those of H, D and B.
    """
    family, axis = divmod(int(code), 5)
    return "EHEH"[min(family, 3)] + "xyxyz"[axis]


def _boxes(
    grid: Grid, origin: Vector, center: Vector, size: Vector, lattice: str, sides: _Sides, image: Image
) -> Iterator[tuple[tuple[int, ...], tuple[int, ...]]]:
    along = []
    for axis in range(3):
        shift = OFFSETS[lattice][axis]
        ends = [grid.index(center[axis] - origin[axis] + side * size[axis] / 2, axis) - shift for side in (-1, 1)]
        first = sides.first(axis, shift, image)
        found = _runs(ends[0], ends[1], shift, first, grid.shape[axis], periodic=axis in sides.periodic)
        along.append([(0, 1)] if grid.thin[axis] else list(found))
    for runs in itertools.product(*along):
        yield tuple(run[0] for run in runs), tuple(run[1] for run in runs)


def _runs(low: float, high: float, shift: float, least: int, n: int, *, periodic: bool) -> Iterator[Ends]:
    """Yield the ranges of grid points of a region along an axis. At periodic sides, a range is wrapped around."""
    # Meep's points lie half a spacing above their node. Points on nodes belong to the node below.
    first, last = math.floor(low + 1e-9) - (shift == 0), math.ceil(high - 1e-9) + 1 - (shift == 0)
    for period in (-1, 0, 1) if periodic else (0,):
        start, stop = max(first, period * n + least), min(last, (period + 1) * n)
        if start < stop:
            yield start - period * n, stop - period * n
