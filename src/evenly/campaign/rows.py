"""The tables of a campaign's file: each row has a checksum, and the file tells how many rows each table has.

So evenly notices when it opens a file whether anything else changed a value, or deleted or added a row. All rows are
read and checked then, so no table needs an index, and columns have no types: values are stored as they are.
"""

from __future__ import annotations

import functools
import hashlib
import json
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, MutableMapping, Sequence
from contextlib import closing
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly.campaign.old_rows import is_plausible
from evenly.campaign.pages import PAGE_SIZE
from evenly.errors import InputError, ReadError
from evenly.writing import replacing

__all__ = [
    "COLUMNS", "FORMAT_VERSION", "LOGS", "TALLY", "Changes", "Damage", "Loaded", "Rows", "check_version", "checksum",
    "connect", "contradictions", "create", "is_intact", "key_of", "load", "name_of", "new_rows", "padded", "write",
    "write_all",
]  # fmt: skip

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
_ADDED = {"records": ("{}",)}
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
    for all files of older versions.
    """

    rows: Rows
    damages: list[Damage]
    has_checksums: bool
    is_current: bool = True


def check_version(path: Path, loaded: Loaded) -> None:
    """Raise `ReadError` if a file has a format of a newer evenly, in which other rows and columns are right."""
    version = json.loads(loaded.rows.get("about", {}).get("version", ("version", "null"))[1])
    if version not in (None, *(range(2, FORMAT_VERSION + 1) if loaded.has_checksums else [1])):
        raise ReadError(path, f"format version {version} is not known: use a newer evenly, or give another file")


def key_of(table: str, values: tuple[Any, ...]) -> Any:
    """Return what tells a row from all others of its table."""
    return values[:2] if table == "records" else values[0]


def padded(table: str, values: tuple[Any, ...]) -> tuple[Any, ...]:
    """Return a row with the columns that an older evenly didn't have.

    Examples
    --------
    >>> len(padded("records", (1, 0, "ok", "{}", "plan", 0, "", "", 0.0, 1.0, None, "host"))) == len(COLUMNS["records"])
    True
    """
    added = _ADDED.get(table, ())
    return values + added if len(values) == len(COLUMNS[table]) - len(added) else values


def checksum(table: str, values: Iterable[Any]) -> str:
    """Return the checksum of a row's values.

    Examples
    --------
    >>> checksum("about", ("anchor", "3"))
    '5dbb3ea22001ebb3'
    """
    return hashlib.sha256(json.dumps([table, *values]).encode()).hexdigest()[:16]


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


def load(database: sqlite3.Connection) -> Loaded:
    """Read and check all rows.

    Raises
    ------
    sqlite3.Error
        If SQLite can't tell which tables there are.
    """
    found = {table: tuple(row[1] for row in database.execute(f"PRAGMA table_info({table})")) for table in COLUMNS}
    has_checksums = any("checksum" in names for names in found.values())
    rows: Rows = {table: {} for table in COLUMNS}
    damages = [Damage("the file", told) for told in _integrity(database)]
    counts: dict[str, int] = {}
    for table, columns in COLUMNS.items():
        end = ("checksum",) if has_checksums else ()
        expected = (*columns, *end)
        before = (*columns[: len(columns) - len(_ADDED.get(table, ()))], *end)
        if found[table] in (expected, before):
            counts[table] = _load_table(database, table, rows, damages, has_checksums=has_checksums)
        else:
            damages.append(Damage(f"the table {table}", _wrong_columns(found[table], expected)))
    if has_checksums:
        damages += _miscounted(rows, counts)
    if "version" not in rows["about"]:
        damages.append(Damage(name_of("about", ("version", ""), rows), "it is missing"))
    is_current = has_checksums and "details" in found["records"]
    return Loaded(rows, damages + [damage for *_, damage in contradictions(rows)], has_checksums, is_current)


def _wrong_columns(found: Sequence[str], expected: Sequence[str]) -> str:
    if not found:
        return "it is missing"
    lacking = [name for name in expected if name not in found]
    return f"it lacks the column {lacking[0]}" if lacking else "it has columns that evenly didn't make"


def _integrity(database: sqlite3.Connection) -> list[str]:
    try:
        found = [told for (told,) in database.execute("PRAGMA integrity_check(1)") if told != "ok"]
        return [told.removeprefix("*** in database main ***") for told in found]
    except sqlite3.Error as error:
        return [str(error)]


def _load_table(
    database: sqlite3.Connection, table: str, rows: Rows, damages: list[Damage], *, has_checksums: bool
) -> int:  # fmt: skip
    """Add a table's good rows to `rows`, and what is damaged to `damages`; return how many rows there are."""
    number = 0
    try:
        for number, row in enumerate(database.execute(f"SELECT * FROM {table} ORDER BY rowid"), 1):  # noqa: B007, S608
            values = padded(table, row[:-1] if has_checksums else row)
            if not (is_intact(table, row) if has_checksums else is_plausible(table, row)):
                damages.append(Damage(name_of(table, values, rows), "its values are not those that evenly stored"))
            elif key_of(table, values) in rows[table]:
                damages.append(Damage(name_of(table, values, rows), "it is there twice"))
            else:
                rows[table][key_of(table, values)] = values
    except sqlite3.Error as error:
        damages.append(Damage(f"the table {table}", f"only {number} of its rows can be read: {error}"))
    return number


def name_of(table: str, values: tuple[Any, ...], rows: Rows) -> str:
    """Return how users call a row of a file with these good rows."""
    first, second = (str(value)[:40] for value in values[:2])
    _, text = rows["configurations"].get(values[0], ("", "{}"))
    known = ", ".join(f"{name} = {value}" for name, value in json.loads(text).items())
    return {
        "about": f"the note {first!r}",
        "configurations": f"configuration {first}",
        "records": f"run of configuration {first}{known and f' ({known})'}, repetition {second}",
        "running": "the mark of a running run",
    }[table]


def _miscounted(rows: Rows, counts: Mapping[str, int]) -> Iterator[Damage]:
    """Yield a damage for each table that has more or fewer rows than evenly stored."""
    if TALLY not in rows["about"]:
        yield Damage("the numbers of rows", "they are missing, so nothing tells whether rows are missing, too")
        return
    for table, stored in json.loads(rows["about"][TALLY][1]).items():
        if table in counts and counts[table] != stored:
            yield Damage(f"the table {table}", f"it has {counts[table]} rows, but evenly stored {stored}")


def contradictions(rows: Rows) -> Iterator[tuple[str, Any, Damage]]:
    """Yield the table and the key of each row that lacks parameters, or needs a configuration that isn't there."""
    notes = {key: json.loads(text) for key, text in rows["about"].values()}
    names = set((notes.get("measured_as") or {}).get("parameters", ()))
    known = set()
    for number, values in rows["configurations"].items():
        if lacking := sorted(names - set(json.loads(values[1]))):
            yield "configurations", number, Damage(name_of("configurations", values, rows), f"it lacks {lacking[0]}")
        else:
            known.add(number)
    for table, at in (("records", 0), ("running", 2)):
        for key, values in rows[table].items():
            if values[at] not in known:
                yield table, key, Damage(name_of(table, values, rows), f"configuration {values[at]} is missing")
    for key, needed in (("anchor", [notes.get("anchor")]), ("interrupted", map(int, notes.get("interrupted") or ()))):
        lost = [number for number in needed if number not in known and number is not None]
        if lost:
            yield "about", key, Damage(name_of("about", (key, ""), rows), f"configuration {lost[0]} is missing")
