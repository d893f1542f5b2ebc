"""How far a run is: a bar on a terminal, a line now and then elsewhere.

Only the job's master shows anything, on its standard error output.
"""

from __future__ import annotations

import sys
from abc import ABC, abstractmethod
from time import perf_counter
from typing import Any, Literal, TextIO

from evenly.errors import InputError
from evenly.fdtd.ranks.parallel import am_really_master

__all__ = ["Progress", "ProgressChoice", "progress"]

ProgressChoice = Literal["auto", "bar", "lines", "off"]
# A run that ends before this shows no bar.
PATIENCE_S = 0.5
REFRESH_S = 0.2
LINE_S = 30.0


class Progress(ABC):
    """Shows how far a run is."""

    def __init__(self, points: int) -> None:
        self._points, self._begin, self._steps = points, perf_counter(), 0
        self._next = self._begin + self._pause(first=True)

    def tick(self, steps: int) -> bool:
        """Count `steps` done in all; whether it is time for `show`. Called after every step, so it is cheap."""
        self._steps = steps
        return perf_counter() >= self._next

    def show(self, share: float | None, time: float) -> None:
        """Show the share of the run that is done, None where it is unknown, and the simulation's time."""
        now = perf_counter()
        self._next = now + self._pause(first=False)
        self._write(share, f"t = {time:.4g}", *self._speed(now))

    def _speed(self, now: float) -> tuple[float, float]:
        seconds = max(now - self._begin, 1e-9)
        return seconds, self._steps / seconds

    def _text(self, share: float | None, time: str, seconds: float, rate: float) -> str:
        parts = [time, f"{rate:.4g} steps/s", f"{rate * self._points / 1e6:.3g} Mpoints/s"]
        if share:
            parts.append(f"{duration(max(0.0, seconds * (1 / share - 1)))} left")
        return ", ".join(parts)

    @abstractmethod
    def _pause(self, *, first: bool) -> float:
        """Return the seconds until the next `show`."""

    @abstractmethod
    def _write(self, share: float | None, time: str, seconds: float, rate: float) -> None:
        """Show it."""

    @abstractmethod
    def close(self) -> None:
        """Leave the terminal as it was."""


class _Bar(Progress):
    def __init__(self, points: int) -> None:
        super().__init__(points)
        self._bar: Any = None
        self._task: Any = None

    def _pause(self, *, first: bool) -> float:
        return PATIENCE_S if first else REFRESH_S

    def _write(self, share: float | None, time: str, seconds: float, rate: float) -> None:
        if self._bar is None:
            self._open()
        text = self._text(share, time, seconds, rate)
        self._bar.update(self._task, total=None if share is None else 1.0, completed=share or 0.0, description=text)
        self._bar.refresh()

    def _open(self) -> None:
        from rich.console import Console
        from rich.progress import BarColumn, Progress, TaskProgressColumn, TextColumn

        columns = (BarColumn(), TaskProgressColumn(), TextColumn("{task.description}"))
        # No thread of its own: it would take time from stepping.
        self._bar = Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
        self._task = self._bar.add_task("", total=None)
        self._bar.start()

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


class _Lines(Progress):
    def __init__(self, points: int, stream: TextIO, pause: float = LINE_S) -> None:
        self._stream, self._seconds = stream, pause
        super().__init__(points)

    def _pause(self, *, first: bool) -> float:  # noqa: ARG002 - part of the interface
        return self._seconds

    def _write(self, share: float | None, time: str, seconds: float, rate: float) -> None:
        done = "" if share is None else f"{100 * share:.0f} %, "
        self._stream.write(f"running: {done}{self._text(share, time, seconds, rate)}\n")
        self._stream.flush()

    def close(self) -> None:
        """Lines stay where they are."""


class _Nothing(Progress):
    def tick(self, steps: int) -> bool:  # noqa: ARG002 - part of the interface
        return False

    def _pause(self, *, first: bool) -> float:  # noqa: ARG002 - part of the interface
        return 0.0

    def _write(self, share: float | None, time: str, seconds: float, rate: float) -> None:
        """Show nothing."""

    def close(self) -> None:
        """Nothing was shown."""


def progress(choice: ProgressChoice, points: int) -> Progress:
    """Return what shows the progress of a run.

    Parameters
    ----------
    choice : str
        ``"bar"``; ``"lines"``; ``"off"``; or ``"auto"``: a bar where the standard error output is a terminal and
        rich is installed, else a line every half minute.
    points : int
        Grid points of the cell.

    Raises
    ------
    InputError
        An unknown choice.

    Examples
    --------
    >>> progress("off", 1000).tick(1)
    False
    """
    if choice not in ("auto", "bar", "lines", "off"):
        raise InputError(f'`progress` must be "auto", "bar", "lines" or "off", but got {choice!r}.')
    if choice == "off" or not am_really_master():
        return _Nothing(points)
    if choice == "bar" or (choice == "auto" and sys.stderr.isatty() and _has_rich()):
        return _Bar(points)
    return _Lines(points, sys.stderr)


def duration(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> duration(3.21), duration(75), duration(7300)
    ('3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"


def _has_rich() -> bool:
    from importlib.util import find_spec

    return find_spec("rich") is not None
