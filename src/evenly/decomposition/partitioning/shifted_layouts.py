"""Layouts shifted to other coordinates, for programs whose origin isn't the middle of the cell."""

from __future__ import annotations

from typing import Any

from evenly.fdtd.cell.grid import Vector
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.cell.tree import nest

__all__ = ["moved"]


def moved(layout: BinaryPartition, by: Vector) -> BinaryPartition:
    """Return a layout with all cuts shifted by a vector along x, y, z.

    Examples
    --------
    >>> moved(BinaryPartition([("x", 0.5), 0, [("y", -1.0), 1, 2]]), (1.0, 0.25, 0.0))
    BinaryPartition([('x', 1.5), 0, [('y', -0.75), 1, 2]])
    """
    if not any(by):
        return layout
    tokens: list[Any] = []
    for _, node in layout.walk():
        if node.axis is None or node.position is None:
            tokens.append(node.owner)
        else:
            tokens.append((node.axis, node.position + by[node.axis]))
    return BinaryPartition(nest(tokens), None if layout.made_for is None else layout.made_for.moved(by))
