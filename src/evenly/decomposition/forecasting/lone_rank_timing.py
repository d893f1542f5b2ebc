"""Ranks of a cut cell, each stepped alone: what they compute, for any number of ranks on one core.

Up to so many ranks all are timed. Of more, the ones that are predicted to be slowest are, and others drawn at random;
the rest takes what the cost model says times what it missed for the rank that does most alike, by the shares of a
rank's time that its terms take. Times are those of the pace (see `evenly.decomposition.calibration.fdtd_runs`), so that
what else the machine does counts little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.calibration.fdtd_runs import LoneRank, paced_seconds, rank_amounts
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.simulation import Simulation

__all__ = ["Alone", "Load", "load_of", "lone_rank", "time_alone"]

#: Times of one rank that differ by more than this factor were disturbed.
_AGREE = 1.15
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Terms whose work is done while H's ghosts travel.
_LATE = ("polaris", "pole ", "transform", "patches", "gathered")
#: The terms of programs that say what goes to memory and back.
_MEMORY = ("uncached bytes", "memory bytes")


@dataclass(frozen=True)
class Load:
    """What the ranks of a layout have to do in a step.

    Parameters
    ----------
    seconds : (ranks,)
        By the cost model, borders included.
    profile : (ranks, terms)
        Which terms take them; rows add up to 1.
    late : (ranks,)
        Share that is done while H's ghosts travel.
    memory_bytes : (ranks,)
        What goes to memory and back.
    """

    seconds: Array
    profile: Array
    late: Array
    memory_bytes: Array


@dataclass(frozen=True)
class Alone:
    """What ranks take when each runs alone.

    Parameters
    ----------
    seconds : (ranks,)
        Computing per step.
    timed : (timed,)
        Which of them were timed; the others are like one of these.
    pace_s : float
        Seconds of the pace's step meanwhile.
    """

    seconds: Array
    timed: Ints
    pace_s: float


def load_of(cell: Cell, layout: BinaryPartition, ranks: int, cost: CostModel) -> Load:
    """Return what the ranks of a layout have to do.

    Parameters
    ----------
    cell : Cell
    layout : BinaryPartition
        Owners are taken modulo `ranks`.
    ranks : int
    cost : CostModel
    """
    names = [term.name for term in program_named(cell.program).all_terms]
    amounts = np.zeros((ranks, len(names)))
    for row, found in zip(amounts, rank_amounts(cell, layout, ranks), strict=True):
        for name, amount in found.items():
            row[names.index(name)] = amount
    parts = amounts * cost.vector
    seconds = parts.sum(axis=1)
    profile = parts / np.maximum(seconds, 1e-300)[:, None]
    late = profile[:, [name.lower().startswith(_LATE) for name in names]].sum(axis=1)
    memory = amounts[:, [name in _MEMORY for name in names]].sum(axis=1)
    return Load(seconds, profile, late, memory)


def lone_rank(
    keywords: Mapping[str, Any], layout: BinaryPartition, rank: int, ranks: int, monitors: list[FourierMonitor]
) -> Simulation:
    """Return the simulation of one rank, to be stepped alone; no other is built.

    Ghosts of off-diagonal media that other ranks would ask for are left out.
    """
    from evenly.fdtd.simulation import Simulation
    from evenly.fdtd.stepping.stepper import Stepper

    voice = LoneRank(rank, ranks)
    sim = Simulation(**{**keywords, "layout": layout, "communicator": voice})
    _ = sim.stepper
    if ranks > 1:
        nothing: dict[str, list[Any]] = {name: [] for name in voice.said}
        voice.everyones = [voice.said if other == rank else nothing for other in range(ranks)]
        sim.stepper = Stepper(sim.chunk_boxes, sim.chunks, sim.layers, voice, sim.timer, sim.options.threads)
        voice.everyones = None
    for monitor in monitors:
        sim.add(monitor)
    return sim


def time_alone(
    keywords: Mapping[str, Any],
    monitors: Callable[[], list[FourierMonitor]],
    layout: BinaryPartition,
    load: Load,
    *,
    most: int = 8,
    rounds: int = 1,
    seed: int = 0,
) -> Alone:
    """Time the ranks of a cut cell, one after the other.

    Parameters
    ----------
    keywords : mapping
        Of `Simulation`, without layout.
    monitors : callable
        Makes the monitors anew for each rank.
    layout : BinaryPartition
    load : Load
        Of this layout.
    most : int
        How many ranks are timed at most.
    rounds : int
        How often each is timed, in turns; medians count. Ranks whose rounds disagree are timed as often again.
    seed : int
        Draws the ones that aren't among the slowest.
    """
    ranks = len(load.seconds)
    timed = _chosen(load.seconds, most, np.random.default_rng(seed))
    sims = [lone_rank(keywords, layout, int(rank), ranks, monitors()) for rank in timed]
    found = [[paced_seconds(sim) for sim in sims] for _ in range(rounds)]
    ratio, pace = np.array(
        [_settled(list(times), sim) for times, sim in zip(zip(*found, strict=True), sims, strict=True)]
    ).T
    # What the cost model says is of another day's pace: only its proportions between ranks are used.
    missed = ratio / load.seconds[timed]
    like = _most_alike(load, timed)
    seconds = load.seconds * missed[like]
    seconds[timed] = ratio
    return Alone(seconds * float(np.median(pace)), timed, float(np.median(pace)))


def _settled(times: list[tuple[float, float]], sim: Simulation) -> Array:
    """Return the medians of a rank's ratios and paces, (2,); rounds that disagree are followed by as many others."""
    ratios = np.array(times)[:, 0]
    if ratios.max() > _AGREE * ratios.min():
        times = [*times, *(paced_seconds(sim) for _ in times)]
    return np.asarray(np.median(times, axis=0))


def _chosen(seconds: Array, most: int, random: np.random.Generator) -> Ints:
    """Return the half that is slowest and as many others, in order."""
    if len(seconds) <= most:
        return np.arange(len(seconds))
    order = np.argsort(-seconds, kind="stable")
    slowest, others = order[: (most + 1) // 2], order[(most + 1) // 2 :]
    return np.sort(np.concatenate([slowest, random.choice(others, most - len(slowest), replace=False)]))


def _most_alike(load: Load, timed: Ints) -> Ints:
    """Return for each rank the place in `timed` of the one whose time is made up most like its own, (ranks,)."""
    apart = np.abs(load.profile[:, None] - load.profile[timed][None]).sum(axis=2)
    sizes = np.log(load.seconds[:, None] / load.seconds[timed][None])
    return np.asarray(np.argmin(apart + 0.5 * np.abs(sizes), axis=1))
