"""Checks of cores, memory, clocks, the file system, and two ranks that talk to each other."""

from __future__ import annotations

import os
import time
from pathlib import Path

from evenly.campaign.lock import FileLock, file_system_time
from evenly.doctor.finding import Finding, Verdict
from evenly.errors import EvenlyError, MissingExtraError
from evenly.machine.measuring import node
from evenly.machine.measuring.computing import array_bytes, measure_jitter, memory_bandwidth
from evenly.machine.measuring.messages import measure_messages
from evenly.memory import free_bytes

__all__ = ["bandwidth", "caches", "clock", "cores", "files", "huge_pages", "memory", "ranks", "steadiness"]

#: Fraction of the cores that others may use, relative jitter, and seconds of difference between clocks that matter.
_BUSY, _JITTER, _CLOCKS_S = 0.25, 0.05, 2.0
#: A last cache that is one's own is at least so many times as fast as memory.
_CACHE_GAIN = 1.2
#: With less free memory than this, in bytes, large tables and simulations fail.
_LITTLE_MEMORY = 1 << 30
#: A message within a node takes microseconds; one that takes longer goes through something slow, or waits for a core.
_SLOW_MESSAGE_S = 1e-4


def cores() -> Finding:
    """Say how many cores there are, how many this process may use, and how many are busy."""
    all_of_them, usable = len(node.core_numbers()), len(os.sched_getaffinity(0))
    share = _share_of_container()
    found = f"{all_of_them} cores of {node.processor()}"
    if share is not None and share < usable:
        return Finding(
            "cores", "note", f"{found}, but a container limits this process to the time of {share:g}",
            f"run at most {max(int(share), 1)} ranks or threads at once",
        )  # fmt: skip
    if usable < all_of_them:
        return Finding("cores", "note", f"{found}, of which this process may use {usable}", "")
    busy = node.busy_cores()
    if busy > _BUSY * all_of_them:
        return Finding("cores", "note", f"{found}; {busy:.1f} are busy now", "measure when others have ended")
    return Finding("cores", "good", found)


def _share_of_container(place: Path = Path("/sys/fs/cgroup/cpu.max")) -> float | None:
    """Return the number of cores whose time a container may use; None if it isn't limited.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print(150000, 100000, file=file, flush=True)
    ...     _share_of_container(Path(file.name))
    1.5
    """
    try:
        quota, period = place.read_text(encoding="ascii").split()
        return None if quota == "max" else int(quota) / int(period)
    except (OSError, ValueError):
        return None


def memory() -> Finding:
    """Say how much memory is free."""
    free, whole = free_bytes(), node.memory_bytes()
    found = f"{free / 1e9:.1f} GB free" + ("" if whole is None else f" of {whole / 1e9:.1f} GB")
    if free < _LITTLE_MEMORY:
        return Finding("memory", "bad", found, "end other programs, or ask for more memory")
    return Finding("memory", "good", found)


def bandwidth(seconds: float) -> Finding:
    """Measure the memory bandwidth of one core and of all."""
    numbers = node.core_numbers()
    size = array_bytes(len(numbers), node.cache_bytes(), node.memory_bytes())
    alone = memory_bandwidth(numbers[:1], size, seconds)
    together = memory_bandwidth(numbers, size, seconds) if numbers[1:] else alone
    gain = together / alone
    found = f"{alone / 1e9:.1f} GB/s by one core, {together / 1e9:.1f} GB/s by all {len(numbers)} ({gain:.1f} times)"
    return Finding("memory bandwidth", "good", found)


def caches(seconds: float) -> Finding:
    """Measure how much faster one core is where its data fit into the last cache."""
    first, size = node.core_numbers()[:1], node.cache_bytes()
    # Three arrays fill half of the cache.
    inside = memory_bandwidth(first, size / 6, seconds)
    outside = memory_bandwidth(first, array_bytes(1, size, node.memory_bytes()), seconds)
    found = (
        f"the largest of a core has {size / 2**20:.0f} MiB; in half of it, one core moves {inside / 1e9:.1f} GB/s "
        f"({inside / outside:.1f} times as much as in memory)"
    )
    if inside < _CACHE_GAIN * outside:
        remedy = "others use it, too: how long small problems take depends on them, so measure when they have ended"
        return Finding("caches", "note", found, remedy)
    return Finding("caches", "good", found)


def huge_pages(place: Path = Path("/sys/kernel/mm/transparent_hugepage/enabled")) -> Finding:
    """Say whether programs get huge pages of memory: without them, times depend on where memory lies.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.NamedTemporaryFile("w") as file:
    ...     print("always madvise [never]", file=file, flush=True)
    ...     huge_pages(Path(file.name)).verdict
    'note'
    """
    try:
        chosen = place.read_text(encoding="ascii").partition("[")[2].partition("]")[0]
    except (OSError, ValueError):
        chosen = ""
    if chosen == "never":
        remedy = f"ask the administrator for `echo madvise > {place}`"
        return Finding("huge pages", "note", "never, so that times depend on where memory lies", remedy)
    told = {
        "always": "for all programs",
        "madvise": "for programs that ask; others ask with GLIBC_TUNABLES=glibc.malloc.hugetlb=1 in the environment",
    }
    return Finding("huge pages", "good", told.get(chosen, "this system doesn't say"))


def clock() -> Finding:
    """Say how finely times are measured."""
    step = min(_step() for _ in range(100))
    found = f"time is measured in steps of {step * 1e9:.0f} ns"
    if step > 1e-5:
        return Finding("clock", "note", found, "measure runs that take seconds, not milliseconds")
    return Finding("clock", "good", found)


def _step() -> float:
    start = time.perf_counter()
    while (now := time.perf_counter()) == start:
        pass
    return now - start


def steadiness(seconds: float) -> Finding:
    """Measure by how much the same work takes longer at times, on all cores at once."""
    found = measure_jitter(node.core_numbers(), seconds)
    told = f"the same work varies by {100 * found:.1f} % (standard deviation) while all cores work"
    if found > _JITTER:
        return Finding("steadiness", "note", told, "repeat each run at least three times; don't trust smaller gains")
    return Finding("steadiness", "good", told)


def files(folder: Path) -> Finding:
    """Check that runs can be kept in a folder: it can be written to and locked, and its clock is right."""
    place = folder / ".evenly-doctor"
    try:
        with FileLock(place):
            off = file_system_time(folder) - time.time()
    except (OSError, EvenlyError) as error:
        told = str(error).removeprefix(f"{place} ")
        return Finding("files", "bad", f"{folder}: {told}", "keep runs in another folder: --store FOLDER/study.db")
    if abs(off) > _CLOCKS_S:
        return Finding(
            "files", "note", f"the clock of the file system of {folder} is off by {off:.0f} s",
            "evenly allows for it; other programs, such as make, may not",
        )  # fmt: skip
    return Finding("files", "good", f"{folder} can be written to and locked; its clock agrees")


def ranks() -> Finding:
    """Start two ranks, and let them send messages to each other."""
    start = time.perf_counter()
    try:
        found = measure_messages(seconds=0.05)
    except EvenlyError as error:
        verdict: Verdict = "note" if isinstance(error, MissingExtraError) else "bad"
        return Finding(
            "two ranks", verdict, str(error), "only needed for simulations on ranks, and for `machine measure`"
        )
    took = time.perf_counter() - start
    least = min(found.seconds)
    told = f"start and talk within {took:.1f} s; the shortest message takes {least * 1e6:.1f} µs"
    if least > _SLOW_MESSAGE_S:
        return Finding("two ranks", "note", told, "are there at least two free cores for two ranks?")
    return Finding("two ranks", "good", told)
