"""Tables drawn with bars, as in Markdown and in the results of JUBE: lines and borders become plain delimited text."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence

__all__ = ["aligned_in_text", "boxes_as_bars", "is_rule", "only_rows", "tables_in_text", "without_borders"]

_RULE = re.compile(r"\s*\|?[\s:|+=-]*[-=]{2,}[\s:|+=-]*\|?\s*|\s*\|?(?:\s*:?-:?\s*\|)+(?:\s*:?-:?)?\s*")
#: A rule without gaps, below the names.
_LINE = re.compile(r"-{3,}|={3,}")
#: A rule above, below and within a table of reStructuredText without bars.
_COLUMNS = re.compile(r"={2,}(\s+={2,})+\s*")
#: A title of at most so many lines, with the border, stands above a table.
_MOST_ABOVE = 4
#: Characters that draw boxes.
_BOX = re.compile(r"[\u2500-\u257f]")
_VERTICAL, _HORIZONTAL = frozenset("│┃║╎╏┆┇┊┋├┼┤╞╪╡╠╬╣┝┿┥┠╂┨┣╋┫╟╫╢"), frozenset("─━═╌╍┄┅┈┉")
#: So many lines alike are a table.
_FEWEST = 3


def is_rule(line: str) -> bool:
    """Tell whether a line is a rule between rows, as of Markdown: ``|---|:-:|``.

    Examples
    --------
    >>> is_rule("|---|:-:|"), is_rule("| - | - |"), is_rule("| 8 | 2 |")
    (True, True, False)
    """
    return _RULE.fullmatch(line) is not None


def boxes_as_bars(lines: Sequence[str]) -> list[str]:
    """Return lines with plain bars and rules in place of those of a drawn box, as Julia and rich print tables.

    Examples
    --------
    >>> boxes_as_bars(["┌───┬───┐", "│ n │ s │", "├───┼───┤"])
    ['+---+---+', '| n | s |', '|---|---|']
    """
    return [_BOX.sub(_plain, line) if _BOX.match(line.strip()) else line for line in lines]


def _plain(drawn: re.Match[str]) -> str:
    return "|" if drawn[0] in _VERTICAL else "-" if drawn[0] in _HORIZONTAL else "+"


def without_borders(lines: Sequence[str]) -> list[str]:
    """Return the lines without the outer bars, the rules and what stands above; their numbers stay the same.

    Lines of any other text are returned unchanged.

    Examples
    --------
    >>> without_borders(["result:", "| cores | time |", "|-------|------|", "|     2 |  1.5 |"])
    ['', 'cores | time', '', '2 |  1.5']
    >>> without_borders(["+---+", "| n |", "+===+", "| 1 |", "+---+"])
    ['', 'n', '', '1', '']
    >>> without_borders(["== ===", "n   s", "== ===", "1   8", "== ==="])
    ['', 'n   s', '', '1   8', '']
    """
    filled = [number for number, line in enumerate(lines) if line.strip()]
    if filled and _COLUMNS.fullmatch(lines[filled[0]].strip()):
        return ["" if _COLUMNS.fullmatch(line.strip()) else line for line in lines]
    first = next((at for at, number in enumerate(filled) if _is_row(lines[number])), 0)
    above, filled = filled[:first], filled[first:]  # titles, and the upper border
    if len(above) > _MOST_ABOVE:
        return list(lines)
    if len(filled) < 2 or not (_is_row(lines[filled[0]]) and is_rule(lines[filled[1]])):
        return list(lines)
    left_out = {*above, *(n for n in filled if is_rule(lines[n]))}
    return [
        "" if number in left_out else _without_ends(line) if _is_row(line) else line
        for number, line in enumerate(lines)
    ]


def _without_ends(line: str) -> str:
    """Return a row without the bars at its ends; empty cells there are written as ``""``, or they would be ends, too.

    Examples
    --------
    >>> _without_ends("| 8 | 1.5 |"), _without_ends("| | 1.5 | |")
    ('8 | 1.5', '"" | 1.5 | ""')
    """
    inner = line.strip().removeprefix("|").removesuffix("|").strip()
    if not inner.strip("| "):  # an empty row
        return inner
    before, after = ('"" ' if inner.startswith("|") else ""), (' ""' if inner.endswith("|") else "")
    return f"{before}{inner}{after}"


def tables_in_text(lines: Sequence[str]) -> list[range]:
    """Return the lines of each table among other text, as in a file of Markdown: its first line, and that after it.

    Rows without a header of their own, behind an empty line or other text, belong to the table above them.

    Examples
    --------
    >>> tables_in_text(["Scaling", "", "| cores | time |", "|---|---|", "| 2 | 1.5 |", "", "as measured"])
    [range(2, 5)]
    >>> tables_in_text(["| cores | time |", "|---|---|", "| 2 | 1.5 |", "", "On two racks:", "| 4 | 0.8 |", ""])
    [range(0, 6)]
    """
    found: list[range] = []
    for number, line in enumerate(lines):
        if found and number < found[-1].stop:  # rules between groups of rows
            continue
        if number > 0 and _is_row(lines[number - 1]) and _is_row(line) and is_rule(line):
            end = next((n for n in range(number, len(lines)) if not _is_row(lines[n])), len(lines))
            first = next((n + 1 for n in range(number - 1, -1, -1) if not _is_row(lines[n])), 0)
            found.append(range(first, end))
    return _with_rows_behind(found, lines, lambda number, table: _is_row_of(lines[number], lines[table.start]))


def _with_rows_behind(
    tables: Sequence[range], lines: Sequence[str], belongs: Callable[[int, range], bool]
) -> list[range]:
    """Return the lines of tables up to the last row that `belongs` to each, before the next table."""
    ends = [one.start for one in tables[1:]] + [len(lines)]
    last = [
        max((n for n in range(one.stop, end) if belongs(n, one)), default=one.stop - 1)
        for one, end in zip(tables, ends, strict=False)
    ]
    return [range(one.start, end + 1) for one, end in zip(tables, last, strict=True)]


def _is_row_of(line: str, header: str) -> bool:
    """Tell whether a line holds numbers, and bars as a header: at its ends, or else as many between."""
    line, header = line.strip(), header.strip()
    has_ends = header.startswith("|")
    alike = line.startswith("|") if has_ends else line.count("|") == header.count("|")
    return alike and re.search(r"\|\s*[\d.]" if has_ends else r"^[\d.].*\|", line) is not None


def aligned_in_text(lines: Sequence[str]) -> list[range]:
    """Return the lines of each table whose columns only blanks part, two and more of them, among other text.

    Rows without a header of their own, behind an empty line or other text, belong to the table above them.

    Examples
    --------
    >>> aligned_in_text(["Scaling:", "", "cores   time [s]", "1       90.1", "2       46.2", "", "as measured"])
    [range(2, 5)]
    """
    widths = [*map(_width, lines)]
    for number, line in enumerate(lines[1:], start=1):
        if _LINE.fullmatch(line.strip()):  # below the names
            widths[number] = widths[number - 1]
    found: list[range] = []
    for number, width in enumerate(widths):
        if width < 2 or (found and number < found[-1].stop):
            continue
        end = next((n for n in range(number, len(lines)) if widths[n] != width), len(lines))
        rows = " ".join(lines[number + 1 : end])
        if end - number >= _FEWEST and 2 * _numbers_in(rows) > len(rows.split()):
            found.append(range(number, end))
    return _with_rows_behind(
        found,
        lines,
        lambda number, table: (
            widths[number] == widths[table.start] and 2 * _numbers_in(lines[number]) >= widths[number]
        ),
    )


def only_rows(lines: Sequence[str], table: range) -> list[str]:
    """Return lines with all but the rows of one of them, and its rules, empty.

    Examples
    --------
    >>> only_rows(["", "|p|s|", "|-|-|", "|1|9|", "two racks:", "|2|5|", ""], range(1, 6))
    ['', '|p|s|', '|-|-|', '|1|9|', '', '|2|5|', '']
    """
    header = lines[table.start]
    width = _width(header)
    return [
        line if at in table and (_is_row(line) if _is_row(header) else _width(line) == width) else ""
        for at, line in enumerate(lines)
    ]


def _width(line: str) -> int:
    return len(re.split(r"\s{2,}|\t", line.strip()))


def _numbers_in(line: str) -> int:
    return sum(cell[:1].isdigit() for cell in line.split())


def _is_row(line: str) -> bool:
    return "|" in line
