"""Tables of Org as lines with bars, as Markdown has them: without the rows and marks that speak to Org."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["org_as_bars"]

_RULE = "|---|---|"
#: The width and the side of a column, ``<r>``, ``<10>``, ``<l5>``; and groups of columns.
_COOKIE = re.compile(r"(<[lcr]?\d*>)?")
_GROUP = re.compile(r"[<>]*")
#: What the first cell says of a row: names of columns; rows of parameters, names of fields, groups; rows of numbers.
_NAMES, _OTHERS, _NUMBERS = "!", frozenset("^_$/"), frozenset({"#", "*", ""})


def org_as_bars(lines: Sequence[str]) -> list[str]:
    """Return lines with rules in the places of rows that only Org needs, and without a column of its marks.

    Examples
    --------
    >>> org_as_bars(["| ! | ranks | time |", "|---+---+---|", "|   | <r> | <r> |", "| # | 8 | 9.1 |"])
    ['| ranks | time |', '|---|---|', '|---|---|', '| 8 | 9.1 |']
    >>> org_as_bars(["| ranks | time |", "|---+---|", "| / | <> |", "| 8 | 9.1 |"])
    ['| ranks | time |', '|---|---|', '|---|---|', '| 8 | 9.1 |']
    """
    rows = [_cells(line) for line in lines]
    marks = {row[0] for row in rows if row}
    marked = _NAMES in marks and marks <= {_NAMES} | _OTHERS | _NUMBERS
    found = []
    for line, row in zip(lines, rows, strict=True):
        if re.match(r"\s*\|-", line):
            found.append(_RULE)
        elif not row:
            found.append(line)
        elif all(map(_COOKIE.fullmatch, row)) or (row[0] == "/" and all(map(_GROUP.fullmatch, row[1:]))):
            found.append(_RULE)
        elif marked:
            found.append(_RULE if row[0] in _OTHERS else f"| {' | '.join(row[1:])} |")
        else:
            found.append(f"| {' | '.join(row)} |")
    return found


def _cells(line: str) -> list[str]:
    """Return the cells of a row; none of a rule or of other text."""
    line = line.strip()
    if not line.startswith("|") or line.startswith("|-"):
        return []
    return [cell.strip() for cell in line.removeprefix("|").removesuffix("|").split("|")]
