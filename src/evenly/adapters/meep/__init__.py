"""Meep: what a simulation is about to compute, layouts for it, and a balancer that keeps it even.

In Meep's own Python:

- `layout("layout.json")` is what goes to a simulation's `chunk_layout`;
- `cell_of(sim)` is the cell of a simulation, for `evenly.partition`;
- `ChunkBalancer` takes the place of ``meep.chunk_balancer.ChunkBalancer``.

From any Python, `cell_of_script` looks at a whole script, and ``python -m evenly.adapters.meep`` runs one on a layout.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
