"""How long each process of a Meep run works, in CPU time: taken around every run from the moment it is asked for.

A balancer is told after a run that it should have been timed, so `watch` has Meep's simulations time each of their
runs.
"""

from __future__ import annotations

import functools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.clock import working_clock
from evenly.balance.rebalancing.measured import ChunkVolume, Timings
from evenly.errors import InputError

__all__ = ["PHASES", "forget", "latest_timings_of", "timings_of", "timings_of_meep", "volumes_of", "watch"]

#: Phases in which a process works, by their names in ``meep.timing_measurements``; in all others it waits.
PHASES = ("time_stepping", "boundaries_copying", "fourier_transform")
_RECORD = "_evenly_measured"
_MARK = "_evenly_watches"
_TOLD = "_evenly_told"


@dataclass
class _Record:
    """Seconds of work of this process in so many steps."""

    seconds: float = 0.0
    steps: int = 0


def watch() -> None:
    """Have every simulation time its runs from now on; once is enough."""
    import meep

    kind = meep.Simulation
    if hasattr(kind, _MARK):
        return
    usual = kind._run_until

    @functools.wraps(usual)
    def timed(sim: Any, *args: Any, **kwargs: Any) -> Any:
        if sim.fields is None:
            return usual(sim, *args, **kwargs)
        with working_clock() as clock:
            tell: Callable[[], float] = clock or functools.partial(_own_work, sim)
            begin, step = tell(), int(sim.fields.t)
            try:
                return usual(sim, *args, **kwargs)
            finally:
                record = vars(sim).setdefault(_RECORD, _Record())
                record.seconds += tell() - begin
                record.steps += int(sim.fields.t) - step

    kind._run_until = timed
    setattr(kind, _MARK, True)


def forget(sim: Any) -> None:
    """Begin anew: what was measured of a simulation belongs to another layout."""
    vars(sim).pop(_RECORD, None)
    vars(sim).pop(_TOLD, None)


def timings_of(sim: Any) -> Timings:
    """Return what each process took per step on the present layout; all processes must ask.

    Raises
    ------
    InputError
        If no step was made.
    """
    record = vars(sim).get(_RECORD)
    if record is not None and record.steps > 0:
        return Timings(np.maximum(_gathered(record.seconds), 0.0) / record.steps, record.steps)
    if sim.fields is None or sim.fields.t < 1:
        raise InputError("A simulation must make steps before it is balanced, but none was made: run it first.")
    # It ran before anybody watched: Meep's own clock is what is left.
    return Timings(_worked(sim) / int(sim.fields.t), int(sim.fields.t))


def latest_timings_of(sim: Any) -> Timings:
    """Return the same of the steps since this was last asked; if none was made since, the last answer."""
    whole = timings_of(sim)
    told: tuple[Timings | None, Timings] = vars(sim).get(_TOLD, (None, whole))
    before, last = told
    if before is not None and whole.steps != before.steps:
        steps = whole.steps - before.steps
        seconds = whole.seconds * whole.steps - before.seconds * before.steps
        last = Timings(np.maximum(seconds, 0.0) / steps, steps) if steps > 0 else whole
    vars(sim)[_TOLD] = whole, last
    return last


def timings_of_meep(measured: Any) -> Timings:
    """Return a ``MeepTimingMeasurements`` as timings; its seconds are those of a wall clock."""
    if isinstance(measured, Timings):
        return measured
    table: Mapping[str, Any] = measured.measurements
    seconds = np.sum([np.asarray(table[name], dtype=np.float64) for name in PHASES], axis=0)
    steps = max(1, int(measured.num_time_steps))
    return Timings(seconds / steps, steps)


def volumes_of(volumes: Any) -> list[ChunkVolume]:
    """Return Meep's grid volumes of chunks as plain numbers, in Meep's coordinates."""
    return [_volume(one) for one in volumes]


def _volume(one: Any) -> ChunkVolume:
    import meep

    axes = {meep.D1: (2,), meep.D2: (0, 1), meep.D3: (0, 1, 2)}[one.dim]
    low, high, shape = [0.0] * 3, [0.0] * 3, [1] * 3
    for axis in axes:
        shape[axis] = int(one.num_direction(axis))
        low[axis] = float(one.origin_in_direction(axis))
        high[axis] = low[axis] + shape[axis] / float(one.a)
    return ChunkVolume((low[0], low[1], low[2]), (high[0], high[1], high[2]), (shape[0], shape[1], shape[2]))


def _own_work(sim: Any) -> float:
    import meep

    return float(_worked(sim)[meep.my_rank()])


def _gathered(value: float) -> NDArray[np.float64]:
    """Return the values of all processes, (processes,)."""
    import meep

    ranks, mine = meep.count_processors(), meep.my_rank()
    return np.array([meep.sum_to_all(value if rank == mine else 0.0) for rank in range(ranks)])


def _worked(sim: Any) -> NDArray[np.float64]:
    """Return the seconds that each process has worked, by whatever clock Meep has now, (processes,)."""
    from meep.timing_measurements import TIMING_MEASUREMENT_IDS

    parts = [np.asarray(sim.time_spent_on(TIMING_MEASUREMENT_IDS[name]), dtype=np.float64) for name in PHASES]
    return np.asarray(np.sum(parts, axis=0))
