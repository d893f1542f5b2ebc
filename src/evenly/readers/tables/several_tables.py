"""Which of several tables in a text is meant: its number, or the heading above it."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from evenly.errors import ReadError, option_text

__all__ = ["which_table"]

#: Marks around a heading: of Markdown, Org and LaTeX.
_MARKS = re.compile(r"^\s*(?:#+|\*+(?=\s)|\\(?:sub)*section\*?|\\caption|[-+*>](?=\s))\s*|\*\*|__|`|[{}]|:?\s*#*\s*$")
_LONGEST, _MOST_COLUMNS = 60, 6


def which_table(path: Path, lines: Sequence[str], found: Sequence[range], wanted: str | None) -> int:
    """Return the place of the table that is meant.

    Parameters
    ----------
    path : Path
    lines : sequence of str
        The text.
    found : sequence of range
        The lines of each table.
    wanted : str or None
        Its number from 1 on, or its heading, or a part of it that no other has.

    Raises
    ------
    ReadError
        With all tables, if there are several and not one of them is named.

    Examples
    --------
    >>> text = ["# Strong", "|n|s|", "|-|-|", "|1|9|", "# Weak", "|n|s|", "|-|-|", "|1|9|"]
    >>> which_table(Path("a.md"), text, [range(1, 4), range(5, 8)], "weak")
    1
    """
    if wanted is None and len(found) == 1:
        return 0
    headings = headings_of(lines, found)
    if wanted is not None:
        if wanted.isdecimal() and 1 <= int(wanted) <= len(found):
            return int(wanted) - 1
        said = wanted.strip().lower()
        named = [place for place, heading in enumerate(headings) if heading.lower() == said]
        named = named or [place for place, heading in enumerate(headings) if said and said in heading.lower()]
        if len(named) == 1:
            return named[0]
    tables = "; ".join(_told(lines, found, headings, place) for place in range(len(found)))
    known = [heading.lower() for heading in headings]
    heading = next((one for one in headings if known.count(one.lower()) == 1 and _can_be_typed(one)), "")
    or_heading = f" or {option_text('-O', f'table={heading}')}" if heading else ""
    have_names = len(found) > 1 and len(set(headings)) == len(headings) and all(headings)
    each = f"; if each is of a solver, {option_text('-O', 'table=*')} reads them all" if have_names else ""
    no_such = "" if wanted is None else f"table={wanted!r} names none, or several, of them: "
    raise ReadError(
        path,
        f"the text holds {len(found)} table{'s' * (len(found) > 1)}: {tables}: {no_such}choose one by its number or "
        f"its heading, with table= (-O table=1{or_heading}), which holds for all files{each}",
    )


def _can_be_typed(heading: str) -> bool:
    """Tell whether a heading names its table as the value of an option: ``2`` is a number, ``n=5`` another value."""
    return heading != "" and not heading.isdecimal() and "=" not in heading


def headings_of(lines: Sequence[str], found: Sequence[range]) -> list[str]:
    """Return the heading of each table, or else the line above; "" where nothing is there.

    Examples
    --------
    >>> headings_of(["# Strong", "|n|s|", "|-|-|", "|1|9|"], [range(1, 4)])
    ['Strong']
    """
    return [_heading(lines, found, place) for place in range(len(found))]


def _told(lines: Sequence[str], found: Sequence[range], headings: Sequence[str], place: int) -> str:
    below = f", below {headings[place]!r}" if headings[place] else ""
    cells = [cell.strip(" *`\t") for cell in re.split(r"\||\s{2,}|\t", lines[found[place].start].strip().strip("|"))]
    names = [cell for cell in cells if cell]
    more = ", …" if len(names) > _MOST_COLUMNS else ""
    return f"{place + 1}, line {found[place].start + 1}{below} ({', '.join(names[:_MOST_COLUMNS])}{more})"


def _heading(lines: Sequence[str], found: Sequence[range], place: int) -> str:
    """Return the heading between the table before and this one, or else the line above; "" if nothing is there."""
    start = found[place - 1].stop if place else 0
    above = [line for line in lines[start : found[place].start] if re.search(r"\w", line)]
    headings = [line for line in above if re.match(r"\s*(?:#+\s|\*+\s|\\(?:sub)*section|\*\*)", line)]
    line = (headings or above or [""])[-1]
    plain = _MARKS.sub("", _MARKS.sub("", line)).strip()
    return plain if len(plain) <= _LONGEST else f"{plain[: _LONGEST - 1].rstrip()}…"
