"""Layouts for Meep: conversion between Meep's ``BinaryPartition`` and evenly's, and from files of `evenly partition`.

A Meep script needs one change, in the line of the simulation::

    sim = mp.Simulation(..., chunk_layout=evenly.adapters.meep.layout("layout.json"))

When the simulation is initialised, the layout is checked. An error with the reason is raised if the layout is for
another cell. (Meep itself would abort.) If the number of processes, or of those in the group, differs from that of the
layout, the first process prints a message.

Cells with symmetries and cylindrical cells get their chunks as volumes and owners (`evenly.adapters.meep.chunks`).
With a ``BinaryPartition``, Meep 1.25 steps the whole of a symmetric cell and counts mirror images twice.

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

from evenly.adapters.meep.chunks import given_chunks
from evenly.adapters.meep.grid import AXIS_OF, grid_of
from evenly.adapters.meep.monitor_data import watch_monitor_data
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
    built = to_meep(found, told)
    built.is_new = True
    return built


def check_fits(sim: Any, partition: BinaryPartition, told: str = "The layout") -> None:
    """Raise an error for a layout, in Meep's coordinates, that does not fit a simulation's cell.

    Messages call the layout `told`.

    Raises
    ------
    InputError
        If the layout was made for another cell, or if its cuts do not fit the cell.
    """
    grid, (x, y, z) = grid_of(sim)
    there = moved(partition, (-x, -y, -z))
    try:
        there.validate(grid)
    except InputError as error:
        known = there.made_for is not None
        raise InputError(f"{told} is one of another cell: {error}" if not known else str(error)) from None


def _tell_misfit(chunks: Any, partition: BinaryPartition, told: str) -> None:
    """Say at the first use of a layout of a file if it was made for another number of processes: those of a group."""
    import meep

    misfit, is_new = partition.misfit(meep.count_processors()), getattr(chunks, "is_new", False)
    chunks.is_new = False
    if misfit and is_new and meep.am_really_master():
        sys.stderr.write(f"{told} isn't for these processes: {misfit}\n")


def _check_when_used(built: Any, partition: BinaryPartition, told: str) -> None:
    """Make Meep check a layout immediately before its use, and cut there as `evenly.adapters.meep.chunks` says."""
    import meep

    built.of_evenly = partition, told
    watch_monitor_data()
    usual = meep.Simulation._init_structure
    if hasattr(usual, "checks_layouts"):
        return

    @functools.wraps(usual)
    def checked(sim: Any, *args: Any, **kwargs: Any) -> Any:
        ours = getattr(sim.chunk_layout, "of_evenly", None)
        if ours is None:
            return usual(sim, *args, **kwargs)
        check_fits(sim, *ours)
        _tell_misfit(sim.chunk_layout, *ours)
        with given_chunks(sim, ours[0]):
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


def to_meep(partition: BinaryPartition, told: str = "The layout") -> Any:
    """Return a layout as Meep's ``BinaryPartition``, with exactly the same axes and positions.

    A simulation that uses it is checked first. Messages call the layout `told`.
    """
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
    whole = built.pop()
    _check_when_used(whole, partition, told)
    return whole


def from_meep(partition: Any) -> BinaryPartition:
    """Return one of Meep's layouts as evenly's; cuts across r become cuts across x.

    Raises
    ------
    InputError
        If a node cuts across another direction than x, y, z or r, or if it has neither a cut nor an owner.
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
        if node.left is None or node.right is None or int(node.split_dir) not in (0, 1, 2, 3):
            raise InputError(
                f"A node of Meep's layout must cut x, y, z or r and have two sides, but got {node.split_dir!r} at "
                f"{node.split_pos!r}."
            )
        yield AXIS_OF[int(node.split_dir)], float(node.split_pos)
        stack += [node.right, node.left]
