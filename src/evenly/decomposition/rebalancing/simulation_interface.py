"""Input of the balancers from a simulation of `evenly.fdtd`: times, volumes and owners. All ranks must call together.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(2, 2, 0), resolution=10)
>>> sim.run(until=1.0)
>>> timings(sim).ranks, [volume.points for volume in volumes(sim)], owners(sim).tolist()
(1, [400], [0])
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np
from numpy.typing import NDArray

from evenly.decomposition.rebalancing.measured_times import ChunkVolume, Timings
from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid

if TYPE_CHECKING:
    from evenly.fdtd.measurement.measurement import Measurement
    from evenly.fdtd.simulation import Simulation

__all__ = ["WORK", "owners", "timings", "timings_of", "volume", "volumes", "work_seconds"]

#: Timer phases that count as a rank's own work; waiting and output don't.
WORK = (
    "fused", "electric", "magnetic", "poles", "anisotropy", "nonlinear", "sources", "fourier", "boundary copies",
    "send/receive",
)  # fmt: skip


def work_seconds(sim: Simulation) -> float:
    """Return the CPU seconds that this rank has worked since its clocks were last reset."""
    times = sim.timer.row("cpu")
    return sum(times[phase] for phase in WORK)


def timings(sim: Simulation) -> Timings:
    """Return the CPU seconds of work per step of each rank since the clocks were last reset.

    Raises
    ------
    InputError
        If no step was made since then.
    """
    if not sim.timed_steps:
        raise InputError("A simulation must make steps before it is balanced, but none was made: run it first.")
    return Timings(np.array(sim.communicator.allgather(work_seconds(sim))) / sim.timed_steps, sim.timed_steps)


def timings_of(runs: Sequence[Measurement]) -> Timings:
    """Return the timings from measurement files: means over repetitions of one run, and the noise if there are several.

    Raises
    ------
    InputError
        If the runs have different layouts or numbers of ranks, or a run failed.
    """
    first = runs[0]
    for run in runs:
        if run.status != "ok" or not run.steps:
            raise InputError(f"A run that went well must be measured, but {run.name!r} {run.status}: {run.message}")
        if (run.size, run.layout) != (first.size, first.layout):
            raise InputError(
                f"Measurements must be repetitions of one layout, but {run.name!r} is another one than {first.name!r}."
            )
    times = np.array([[rank.seconds(WORK, "cpu") / run.steps for rank in run.ranks] for run in runs])
    noise = math.nan
    if len(runs) > 1:
        busy = times[:, times.mean(axis=0) > 0]
        noise = float(np.sqrt(np.mean((busy.std(axis=0, ddof=1) / busy.mean(axis=0)) ** 2) / len(runs)))
    return Timings(times.mean(axis=0), first.steps * len(runs), noise)


def volumes(sim: Simulation) -> list[ChunkVolume]:
    """Return the position and size of each chunk of all ranks."""
    return [volume(sim.grid, chunk.box) for chunk in sim.chunk_boxes]


def owners(sim: Simulation) -> NDArray[np.int64]:
    """Return the rank of each chunk, (chunks,)."""
    return np.array([chunk.owner for chunk in sim.chunk_boxes], dtype=np.int64)


def volume(grid: Grid, box: Box) -> ChunkVolume:
    """Return the position and size of a box of grid points, in units of a."""
    low, high = ([o + (0 if t else i * grid.dx) for o, i, t in zip(grid.origin, corner, grid.thin, strict=True)]
                 for corner in (box.lo, box.hi))  # fmt: skip
    return ChunkVolume((low[0], low[1], low[2]), (high[0], high[1], high[2]), box.shape)
