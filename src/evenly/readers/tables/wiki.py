"""Tables of MediaWiki as lines with bars, as Markdown has them."""

from __future__ import annotations

import re
from collections.abc import Sequence

__all__ = ["holds_wiki_table", "wiki_as_bars"]

_RULE = "|---|---|"
_BETWEEN = re.compile(r"\|\||!!")


def holds_wiki_table(lines: Sequence[str]) -> bool:
    """Tell whether a table of MediaWiki begins in one of the lines.

    Examples
    --------
    >>> holds_wiki_table(["On Levante:", "{| class=wikitable"]), holds_wiki_table(["| cores | time |"])
    (True, False)
    """
    return any(line.lstrip().startswith("{|") for line in lines)


def wiki_as_bars(lines: Sequence[str]) -> list[str]:
    """Return lines with each row of a table of MediaWiki on its first line, and rules on its others.

    Examples
    --------
    >>> wiki_as_bars(["{| class=wikitable", "! cores !! time (s)", "|-", "| 8 || 9.1", "|-", "| 16", "| 4.7", "|}"])
    ['', '| cores | time (s) |', '|---|---|', '| 8 | 9.1 |', '|---|---|', '| 16 | 4.7 |', '|---|---|', '']
    """
    found: list[str] = []
    row: list[str] = []
    first, inside = 0, False
    for line in map(str.strip, lines):
        if line.startswith(("{|", "|}")):
            inside, row = line.startswith("{|"), []
            found.append("")
        elif inside and line.startswith("|+"):
            found.append(line.removeprefix("|+").strip())
        elif inside and line.startswith("|-"):
            row = []
            found.append(_RULE if found[-1].startswith("|") else "")
        elif inside and line.startswith(("|", "!")):
            first = first if row else len(found)
            # A cell may begin with how it looks: ``align="right" | 48``.
            row += [cell.rpartition("|")[2].strip() for cell in _BETWEEN.split(line[1:])]
            found.append(_RULE)
            found[first] = f"| {' | '.join(row)} |"
        else:
            found.append(line)
    return found
