"""All rows of a campaign's file are read and checked: those that are good, and what is damaged."""

from __future__ import annotations

import json
import sqlite3
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

from evenly.campaign.old_rows import is_plausible
from evenly.campaign.rows import (
    ADDED,
    COLUMNS,
    TALLY,
    Damage,
    Loaded,
    Rows,
    batches,
    checksums,
    configurations_of,
    is_intact,
    key_of,
    keys_of,
    padded,
)
from evenly.memory import many_objects

__all__ = ["contradictions", "load", "name_of"]


@many_objects()
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
        before = (*columns[: len(columns) - len(ADDED.get(table, ()))], *end)
        if found[table] in (expected, before):
            counts[table] = _load_table(database, table, rows, damages, has_checksums=has_checksums)
        else:
            damages.append(Damage(f"the table {table}", _wrong_columns(found[table], expected)))
    if has_checksums:
        damages += _miscounted(rows, counts)
    if "version" not in rows["about"]:
        damages.append(Damage(name_of("about", ("version", ""), rows), "it is missing"))
    is_current = has_checksums and "details" in found["records"]
    configurations = configurations_of(rows)
    damages += [damage for *_, damage in contradictions(rows, configurations)]
    return Loaded(rows, damages, has_checksums, is_current, configurations)


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
    whole = _whole_table(database, table) if has_checksums else None
    if whole is not None:
        rows[table] = whole
        return len(whole)
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


def _whole_table(database: sqlite3.Connection, table: str) -> dict[Any, tuple[Any, ...]] | None:
    """Return the rows of a table that is whole, many of them checked at once; None if anything is wrong with it.

    One by one, that takes several times as long.
    """
    tolerant, database.text_factory = database.text_factory, str
    whole: dict[Any, tuple[Any, ...]] = {}
    count = 0
    try:
        rows = database.execute(f"SELECT * FROM {table} ORDER BY rowid")  # noqa: S608
        for found in batches(rows):
            count += len(found)
            values = [row[:-1] for row in found]
            if checksums(table, values) != [row[-1] for row in found]:
                return None
            if len(padded(table, values[0])) > len(values[0]):
                values = [padded(table, row) for row in values]
            whole.update(zip(keys_of(table, values), values, strict=True))
    except (sqlite3.Error, TypeError, ValueError):
        return None  # SQLite can't read it, or a value is of a kind that evenly never stores
    finally:
        database.text_factory = tolerant
    return whole if len(whole) == count else None


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


def contradictions(
    rows: Rows, configurations: Mapping[int, Mapping[str, Any]]
) -> Iterator[tuple[str, Any, Damage]]:  # fmt: skip
    """Yield the table and the key of each row that lacks parameters, or needs a configuration that isn't there."""
    notes = {key: json.loads(text) for key, text in rows["about"].values()}
    names = set((notes.get("measured_as") or {}).get("parameters", ()))
    known = set()
    for number, one in configurations.items():
        if names <= one.keys():
            known.add(number)
        else:
            lacking = min(names - one.keys())
            what = name_of("configurations", rows["configurations"][number], rows)
            yield "configurations", number, Damage(what, f"it lacks {lacking}")
    for table, at in (("records", 0), ("running", 2)):
        for key, values in rows[table].items():
            if values[at] not in known:
                yield table, key, Damage(name_of(table, values, rows), f"configuration {values[at]} is missing")
    for key, needed in (("anchor", [notes.get("anchor")]), ("interrupted", map(int, notes.get("interrupted") or ()))):
        lost = [number for number in needed if number not in known and number is not None]
        if lost:
            yield "about", key, Damage(name_of("about", (key, ""), rows), f"configuration {lost[0]} is missing")
