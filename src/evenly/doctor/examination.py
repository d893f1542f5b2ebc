"""All checks, in the order in which they are shown."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path

from evenly.doctor import hardware, software
from evenly.doctor.finding import Finding

__all__ = ["examine"]


def examine(folder: Path, seconds: float = 0.5, progress: Callable[[float], None] | None = None) -> list[Finding]:
    """Check this machine, and return what each check found.

    Parameters
    ----------
    folder : Path
        Where runs will be kept.
    seconds : float
        Time of each measurement; there are five.
    progress : callable, optional
        Called with the share that is done, 0 to 1.
    """
    checks: list[Callable[[], Finding]] = [
        software.python,
        software.extras,
        software.compiled_code,
        hardware.cores,
        software.threads,
        hardware.memory,
        lambda: hardware.bandwidth(seconds),
        lambda: hardware.caches(seconds),
        hardware.huge_pages,
        hardware.clock,
        lambda: hardware.steadiness(seconds),
        lambda: hardware.files(folder),
        hardware.ranks,
        software.scheduler,
    ]
    found = []
    for check in checks:
        found.append(check())
        if progress is not None:
            progress(len(found) / len(checks))
    return found
