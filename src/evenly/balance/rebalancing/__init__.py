"""Rebalancing: better layouts from what runs took, between runs and in the middle of one."""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.balance.rebalancing.base import AbstractChunkBalancer as AbstractChunkBalancer
    from evenly.balance.rebalancing.callback import Rebalance as Rebalance
    from evenly.balance.rebalancing.chunk_balancer import ChunkBalancer as ChunkBalancer
    from evenly.balance.rebalancing.cost_balancer import CostBalancer as CostBalancer
    from evenly.balance.rebalancing.decision import Decision as Decision
    from evenly.balance.rebalancing.measured import ChunkVolume as ChunkVolume
    from evenly.balance.rebalancing.measured import Timings as Timings

_HOMES = {
    "AbstractChunkBalancer": "evenly.balance.rebalancing.base",
    "ChunkBalancer": "evenly.balance.rebalancing.chunk_balancer",
    "ChunkVolume": "evenly.balance.rebalancing.measured",
    "CostBalancer": "evenly.balance.rebalancing.cost_balancer",
    "Decision": "evenly.balance.rebalancing.decision",
    "Rebalance": "evenly.balance.rebalancing.callback",
    "Timings": "evenly.balance.rebalancing.measured",
}

__all__ = sorted(_HOMES)

__getattr__, __dir__ = lazy(__name__, _HOMES)
