"""From what users have to a `Cell`."""

from __future__ import annotations

from typing import Any

from evenly.decomposition.cells.cell import Cell
from evenly.errors import InputError

__all__ = ["cell_from"]


def cell_from(simulation: Any) -> Cell:
    """Return the cell of a simulation of `evenly.fdtd`, or a cell as it is.

    Raises
    ------
    InputError
        If it is something else.
    """
    if isinstance(simulation, Cell):
        return simulation
    from evenly.fdtd.simulation import Simulation

    if isinstance(simulation, Simulation):
        from evenly.decomposition.cells.fdtd.cell import cell_of

        return cell_of(simulation)
    raise InputError(
        f"`cell` must be a Cell or a simulation of evenly.fdtd, but got {type(simulation).__name__}: for one of Meep "
        "use evenly.adapters.meep.cell_of(simulation) in Meep's Python."
    )
