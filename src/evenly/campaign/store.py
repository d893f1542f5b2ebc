"""The file of a campaign: an SQLite database.

Each run is stored in one transaction, so no run is stored in part. Only one process uses the file at a time: it holds
the file's lock (`evenly.campaign.lock`). So all rows are read and checked once, when the file is opened.
"""

from __future__ import annotations

import itertools
import json
import math
import secrets
import sqlite3
from collections.abc import Iterable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any, Self

import pandas as pd

from evenly.campaign.lock import FileLock
from evenly.campaign.opening import good_rows, of_full_disk, opened, rewrite
from evenly.campaign.record import Record, records_of, row_of
from evenly.campaign.rows import (
    LOGS,
    Changes,
    Rows,
    configurations_of,
    create,
    write,
)
from evenly.errors import EvenlyError, InputError, ReadError
from evenly.launch import launcher_class
from evenly.space.space import Space

__all__ = ["Store", "StoreFullError", "inside", "jobs_beside", "whys"]


#: Beginning of the keys of notes that tell why a search chose a run, and the other notes that are about runs.
_WHY, _OF_RUNS = "why ", ("anchor", "interrupted", "dropped")


class StoreFullError(EvenlyError):
    """The disk is full; all earlier runs are stored."""


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
        If it isn't the file of a campaign, or is damaged.

    Examples
    --------
    >>> import tempfile
    >>> from evenly.campaign.record import Record
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
            self._database, loaded = opened(self._lock.path, path)
            #: What an older evenly wrote, until something is added.
            self._old = None if loaded.is_current else loaded
            #: The file's rows; None after a write that failed or was interrupted, which may have been made or not.
            self._rows: Rows | None = loaded.rows
            self._identity = _identity(self._lock.path)
            self._logs: dict[Path, tuple[int, int] | None] = {}
            self._rescued: Path | None = None
            self._kept = (0, 0)
            self._forget()
            #: The configurations as they were when the file was opened, until something is made of them.
            self._parsed = loaded.configurations
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

    def _known(self) -> Rows:
        if self._rows is None:
            self._rows = good_rows(self._database, self.path).rows
            self._forget()
        return self._rows

    def _forget(self) -> None:
        """Forget what was made of rows that may have gone."""
        self._numbers: dict[tuple[Any, ...], int] = {}
        self._parsed = {}
        self._read: list[Record] = []

    @contextmanager
    def _changed(self) -> Iterator[dict[str, Changes]]:
        """Give all rows to be changed, and write the changes in one transaction."""
        is_lost = _identity(self._lock.path) != self._identity or not self._lock.is_held()
        known = self._known()
        rows = {table: Changes(known[table]) for table in known}
        yield rows
        if is_lost:
            raise self._lost(rows)
        if not any(changes.gone or changes.come for changes in rows.values()):
            return
        self._rows = None
        try:
            if self._old is not None:
                rewrite(self._database, self._old, self.path)
                self._old = None
            write(self._database, rows)
        except sqlite3.Error as error:
            if not of_full_disk(error, self.path.parent):
                raise ReadError(self.path, f"it can't be written: {error}") from None
            raise self.full() from None
        for changes in rows.values():
            changes.keep()
        self._rows = known
        self._logs = {log: _identity(log) for log in self._log_files()}

    def _log_files(self) -> list[Path]:
        return [self._lock.path.with_name(self._lock.path.name + end) for end in (*LOGS, "-shm")]

    def _delete_logs(self) -> None:
        """Delete the logs of a file that isn't there any more: SQLite would add them to another of its name."""
        if _identity(self._lock.path) == self._identity:
            return
        for log, identity in self._logs.items():
            if identity is not None and _identity(log) == identity:
                log.unlink(missing_ok=True)

    def _lost(self, rows: Mapping[str, Changes]) -> ReadError:
        """Return the error for a file that was deleted or replaced since it was opened; keep its runs beside it."""
        what = "it, or its lock, was deleted or replaced while it was in use"
        if not self._lock.path.parent.is_dir():
            return ReadError(
                self.path,
                "its folder was moved or deleted while it was in use: if it was moved, the runs are there, and the "
                "same command continues from there",
            )
        if self._rescued is None:
            copy = self._lock.path.with_name(f"{self._lock.path.stem}.rescued-{secrets.token_hex(3)}.db")
            tables = {table: dict(changes) for table, changes in rows.items()}
            # Jobs of a scheduler go on; other runs end with this process.
            tables["running"] = {m: row for m, row in tables["running"].items() if launcher_class(row[1]).outlives}
            try:
                create(copy, tables)
                _move_jobs(jobs_beside(self._lock.path), jobs_beside(copy), tables["running"])
            except (EvenlyError, OSError, sqlite3.Error) as error:
                return ReadError(self.path, f"{what}, and its runs can't be kept: {error}")
            self._rescued, self._kept = copy, (len(tables["records"]), len(tables["running"]))
            self._delete_logs()
        runs, jobs = self._kept
        under_way = f", and {jobs} jobs go on" if jobs else ""
        told = f"{what}: its runs (so far: {runs}) are kept in {self._rescued}{under_way}"
        return ReadError(self.path, f"{told}; --store {self._rescued} continues from there")

    @property
    def is_rescued(self) -> bool:
        """Whether the file was deleted or replaced, so that its runs are kept in another."""
        return self._rescued is not None

    def full(self) -> StoreFullError:
        """Return the error for a full disk."""
        return StoreFullError(
            f"the disk is full: {self.count()} runs are kept in {self.path}; free some space and start again, "
            "it continues from there"
        )

    def about(self, key: str) -> Any:
        """Return the value stored under a key; None if there is none."""
        row = self._known()["about"].get(key)
        return None if row is None else json.loads(row[1])

    def note(self, key: str, value: Any) -> None:
        """Store a value (valid in JSON) about the campaign under a key."""
        with self._changed() as rows:
            rows["about"][key] = (key, json.dumps(value))

    def note_why(self, configuration: int, repetition: int, why: str) -> None:
        """Store the reason of a run that a search chose."""
        self.note(f"{_WHY}{configuration} {repetition}", why)

    def whys(self) -> dict[tuple[int, int], str]:
        """Return the reasons of runs that a search chose, by configuration and repetition."""
        return whys(self._known())

    def add_configurations(self, configurations: Sequence[Mapping[str, Any]]) -> list[int]:
        """Store configurations and return their numbers; a configuration that is stored already keeps its number.

        Numbers are compared by their value: 1 and 1.0 are the same.
        """
        known, keys = self._by_key(), [*map(_key, configurations)]
        if new := dict.fromkeys(key for key in keys if key not in known):
            numbers = range(first := max(known.values(), default=0) + 1, first + len(new))
            with self._changed() as rows:
                for number, key in zip(numbers, new, strict=True):
                    rows["configurations"][number] = (number, json.dumps(dict(key)))
            known |= zip(new, numbers, strict=True)
        return [known[key] for key in keys]

    def _by_key(self) -> dict[tuple[Any, ...], int]:
        """Return the number of each configuration by what it is known by."""
        if len(self._numbers) != len(self._known()["configurations"]):
            # Those that were parsed when the file was opened serve once: they may change.
            self._numbers = {_key(one): number for number, one in (self._parsed or self.configurations()).items()}
            self._parsed = {}
        return self._numbers

    def configurations(self) -> dict[int, dict[str, Any]]:
        """Return all configurations by their number, in the order in which they were stored."""
        return configurations_of(self._known())

    def configuration(self, number: int) -> dict[str, Any]:
        """Return one configuration by its number."""
        found: dict[str, Any] = json.loads(self._known()["configurations"][number][1])
        return found

    def begin(self, mark: str, launcher: str, configuration: int) -> None:
        """Mark a run as running, so that a later process can find its processes if this one is killed."""
        with self._changed() as rows:
            rows["running"][mark] = (mark, launcher, configuration)

    def left_running(self) -> list[tuple[str, str]]:
        """Return the mark and the launcher of each run that was still running when an earlier process ended."""
        return [(mark, launcher) for mark, launcher, _ in self._known()["running"].values()]

    def is_running(self, mark: str) -> bool:
        """Return whether a run is marked as running."""
        return mark in self._known()["running"]

    def count_interrupted(self, marks: Iterable[str]) -> None:
        """Note that the process which made these running runs was killed, and delete their marks.

        It counts once for each of their configurations, however many runs of it were under way.
        """
        counts, marks = self.interrupted(), list(marks)
        if not marks:
            return
        with self._changed() as rows:
            for number in {rows["running"].pop(mark)[-1] for mark in marks}:
                counts[number] = counts.get(number, 0) + 1
            rows["about"]["interrupted"] = ("interrupted", json.dumps(counts))

    def interrupted(self) -> dict[int, int]:
        """Return how often a process was killed during a run of each configuration, by configuration number."""
        return {int(number): count for number, count in (self.about("interrupted") or {}).items()}

    def forget_running(self, mark: str) -> None:
        """Delete the mark of a running run."""
        with self._changed() as rows:
            rows["running"].pop(mark, None)

    def add(self, record: Record, mark: str = "") -> None:
        """Store a run and delete its mark, in one transaction."""
        values = row_of(record)
        if values[:2] in self._known()["records"]:
            raise InputError(f"configuration {values[0]}, repetition {values[1]}, is stored already in {self.path}")
        # A configuration that can end well does not end its machine: what was counted against it is forgotten.
        counts = self.interrupted()
        forgiven = record.status == "ok" and counts.pop(record.configuration, None) is not None
        with self._changed() as rows:
            rows["records"][values[:2]] = values
            rows["running"].pop(mark, None)
            if forgiven:
                rows["about"]["interrupted"] = ("interrupted", json.dumps(counts))

    def put(self, records: Iterable[Record]) -> None:
        """Store runs, in place of those with the same configurations and repetitions, in one transaction."""
        with self._changed() as rows:
            for record in records:
                values = row_of(record)
                rows["records"][values[:2]] = values
        self._forget()

    def drop_failed(self) -> int:
        """Delete runs that failed or timed out, so that they are made again; return their number.

        Which runs they were is kept: a copy of this store may hold them, and as good ones.
        """
        bad = {key: values for key, values in self._known()["records"].items() if values[2] != "ok"}
        told = [*(self.about("dropped") or []), *(one.identity for one in records_of(bad.values()))]
        with self._changed() as rows:
            rows["about"].pop("interrupted", None)
            rows["about"]["dropped"] = ("dropped", json.dumps(told))
            for key in bad:
                del rows["records"][key]
        self._forget()
        return len(bad)

    def clear(self) -> None:
        """Delete all configurations and runs."""
        with self._changed() as rows:
            for table in ("records", "configurations"):
                rows[table].clear()
            for key in [key for key in rows["about"] if key in _OF_RUNS or key.startswith(_WHY)]:
                del rows["about"][key]
        self._forget()

    def count(self, status: str | None = None) -> int:
        """Return the number of runs, or of those with a status."""
        rows, at = self._known()["records"].values(), Record._fields.index("status")
        return len(rows) if status is None else sum(row[at] == status for row in rows)

    def records(self, start: int = 0) -> list[Record]:
        """Return all runs, in the order they were run; from the one with this number, which counts from 0."""
        known = self._known()["records"]
        self._read += records_of(itertools.islice(known.values(), len(self._read), None))
        return self._read[start:]

    def each(self) -> Iterator[Record]:
        """Yield all runs, in the order they were run; unlike `records`, nothing is kept in memory."""
        return records_of(self._known()["records"].values())

    def last_end(self) -> float:
        """Return when the last run that went well ended, in seconds since the epoch; infinite if that isn't known."""
        status, began, took = map(Record._fields.index, ("status", "started", "took"))
        rows = self._known()["records"].values()
        return max((row[began] + row[took] for row in rows if row[status] == "ok" and row[began]), default=math.inf)

    @property
    def measured(self) -> list[int]:
        """The number of each run's configuration."""
        return [number for number, _ in self._known()["records"]]

    def table(self, source: str) -> pd.DataFrame:
        """Return a table with one row per run: its parameters, quantities, status, machine, time and source."""
        known = self.configurations()
        return pd.DataFrame(
            {
                **known[r.configuration], **r.quantities, "run": f"{r.configuration}:{r.repetition}",
                "repetition": r.repetition, "status": r.status, "machine": r.machine, "when": _when(r.started),
                "source": source,
            }
            for r in self.records()
        )  # fmt: skip


def whys(rows: Rows) -> dict[tuple[int, int], str]:
    """Return the reasons of runs that a search chose, by configuration and repetition, as they are in a file's rows."""
    noted = [(key.split()[1:], text) for key, text in rows["about"].values() if key.startswith(_WHY)]
    return {(int(number), int(repetition)): json.loads(text) for (number, repetition), text in noted}


def inside(space: Space, configurations: Mapping[int, Mapping[str, Any]]) -> set[int]:
    """Return the numbers of the configurations that are in a space."""
    if not configurations:
        return set()
    names = space.names
    table = space.frame({name: [one[name] for one in configurations.values()] for name in names})
    return {number for number, there in zip(configurations, space.contains(table), strict=True) if there}


def jobs_beside(path: Path) -> Path:
    """Return the folder for files of jobs that go on without the process that submitted them."""
    return path.resolve().with_suffix(".jobs")


def _move_jobs(old: Path, new: Path, marks: Iterable[str]) -> None:
    """Move the files of jobs under way to another store's folder; links lead there, since jobs know the old one."""
    moved = [mark for mark in marks if (old / mark).is_dir()]
    if moved:
        new.mkdir(mode=0o700)
    for mark in moved:
        (old / mark).rename(new / mark)
        (old / mark).symlink_to(new / mark, target_is_directory=True)


def _when(started: float) -> str:
    """Return a start time; "" if it isn't known, as of a run during which evenly was killed."""
    return "" if not started else pd.Timestamp(started, unit="s", tz="UTC").strftime("%Y-%m-%dT%H:%M:%SZ")


def _identity(path: Path) -> tuple[int, int] | None:
    """Return what tells a file from others of the same name; None if it isn't there."""
    try:
        found = path.stat()
    except OSError:
        return None
    return found.st_dev, found.st_ino


def _key(configuration: Mapping[str, Any]) -> tuple[Any, ...]:
    """Return what a configuration is known by, whatever type its numbers have: 1 and 1.0 are the same."""
    return (*configuration.items(),) if len(configuration) == 1 else tuple(sorted(configuration.items()))
