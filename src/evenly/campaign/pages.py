"""Rows from the pages of a damaged SQLite file, without the roots and links of its tables, which may be damaged, too.

A table's rows are in its leaf pages; the rest of a long row is in a chain of other pages. The numbers in comments are
those of the sections of https://www.sqlite.org/fileformat2.html.
"""

from __future__ import annotations

import struct
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import Any

__all__ = ["PAGE_SIZE", "rows_of_pages"]

#: The size of pages where the file's header doesn't tell it.
PAGE_SIZE = 4096
_MAGIC = b"SQLite format 3\0"
_LEAF = 13
#: Bytes of the header of a write-ahead log, and of the header of each page in it (4.1).
_LOG, _FRAME = 32, 24
#: Bytes of values by their type (2.1); longer types are texts and bytes.
_WIDTHS = (0, 1, 2, 3, 4, 6, 8, 8, 0, 0)


def rows_of_pages(path: Path) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the number and the values of each row that can be read; damaged rows may be among them.

    Examples
    --------
    >>> import sqlite3, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     database = sqlite3.connect(Path(folder, "a.db"))
    ...     _ = database.executescript("CREATE TABLE pigeons (name, age); INSERT INTO pigeons VALUES ('Coo', 2.5)")
    ...     database.close()
    ...     list(rows_of_pages(Path(folder, "a.db")))[-1]
    (1, ('Coo', 2.5))
    """
    data = path.read_bytes()
    is_told = data.startswith(_MAGIC) and len(data) >= 100
    told = int.from_bytes(data[16:18], "big") if is_told else PAGE_SIZE
    for size in {PAGE_SIZE, 65536 if told == 1 else told}:
        if size < 512:
            continue
        pages = {at // size + 1: data[at : at + size] for at in range(0, len(data), size)} | _logged(path, size)
        usable = size - data[20] if is_told else size
        for number, page in pages.items():
            yield from _rows(page, 100 if number == 1 else 0, pages, usable)


def _logged(path: Path, size: int) -> dict[int, bytes]:
    """Return the pages of the write-ahead log, in their last version that was stored as a whole (4.1)."""
    log = path.with_name(path.name + "-wal")
    data = log.read_bytes() if log.exists() else b""
    found: dict[int, bytes] = {}
    waiting: dict[int, bytes] = {}
    for at in range(_LOG, len(data) - _FRAME, _FRAME + size):
        number, pages_after, salts = struct.unpack(">II8s", data[at : at + 16])
        if salts != data[16:24]:
            break
        waiting[number] = data[at + _FRAME : at + _FRAME + size]
        if pages_after:
            found |= waiting
            waiting = {}
    return found


def _rows(page: bytes, start: int, pages: Mapping[int, bytes], usable: int) -> Iterator[tuple[int, tuple[Any, ...]]]:
    """Yield the rows of a leaf page of a table, and nothing of another page (1.6)."""
    if page[start : start + 1] != bytes([_LEAF]):
        return
    count = int.from_bytes(page[start + 3 : start + 5], "big")
    for at in range(start + 8, start + 8 + 2 * count, 2):
        try:
            size, place = _varint(page, int.from_bytes(page[at : at + 2], "big"))
            number, place = _varint(page, place)
            yield number, _values(_payload(page, place, size, pages, usable))
        except (IndexError, KeyError, struct.error):
            # The row is damaged, or a part of it is missing.
            continue


def _varint(data: bytes, at: int) -> tuple[int, int]:
    """Return the number at a place, and the place after it (1.6)."""
    number = 0
    for end in range(at, at + 8):
        number = number << 7 | data[end] & 127
        if data[end] < 128:
            return number, end + 1
    return number << 8 | data[at + 8], at + 9


def _payload(page: bytes, at: int, size: int, pages: Mapping[int, bytes], usable: int) -> bytes:
    """Return the bytes of a row, with those in the chain of pages of a long row (1.6)."""
    if size > usable * len(pages):
        raise IndexError
    least = (usable - 12) * 32 // 255 - 23
    here = size if size <= usable - 35 else least + (size - least) % (usable - 4)
    here = here if here <= usable - 35 else least
    found = [page[at : at + here]]
    following = int.from_bytes(page[at + here : at + here + 4], "big")
    for _ in range(here, size, usable - 4):
        following, part = int.from_bytes(pages[following][:4], "big"), pages[following][4:usable]
        found.append(part)
    return b"".join(found)[:size]


def _values(payload: bytes) -> tuple[Any, ...]:
    """Return the values of a row (2)."""
    end, place = _varint(payload, 0)
    at, found = end, list[Any]()
    while place < end:
        kind, place = _varint(payload, place)
        width = _WIDTHS[kind] if kind < len(_WIDTHS) else (kind - 12) // 2
        raw = payload[at : at + width]
        if kind in (0, 8, 9):
            found.append({0: None, 8: 0, 9: 1}[kind])
        elif kind == 7:
            found.append(*struct.unpack(">d", raw))
        elif kind < 7:
            found.append(int.from_bytes(raw, "big", signed=True))
        else:
            found.append(raw.decode("utf-8", "surrogateescape") if kind % 2 else raw)
        at += width
    return tuple(found)
