"""Thickness in points of a Meep simulation's absorbing layers, in the part of the cell that Meep keeps."""

from __future__ import annotations

from typing import Any

from evenly.adapters.meep.grid import AXIS_OF, is_cylindrical, volume_of
from evenly.adapters.meep.symmetry import kept_axes
from evenly.decomposition.cells.cell import Depths
from evenly.errors import InputError
from evenly.fdtd.cell.grid import Grid

__all__ = ["check_layers", "depths"]

Pair = tuple[int, int]


def check_layers(sim: Any) -> None:
    """Check that Meep accepts a simulation's PMLs.

    Raises
    ------
    InputError
        If they don't fit into the cell.
    """
    try:  # it is no part of Meep's interface
        from meep.simulation import _create_boundary_region_from_boundary_layers as region_of
    except ImportError:
        return
    volume, _ = volume_of(sim)
    if not region_of(sim.boundary_layers, volume).check_ok(volume):
        raise InputError(
            "Meep itself stops at this cell (invalid boundary absorbers): PMLs at both sides together must be thinner "
            "than the cell, no thickness may be below 0, and a side has only one PML."
        )


def depths(sim: Any, grid: Grid, kind: str) -> Depths:
    """Return the thickness of layers at the low and the high side along x, y, z.

    Parameters
    ----------
    sim : meep.Simulation
    grid : Grid
        The grid of the cell that Meep steps.
    kind : "PML" or "Absorber"
    """
    found = [[0, 0], [0, 0], [0, 0]]
    for layer in sim.boundary_layers:
        if type(layer).__name__ != kind:
            continue
        told = int(layer.direction)
        for axis in range(3) if told < 0 else (AXIS_OF[told],):
            for side in (0, 1) if int(layer.side) < 0 else (_side(layer.side),):
                if grid.shape[axis] > 1:
                    found[axis][side] = max(found[axis][side], _points(layer.thickness, grid, kind))
    for axis in _without_low_side(sim):
        found[axis][0] = 0
    pairs = [_fitting(low, high, n) for (low, high), n in zip(found, grid.shape, strict=True)]
    return pairs[0], pairs[1], pairs[2]


def _without_low_side(sim: Any) -> list[int]:
    """Return the axes along which the low side isn't in the part of the cell that Meep keeps, or is the axis r = 0."""
    return [*kept_axes(*volume_of(sim)), *([0] if is_cylindrical(sim) else [])]


def _side(side: Any) -> int:
    import meep

    return 0 if side == meep.Low else 1


def _points(thickness: float, grid: Grid, kind: str) -> int:
    if thickness <= 0:
        return 0
    # A chunk of PML is one point deeper than the layer.
    return int(thickness * grid.resolution + 0.5) + (kind == "PML")


def _fitting(low: int, high: int, points: int) -> Pair:
    low = min(low, points)
    return low, min(high, points - low)
