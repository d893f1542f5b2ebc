"""CPU time of a Meep process without its waiting in MPI, for any number of ranks per core.

Meep times its phases with MPI's clock, which is a wall clock. With more ranks than cores, this time includes waiting
for a core. The CPU time of the whole process does not help either, since MPI waits by busy polling. So, while this
clock runs, the addresses of MPI's waiting functions in Meep's library are replaced by those of wrapper functions. A
wrapper calls the true function and records its CPU time. The overhead of a wrapper, about 1 µs per call, is measured
and subtracted.

This works in a running process that evenly did not start. If evenly itself starts Meep to measure costs, `mpi_waiting`
does the same with a tenth of the overhead, but its library must be compiled and loaded before MPI.

The clock works on Linux for 64-bit libraries. On other systems, `working_clock` yields None, and Meep's own clock is
used, which is correct if each rank has its own core.
"""

from __future__ import annotations

import ctypes
import os
import struct
import sys
import time
from collections.abc import Callable, Iterator
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any

__all__ = ["WAITING", "slots_of", "working_clock"]

#: MPI functions that wait, with their numbers of arguments; each argument fits a register.
WAITING = {
    "MPI_Wait": 2,
    "MPI_Waitall": 3,
    "MPI_Waitany": 4,
    "MPI_Waitsome": 5,
    "MPI_Barrier": 1,
    "MPI_Bcast": 5,
    "MPI_Allreduce": 6,
}
#: Number of trials, and calls per trial, to measure the clock's overhead with a function that returns immediately.
_TRIALS, _CALLS = 5, 50
#: Part of the file name of the library that calls these functions.
_LIBRARY = "libmeep"
# Tags of the ELF standard's dynamic section.
_NEEDED_TAGS = {5: "strings", 6: "symbols", 7: "rela", 8: "rela_size", 2: "jump_size", 23: "jump"}
_RELOCATION, _SYMBOL = struct.Struct("<QQq"), struct.Struct("<IBBHQQ")


class _WorkingClock:
    """A clock of this process's CPU seconds, without waiting in MPI.

    The clock's own overhead per timed call is measured when the clock is created, and subtracted too.
    """

    def __init__(self) -> None:
        self.waited, self.calls, self.per_call_s = 0.0, 0, 0.0
        self.per_call_s = self._own_seconds()
        self.waited, self.calls = 0.0, 0

    def __call__(self) -> float:
        """Return the CPU seconds so far; only differences of two readings have a meaning."""
        return time.process_time() - self.waited - self.calls * self.per_call_s

    def around(self, address: int, arguments: int) -> Any:
        """Return a C function that calls the function at `address` and records its CPU time."""
        kind = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * arguments)
        usual: Callable[..., int] = kind(address)
        now = time.process_time

        def waits(*given: Any) -> int:
            begin = now()
            result = usual(*given)
            self.calls += 1
            self.waited += now() - begin
            return result

        return kind(waits)

    def _own_seconds(self) -> float:
        """Return the overhead per timed call: the least CPU seconds beyond the recorded ones."""
        address = ctypes.cast(ctypes.CDLL(None).getpid, ctypes.c_void_p).value or 0
        plain = ctypes.CFUNCTYPE(ctypes.c_int, *[ctypes.c_void_p] * 3)(address)
        timed, found = self.around(address, 3), []
        for _ in range(_TRIALS):
            begin, waited = time.process_time(), self.waited
            for _ in range(_CALLS):
                timed(None, None, None)
            middle, waited = time.process_time(), self.waited - waited
            for _ in range(_CALLS):
                plain(None, None, None)
            found.append((middle - begin - waited - (time.process_time() - middle)) / _CALLS)
        return max(0.0, min(found))


@contextmanager
def working_clock() -> Iterator[_WorkingClock | None]:
    """Yield a clock of this process's work for a ``with`` block; None if the clock can't work here."""
    clock, replaced, kept = _WorkingClock(), [], []
    for name, slot in _slots():
        function = clock.around(_at(slot), WAITING[name])
        kept.append(function)
        replaced.append((slot, _exchanged(slot, ctypes.cast(function, ctypes.c_void_p).value or 0)))
    try:
        yield clock if replaced else None
    finally:
        for slot, old in reversed(replaced):
            _exchanged(slot, old)


@dataclass(frozen=True)
class _Library:
    """A library in memory."""

    base: int
    path: Path


def slots_of(image: bytes) -> list[tuple[str, int]]:
    """Return the slots where a 64-bit ELF library stores the addresses of waiting functions, relative to its base.

    Parameters
    ----------
    image : bytes
        The content of the library's file.
    """
    if image[:6] != b"\x7fELF\x02\x01":
        return []
    # Program headers give the places of segments. One of them is the dynamic section, which names the other tables.
    segments = _segments(image)
    found = _dynamic(image, segments)
    if not {"strings", "symbols"} <= set(found):
        return []
    strings, symbols = (_in_file(segments, found[name]) for name in ("strings", "symbols"))
    # Relocations of variables and of calls: each names a symbol, and the slot that the loader fills with its address.
    slots = []
    for table, length in (("rela", "rela_size"), ("jump", "jump_size")):
        start = _in_file(segments, found.get(table, 0))
        for at in range(start, start + found.get(length, 0), _RELOCATION.size):
            place, info, _ = _RELOCATION.unpack_from(image, at)
            name = strings + _SYMBOL.unpack_from(image, symbols + (info >> 32) * _SYMBOL.size)[0]
            text = image[name : image.find(b"\0", name)].decode("ascii", "replace")
            if text in WAITING:
                slots.append((text, int(place)))
    return slots


def _dynamic(image: bytes, segments: list[tuple[int, int, int, int]]) -> dict[str, int]:
    """Return the entries of a library's dynamic section."""
    found = {}
    for kind, offset, _, size in segments:
        if kind == 2:
            for at in range(offset, offset + size, 16):
                tag, value = struct.unpack_from("<QQ", image, at)
                if tag in _NEEDED_TAGS:
                    found[_NEEDED_TAGS[tag]] = value
    return found


def _segments(image: bytes) -> list[tuple[int, int, int, int]]:
    """Return kind, offset in the file, address and size of each segment of a library."""
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


def _slots() -> list[tuple[str, int]]:
    if sys.platform != "linux" or sys.maxsize < 2**32:
        return []
    found = []
    for library in _loaded():
        try:
            found += [(name, library.base + slot) for name, slot in slots_of(library.path.read_bytes())]
        except (OSError, struct.error):
            continue
    return found


def _at(slot: int) -> int:
    return int(ctypes.c_uint64.from_address(slot).value)


def _mapped() -> Iterator[tuple[int, int, str, int, str]]:
    """Yield first and last address, permissions, offset and path of each mapping of this process's memory."""
    for line in Path("/proc/self/maps").read_text(encoding="utf-8").splitlines():
        ends, rights, offset, _, _, *path = line.split(maxsplit=5)
        low, high = (int(end, 16) for end in ends.split("-"))
        yield low, high, rights, int(offset, 16), "".join(path)


def _loaded() -> list[_Library]:
    """Return Meep's libraries in this process."""
    bases: dict[str, int] = {}
    for low, _, _, offset, path in _mapped():
        if _LIBRARY in Path(path).name and offset == 0:
            bases.setdefault(path, low)
    return [_Library(base, Path(path)) for path, base in bases.items()]


def _exchanged(slot: int, address: int) -> int:
    """Replace the address in a slot, and return the old one. The page is writable only during the exchange."""
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
    return any(low <= address < high and "w" in rights for low, high, rights, _, _ in _mapped())
