"""The tables of a campaign's file: each row has a checksum, and the file tells how many rows each table has.

So evenly notices when it opens a file whether anything else changed a value, or deleted or added a row. All rows are
read and checked then, so no table needs an index, and columns have no types: values are stored as they are.
"""

from __future__ import annotations

import functools
import hashlib
import itertools
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any, TypeVar

from evenly.campaign.pages import PAGE_SIZE
from evenly.errors import InputError, ReadError
from evenly.writing import replacing

__all__ = [
    "ADDED", "COLUMNS", "FORMAT_VERSION", "LOGS", "TALLY", "Changes", "Damage", "Loaded", "Rows", "batches",
    "check_version", "checksum", "checksums", "configurations_of", "connect", "create", "is_intact", "key_of",
    "keys_of", "new_rows", "padded", "parsed", "write", "write_all",
]  # fmt: skip

Item = TypeVar("Item")

FORMAT_VERSION = 3
#: The columns of each table, before the one with the row's checksum. Those of "records" are the fields of a `Record`.
COLUMNS = {
    "about": ("key", "value"),
    "configurations": ("id", "parameters"),
    "records": (
        "configuration", "repetition", "status", "quantities", "purpose", "exit_code", "message", "output", "started",
        "took", "other_load", "machine", "details",
    ),
    "running": ("mark", "launcher", "configuration"),
}  # fmt: skip
#: What the last columns hold where an older evenly, which didn't have them, wrote the file.
ADDED = {"records": ("{}",)}
#: Ends of the names of the files in which SQLite keeps what it hasn't moved into the file itself.
LOGS = ("-wal", "-journal")
#: The rows of each table by their keys, in the order in which they were stored.
Rows = dict[str, dict[Any, tuple[Any, ...]]]
#: Key of the row of "about" that tells how many rows each table has.
TALLY = "rows"


@dataclass(frozen=True)
class Damage:
    """One thing that is damaged in a file: what it is, and how; characters that can't be shown are question marks."""

    what: str
    how: str

    def __post_init__(self) -> None:
        for name in ("what", "how"):
            words = " ".join(getattr(self, name).split())
            object.__setattr__(self, name, "".join(c if c.isprintable() else "?" for c in words))

    def __str__(self) -> str:
        return f"{self.what}: {self.how}"


@dataclass(frozen=True)
class Loaded:
    """The good rows of a file, and what is damaged.

    Files of the oldest versions of evenly have no checksums; `has_checksums` is False then. `is_current` is False
    for all files of older versions. `configurations` are the parsed ones of the rows.
    """

    rows: Rows
    damages: list[Damage]
    has_checksums: bool
    is_current: bool = True
    configurations: dict[int, dict[str, Any]] = field(default_factory=dict)


def check_version(path: Path, loaded: Loaded) -> None:
    """Raise `ReadError` if a file has a format of a newer evenly, in which other rows and columns are right."""
    version = json.loads(loaded.rows.get("about", {}).get("version", ("version", "null"))[1])
    if version not in (None, *(range(2, FORMAT_VERSION + 1) if loaded.has_checksums else [1])):
        raise ReadError(path, f"format version {version} is not known: use a newer evenly, or give another file")


def key_of(table: str, values: tuple[Any, ...]) -> Any:
    """Return what tells a row from all others of its table."""
    return keys_of(table, [values])[0]


def keys_of(table: str, rows: Sequence[tuple[Any, ...]]) -> list[Any]:
    """Return what tells each row from all others of its table."""
    return [row[:2] for row in rows] if table == "records" else [row[0] for row in rows]


def padded(table: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row with the columns that an older evenly didn't have.

    Examples
    --------
    >>> len(padded("records", (1, 0, "ok", "{}", "plan", 0, "", "", 0.0, 1.0, None, "host"))) == len(COLUMNS["records"])
    True
    """
    added = ADDED.get(table, ())
    return values + added if len(values) == len(COLUMNS[table]) - len(added) else values


def checksum(table: str, values: Iterable[Any]) -> str:
    """Return the checksum of a row's values.

    Examples
    --------
    >>> checksum("about", ("anchor", "3"))
    '5dbb3ea22001ebb3'
    """
    return hashlib.sha256(json.dumps([table, *values]).encode()).hexdigest()[:16]


def checksums(table: str, rows: Iterable[tuple[Any, ...]]) -> list[str]:
    """Return the checksums of rows: those of `checksum`, several times as fast.

    All rows are written as one JSON text, which is cut at the name of the table: within a text of a row, a quotation
    mark has a backslash before it, and after one that ends it comes no name.

    Examples
    --------
    >>> rows = [("anchor", "3"), ('], ["about", ', '"], ["about", "')]
    >>> checksums("about", rows) == [checksum("about", row) for row in rows]
    True
    """
    beginning = f'["{table}", '
    text = json.dumps([(table, *row) for row in rows])
    # Without the list's own brackets, and those around all rows together.
    cut = text[1 + len(beginning) : -2].split(f"], {beginning}") if len(text) > 2 else []
    return [hashlib.sha256(f"{beginning}{row}]".encode()).hexdigest()[:16] for row in cut]


def parsed(texts: Iterable[str]) -> Iterator[Any]:
    """Yield what JSON texts hold, several times as fast as one by one.

    Examples
    --------
    >>> list(parsed(['{"n": 8}', "{}"]))
    [{'n': 8}, {}]
    """
    for some in batches(texts):
        yield from json.loads(f"[{','.join(some)}]")


def configurations_of(rows: Rows) -> dict[int, dict[str, Any]]:
    """Return all configurations by their number, in the order in which they were stored.

    Examples
    --------
    >>> configurations_of({"configurations": {7: (7, '{"n": 8}')}})
    {7: {'n': 8}}
    """
    stored = rows["configurations"]
    return dict(zip(stored, parsed(text for _, text in stored.values()), strict=True))


def batches(items: Iterable[Item]) -> Iterator[list[Item]]:
    """Yield many items at once, but not all, so that what is made of them takes little memory.

    Examples
    --------
    >>> [len(some) for some in batches(range(1200))]
    [500, 500, 200]
    """
    rest = iter(items)
    while some := list(itertools.islice(rest, 500)):
        yield some


def is_intact(table: str, row: Sequence[Any]) -> bool:
    """Return whether the last value of a row is the checksum of the others."""
    try:
        return bool(row[-1] == checksum(table, row[:-1]))
    except TypeError:
        # It holds bytes, which evenly never stores.
        return False


def connect(path: Path) -> sqlite3.Connection:
    """Open a file; text of which some bytes were changed is still read, so that its checksum is compared."""
    database = sqlite3.connect(path)
    database.text_factory = functools.partial(str, encoding="utf-8", errors="surrogateescape")
    # Deleted rows are overwritten with zeros, so that a salvage doesn't find them.
    database.execute("PRAGMA secure_delete = ON")
    return database


def new_rows() -> Rows:
    """Return the rows of a new file."""
    rows: Rows = {table: {} for table in COLUMNS}
    rows["about"]["version"] = ("version", json.dumps(FORMAT_VERSION))
    return rows


def create(path: Path, rows: Rows) -> None:
    """Create a file with these rows. If the process is killed meanwhile, there is no file, not one without its rows.

    Raises
    ------
    InputError
        If it can't be written, or only SQLite's log of an earlier file is there.
    """
    for log in (path.with_name(path.name + end) for end in LOGS):
        if log.exists() and log.stat().st_size:
            raise InputError(
                f"{path} is missing, but its log {log} is there and may hold runs: put the file back, or delete the log"
            )
    try:
        with replacing(path) as new, closing(connect(new)) as database:
            database.execute(f"PRAGMA page_size = {PAGE_SIZE}")
            database.execute("PRAGMA journal_mode = MEMORY")
            write_all(database, rows)
    except (OSError, sqlite3.Error) as error:
        raise InputError(f"{path} can't be written: {getattr(error, 'strerror', None) or error}") from None


class Changes(MutableMapping[Any, tuple[Any, ...]]):
    """The rows of a table with changes that aren't written yet; nothing is copied.

    Examples
    --------
    >>> known = {1: ("a",)}
    >>> changed = Changes(known)
    >>> changed[2] = ("b",)
    >>> del changed[1]
    >>> dict(changed), known, changed.gone, changed.come
    ({2: ('b',)}, {1: ('a',)}, [('a',)], [('b',)])
    """

    def __init__(self, known: dict[Any, tuple[Any, ...]]) -> None:
        self._known = known
        self._changed: dict[Any, tuple[Any, ...] | None] = {}

    def __getitem__(self, key: Any) -> tuple[Any, ...]:
        found = self._changed[key] if key in self._changed else self._known[key]
        if found is None:
            raise KeyError(key)
        return found

    def __setitem__(self, key: Any, values: tuple[Any, ...]) -> None:
        self._changed[key] = values

    def __delitem__(self, key: Any) -> None:
        if key not in self:
            raise KeyError(key)
        self._changed[key] = None

    def __iter__(self) -> Iterator[Any]:
        yield from (key for key in self._known if self._changed.get(key, ()) is not None)
        yield from (key for key, new in self._changed.items() if new is not None and key not in self._known)

    def __len__(self) -> int:
        lost = sum(new is None and key in self._known for key, new in self._changed.items())
        won = sum(new is not None and key not in self._known for key, new in self._changed.items())
        return len(self._known) - lost + won

    def clear(self) -> None:
        self._changed = dict.fromkeys(self._known)

    @property
    def gone(self) -> list[tuple[Any, ...]]:
        """The known rows that aren't there any more, or have other values."""
        return [self._known[k] for k, new in self._changed.items() if k in self._known and self._known[k] != new]

    @property
    def come(self) -> list[tuple[Any, ...]]:
        """The rows that are new, or have new values."""
        return [new for k, new in self._changed.items() if new is not None and self._known.get(k) != new]

    def keep(self) -> None:
        """Make the changes in the known rows."""
        for key, new in self._changed.items():
            if new is None:
                self._known.pop(key, None)
            else:
                self._known[key] = new


def write(database: sqlite3.Connection, rows: Mapping[str, Changes]) -> None:
    """Write in one transaction what has changed."""
    counts = {table: len(rows[table]) for table in COLUMNS}
    counts["about"] += TALLY not in rows["about"]
    rows["about"][TALLY] = (TALLY, json.dumps(counts))
    with database:
        # Otherwise, Python commits each new table separately.
        database.execute("BEGIN IMMEDIATE")
        for table, columns in COLUMNS.items():
            same = " AND ".join(f"{column} IS ?" for column in columns)
            database.executemany(f"DELETE FROM {table} WHERE {same}", rows[table].gone)  # noqa: S608
            _insert(database, table, rows[table].come)


def write_all(database: sqlite3.Connection, rows: Rows) -> None:
    """Make the tables, and write all rows in one transaction."""
    rows["about"][TALLY] = ()
    rows["about"][TALLY] = (TALLY, json.dumps({table: len(rows[table]) for table in COLUMNS}))
    with database:
        database.execute("BEGIN IMMEDIATE")
        for table, columns in COLUMNS.items():
            database.execute(f"DROP TABLE IF EXISTS {table}")
            database.execute(f"CREATE TABLE {table} ({', '.join(columns)}, checksum)")
            _insert(database, table, rows[table].values())


def _insert(database: sqlite3.Connection, table: str, rows: Iterable[tuple[Any, ...]]) -> None:
    places = ", ".join("?" * (len(COLUMNS[table]) + 1))
    told = [(*values, checksum(table, values)) for values in rows]
    database.executemany(f"INSERT INTO {table} VALUES ({places})", told)  # noqa: S608
