"""All ranks' events in one file, as preCICE's ``merge`` tool writes them: ``profiling.json`` and ``profiling.db``.

The tool shifts time stamps so that ranks and participants agree, but leaves durations alone. An event that was cut off
in a rank's file is given a duration that makes no sense; such events are left out.
"""

from __future__ import annotations

import sqlite3
from collections.abc import Iterator
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.precice.steps import Interval, json_of, reading

__all__ = ["MergedRank", "looks_merged", "read_merged"]

_SQLITE = b"SQLite format 3\x00"
#: Ten years in microseconds; the tool writes absolute time stamps as durations of events that were cut off.
_NONSENSE_US = 10 * 366 * 86_400 * 1_000_000

#: How a trace begins that preCICE's tool makes for viewers, and how far the first steps are from there, in bytes.
_TRACE = b'{"traceEvents"'
_TRACE_HEAD = 1 << 20

_QUERY = """
SELECT p.name, p.size, e.rank, n.name, e.ts, e.dur
FROM events e INNER JOIN names n ON e.eid = n.eid INNER JOIN participants p ON e.pid = p.pid
WHERE n.name IN ('_GLOBAL', 'solver.advance', 'advance') OR n.name LIKE 'advance/%'
"""


@dataclass
class MergedRank:
    """What one rank recorded: its time of start (microseconds since 1970) and its events in order of their begin."""

    solver: str
    rank: int
    size: int
    start_us: int
    events: list[tuple[str, Interval]] = field(default_factory=list)

    @property
    def end_us(self) -> int:
        """When its last event ended, microseconds since 1970."""
        return max(interval.begin + interval.duration for _, interval in self.events)


def looks_merged(path: Path) -> bool:
    """Tell from the first bytes whether `path` is a merged profiling file, or a trace of one; never raises."""
    if path.suffix not in (".db", ".json") or not path.is_file():
        return False
    try:
        with path.open("rb") as stream:
            head = stream.read(4096)
            if path.suffix == ".json" and head.lstrip().startswith(_TRACE):
                return b'"solver.advance"' in head + stream.read(_TRACE_HEAD)
        if path.suffix == ".json":
            return head.lstrip()[:1] == b"{" and b'"eventDict"' in head
        return head.startswith(_SQLITE) and _has_tables(path)
    except (OSError, sqlite3.Error, UnicodeDecodeError):
        return False


def read_merged(path: Path) -> list[MergedRank]:
    """Read the ranks of all participants.

    Raises
    ------
    ReadError
        If the file is damaged or something else.
    """
    with reading(path):
        rows = _rows_of_database(path) if path.suffix == ".db" else _rows_of_json(path)
        ranks: dict[tuple[str, int], MergedRank] = {}
        for solver, size, rank, name, begin, duration in rows:
            if not 0 <= rank < size:
                raise ReadError(path, f"ranks of {solver} must be from 0 to {size - 1}, but got {rank}")
            if not 0 <= duration < _NONSENSE_US:
                continue
            entry = ranks.setdefault((solver, rank), MergedRank(solver, rank, size, begin))
            entry.start_us = min(entry.start_us, begin)
            entry.events.append((name, Interval(begin, duration)))
        for entry in ranks.values():
            entry.events.sort(key=lambda event: event[1].begin)
        return list(ranks.values())


_Row = tuple[str, int, int, str, int, int]


def _connect(path: Path) -> sqlite3.Connection:
    return sqlite3.connect(f"{path.resolve().as_uri()}?mode=ro", uri=True)


def _has_tables(path: Path) -> bool:
    with closing(_connect(path)) as connection:
        tables = {row[0] for row in connection.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
    return {"names", "participants", "events"} <= tables


def _rows_of_database(path: Path) -> Iterator[_Row]:
    if path.stat().st_size == 0:
        raise ReadError(path, "the file is empty")
    try:
        with closing(_connect(path)) as connection:
            for solver, size, rank, name, begin, duration in connection.execute(_QUERY):
                yield str(solver), int(size), int(rank), str(name), int(begin), int(duration)
    except sqlite3.Error as error:
        raise ReadError(path, f"not a readable profiling database ({error})") from None


def _rows_of_json(path: Path) -> Iterator[_Row]:
    content = json_of(path, ": merge the rank files again")
    if "traceEvents" in content:
        raise ReadError(path, "this is a trace for viewers: give preCICE's rank files, profiling.json or profiling.db")
    names = {int(number): str(name) for number, name in content["eventDict"].items()}
    for solver, ranks in content["events"].items():
        for rank in ranks.values():
            size, number = int(rank["meta"]["size"]), int(rank["meta"]["rank"])
            for event in rank["events"]:
                yield str(solver), size, number, names[int(event["eid"])], int(event["ts"]), int(event["dur"])
