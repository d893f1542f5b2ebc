"""Meep: what a simulation is about to compute, layouts for it, and a balancer that keeps it even.

In Meep's own Python:

- `layout("layout.json")` is what goes to a simulation's `chunk_layout`;
- `cell_of(sim)` is the cell of a simulation, for `evenly.partition`;
- `ChunkBalancer` takes the place of ``meep.chunk_balancer.ChunkBalancer``.

From any Python, `cell_of_script` looks at a whole script, and ``python -m evenly.adapters.meep`` runs one on a layout.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.adapters.meep.balancing.balancer import ChunkBalancer as ChunkBalancer
    from evenly.adapters.meep.cell.cell import cell_of as cell_of
    from evenly.adapters.meep.cell.scripts import cell_of_script as cell_of_script
    from evenly.adapters.meep.layouts import from_meep as from_meep
    from evenly.adapters.meep.layouts import layout as layout
    from evenly.adapters.meep.layouts import to_meep as to_meep

_HOMES = {
    "ChunkBalancer": "evenly.adapters.meep.balancing.balancer",
    "cell_of": "evenly.adapters.meep.cell.cell",
    "cell_of_script": "evenly.adapters.meep.cell.scripts",
    "from_meep": "evenly.adapters.meep.layouts",
    "layout": "evenly.adapters.meep.layouts",
    "to_meep": "evenly.adapters.meep.layouts",
}

__all__ = ["ChunkBalancer", "cell_of", "cell_of_script", "from_meep", "layout", "to_meep"]

__getattr__, __dir__ = lazy(__name__, _HOMES)
