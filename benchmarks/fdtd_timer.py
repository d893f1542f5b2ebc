"""What the clocks per phase cost: seconds per switch, and as a share of a time step's sweep.

    python benchmarks/fdtd_timer.py

Prints the best of several repetitions, in CPU time of this process. A step of a simulation switches about ten times
per chunk; the target is below 1.5 µs per switch, so that even a chunk of 16³ points spends less than 1 % on it.
"""

from __future__ import annotations

import time
from collections.abc import Callable

from evenly.fdtd.stepping.timing import PhaseTimer

REPEATS = 7
SWITCHES = 200_000


def main() -> None:
    timer = PhaseTimer()
    timer.start("other")
    clocks = best(lambda: read_clocks(SWITCHES))
    print(f"two clock reads alone        {clocks * 1e6:6.3f} us")
    for name, seconds in (
        ("start or stop", best(lambda: nested(timer, SWITCHES))),
        ("switch", best(lambda: switched(timer, SWITCHES))),
        ("with block (two switches)", 2 * best(lambda: blocks(timer, SWITCHES))),
    ):
        print(f"{name:28s} {seconds * 1e6:6.3f} us")


def best(measure: Callable[[], int]) -> float:
    seconds = []
    for _ in range(REPEATS):
        begin = time.process_time()
        switches = measure()
        seconds.append((time.process_time() - begin) / switches)
    return min(seconds)


def read_clocks(n: int) -> int:
    for _ in range(n):
        time.perf_counter()
        time.thread_time()
    return n


def nested(timer: PhaseTimer, n: int) -> int:
    for _ in range(n // 2):
        timer.start("waiting")
        timer.stop()
    return n


def switched(timer: PhaseTimer, n: int) -> int:
    timer.start("fused")
    for _ in range(n // 2):
        timer.switch("waiting")
        timer.switch("fused")
    timer.stop()
    return n


def blocks(timer: PhaseTimer, n: int) -> int:
    for _ in range(n // 2):
        with timer("waiting"):
            pass
    return n


if __name__ == "__main__":
    main()
