"""One rank's profiling file of preCICE 3: ``Fluid-0-24.json`` up to 3.2, ``Fluid-0-24.txt`` from 3.3.

The ``.json`` holds ``meta`` and a list of ``events``, each with a type (n: a name gets a number, b: begin, e: end, d:
data). The ``.txt`` has the meta data as one JSON line and then one record per line: ``N1:name``, ``B1:begin``,
``E1:end``, ``D1:time:name:value``; what follows the first line is LZMA-compressed if that line says so. Times are
microseconds since the file's begin (``unix_us``). A run that was killed leaves a file that stops anywhere: what it
holds up to there is read.
"""

from __future__ import annotations

import json
import lzma
import re
from collections.abc import Iterable, Iterator
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly.errors import ReadError
from evenly.memory import TEXT_MIB, check_unpacked, unpacked_limit
from evenly.readers.precice.steps import Interval, reading

__all__ = ["RankFile", "has_rank_file_name", "looks_like_rank_file", "read_rank_file"]

#: Participant, rank, size; the outer suffix is there when a user compressed the whole file.
_NAME = re.compile(r".+-\d+-\d+\.(?:json|txt)(?:\.xz|\.lzma)?")
_XZ = b"\xfd7zXZ\x00"

#: Type (one of N, B, E), the event's number, its name or time, and the line it stands in.
_Record = tuple[str, int, str | int, int]


@dataclass(frozen=True)
class RankFile:
    """What one rank recorded.

    Parameters
    ----------
    path : Path
        The file.
    solver : str
        The participant's name.
    rank, size : int
        Which rank of how many.
    start_us : int
        When it started, microseconds since 1970.
    events : tuple of (str, Interval)
        Path of nested event names, joined by ``/``, and its interval in microseconds since the start, in the order in
        which they ended. The enclosing ``_GLOBAL`` is not part of paths.
    """

    path: Path
    solver: str
    rank: int
    size: int
    start_us: int
    events: tuple[tuple[str, Interval], ...]

    @property
    def end_us(self) -> int:
        """When its last event ended, microseconds since 1970."""
        return self.start_us + max((interval.begin + interval.duration for _, interval in self.events), default=0)

    @property
    def is_complete(self) -> bool:
        """Whether the file reaches the end of the run."""
        return any(name == "_GLOBAL" for name, _ in self.events)


def has_rank_file_name(path: Path) -> bool:
    """Tell whether `path` is named like a rank's profiling file.

    Examples
    --------
    >>> has_rank_file_name(Path("Fluid-Inner-0-24.txt")), has_rank_file_name(Path("profiling.json"))
    (True, False)
    """
    return _NAME.fullmatch(path.name) is not None


def looks_like_rank_file(path: Path) -> bool:
    """Tell from the name and the first bytes whether `path` is a rank's profiling file; never raises."""
    if not has_rank_file_name(path):
        return False
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
        if head.startswith(_XZ) or path.suffix == ".lzma":
            head = _inflate(head, path)
    except (OSError, ReadError):
        return False
    return b'"unix_us"' in head and b'"tinit"' in head


def read_rank_file(path: Path) -> RankFile:
    """Read one rank's file.

    Raises
    ------
    ReadError
        If it is not such a file, or damaged other than by being cut off.
    """
    with reading(path):
        data = path.read_bytes()
        if data.startswith(_XZ) or path.suffix == ".lzma":
            data = _inflate(data, path)
        if not data.strip():
            raise ReadError(path, "the file is empty")
        is_text = ".txt" in path.suffixes
        meta, records = _parse_text(data, path) if is_text else _parse_json(data, path)
        rank, size = int(meta["rank"]), int(meta["size"])
        if not 0 <= rank < size:
            raise ReadError(path, f"the rank must be from 0 to {size - 1} (the size is {size}), but got {rank}", line=1)
        events = tuple(_intervals(records, path))
        return RankFile(path, str(meta["name"]), rank, size, int(meta["unix_us"]), events)


def _inflate(data: bytes, path: Path) -> bytes:
    """Decompress as far as the data go."""
    parts: list[bytes] = []
    left = unpacked_limit(path, TEXT_MIB) + 1
    while data.strip(b"\x00"):
        decompressor = lzma.LZMADecompressor()
        try:
            parts.append(decompressor.decompress(data, max_length=left))
        except lzma.LZMAError as error:
            raise ReadError(path, f"the compressed part is damaged ({error})") from None
        left -= len(parts[-1])
        check_unpacked(path, sum(map(len, parts)), TEXT_MIB)
        if not decompressor.eof:
            break
        data = decompressor.unused_data
    return b"".join(parts)


def _parse_text(data: bytes, path: Path) -> tuple[dict[str, Any], Iterator[_Record]]:
    head, _, body = data.partition(b"\n")
    meta = _parse_head(head, path)
    if meta.get("compression"):
        body = _inflate(body, path)
    lines = body.split(b"\n")
    return meta, _text_records(lines[:-1], path)  # a last line without its end may be cut within a number


def _parse_head(head: bytes, path: Path) -> dict[str, Any]:
    try:
        meta = json.loads(head)
    except (ValueError, RecursionError):
        meta = None
    if not isinstance(meta, dict) or "unix_us" not in meta:
        raise ReadError(path, "the first line must hold preCICE's meta data as JSON: the file is damaged", line=1)
    return meta


def _text_records(lines: Iterable[bytes], path: Path) -> Iterator[_Record]:
    for number, line in enumerate(lines, start=2):
        kind, fields = line[:1], line[1:].rstrip().split(b":", 1)
        try:
            if kind == b"N":
                yield "N", int(fields[0]), fields[1].decode(), number
            elif kind in (b"B", b"E"):
                yield kind.decode(), int(fields[0]), int(fields[1]), number
            elif kind != b"D":
                raise ValueError
        except (ValueError, IndexError):
            wanted = "a record such as N1:name, B1:20, E1:30 or D1:20:2:5"
            raise ReadError(path, f"expected {wanted}, but got {line[:40]!r}", line=number) from None


def _parse_json(data: bytes, path: Path) -> tuple[dict[str, Any], Iterator[_Record]]:
    text = data.decode()
    try:
        content = json.loads(text)
    except ValueError as error:
        content = _repaired(text)
        if content is None:
            line = getattr(error, "lineno", None)
            raise ReadError(path, f"damaged JSON that closing its list doesn't repair ({error})", line=line) from None
    return content["meta"], _json_records(content["events"])


def _repaired(text: str) -> Any:
    """Close the list of a file that was cut off, after its last complete event."""
    try:
        return json.loads(text[: text.rfind("}") + 1] + "]}")
    except ValueError:
        return None


def _json_records(events: Iterable[dict[str, Any]]) -> Iterator[_Record]:
    for event in events:
        kind = str(event["et"]).upper()
        if kind == "N":
            yield kind, int(event["eid"]), str(event["en"]), 0
        elif kind in "BE":
            yield kind, int(event["eid"]), int(event["ts"]), 0


def _intervals(records: Iterable[_Record], path: Path) -> Iterator[tuple[str, Interval]]:
    names: dict[int, str] = {}
    begun: dict[int, int] = {}
    stack: list[tuple[int, str]] = []  # active events and their paths
    for kind, event, value, line in records:
        if kind == "N":
            names[event] = str(value)
        elif event not in names:
            raise ReadError(path, f"event {event} has no name: the file is damaged", line=line or None)
        elif kind == "B":
            if event not in begun:  # preCICE lets an event begin again while it is active and counts the first
                begun[event] = int(value)
                stack.append((event, _below(stack[-1][1] if stack else "", names[event])))
        elif event in begun:
            ended, full = stack.pop()
            if ended != event:
                raise ReadError(path, f"{names[event]!r} ends while an event inside it is active", line=line or None)
            begin = begun.pop(event)
            yield full, Interval(begin, int(value) - begin)


def _below(outer: str, name: str) -> str:
    return f"{outer}/{name}" if outer not in ("", "_GLOBAL") else name
