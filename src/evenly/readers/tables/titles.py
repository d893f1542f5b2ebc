"""Titles above a table: lines that are no header, for the line below them names the columns."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

from evenly.readers.tables.columns import measured
from evenly.readers.tables.roles import is_count

__all__ = ["knows_columns", "titles_above", "without_title"]

#: So many lines at most are titles.
_MOST = 4
_Row = tuple[int, list[str]]
_NUMBER = re.compile(r"[+-.]?\d")


def titles_above(lines: Sequence[str], cells: Callable[[Sequence[str]], list[list[str]]]) -> int:
    """Return how many lines stand above the one that names the columns.

    Its names are known, it has as many cells as the numbers below, and each line above has fewer or more of them, or
    no known name.

    Parameters
    ----------
    lines : sequence of str
        The first lines of a table.
    cells : callable
        Splits lines at the delimiter that it finds in them.

    Examples
    --------
    >>> def split(lines):
    ...     return [line.split(",") for line in lines]
    >>> titles_above(["Wing, June", "Times in minutes", "cores,time", "16,52.1"], split)
    2
    >>> titles_above(["cores,time", "16,52.1"], split), titles_above([",time", "cores,total", "16,52.1"], split)
    (0, 0)
    """
    for count in range(1, min(_MOST, len(lines) - 2) + 1):
        header, first, *_ = cells(lines[count:])
        if len(header) != len(first) or not any(map(_NUMBER.match, first)):
            continue
        above = cells([*lines[count:], *lines[:count]])[-count:]  # at the delimiter that most lines tell
        are_titles = all(_is_title(one, header) for one in above)
        return count if are_titles and knows_columns(header, alone=max(map(len, above)) == 1) else 0
    return 0


def _is_title(cells: Sequence[str], header: Sequence[str]) -> bool:
    """Tell whether a line is none of the rows of a header: these have a cell, perhaps an empty one, for each column."""
    if len(cells) == 1:
        return _NUMBER.match(cells[0]) is None or " " in cells[0]
    return "" not in cells and (len(cells) != len(header) or not any(map(is_count, cells)))


def knows_columns(names: Sequence[str], *, alone: bool = False) -> bool:
    """Tell whether all names differ and are words, one of them that of a count and another one that of a time.

    Parameters
    ----------
    names : sequence of str
    alone : bool
        Whether one of both is enough.

    Examples
    --------
    >>> knows_columns(["cores", "time[s]"]), knows_columns(["machine:", "hawk"]), knows_columns(["cores", "fine"])
    (True, False, False)
    """
    if len(set(names)) < len(names) or len(names) < 2 or all(map(_NUMBER.match, names)):
        return False
    times = {name for name in names if (found := measured(name)) is not None and found.certainty > 0}
    counts = {name for name in names if is_count(name)} - times
    return bool(times or counts) if alone else bool(times and counts)


def without_title(rows: list[_Row]) -> list[_Row]:
    """Leave out titles above the header, as spreadsheets export them: one cell, and delimiters for the others.

    Examples
    --------
    >>> without_title([(1, ["Wing", ""]), (2, ["cores", "time"]), (3, ["8", "90.1"])])
    [(2, ['cores', 'time']), (3, ['8', '90.1'])]
    """
    first = next((at for at, (_, cells) in enumerate(rows) if sum(map(bool, cells)) > 1), 0)
    titles, wide = rows[:first], len(rows[first][1])
    are_titles = all(len(cells) == wide and not any(cells[1:]) for _, cells in titles)
    return rows[first:] if titles and wide > 1 and are_titles else rows
