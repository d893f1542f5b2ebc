from evenly.decomposition.rebalancing.base import AbstractChunkBalancer as AbstractChunkBalancer
from evenly.decomposition.rebalancing.callback import Rebalance as Rebalance
from evenly.decomposition.rebalancing.chunk_balancer import ChunkBalancer as ChunkBalancer
from evenly.decomposition.rebalancing.cost_balancer import CostBalancer as CostBalancer
from evenly.decomposition.rebalancing.decision import Decision as Decision
from evenly.decomposition.rebalancing.measured_times import ChunkVolume as ChunkVolume
from evenly.decomposition.rebalancing.measured_times import Timings as Timings
