"""Running a simulation until it is time to stop, with callbacks, a progress bar, and an eye on its health.

>>> from evenly.fdtd.cell.boundaries import PML
>>> from evenly.fdtd.running.decays import FieldsDecayed
>>> from evenly.fdtd.sources.pulses import GaussianPulse
>>> from evenly.fdtd.simulation import Simulation
>>> from evenly.fdtd.sources.source import Source
>>> pulse = Source(GaussianPulse(1.0, width=0.5), "Ez", center=(0, 0, 0))
>>> sim = Simulation(cell=(4, 0, 0), resolution=20, sources=[pulse], boundaries=[PML(1.0)])
>>> sim.run(until=FieldsDecayed("Ez", (0.5, 0, 0), by=1e-6))
>>> sim.outcome.reason
"FieldsDecayed('Ez', (0.5, 0, 0), by=1e-06, window=None)"
"""

from __future__ import annotations

from collections.abc import Callable, Sequence
from contextlib import closing
from dataclasses import dataclass
from time import perf_counter
from typing import TYPE_CHECKING, Any

import numpy as np

from evenly.errors import InputError, RunFailed
from evenly.fdtd.running.callbacks import Callback, at_every
from evenly.fdtd.running.compilation import prepare
from evenly.fdtd.running.conditions import Condition, SourcesEnded, UntilTime
from evenly.fdtd.running.progress import Progress, ProgressChoice, progress

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["CHECK_STEPS", "Outcome", "check_finite", "run"]

Until = float | Condition | Sequence[float | Condition]
CHECK_STEPS = 64
_COMPONENTS = tuple((name, axis) for name in "EH" for axis in range(3))


@dataclass(frozen=True)
class Outcome:
    """How a run ended.

    Attributes
    ----------
    reason : str
        The condition that was met.
    steps : int
        Steps of this run.
    seconds : float
        Wall time of this run, callbacks included.
    """

    reason: str
    steps: int
    seconds: float


def run(
    sim: Fields,
    *,
    until: Until | None = None,
    after_sources: float | None = None,
    callbacks: Sequence[Callback | Callable[[Any], Any]] = (),
    show: ProgressChoice = "auto",
) -> Outcome:
    """Step a simulation until a condition is met; whichever comes first.

    Parameters
    ----------
    sim : Fields
    until : float, Condition, or a sequence of them
        A time of E in a/c, counted from the simulation's beginning; or `FieldsDecayed`, `EnergyDecayed`,
        `DftDecayed`, `SourcesEnded`, `WallTime`.
    after_sources : float, optional
        Stop so much time after the last source has ended.
    callbacks : sequence
        See `evenly.fdtd.running.callbacks`; a plain function is called after every step.
    show : str
        ``"auto"``, ``"bar"``, ``"lines"`` or ``"off"``: see `evenly.fdtd.running.progress.progress`.

    Raises
    ------
    InputError
        Nothing ends the run, or a condition doesn't fit the simulation.
    RunFailed
        The fields have become infinite.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> run(Simulation(cell=(1, 0, 0), resolution=10), until=1.0).steps
    20
    """
    # To make it compares what the ranks built: before kernels are compiled and conditions begin.
    _ = sim.stepper
    conditions = _conditions(until, after_sources)
    actions = [each if isinstance(each, Callback) else at_every(each, steps=1) for each in callbacks]
    first, begin = sim.step_count, perf_counter()
    for condition in conditions:
        condition.begin(sim)
        if repr(condition) in sim.resumed:
            condition.restore(sim.resumed.pop(repr(condition)))
    prepare(sim)
    sim.conditions = conditions
    with closing(progress(show, sim.layers.kept.volume)) as shown:
        for action in actions:
            _call(sim, action.begin)
        reason = _loop(sim, conditions, actions, shown, first)
        check_finite(sim)
        sim.stepper.settle()
        for action in actions:
            _call(sim, action.end)
    return Outcome(reason, sim.step_count - first, perf_counter() - begin)


def _loop(
    sim: Fields, conditions: Sequence[Condition], actions: Sequence[Callback], shown: Progress, first: int
) -> str:
    while True:
        # All conditions look at the same steps, whatever the others say.
        met = [condition for condition in conditions if condition.reached(sim)]
        if met:
            return repr(met[0])
        sim.advance(_free_steps(sim, conditions, actions))
        for action in actions:
            if action.due(sim):
                _call(sim, action.act)
        if sim.step_count % CHECK_STEPS == 0:
            check_finite(sim, only=sim.step_count // CHECK_STEPS)
        if shown.tick(sim.step_count - first):
            shown.show(_share(sim, conditions), sim.time)


def _free_steps(sim: Fields, conditions: Sequence[Condition], actions: Sequence[Callback]) -> int:
    """Return how many steps may be done at once: until somebody has to look at the fields, the same on all ranks."""
    most = min(sim.stepper.free_steps(sim.step_count), CHECK_STEPS - sim.step_count % CHECK_STEPS)
    if most > 1:
        most = min([most, *(each.free_steps(sim) for each in conditions), *(each.free_steps(sim) for each in actions)])
    return most


def _call(sim: Fields, action: Callable[[Any], Any]) -> None:
    sim.stepper.settle()
    try:
        with sim.timer("other"):
            action(sim)
    except SystemExit as error:
        if sim.communicator.size == 1:
            raise
        raise RunFailed(
            f"A rank may not leave a run that others are in, but a callback called sys.exit({error.code!r}) on rank "
            f"{sim.communicator.rank}: end the run with a condition, on all ranks."
        ) from None


def _share(sim: Fields, conditions: Sequence[Condition]) -> float | None:
    known = [share for share in (condition.progress(sim) for condition in conditions) if share is not None]
    return max(known, default=None)


def _conditions(until: Until | None, after_sources: float | None) -> list[Condition]:
    wanted: list[Any] = list(until) if isinstance(until, Sequence) else [] if until is None else [until]
    wanted += [] if after_sources is None else [SourcesEnded(after_sources)]
    if not wanted:
        raise InputError("A run needs an end: give `until` (a time or a condition) or `after_sources` (a time).")
    return [each if isinstance(each, Condition) else UntilTime(_number(each)) for each in wanted]


def _number(value: Any) -> float:
    if isinstance(value, bool) or not isinstance(value, (int, float, np.number)):
        raise InputError(
            "`until` must be a time in a/c, a condition such as FieldsDecayed, or a sequence of them, but got "
            f"{value!r}."
        )
    return float(np.real(value))


def check_finite(sim: Fields, *, only: int | None = None) -> None:
    """Check that no field is infinite or NaN; all ranks must call, and all raise if one finds any.

    Parameters
    ----------
    sim : Fields
    only : int, optional
        Look at one of the six components, this number modulo 6. What is wrong spreads to the others soon.

    Raises
    ------
    RunFailed
        With the time, the place where it was seen, and what to do.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> check_finite(Simulation(cell=(1, 0, 0), resolution=10))
    """
    with sim.timer("other"):
        wanted = _COMPONENTS if only is None else (_COMPONENTS[only % 6],)
        # A sum is infinite or NaN if one of its terms is.
        bad = [
            chunk
            for chunk in sim.chunks
            for name, axis in wanted
            if not all(np.isfinite(np.sum(part[axis], dtype=np.float64)) for part in chunk.fields[name])
        ]
        if not sim.communicator.allreduce(bool(bad), "max"):
            return
        places = [place for rank in sim.communicator.allgather(_places(sim, bad)) for place in rank]
    raise RunFailed(
        f"The fields have grown without bound: infinite or NaN by step {sim.step_count} (time {sim.time:.6g}), in the "
        f"part of the cell around {places[0]}. Lower `courant` in Options; look there for media with gain, strong "
        "nonlinearity, or a dispersive medium that reaches into a PML (an Absorber is stable there)."
    )


def _places(sim: Fields, chunks: Sequence[Any]) -> list[str]:
    found = []
    for chunk in chunks[:1]:
        middle = [
            origin + (lo + hi) / 2 * sim.grid.dx * (not thin)
            for origin, lo, hi, thin in zip(sim.grid.origin, chunk.box.lo, chunk.box.hi, sim.grid.thin, strict=True)
        ]
        found.append("(" + ", ".join(f"{m:.3g}" for m in middle) + ")")
    return found
