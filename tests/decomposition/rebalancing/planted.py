"""Runs that never happen: times of ranks from a truth that the balancers don't know.

The truth has the cost model's form, but other coefficients, a density of its own, and ranks of unequal speed.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.partitioning.predict import predict
from evenly.decomposition.rebalancing.base import AbstractChunkBalancer
from evenly.decomposition.rebalancing.corrected_cost import CorrectedCost
from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
from evenly.decomposition.rebalancing.simulation_interface import volume
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition

Array = NDArray[np.float64]
Density = Callable[[Array, Array, Array], Any]
BLOCKS = 24


@dataclass
class Truth:
    """What steps really take.

    Parameters
    ----------
    cell : Cell
    cost : CostModel
        What balancers are told.
    density : callable
        Factor on it at x, y, z from 0 to 1 over the cell.
    terms : mapping of str to float
        Factors on its terms.
    speeds : (ranks,)
    noise : float
        Relative standard deviation of measured times.
    """

    cell: Cell
    cost: CostModel
    speeds: Array
    density: Density | None = None
    terms: Mapping[str, float] = field(default_factory=dict)
    noise: float = 0.0
    seed: int = 0

    def __post_init__(self) -> None:
        self.reseed(self.seed)
        self._true = CorrectedCost.of(self.cost, self.terms, self._regions())

    def _regions(self) -> Survey | None:
        if self.density is None:
            return None
        edges = [
            np.unique(np.rint(np.linspace(0, n, min(n, BLOCKS) + 1)).astype(np.int64)) for n in self.cell.grid.shape
        ]
        sizes = [np.diff(e).astype(float) for e in edges]
        middles = [(e[:-1] + e[1:]) / 2 / e[-1] for e in edges]
        points = sizes[0][:, None, None] * sizes[1][None, :, None] * sizes[2][None, None, :]
        x, y, z = middles[0][:, None, None], middles[1][None, :, None], middles[2][None, None, :]
        factor = np.broadcast_to(self.density(x, y, z), points.shape)
        return Survey.of_blocks(edges, ("model", "measured"), np.stack([points, points * factor], axis=-1))

    def reseed(self, seed: int) -> None:
        """Begin another series of measurements."""
        self._rng = np.random.default_rng(seed)

    @property
    def true_cost(self) -> CostModel:
        """What a cost model that knows everything charges."""
        return self._true

    @property
    def ranks(self) -> int:
        return len(self.speeds)

    def seconds(self, layout: BinaryPartition) -> Array:
        """Return what each rank takes, (ranks,), without noise."""
        return np.asarray(predict(self.cell, layout, self.ranks, self._true).rank_s / self.speeds)

    def timings(self, layout: BinaryPartition, steps: int = 100) -> Timings:
        """Return what is measured."""
        factor = np.exp(self.noise * self._rng.standard_normal(self.ranks))
        return Timings(self.seconds(layout) * factor, steps, self.noise or 1e-4)

    def imbalance(self, layout: BinaryPartition) -> float:
        """Return the true time of the slowest rank over the mean."""
        seconds = self.seconds(layout)
        return float(seconds.max() / seconds.mean())


def volumes(cell: Cell, layout: BinaryPartition) -> list[ChunkVolume]:
    """Return the volumes of a layout's leaves."""
    return [volume(cell.grid, box) for box in layout.boxes(cell.grid)]


def rounds(balancer: AbstractChunkBalancer, truth: Truth, start: BinaryPartition, count: int) -> list[float]:
    """Return the true imbalance before and after each of some adjustments."""
    layout, found = start, [truth.imbalance(start)]
    for _ in range(count):
        owners = np.array(layout.owners) % truth.ranks
        layout = balancer.compute_new_chunk_layout(truth.timings(layout), layout, volumes(truth.cell, layout), owners)
        found.append(truth.imbalance(layout))
    return found


def plain_cell(size: tuple[float, float, float] = (6, 4, 5), resolution: float = 12, **more: Any) -> Cell:
    """Return a cell of nothing in particular."""
    grid = Grid(size, resolution)
    x, y, z = grid.shape
    survey = Survey.of_blocks(((0, x), (0, y), (0, z)), (), np.zeros((1, 1, 1, 0)))
    return Cell("fdtd", grid, survey, **more)


def plain_cost(**more: Any) -> CostModel:
    """Return a model that charges points, layers and borders."""
    coefficients = {
        "points": Coefficient(4e-9), "PML 1d points": Coefficient(3e-9), "PML 2d points": Coefficient(5e-9),
        "faces sent": Coefficient(8e-9), "chunks": Coefficient(2e-6),
    }  # fmt: skip
    return CostModel("fdtd", coefficients, **more)
