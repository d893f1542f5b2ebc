"""Whether the file of a campaign is whole, and its good rows in a new file if it isn't."""

from __future__ import annotations

import json
import os
import shutil
import sqlite3
from contextlib import closing, nullcontext
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from evenly.arguments import explained
from evenly.campaign.loading import contradictions, load, name_of
from evenly.campaign.lock import FileLock
from evenly.campaign.pages import rows_of_pages
from evenly.campaign.rows import (
    COLUMNS,
    LOGS,
    TALLY,
    Damage,
    Loaded,
    Rows,
    check_version,
    configurations_of,
    connect,
    create,
    is_intact,
    key_of,
    new_rows,
    padded,
)
from evenly.errors import InputError, ReadError
from evenly.processes import scratch_folder

__all__ = ["Check", "check", "load_copy"]


@dataclass(frozen=True)
class Check:
    """What is in the file of a campaign, and what is damaged.

    Attributes
    ----------
    path : Path
    runs : int
        Number of good runs.
    stored : int or None
        Number of runs that were stored; None if that can't be read.
    damages : list of Damage
        What is damaged, and how; empty if the file is whole.
    has_checksums : bool
        Whether a changed value would be noticed; False for files of older versions of evenly.
    """

    path: Path
    runs: int
    stored: int | None
    damages: list[Damage]
    has_checksums: bool


@explained
def check(path: Path | str, *, salvage: Path | str | None = None) -> Check:
    """Check the file of a campaign, which is not altered, and copy its good runs to a new file if wanted.

    Parameters
    ----------
    path : path
        The file.
    salvage : path, optional
        A new file for the good runs and what else is good. A campaign can continue with it.

    Raises
    ------
    ReadError
        If nothing in the file is of a campaign.
    InputError
        If a campaign is using the file, or the new file is there already or can't be written.

    Examples
    --------
    >>> import tempfile
    >>> from evenly.campaign.record import Record
    >>> from evenly.campaign.store import Store
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with Store(Path(folder, "runs.db")) as store:
    ...         store.add(Record(store.add_configurations([{"n": 8}])[0], 0, "ok", {"seconds": 2.5}))
    ...     found = check(Path(folder, "runs.db"))
    >>> found.runs, found.damages
    (1, [])
    """
    path, new = Path(path), None if salvage is None else Path(salvage)
    if path.is_dir():
        stores = sorted(str(one) for one in path.glob("*.db"))
        raise ReadError(
            path, f"it is a folder: name a store of runs{', as ' + ' or '.join(stores[:3]) if stores else ''}"
        )
    if not path.is_file():
        raise ReadError(path, "there is no such file")
    if new is not None and new.exists():
        raise InputError(f"{new} is there already: give the name of a new file")
    # Where nothing can be written, no lock can be taken, and nothing changes while it is read.
    with FileLock(path) if os.access(path.resolve().parent, os.W_OK) else nullcontext():
        loaded = load_copy(path.resolve())
        check_version(path, loaded)
        rows, damages = loaded.rows, list(loaded.damages)
        if damages and loaded.has_checksums:
            rows = _rows_in_pages(path.resolve(), damages)
    if not any(rows.values()):
        raise ReadError(path, f"nothing of a campaign can be found in it ({damages[0] if damages else 'no rows'})")
    tally = rows["about"].pop(TALLY, None)
    for table, key, _ in list(contradictions(rows, configurations_of(rows))):
        rows[table].pop(key, None)
    if new is not None:
        rows["about"] |= new_rows()["about"]
        with FileLock(new):
            create(new, rows)
    stored = len(rows["records"]) if not damages else None if tally is None else json.loads(tally[1])["records"]
    return Check(path, len(rows["records"]), stored, damages, loaded.has_checksums)


def load_copy(path: Path) -> Loaded:
    """Load a copy of a file, since SQLite alters what it opens: it moves logged changes into the file."""
    with scratch_folder() as folder:
        copy = Path(folder, "copy.db")
        for end in ("", *LOGS):
            part = path.with_name(path.name + end)
            if part.exists():
                shutil.copyfile(part, copy.with_name(copy.name + end))
        try:
            with closing(connect(copy)) as database:
                return load(database)
        except sqlite3.Error as error:
            return Loaded({}, [Damage("the file", str(error))], has_checksums=True)


def _rows_in_pages(path: Path, damages: list[Damage]) -> Rows:
    """Return the good rows in a file's pages; add to `damages` those of which there are different versions."""
    rows: Rows = {table: {} for table in COLUMNS}
    several = set[tuple[str, Any]]()
    for _, row in sorted(rows_of_pages(path), key=lambda found: found[0]):
        for table, columns in COLUMNS.items():
            values = padded(table, row[:-1])
            if len(values) != len(columns) or not is_intact(table, row):
                continue
            if rows[table].setdefault(key_of(table, values), values) != values:
                several.add((table, key_of(table, values)))
    for table, key in several:
        damages.append(Damage(name_of(table, rows[table][key], rows), "it is there with different values"))
        del rows[table][key]
    return rows
