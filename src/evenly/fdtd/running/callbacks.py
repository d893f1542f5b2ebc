"""What a run does beside stepping: your functions of the simulation, at the beginning, at the end, now and then.

>>> from evenly.fdtd.simulation import Simulation
>>> sim = Simulation(cell=(1.0, 0, 0), resolution=10)
>>> times = []
>>> sim.run(until=1.0, callbacks=[at_every(lambda sim: times.append(round(sim.time, 9)), time=0.4)])
>>> times
[0.4, 0.8]

All ranks call them, at the same steps; fields and ghosts may be read.
"""

from __future__ import annotations

import math
from abc import ABC, abstractmethod
from collections.abc import Callable
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from evenly.arguments import explained
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["Callback", "at_beginning", "at_end", "at_every", "at_time"]

# Called with the simulation that runs.
Action = Callable[[Any], Any]
# Times are compared with this slack, in steps: n dt is not exact.
_SLACK = 1e-9
# More steps than are ever done at once.
_NEVER = 2**31


class Callback(ABC):
    """Something that a run does beside stepping; all ranks call its methods, with the simulation, in the same order."""

    @abstractmethod
    def begin(self, sim: Any) -> None:
        """Called before the first step."""

    @abstractmethod
    def due(self, sim: Any) -> bool:
        """Whether `act` has to be called after the step just done; called after `free_steps`, so it must be cheap."""

    def free_steps(self, sim: Any) -> int:  # noqa: ARG002 - for those that know better
        """Return how many steps may be done before `due` has to be asked again, at least 1: 1 unless told."""
        return 1

    @abstractmethod
    def act(self, sim: Any) -> None:
        """Do it."""

    @abstractmethod
    def end(self, sim: Any) -> None:
        """Called after the last step."""


@dataclass(frozen=True)
class _Call(Callback):
    action: Action
    when: str
    steps: int = 1
    time: float = 0.0

    def __post_init__(self) -> None:
        if not callable(self.action):
            raise InputError(f"A callback calls a function of the simulation, but got {self.action!r}.")

    def begin(self, sim: Fields) -> None:
        if self.when == "beginning":
            self.action(sim)

    def due(self, sim: Fields) -> bool:
        if self.when == "steps":
            return sim.step_count % self.steps == 0
        if self.when == "time":
            return self._periods(sim.step_count, sim.grid.dt) > self._periods(sim.step_count - 1, sim.grid.dt)
        if self.when == "once":
            return sim.step_count == self._once(sim)
        return False

    def free_steps(self, sim: Fields) -> int:
        if self.when == "steps":
            return self.steps - sim.step_count % self.steps
        if self.when == "once":
            return max(self._once(sim) - sim.step_count, 0) or _NEVER
        return 1 if self.when == "time" else _NEVER

    def _once(self, sim: Fields) -> int:
        return math.ceil(self.time / sim.grid.dt - _SLACK)

    def _periods(self, step: int, dt: float) -> int:
        return math.floor((step + _SLACK) * dt / self.time)

    def act(self, sim: Fields) -> None:
        self.action(sim)

    def end(self, sim: Fields) -> None:
        if self.when == "end":
            self.action(sim)


@explained
def at_every(action: Action, *, steps: int | None = None, time: float | None = None) -> Callback:
    """Call ``action(sim)`` every so many steps, or whenever so much time has passed.

    Both are counted from the simulation's beginning, so that a run in two parts, or one that goes on from a checkpoint,
    calls at the same times as one in a single part.

    Parameters
    ----------
    action : callable
    steps : int, optional
    time : float, optional
        In a/c. Give one of the two.

    Raises
    ------
    InputError
        Both or none are given, or not a positive one.

    Examples
    --------
    >>> at_every(print, steps=100).steps
    100
    """
    if (steps is None) == (time is None):
        raise InputError(f"`at_every` needs either `steps` or `time`, but got steps={steps!r} and time={time!r}.")
    if steps is not None:
        if steps != steps // 1 or steps < 1:
            raise InputError(f"`steps` of `at_every` must be a whole number of at least 1, but got {steps!r}.")
        return _Call(action, "steps", steps=int(steps))
    if time is None or not 0 < time < math.inf:
        raise InputError(f"`time` of `at_every` must be positive and finite, in a/c, but got {time!r}.")
    return _Call(action, "time", time=float(time))


@explained
def at_time(action: Action, time: float) -> Callback:
    """Call ``action(sim)`` once, when E has come to a time, in a/c.

    Raises
    ------
    InputError
        The time is not finite.

    Examples
    --------
    >>> at_time(print, 2.5).time
    2.5
    """
    if not math.isfinite(time):
        raise InputError(f"`time` of `at_time` must be finite, in a/c, but got {time!r}.")
    return _Call(action, "once", time=float(time))


@explained
def at_beginning(action: Action) -> Callback:
    """Call ``action(sim)`` before the first step of a run.

    Examples
    --------
    >>> at_beginning(print).when
    'beginning'
    """
    return _Call(action, "beginning")


@explained
def at_end(action: Action) -> Callback:
    """Call ``action(sim)`` after the last step of a run.

    Examples
    --------
    >>> at_end(print).when
    'end'
    """
    return _Call(action, "end")
