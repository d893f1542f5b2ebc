"""Cores, caches and memory of this machine, as the operating system reports them.

On Linux they are read from files in ``/sys`` and ``/proc``; elsewhere Python's own functions are used.
"""

from __future__ import annotations

import os
import platform
from collections.abc import Iterable, Sequence
from contextlib import suppress
from pathlib import Path
from time import perf_counter, sleep

from evenly.fdtd.measurement.measure import available_cores

__all__ = ["busy_cores", "cache_bytes", "core_numbers", "memory_bytes", "processor"]

#: Seconds during which busy cores are counted.
_LOOK_S = 0.5

_CPUS = Path("/sys/devices/system/cpu")
_UNITS = {"K": 2**10, "M": 2**20, "G": 2**30}
#: Size of the last cache where the system doesn't report it, in bytes.
_USUAL_CACHE = 32 * 2**20


def core_numbers(root: Path = _CPUS) -> list[int]:
    """Return one processor number of each physical core that this process may use.

    A core with several hardware threads is represented by the first one. In a container with a CPU limit below its
    number of cores, the list has only as many cores as the limit allows.

    Parameters
    ----------
    root : Path
        Folder in which Linux describes the processors.

    Examples
    --------
    >>> len(core_numbers()) >= 1
    True
    """
    allowed = sorted(getattr(os, "sched_getaffinity", lambda _: range(os.cpu_count() or 1))(0))
    first: dict[tuple[str, str], int] = {}
    for number in allowed:
        place = root / f"cpu{number}" / "topology"
        names = _read(place / "physical_package_id"), _read(place / "core_id")
        first.setdefault((names[0], names[1]) if all(names) else ("", str(number)), number)
    return list(first.values())[: available_cores()]


def cache_bytes(root: Path = _CPUS) -> int:
    """Return the size of the largest cache of a core, in bytes.

    Examples
    --------
    >>> cache_bytes() > 0
    True
    """
    texts = (_read(path) for path in root.glob("cpu0/cache/index*/size"))
    sizes = [int(text[:-1]) * _UNITS[text[-1]] for text in texts if text[:-1].isdecimal() and text[-1] in _UNITS]
    return max(sizes, default=_USUAL_CACHE)


def memory_bytes(limits: Sequence[Path] = (Path("/sys/fs/cgroup/memory.max"),)) -> float | None:
    """Return the memory of this machine, or the limit of its container, in bytes; None where not reported.

    Parameters
    ----------
    limits : sequence of Path
        Files that may hold a memory limit in bytes.

    Examples
    --------
    >>> (memory_bytes() or 1e9) > 0
    True
    """
    found = [int(text) for text in map(_read, limits) if text.isdecimal()]
    with suppress(AttributeError, OSError, ValueError):
        found.append(os.sysconf("SC_PHYS_PAGES") * os.sysconf("SC_PAGE_SIZE"))
    return float(min(found)) if found else None


def busy_cores() -> float:
    """Return the mean number of cores that other processes use during half a second.

    The load average counts what this process did in the last minute, too. It is returned where nothing else is known,
    and 0 where it isn't known either.

    Examples
    --------
    >>> busy_cores() >= 0
    True
    """
    before, begin = _used_s(), perf_counter()
    if before is None:
        with suppress(AttributeError, OSError):
            return os.getloadavg()[0]
        return 0.0
    sleep(_LOOK_S)
    return ((_used_s() or before) - before) / (perf_counter() - begin)


def _used_s(stat: Path = Path("/proc/stat")) -> float | None:
    """Return the seconds that all cores together have worked since the machine was started; None if it isn't known."""
    try:
        ticks = stat.read_text(encoding="ascii").splitlines()[0].split()[1:9]
        user, nice, system, _idle, _waiting, interrupts, soft_interrupts, stolen = map(int, ticks)
    except (OSError, ValueError, IndexError):
        return None
    return (user + nice + system + interrupts + soft_interrupts + stolen) / os.sysconf("SC_CLK_TCK")


def processor(lines: Iterable[str] | None = None) -> str:
    """Return the processor's model name.

    Parameters
    ----------
    lines : iterable of str, optional
        Lines in the format of ``/proc/cpuinfo``; by default those of this file.

    Examples
    --------
    >>> processor(["model name : AMD  EPYC"])
    'AMD EPYC'
    """
    found = _read(Path("/proc/cpuinfo")).splitlines() if lines is None else lines
    names = [line.partition(":")[2] for line in found if line.startswith("model name")]
    return " ".join(names[0].split()) if names else platform.processor() or platform.machine() or "unknown processor"


def _read(path: Path) -> str:
    try:
        return path.read_text(encoding="utf-8", errors="replace").strip()
    except OSError:
        return ""
