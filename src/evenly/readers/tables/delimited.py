"""Delimited text as people and programs write it: into columns of text, with the line that each row comes from.

The delimiter is found (tab, semicolon, bar, comma, or runs of spaces); comment lines, a byte-order mark, spaces around
cells, a trailing delimiter, a decimal comma and an apostrophe before what is no formula are understood.
"""

from __future__ import annotations

import csv
import math
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import Literal

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.files import is_unended
from evenly.readers.tables.bordered import without_borders
from evenly.runs.files import FORMULA

__all__ = ["Decimal", "Delimited", "numbers", "parse"]

Decimal = Literal["auto", ".", ","]

_SEPARATOR_LINE = re.compile(r"sep=(?P<mark>[,;|\t])", re.IGNORECASE)
_DELIMITERS = ("\t", ";", "|", ",")
_COMMENTS = ("#", "%", "//")
_SAMPLE = 40
#: Of a table of runs.
_MOST_COLUMNS = 5000
_DECIMAL_COMMA = re.compile(r"[+-]?\d*,\d+([eE][+-]?\d+)?")
_MAYBE_THOUSANDS = re.compile(r"[+-]?[1-9]\d{0,2}(,\d{3})+")


@dataclass(frozen=True)
class Delimited:
    """A table of text cells.

    Parameters
    ----------
    frame : DataFrame (n_rows, n_columns)
        Cells as stripped text, all of dtype object.
    lines : array (n_rows,)
        The line of the file, counted from 1, on which each row starts.
    delimiter : str
        What separates the cells; a space stands for any run of spaces.
    cut : str
        What the last line lacks if the file seems to be cut off in it; the line is left out of the frame then.
    """

    frame: pd.DataFrame
    lines: NDArray[np.int64]
    delimiter: str
    cut: str = ""


def parse(path: Path, text_lines: Sequence[str]) -> Delimited:
    """Split lines into named columns.

    Raises
    ------
    ReadError
        If there is no header or no row, two columns share a name, or a row has too few or too many cells; the line is
        named.

    Examples
    --------
    >>> table = parse(Path("t.csv"), ["# a comment", "cores;time", "2;1,5"])
    >>> table.frame.to_dict("list"), table.lines.tolist()
    ({'cores': ['2'], 'time': ['1,5']}, [3])
    """
    text_lines = without_borders(text_lines)
    content = _content(text_lines)
    if not content:
        raise ReadError(path, "the file holds no table, only empty lines or comments")
    told = _SEPARATOR_LINE.fullmatch(content[0][1].strip())
    if told is not None:  # spreadsheets write it
        content = content[1:] or content
    delimiter = told["mark"] if told is not None else _find_delimiter([line for _, line in content[:_SAMPLE]])
    rows = [(number, [_unmarked(cell) for cell in _cells(line, delimiter)]) for number, line in content]
    header_line, header = rows[0]
    names = _check_header(path, header, header_line)
    cut = _cut(text_lines, rows[1:], len(names))
    body = [(line, _fit(path, cells, len(names), line)) for line, cells in (rows[1:-1] if cut else rows[1:])]
    if cut and not body:
        raise ReadError(path, cut, line=rows[-1][0])
    if not body:
        raise ReadError(path, "the table has a header but no rows", line=header_line)
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=object)
    return Delimited(frame, np.array([line for line, _ in body], dtype=np.int64), delimiter, cut)


def numbers(
    path: Path, name: str, cells: pd.Series[str], lines: NDArray[np.int64], *, decimal: Decimal = "auto"
) -> NDArray[np.float64]:
    """Convert one column of text to numbers; NaN where a cell isn't a number.

    Parameters
    ----------
    path, name : Path and str
        The file and the column, for messages.
    cells : Series (n_rows,)
        Stripped text.
    lines : array (n_rows,)
        Line of each row.
    decimal : {"auto", ".", ","}
        The decimal mark; ``"auto"`` takes a comma where cells can't be read otherwise.

    Returns
    -------
    array (n_rows,)

    Raises
    ------
    ReadError
        If ``1,024`` might be a thousand or about one.
    """
    plain = _floats(cells.tolist())
    odd = np.isnan(plain)
    if decimal == "." or not odd.any():
        return plain
    commas = odd & np.array([bool(_DECIMAL_COMMA.fullmatch(cell)) for cell in cells], dtype=np.bool_)
    if not commas.any():
        return plain
    if decimal == "auto" and all(_MAYBE_THOUSANDS.fullmatch(cell) for cell in cells[commas]):
        first = int(np.flatnonzero(commas)[0])
        raise ReadError(
            path,
            f"{cells.iloc[first]!r} in column {name!r} may be a thousand or a decimal comma: "
            "pass decimal=',' (-O decimal=,) or write the number without it",
            line=int(lines[first]),
        )
    return _floats([cell.replace(",", ".") for cell in cells])


def _floats(cells: list[str]) -> NDArray[np.float64]:
    """Convert text to the nearest numbers (older pandas rounds the last digit differently); NaN for other text."""
    try:
        if not any("_" in cell for cell in cells):
            return np.array(cells, dtype=np.str_).astype(np.float64)
    except ValueError:
        pass
    return np.array([_float(cell) for cell in cells], dtype=np.float64)


def _float(cell: str) -> float:
    try:
        return math.nan if "_" in cell else float(cell)
    except ValueError:
        return math.nan


def _content(text_lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that belong to the table; a commented header is one of them."""
    table: list[tuple[int, str]] = []
    comment: tuple[int, str] | None = None
    for number, line in enumerate(text_lines, start=1):
        stripped = line.strip()
        if not stripped.strip(",;|"):
            continue
        if stripped.startswith(_COMMENTS):
            comment = (number, stripped.lstrip("#%/").strip())
            continue
        if not table and comment is not None and _is_header_of(comment[1], stripped):
            table.append(comment)
        # Leading tabs and spaces may be an empty first cell.
        table.append((number, line.rstrip("\n")))
    return table


def _is_header_of(comment: str, first: str) -> bool:
    """Tell whether a comment line names the columns of the first row, as gnuplot users write it."""
    delimiter = _find_delimiter([first])
    cells = _cells(first, delimiter)
    names = _cells(comment, delimiter)
    return len(names) == len(cells) > 1 and all(map(_is_number, cells)) and not any(map(_is_number, names))


def _find_delimiter(sample: Sequence[str]) -> str:
    scores: dict[str, tuple[bool, int]] = {}
    for delimiter in _DELIMITERS:
        counts = [len(_cells(line, delimiter)) for line in sample]
        if counts[0] > 1:
            scores[delimiter] = (all(abs(c - counts[0]) <= 1 for c in counts), counts[0])
    if scores:
        return max(scores, key=lambda d: scores[d])
    return " " if len(sample[0].split()) > 1 else ","


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " ":
        return line.split()
    if '"' not in line:
        return [cell.strip() for cell in line.split(delimiter)]
    try:
        return [cell.strip() for cell in next(csv.reader([line], delimiter=delimiter, skipinitialspace=True), [])]
    except csv.Error:
        return [cell.strip() for cell in line.split(delimiter)]


def _cut(text_lines: Sequence[str], rows: Sequence[tuple[int, list[str]]], width: int) -> str:
    """Return what a last line without its end lacks; empty if nothing is missing in it for certain."""
    if not rows or rows[-1][0] != len(text_lines):
        return ""
    *others, last = (cells for _, cells in rows)
    there = len(last) - (not last[-1] and all(cells[-1] for cells in others))
    if there >= width or not is_unended(text_lines):
        return ""
    return f"the file seems to be cut off in its last line, which has {there} of {width} values"


def _unmarked(cell: str) -> str:
    """Leave out the apostrophe that keeps spreadsheets from taking a label for a formula."""
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def _check_header(path: Path, header: list[str], line: int) -> list[str]:
    named = [place for place, name in enumerate(header) if name]
    header = header[: max(1, named[-1] + 1 if named else 0)]
    if header and all(_is_number(cell) for cell in header):
        raise ReadError(path, "the first line must name the columns, but it holds only numbers", line=line)
    if len(header) > _MOST_COLUMNS:
        raise ReadError(path, f"a table may have {_MOST_COLUMNS:,} columns, but this has {len(header):,}", line=line)
    twice = sorted(name for name, times in Counter(header).items() if times > 1)
    if twice:
        raise ReadError(path, f"column names must differ, but {twice[0]!r} occurs more than once", line=line)
    return header


def _fit(path: Path, cells: list[str], width: int, line: int) -> list[str]:
    if len(cells) > width and not any(cells[width:]):
        cells = cells[:width]
    if len(cells) != width:
        raise ReadError(path, f"the header has {width} columns, but this row has {len(cells)}", line=line)
    return cells


def _is_number(cell: str) -> bool:
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True
