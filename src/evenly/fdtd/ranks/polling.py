"""Waiting by polling: at first without a pause, then yielding the core, then sleeping for fractions of a millisecond.

So more ranks than cores work well, and signals are handled, which a wait inside MPI would prevent.
"""

from __future__ import annotations

import os
import time
from collections.abc import Callable

__all__ = ["wait_until"]

SPIN_S = 20e-6
YIELD_S = 1e-3
NAP_S = 50e-6
LONGEST_NAP_S = 500e-6
# When a wait has become long, and how often it is looked at from then on.
PATIENCE_S = 1.0
ATTEND_S = 0.02


def wait_until(done: Callable[[], bool], meanwhile: Callable[[], None] | None = None) -> None:
    """Poll `done` until it returns True, and leave the core to other processes if this takes long.

    It polls without a pause for 20 µs, then yields the core between polls up to 1 ms, and then sleeps for 50 to 500 µs
    between polls. Otherwise, ranks that outnumber the cores would block each other.

    Parameters
    ----------
    done : callable
        A cheap function that returns True when the awaited event has happened.
    meanwhile : callable, optional
        Called now and then after the first second.

    Examples
    --------
    >>> answers = iter([False, False, True])
    >>> wait_until(lambda: next(answers))
    """
    if done():
        return
    begin = time.perf_counter()
    waited, nap, due = 0.0, NAP_S, PATIENCE_S
    while not done():
        if waited > due and meanwhile is not None:
            meanwhile()
            due = waited + ATTEND_S
        if waited > YIELD_S:
            time.sleep(nap)
            nap = min(LONGEST_NAP_S, 1.5 * nap)
        elif waited > SPIN_S:
            _yield_core()
        waited = time.perf_counter() - begin


_yield_core: Callable[[], None] = getattr(os, "sched_yield", lambda: time.sleep(0))
