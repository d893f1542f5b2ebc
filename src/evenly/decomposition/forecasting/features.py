"""Features of a simulation on a number of ranks before it runs: its contents, its layout, and predicted times.

These are the inputs of the models that learn corrections. The slowest rank's seconds by the cost model and the seconds
of messages by the machine's links are the scales of computation and communication. The other features have no units.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.cost_model import CostModel
from evenly.decomposition.forecasting.lone_rank_timing import RankLoads, rank_loads_of
from evenly.decomposition.forecasting.messages import EXCHANGES, Messages, messages_of
from evenly.decomposition.forecasting.replay import message_times, nodes_of, with_shared_bandwidth
from evenly.decomposition.partitioning.partition import partition
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.machine.machine import Machine

__all__ = ["SHARES", "LayoutWorkload", "inputs_on", "shares_of", "workload_of"]

Array = NDArray[np.float64]
#: Kinds of points; the share of each in the cell is a feature.
SHARES = ("susceptibility", "transforms", "pml", "absorber", "dielectric")
#: Lower bound of all shares, so that their logarithms are finite.
LEAST = 1e-4


@dataclass(frozen=True)
class LayoutWorkload:
    """A simulation with its layout for a number of ranks, and the work and messages that follow.

    Parameters
    ----------
    cell : Cell
    layout : BinaryPartition
    ranks : int
    load : RankLoads
        Predicted work of each rank.
    messages : Messages
        Messages between ranks in a step.
    """

    cell: Cell
    layout: BinaryPartition
    ranks: int
    load: RankLoads
    messages: Messages

    def on(self, machine: Machine) -> dict[str, float]:
        """Return the features on a machine, by name.

        Returns
        -------
        dict
            ``points``, ``ranks``, ``share of …`` each kind, ``frequencies``; ``surface``, the largest number of faces
            that a rank shares; ``work_s``, seconds of the slowest rank by the cost model; ``message_s``, seconds of
            messages and of waiting by the machine's links; ``imbalance`` of the work; ``latency share`` and ``waiting
            share`` of ``message_s``; ``outside share``, the share of bytes between nodes; ``messages over work``,
            ``message_s`` over ``work_s``.
        """
        traits = {"points": float(self.cell.grid.box.volume), **shares_of(self.cell)}
        return inputs_on(machine, traits, self.load, self.messages)


def workload_of(cell: Cell, ranks: int, cost: CostModel, layout: BinaryPartition | None = None) -> LayoutWorkload:
    """Return a cell with its layout for a number of ranks, its predicted work and its messages.

    Parameters
    ----------
    cell : Cell
    ranks : int
    cost : CostModel
    layout : BinaryPartition, optional
        The layout; by default the one that `evenly.partition` finds.
    """
    layout = partition(cell, ranks, cost).layout if layout is None else layout
    return LayoutWorkload(
        cell, layout, ranks, rank_loads_of(cell, layout, ranks, cost), messages_of(cell, layout, ranks)
    )


def inputs_on(machine: Machine, traits: Mapping[str, float], load: RankLoads, messages: Messages) -> dict[str, float]:
    """Return the features, by name, from a cell's traits, its ranks' work and its messages; see `LayoutWorkload.on`."""
    ranks = messages.ranks
    node = nodes_of(machine, ranks)
    work = with_shared_bandwidth(load.seconds / machine.core_speed, load.memory_bytes, machine, node)
    slowest = float(work.max())
    latency, transfer, card = message_times(messages, machine, node)
    first = _longest(messages, latency, ranks)
    moving = np.bincount(messages.receiver, transfer, ranks)
    moving = np.maximum(moving, card.sum(axis=0)[node])
    worst = int(np.argmax(first + moving))
    neighbours = np.bincount(messages.receiver, minlength=ranks) / EXCHANGES
    waiting = machine.jitter * slowest * math.log1p(float(neighbours.max(initial=0.0)))
    message = float(first[worst] + moving[worst]) + waiting
    outside = messages.size[node[messages.sender] != node[messages.receiver]].sum()
    return {
        **traits,
        "ranks": float(ranks),
        "surface": messages.surface,
        "work_s": slowest,
        "message_s": message,
        "imbalance": slowest / float(work.mean()),
        "latency share": float(first[worst]) / message if message else 0.0,
        "waiting share": waiting / message if message else 0.0,
        "outside share": float(outside / max(messages.size.sum(), 1.0)),
        "messages over work": message / slowest,
    }


def shares_of(cell: Cell) -> dict[str, float]:
    """Return the share of each kind of points in a cell, at least 10⁻⁴, and the mean number of transform frequencies.

    Susceptibility counts poles, averaged over three components: two poles of all components on every point make 2.
    Transforms count components: six on every point make 6. A point counts as PML or absorber if it lies in a layer
    along at least one axis.
    """
    volume = float(cell.grid.box.volume)
    totals = cell.survey.totals
    whole = pieces_of(cell, [(0, 0, 0)], [cell.grid.shape])
    values, products = (float(column.sum()) for column in whole.transforms)
    layered = {
        name: 1 - math.prod(1 - sum(depths) / n for depths, n in zip(getattr(cell, name), cell.grid.shape, strict=True))
        for name in ("pml", "absorber")
    }
    shares = {
        "susceptibility": totals.get("polarisations", 0.0) / 3 / volume,
        "transforms": values / cell.parts / volume,
        **layered,
        "dielectric": totals.get("dielectric", 0.0) / volume,
    }
    found = {f"share of {name}": max(LEAST, shares[name]) for name in SHARES}
    return {**found, "frequencies": max(1.0, products / values if values else 1.0)}


def _longest(messages: Messages, latency: Array, ranks: int) -> Array:
    """Return the longest latency of a message to each rank, summed over the exchanges of a step, (ranks,)."""
    found = np.zeros((EXCHANGES, ranks))
    np.maximum.at(found, (messages.exchange, messages.receiver), latency)
    return np.asarray(found.sum(axis=0))
