"""Runs of `evenly.fdtd` for its calibration: each rank of a cell is stepped alone, in one process, without MPI.

A rank does the same work whether its neighbours answer or not. It sweeps its chunks, copies ghosts between them, packs
messages for other ranks, and unpacks its receive buffers. So the ranks of a cut cell are built one after the other with
the information that ranks exchange at the start. Each is then stepped alone, and its messages are never sent. Only the
time inside MPI is missing; `benchmarks/cost_fdtd.py --mpi` compares with real ranks.

Fields start as noise, since very small (denormal) numbers slow the processor down. Sources are left out, since they
cost nothing after their pulse.
"""

from __future__ import annotations

import math
from collections.abc import Callable, Mapping, Sequence
from dataclasses import replace
from functools import lru_cache
from time import thread_time
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.decomposition.calibration.designs import Design, Timing
from evenly.decomposition.costs.terms import BOUNDARY

if TYPE_CHECKING:
    from evenly.decomposition.cells.cell import Cell
    from evenly.fdtd.monitors.monitor import FourierMonitor
    from evenly.fdtd.simulation import Simulation

__all__ = ["LoneRank", "ReferenceWork", "amounts_of", "built", "lone_ranks", "paced_seconds", "run_design"]

#: Seconds of a batch of steps, seconds of all timed steps together, and the smallest and largest number of groups.
BATCH_S, TIMED_S, GROUPS = 0.004, 0.25, (3, 15)
#: Warm-up steps before a batch, which fill the caches: seconds of all together, and their largest number.
WARM_S, WARM = 0.004, 5
#: If a step takes more seconds than this, the caches don't hold its fields.
LONG_S = 0.008
#: Period of the Fourier transforms in steps; the steps of a group are a multiple of it.
GROUP = 16
Made = tuple[dict[str, Any], Callable[[], "list[FourierMonitor]"]]


class LoneRank:
    """A communicator of a rank that runs alone: it sends nothing and receives nothing.

    Parameters
    ----------
    rank, size : int
        The rank, and the number of all ranks.
    """

    def __init__(self, rank: int, size: int) -> None:
        self.rank, self.size = rank, size
        self.said: Any = None
        self.everyones: list[Any] | None = None

    def barrier(self) -> None:
        """Return at once."""

    def agree(self, call: str) -> None:
        """Return at once."""

    def bcast(self, value: Any, root: int = 0) -> Any:  # noqa: ARG002 - the interface's
        """Return `value`."""
        return value

    def gather(self, value: Any, root: int = 0) -> list[Any]:  # noqa: ARG002 - the interface's
        """Return `value` for every rank."""
        return [value] * self.size

    def allgather(self, value: Any) -> list[Any]:
        """Return the values of all ranks if they are known; else `value` for every rank."""
        self.said = value
        return self.everyones or [value] * self.size

    def allreduce(self, value: Any, operation: str = "sum") -> Any:  # noqa: ARG002 - the interface's
        """Return `value` as an array."""
        return np.array(value)

    def exchange(self, sends: Sequence[Any], receives: Sequence[Any]) -> Any:  # noqa: ARG002 - the interface's
        """Return an exchange that sends no messages."""
        return _NoMessages()

    def split(self, group: int) -> LoneRank:  # noqa: ARG002 - the interface's
        """Return this communicator."""
        return self


class _NoMessages:
    row = np.zeros(6, np.int64)

    def start(self) -> None: ...

    def done(self) -> bool:
        return True

    def wait(self) -> None: ...


def lone_ranks(
    keywords: Mapping[str, Any], ranks: int, monitors: Callable[[], list[FourierMonitor]]
) -> list[Simulation]:
    """Return the simulation of every rank of a cell, each to be stepped alone.

    Parameters
    ----------
    keywords : mapping
        Keyword arguments of `Simulation`.
    ranks : int
    monitors : callable
        Makes new monitors for each rank.
    """
    voices = [LoneRank(rank, ranks) for rank in range(ranks)]
    sims = [stepped_alone(keywords, voice) for voice in voices]
    said = [voice.said for voice in voices]
    for sim, voice in zip(sims, voices, strict=True):
        connect(sim, voice, said, monitors())
    return sims


def stepped_alone(keywords: Mapping[str, Any], voice: LoneRank) -> Simulation:
    """Return the simulation of one rank; `voice.said` is then what the rank tells the others."""
    from evenly.fdtd.simulation import Simulation

    sim = Simulation(**{**keywords, "communicator": voice})
    # While they are built, ranks only exchange which increments they need.
    _ = sim.stepper
    return sim


def connect(sim: Simulation, voice: LoneRank, said: list[Any], monitors: Sequence[FourierMonitor]) -> None:
    """Give a rank what all ranks `said`, (ranks,), and its monitors."""
    from evenly.fdtd.stepping.stepper import Stepper

    if voice.size > 1:
        voice.everyones = said
        known = sim.chunk_boxes, sim.chunks, sim.layers, voice, sim.timer, sim.options.threads
        sim.stepper = Stepper(*known, sim.stepper.stepped)
        voice.everyones = None
    for monitor in monitors:
        sim.add(monitor)


class ReferenceWork:
    """A fixed reference workload, which measures the speed of this core while something else is timed."""

    #: Points along the edge of its cell, and steps of one measurement.
    EDGE, STEPS = 36, 4
    #: Number of equal cells to average over, since the speed of one depends on its place in memory.
    COPIES = 3

    def __init__(self) -> None:
        from evenly.fdtd.ranks.communicators import SerialCommunicator
        from evenly.fdtd.simulation import Simulation

        edges = (self.EDGE,) * 3
        self._sims = [
            Simulation(cell=edges, resolution=1, communicator=SerialCommunicator()) for _ in range(self.COPIES)
        ]
        for sim in self._sims:
            _fill(sim)
        self.seconds()

    def seconds(self) -> float:
        """Return the present CPU seconds of one step, with caches warmed by its own steps."""
        return float(np.mean([self._warm_seconds(sim) for sim in self._sims]))

    def _warm_seconds(self, sim: Simulation) -> float:
        # A first batch warms the caches. Without it the pace would seem slower beside large cells, which evict it.
        _batch(sim, self.STEPS)
        return _batch(sim, self.STEPS)


@lru_cache(maxsize=1)
def _reference_work() -> ReferenceWork:
    return ReferenceWork()


def paced_seconds(sim: Simulation) -> tuple[float, float]:
    """Return a rank's CPU seconds per step over those of the pace (a ratio), and the pace's CPU seconds per step.

    Batches of the rank and of the pace alternate, so that both see the same load of the machine. The first steps after
    the pace bring the rank's fields back into the caches; they don't count, unless the caches are too small for the
    fields anyway. Ratios are averaged over groups of batches that contain all periodic work. The result is the median
    over the groups.
    """
    _fill(sim)
    spent = max(min(_batch(sim, 1) for _ in range(3)), 1e-6)
    period = GROUP if sim.monitors else 1
    if spent < LONG_S:
        warm, steps, each = math.ceil(min(WARM_S / spent, WARM)), max(period, round(BATCH_S / spent)), 1
        steps -= steps % period
    else:
        warm, steps, each = 0, 1, period
    _fill(sim)
    pace = _reference_work()
    around, ratios = [pace.seconds()], []
    for _ in range(_groups(spent * (warm + steps) * each) * each):
        _batch(sim, warm)
        seconds = _batch(sim, steps)
        around.append(pace.seconds())
        ratios.append(seconds / (0.5 * (around[-2] + around[-1])))
    groups = np.array(ratios).reshape(-1, each).mean(axis=1)
    return float(np.median(groups)), float(np.median(around))


def _groups(seconds: float) -> int:
    """Return the number of groups of batches to time, if one group takes `seconds`."""
    return int(np.clip(round(TIMED_S / seconds), *GROUPS))


def _batch(sim: Simulation, steps: int) -> float:
    begin = thread_time()
    for _ in range(steps):
        sim.step()
    return (thread_time() - begin) / max(steps, 1)


def _fill(sim: Simulation) -> None:
    random = np.random.default_rng(0)
    for chunk in sim.chunks:
        for name, parts in chunk.fields.items():
            for three in parts:
                for array, stepped in zip(three, chunk.stepped[name], strict=True):
                    array[:] = random.uniform(-1e-3, 1e-3, array.size) if stepped else 0.0


def run_design(design: Design) -> Timing:
    """Run a design once and return every rank's CPU seconds per step with its amounts of the terms."""
    keywords, monitors = built(design.settings)
    ranks = int(design.settings.get("ranks", 1))
    sims = lone_ranks(keywords, ranks, monitors)
    amounts = amounts_of(sims[0], ranks, monitors())
    ratios, paces = zip(*(paced_seconds(sim) for sim in sims), strict=True)
    pace = float(np.mean(paces))
    return Timing(tuple(ratio * pace for ratio in ratios), tuple(amounts), pace)


def amounts_of(sim: Simulation, ranks: int, monitors: Sequence[FourierMonitor]) -> list[dict[str, float]]:
    """Return the amount of each term per step for each rank of a simulation's layout."""
    from evenly.decomposition.cells.fdtd.cell import cell_of

    return rank_amounts(cell_of(sim, () if sim.monitors else monitors), sim.layout, ranks)


def rank_amounts(cell: Cell, layout: Any, ranks: int) -> list[dict[str, float]]:
    """Return the amount of each term per step for each rank of a cell with a layout; zero amounts are left out."""
    from evenly.decomposition.cells.pieces import pieces_of
    from evenly.decomposition.costs.cost_model import CostModel, program_named
    from evenly.decomposition.partitioning.predict import corners, times

    program = program_named(cell.program)
    low, high = corners(cell, layout)
    owners = np.asarray(layout.owners, dtype=np.int64) % ranks
    pieces = pieces_of(cell, low, high)
    # All leaves of a rank share its caches, so they count as one box.
    pieces = replace(pieces, box=owners[pieces.box])
    per_rank = pieces.sums(program.amounts(pieces), ranks)
    # Faces and neighbours don't depend on the costs, so an empty cost model will do.
    borders = times(cell, low, high, owners, ranks, CostModel(cell.program, {}), np.zeros(len(low)))
    found = []
    for rank in range(ranks):
        shared = (borders.faces[rank] * cell.ghost_parts, borders.neighbours[rank], 1)
        border = dict(zip((t.name for t in BOUNDARY), shared, strict=True))
        of_chunks = {term.name: float(amount) for term, amount in zip(program.terms, per_rank[rank], strict=True)}
        found.append({name: float(n) for name, n in {**of_chunks, **border}.items() if n})
    return found


def built(settings: Mapping[str, Any]) -> Made:
    """Return the keyword arguments of a design's simulation, and a function that makes its monitors.

    The settings are either ``structure`` and its ``parameters``, or ``shape`` (points along x, y, z) with ``medium``,
    ``objects``, ``boundaries`` and ``transforms``. Both can have ``layout`` and ``ranks``. See `fdtd_designs`.
    """
    layout = {"layout": settings["layout"]} if settings.get("layout") is not None else {}
    if "structure" in settings:
        from evenly.fdtd.structures import build

        def monitors() -> list[FourierMonitor]:
            return list(build(settings["structure"], **settings.get("parameters", {})).monitors.values())

        keywords = dict(build(settings["structure"], **settings.get("parameters", {})).simulation)
        return _cut({**keywords, **layout, "sources": ()}, settings), monitors
    return _cut({**_keywords(settings), **layout}, settings), lambda: _monitors(settings)


def _cut(keywords: dict[str, Any], settings: Mapping[str, Any]) -> dict[str, Any]:
    """Return the keyword arguments with a layout; by default the cell is cut into chunks of equal volume."""
    if "layout" in keywords:
        return keywords
    from evenly.fdtd.cell.partition import BinaryPartition
    from evenly.fdtd.simulation import Simulation

    grid = Simulation(**keywords).grid
    return {**keywords, "layout": BinaryPartition.equal(grid, int(settings.get("ranks", 1)))}


def _keywords(settings: Mapping[str, Any]) -> dict[str, Any]:
    from evenly.fdtd.simulation import Options

    boundaries = [_boundary(*given) for given in settings.get("boundaries", ())]
    return {
        "cell": [float(n) if n > 1 else 0.0 for n in settings["shape"]],
        "resolution": 1.0,
        "material": _medium(settings.get("medium", {})),
        "geometry": [_object(**given) for given in settings.get("objects", ())],
        "boundaries": boundaries,
        "options": Options(courant=0.25),
    }


def _boundary(kind: str, axes: str, points: float | None = None, side: str | None = None) -> Any:
    from evenly import fdtd

    if kind in ("pml", "absorber"):
        layer = {"pml": fdtd.PML, "absorber": fdtd.Absorber}[kind]
        return layer(float(points or 0), axes, side)
    return fdtd.Periodic(axes) if kind == "periodic" else fdtd.Bloch(axes, (0.011, 0.017, 0.023))


def _medium(given: Mapping[str, Any]) -> Any:
    from evenly import fdtd

    def poles(count: int) -> list[Any]:
        return [fdtd.LorentzPole(0.02 + 0.003 * i, 0.001, 0.4) for i in range(count)]

    values: dict[str, Any] = {
        name: tuple(v) if isinstance(v, list) else v for name, v in given.items() if not name.endswith("poles")
    }
    for side in ("electric_poles", "magnetic_poles"):
        if given.get(side):
            values[side] = poles(int(given[side]))
    return fdtd.Medium(**values)


def _object(kind: str, size: Any, medium: Mapping[str, Any], center: Sequence[float] = (0, 0, 0)) -> Any:
    from evenly import fdtd

    if kind == "sphere":
        return fdtd.Sphere(center=tuple(center), radius=float(size), material=_medium(medium))
    return fdtd.Block(center=tuple(center), size=tuple(float(s) for s in size), material=_medium(medium))


def _monitors(settings: Mapping[str, Any]) -> list[FourierMonitor]:
    from evenly import fdtd

    made: list[FourierMonitor] = []
    for given in settings.get("transforms", ()):
        frequencies = np.linspace(0.02, 0.05, int(given["frequencies"]))
        center, size = tuple(given.get("center", (0, 0, 0))), tuple(given["size"])
        if given.get("flux"):
            made.append(fdtd.Flux(center, size, frequencies))
        else:
            made.append(fdtd.DftFields(list(given["components"]), center, size, frequencies))
    return made
