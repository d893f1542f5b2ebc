"""Damaged files of campaigns: each opens with all that was stored, or is refused; and what is salvaged was stored.

Half of the files are those of a campaign that was killed, with SQLite's log beside them.
"""

# ruff: noqa: S608 - names of tables and columns can't be parameters of a statement

from __future__ import annotations

import random
import shutil
import sqlite3
from collections.abc import Callable, Mapping
from contextlib import closing
from pathlib import Path
from typing import Any

import pytest

from evenly.campaign.checking import Check, check
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from evenly.errors import ReadError
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally

pytestmark = pytest.mark.chaos

PAGE = 4096
TABLES = ("about", "configurations", "records", "running")


def fill(store: Store) -> None:
    """Store 60 runs of 20 configurations, among them failed ones with long outputs, and all kinds of notes."""
    numbers = store.add_configurations([{"n": n, "solver": f"größe {n % 3}", "x": 0.1 * n} for n in range(20)])
    store.note("measured_as", {"command": ["./solve", "{n}"], "parameters": ["n", "solver", "x"]})
    for at in range(60):
        number, repetition = numbers[at % 20], at // 20
        store.begin(f"mark {at}", "local", number)
        if at % 7 == 3:
            output = "".join(f"line {line} of the output of run {at}\n" for line in range(10 * at))
            store.add(Record(number, repetition, "failed", {}, exit_code=3, message="no\x00t well", output=output))
        else:
            seconds = {"seconds": 1 / (at + 1), "cpu_seconds": at / 3}
            store.add(
                Record(number, repetition, "ok", seconds, "anchor" if at % 20 == 5 else "plan", 0, took=at + 0.5),
                f"mark {at}",
            )
    store.note("anchor", numbers[5])
    store.begin("killed", "local", numbers[2])
    store.count_interrupted(["killed"])
    store.begin("running", "mpi", numbers[3])


@pytest.fixture(scope="module")
def originals(tmp_path_factory: pytest.TempPathFactory) -> list[Path]:
    """A file that was closed, and one that was copied while it was in use."""
    folder = tmp_path_factory.mktemp("stores")
    closed, killed = folder / "closed.db", folder / "killed.db"
    with Store(closed) as store:
        fill(store)
        for end in ("", "-wal"):
            shutil.copyfile(f"{closed}{end}", f"{killed}{end}")
    return [closed, killed]


def values_of(path: Path) -> dict[str, Any]:
    with Store(path) as store:
        notes = {key: store.about(key) for key in ("measured_as", "anchor", "interrupted")}
        return {
            **notes,
            "configurations": store.configurations(),
            "records": {(r.configuration, r.repetition): r for r in store.records()},
            "running": store.left_running(),
        }


# ---- damages of a file's bytes ----------------------------------------------------------------------------------


def truncate(chosen: random.Random, data: bytearray) -> None:
    del data[chosen.choice([0, chosen.randrange(600), chosen.randrange(len(data))]) :]


def flip_bits(chosen: random.Random, data: bytearray) -> None:
    for _ in range(chosen.choice([1, 1, 8, 64])):
        data[chosen.randrange(len(data))] ^= 1 << chosen.randrange(8)


def flip_in_header(chosen: random.Random, data: bytearray) -> None:
    data[chosen.randrange(100)] ^= 1 << chosen.randrange(8)


def zero_page(chosen: random.Random, data: bytearray) -> None:
    at = PAGE * chosen.randrange(-(-len(data) // PAGE))
    data[at : at + PAGE] = bytes(len(data[at : at + PAGE]))


def copy_page(chosen: random.Random, data: bytearray) -> None:
    """Overwrite a page with another one."""
    here, there = (PAGE * chosen.randrange(max(1, len(data) // PAGE)) for _ in range(2))
    data[here : here + PAGE] = data[there : there + PAGE]


def overwrite(chosen: random.Random, data: bytearray) -> None:
    at, length = chosen.randrange(len(data)), chosen.choice([1, 4, 64, 5000])
    data[at : at + length] = chosen.randbytes(len(data[at : at + length]))


def nulls(chosen: random.Random, data: bytearray) -> None:
    at = chosen.randrange(len(data))
    data[at : at + 64] = bytes(len(data[at : at + 64]))


def lengthen(chosen: random.Random, data: bytearray) -> None:
    data += chosen.randbytes(chosen.choice([1, PAGE, 3 * PAGE]))


# ---- damages made by hand, in SQL -------------------------------------------------------------------------------


def columns(database: sqlite3.Connection, table: str) -> list[str]:
    return [row[1] for row in database.execute(f"PRAGMA table_info({table})")]


def some_row(chosen: random.Random, database: sqlite3.Connection, table: str) -> int:
    rows = [row for (row,) in database.execute(f"SELECT rowid FROM {table}")]
    return int(chosen.choice(rows))


def delete_rows(chosen: random.Random, database: sqlite3.Connection) -> None:
    table = chosen.choice(TABLES)
    where = chosen.choice(["", f"WHERE rowid = {some_row(chosen, database, table)}"])
    database.execute(f"DELETE FROM {table} {where}")


def double_row(chosen: random.Random, database: sqlite3.Connection) -> None:
    table = chosen.choice(TABLES)
    database.execute(f"INSERT INTO {table} SELECT * FROM {table} WHERE rowid = {some_row(chosen, database, table)}")


def replace_row(chosen: random.Random, database: sqlite3.Connection) -> None:
    """Put a copy of another row in a row's place, so that the number of rows is right."""
    here, there = (some_row(chosen, database, "records") for _ in range(2))
    database.execute(f"DELETE FROM records WHERE rowid = {here} AND {here} != {there}")
    database.execute(f"INSERT INTO records SELECT * FROM records WHERE rowid = {there} AND {here} != {there}")


def swap(chosen: random.Random, database: sqlite3.Connection) -> None:
    """Swap values of two rows: of one column, or of several."""
    table = chosen.choice(["configurations", "records"])
    rows = [some_row(chosen, database, table) for _ in range(2)]
    names = columns(database, table)
    swapped = chosen.sample(names, chosen.randrange(1, len(names)))
    read = [
        database.execute(f"SELECT {', '.join(swapped)} FROM {table} WHERE rowid = {row}").fetchone() for row in rows
    ]
    for row, values in zip(rows, reversed(read), strict=True):
        database.execute(f"UPDATE {table} SET {', '.join(f'{n} = ?' for n in swapped)} WHERE rowid = {row}", values)


STRANGE: list[Any] = [
    None, 0, -1, 2**63 - 1, 1.5, float("inf"), "", "0", "nonsense", "{", "[]", "null", '{"seconds": 0.25}',
    '{"seconds": "fast"}', '{"n": 1}', "\x00", b"\xff\xfe", b"", "ok", "9" * 9000,
]  # fmt: skip


def strange_value(chosen: random.Random, database: sqlite3.Connection) -> None:
    """Put bad JSON, a value of another type, or another value into a cell."""
    table = chosen.choice(TABLES)
    name, row = chosen.choice(columns(database, table)), some_row(chosen, database, table)
    database.execute(f"UPDATE {table} SET {name} = ? WHERE rowid = {row}", [chosen.choice(STRANGE)])


def other_number(chosen: random.Random, database: sqlite3.Connection) -> None:
    """Change a digit of a measured time: the cell still looks as if evenly had stored it."""
    row = some_row(chosen, database, "records")
    database.execute(f"UPDATE records SET quantities = replace(quantities, '3', '4') WHERE rowid = {row}")


def not_text(chosen: random.Random, database: sqlite3.Connection) -> None:
    table = chosen.choice(TABLES)
    name, row = chosen.choice(columns(database, table)), some_row(chosen, database, table)
    database.execute(f"UPDATE {table} SET {name} = CAST(x'80ff00' AS TEXT) WHERE rowid = {row}")


def drop_column(chosen: random.Random, database: sqlite3.Connection) -> None:
    table = chosen.choice(TABLES)
    database.execute(f"ALTER TABLE {table} DROP COLUMN {chosen.choice(columns(database, table))}")


def rename_column(chosen: random.Random, database: sqlite3.Connection) -> None:
    table = chosen.choice(TABLES)
    database.execute(f"ALTER TABLE {table} RENAME COLUMN {chosen.choice(columns(database, table))} TO other")


def drop_table(chosen: random.Random, database: sqlite3.Connection) -> None:
    database.execute(f"DROP TABLE {chosen.choice(TABLES)}")


OF_BYTES: Mapping[str, Callable[[random.Random, bytearray], None]] = {
    one.__name__: one for one in (truncate, flip_bits, flip_in_header, zero_page, copy_page, overwrite, nulls, lengthen)
}
BY_HAND: Mapping[str, Callable[[random.Random, sqlite3.Connection], None]] = {
    one.__name__: one
    for one in (
        delete_rows, double_row, replace_row, swap, strange_value, other_number, not_text, drop_column, rename_column,
        drop_table,
    )
}  # fmt: skip


def damaged(seed: int, originals: list[Path], folder: Path) -> Path:
    """Return a damaged copy of a file, always the same for a seed."""
    chosen = random.Random(seed)
    original, path = originals[chosen.randrange(2)], folder / "runs.db"
    logs = [end for end in ("", "-wal") if Path(f"{original}{end}").exists()]
    for end in logs:
        shutil.copyfile(f"{original}{end}", f"{path}{end}")
    name = [*OF_BYTES, *BY_HAND][seed % (len(OF_BYTES) + len(BY_HAND))]
    if name in BY_HAND:
        with closing(sqlite3.connect(path)) as database, database:
            BY_HAND[name](chosen, database)
    else:
        struck = Path(f"{path}{chosen.choice(logs)}")
        data = bytearray(struck.read_bytes())
        OF_BYTES[name](chosen, data)
        struck.write_bytes(data)
    return path


def checked(path: Path, new: Path) -> Check | None:
    """Check and salvage a file; return None where nothing of a campaign is left."""
    try:
        return check(path, salvage=new)
    except ReadError as error:
        if "nothing of a campaign can be found in it" not in str(error):
            raise
        return None


def contents(folder: Path) -> dict[str, bytes]:
    return {file.name: file.read_bytes() for file in folder.iterdir() if file.name != "new.db"}


@pytest.mark.parametrize("seed", range(amount(60, of=400)))
def test_no_damaged_file_is_believed(seed: int, originals: list[Path], tmp_path: Path, tally: MakeTally) -> None:
    tally("damaged stores of runs").try_one()
    expected = values_of(originals[0])
    path, new = damaged(seed, originals, tmp_path), tmp_path / "new.db"
    before = contents(tmp_path)
    found = checked(path, new)
    assert contents(tmp_path) == before
    if found is not None:
        salvaged = values_of(new)
        for part in ("configurations", "records"):
            assert salvaged[part].items() <= expected[part].items()
        assert set(salvaged["running"]) <= set(expected["running"])
        assert all(salvaged[key] in (None, expected[key]) for key in ("measured_as", "anchor", "interrupted"))
        assert found.runs == len(salvaged["records"])
    if found is not None and not found.damages:
        assert values_of(path) == salvaged == expected
    else:
        with pytest.raises(ReadError, match=f"evenly runs check {path}"):
            Store(path)


def test_the_originals_are_whole(originals: list[Path], tmp_path: Path) -> None:
    for number, path in enumerate(originals):
        copy = tmp_path / f"{number}.db"
        for end in ("", "-wal"):
            if Path(f"{path}{end}").exists():
                shutil.copyfile(f"{path}{end}", f"{copy}{end}")
        found = check(copy)
        assert (found.runs, found.damages) == (60, [])
        assert values_of(copy) == values_of(originals[0])
