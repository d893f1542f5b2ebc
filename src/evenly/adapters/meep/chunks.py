"""Chunks of cells with symmetries and of cylindrical cells, given to Meep as volumes and owners.

Meep 1.25 does not reduce a cell by its symmetries if it gets a ``BinaryPartition``. So it steps the whole cell and
counts mirror images twice. Here, Meep first makes the same number of chunks on its own, of the part of the cell that it
keeps. Then they are replaced, as ``Simulation.load_chunk_layout`` does it. This happens before materials are set.

Chunks must lie wholly inside or outside of each PML, as Meep's own do: for m = 0, Meep's fields are wrong if a chunk
lies in both.
"""

from __future__ import annotations

from collections.abc import Iterator
from contextlib import contextmanager
from typing import Any

from evenly.adapters.meep.grid import directions, grid_of, is_cylindrical, volume_of
from evenly.adapters.meep.layers import depths
from evenly.decomposition.cells.cell import NO_LAYERS
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Layers
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.partition import BinaryPartition

__all__ = ["given_chunks"]

# Places of arguments of `meep.create_structure`, and their number.
_BOUNDARIES, _CHUNKS, _EVENLY, _MATERIALS, _PARTITION, _ARGUMENTS = 7, 9, 20, 21, 24, 25


@contextmanager
def given_chunks(sim: Any, partition: BinaryPartition) -> Iterator[None]:
    """Make Meep use the chunks of a layout, within this context, for a simulation that needs them as volumes.

    Parameters
    ----------
    sim : meep.Simulation
    partition : BinaryPartition
        A layout in Meep's coordinates that fits the cell.

    Raises
    ------
    InputError
        If this version of Meep makes structures in another way than version 1.25.
    """
    import meep

    if not (is_cylindrical(sim) or volume_of(sim)[1].multiplicity() > 1):
        yield
        return
    boxes, owners = _chunks(sim, partition)
    along, usual = directions(sim), meep.create_structure

    def created(*args: Any) -> Any:
        _check_arguments(args)
        given = list(args)
        # Without layers, Meep makes exactly as many chunks as it is told. The layers come with the new chunks.
        given[_BOUNDARIES] = meep.boundary_region()
        given[_CHUNKS], given[_EVENLY], given[_MATERIALS], given[_PARTITION] = len(boxes), True, False, None
        structure = usual(*given)
        volumes = [_volume(structure.gv, box, along) for box in boxes]
        structure.load_chunk_layout(volumes, owners, args[_BOUNDARIES])
        return structure

    meep.create_structure = created
    try:
        yield
    finally:
        meep.create_structure = usual


def _check_arguments(args: tuple[Any, ...]) -> None:
    import meep

    if len(args) != _ARGUMENTS or not isinstance(args[_BOUNDARIES], meep.boundary_region):
        raise InputError(
            f"Meep {meep.__version__} makes structures in another way than 1.25, so evenly can't give it chunks of a "
            "cell with symmetries or of a cylindrical cell: run the script without a layout."
        )


def _chunks(sim: Any, partition: BinaryPartition) -> tuple[list[Box], list[int]]:
    """Return the points of all chunks in the part that Meep keeps, and the processes that own them."""
    import meep

    grid, (x, y, z) = grid_of(sim)
    layers = Layers(grid, ("metal", "metal", "metal"), depths(sim, grid, "PML"), NO_LAYERS)
    found = moved(partition, (-x, -y, -z)).chunks(grid, layers, meep.count_processors())
    return [chunk.box for chunk in found], [int(chunk.owner) for chunk in found]


def _volume(whole: Any, box: Box, along: dict[int, int]) -> Any:
    """Return the part of Meep's volume that holds a box of points."""
    for axis, direction in along.items():
        if box.hi[axis] < whole.num_direction(direction):
            whole = whole.split_at_fraction(False, box.hi[axis], direction)
        if box.lo[axis] > 0:
            whole = whole.split_at_fraction(True, box.lo[axis], direction)
    return whole
