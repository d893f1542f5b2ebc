"""CPU time per phase of a Meep run, on any number of ranks per core.

Meep times its phases with the clock of MPI, which is a wall clock: on a machine with fewer cores than ranks it measures
waiting for a core. The CPU time of the whole process is no help either, since MPI waits by spinning. So while this
clock runs, Meep's library finds the process's CPU clock where it looks up ``MPI_Wtime``: its phases are then in CPU
seconds, and waiting is in phases of its own. Meep's own ``wall_time`` stays a wall clock.

This works on Linux for 64-bit libraries; elsewhere Meep's own clock stays, which is right where each rank has a core.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["cpu_clock", "slots_of"]

#: The function that is looked up, and part of the file name of the library that looks it up.
FUNCTION, LIBRARY = b"MPI_Wtime", "libmeep"
# Tags of the ELF standard's dynamic section.
NEEDED_TAGS = {5: "strings", 6: "symbols", 7: "rela", 8: "rela_size", 2: "jump_size", 23: "jump"}
RELOCATION, SYMBOL = struct.Struct("<QQq"), struct.Struct("<IBBHQQ")
CLOCK = ctypes.CFUNCTYPE(ctypes.c_double)


@contextmanager
def cpu_clock() -> Iterator[bool]:
    """Let Meep's phases be timed in CPU seconds; gives whether that is so."""
    slots = _slots()
    if not slots:
        yield False
        return
    import meep

    clock = CLOCK(time.process_time)
    address = ctypes.cast(clock, ctypes.c_void_p).value or 0
    started, usual_wall = time.time() - float(meep.wall_time()), meep.wall_time
    usual = [_exchanged(slot, address) for slot in slots]
    meep.wall_time = lambda: time.time() - started
    try:
        yield True
    finally:
        for slot, old in zip(slots, usual, strict=True):
            _exchanged(slot, old)
        meep.wall_time = usual_wall


@dataclass(frozen=True)
class _Library:
    """A library as it lies in memory."""

    base: int
    path: Path


def slots_of(image: bytes, function: bytes) -> list[int]:
    """Return where, from its base on, a 64-bit ELF library keeps the address of a function that it takes from another.

    Parameters
    ----------
    image : bytes
        The library's file.
    function : bytes
        Its name.
    """
    if image[:5] != b"\x7fELF\x02" or image[5] != 1:
        return []
    segments = _segments(image)
    found = {}
    for kind, offset, _, size in segments:
        if kind == 2:  # the dynamic section
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", image, at)
                found[NEEDED_TAGS.get(tag, "")] = value
    if not {"strings", "symbols"} <= set(found):
        return []
    strings, symbols = (_in_file(segments, found[name]) for name in ("strings", "symbols"))
    slots = []
    for table, length in (("rela", "rela_size"), ("jump", "jump_size")):
        start = _in_file(segments, found.get(table, 0)) if table in found else 0
        for at in range(start, start + found.get(length, 0) if table in found else start, RELOCATION.size):
            place, info, _ = RELOCATION.unpack_from(image, at)
            name = strings + SYMBOL.unpack_from(image, symbols + (info >> 32) * SYMBOL.size)[0]
            if image[name : name + len(function) + 1] == function + b"\0":
                slots.append(int(place))
    return slots


def _segments(image: bytes) -> list[tuple[int, int, int, int]]:
    """Return kind, place in the file, address and size of each part of a library."""
    (table,) = struct.unpack_from("<Q", image, 32)
    entry, count = struct.unpack_from("<HH", image, 54)
    found = []
    for n in range(count):
        kind, _, offset, address, _, size = struct.unpack_from("<IIQQQQ", image, table + n * entry)
        found.append((kind, offset, address, size))
    return found


def _in_file(segments: list[tuple[int, int, int, int]], address: int) -> int:
    for kind, offset, start, size in segments:
        if kind == 1 and start <= address < start + size:
            return address - start + offset
    return address


def _slots() -> list[int]:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return []
    found = []
    for library in _loaded():
        try:
            found += [library.base + slot for slot in slots_of(library.path.read_bytes(), FUNCTION)]
        except (OSError, struct.error):
            continue
    return found


def _loaded() -> list[_Library]:
    """Return Meep's libraries in this process."""
    bases: dict[str, int] = {}
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        fields = line.split(maxsplit=5)
        if len(fields) == 6 and LIBRARY in os.path.basename(fields[5]) and int(fields[2], 16) == 0:  # noqa: PTH119
            bases.setdefault(fields[5], int(fields[0].split("-")[0], 16))
    return [_Library(base, Path(path)) for path, base in bases.items()]


def _exchanged(slot: int, address: int) -> int:
    """Write an address where one is kept, and return the one before; the page may be written to just so long."""
    page = os.sysconf("SC_PAGE_SIZE")
    start = slot // page * page
    libc: Any = ctypes.CDLL(None, use_errno=True)
    writable, readable = 3, 1
    protect = libc.mprotect
    protect.argtypes = (ctypes.c_void_p, ctypes.c_size_t, ctypes.c_int)
    was_readable_only = not _is_writable(slot)
    if was_readable_only and protect(start, page, writable):
        raise OSError(ctypes.get_errno(), "Meep's clock can't be replaced")
    place = ctypes.c_uint64.from_address(slot)
    old, place.value = int(place.value), address
    if was_readable_only:
        protect(start, page, readable)
    return old


def _is_writable(address: int) -> bool:
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        ends, rights = line.split(maxsplit=2)[:2]
        low, high = (int(end, 16) for end in ends.split("-"))
        if low <= address < high:
            return "w" in rights
    return False
