"""CPU seconds that each process of a Meep run works. After a call of `watch`, every run is measured.

A balancer is called only after a run, too late to start a measurement. So `watch` makes Meep's simulations time each of
their runs, step by step. The differences between windows of steps show the noise, which a decision needs.
"""

from __future__ import annotations

import functools
import math
import time
from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.adapters.meep.collectives import gathered
from evenly.adapters.meep.grid import volumes_of
from evenly.adapters.meep.layouts import from_meep
from evenly.adapters.meep.timing.clock import working_clock
from evenly.decomposition.rebalancing.measured_times import Timings
from evenly.decomposition.rebalancing.noise import Windows, standard_error
from evenly.errors import InputError

__all__ = [
    "PHASES",
    "beginning_s",
    "forget",
    "latest_timings_of",
    "timings_of",
    "timings_of_meep",
    "volumes_of",
    "watch",
]

#: Phases in which a process works, with their names in ``meep.timing_measurements``. In all others, it waits.
PHASES = ("time_stepping", "boundaries_copying", "fourier_transform")
_RECORD = "_evenly_measured"
_MARK = "_evenly_watches"
_TOLD = "_evenly_told"
_BEGAN = "_evenly_began_s"


@dataclass
class _Record:
    """Work of this process on a layout: the total, and the work since the last call of `latest_timings_of`."""

    layout: Any
    whole: Windows = field(default_factory=Windows)
    latest: Windows = field(default_factory=Windows)

    def add(self, seconds: float, steps: int = 1) -> None:
        self.whole.add(seconds, steps)
        self.latest.add(seconds, steps)


def watch() -> None:
    """Make every Meep simulation time its runs from now on; further calls have no effect."""
    import meep

    kind = meep.Simulation
    if hasattr(kind, _MARK):
        return
    usual = kind._run_until

    @functools.wraps(usual)
    def timed(sim: Any, condition: Any, step_functions: Any) -> Any:
        if sim.fields is None:
            sim.init_sim()
        with working_clock() as clock:
            if clock is None:
                return _timed_whole(sim, lambda: usual(sim, condition, step_functions))
            return usual(sim, condition, [_ticks(sim, clock), *step_functions])

    begin = kind.init_sim

    @functools.wraps(begin)
    def begun(sim: Any) -> None:
        anew, start = sim.fields is None, time.perf_counter()
        begin(sim)
        if anew:
            vars(sim)[_BEGAN] = time.perf_counter() - start

    kind._run_until, kind.init_sim = timed, begun
    setattr(kind, _MARK, True)


def _ticks(sim: Any, clock: Callable[[], float]) -> Callable[[Any], None]:
    """Return a step function that records the time of each step; Meep calls it before each step and after the last."""
    record = _record(sim)
    # The first step after a restart also connects the chunks, so it is left out.
    state = {"mark": clock(), "calls": 0, "left out": int(sim.fields.t == 0)}

    def tick(_sim: Any) -> None:
        if state["calls"]:
            now = clock()
            if state["calls"] > state["left out"]:
                record.add(now - state["mark"])
            state["mark"] = now
        state["calls"] += 1

    return tick


def _timed_whole(sim: Any, run: Callable[[], Any]) -> Any:
    """Run and record the time by Meep's own clock; all processes must call this, since reading it is collective."""
    record, begin, step = _record(sim), _own_work(sim), int(sim.fields.t)
    result = run()
    steps = int(sim.fields.t) - step
    if steps > 0:
        record.add(_own_work(sim) - begin, steps)
    return result


def beginning_s(sim: Any) -> float:
    """Return the wall seconds in which this process last initialised a simulation; nan if that was before `watch`."""
    return float(vars(sim).get(_BEGAN, math.nan))


def forget(sim: Any) -> None:
    """Delete a simulation's measurements, for example since they belong to another layout."""
    vars(sim).pop(_RECORD, None)
    vars(sim).pop(_TOLD, None)


def timings_of(sim: Any) -> Timings:
    """Return the times per step of each process on the present layout; all processes must call this.

    Raises
    ------
    InputError
        If no step was made.
    """
    record = vars(sim).get(_RECORD)
    if record is not None and record.whole.steps > 0:
        return _timings(record.whole)
    if sim.fields is None or sim.fields.t < 1:
        raise InputError("A simulation must make steps before it is balanced, but none was made: run it first.")
    # The simulation ran before `watch` was called, so only Meep's own clock has its times.
    return Timings(_worked(sim) / int(sim.fields.t), int(sim.fields.t))


def latest_timings_of(sim: Any) -> Timings:
    """Return the times of the steps since the last call. If there was no step since then, return the last result."""
    record = vars(sim).get(_RECORD)
    if record is not None and record.latest.steps > 0:
        vars(sim)[_TOLD] = _timings(record.latest)
        record.latest = Windows()
    elif _TOLD not in vars(sim):
        vars(sim)[_TOLD] = timings_of(sim)
    return vars(sim)[_TOLD]  # type: ignore[no-any-return]


def _record(sim: Any) -> _Record:
    """Return the measurements on the simulation's present layout; measurements on another layout are deleted."""
    layout = from_meep(sim.chunk_layout) if hasattr(sim.chunk_layout, "split_pos") else None
    record = vars(sim).get(_RECORD)
    if record is None or record.layout != layout:
        forget(sim)
        record = vars(sim)[_RECORD] = _Record(layout)
    return record  # type: ignore[no-any-return]


def _timings(work: Windows) -> Timings:
    seconds = np.maximum(gathered(work.seconds), 0.0) / work.steps
    # All processes made the same steps, so their windows are the same.
    rates = np.array([gathered(rate) for rate in work.rates]).reshape(-1, len(seconds)).T
    return Timings(seconds, work.steps, standard_error(rates))


def timings_of_meep(measured: Any) -> Timings:
    """Return a ``MeepTimingMeasurements`` as timings; its seconds are those of a wall clock."""
    if isinstance(measured, Timings):
        return measured
    table: Mapping[str, Any] = measured.measurements
    seconds = np.sum([np.asarray(table[name], dtype=np.float64) for name in PHASES], axis=0)
    steps = max(1, int(measured.num_time_steps))
    return Timings(seconds / steps, steps)


def _own_work(sim: Any) -> float:
    import meep

    return float(_worked(sim)[meep.my_rank()])


def _worked(sim: Any) -> NDArray[np.float64]:
    """Return the seconds that each process has worked, by Meep's current clock, (processes,)."""
    from meep.timing_measurements import TIMING_MEASUREMENT_IDS

    parts = [np.asarray(sim.time_spent_on(TIMING_MEASUREMENT_IDS[name]), dtype=np.float64) for name in PHASES]
    return np.asarray(np.sum(parts, axis=0))
