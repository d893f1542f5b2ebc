"""A simulation's geometry as a `Structure` of evenly, which gives the medium at each grid point.

Later objects cover earlier ones. Meep's own statistics count overlaps twice. Here, each point belongs to the one object
whose medium Meep will use there. Meep averages ε at interfaces, but no poles.

Meep's objects hold their surfaces, as far as rounding lets them: whether the grid points on a face belong to the object
depends on the last digit of its position. So a face on grid points is drawn in a little if Meep's own arithmetic puts
these points outside.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import numpy as np

from evenly.adapters.meep.cell.media import is_medium, medium_of
from evenly.adapters.meep.cell.solids import solid_of
from evenly.adapters.meep.cell.varying_materials import Varied, from_array, from_function, from_grid, parts, shifted
from evenly.adapters.meep.grid import numbers, whole_grid_of
from evenly.errors import InputError, ReadError
from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.grid import Grid, Vector
from evenly.fdtd.media.materials import Medium, vacuum
from evenly.fdtd.media.solids import Block, GeometricObject
from evenly.fdtd.media.structure import Structure
from evenly.memory import ARRAYS_MIB, check_unpacked

__all__ = ["media_of", "structure_of"]

# Only points are counted, so any time step is stable.
_NO_TIME_STEP = 1e-9
_HERE: Vector = (0.0, 0.0, 0.0)
# Distances in grid spacings. Within the first, a face lies on grid points. By the second, it is moved off them.
_TOUCHING, _MOVED = 1e-6, 1e-7


def structure_of(sim: Any, grid: Grid, origin: Vector, layers: Layers) -> Structure:
    """Return the structure of a simulation's cell, which gives the medium at each point.

    Parameters
    ----------
    sim : meep.Simulation
    grid : Grid
    origin : three floats
        Middle of the cell in Meep's coordinates.
    layers : Layers
        The absorbing layers of the cell.
    """
    # Files of materials, periodic copies and the like refer to the whole cell, of which `grid` may be a part.
    whole, middle = whole_grid_of(sim)
    background, objects = _background(sim, whole, middle)
    for thing in sim.geometry:
        made = _objects(thing, thing.material, whole, middle)
        copies = _repeated(made, whole) if sim.ensure_periodicity and sim.k_point else [(one, _HERE) for one in made]
        objects += [_settled(solid, thing, by, whole, sim) for solid, by in copies]
    x, y, z = (m - o for m, o in zip(middle, origin, strict=True))
    objects = [shifted(thing, (x, y, z)) for thing in objects]
    still = Grid(grid.size, grid.resolution, _NO_TIME_STEP)
    return Structure(still, objects, background, subpixel=bool(sim.eps_averaging), sharp_strengths=True, layers=layers)


def media_of(sim: Any, structure: Structure) -> list[Medium]:
    """Return all media that Meep allocates memory for: those of all objects, also of hidden ones, and extra media."""
    found = [thing.material for thing in structure.objects if isinstance(thing.material, Medium)]
    return found + [medium_of(material) for material in sim.extra_materials if is_medium(material)]


def _background(sim: Any, grid: Grid, origin: Vector) -> tuple[Medium, list[GeometricObject]]:
    given = sim.material_function or sim.epsilon_func or sim.epsilon_input_file or sim.default_material
    if sim.epsilon_func and given is sim.epsilon_func:
        given.eps = True
    elif sim.material_function and given is sim.material_function:
        given.eps = False
    if is_medium(given):
        return medium_of(given), []
    everywhere = Block(size=(np.inf,) * 3)
    size = [n * grid.dx for n in grid.shape]
    frame = _frame((0.0, 0.0, 0.0), np.eye(3), size)
    return vacuum, list(parts(everywhere, _varied(given, grid, origin, everywhere, frame)))


def _objects(thing: Any, material: Any, grid: Grid, origin: Vector) -> list[GeometricObject]:
    if is_medium(material):
        return [solid_of(thing, medium_of(material), origin)]
    solid = solid_of(thing, vacuum, origin)
    frame = None
    if hasattr(material, "weights"):
        axes = np.array([numbers(e) for e in (thing.e1, thing.e2, thing.e3)])
        center = [c - o for c, o in zip(numbers(thing.center), origin, strict=True)]
        frame = _frame(center, axes / np.linalg.norm(axes, axis=1)[:, None], numbers(thing.size))
    return list(parts(solid, _varied(material, grid, origin, solid, frame)))


def _varied(
    material: Any, grid: Grid, origin: Vector, solid: GeometricObject, frame: Callable[..., Any] | None
) -> Varied:
    if hasattr(material, "weights") and frame is not None:
        return from_grid(material, frame)
    if isinstance(material, str):
        return from_array(_read(material), grid)
    if isinstance(material, np.ndarray):
        return from_array(material, grid)
    if callable(material):
        import meep

        return from_function(material, grid, origin, solid.bounds(), meep.Vector3)
    raise InputError(
        f"A material of the simulation is {material!r}, which evenly doesn't know: it knows media, material functions, "
        "material grids, arrays of permittivities, and files of such arrays."
    )


def _frame(center: Sequence[float], axes: Any, size: Sequence[float]) -> Callable[..., Any]:
    """Return a function from coordinates to shares 0 … 1 of a block along its axes."""
    inverse = np.linalg.inv(np.asarray(axes).T)

    def shares(x: Any, y: Any, z: Any) -> list[Any]:
        away = [v - c for v, c in zip((x, y, z), center, strict=True)]
        along = [sum(w * a for w, a in zip(row, away, strict=True)) for row in inverse]
        return [c / s + 0.5 if s and np.isfinite(s) else 0 * c + 0.5 for c, s in zip(along, size, strict=True)]

    return shares


def _read(name: str) -> Any:
    """Return the data set of a name like ``file.h5:name``, or the first data set of the file if no name is given."""
    path, _, dataset = name.partition(".h5")
    path, dataset = path + ".h5", dataset.lstrip(":")
    try:
        import h5py
    except ImportError as error:
        raise InputError(f"To read {path}, Meep's Python needs h5py, which is missing there: install it.") from error
    try:
        with h5py.File(path) as file:
            names = [key for key, value in file.items() if hasattr(value, "shape")]
            found = file[dataset or names[0]]
            check_unpacked(Path(path), found.size * found.dtype.itemsize, ARRAYS_MIB)
            return np.asarray(found)
    except (OSError, RuntimeError, KeyError, IndexError) as error:
        raise ReadError(path, f"no data set {dataset!r} can be read from it: {error}") from error


def _settled(solid: GeometricObject, thing: Any, by: Vector, grid: Grid, sim: Any) -> GeometricObject:
    """Return one of Meep's blocks, shifted `by` periods, drawn in from grid points that it doesn't hold."""
    if type(solid) is not Block or solid.slanted:
        return solid
    ends = [list(end) for end in solid.bounds()]
    center, size, period = (numbers(one) for one in (thing.center, thing.size, sim.cell_size))
    middle = [c + b - own for c, b, own in zip(center, by, solid.center, strict=True)]
    for axis in (a for a in range(3) if not grid.thin[a] and np.isfinite(size[a])):
        half = grid.shape[axis] * grid.dx / 2
        if ends[0][axis] <= -half + _TOUCHING and ends[1][axis] >= half - _TOUCHING:
            continue
        for end, sign in zip(ends, (-1, 1), strict=True):
            # Meep's points lie at whole numbers of half spacings.
            halves = 2 * (end[axis] + middle[axis]) * grid.resolution
            if abs(halves - round(halves)) <= 2 * _TOUCHING:
                # At the low side of the cell, no process steps the nodes. Those of the next period count instead.
                over = 2 * grid.shape[axis] if sign < 0 and abs(end[axis] + half) <= _TOUCHING else 0
                place = 0.5 * (round(halves) + over) * (1 / grid.resolution)
                periods = round(by[axis] / (2 * half)) + bool(over)
                holds = abs((place - periods * period[axis]) - center[axis]) <= 0.5 * size[axis]
                end[axis] -= 0.0 if holds else sign * _MOVED * grid.dx
    return replace(
        solid,
        size=[high - low for low, high in zip(*ends, strict=True)],
        center=[(low + high) / 2 for low, high in zip(*ends, strict=True)],
        axes=np.eye(3).tolist(),
    )


def _repeated(objects: list[GeometricObject], grid: Grid) -> list[tuple[GeometricObject, Vector]]:
    """Return the objects, and their periodic copies that reach into the cell, as Meep creates them, with their shifts.

    A copy that only touches the cell counts too, since objects hold their surfaces.
    """
    made = []
    for thing in objects:
        low, high = thing.bounds()
        shifts: list[list[float]] = []
        for axis in range(3):
            length = grid.shape[axis] * grid.dx
            least = -length / 2 - _TOUCHING * grid.dx
            reaching = [s for s in (-length, length) if low[axis] + s < length / 2 and high[axis] + s > least]
            wide = low[axis] <= -length / 2 and high[axis] >= length / 2
            shifts.append([0.0] if grid.thin[axis] or wide else [0.0, *reaching])
        made += [(shifted(thing, (x, y, z)), (x, y, z)) for x, y, z in itertools.product(*shifts)]
    return made
