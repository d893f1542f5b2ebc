"""Delimited text as people and programs write it: into columns of text, with the line that each row comes from.

The delimiter is found (tab, semicolon, bar, comma, or runs of spaces); comment lines, a byte-order mark, spaces around
cells, a trailing delimiter, a decimal comma and an apostrophe before what is no formula are understood.
"""

from __future__ import annotations

import csv
import re
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.files import is_unended
from evenly.readers.tables.bordered import boxes_as_bars, is_rule, without_borders
from evenly.readers.tables.header_rows import joined_header, refuse_side_by_side, without_row_numbers
from evenly.readers.tables.number_texts import is_share
from evenly.readers.tables.own_list import own_list
from evenly.readers.tables.titles import knows_columns, titles_above, without_title
from evenly.readers.tables.unit_row import are_units, is_unit_of_time
from evenly.runs.durations import is_duration
from evenly.runs.files import FORMULA

__all__ = ["COMMENTS", "Delimited", "is_number", "is_prompt", "parse", "with_whole_cells"]

#: A quote at the start of a cell.
_QUOTE = re.compile(r'(?:^|[\t;|,])\s*"')
#: What databases write below a table.
_FOOTER = re.compile(r"\(\d+ rows?\)|\d+ rows? in set(?: \(.*\))?", re.IGNORECASE)
#: Where R waits for a command, or was told to print: ``> print(d)``.
_PROMPT = re.compile(r">(?:\s*[A-Za-z][\w.]*(?:[(\[$].*)?)?")
_SEPARATOR_LINE = re.compile(r"sep=(?P<mark>[,;|\t])", re.IGNORECASE)
_DELIMITERS = ("\t", ";", "|", ",")
#: What begins a comment.
COMMENTS = ("#", "%", "//", "!")
_SAMPLE = 40
#: A quoted cell has at most so many lines.
_MOST_LINES = 20
#: A remark has at least so many words.
_FEWEST_WORDS = 3
#: Of a table of runs.
_MOST_COLUMNS = 5000
_SPACED = re.compile(r"[+-]?[1-9]\d{0,2}(\s\d{3})+([.,]\d+)?")
#: As in Switzerland.
_APOSTROPHES = re.compile(r"[+-]?[1-9]\d{0,2}(['’]\d{3})+(\.\d+)?")
#: Both marks stand in it, so that the first one is no decimal mark.
_WITH_UNIT = re.compile(r"(?P<number>[1-9]\d{0,2}(?:,\d{3})+\.\d+) ?(?P<unit>[a-zµ]+)")
#: ``64.54 (min)``
_BRACKETED_UNIT = re.compile(r"(?P<number>\d+(?:[.,]\d+)?) ?[(\[](?P<unit>[a-zµ]+)[)\]]", re.IGNORECASE)
_LINE = re.compile(r"[\s+=-]*(?:-{3,}|={3,})[\s+=-]*")
_NUMBERED = re.compile(r"\[?(?P<number>\d+)\]?[:=](?P<name>.+)")
#: As in cells of Markdown.
_BREAK = re.compile(r"\s*<br ?/?>\s*", re.IGNORECASE)
_EMPTY = re.compile(r"[\s,;|]")
#: What stands for an empty cell at the end of a line.
_BLANK = "\0"
_WIDE_SPACE = re.compile(r"\s{2,}|\t")


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
        What separates the cells; a space stands for any run of spaces, two for a run of two or more.
    cut : str
        What the last line lacks if the file seems to be cut off in it; the line is left out of the frame then.
    repeated : int
        How many rows repeated the header, as in files that were joined; they are left out.
    header : int
        The line of the header.
    words : tuple of str
        Lines of one word below the rows, which are left out.
    """

    frame: pd.DataFrame
    lines: NDArray[np.int64]
    delimiter: str
    cut: str = ""
    repeated: int = 0
    header: int = 0
    words: tuple[str, ...] = ()


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
    if (own := _own_list(text_lines)) is not None:
        return own
    text_lines = with_whole_cells(without_borders(boxes_as_bars(text_lines)))
    content = _content(text_lines)
    if not content:
        raise ReadError(path, "the file holds no table, only empty lines or comments")
    told = _SEPARATOR_LINE.fullmatch(content[0][1].strip())
    if told is not None:  # spreadsheets write it
        content = content[1:] or content
    content = _filled(content[titles_above([line for _, line in content[:_SAMPLE]], _split) :])
    delimiter = told["mark"] if told is not None else _find_delimiter([line for _, line in content[:_SAMPLE]])
    rows = without_title(
        [(n, [_unmarked(cell).strip(_BLANK) for cell in _cells(line, delimiter)]) for n, line in content]
    )
    is_shorter = all(len(row) == len(rows[0][1]) + 1 for _, row in rows[1:])
    if delimiter == "  " and content[0][1][:1].isspace() and is_shorter:
        rows[0] = (rows[0][0], ["", *rows[0][1]])  # no name above the first column
    header_line, header = (rows := without_row_numbers(joined_header(rows)))[0]
    rows[0] = (header_line, header := _unnumbered(header))
    refuse_side_by_side(path, rows)
    above = len(rows := _without_remarks_below(everything := rows, delimiter))
    alone = tuple(" ".join(cells).strip() for _, cells in everything[above:] if sum(map(bool, cells)) == 1)
    words = tuple(text for text in alone if " " not in text)
    empty = [
        at for at, name in enumerate(header) if not name and not any(row[at : at + 1] != [""] for _, row in rows[1:])
    ]
    if len(empty) > 1 and empty[0] > 0:
        rows = [(line, [cell for at, cell in enumerate(row) if at not in empty]) for line, row in rows]
        header = rows[0][1]
    names = _check_header(path, header, header_line)
    count, rows = len(rows), _without_headers(path, rows)
    repeated = count - len(rows)
    cut = _cut(text_lines, rows[1:], len(names))
    body = [(line, _fit(path, cells, len(names), line)) for line, cells in (rows[1:-1] if cut else rows[1:])]
    if cut and not body:
        raise ReadError(path, cut, line=rows[-1][0])
    if not body:
        raise ReadError(path, "the table has a header but no rows", line=header_line)
    frame = pd.DataFrame([cells for _, cells in body], columns=names, dtype=object)
    return Delimited(
        frame, np.array([line for line, _ in body], dtype=np.int64), delimiter, cut, repeated, header_line, words
    )


def is_prompt(line: str) -> bool:
    """Tell whether a line is what a database writes below a table, or where R waits for a command.

    Examples
    --------
    >>> is_prompt("(4 rows)"), is_prompt("> print(d)"), is_prompt("4M cells")
    (True, True, False)
    """
    return _FOOTER.fullmatch(line.strip()) is not None or _PROMPT.fullmatch(line.strip()) is not None


def with_whole_cells(text_lines: Sequence[str]) -> Sequence[str]:
    """Return the lines with those of a quoted cell in one, and empty ones in their places.

    Examples
    --------
    >>> with_whole_cells(["cores,remark", '8,"two', 'racks"', "16,"])
    ['cores,remark', '8,"two racks"', '', '16,']
    """
    if not any(map(_is_open, text_lines)):
        return text_lines
    found = list(text_lines)
    number = 0
    while number < len(found):
        part = found[number : number + _MOST_LINES]
        odd = [place for place, line in enumerate(part) if line.count('"') % 2]
        if odd[:1] == [0] and len(odd) > 1 and _is_open(part[0]):
            last = number + odd[1]
            found[number] = " ".join(line.strip("\r\n") for line in found[number : last + 1])
            found[number + 1 : last + 1] = [""] * (last - number)
            number = last
        number += 1
    return found


def _own_list(text_lines: Sequence[str]) -> Delimited | None:
    """Return a list of runs that evenly itself saved, with its labels as they are: no line is a remark in it.

    None if it is none, or somebody changed it so that it isn't whole.
    """
    reader = csv.reader(line.rstrip("\r\n") + "\n" for line in text_lines[:-1])
    try:
        header = next(reader, [])
        if own_list(header) is None or len({*header}) < len(header) or is_unended(text_lines):
            return None
        begin, rows = reader.line_num + 1, []
        for row in reader:
            rows.append((begin, row))
            begin = reader.line_num + 1
    except csv.Error:
        return None
    if not rows or any(len(row) != len(header) for _, row in rows):
        return None
    cells = [[_without_apostrophe(cell) for cell in row] for _, row in rows]
    frame = pd.DataFrame(cells, columns=[*map(_without_apostrophe, header)], dtype=object)
    return Delimited(frame, np.array([line for line, _ in rows], dtype=np.int64), ",", header=1)


def _content(text_lines: Sequence[str]) -> list[tuple[int, str]]:
    """Return the lines that belong to the table; a commented header is one of them."""
    table: list[tuple[int, str]] = []
    comments: list[tuple[int, str]] = []
    for number, line in enumerate(text_lines, start=1):
        stripped = line.strip()
        if is_prompt(line):
            continue
        if not _EMPTY.sub("", stripped) or ("|" in stripped and is_rule(stripped)):
            continue
        if _LINE.fullmatch(stripped):  # below the names
            continue
        if stripped.startswith("|") and stripped.endswith("|"):  # as in Markdown
            line = stripped[1:-1]
        if stripped.startswith(COMMENTS):
            comments.append((number, stripped.lstrip("#%/!").strip()))
            if len(table) == 1 and (units := _units_below(table[0][1], line)):
                table.append((number, units))
            continue
        if not table:
            table += _commented_header(comments, stripped)
        # Leading tabs and spaces may be an empty first cell.
        table.append((number, line.rstrip("\n")))
    return table


def _commented_header(comments: Sequence[tuple[int, str]], first: str) -> list[tuple[int, str]]:
    """Return the comments that name the columns of the first row: the names, and perhaps their units.

    It is the last one of which they are known, or else the last of all.
    """
    named = [at for at, (_, text) in enumerate(comments) if _is_header_of(text, first)]
    known = [at for at in named if knows_columns(_unnumbered(_names_in(comments[at][1], first)))]
    for at in (*known[-1:], *(at for at in named[-2:] if at >= len(comments) - 2)):
        below = _units_below(comments[at][1], comments[at + 1][1]) if at + 1 < len(comments) else ""
        if below and are_units(_cells(below, _find_delimiter([comments[at][1]]))):
            return [comments[at], (comments[at + 1][0], below)]
        if at in known or at == len(comments) - 1:
            return [comments[at]]
    return []


def _unnumbered(names: list[str]) -> list[str]:
    """Return names without the numbers of their columns, as in ``1:cores 2:time`` and ``[1]=cores [2]=time``."""
    found = [_NUMBERED.fullmatch(name) for name in names]
    numbers = [match["number"] if match else "" for match in found]
    are_numbered = len(names) > 1 and numbers == [str(number) for number in range(1, len(names) + 1)]
    return [match["name"] for match in found if match] if are_numbered else names


def _units_below(header: str, comment: str) -> str:
    """Return a comment below a header if it is a row of units: ``# [-] [ms]``, or ``#,ms``, of which ``#`` is one."""
    delimiter = _find_delimiter([header])
    for text in (comment.strip(), comment.strip().lstrip("#%/!").strip()):
        units = _cells(text, delimiter)
        is_row = len(units) == len(_cells(header, delimiter)) > 1 and not any(map(is_number, units))
        if is_row and any(map(is_unit_of_time, units)):
            return text
    return ""


def _is_open(line: str) -> bool:
    """Tell whether a quoted cell begins in a line and doesn't end there: the marks of ``4'44"`` aren't quotes."""
    return line.count('"') % 2 == 1 and _QUOTE.search(line) is not None


def _is_header_of(comment: str, first: str) -> bool:
    """Tell whether a comment line names the columns of the first row, as gnuplot users write it."""
    delimiter = _find_delimiter([first])
    cells = _cells(first, delimiter)
    names = _names_in(comment, first)
    numeric = sum(cell[:1].isdigit() or is_number(cell) or is_share(cell) for cell in cells)
    # Between blanks alone, any remark of so many words looks like names.
    fewest = 0 if delimiter in _DELIMITERS else len(cells) / 2
    return len(names) == len(cells) > 1 and numeric > fewest and not any(map(is_number, names))


def _names_in(comment: str, first: str) -> list[str]:
    """Return the names of columns in a comment above a first row; between wide blanks, they may hold single ones."""
    delimiter = _find_delimiter([first])
    wide = _cells(comment, "  ")
    is_wide = delimiter == " " and len(wide) == len(_cells(first, delimiter)) > 1
    return wide if is_wide else _cells(comment, delimiter)


def _without_remarks_below(rows: list[tuple[int, list[str]]], delimiter: str) -> list[tuple[int, list[str]]]:
    """Leave out the lines of words below the last row; they are read as text beside the table.

    Examples
    --------
    >>> rows = [(1, ["cores", "time"]), (2, ["8", "9.1"]), (3, ["16", "4.9"])]
    >>> _without_remarks_below([*rows, (5, ["All times in minutes", "by Ada"])], ",") == rows
    True
    >>> _without_remarks_below([*rows, (5, "with 2 threads per rank".split())], " ") == rows
    True
    >>> _without_remarks_below([*rows, (5, ["Cheers", ""]), (6, ["Ada", ""])], ",") == rows
    True
    >>> len(_without_remarks_below([*rows, (4, ["32", "did not end in time"])], ","))
    4
    """
    (_, header), *body = rows
    end = len(body)
    is_blank = delimiter in (" ", "  ")
    while end > 1 and _is_remark(body[end - 1][1], body[0][1], width=len(header) if is_blank else 0):
        end -= 1
    return rows[: end + 1]


def _is_remark(cells: Sequence[str], first: Sequence[str], width: int) -> bool:
    """Tell whether a line is no row as the first one: words without values, or, between blanks, of another `width`."""
    if cells[0] and is_number(first[0]) and not any(map(str.isdigit, "".join(cells))):  # a greeting, say
        return True
    if len(" ".join(cells).split()) < _FEWEST_WORDS or not cells[0]:
        return False
    if width:
        return len(cells) != width and first[0][:1].isdigit() and not cells[0][:1].isdigit()
    return any(map(is_number, first)) and not any(map(is_number, cells))


def _without_headers(path: Path, rows: list[tuple[int, list[str]]]) -> list[tuple[int, list[str]]]:
    """Leave out rows that repeat the header; refuse another header, of another table."""
    (_, header), *body = rows
    names = [name for name in header if name]
    for (_, above), (line, cells) in zip(rows, body, strict=False):
        is_titled = cells == header and sum(map(bool, above)) == 1 < len(header) and not is_number(above[0])
        if is_titled:
            raise ReadError(path, "a second table begins above: save it in a file of its own", line=line)
        is_header = cells != header and len(cells) == len(header) and not any(cell[:1].isdigit() for cell in cells)
        if is_header and len(names) > 1 and any(map(_same_name, cells, header)):
            raise ReadError(path, "a second table begins here: save it in a file of its own", line=line)
    return [rows[0], *((line, cells) for line, cells in body if cells != header)]


def _same_name(cell: str, name: str) -> bool:
    return cell == name and cell != ""


def _find_delimiter(sample: Sequence[str]) -> str:
    scores: dict[str, tuple[bool, bool, int]] = {}
    for delimiter in _DELIMITERS:
        counts = [len(_cells(line, delimiter)) for line in sample]
        # A comma in a name of the header parts no cells.
        if counts[0] > 1 and 2 * sum(count > 1 for count in counts[1:]) >= len(counts) - 1:
            scores[delimiter] = (
                all(abs(c - counts[0]) <= 1 for c in counts), 2 * counts.count(counts[0]) > len(counts), counts[0]
            )  # fmt: skip
    if scores:
        return max(scores, key=lambda d: scores[d])
    return _find_space(sample) if len(sample[0].split()) > 1 else ","


def _split(lines: Sequence[str]) -> list[list[str]]:
    """Return the cells of lines, at the delimiter that they tell."""
    delimiter = _find_delimiter(lines)
    return [_cells(line, delimiter) for line in lines]


def _filled(content: Sequence[tuple[int, str]]) -> list[tuple[int, str]]:
    r"""Return lines of columns that blanks part, with a mark where the last cell is empty: the line ends before it.

    Examples
    --------
    >>> _filled([(1, "cores   time   remark"), (2, "8       9.1"), (3, "16      4.9    again")])[1]
    (2, '8       9.1  \x00')
    """
    names = _cells(content[0][1], "  ")
    last = content[0][1].rfind(names[-1]) if len(names) > 1 else 0
    return [
        (n, f"{line.rstrip()}  {_BLANK}")
        if len(line.rstrip()) <= last and len(_cells(line, "  ")) == len(names) - 1
        else (n, line)
        for n, line in content
    ]


def _find_space(sample: Sequence[str]) -> str:
    """Return two spaces if names or cells hold single ones, ``Cores   Wall time (s)`` and ``8   6.1 s``; else one."""
    names, rows = _cells(sample[0], "  "), sample[1:]
    wide = len(names) + (sample[0][:1].isspace() and len(_cells(rows[0], "  ")) == len(names) + 1 if rows else 0)
    fit = [sum(len(_cells(line, space)) == wide for line in rows) for space in ("  ", " ")]
    is_in_names = 1 < len(names) < len(sample[0].split()) and max(fit) > len(rows) // 2
    is_in_cells = 1 < len(names) == len(sample[0].split()) and fit[0] > max(fit[1], len(rows) // 2)
    return "  " if is_in_names or is_in_cells else " "


def _cells(line: str, delimiter: str) -> list[str]:
    if delimiter == " " and '"' in line:
        return [cell for cell in next(csv.reader([line], delimiter=" ", skipinitialspace=True), []) if cell]
    if delimiter == " ":
        return line.split()
    if delimiter == "  ":
        return [cell for cell in _WIDE_SPACE.split(line.strip()) if cell]
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
    if not is_unended(text_lines):
        return ""
    if there >= width:
        return _shorter([cells[-1] for cells in others if cells], last[-1])
    return f"the file seems to be cut off in its last line, which has {there} of {width} values"


def _shorter(others: Sequence[str], last: str) -> str:
    """Return what is wrong if a last number has fewer decimals than each of those above it, which have the same."""
    places = {len(cell.partition(".")[2]) for cell in others}
    if len(others) < 3 or len(places) != 1 or not all(map(is_number, others)) or not is_number(last):
        return ""
    if len(last.partition(".")[2]) >= max(places):
        return ""
    return f"the file may be cut off: its last number, {last}, has fewer decimals than all others above it"


def _unmarked(cell: str) -> str:
    """Leave out the spaces between groups of three digits, and the apostrophe before what would be a formula."""
    if "<br" in cell:
        cell = _BREAK.sub(" ", cell)
    if _SPACED.fullmatch(cell):
        return re.sub(r"\s", "", cell)
    if _APOSTROPHES.fullmatch(cell):
        return cell.replace("'", "").replace("’", "")
    if (grouped := _WITH_UNIT.fullmatch(cell)) is not None:
        return f"{grouped['number'].replace(',', '')} {grouped['unit']}"
    if (bracketed := _BRACKETED_UNIT.fullmatch(cell)) is not None:
        return f"{bracketed['number']} {bracketed['unit']}"
    return _without_apostrophe(cell)


def _without_apostrophe(cell: str) -> str:
    return cell[1:] if cell[:1] == "'" and cell[1:].startswith(FORMULA) else cell


def _check_header(path: Path, header: list[str], line: int) -> list[str]:
    named = [place for place, name in enumerate(header) if name]
    header = header[: max(1, named[-1] + 1 if named else 0)]
    if header and all(is_number(cell) or cell[:1].isdigit() for cell in header) and any(map(is_number, header)):
        raise ReadError(path, "the first line must name the columns, but it holds only numbers", line=line)
    value = next((cell for cell in header if is_duration(cell) or (is_number(cell) and not cell.isdigit())), "")
    if header[:1] and header[0].isdigit() and sum(map(str.isdigit, header)) > 1:  # beside a first name, 16 may be cores
        value = header[0]
    if value:
        raise ReadError(
            path,
            f"the first line must name the columns, but {value!r} is a value: write a line of names above it, as "
            "cores,time_s, or name what it is the value of, as dt=0.5",
            line=line,
        )
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
        raise ReadError(
            path,
            f"the header has {width} columns, but this row has {len(cells)}: correct it, or begin the line with # if "
            "it is a remark",
            line=line,
        )
    return cells


def is_number(cell: str) -> bool:
    """Tell whether a cell is a number, with a point or a comma."""
    try:
        float(cell.replace(",", ".", 1))
    except ValueError:
        return False
    return True
