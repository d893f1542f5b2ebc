"""Rows from the pages of a file are those that SQLite stored in it."""

from __future__ import annotations

import sqlite3
import tempfile
from contextlib import closing
from pathlib import Path

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.campaign.pages import rows_of_pages

#: Long texts and bytes don't fit into a page; no text holds characters that UTF-8 lacks.
LONG = st.integers(0, 9_000)
VALUES = st.one_of(
    st.none(),
    st.integers(-(2**63), 2**63 - 1),
    st.floats(allow_nan=False),
    st.text(st.characters(exclude_categories=["Cs"])),
    st.builds(lambda n: "ü" * n, LONG),
    st.builds(bytes, LONG),
)


@settings(max_examples=50, deadline=None)
@given(
    rows=st.lists(st.tuples(VALUES, VALUES, VALUES), max_size=20),
    page=st.sampled_from([512, 1024, 4096, 65536]),
    logged=st.booleans(),
)
def test_all_rows_are_found(rows: list[tuple[object, ...]], page: int, logged: bool) -> None:
    with tempfile.TemporaryDirectory() as folder, closing(sqlite3.connect(Path(folder, "a.db"))) as database:
        database.execute(f"PRAGMA page_size = {page}")
        if logged:
            # Rows stay in the log while the file is in use.
            database.execute("PRAGMA journal_mode = WAL")
            database.execute("PRAGMA wal_autocheckpoint = 0")
        with database:
            database.execute("CREATE TABLE t (a, b, c)")
            database.executemany("INSERT INTO t VALUES (?, ?, ?)", rows)
        found = list(rows_of_pages(Path(folder, "a.db")))
    # There may be more, since the middle of a long text may look like a page.
    for number, row in enumerate(rows, 1):
        assert (number, row) in found


def test_an_endless_chain_of_pages_ends(tmp_path: Path) -> None:
    with closing(sqlite3.connect(tmp_path / "a.db")) as database, database:
        database.execute("CREATE TABLE t (a)")
        database.execute("INSERT INTO t VALUES (?)", ["x" * 50_000])
        page = database.execute("PRAGMA page_size").fetchone()[0]
    data = bytearray((tmp_path / "a.db").read_bytes())
    # The first page of the chain is the third of the file, and now follows itself.
    assert int.from_bytes(data[2 * page : 2 * page + 4], "big") == 4
    data[2 * page : 2 * page + 4] = (3).to_bytes(4, "big")
    (tmp_path / "a.db").write_bytes(data)
    assert [len(row[0]) for _, row in rows_of_pages(tmp_path / "a.db") if len(row) == 1] == [50_000]


@pytest.mark.parametrize("data", [b"", b"SQLite format 3\0", b"\x0d" * 9, b"SQLite format 3\0" + bytes(5000)])
def test_what_has_no_rows_gives_none(data: bytes, tmp_path: Path) -> None:
    (tmp_path / "a.db").write_bytes(data)
    assert list(rows_of_pages(tmp_path / "a.db")) == []
