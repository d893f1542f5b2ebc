"""Lines of text between the rows of a table: rows below different ones may be runs of different kinds.

A comment, a heading or a title such as ``4M cells`` tells what no column does: the rows below it may be of another
mesh, machine or program. In one curve, they would tell a wrong law. So a column of its own is asked for.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Collection, Mapping, Sequence
from itertools import combinations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.delimited import is_number
from evenly.readers.tables.remarks import plain_text, quoted_texts
from evenly.readers.tables.unit_row import is_unit_of_time
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of
from evenly.runs.durations import is_duration

__all__ = ["headings_between", "rows_below_headings", "without_titles"]

#: Repeated runs differ by less.
_ALIKE = 1.1
_LETTER = re.compile(r"[^\W\d_]")
_DIGIT = re.compile(r"\d")
#: So many cells of a row are shown, and so many lines quoted.
_MOST_CELLS = _MOST = 4
#: The rows below each text.
_Blocks = Mapping[tuple[str, ...], Sequence[int]]
#: The times of each configuration.
_Times = Mapping[tuple[str, ...], Sequence[float]]


def without_titles(
    frame: pd.DataFrame, lines: NDArray[np.int64], delimiter: str = ""
) -> tuple[pd.DataFrame, NDArray[np.int64], dict[int, str]]:
    """Return a table without the rows that are titles of those below, and these titles by their lines.

    A title is a text in the first column alone, or in all columns, above a row with a number there. Where blanks part
    the cells, the words of a title stand in several.

    Parameters
    ----------
    frame : DataFrame (n_rows, n_columns)
        Stripped text.
    lines : array (n_rows,)
        The line of each row.
    delimiter : str
        What parts the cells in a line.

    Examples
    --------
    >>> rows = {"cores": ["1M cells", "8", "4M cells", "16"], "time": ["", "9.1", "", "18.3"]}
    >>> table, lines, titles = without_titles(pd.DataFrame(rows, dtype=object), np.array([2, 3, 4, 5]))
    >>> table["cores"].tolist(), lines.tolist(), titles
    (['8', '16'], [3, 5], {2: '1M cells', 4: '4M cells'})
    """
    if frame.shape[1] < 2:
        return frame, lines, {}
    first, found, below = frame.iloc[:, 0].tolist(), dict[int, str](), False
    for row in range(len(first) - 1, -1, -1):
        title = _title_in(frame.iloc[row].tolist(), delimiter) if below and _is_text(first[row]) else ""
        if title:
            found[int(lines[row])] = title
        below = bool(title) or is_number(first[row])
    others = ~np.isin(lines, [*found])
    return frame[others].reset_index(drop=True), lines[others], dict(sorted(found.items()))


def _title_in(cells: Sequence[str], delimiter: str) -> str:
    """Return the title that a row is; "" if it is none: it has values, or units."""
    texts = [*dict.fromkeys(filter(None, cells))]
    is_one = len(texts) == 1 or (delimiter.startswith(" ") and all(map(_is_text, texts)))
    is_title = is_one and not any(is_duration(text) or is_unit_of_time(text) for text in texts)
    return " ".join(texts) if is_title else ""


def _is_text(cell: str) -> bool:
    return _LETTER.search(cell) is not None and not is_number(cell)


def headings_between(
    texts: Mapping[int, str], rows: Collection[int], header: str, *, start: int = 0
) -> dict[int, tuple[str, ...]]:
    """Return the lines of text right above each block of rows, by the first line of each.

    Above the names of the columns, it is one line. Rows of numbers that are commented out, rules, and the names of the
    columns again are no such text.

    Parameters
    ----------
    texts : mapping of int to str
        The lines that are no rows.
    rows : collection of int
        The lines of the rows.
    header : str
        The line of the names.
    start : int
        Its number.

    Examples
    --------
    >>> texts = {1: "# Wing", 3: "# 1M cells", 6: "# 4M cells", 7: "# of June", 8: "# 512,1.2", 10: "by Ada"}
    >>> headings_between(texts, {4, 5, 9}, "cores,time", start=2)
    {1: ('Wing',), 3: ('1M cells',), 6: ('4M cells', 'of June')}
    """
    names = _words(header)
    said = {n: plain_text(line) for n, line in texts.items() if _parts(line) and _words(line) != names}
    last, ordered = max(rows, default=0), sorted(rows)
    found: dict[int, tuple[str, ...]] = {}
    place = block = -1
    for number in sorted(n for n in said if n < last):
        if number < start:
            found = {number: (said[number],)}
            continue
        if (new := bisect_right(ordered, number)) != place:
            place, block = new, number
        found[block] = (*found.get(block, ()), said[number])
    return found


def _parts(line: str) -> bool:
    """Tell whether a line between rows may tell what those below are: it has a letter, or is a number after a mark."""
    text = plain_text(line)
    if _LETTER.search(text):
        cells = re.split(r"\s*[,;|\t]\s*", text)
        return not (len(cells) > 1 and is_number(cells[0]))  # a row that is commented out
    return line.strip()[:1] in ("#", "%", "*") and _DIGIT.search(text) is not None and not re.search(r"[\s,;|]", text)


def _words(line: str) -> list[str]:
    return re.findall(r"[^\W_]+", line.lower())


def rows_below_headings(
    values: Values,
    parameters: Sequence[str],
    solver: str | None,
    seconds: NDArray[np.float64],
    measured: NDArray[np.bool_],
) -> str:
    """Return a note on rows below different lines of text; "" if there are none.

    Parameters
    ----------
    values : Values
    parameters : sequence of str
        Their columns.
    solver : str or None
        The column of the solvers.
    seconds : array (n_rows,)
    measured : bool array (n_rows,)
        The runs that ended well.

    Raises
    ------
    ReadError
        If nothing tells that they are runs of one kind: no column tells them apart, most configurations were not run
        below several lines with times alike, and the parameters weren't named.
    """
    places = sorted(values.headings)
    blocks: dict[tuple[str, ...], list[int]] = {}
    first: dict[tuple[str, ...], int] = {}
    for row in np.flatnonzero(measured).tolist():
        at = bisect_right(places, values.lines[row]) - 1
        text = values.headings[places[at]] if at >= 0 else ()
        blocks.setdefault(text, []).append(row)
        if text:
            first.setdefault(text, places[at])
    if len(blocks) < 2:
        return ""
    quoted = _quoted({"; ".join(text): line for text, line in first.items()})
    columns = [*parameters, *([solver] if solver else [])]
    if values.options.parameters or _are_told(values, columns, blocks) or _are_alike(values, columns, seconds, blocks):
        return f"text above rows of the table, which was not used: {quoted}"
    raise ReadError(values.path, _question(values, parameters, quoted, blocks), line=max(first.values()))


def _quoted(lines: Mapping[str, int]) -> str:
    """Return the first texts in quotes with their lines, and how many more there are."""
    shown = [f"{quoted_texts([text])} (line {line})" for text, line in lines.items()]
    more = f" and {len(shown) - _MOST} more" if len(shown) > _MOST else ""
    return f"{', '.join(shown[:_MOST])}{more}"


def _question(values: Values, parameters: Sequence[str], quoted: str, blocks: _Blocks) -> str:
    text, rows = list(blocks.items())[-1]
    row = rows[0]
    cells = [values.texts(name)[row] for name in values.cells.columns]
    names = [*map(str, values.cells.columns)]
    shown = [(*one[:_MOST_CELLS], "…") if len(one) > _MOST_CELLS else one for one in (names, cells)]
    others = "" if all(blocks) else ", others below no such line"
    return (
        f"rows stand below {quoted}{others}: they may be runs of different kinds, as of several meshes, machines or "
        f"versions. Give what tells them apart a column of its own, as {', '.join([*shown[0], 'kind'])!r} above "
        f"{', '.join([*shown[1], text[-1] if text else '…'])!r}; if all are alike, pass "
        f"{option_text('--parameters', ','.join(parameters))}"
    )


def _are_told(values: Values, columns: Sequence[str], blocks: _Blocks) -> bool:
    """Tell whether columns tell all that the lines do: a line names cells of its rows, or a column parts them as well.

    The latter is one of several columns, but none of counts. Each of its values stands on two rows or more, on average,
    and below one line only.
    """
    cells = {name: np.array([text.lower() for text in values.texts(name)]) for name in columns}
    left = set()
    for text, rows in blocks.items():
        same = [column[rows][0] for column in cells.values() if len({*column[rows]}) == 1]
        told = {word for cell in same for word in _words(cell)}
        left.add(tuple(word for word in _words(" ".join(text)) if word not in told))
    others = [name for name in columns if not kind_of(name)] if len(columns) > 1 else []
    return len(left) == 1 or any(_parts_as_well(cells[name], blocks) for name in others)


def _parts_as_well(column: NDArray[np.str_], blocks: _Blocks) -> bool:
    labels = [{*column[rows].tolist()} for rows in blocks.values()]
    are_apart = sum(map(len, labels)) == len(set().union(*labels))
    return are_apart and all(2 * len(own) <= len(rows) for own, rows in zip(labels, blocks.values(), strict=True))


def _are_alike(
    values: Values,
    columns: Sequence[str],
    seconds: NDArray[np.float64],
    blocks: _Blocks,
) -> bool:
    """Tell whether blocks hold repeated runs: most configurations of each are in each other one, with times alike."""
    keys = list(zip(*(values.texts(name) for name in columns), strict=True))
    times: list[dict[tuple[str, ...], list[float]]] = []
    for rows in blocks.values():
        times.append({})
        for row in rows:
            times[-1].setdefault(keys[row], []).append(float(seconds[row]))
    return all(_agree(one, other) for one, other in combinations(times, 2))


def _agree(one: _Times, other: _Times) -> bool:
    both = [key for key in one if key in other]
    apart = (max(min(one[key]) / max(other[key]), min(other[key]) / max(one[key])) for key in both)
    return 2 * len(both) > min(len(one), len(other)) and all(ratio <= _ALIKE for ratio in apart)
