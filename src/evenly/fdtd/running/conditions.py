"""When a run ends: at a time, some time after the sources, before a job's time is up. All ranks decide the same.

Conditions that wait for fields to decay are in `evenly.fdtd.running.decays`.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from time import perf_counter
from typing import TYPE_CHECKING, Any

from evenly.arguments import explained
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["Condition", "SourcesEnded", "UntilTime", "WallTime", "end_of_sources"]

State = dict[str, Any]


class Condition(ABC):
    """Tells whether a run is over.

    Laws: all ranks call the methods in the same order and get the same answers; `begin` forgets what was before, and
    `restore(state())` after it continues as if nothing had happened.
    """

    @abstractmethod
    def begin(self, sim: Fields) -> None:
        """Get ready for a run.

        Raises
        ------
        InputError
            If the condition doesn't fit the simulation or can't be met.
        """

    @abstractmethod
    def reached(self, sim: Fields) -> bool:
        """Whether the run is over; called once before the first step, and again after `free_steps`, or earlier."""

    def free_steps(self, sim: Fields) -> int:  # noqa: ARG002 - for those that know better
        """Return how many steps may be done before `reached` has to be asked again, at least 1: 1 unless told."""
        return 1

    @abstractmethod
    def progress(self, sim: Fields) -> float | None:
        """Estimate the share of the run that is done, 0 to 1; None where nothing is known."""

    def state(self) -> State:
        """Return what a checkpoint must keep, as JSON takes it; the same on all ranks. Nothing, unless told."""
        return {}

    def restore(self, state: State) -> None:  # noqa: B027 - most conditions have nothing to remember
        """Continue from a kept state."""


@explained
class UntilTime(Condition):
    """Over when E is at a time, in a/c, counted from the simulation's beginning.

    Examples
    --------
    >>> UntilTime(20.0)
    UntilTime(20.0)
    """

    def __init__(self, time: float) -> None:
        if not math.isfinite(time):
            raise InputError(f"The time to run until must be finite, but got {time!r}.")
        self.time = float(time)
        self._first = self._last = 0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.time!r})"

    def begin(self, sim: Fields) -> None:
        self._first = sim.step_count
        self._last = math.ceil(self.time / sim.grid.dt - 1e-9)

    def reached(self, sim: Fields) -> bool:
        return sim.step_count >= self._last

    def free_steps(self, sim: Fields) -> int:
        return max(1, self._last - sim.step_count)

    def progress(self, sim: Fields) -> float | None:
        return (sim.step_count - self._first) / max(1, self._last - self._first)


@explained
class SourcesEnded(Condition):
    """Over some time, in a/c, after the last source has ended.

    Examples
    --------
    >>> SourcesEnded(20.0)
    SourcesEnded(20.0)
    """

    def __init__(self, after: float = 0.0) -> None:
        if not 0 <= after < math.inf:
            raise InputError(f"The time to run after the sources must be at least 0 and finite, but got {after!r}.")
        self.after = float(after)
        self._until = UntilTime(0.0)

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.after!r})"

    def begin(self, sim: Fields) -> None:
        self._until = UntilTime(end_of_sources(sim, repr(self)) + self.after)
        self._until.begin(sim)

    def reached(self, sim: Fields) -> bool:
        return self._until.reached(sim)

    def free_steps(self, sim: Fields) -> int:
        return self._until.free_steps(sim)

    def progress(self, sim: Fields) -> float | None:
        return self._until.progress(sim)


@explained
class WallTime(Condition):
    """Over after so many seconds on the master's clock: before a batch system ends the job, say.

    Examples
    --------
    >>> WallTime(3600.0)
    WallTime(3600.0)
    """

    every = 32

    def __init__(self, seconds: float) -> None:
        if not 0 < seconds < math.inf:
            raise InputError(f"`seconds` of WallTime must be positive and finite, but got {seconds!r}.")
        self.seconds = float(seconds)
        self._start = 0.0

    def __repr__(self) -> str:
        return f"{type(self).__name__}({self.seconds!r})"

    def begin(self, sim: Fields) -> None:  # noqa: ARG002 - part of the interface
        self._start = perf_counter()

    def reached(self, sim: Fields) -> bool:
        if sim.step_count % self.every:
            return False
        return bool(sim.communicator.bcast(perf_counter() - self._start >= self.seconds))

    def free_steps(self, sim: Fields) -> int:
        return self.every - sim.step_count % self.every

    def progress(self, sim: Fields) -> float | None:  # noqa: ARG002 - part of the interface
        return (perf_counter() - self._start) / self.seconds


def end_of_sources(sim: Fields, what: str) -> float:
    """Return when the last source ends, in a/c; 0 without sources.

    Raises
    ------
    InputError
        If one never ends.

    Examples
    --------
    >>> from evenly.fdtd.simulation import Simulation
    >>> end_of_sources(Simulation(cell=(1, 0, 0), resolution=10), "a run")
    0.0
    """
    for source in sim.sources:
        if math.isinf(source.pulse.last_time):
            raise InputError(
                f"{what} counts from the end of the sources, but {source.label} never ends: give its pulse an `end`, "
                "or run until a time."
            )
    return max((source.pulse.last_time for source in sim.sources), default=0.0)
