"""Sheets of Excel's files (.xlsx): the only one that holds a table, as text cells with the rows that they stand in."""

from __future__ import annotations

import re
import zipfile
from collections.abc import Iterator, Mapping, Sequence
from copy import copy
from datetime import date, datetime, time, timedelta
from pathlib import Path
from typing import Any, NamedTuple

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import MissingExtraError, ReadError, option_text
from evenly.memory import check_room
from evenly.readers.tables.columns import unit_of_time
from evenly.readers.tables.header_rows import joined_header, refuse_side_by_side
from evenly.readers.tables.identifiers import is_prose
from evenly.readers.tables.number_texts import exact
from evenly.runs.units import SECONDS_PER

__all__ = ["Sheet", "read_sheet", "sheets_with_tables", "texts_without_tables"]

#: Memory that a sheet takes, over its size in the file, unpacked.
_CELLS_TO_MEMORY = 10.0
#: Bytes of a file, unpacked, below which it is read whole.
_MOST_WHOLE = 20e6
_TYPED = re.compile(r"h{1,2}:mm(;@)?", re.IGNORECASE)
#: A format that shows a text behind a number, without a comma that divides by 1000: ``0.0" min"``, ``0\ "s"``.
_WITH_TEXT = re.compile(r'(?:\[[^\]]*\])?[#0,]*[#0](?:\.[#0?]+)?(?P<text>(?:"[^"]*"|\\.|[ _])+)')


class Sheet(NamedTuple):
    """The table of a sheet: its cells (n_rows, n_columns) as text, the row of each, notes, and texts beside it.

    Of these, `titles` tells those that have a row of the sheet to themselves.
    """

    cells: pd.DataFrame
    rows: NDArray[np.int64]
    notes: tuple[str, ...]
    texts: Sequence[str]
    titles: Mapping[int, str]


#: The rows of a table: the number of each in its sheet, and its cells as text.
_Rows = list[tuple[int, list[str]]]
#: The row of a comment, the text of its cell, and its own.
_Comment = tuple[int, str, str]


class _Book(NamedTuple):
    """Of each sheet its rows, titles by their rows, which rows are hidden and struck out, and comments on cells."""

    tables: dict[str, _Rows]
    titles: dict[str, dict[int, str]]
    unseen: dict[str, tuple[set[int], set[int]]]
    comments: dict[str, list[_Comment]]


def sheets_with_tables(path: Path) -> list[str]:
    """Return the names of the sheets that hold tables.

    Raises
    ------
    ReadError, MissingExtraError
        As `read_sheet`.
    """
    return [name for name, rows in _opened(path).tables.items() if len(rows) > 1]


def texts_without_tables(path: Path) -> list[str]:
    """Return the cells with text of the sheets that hold no table.

    Raises
    ------
    ReadError, MissingExtraError
        As `read_sheet`.
    """
    return _texts_of(_opened(path))


def read_sheet(path: Path, sheet: str | None = None) -> Sheet:
    """Return the table of a sheet.

    Rows above the header, as titles, are left out: the header is the first row with several cells, and a row above
    it that names groups of its columns. The comments on a row's cells are one more column; others are titles, too. So
    are, where no sheet is chosen, its own name, if it has two words, and the texts of sheets without a table.

    Parameters
    ----------
    path : Path
    sheet : str, optional
        The sheet; by default, the only one that holds a table.

    Raises
    ------
    ReadError
        If several sheets hold tables, or none; if a row is struck out; if the file is damaged.
    MissingExtraError
        If the package that reads such files isn't installed.
    """
    book = _opened(path)
    found = {name: rows for name, rows in book.tables.items() if len(rows) > 1}
    if sheet is not None:
        if sheet not in book.tables:
            raise ReadError(path, f"there is no sheet {sheet!r}: there are {', '.join(book.tables)}")
        found = {sheet: book.tables[sheet]}
    if len(found) > 1:
        raise ReadError(
            path,
            f"the sheets {', '.join(found)} hold tables: choose one with sheet= "
            f"({option_text('-O', f'sheet={next(iter(found))}')}); if each is of a solver, "
            f"{option_text('-O', 'sheet=*')} reads them all",
        )
    name, rows = next(iter(found.items()), ("", []))
    if len(rows) < 2:
        raise ReadError(path, "no sheet holds a table: a row of names, and rows below it")
    frame, lines = _framed(path, rows)
    hidden, struck = ([row for row in lines.tolist() if row in these] for these in book.unseen.get(name, ((), ())))
    if struck:
        raise ReadError(path, "this row is struck out: delete it, or take the line away", line=struck[0])
    told = f"rows that the sheet hides are read as the others: {', '.join(map(str, hidden))}"
    comments = book.comments.get(name, [])
    titles = book.titles[name]
    texts = [*titles.values(), *(f"{on}: {text}" if on else text for row, on, text in comments if row not in lines)]
    if sheet is None:
        texts = [*filter(is_prose, [name]), *texts, *_texts_of(book)]
    return Sheet(_with_remarks(frame, lines, comments), lines, (told,) if hidden else (), texts, titles)


def _texts_of(book: _Book) -> list[str]:
    """Return the cells with text of the sheets that hold no table, and the comments on them."""
    without = [name for name, rows in book.tables.items() if len(rows) < 2]
    return [
        text
        for name in without
        for text in (
            *book.titles[name].values(),
            *(cell for _, row in book.tables[name] for cell in row if cell),
            *(comment for *_, comment in book.comments.get(name, [])),
        )
    ]


def _with_remarks(frame: pd.DataFrame, lines: NDArray[np.int64], comments: Sequence[_Comment]) -> pd.DataFrame:
    """Return a table with the comments on the cells of each row as one more column, if there are any."""
    told = ["; ".join(dict.fromkeys(text for row, _, text in comments if row == line)) for line in lines.tolist()]
    name = next(one for one in ("comment", "comments", "remarks on cells") if one not in frame)
    return frame.assign(**{name: pd.Series(told, index=frame.index, dtype=object)}) if any(told) else frame


def _opened(path: Path) -> _Book:
    """Return what the sheets of a file hold."""
    try:
        from openpyxl import load_workbook
    except ImportError:
        raise MissingExtraError("reading Excel's files", extra="excel") from None
    try:
        with zipfile.ZipFile(path) as packed:
            unpacked = sum(one.file_size for one in packed.infolist())
        check_room(f"reading {path}", _CELLS_TO_MEMORY * unpacked, "save the sheet as CSV")
        # Read only, a book takes little memory, but doesn't tell which rows are hidden.
        whole = unpacked <= _MOST_WHOLE
        book = load_workbook(path, read_only=not whole, data_only=True)
        titles: dict[str, dict[int, str]] = {one.title: {} for one in book.worksheets}
        for one in book.worksheets if whole else ():
            _fill_merged(one)
        tables = {one.title: _table(one.iter_rows(), titles[one.title]) for one in book.worksheets}
        unseen = {one.title: _hidden_and_struck(one) for one in book.worksheets if whole}
        comments = {one.title: _comments(one) for one in book.worksheets if whole}
        book.close()
    except ReadError:
        raise
    except Exception as error:  # openpyxl raises what its parsers raise
        raise ReadError(path, f"not a readable file of Excel: {error}") from None
    return _Book(tables, titles, unseen, comments)


def _fill_merged(sheet: Any) -> None:
    """Give each row below the header the value of a cell that is merged with those above it."""
    several = (
        number for number, row in enumerate(sheet.iter_rows(values_only=True), 1) if len(row) - row.count(None) > 1
    )
    header = next(several, sheet.max_row)
    for area in [one for one in sheet.merged_cells.ranges if one.min_row > header and one.max_row > one.min_row]:
        first = sheet.cell(area.min_row, area.min_col)
        sheet.unmerge_cells(str(area))
        for row in range(area.min_row + 1, area.max_row + 1):
            below = sheet.cell(row, area.min_col, first.value)
            below.number_format, below.font = first.number_format, copy(first.font)


def _comments(sheet: Any) -> list[_Comment]:
    """Return the comments on cells: the row of each, the text of the cell, and its own."""
    return [
        (number, _text(cell.value), _text(cell.comment.text))
        for number, row in enumerate(sheet.iter_rows(), 1)
        for cell in row
        if cell.comment is not None
    ]


def _hidden_and_struck(sheet: Any) -> tuple[set[int], set[int]]:
    """Return the rows that a sheet hides, as by a filter, and those whose every cell is struck out."""
    hidden = {number for number, row in sheet.row_dimensions.items() if row.hidden}
    struck = set()
    for number, row in enumerate(sheet.iter_rows(), 1):
        filled = [cell for cell in row if cell.value is not None]
        if filled and all(cell.font is not None and cell.font.strike for cell in filled):
            struck.add(number)
    return hidden, struck


def _table(rows: Iterator[Sequence[Any]], titles: dict[int, str]) -> _Rows:
    """Return the rows of a sheet from its header on, as text, without empty ones; add what stands above to `titles`."""
    found: _Rows = []
    above: _Rows = []  # of one cell, the last before the header
    for number, row in enumerate(rows, 1):
        cells = [_text(cell.value, cell.number_format) + _unit_shown(cell) for cell in row]
        if not any(cells):
            continue
        if not found and sum(map(bool, cells)) < 2:
            above = [(number, cells)]
            titles[number] = "".join(cells)
            continue
        found.append((number, cells))
    found = _without_remarks(found, titles)
    if not above or not found or _first(above[0][1]) <= _first(found[0][1]):  # a title
        return found
    joined = joined_header([*above, *found])
    return joined if len(joined) <= len(found) else found


def _without_remarks(rows: _Rows, titles: dict[int, str]) -> _Rows:
    """Return the rows without remarks below them, behind an empty row; add these to `titles`."""
    gap = max((at for at in range(2, len(rows)) if rows[at][0] - rows[at - 1][0] > 1), default=len(rows))
    remarks = [[cell for cell in cells if cell] for _, cells in rows[gap:]]
    if not all(len(cells) == 1 and re.search(r"[^\W\d_]", cells[0]) for cells in remarks):
        return rows
    titles.update((number, cells[0]) for (number, _), cells in zip(rows[gap:], remarks, strict=True))
    return rows[:gap]


def _first(cells: Sequence[str]) -> int:
    return next(place for place, cell in enumerate(cells) if cell)


def _framed(path: Path, rows: Sequence[tuple[int, list[str]]]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    header_row, header = (rows := joined_header(rows))[0]
    refuse_side_by_side(path, rows)
    used = [place for place, name in enumerate(header) if name or any(cells[place] for _, cells in rows[1:])]
    names = [header[place] for place in used]
    if (twice := next((name for name in names if names.count(name) > 1), None)) is not None:
        said = f"{twice!r} occurs more than once" if twice else "several columns have none"
        raise ReadError(path, f"column names must differ, but {said}: is this row a title?", line=header_row)
    body = [[cells[place] for place in used] for _, cells in rows[1:]]
    return pd.DataFrame(body, columns=names, dtype=object), np.array([number for number, _ in rows[1:]], dtype=np.int64)


def _unit_shown(cell: Any) -> str:
    """Return the unit of time that a number's format shows behind it; empty if it shows none."""
    if not isinstance(cell.value, int | float):
        return ""
    shown = _WITH_TEXT.fullmatch(str(cell.number_format).split(";")[0])
    text = "" if shown is None else re.sub(r'["\\_]', "", shown["text"]).strip()
    unit = unit_of_time(f"time [{text}]") if text else ""
    return f" {unit}" if unit in SECONDS_PER else ""


def _text(value: Any, shown_as: str = "") -> str:
    """Return a cell as a person reads it: numbers with all their digits, durations as clocks.

    A time of day that is shown as ``h:mm`` is what somebody typed as ``23:30``, which may be minutes and seconds.
    """
    if value is None:
        return ""
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, float):
        return str(int(value)) if value.is_integer() and abs(value) < 2**53 else exact(value)
    if isinstance(value, timedelta):
        seconds = value.total_seconds()
        return f"{int(seconds // 3600)}:{int(seconds % 3600 // 60):02}:{seconds % 60:09.6f}".rstrip("0").rstrip(".")
    if isinstance(value, time) and _TYPED.fullmatch(shown_as) and not value.second:
        return f"{value.hour}:{value.minute:02}"
    if isinstance(value, datetime | date | time):
        return value.isoformat()
    return " ".join(str(value).split())
