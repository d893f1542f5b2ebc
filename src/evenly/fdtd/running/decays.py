"""Runs that end when nothing happens any more: fields, energy or Fourier transforms have settled.

These conditions are looked at once per window of at least `FEWEST_STEPS` steps, by one message of all ranks, which
costs far below 1 % of stepping. They begin to decide when the last source has ended.
"""

from __future__ import annotations

import math
from abc import abstractmethod
from collections.abc import Sequence
from typing import TYPE_CHECKING

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError
from evenly.fdtd.monitors.monitor import FourierMonitor
from evenly.fdtd.monitors.points import PointProbe
from evenly.fdtd.monitors.stored_energy import rough_energy
from evenly.fdtd.running.conditions import Condition, State, end_of_sources

if TYPE_CHECKING:
    from evenly.fdtd.fields import Fields

__all__ = ["FEWEST_STEPS", "DftDecayed", "EnergyDecayed", "FieldsDecayed"]

FEWEST_STEPS = 200
# Energy takes about as long as two steps.
_ENERGY_STEPS = 500
# A field that is resolved has 8 or more points per wavelength, so 4 steps (2 points of way) don't miss its peaks.
SAMPLE_STEPS = 4
_PERIODS = 10
_PATIENCE = 10
_FAINT = 1e-3


class _Windowed(Condition):
    """Looks once per window, and decides on windows that lie after the sources' end as a whole."""

    _fewest = FEWEST_STEPS

    def __init__(self, window: float | None) -> None:
        if window is not None and not 0 < window < math.inf:
            raise InputError(f"`window` of {type(self).__name__} must be positive and finite, but got {window!r}.")
        self.window = window
        self._steps, self._next, self._quiet_from = FEWEST_STEPS, 0, 0.0

    def begin(self, sim: Fields) -> None:
        self._quiet_from = end_of_sources(sim, repr(self))
        length = _usual_window(sim) if self.window is None else self.window
        self._steps = max(self._fewest, math.ceil(length / sim.grid.dt))
        self._next = sim.step_count + self._steps
        self._forget(sim)

    def reached(self, sim: Fields) -> bool:
        if sim.step_count % SAMPLE_STEPS == 0:
            self._watch(sim)
        if sim.step_count < self._next:
            return False
        late = sim.time - self._steps * sim.grid.dt >= self._quiet_from
        self._next = sim.step_count + self._steps
        with sim.timer("other"):
            return self._decide(sim, late=late)

    def free_steps(self, sim: Fields) -> int:
        return max(1, min(SAMPLE_STEPS - sim.step_count % SAMPLE_STEPS, self._next - sim.step_count))

    def state(self) -> State:
        return {"next": self._next, **self._memory()}

    def restore(self, state: State) -> None:
        self._next = int(state["next"])
        self._remember(state)

    def _watch(self, sim: Fields) -> None:
        """Look at one of `SAMPLE_STEPS` steps; must be cheap."""

    @abstractmethod
    def _forget(self, sim: Fields) -> None:
        """Begin anew."""

    @abstractmethod
    def _decide(self, sim: Fields, *, late: bool) -> bool:
        """Take in a window, which began after the sources' end if it is `late`; whether the run is over."""

    @abstractmethod
    def _memory(self) -> State:
        """Return what later windows are compared with."""

    @abstractmethod
    def _remember(self, state: State) -> None:
        """Take what `_memory` returned."""


class _Peak:
    """A level that has to fall to a share of its peak."""

    def __init__(self, by: float, what: str) -> None:
        if not 0 < by < 1:
            raise InputError(f"`by`, the share that {what} waits for, must be between 0 and 1, but got {by!r}.")
        self.by = float(by)
        self.forget()

    def forget(self) -> None:
        self.peak, self.level, self.silent = 0.0, math.nan, 0

    def fallen(self, level: float, *, late: bool, what: str) -> bool:
        self.level, self.peak = level, max(self.peak, level)
        self.silent = self.silent + 1 if late and self.peak == 0 else 0
        if self.silent >= _PATIENCE:
            raise InputError(
                f"{what} waits for a decay, but {_PATIENCE} windows after the sources have ended there has never been "
                "anything: look where the fields are, at a point that no symmetry keeps at zero."
            )
        return late and self.peak > 0 and level <= self.by * self.peak

    def progress(self) -> float | None:
        if not 0 < self.level < self.peak:
            return None
        return min(1.0, math.log(self.level / self.peak) / math.log(self.by))

    def state(self) -> State:
        return {"peak": self.peak, "silent": self.silent}

    def restore(self, state: State) -> None:
        self.peak, self.silent = float(state["peak"]), int(state["silent"])


@explained
class FieldsDecayed(_Windowed):
    """Over when ``|field|²`` at a point has stayed below `by` of its peak for a window.

    Parameters
    ----------
    component : str
        ``"Ex"`` … ``"Hz"``.
    point : up to three floats
        In a. Not where a mode that matters has a node.
    by : float
        Share of the peak of ``|field|²``.
    window : float, optional
        In a/c: long enough that no wave is still on its way to the point. By default ten periods of the sources, or
        the time that light takes across the cell's diagonal if that is longer.

    Raises
    ------
    InputError
        A value out of range; when the run begins: a point outside the cell, a source that never ends.

    Examples
    --------
    >>> FieldsDecayed("Ez", (0, 0, 0), by=1e-6, window=20.0)
    FieldsDecayed('Ez', (0, 0, 0), by=1e-06, window=20.0)
    """

    def __init__(
        self, component: str, point: Sequence[float] | float, by: float = 1e-3, window: float | None = None
    ) -> None:
        super().__init__(window)
        self.component, self.point = component, point
        self._level = _Peak(by, "FieldsDecayed")
        self._probe: PointProbe | None = None
        self._samples, self._seen = 0, list[float]()

    def __repr__(self) -> str:
        return f"FieldsDecayed({self.component!r}, {self.point!r}, by={self._level.by!r}, window={self.window!r})"

    def progress(self, sim: Fields) -> float | None:  # noqa: ARG002 - part of the interface
        return self._level.progress()

    def _forget(self, sim: Fields) -> None:
        self._probe = PointProbe(sim, self.component, self.point, "FieldsDecayed")
        self._level.forget()
        self._samples, self._seen = 0, []

    def _watch(self, sim: Fields) -> None:  # noqa: ARG002 - part of the interface
        self._samples += 1
        self._seen += self._ready.read()

    def _decide(self, sim: Fields, *, late: bool) -> bool:  # noqa: ARG002 - part of the interface
        field = self._ready.combine(self._ready.everyones(self._seen, self._samples))
        self._samples, self._seen = 0, []
        return self._level.fallen(float(np.max(np.abs(field), initial=0.0)) ** 2, late=late, what=repr(self))

    def detach(self) -> State:
        """Let go of the simulation's chunks and return what was seen (all ranks must call)."""
        state = self.state()
        self._probe = None
        return state

    def attach(self, sim: Fields, state: State) -> None:
        """Find the point in the simulation's chunks again and go on from what `detach` returned."""
        self._probe = PointProbe(sim, self.component, self.point, "FieldsDecayed")
        self.restore(state)

    @property
    def _ready(self) -> PointProbe:
        if self._probe is None:
            raise InputError(f"{self!r} belongs to a run: give it to `sim.run(until=...)`.")
        return self._probe

    def _memory(self) -> State:
        return {**self._level.state(), "samples": self._ready.everyones(self._seen, self._samples).tolist()}

    def _remember(self, state: State) -> None:
        self._level.restore(state)
        values = np.array(state["samples"], np.float64).reshape(-1, *self._ready.shape)
        self._samples, self._seen = len(values), [float(v) for v in values[:, self._ready.own].ravel()]


@explained
class EnergyDecayed(_Windowed):
    """Over when the energy of all fields in the cell (without what poles hold) has fallen to `by` of its peak.

    Parameters
    ----------
    by : float
        Share of the peak.
    window : float, optional
        How often to look, in a/c; as for `FieldsDecayed` by default.

    Raises
    ------
    InputError
        A value out of range; when the run begins: a source that never ends.

    Examples
    --------
    >>> EnergyDecayed(by=1e-4)
    EnergyDecayed(by=0.0001, window=None)
    """

    _fewest = _ENERGY_STEPS

    def __init__(self, by: float = 1e-3, window: float | None = None) -> None:
        super().__init__(window)
        self._level = _Peak(by, "EnergyDecayed")

    def __repr__(self) -> str:
        return f"EnergyDecayed(by={self._level.by!r}, window={self.window!r})"

    def progress(self, sim: Fields) -> float | None:  # noqa: ARG002 - part of the interface
        return self._level.progress()

    def _forget(self, sim: Fields) -> None:  # noqa: ARG002 - part of the interface
        self._level.forget()

    def _decide(self, sim: Fields, *, late: bool) -> bool:
        return self._level.fallen(rough_energy(sim), late=late, what=repr(self))

    def _memory(self) -> State:
        return self._level.state()

    def _remember(self, state: State) -> None:
        self._level.restore(state)


@explained
class DftDecayed(_Windowed):
    """Over when the Fourier transforms of all monitors have stopped changing.

    Parameters
    ----------
    tolerance : float
        The largest relative change, over each of two windows in a row, of any monitor's norm at any frequency.
        (Frequencies that hold less than 1e-3 of a monitor's strongest are judged by that share.)
    window : float, optional
        In a/c; as for `FieldsDecayed` by default.

    Raises
    ------
    InputError
        A value out of range; when the run begins: no Fourier monitor, or a source that never ends.

    Examples
    --------
    >>> DftDecayed(tolerance=1e-6)
    DftDecayed(tolerance=1e-06, window=None)
    """

    def __init__(self, tolerance: float = 1e-5, window: float | None = None) -> None:
        super().__init__(window)
        if not 0 < tolerance < 1:
            raise InputError(f"`tolerance` of DftDecayed must be between 0 and 1, but got {tolerance!r}.")
        self.tolerance = float(tolerance)
        self._norms: list[list[float]] = []
        self._change, self._first, self._calm = math.inf, math.inf, 0

    def __repr__(self) -> str:
        return f"DftDecayed(tolerance={self.tolerance!r}, window={self.window!r})"

    def progress(self, sim: Fields) -> float | None:  # noqa: ARG002 - part of the interface
        if not (math.isfinite(self._first) and 0 < self._change < self._first):
            return None
        return min(1.0, math.log(self._change / self._first) / math.log(self.tolerance / self._first))

    def _forget(self, sim: Fields) -> None:
        if not any(_transformed(sim)):
            raise InputError("DftDecayed needs monitors of Fourier transforms: add a Flux or DftFields, for example.")
        self._norms, self._change, self._first, self._calm = [], math.inf, math.inf, 0

    def _decide(self, sim: Fields, *, late: bool) -> bool:
        norms = _norms(sim)
        pairs = zip(norms, self._norms, strict=True) if len(norms) == len(self._norms) else ()
        self._change = max((_change(now, before) for now, before in pairs), default=math.inf)
        self._norms = norms
        self._first = min(self._first, self._change) if math.isinf(self._first) else self._first
        self._calm = self._calm + 1 if late and self._change <= self.tolerance else 0
        return self._calm >= 2

    def _memory(self) -> State:
        return {"norms": self._norms, "calm": self._calm}

    def _remember(self, state: State) -> None:
        self._norms, self._calm = state["norms"], int(state["calm"])


def _usual_window(sim: Fields) -> float:
    """Return ten periods of the slowest source, or the time across the cell if that is longer."""
    across = math.sqrt(sum(size**2 for size in sim.grid.size))
    bands = [source.pulse.band() for source in sim.sources]
    centres = [(low + high) / 2 for low, high in bands if math.isfinite(high)]
    return max([across, *(_PERIODS / centre for centre in centres if centre > 0)])


def _transformed(sim: Fields) -> list[int]:
    """Return the indices, from 1, of monitors that hold Fourier transforms: the same on ranks that hold no part."""
    return [n for n, monitor in enumerate(sim.monitors, 1) if len(getattr(monitor, "frequencies", ()))]


def _norms(sim: Fields) -> list[list[float]]:
    """Return the norm of each monitor's transforms at each of its frequencies."""
    found = []
    for n in _transformed(sim):
        monitor = sim.monitors[n - 1]
        mine = np.zeros(len(monitor.frequencies))
        if isinstance(monitor, FourierMonitor):
            mine += monitor.squares()
        found.append(np.sqrt(sim.communicator.allreduce(mine)).tolist())
    return found


def _change(now: list[float], before: list[float]) -> float:
    """Return the largest relative change; transforms that hold nothing yet are not settled."""
    new, old = np.array(now), np.array(before)
    least = max(_FAINT * float(new.max()), np.finfo(float).tiny)
    return float(np.max(np.abs(new - old) / np.maximum(new, least))) if new.max() > 0 else math.inf
