"""The file of a campaign: an SQLite database.

Each run is stored in one transaction, so no run is stored in part. Only one process writes at a time: it holds the
file's lock (`evenly.campaign.lock`).
"""

from __future__ import annotations

import json
import secrets
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from contextlib import closing, contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import Any, Self

import pandas as pd

from evenly.campaign.lock import FileLock
from evenly.errors import EvenlyError, ReadError
from evenly.runs.columns import Status

__all__ = ["Record", "Store", "StoreFullError"]

FORMAT_VERSION = 1
_TABLES = """
CREATE TABLE about (key TEXT PRIMARY KEY, value TEXT NOT NULL);
CREATE TABLE configurations (id INTEGER PRIMARY KEY, parameters TEXT NOT NULL UNIQUE);
CREATE TABLE records (
    configuration INTEGER NOT NULL REFERENCES configurations, repetition INTEGER NOT NULL, status TEXT NOT NULL,
    quantities TEXT NOT NULL, purpose TEXT NOT NULL, exit_code INTEGER, message TEXT NOT NULL, output TEXT NOT NULL,
    started REAL NOT NULL, took REAL NOT NULL, other_load REAL, machine TEXT NOT NULL,
    PRIMARY KEY (configuration, repetition)
);
CREATE TABLE running (mark TEXT PRIMARY KEY, launcher TEXT NOT NULL, configuration INTEGER NOT NULL);
"""


class StoreFullError(EvenlyError):
    """The disk is full; all earlier runs are stored."""


@dataclass(frozen=True)
class Record:
    """One run of a configuration.

    Parameters
    ----------
    configuration : int
        Its number in the store, from 1.
    repetition : int
        From 0.
    status : {"ok", "failed", "timed out"}
    quantities : mapping of str to float
        Measured quantities in base units; empty if nothing was measured.
    purpose : {"plan", "anchor"}
        Reason for the run: a planned repetition, or a repetition of the anchor.
    exit_code : int or None
    message, output : str
        The reason why the run failed, and the end of its output; both empty for a successful run.
    started : float
        Start time, in seconds since the epoch.
    took : float
        Wall seconds from start to end.
    other_load : float or None
        Mean number of cores that other processes kept busy during the run; None where the system doesn't report it.
    machine : str
    """

    configuration: int
    repetition: int
    status: Status
    quantities: Mapping[str, float]
    purpose: str = "plan"
    exit_code: int | None = None
    message: str = ""
    output: str = ""
    started: float = 0.0
    took: float = 0.0
    other_load: float | None = None
    machine: str = ""


class Store:
    """The file of a campaign.

    Parameters
    ----------
    path : Path

    Raises
    ------
    InputError
        If another campaign is using the file, or it can't be written.
    ReadError
        If it isn't the file of a campaign.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, Store(Path(folder, "runs.db")) as store:
    ...     number = store.add_configurations([{"n": 8}])[0]
    ...     store.add(Record(number, 0, "ok", {"seconds": 2.5}))
    ...     [record.quantities for record in store.records()]
    [{'seconds': 2.5}]
    """

    def __init__(self, path: Path) -> None:
        self.path = path
        self._lock = FileLock(path)
        try:
            self._database = _opened(self._lock.path)
            self._identity = _identity(self._lock.path)
        except BaseException:
            self._lock.release()
            raise

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.close()

    def close(self) -> None:
        """Close the file, so that another process can open it."""
        self._database.close()
        self._lock.release()

    @contextmanager
    def _transaction(self) -> Iterator[sqlite3.Connection]:
        self._check_there()
        try:
            with self._database:
                yield self._database
        except sqlite3.OperationalError as error:
            if "full" not in str(error):
                raise ReadError(self.path, f"it can't be written: {error}") from None
            raise self.full() from None

    def _check_there(self) -> None:
        """Raise `ReadError` if the file was deleted or replaced since it was opened; keep a copy of its runs."""
        if _identity(self._lock.path) == self._identity and self._lock.is_held():
            return
        copy = self._lock.path.with_name(f"{self._lock.path.stem}.rescued-{secrets.token_hex(3)}.db")
        try:
            with closing(sqlite3.connect(copy)) as target:
                self._database.backup(target)
        except sqlite3.Error as error:
            raise ReadError(self.path, f"it was deleted or replaced while it was in use: {error}") from None
        raise ReadError(
            self.path,
            f"it, or its lock, was deleted or replaced while it was in use: its {self.count()} runs are kept in {copy}",
        )

    def full(self) -> StoreFullError:
        """Return the error for a full disk."""
        return StoreFullError(
            f"the disk is full: {self.count()} runs are kept in {self.path}; free some space and start again, "
            "it continues from there"
        )

    def about(self, key: str) -> Any:
        """Return the value stored under a key; None if there is none."""
        return _about(self._database, key)

    def note(self, key: str, value: Any) -> None:
        """Store a value (valid in JSON) about the campaign under a key."""
        with self._transaction() as database:
            database.execute("INSERT OR REPLACE INTO about VALUES (?, ?)", (key, json.dumps(value)))

    def add_configurations(self, configurations: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store configurations and return their numbers; a configuration that is stored already keeps its number."""
        texts = [json.dumps(dict(one), sort_keys=True) for one in configurations]
        with self._transaction() as database:
            database.executemany("INSERT OR IGNORE INTO configurations (parameters) VALUES (?)", [(t,) for t in texts])
        known = {text: number for number, text in self._database.execute("SELECT id, parameters FROM configurations")}
        return [known[text] for text in texts]

    def configurations(self) -> dict[int, dict[str, Any]]:
        """Return all configurations by their number, in the order in which they were stored."""
        rows = self._database.execute("SELECT id, parameters FROM configurations ORDER BY id")
        return {number: json.loads(text) for number, text in rows}

    def configuration(self, number: int) -> dict[str, Any]:
        """Return one configuration by its number."""
        row = self._database.execute("SELECT parameters FROM configurations WHERE id = ?", (number,)).fetchone()
        found: dict[str, Any] = json.loads(row[0])
        return found

    def begin(self, mark: str, launcher: str, configuration: int) -> None:
        """Mark a run as running, so that a later process can find its processes if this one is killed."""
        with self._transaction() as database:
            database.execute("INSERT INTO running VALUES (?, ?, ?)", (mark, launcher, configuration))

    def left_running(self) -> list[tuple[str, str]]:
        """Return the mark and the launcher of each run that was still running when an earlier process ended."""
        return list(self._database.execute("SELECT mark, launcher FROM running"))

    def count_interrupted(self) -> None:
        """Count the running runs as interrupted, and delete their marks: the process that made them was killed."""
        counts = self.interrupted()
        with self._transaction() as database:
            for (number,) in database.execute("SELECT configuration FROM running"):
                counts[number] = counts.get(number, 0) + 1
            database.execute("INSERT OR REPLACE INTO about VALUES ('interrupted', ?)", (json.dumps(counts),))
            database.execute("DELETE FROM running")

    def interrupted(self) -> dict[int, int]:
        """Return how often a process was killed during a run of each configuration, by configuration number."""
        return {int(number): count for number, count in (self.about("interrupted") or {}).items()}

    def forget_running(self) -> None:
        """Delete the marks of running runs."""
        with self._transaction() as database:
            database.execute("DELETE FROM running")

    def add(self, record: Record) -> None:
        """Store a run and delete its mark, in one transaction."""
        # The columns of the table are the fields of a record, in the same order.
        values = list((vars(record) | {"quantities": json.dumps(dict(record.quantities))}).values())
        with self._transaction() as database:
            database.execute(f"INSERT INTO records VALUES ({', '.join('?' * len(values))})", values)  # noqa: S608
            database.execute("DELETE FROM running")

    def drop_failed(self) -> int:
        """Delete runs that failed or timed out, so that they are made again; return their number."""
        with self._transaction() as database:
            database.execute("DELETE FROM about WHERE key = 'interrupted'")
            return database.execute("DELETE FROM records WHERE status != 'ok'").rowcount

    def clear(self) -> None:
        """Delete all configurations and runs."""
        with self._transaction() as database:
            database.execute("DELETE FROM records")
            database.execute("DELETE FROM configurations")
            database.execute("DELETE FROM about WHERE key IN ('anchor', 'interrupted')")

    def count(self) -> int:
        """Return the number of runs."""
        return int(self._database.execute("SELECT count(*) FROM records").fetchone()[0])

    def records(self) -> list[Record]:
        """Return all runs, in the order they were run."""
        rows = self._database.execute("SELECT * FROM records ORDER BY rowid")
        return [Record(number, again, status, json.loads(found), *rest) for number, again, status, found, *rest in rows]

    def table(self, source: str) -> pd.DataFrame:
        """Return a table with one row per run: its parameters, quantities, status, machine, time and source."""
        known = self.configurations()
        return pd.DataFrame(
            {
                **known[r.configuration], **r.quantities, "run": str(r.configuration), "repetition": r.repetition,
                "status": r.status, "machine": r.machine, "when": _when(r.started), "source": source,
            }
            for r in self.records()
        )  # fmt: skip


def _when(started: float) -> str:
    return pd.Timestamp(started, unit="s", tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others of the same name; None if it isn't there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _opened(path: Path) -> sqlite3.Connection:
    database = sqlite3.connect(path)
    try:
        database.execute("PRAGMA journal_mode = WAL")
        # A stored run survives a power failure: each commit waits until the data are on the disk.
        database.execute("PRAGMA synchronous = FULL")
        tables = {name for (name,) in database.execute("SELECT name FROM sqlite_master WHERE type = 'table'")}
        if not tables:
            with database:
                # One transaction for all tables: otherwise Python commits each table separately, and a killed process
                # could leave a file that lacks some tables.
                database.execute("BEGIN IMMEDIATE")
                for statement in _TABLES.split(";"):
                    database.execute(statement)
                database.execute("INSERT INTO about VALUES ('version', ?)", (json.dumps(FORMAT_VERSION),))
        version = None if tables and "about" not in tables else _about(database, "version")
    except sqlite3.DatabaseError as error:
        database.close()
        raise ReadError(path, f"not a file of a campaign, or damaged: {error}") from None
    if version != FORMAT_VERSION:
        database.close()
        problem = "not a file of a campaign" if version is None else f"format version {version} is not known"
        raise ReadError(path, f"{problem}: give another file")
    return database


def _about(database: sqlite3.Connection, key: str) -> Any:
    row = database.execute("SELECT value FROM about WHERE key = ?", (key,)).fetchone()
    return None if row is None else json.loads(row[0])
