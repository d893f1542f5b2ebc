"""Evaluates the present fields: at a point, as an integral over a region, or their largest magnitude.

All ranks must call these functions, and all get the same result. No fields are gathered.
"""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Iterator, Sequence
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box, Index
from evenly.fdtd.cell.extents import AxisWeights, axis_weights, check_inside, check_region, hull, weights_in
from evenly.fdtd.cell.grid import OFFSETS, Grid, Vector
from evenly.fdtd.monitors.points import PointProbe, check_component
from evenly.fdtd.stepping.halo import Halo, Need, match

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields
    from evenly.fdtd.stepping.chunk import Chunk

__all__ = ["field_point", "integrate", "max_abs_field"]

Array = NDArray[Any]
Place = Sequence[float] | float
_SLAB_POINTS = 500_000
_SNAP = 1e-7
# The halos of stepping have tags below 64.
_TAG = 64


def field_point(sim: Fields, component: str, point: Place) -> float | complex:
    """Return a field component at a point, interpolated linearly between grid points (complex if the fields are).

    Parameters
    ----------
    sim : Fields
    component : str
        ``"Ex"`` … ``"Hz"``. E is taken at `sim.time`, H half a time step later.
    point : up to three floats
        In a.

    Raises
    ------
    InputError
        An unknown component, or a point outside the cell.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> field_point(Simulation(cell=(1, 1, 1), resolution=4), "Ez", (0.1, 0, 0))
    0.0
    """
    probe = PointProbe(sim, component, point, "a field probe")
    value = probe.combine(probe.everyones(probe.read(), 1))[0]
    return complex(value) if sim.parts == 2 else float(value)


def max_abs_field(sim: Fields, component: str, center: Place | None = None, size: Place | None = None) -> float:
    """Return the largest magnitude of a field component on the grid points of a region.

    Parameters
    ----------
    sim : Fields
    component : str
        ``"Ex"`` … ``"Hz"``.
    center, size : up to three floats, optional
        In a; default: the whole cell. Along an axis with size 0 the nearest grid points are used.

    Raises
    ------
    InputError
        An unknown component, or a region outside the cell.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> max_abs_field(Simulation(cell=(1, 1, 1), resolution=4), "Ez")
    0.0
    """
    check_component(component, "max_abs_field")
    box = sim.grid.box
    if center is not None or size is not None:
        middle, edges = region(sim.grid, center, size, "the region of max_abs_field")
        box = _points_inside(sim.grid, component, middle, edges)
    largest = 0.0
    for image, chunk in itertools.product(sim.layers.images(component), sim.chunks):
        inside = image.turned(box & image.seen) & chunk.box
        for slab in [] if inside.empty else inside.slabs(0, _SLAB_POINTS):
            parts = [chunk.view(component, part, slab) for part in range(chunk.parts)]
            magnitude = np.abs(parts[0]) if len(parts) == 1 else np.hypot(parts[0], parts[1])
            # NumPy's max propagates NaN; Python's max may lose it.
            largest = float(np.max([largest, float(magnitude.max())]))
    return float(sim.communicator.allreduce(largest, "max"))


def integrate(
    sim: Fields,
    function: Callable[..., Any],
    components: Sequence[str],
    center: Place | None = None,
    size: Place | None = None,
) -> float | complex:
    """Return the integral of a function of the fields and the position over a region.

    The fields are averaged to the centres of the grid's cells, and the function is evaluated there. The sum over the
    centres is second-order accurate. E is taken at `sim.time`, H half a time step later.

    Parameters
    ----------
    sim : Fields
    function : callable
        ``function(x, y, z, *fields)`` with coordinates in a, shaped to broadcast as (nx, 1, 1), (1, ny, 1), (1, 1, nz),
        and one array (nx, ny, nz) per component, complex if the fields are.
    components : sequence of str
        The field components that the function gets, in this order; it may be empty.
    center, size : up to three floats, optional
        In a; default: the whole cell. There is no integration along an axis with size 0, nor along a thin axis of the
        cell.

    Raises
    ------
    InputError
        An unknown component, a region outside the cell, or values of a wrong shape.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> sim = Simulation(cell=(2, 1, 1), resolution=4)
    >>> integrate(sim, lambda x, y, z, ez: x**2 + ez, ["Ez"])
    0.65625
    """
    names = [components] if isinstance(components, str) else list(components)
    for component in names:
        check_component(component, "integrate")
    middle, edges = region(sim.grid, center, size, "the region of integrate")
    combinations = _combinations(sim, middle, edges)
    _fill_upper_ghosts(sim, names, [hull(along) for along in combinations])
    total: Any = 0.0
    mirrors = sim.layers.images("centre")
    for chunk, along, n in itertools.product(sim.chunks, combinations, range(len(mirrors))):
        inside = mirrors[n].turned(chunk.box & mirrors[n].kept) & hull(along)
        for slab in [] if inside.empty else inside.slabs(0, _SLAB_POINTS):
            fields = [_seen(sim, chunk, name, n, slab) for name in names]
            total = total + _part(sim, function, fields, along, slab)
    both = sim.communicator.allreduce(np.array([np.real(total), np.imag(total)], np.float64))
    is_complex = any(sim.communicator.allgather(np.iscomplexobj(total)))
    return complex(both[0], both[1]) if is_complex else float(both[0])


def region(grid: Grid, center: Place | None, size: Place | None, what: str) -> tuple[Vector, Vector]:
    """Return centre and size of a region, by default of the whole cell.

    Raises
    ------
    InputError
        It isn't inside the cell, or a size is negative.

    Examples
    --------
    >>> region(Grid((2, 1, 0), 10), None, None, "a region")
    ((0.0, 0.0, 0.0), (2.0, 1.0, 0.0))
    """
    whole = [0.0 if thin else n * grid.dx for n, thin in zip(grid.shape, grid.thin, strict=True)]
    middle, edges = check_region(0.0 if center is None else center, whole if size is None else size, what)
    check_inside(grid, middle, edges, what)
    return middle, edges


def _points_inside(grid: Grid, component: str, center: Vector, size: Vector) -> Box:
    box = grid.box
    for axis in (a for a in range(3) if not grid.thin[a]):
        low, high = (grid.index(center[axis] + sign * size[axis] / 2, axis, component) for sign in (-1, 1))
        first, last = math.ceil(low - _SNAP), math.floor(high + _SNAP)
        if first > last:
            first = last = round((low + high) / 2)
        top = grid.shape[axis] - 1
        box = box.replace(axis, min(max(first, 0), top), min(max(last, 0), top) + 1)
    return box


def _combinations(sim: Fields, center: Vector, size: Vector) -> list[tuple[AxisWeights, ...]]:
    """Return the runs of cell centres in the region; around a periodic cell there are several, shifted by periods."""
    along = []
    for axis in range(3):
        low, high = (center[axis] + sign * size[axis] / 2 for sign in (-1, 1))
        periodic = sim.layers.kinds[axis] == "periodic"
        found = axis_weights(sim.grid, "centre", axis, low, high, 1 if periodic else None)
        step = sim.grid.dx if size[axis] and not sim.grid.thin[axis] else 1.0
        along.append([AxisWeights(run.start, run.weights * step, run.shift) for run in found])
    return list(itertools.product(*along))


def _fill_upper_ghosts(sim: Fields, components: Sequence[str], hulls: Sequence[Box]) -> None:
    """Let chunks see their neighbours' points above them, edges and corners too, as averaging to centres needs them."""
    boxes = [chunk.box for chunk in sim.chunk_boxes]
    kept = [image.turned(image.seen & one) for image in sim.layers.images("centre") for one in hulls]
    touched = [n for n, box in enumerate(boxes) if any(not (box & one).empty for one in kept)]
    needs = []
    for n, component in itertools.product(touched, components):
        x, y, z = (
            hi if thin or half else hi + 1
            for hi, thin, half in zip(boxes[n].hi, sim.grid.thin, OFFSETS[component], strict=True)
        )
        needs += [Need(n, component, part) for part in Box(boxes[n].lo, (x, y, z)).without(boxes[n])]
    mine = {chunk.index: chunk for chunk in sim.chunks}
    sim.stepper.settle()
    halo = Halo(match(needs, boxes, sim.layers), sim.chunk_boxes, mine, sim.communicator, _TAG)
    halo.exchange()


def _part(
    sim: Fields, function: Callable[..., Any], fields: Sequence[Array], along: Sequence[AxisWeights], slab: Box
) -> Any:
    shift: Index = (along[0].shift, along[1].shift, along[2].shift)
    turn = _turn(sim, shift)
    values = np.asarray(function(*sim.grid.points("centre", slab.shift(shift)), *(turn * f for f in fields)))
    try:
        values = np.broadcast_to(values, slab.shape)
    except ValueError:
        raise InputError(
            f"The function of integrate must return an array that broadcasts to the {slab.shape} points it is asked "
            f"for, but got shape {values.shape}."
        ) from None
    return np.einsum("xyz,x,y,z", values, *weights_in(along, slab))


def _turn(sim: Fields, shift: Index) -> float | complex:
    """Return the factor from the fields inside the cell to those `shift` points further."""
    turn = complex(1)
    for axis, by in enumerate(shift):
        turn *= (sim.layers.phases[axis] or 1) ** (by // sim.grid.shape[axis])
    return turn if turn.imag else turn.real


def _seen(sim: Fields, chunk: Chunk, component: str, n: int, slab: Box) -> Array:
    """Return a component at centres of cells, as the cell's image number `n` shows the kept ones."""
    kept = sim.layers.images("centre")[n].turned(slab)
    image = sim.layers.images(component)[n]
    return np.asarray(image.factor * image.flipped(_centred(chunk, component, kept)))


def _centred(chunk: Chunk, component: str, slab: Box) -> Array:
    parts = [np.asarray(_averaged(chunk, component, part, slab), np.float64) for part in range(chunk.parts)]
    return parts[0] if len(parts) == 1 else parts[0] + 1j * parts[1]


def _averaged(chunk: Chunk, component: str, part: int, slab: Box) -> Array:
    shifts = list(_shifts(chunk, component))
    total: Any = sum(chunk.view(component, part, slab.shift(shift)) for shift in shifts)
    return np.asarray(total / len(shifts))


def _shifts(chunk: Chunk, component: str) -> Iterator[Index]:
    steps = [(0,) if thin or half else (0, 1) for thin, half in zip(chunk.grid.thin, OFFSETS[component], strict=True)]
    yield from itertools.product(*steps)
