"""One of several processes that compute at the same time, each on its own core.

    python -m evenly.machine.measuring.worker triad CORE SECONDS ARRAY_BYTES
    python -m evenly.machine.measuring.worker piece CORE SECONDS PIECE_SECONDS

The process prints ``ready`` once its code is compiled and its arrays are in memory. It starts when it reads a line from
its input. At the end, it prints the seconds of each repetition as JSON.
"""

from __future__ import annotations

import json
import os
import sys
import time
from collections.abc import Callable, Sequence
from contextlib import suppress

import numpy as np

from evenly.compiling import njit

__all__ = ["TRIAD_BYTES", "main"]

#: Bytes that the triad moves per element in STREAM's count: two arrays are read, one is written.
TRIAD_BYTES = 24
_LEAST = 5
_VALUES = 2048


@njit(cache=True)
def _triad(a, b, c, factor):  # type: ignore[no-untyped-def]
    for i in range(a.size):
        a[i] = b[i] + factor * c[i]


@njit(cache=True)
def _piece(values, rounds):  # type: ignore[no-untyped-def]
    for _ in range(rounds):
        for i in range(values.size):
            values[i] = 0.999 * values[i] + 0.001


def main(arguments: Sequence[str]) -> None:
    """Prepare the task, wait for a line of input, repeat the task, and print the seconds of each repetition."""
    task, core, seconds, size = arguments
    with suppress(AttributeError, OSError):
        os.sched_setaffinity(0, {int(core)})
    work = {"triad": _triads, "piece": _pieces}[task](float(size))
    sys.stdout.write("ready\n")
    sys.stdout.flush()
    sys.stdin.readline()
    sys.stdout.write(json.dumps(_repeat(work, float(seconds))) + "\n")


def _triads(array_bytes: float) -> Callable[[], None]:
    a, b, c = (np.full(max(1, int(array_bytes) // 8), value) for value in (0.0, 1.0, 2.0))
    _triad(a, b, c, 3.0)
    return lambda: _triad(a, b, c, 3.0)


def _pieces(piece_s: float) -> Callable[[], None]:
    """Return a fixed piece of computing that takes about `piece_s` seconds, with data in the first-level cache."""
    values = np.ones(_VALUES)
    _piece(values, 1)
    rounds, took = 1, 0.0
    while took < piece_s / 4:
        rounds *= 2
        took = min(_repeat(lambda n=rounds: _piece(values, n), 0.0))  # type: ignore[misc]
    rounds = max(1, round(rounds * piece_s / took))
    return lambda: _piece(values, rounds)


def _repeat(work: Callable[[], None], seconds: float) -> list[float]:
    times: list[float] = []
    end = time.perf_counter() + seconds
    while len(times) < _LEAST or time.perf_counter() < end:
        began = time.perf_counter()
        work()
        times.append(time.perf_counter() - began)
    return times


if __name__ == "__main__":
    main(sys.argv[1:])
