"""Where a rank's time goes: CPU and wall time per phase, at about a microsecond per switch.

A clock runs for exactly one phase at a time. `start` interrupts the running phase and `stop` goes back to it, so that
phases nest and waiting never counts as stepping:

>>> timer = PhaseTimer()
>>> timer.start("fused")
>>> timer.start("waiting")      # inside the sweep: its clock stands still
>>> timer.stop()
>>> timer.stop()
>>> timer.seconds("fused") >= 0 and timer.seconds("waiting") >= 0
True

Wall time is that of the machine; CPU time is that of the thread that calls, and other threads' is added by `add_cpu`.
Time outside any phase isn't counted. So the wall times of all phases add up to the time between the outermost starts
and stops exactly.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from time import perf_counter, thread_time
from typing import TYPE_CHECKING, Any, Literal

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator

__all__ = ["PHASES", "Clock", "PhaseTimer"]

PHASES = (
    "fused",
    "electric",
    "magnetic",
    "poles",
    "anisotropy",
    "nonlinear",
    "sources",
    "fourier",
    "boundary copies",
    "send/receive",
    "waiting",
    "output",
    "other",
)
Clock = Literal["wall", "cpu"]
_INDEX = {phase: i for i, phase in enumerate(PHASES)}
# Time outside any phase goes to one more slot, which nobody reads: cheaper than asking whether there is a phase.
_OUTSIDE = len(PHASES)


class PhaseTimer:
    """CPU and wall seconds that this rank spent on each of `PHASES`.

    Use it from one thread only. As a context manager it closes every phase that was started inside and left open,
    by an exception for example.

    Examples
    --------
    >>> timer = PhaseTimer()
    >>> with timer("output"):
    ...     pass
    >>> sorted(timer.row()) == sorted(PHASES)
    True
    """

    __slots__ = ("_cpu", "_cpu_mark", "_current", "_stack", "_wall", "_wall_mark")

    def __init__(self) -> None:
        self._wall = [0.0] * (len(PHASES) + 1)
        self._cpu = [0.0] * (len(PHASES) + 1)
        self._stack: list[int] = []
        self._current = _OUTSIDE
        self._wall_mark = perf_counter()
        self._cpu_mark = thread_time()

    def start(self, phase: str) -> None:
        """Interrupt the running phase, if any, and count for `phase` until the matching `stop`.

        Raises
        ------
        InputError
            If it isn't one of `PHASES`.
        """
        try:
            index = _INDEX[phase]
        except KeyError:
            raise _unknown(phase) from None
        wall, cpu, current = perf_counter(), thread_time(), self._current
        self._wall[current] += wall - self._wall_mark
        self._cpu[current] += cpu - self._cpu_mark
        self._wall_mark, self._cpu_mark = wall, cpu
        self._stack.append(current)
        self._current = index

    def switch(self, phase: str) -> None:
        """End the running phase and count for `phase` in its place: a `stop` and a `start` at the price of one.

        Raises
        ------
        InputError
            If it isn't one of `PHASES`, or none is running.

        Examples
        --------
        >>> timer = PhaseTimer()
        >>> timer.start("fused")
        >>> timer.switch("fourier")
        >>> timer.stop()
        >>> timer.running is None
        True
        """
        index = _INDEX.get(phase)
        if index is None or not self._stack:
            raise _unknown(phase) if index is None else InputError(f"No phase is running: start({phase!r}) first.")
        wall, cpu, current = perf_counter(), thread_time(), self._current
        self._wall[current] += wall - self._wall_mark
        self._cpu[current] += cpu - self._cpu_mark
        self._wall_mark, self._cpu_mark = wall, cpu
        self._current = index

    def share(self, seconds: NDArray[np.float64]) -> None:
        """Count the time since the last switch for several phases, and set their shares to zero.

        Parameters
        ----------
        seconds : (n_phases,)
            The phases' shares, in the order of `PHASES`: their own wall times. CPU time is shared out like wall time.
            The phase that was running goes on.

        Examples
        --------
        >>> timer = PhaseTimer()
        >>> with timer("other"):
        ...     timer.share(np.array([2.0, 1.0] + 11 * [0.0]))
        >>> round(timer.seconds("fused") / timer.seconds("electric"), 6)
        2.0
        """
        self._share_out(seconds, perf_counter(), thread_time())

    def stop(self, seconds: NDArray[np.float64] | None = None) -> None:
        """End the running phase and go back to the one that it interrupted.

        Parameters
        ----------
        seconds : (n_phases,), optional
            As for `share`, which comes first then, at no further price.

        Raises
        ------
        InputError
            If none is running.
        """
        if not self._stack:
            raise InputError("`stop` must follow a `start`, but no phase is running.")
        wall, cpu, current = perf_counter(), thread_time(), self._current
        if seconds is not None:
            self._share_out(seconds, wall, cpu)
        self._wall[current] += wall - self._wall_mark
        self._cpu[current] += cpu - self._cpu_mark
        self._wall_mark, self._cpu_mark = wall, cpu
        self._current = self._stack.pop()

    def _share_out(self, seconds: NDArray[np.float64], wall: float, cpu: float) -> None:
        shares = seconds.tolist()
        if not (whole := sum(shares)):
            return
        wall_price, cpu_price = (wall - self._wall_mark) / whole, (cpu - self._cpu_mark) / whole
        for index, share in enumerate(shares):
            if share:
                self._wall[index] += wall_price * share
                self._cpu[index] += cpu_price * share
        self._wall_mark, self._cpu_mark = wall, cpu
        seconds.fill(0.0)

    @property
    def running(self) -> str | None:
        """The phase whose clock runs; None outside any."""
        return None if self._current == _OUTSIDE else PHASES[self._current]

    @contextmanager
    def __call__(self, phase: str) -> Iterator[PhaseTimer]:
        """Return a context manager that counts for `phase`, and closes what was left open inside."""
        depth = len(self._stack)
        self.start(phase)
        try:
            yield self
        finally:
            while len(self._stack) > depth:
                self.stop()

    def add_cpu(self, phase: str, seconds: float) -> None:
        """Add CPU time of another thread, measured there with `time.thread_time`.

        Raises
        ------
        InputError
            If the phase is unknown or the time negative.

        Examples
        --------
        >>> timer = PhaseTimer()
        >>> timer.add_cpu("fused", 1.5)
        >>> timer.seconds("fused", "cpu"), timer.seconds("fused", "wall")
        (1.5, 0.0)
        """
        if phase not in _INDEX:
            raise _unknown(phase)
        if not seconds >= 0:
            raise InputError(f"`seconds` of CPU time must be at least 0, but got {seconds!r}.")
        self._cpu[_INDEX[phase]] += seconds

    def seconds(self, phase: str, clock: Clock = "wall") -> float:
        """Return what this rank has spent on `phase` up to the last switch, in seconds.

        Raises
        ------
        InputError
            If the phase or the clock is unknown.
        """
        if phase not in _INDEX:
            raise _unknown(phase)
        return self._of(clock)[_INDEX[phase]]

    def row(self, clock: Clock = "wall") -> dict[str, float]:
        """Return the seconds of every phase on this rank up to the last switch."""
        return dict(zip(PHASES, self._of(clock), strict=False))

    def total(self, clock: Clock = "wall") -> float:
        """Return the seconds of all phases together."""
        return sum(self._of(clock)[:_OUTSIDE])

    def reset(self) -> None:
        """Set all clocks to zero; the running phase goes on."""
        self._wall[:] = [0.0] * len(self._wall)
        self._cpu[:] = [0.0] * len(self._cpu)
        self._wall_mark, self._cpu_mark = perf_counter(), thread_time()

    def table(self, communicator: Communicator | None = None) -> list[dict[str, Any]]:
        """Return one row per rank and phase: rank, phase, wall_s and cpu_s.

        Parameters
        ----------
        communicator : Communicator, optional
            The ranks to ask; every one of them must call this, and gets the whole table. This rank alone when left
            out.

        Examples
        --------
        >>> PhaseTimer().table()[0]
        {'rank': 0, 'phase': 'fused', 'wall_s': 0.0, 'cpu_s': 0.0}
        """
        times = [(self._wall[:_OUTSIDE], self._cpu[:_OUTSIDE])]
        if communicator is not None:
            times = communicator.allgather(times[0])
        return [
            {"rank": rank, "phase": phase, "wall_s": wall[i], "cpu_s": cpu[i]}
            for rank, (wall, cpu) in enumerate(times)
            for i, phase in enumerate(PHASES)
        ]

    def mean_time_spent_on(
        self, phases: str | Sequence[str], communicator: Communicator | None = None, clock: Clock = "wall"
    ) -> float:
        """Return the mean over ranks of the seconds spent on a phase, or on several together.

        Every rank of `communicator` must call it; without one it is this rank's own time.

        Raises
        ------
        InputError
            If a phase or the clock is unknown.

        Examples
        --------
        >>> timer = PhaseTimer()
        >>> timer.add_cpu("fused", 1.0)
        >>> timer.add_cpu("fourier", 0.5)
        >>> timer.mean_time_spent_on(["fused", "fourier"], clock="cpu")
        1.5
        """
        names = [phases] if isinstance(phases, str) else list(phases)
        mine = sum(self.seconds(phase, clock) for phase in names)
        everyone = [mine] if communicator is None else communicator.allgather(mine)
        return sum(everyone) / len(everyone)

    def _of(self, clock: Clock) -> list[float]:
        if clock not in ("wall", "cpu"):
            raise InputError(f'`clock` must be "wall" or "cpu", but got {clock!r}.')
        return self._wall if clock == "wall" else self._cpu


def _unknown(phase: str) -> InputError:
    return InputError(f"A phase is one of {', '.join(map(repr, PHASES))}, but got {phase!r}.")
