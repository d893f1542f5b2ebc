"""Sheets of Excel's files (.xlsx): the only one that holds a table, as text cells with the rows that they stand in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Sequence
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import MissingExtraError, ReadError
from evenly.memory import check_room
from evenly.readers.tables.header_rows import joined_header

__all__ = ["read_sheet"]

#: Memory that a sheet takes, over its size in the file, unpacked.
_CELLS_TO_MEMORY = 10.0
_TYPED = re.compile(r"h{1,2}:mm(;@)?", re.IGNORECASE)


def read_sheet(path: Path, sheet: str | None = None) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return the cells of a table (n_rows, n_columns) as text, and the row of each in its sheet (n_rows,).

    Rows above the header, as titles, are left out: the header is the first row with several cells, and a row above
    it that names groups of its columns.

    Parameters
    ----------
    path : Path
    sheet : str, optional
        The sheet; by default, the only one that holds a table.

    Raises
    ------
    ReadError
        If several sheets hold tables, or none; if the file is damaged.
    MissingExtraError
        If the package that reads such files isn't installed.
    """
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("reading Excel's files", extra="excel") from None
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(one.file_size for one in packed.infolist())
        check_room(f"reading {path}", _CELLS_TO_MEMORY * unpacked, "save the sheet as CSV")
        book = load_workbook(path, read_only=True, data_only=True)
        tables = {one.title: _table(one.iter_rows()) for one in book.worksheets}
        book.close()
    except ReadError:
        raise
    except Exception as error:  # openpyxl raises what its parsers raise
        raise ReadError(path, f"not a readable file of Excel: {error}") from None
    found = {name: rows for name, rows in tables.items() if len(rows) > 1}
    if sheet is not None:
        if sheet not in tables:
            raise ReadError(path, f"there is no sheet {sheet!r}: there are {', '.join(tables)}")
        found = {sheet: tables[sheet]}
    if len(found) > 1:
        raise ReadError(
            path, f"the sheets {', '.join(found)} hold tables: choose one with sheet= (-O sheet={next(iter(found))})"
        )
    rows = next(iter(found.values()), [])
    if len(rows) < 2:
        raise ReadError(path, "no sheet holds a table: a row of names, and rows below it")
    return _framed(path, rows)


def _table(rows: Iterator[Sequence[Any]]) -> list[tuple[int, list[str]]]:
    """Return the rows of a sheet from its header on, as text, without empty ones."""
    found: list[tuple[int, list[str]]] = []
    above: list[tuple[int, list[str]]] = []  # of one cell, the last before the header
    for number, row in enumerate(rows, 1):
        cells = [_text(cell.value, cell.number_format) for cell in row]
        if not any(cells):
            continue
        if not found and sum(map(bool, cells)) < 2:
            above = [(number, cells)]
            continue
        found.append((number, cells))
    if not above or not found or _first(above[0][1]) <= _first(found[0][1]):  # a title
        return found
    joined = joined_header([*above, *found])
    return joined if len(joined) <= len(found) else found


def _first(cells: Sequence[str]) -> int:
    return next(place for place, cell in enumerate(cells) if cell)


def _framed(path: Path, rows: Sequence[tuple[int, list[str]]]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    header_row, header = (rows := joined_header(rows))[0]
    used = [place for place, name in enumerate(header) if name or any(cells[place] for _, cells in rows[1:])]
    names = [header[place] for place in used]
    if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        said = f"{twice!r} occurs more than once" if twice else "several columns have none"
        raise ReadError(path, f"column names must differ, but {said}: is this row a title?", line=header_row)
    body = [[cells[place] for place in used] for _, cells in rows[1:]]
    return pd.DataFrame(body, columns=names, dtype=object), np.array([number for number, _ in rows[1:]], dtype=np.int64)


def _text(value: Any, shown_as: str = "") -> str:
    """Return a cell as a person reads it: numbers with all their digits, durations as clocks.

    A time of day that is shown as ``h:mm`` is what somebody typed as ``23:30``, which may be minutes and seconds.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else repr(value)
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}:{seconds % 60:09.6f}".rstrip("0").rstrip(".")
    if isinstance(value, time) and _TYPED.fullmatch(shown_as) and not value.second:
        return f"{value.hour}:{value.minute:02}"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return " ".join(str(value).split())
