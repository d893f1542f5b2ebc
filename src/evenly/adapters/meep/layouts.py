"""Layouts for Meep: conversion between Meep's ``BinaryPartition`` and evenly's, and from files of `evenly partition`.

A Meep script needs one change, in the line of the simulation::

    sim = mp.Simulation(..., chunk_layout=evenly.adapters.meep.layout("layout.json"))

When the simulation is initialised, the layout is checked. An error with the reason is raised if the layout is for
another cell, or if Meep can't combine the cell with a layout. (Meep itself would abort.) If the number of processes
differs from that of the layout, the first process prints a message.

A cut at a position lies between two grid points. Both programs use the same rule: points with an index of at least
``floor((position - low) resolution + 1/2)``, counted from the cell's low side, lie above the cut. evenly's positions
lie on grid nodes, half a point away from where rounding could matter.
"""

from __future__ import annotations

import functools
import sys
from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenly.adapters.meep.grid import check_cuttable, grid_of
from evenly.decomposition.partitioning.shifted_layouts import moved
from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import nest

__all__ = ["check_fits", "from_meep", "layout", "layout_of", "to_meep"]


def layout(source: Any) -> Any:
    """Return a ``meep.BinaryPartition`` for a simulation's `chunk_layout`.

    Parameters
    ----------
    source : path, CutPlan, BinaryPartition or nested lists
        A file that `evenly partition` wrote, or a layout in Meep's own coordinates.

    Raises
    ------
    ReadError
        If the file can't be read.
    InputError
        If `source` is no layout. It is also raised later, if a simulation with another cell is initialised with it.
    """
    found = layout_of(source)
    told = f"The layout {source}" if isinstance(source, (str, Path)) else "The layout"
    built = to_meep(found)
    _tell_misfit(found, told)
    _check_when_used(built, found, told)
    return built


def check_fits(sim: Any, partition: BinaryPartition, told: str = "The layout") -> None:
    """Raise an error for a layout, in Meep's coordinates, that does not fit a simulation's cell.

    Messages call the layout `told`.

    Raises
    ------
    InputError
        If the layout was made for another cell, if its cuts do not fit the cell, or if the cell is cylindrical or
        symmetric.
    """
    check_cuttable(sim)
    grid, (x, y, z) = grid_of(sim)
    there = moved(partition, (-x, -y, -z))
    try:
        there.validate(grid)
    except InputError as error:
        known = there.made_for is not None
        raise InputError(f"{told} is one of another cell: {error}" if not known else str(error)) from None


def _tell_misfit(partition: BinaryPartition, told: str) -> None:
    import meep

    misfit = partition.misfit(meep.count_processors())
    if misfit and meep.am_really_master():
        sys.stderr.write(f"{told} isn't for these processes: {misfit}\n")


def _check_when_used(built: Any, partition: BinaryPartition, told: str) -> None:
    """Make Meep check a layout immediately before its use."""
    import meep

    built.of_evenly = partition, told
    usual = meep.Simulation._init_structure
    if hasattr(usual, "checks_layouts"):
        return

    @functools.wraps(usual)
    def checked(sim: Any, *args: Any, **kwargs: Any) -> Any:
        ours = getattr(sim.chunk_layout, "of_evenly", None)
        if ours is not None:
            check_fits(sim, *ours)
        return usual(sim, *args, **kwargs)

    checked.checks_layouts = True  # type: ignore[attr-defined]
    meep.Simulation._init_structure = checked


def layout_of(source: Any) -> BinaryPartition:
    """Return evenly's layout, in Meep's coordinates, from any `source` that `layout` accepts."""
    if isinstance(source, (str, Path)):
        return BinaryPartition.load(source)
    if isinstance(source, BinaryPartition):
        return source
    if hasattr(source, "in_program"):
        return source.in_program  # type: ignore[no-any-return]
    return BinaryPartition(source)


def to_meep(partition: BinaryPartition) -> Any:
    """Return a layout as Meep's ``BinaryPartition``, with exactly the same axes and positions."""
    import meep

    directions = (meep.X, meep.Y, meep.Z)
    built: list[Any] = []
    for _, node in reversed(list(partition.walk())):
        if node.axis is None:
            built.append(meep.BinaryPartition(proc_id=node.owner))
        else:
            left, right = built.pop(), built.pop()
            built.append(
                meep.BinaryPartition(split_dir=directions[node.axis], split_pos=node.position, left=left, right=right)
            )
    return built.pop()


def from_meep(partition: Any) -> BinaryPartition:
    """Return one of Meep's layouts as evenly's.

    Raises
    ------
    InputError
        If a node cuts across another direction than x, y or z, or if it has neither a cut nor an owner.
    """
    return BinaryPartition(nest(list(_tokens(partition))))


def _tokens(partition: Any) -> Iterator[Any]:
    stack = [partition]
    while stack:
        node = stack.pop()
        if node.left is None and node.right is None:
            if node.proc_id is None:
                raise InputError("A leaf of Meep's layout has no `proc_id`: give each the number of a process.")
            yield int(node.proc_id)
            continue
        if node.left is None or node.right is None or int(node.split_dir) not in (0, 1, 2):
            raise InputError(
                f"A node of Meep's layout must cut x, y or z and have two sides, but got {node.split_dir!r} at "
                f"{node.split_pos!r}."
            )
        yield int(node.split_dir), float(node.split_pos)
        stack += [node.right, node.left]
