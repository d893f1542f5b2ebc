"""How far a run is: a bar on a terminal, a line now and then elsewhere.

Only the job's master shows anything, on its standard error output.
"""

from __future__ import annotations

import math
import sys
from collections.abc import Callable
from importlib.util import find_spec
from time import perf_counter
from typing import Any, Literal, TextIO

from evenly.errors import InputError
from evenly.fdtd.ranks.parallel import am_really_master
from evenly.showing import notebook_bar

__all__ = ["Progress", "ProgressChoice", "progress"]

ProgressChoice = Literal["auto", "bar", "lines", "off"]
# A run that ends before this shows no bar.
PATIENCE_S = 0.5
REFRESH_S = 0.2
LINE_S = 30.0


class Progress:
    """Shows how far a run is.

    Parameters
    ----------
    points : int
        Grid points of the cell.
    write : callable
        ``write(share, text)`` shows the share of the run that is done, None where it is unknown, and time and speed.
    close : callable
        Leaves the terminal as it was.
    first_s, pause_s : float
        Seconds until it is first time to `show`, and from then on.
    """

    def __init__(
        self,
        points: int,
        write: Callable[[float | None, str], None],
        close: Callable[[], None] = lambda: None,
        *,
        first_s: float,
        pause_s: float,
    ) -> None:
        self.close = close
        self._points, self._write, self._pause_s = points, write, pause_s
        self._steps, self._begin = 0, perf_counter()
        self._next = self._begin + first_s

    def tick(self, steps: int) -> bool:
        """Count `steps` done in all; whether it is time for `show`. Called after every step, so it is cheap."""
        self._steps = steps
        return perf_counter() >= self._next

    def show(self, share: float | None, time: float) -> None:
        """Show the share of the run that is done, None where it is unknown, and the simulation's time."""
        now = perf_counter()
        self._next = now + self._pause_s
        seconds = max(now - self._begin, 1e-9)
        rate = self._steps / seconds
        parts = [f"t = {time:.4g}", f"{rate:.4g} steps/s", f"{rate * self._points / 1e6:.3g} Mpoints/s"]
        if share:
            parts.append(f"{_duration(max(0.0, seconds * (1 / share - 1)))} left")
        self._write(share, ", ".join(parts))


class _Bar:
    """A bar of rich's, which is loaded and shown when it is first written to."""

    def __init__(self) -> None:
        self._bar: Any = None

    def write(self, share: float | None, text: str) -> None:
        from rich import progress as rich
        from rich.console import Console

        if self._bar is None:
            columns = (rich.BarColumn(), rich.TaskProgressColumn(), rich.TextColumn("{task.description}"))
            # No thread of its own: it would take time from stepping.
            self._bar = rich.Progress(*columns, console=Console(stderr=True), auto_refresh=False, transient=True)
            self._bar.add_task("", total=None)
            self._bar.start()
        total = None if share is None else 1.0
        self._bar.update(self._bar.task_ids[0], total=total, completed=share or 0.0, description=text, refresh=True)

    def close(self) -> None:
        if self._bar is not None:
            self._bar.stop()


def _lines(points: int, stream: TextIO, pause_s: float = LINE_S) -> Progress:
    """Return what writes a line now and then."""

    def write(share: float | None, text: str) -> None:
        done = "" if share is None else f"{100 * share:.0f} %, "
        stream.write(f"running: {done}{text}\n")
        stream.flush()

    return Progress(points, write, first_s=pause_s, pause_s=pause_s)


def progress(choice: ProgressChoice, points: int) -> Progress:
    """Return what shows the progress of a run.

    Parameters
    ----------
    choice : str
        ``"bar"``; ``"lines"``; ``"off"``; or ``"auto"``: a bar in a notebook, and where the standard error output
        is a terminal and rich is installed, else a line every half minute.
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
        return Progress(points, lambda *_: None, first_s=math.inf, pause_s=math.inf)
    if choice == "auto" and (shown := notebook_bar("running")) is not None:
        return Progress(points, shown.show, shown.close, first_s=PATIENCE_S, pause_s=REFRESH_S)
    if choice == "bar" or (choice == "auto" and sys.stderr.isatty() and find_spec("rich")):
        bar = _Bar()
        return Progress(points, bar.write, bar.close, first_s=PATIENCE_S, pause_s=REFRESH_S)
    return _lines(points, sys.stderr)


def _duration(seconds: float) -> str:
    """Return a time for people.

    Examples
    --------
    >>> _duration(3.21), _duration(75), _duration(7300)
    ('3.2 s', '1 min 15 s', '2 h 1 min')
    """
    if seconds < 60:
        return f"{seconds:.2g} s" if seconds < 10 else f"{seconds:.0f} s"
    minutes, rest = divmod(round(seconds), 60)
    return f"{minutes} min {rest} s" if minutes < 60 else f"{minutes // 60} h {minutes % 60} min"
