"""The grid of a Meep simulation's cell, in Meep's coordinates; this module runs in Meep's own Python.

The centre of Meep's grid need not be the origin: `geometry_center` and an odd number of points shift it.
"""

from __future__ import annotations

from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid, Vector

__all__ = ["check_cuttable", "grid_of", "numbers"]

#: Axes (0: x, 1: y, 2: z) along which Meep has points, by its number of dimensions.
_AXES = {1: (2,), 2: (0, 1), 3: (0, 1, 2)}


def numbers(vector: Any) -> Vector:
    """Return x, y, z of one of Meep's vectors or of a sequence."""
    x, y, z = (vector.x, vector.y, vector.z) if hasattr(vector, "x") else (*vector, 0.0, 0.0)[:3]
    return float(np.real(x)), float(np.real(y)), float(np.real(z))


def grid_of(sim: Any) -> tuple[Grid, Vector]:
    """Return the grid of a simulation's cell, and its middle in Meep's coordinates. The simulation is not changed."""
    # The creation of the volume changes these two if Meep infers the dimensions.
    dimensions, cylindrical = sim.dimensions, sim.is_cylindrical
    volume = sim._create_grid_volume(sim.k_point)
    sizes, middle = [0.0, 0.0, 0.0], [0.0, 0.0, 0.0]
    for axis in _AXES[sim.dimensions]:
        points = volume.num_direction(axis)
        if sim.dimensions == 3 and numbers(sim.cell_size)[axis] == 0:
            continue  # one point along z, because nothing but a phase varies along z
        sizes[axis] = points / sim.resolution
        middle[axis] = volume.origin_in_direction(axis) + sizes[axis] / 2
    sim.dimensions, sim.is_cylindrical = dimensions, cylindrical
    # Meep reduces the Courant number to the limit of stability, 1 / sqrt(dimensions).
    count = sum(size > 0 for size in sizes)
    courant = min(float(sim.Courant), 1 / np.sqrt(max(1, count)))
    return Grid((sizes[0], sizes[1], sizes[2]), float(sim.resolution), courant), (middle[0], middle[1], middle[2])


def check_cuttable(sim: Any) -> None:
    """Raise an error for a simulation that Meep can't run with a layout.

    Raises
    ------
    InputError
        If it has symmetries or cylindrical coordinates.
    """
    import meep

    if sim.dimensions == meep.CYLINDRICAL or sim.is_cylindrical:
        raise InputError(
            "The cell has cylindrical coordinates, but layouts cut across x, y and z: run the script without a layout "
            "and leave the chunks to Meep."
        )
    if any(type(one).__name__ != "Identity" for one in sim.symmetries):
        raise InputError(
            "The simulation has symmetries. With a layout, Meep 1.25 steps the whole cell and counts mirror images "
            "twice, so fluxes and energies are too large: remove `symmetries` to use a layout, or keep them and use no "
            "layout."
        )
