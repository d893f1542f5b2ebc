"""Adapter for Meep: the cell of a simulation, chunk layouts for it, and a chunk balancer.

In Meep's own Python:

- `layout("layout.json")` returns the argument for a simulation's `chunk_layout`;
- `cell_of(sim)` is the cell of a simulation, for `evenly.partition`;
- `ChunkBalancer` replaces ``meep.chunk_balancer.ChunkBalancer``.

From any Python, `cell_of_script` returns the cell of a whole script, and ``python -m evenly.adapters.meep`` runs a
script with a layout.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
