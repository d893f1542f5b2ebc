"""A campaign's file is opened: all its rows are read and checked, and one that is damaged is refused."""

from __future__ import annotations

import shlex
import shutil
import sqlite3
import warnings
from collections.abc import Sequence
from contextlib import ExitStack, closing
from pathlib import Path

from evenly.campaign.loading import load
from evenly.campaign.rows import Damage, Loaded, Rows, check_version, connect, create, new_rows, write_all
from evenly.errors import EvenlyWarning, ReadError

__all__ = ["good_rows", "of_full_disk", "opened", "rewrite"]

#: What SQLite says of a full disk, too, and with how little room, in bytes, it can mean that.
_IO, _LITTLE_ROOM = "disk I/O error", 1 << 20


def opened(path: Path, named: Path) -> tuple[sqlite3.Connection, Loaded]:
    """Open a file, or create it; return its rows, all of which are good. One of an older evenly stays as it is."""
    if not path.exists():
        create(path, new_rows())
    if not path.stat().st_size:
        # SQLite would take it for a new file, and delete its log.
        raise _damaged(named, [Damage("the file", "it is empty")])
    with ExitStack() as on_failure:
        try:
            database = on_failure.enter_context(closing(connect(path)))
            loaded = good_rows(database, named)
            if loaded.is_current:
                _log_writes(database)
            # A stored run survives a power failure: each commit waits until the data are on the disk.
            database.execute("PRAGMA synchronous = FULL")
            # And each is moved from the log into the file at once: SQLite ignores a damaged log without a word.
            database.execute("PRAGMA wal_autocheckpoint = 1")
        except sqlite3.Error as error:
            raise _unread(named, error) from None
        on_failure.pop_all()
    return database, loaded


def good_rows(database: sqlite3.Connection, named: Path) -> Loaded:
    """Return the rows of a file that is whole; raise `ReadError` for another one."""
    try:
        loaded = load(database)
    except sqlite3.Error as error:
        raise _unread(named, error) from None
    check_version(named, loaded)
    if loaded.damages:
        raise _damaged(named, loaded.damages, rows=loaded.rows)
    return loaded


def of_full_disk(error: sqlite3.Error, folder: Path) -> bool:
    """Tell whether a file couldn't be read or written since the disk is full: SQLite needs room for a log beside it."""
    try:
        return "full" in str(error) or (_IO in str(error) and shutil.disk_usage(folder).free < _LITTLE_ROOM)
    except OSError:
        return False


def _unread(path: Path, error: sqlite3.Error) -> ReadError:
    if of_full_disk(error, path.parent):
        return ReadError(path, "the disk is full, and there is no room for its log: free some space and start again")
    return _damaged(path, [Damage("the file", str(error))])


def _damaged(path: Path, damages: Sequence[Damage], *, rows: Rows | None = None) -> ReadError:
    what = "it is damaged" if rows and any(rows.values()) else "not a file of a campaign, or damaged"
    more = f", and {len(damages) - 1} more" if len(damages) > 1 else ""
    return ReadError(
        path,
        f"{what} ({damages[0]}{more}): `evenly runs check {shlex.quote(str(path))}` shows what is damaged, and with "
        "--salvage NEW it copies the good runs to a new file",
    )


def _log_writes(database: sqlite3.Connection) -> None:
    database.execute("PRAGMA journal_mode = WAL")  # the file keeps that


def rewrite(database: sqlite3.Connection, loaded: Loaded, named: Path) -> None:
    """Write a file of an older evenly as they are written now; older versions can't read it any more."""
    rows = loaded.rows
    rows["about"] |= new_rows()["about"]
    _log_writes(database)
    write_all(database, rows)
    said = f"an older evenly wrote {named}"
    if not loaded.has_checksums:
        said += (
            f", without checksums: its {len(rows['records'])} runs are believed as they are; from now on they have "
            "checksums"
        )
    warnings.warn(EvenlyWarning(f"{said}; from now on, older versions of evenly can't open the file"), stacklevel=5)
