"""The largest stable time step for the media of a cell.

The leapfrog scheme is stable if 4/dt² is above the largest eigenvalue of the operator A in ∂²u/∂t² = -A u. In a medium
of index n with lossless poles of frequencies ω_i and strengths σ_i, A couples the field with the polarisation of each
pole. The field's own part is at most 4 D/(n dx)² in D dimensions. A Drude pole has no restoring force. Damping doesn't
reduce the limit, because central differences are used.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Sequence
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.custom import ArrayMaterial, FunctionMaterial
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.solids import GeometricObject

__all__ = ["check_time_step", "largest_courant", "safe_courant"]

USUAL_COURANT = 0.5


def largest_courant(material: Medium | FunctionMaterial | ArrayMaterial, grid: Grid) -> float:
    """Return the largest stable Courant number of a material for a grid's spacing.

    Examples
    --------
    >>> largest_courant(Medium(index=2), Grid((1, 1, 0), 10)) == 2 / math.sqrt(2)
    True
    """
    if not isinstance(material, Medium):
        return math.sqrt(material.smallest / grid.dimensions)
    curl = 4 * grid.dimensions / material.lowest_index**2
    largest = []
    for poles, matrix in (
        (material.electric_poles, material.epsilon_matrix),
        (material.magnetic_poles, material.mu_matrix),
    ):
        smallest = float(np.linalg.eigvalsh(matrix)[0])
        # Symmetric form of the coupled equations of the field (row 0) and of each polarisation, in units of dx.
        operator = np.zeros((len(poles) + 1, len(poles) + 1))
        operator[0, 0] = curl
        for i, pole in enumerate(poles, 1):
            omega = 2 * math.pi * pole.frequency * grid.dx
            coupling = omega * math.sqrt(max(0.0, *pole.strength) / smallest)
            operator[0, 0] += coupling**2
            if pole.restored:
                operator[i, i] = omega**2
                operator[0, i] = operator[i, 0] = -coupling * omega
        largest.append(float(np.linalg.eigvalsh(operator)[-1]))
    # Central differences in time are stable while the largest eigenvalue times dt² is below 4.
    return 2 / math.sqrt(max(largest))


def safe_courant(grid: Grid, materials: Iterable[Any]) -> float:
    """Return the usual Courant number, 0.5; if that is unstable for a medium, 95 % of the stability limit.

    Examples
    --------
    >>> from evenly.fdtd.media.library import medium
    >>> grid = Grid((1, 1, 1), 20)
    >>> safe_courant(grid, [Medium(index=1.5)]), safe_courant(grid, [medium("aluminium")])
    (0.5, 0.369)
    """
    smallest = min((largest_courant(material, grid) for material in materials), default=1.0)
    return USUAL_COURANT if smallest >= USUAL_COURANT else math.floor(950 * smallest) / 1000


def check_time_step(grid: Grid, objects: Sequence[GeometricObject]) -> None:
    """Check that the time step is stable for the media of all objects.

    Parameters
    ----------
    grid : Grid
        The cell.
    objects : sequence
        The background first.

    Raises
    ------
    InputError
        If it isn't; the message names the object and the largest stable Courant number.
    """
    for thing in objects:
        material: Any = thing.material
        limit = largest_courant(material, grid)
        if grid.courant > limit * (1 + 1e-12):
            where = "the background" if thing is objects[0] else thing.label
            plain = isinstance(material, Medium)
            index = material.lowest_index if plain else math.sqrt(material.smallest)
            what = f"its smallest index {index:.4g}"
            if plain and (material.electric_poles or material.magnetic_poles):
                what += " and its poles (a finer resolution helps against these)"
            raise InputError(
                f"`courant` must be at most {limit:.4g} for the medium of {where} in {grid.dimensions} "
                f"dimensions, because of {what}, or the fields grow without bound, but got {grid.courant:g}: lower it."
            )
