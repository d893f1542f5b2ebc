"""Runs under way: each in a thread of its own, on cores of its own; one alone is made in the thread that waits for it.

>>> crew = Crew[str](2)
>>> crew.start("a", lambda: 1.0)
>>> crew.wait()
('a', 1.0)
>>> crew.under_way
[]
"""

from __future__ import annotations

import queue
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from typing import Any, Generic, TypeVar

__all__ = ["Cores", "Crew"]

Run = TypeVar("Run")


class Crew(Generic[Run]):
    """Makes several runs at once.

    Parameters
    ----------
    at_once : int
        Most runs at once. If it is 1, `wait` makes the run itself: only the main thread gets signals.
    """

    def __init__(self, at_once: int) -> None:
        self._at_once = at_once
        self._work: dict[Run, Callable[[], Any]] = {}
        self._ended: queue.SimpleQueue[tuple[Run, Any]] = queue.SimpleQueue()
        self._threads: dict[Run, threading.Thread] = {}

    @property
    def under_way(self) -> list[Run]:
        """The runs that were started and for which `wait` hasn't returned."""
        return list(self._work)

    @property
    def has_room(self) -> bool:
        """Whether another run may be started."""
        return len(self._work) < self._at_once

    def start(self, run: Run, work: Callable[[], Any]) -> None:
        """Start a run."""
        self._work[run] = work
        if self._at_once > 1:
            # A run that goes on without evenly doesn't keep evenly from ending.
            thread = threading.Thread(target=self._make, args=(run, work), daemon=True)
            self._threads[run] = thread
            thread.start()

    def _make(self, run: Run, work: Callable[[], Any]) -> None:
        try:
            self._ended.put((run, work()))
        except BaseException as error:  # it is raised where it is waited for
            self._ended.put((run, error))

    def wait(self) -> tuple[Run, Any]:
        """Wait until a run ends; return it, and what its work returned, or the exception that it raised."""
        if self._at_once == 1:
            run, work = next(iter(self._work.items()))
            try:
                found = work()
            except Exception as error:
                found = error
        else:
            run, found = self._ended.get()
            self._threads.pop(run).join()
        del self._work[run]
        return run, found

    def ended(self) -> Iterator[tuple[Run, Any]]:
        """Yield what `wait` would, of the runs that have ended by now."""
        while not self._ended.empty():
            yield self.wait()

    def join(self, seconds: float) -> None:
        """Wait so long for runs that were ended to clean up behind them."""
        until = time.monotonic() + seconds
        for thread in self._threads.values():
            thread.join(max(0.0, until - time.monotonic()))


class Cores:
    """The cores that runs are given.

    Examples
    --------
    >>> cores = Cores({0, 1, 2})
    >>> cores.take(2), cores.take(2)
    ((0, 1), None)
    >>> cores.give_back((0, 1))
    >>> cores.take(3)
    (0, 1, 2)
    """

    def __init__(self, cores: Iterable[int]) -> None:
        self._free = sorted(cores)
        self.count = len(self._free)

    @property
    def free(self) -> int:
        """How many are free."""
        return len(self._free)

    def take(self, count: int) -> tuple[int, ...] | None:
        """Return so many free cores, which are taken then; None if there aren't so many."""
        if count > len(self._free):
            return None
        taken, self._free = self._free[:count], self._free[count:]
        return tuple(taken)

    def give_back(self, cores: tuple[int, ...]) -> None:
        """Return cores that were taken."""
        self._free = sorted([*self._free, *cores])
