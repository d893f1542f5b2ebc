"""Tables of reStructuredText, simple ones and grids, as lines with bars, as Markdown has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["rst_as_bars"]

_RULE = "|---|---|"
#: The rules of a simple table, and of a grid.
_SIMPLE = re.compile(r"\s*={2,}(?:\s+={2,})+\s*")
_GRID = re.compile(r"\s*\+(?:[-=]+\+)+\s*")


def rst_as_bars(lines: Sequence[str]) -> list[str]:
    """Return lines with bars between the cells of tables, and rules as those of Markdown.

    Examples
    --------
    >>> rst_as_bars(["===== ====", "cores s", "===== ====", "    8  9.1", "===== ===="])
    ['', '| cores | s |', '|---|---|', '| 8 | 9.1 |', '']
    >>> rst_as_bars(["+---+-----+", "| n | s   |", "+===+=====+", "| 8 | 9.1 |", "+---+-----+"])
    ['', '| n | s   |', '|---|---|', '| 8 | 9.1 |', '|---|---|']
    """
    found: list[str] = []
    starts: list[int] = []  # of the columns of a simple table
    rules = 0
    for line in lines:
        if _SIMPLE.fullmatch(line):
            rules = rules % 3 + 1
            starts = [match.start() for match in re.finditer(r"=+", line)] if rules < 3 else []
            found.append(_RULE if rules == 2 else "")
        elif line.strip("- ") and any(line[start - 1 : start].strip() for start in starts[1:]):
            # A title across columns.
            found.append(f"| {line.strip()} {'| ' * len(starts)}".rstrip())
        elif starts and line.strip():
            ends = [*starts[1:], len(line)]
            cells = (line[start:end].strip() for start, end in zip([0, *starts[1:]], ends, strict=True))
            found.append(f"| {' | '.join(cells)} |")
        elif _GRID.fullmatch(line):
            found.append(_RULE if found and found[-1].lstrip().startswith("|") else "")
        else:
            found.append(line)
    return found
