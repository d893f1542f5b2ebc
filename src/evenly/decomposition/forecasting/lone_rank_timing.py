"""Computing times of the ranks of a cut cell, each stepped alone, for any number of ranks on one core.

Up to a given number of ranks, all are timed. With more ranks, those predicted to be slowest and a random sample of the
others are timed. The time of an untimed rank is the cost model's prediction times the correction of the most similar
timed rank; ranks are similar if the same terms take the same shares of their time. Times are measured relative to a
reference workload, the pace (see `evenly.decomposition.calibration.fdtd_runs`), so other load on the machine matters
little.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.calibration.fdtd_runs import LoneRank, connect, paced_seconds, rank_amounts, stepped_alone
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.costs.cost_model import CostModel, program_named
from evenly.fdtd.cell.partition import BinaryPartition

if TYPE_CHECKING:
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.simulation import Simulation

__all__ = ["ComputingTimes", "RankLoads", "lone_rank", "rank_loads_of", "time_alone"]

#: If the times of one rank differ by more than this factor, the measurement was disturbed.
_AGREE = 1.15
Array = NDArray[np.float64]
Ints = NDArray[np.int64]
#: Beginnings of the names of terms whose work is done while the ghosts of H travel: of poles, and of transforms.
_POLES, _TRANSFORMS = ("polaris", "pole ", "far pole"), ("transform", "patches", "gathered")
#: Terms of chunks with off-diagonal media, whose poles wait for the ghosts of H, too.
_FED = ("fed values", "fed chunks", "increments")
#: The term that counts bytes moved to and from memory, and the terms of bytes beyond a core's own caches.
_MEMORY = "memory bytes"
_FAR = ("uncached bytes", _MEMORY)


@dataclass(frozen=True)
class RankLoads:
    """Predicted work per step of the ranks of a layout.

    Parameters
    ----------
    seconds : (ranks,)
        Seconds per step by the cost model, borders included.
    profile : (ranks, terms)
        Share of each term in a rank's seconds; rows sum to 1.
    late : (ranks,)
        Share of a rank's seconds that is computed while the ghosts of H travel.
    fed : (ranks,)
        Share that is computed between the arrival of these ghosts and the exchange of the increments of off-diagonal
        media; 0 without such media.
    memory_bytes : (ranks,)
        Bytes per step moved to and from memory; the last cache holds the others.
    far_bytes : (ranks,)
        Bytes per step beyond a core's own caches, where those of memory count twice: a feature of step models.
    """

    seconds: Array
    profile: Array
    late: Array
    fed: Array
    memory_bytes: Array
    far_bytes: Array


@dataclass(frozen=True)
class ComputingTimes:
    """Computing times of ranks, measured alone or estimated from similar ranks.

    Parameters
    ----------
    seconds : (ranks,)
        Computing seconds per step of each rank.
    timed : (timed,)
        Indices of the ranks that were timed; the others are estimated from the most similar timed rank.
    pace_s : float
        Seconds of the reference workload (the pace) at the time of the measurement.
    """

    seconds: Array
    timed: Ints
    pace_s: float


def rank_loads_of(cell: Cell, layout: BinaryPartition, ranks: int, cost: CostModel) -> RankLoads:
    """Return the predicted work per step of the ranks of a layout, by a cost model.

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
    poles, late = (
        profile[:, [name.lower().startswith(known) for name in names]].sum(axis=1) for known in (_POLES, _TRANSFORMS)
    )
    fed = profile[:, [name in _FED for name in names]].sum(axis=1)
    if "fed values" in names:
        values, of_all = (amounts[:, names.index(name)] for name in ("fed values", "polarised values"))
        waiting = np.clip(values / np.maximum(of_all, 1.0), 0, 1)
        fed, poles = fed + waiting * poles, (1 - waiting) * poles
    far = amounts[:, [name in _FAR for name in names]].sum(axis=1)
    return RankLoads(seconds, profile, late + poles, fed, amounts[:, names.index(_MEMORY)], far)


def lone_rank(
    keywords: Mapping[str, Any], layout: BinaryPartition, rank: int, ranks: int, monitors: list[FourierMonitor]
) -> Simulation:
    """Return the simulation of one rank, to be stepped alone; the other ranks aren't built.

    Ghosts of off-diagonal media that other ranks would request are left out.
    """
    voice = LoneRank(rank, ranks)
    sim = stepped_alone({**keywords, "layout": layout}, voice)
    nothing: dict[str, list[Any]] = {name: [] for name in voice.said or ()}
    connect(sim, voice, [voice.said if other == rank else nothing for other in range(ranks)], monitors)
    return sim


def time_alone(
    keywords: Mapping[str, Any],
    monitors: Callable[[], list[FourierMonitor]],
    layout: BinaryPartition,
    load: RankLoads,
    *,
    most: int = 8,
    rounds: int = 1,
    seed: int = 0,
) -> ComputingTimes:
    """Time some ranks of a cut cell, each alone, and estimate the others from the most similar timed rank.

    Parameters
    ----------
    keywords : mapping
        Keyword arguments of `Simulation`, without the layout.
    monitors : callable
        Makes new monitors for each rank.
    layout : BinaryPartition
    load : RankLoads
        Predicted work of this layout.
    most : int
        Most ranks that are timed.
    rounds : int
        Number of times that each is timed, in turns; the median counts. If the rounds of a rank disagree, it is timed
        as often again.
    seed : int
        Seed for drawing the timed ranks that aren't among the slowest.
    """
    ranks = len(load.seconds)
    timed = _chosen(load.seconds, most, np.random.default_rng(seed))
    sims = [lone_rank(keywords, layout, int(rank), ranks, monitors()) for rank in timed]
    found = [[paced_seconds(sim) for sim in sims] for _ in range(rounds)]
    ratio, pace = np.array(
        [_settled(list(times), sim) for times, sim in zip(zip(*found, strict=True), sims, strict=True)]
    ).T
    # The cost model was measured at another speed of the core, so only its proportions between ranks are used.
    missed = ratio / load.seconds[timed]
    like = _most_alike(load, timed)
    seconds = load.seconds * missed[like]
    seconds[timed] = ratio
    return ComputingTimes(seconds * float(np.median(pace)), timed, float(np.median(pace)))


def _settled(times: list[tuple[float, float]], sim: Simulation) -> Array:
    """Return the medians of a rank's ratios and paces, (2,); if its rounds disagree, it is timed as often again."""
    ratios = np.array(times)[:, 0]
    if ratios.max() > _AGREE * ratios.min():
        times = [*times, *(paced_seconds(sim) for _ in times)]
    return np.asarray(np.median(times, axis=0))


def _chosen(seconds: Array, most: int, random: np.random.Generator) -> Ints:
    """Return the indices of at most `most` ranks to time: half of them the slowest, the others drawn at random."""
    if len(seconds) <= most:
        return np.arange(len(seconds))
    order = np.argsort(-seconds, kind="stable")
    slowest, others = order[: (most + 1) // 2], order[(most + 1) // 2 :]
    return np.sort(np.concatenate([slowest, random.choice(others, most - len(slowest), replace=False)]))


def _most_alike(load: RankLoads, timed: Ints) -> Ints:
    """Return for each rank the place in `timed` of the rank with the most similar profile and size, (ranks,)."""
    apart = np.abs(load.profile[:, None] - load.profile[timed][None]).sum(axis=2)
    sizes = np.log(load.seconds[:, None] / load.seconds[timed][None])
    return np.asarray(np.argmin(apart + 0.5 * np.abs(sizes), axis=1))
