"""Rebalancing: better layouts from what runs took, between runs and in the middle of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.decomposition.rebalancing.base import AbstractChunkBalancer as AbstractChunkBalancer
    from evenly.decomposition.rebalancing.callback import Rebalance as Rebalance
    from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer as ChunkBalancer
    from evenly.decomposition.rebalancing.cost_balancer import CostBalancer as CostBalancer
    from evenly.decomposition.rebalancing.decision import Decision as Decision
    from evenly.decomposition.rebalancing.measured_times import ChunkVolume as ChunkVolume
    from evenly.decomposition.rebalancing.measured_times import Timings as Timings

_HOMES = {
    "AbstractChunkBalancer": "evenly.decomposition.rebalancing.base",
    "ChunkBalancer": "evenly.decomposition.rebalancing.chunk_balancer",
    "ChunkVolume": "evenly.decomposition.rebalancing.measured_times",
    "CostBalancer": "evenly.decomposition.rebalancing.cost_balancer",
    "Decision": "evenly.decomposition.rebalancing.decision",
    "Rebalance": "evenly.decomposition.rebalancing.callback",
    "Timings": "evenly.decomposition.rebalancing.measured_times",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
