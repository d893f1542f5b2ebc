"""Layouts for Meep: its ``BinaryPartition`` and evenly's, both ways, and from the file that `evenly partition` wrote.

The one line to edit in a script of Meep is the simulation's::

    sim = mp.Simulation(..., chunk_layout=evenly.adapters.meep.layout("layout.json"))

A cut at a position goes between two grid points: to both programs, points from index
``floor((position - low) resolution + 1/2)`` on, counted from the cell's low side, are above it. Positions of evenly
lie on grid nodes, half a point off any doubt.
"""

from __future__ import annotations

from collections.abc import Iterator
from pathlib import Path
from typing import Any

from evenly.errors import InputError
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import nest

__all__ = ["from_meep", "layout", "to_meep"]


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
        If it is no layout.
    """
    return to_meep(_layout_of(source))


def to_meep(partition: BinaryPartition) -> Any:
    """Return a layout as Meep's; axes and positions stay to the last bit."""
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
        If a node cuts across something else than x, y and z, or has neither cut nor owner.
    """
    return BinaryPartition(nest(list(_tokens(partition))))


def _layout_of(source: Any) -> BinaryPartition:
    if isinstance(source, (str, Path)):
        return BinaryPartition.load(source)
    if isinstance(source, BinaryPartition):
        return source
    if hasattr(source, "in_program"):
        return source.in_program  # type: ignore[no-any-return]
    return BinaryPartition(source)


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
