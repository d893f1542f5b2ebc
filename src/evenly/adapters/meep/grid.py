"""The grid of a Meep simulation's cell, in Meep's coordinates; this module runs in Meep's own Python.

The centre of Meep's grid need not be the origin: `geometry_center` and an odd number of points shift it. Of a cell with
symmetries, Meep steps only a part, and this part is the cell that is cut (`evenly.adapters.meep.symmetry`). In
cylindrical coordinates, r is evenly's x, and z is z.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.adapters.meep.symmetry import kept
from evenly.decomposition.rebalancing.measured_times import ChunkVolume
from evenly.fdtd.cell.grid import Grid, Vector

__all__ = ["AXIS_OF", "directions", "grid_of", "is_cylindrical", "numbers", "volume_of", "volumes_of", "whole_grid_of"]

#: evenly's axis (0: x, 1: y, 2: z) of each of Meep's directions X, Y, Z, R and P.
AXIS_OF = {0: 0, 1: 1, 2: 2, 3: 0, 4: 1}


def numbers(vector: Any) -> Vector:
    """Return x, y, z of one of Meep's vectors or of a sequence."""
    x, y, z = (vector.x, vector.y, vector.z) if hasattr(vector, "x") else (*vector, 0.0, 0.0)[:3]
    return float(np.real(x)), float(np.real(y)), float(np.real(z))


def is_cylindrical(sim: Any) -> bool:
    """Return whether a simulation has cylindrical coordinates."""
    import meep

    return bool(sim.is_cylindrical or sim.dimensions == meep.CYLINDRICAL)


def directions(sim: Any) -> dict[int, int]:
    """Return the axes of evenly along which Meep's grid has points, with Meep's direction of each."""
    if is_cylindrical(sim):
        return {0: 3, 2: 2}
    dims = sim._infer_dimensions(sim.k_point)
    return {axis: axis for axis in {0: (2,), 1: (2,), 2: (0, 1), 3: (0, 1, 2)}[dims]}


def grid_of(sim: Any) -> tuple[Grid, Vector]:
    """Return the grid of the cell that Meep steps, and its middle in Meep's coordinates. The simulation is not changed.

    With symmetries, it is the part of the cell that Meep keeps.
    """
    whole, symmetry = volume_of(sim)
    return _grid(sim, kept(whole, symmetry))


def whole_grid_of(sim: Any) -> tuple[Grid, Vector]:
    """Return the same without regard to symmetries."""
    return _grid(sim, volume_of(sim)[0])


def volume_of(sim: Any) -> tuple[Any, Any]:
    """Return Meep's volume of a simulation's whole cell, and its symmetry. The simulation is not changed."""
    # The creation of the volume changes these two if Meep infers the dimensions.
    dimensions, cylindrical = sim.dimensions, sim.is_cylindrical
    volume = sim._create_grid_volume(sim.k_point)
    symmetry = sim._create_symmetries(volume)
    sim.dimensions, sim.is_cylindrical = dimensions, cylindrical
    return volume, symmetry


def _grid(sim: Any, volume: Any) -> tuple[Grid, Vector]:
    # A cell of no extent along an axis may have one point there, as along z for a k_point with kz_2d="3d".
    sizes, middle = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for axis, direction in directions(sim).items():
        sizes[axis] = volume.num_direction(direction) / sim.resolution
        middle[axis] = volume.origin_in_direction(direction) + sizes[axis] / 2
    # Meep reduces the Courant number to the limit of stability, 1 / sqrt(dimensions).
    count = sum(size > 0 for size in sizes)
    courant = min(float(sim.Courant), 1 / np.sqrt(max(1, count)))
    return Grid((sizes[0], sizes[1], sizes[2]), float(sim.resolution), courant), (middle[0], middle[1], middle[2])


def volumes_of(volumes: Any) -> list[ChunkVolume]:
    """Return Meep's grid volumes of chunks as plain numbers, in Meep's coordinates."""
    return [_volume(one) for one in volumes]


def _volume(one: Any) -> ChunkVolume:
    import meep

    along = {meep.D1: (2,), meep.D2: (0, 1), meep.D3: (0, 1, 2)}.get(one.dim, (meep.R, 2))
    low, high, shape = [0.0] * 3, [0.0] * 3, [1] * 3
    for direction in along:
        axis = AXIS_OF[direction]
        shape[axis] = int(one.num_direction(direction))
        low[axis] = float(one.origin_in_direction(direction))
        high[axis] = low[axis] + shape[axis] / float(one.a)
    return ChunkVolume((low[0], low[1], low[2]), (high[0], high[1], high[2]), (shape[0], shape[1], shape[2]))
