"""Headers of two rows, as spreadsheets have them, and numbers of rows without a name, as pandas and R print them."""

from __future__ import annotations

import re
from collections.abc import Sequence
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.tables.columns import canonical_unit, measured
from evenly.readers.tables.roles import is_count
from evenly.readers.tables.unit_row import are_units

__all__ = ["joined_header", "refuse_side_by_side", "without_row_numbers"]

_Row = tuple[int, list[str]]
_UNIT_BEHIND = re.compile(r"(.*\S)?\s*([\[(][^\])]*[\])])")


def joined_header(rows: Sequence[_Row]) -> list[_Row]:
    """Return rows of text with the first two or three joined, where only all together name the columns.

    So it is where the first row has empty cells or the same name twice, the others hold words, and the row behind them
    has numbers below these. A name of the first row holds for the empty cells behind it.

    Parameters
    ----------
    rows : sequence of (int, list of str)
        The line of each row, and its cells; the header first.

    Examples
    --------
    >>> joined_header([(1, ["", "time", ""]), (2, ["cores", "total [s]", "MPI [s]"]), (3, ["8", "90.1", "4.2"])])
    [(2, ['cores', 'time total [s]', 'time MPI [s]']), (3, ['8', '90.1', '4.2'])]
    >>> joined_header([(1, ["", "t", "t"]), (2, ["", "mean", "std"]), (3, ["p", "", ""]), (4, ["8", "90", "4"])])
    [(3, ['p', 't mean', 't std']), (4, ['8', '90', '4'])]
    >>> joined_header([(1, ["cores", "time"]), (2, ["8", "90.1"])])
    [(1, ['cores', 'time']), (2, ['8', '90.1'])]
    """
    count = next((at for at, (_, cells) in enumerate(rows[:4]) if any(map(_is_number, cells))), 0)
    count += count == 1 and _are_sizes(rows)
    if count < 2:
        return list(rows)
    width = max(len(cells) for _, cells in rows[: count + 1])
    first, *below = ([*cells, *[""] * (width - len(cells))] for _, cells in rows[:count])
    values = rows[count][1]
    named = [name for name in first if name]
    is_part = any(first[0] and not row[0] and not are_units(row) for row in below)  # no row of values begins so
    unclear = "" in first[1:] or len(set(named)) < len(named) or is_part
    words = [cell for row in below for cell in row if cell]
    gaps = [place for place in range(width) if not any(row[place] for row in (first, *below))]  # between two tables
    units = all(canonical_unit(cell.strip("[]() ")) in _UNITS for cell in words)
    numbers = any(row[place] and _is_number(values[place]) for row in below for place in range(len(values)))
    if not unclear or gaps or units or not numbers:
        return list(rows)
    last, joined = "", []
    for place, top in enumerate(first):
        names = [row[place] for row in below if row[place]]
        last = top or (last if names else "")
        unit = _UNIT_BEHIND.fullmatch(last)
        if unit and names and not _UNIT_BEHIND.fullmatch(names[-1]):  # Time (min) above total
            joined.append(" ".join([unit[1], *names, unit[2]]))
        else:
            joined.append(" ".join([last, *names]).strip())
    return [(rows[count - 1][0], joined), *rows[count:]]


def _are_sizes(rows: Sequence[_Row]) -> bool:
    """Tell whether the second row holds the sizes at which times were measured: its first cell is empty.

    So is that of no other row, and the first one has empty cells or the same name twice.

    Examples
    --------
    >>> _are_sizes([(1, ["nodes", "time", "time"]), (2, ["", "4M", "16M"]), (3, ["1", "54.1", "202.1"])])
    True
    """
    (_, first), (_, second), *body = rows
    named = [name for name in first if name]
    unclear = len(first) <= len(named) + first[1:].count("") and (len(set(named)) < len(named) or "" in first[1:])
    others = [cells for _, cells in body if any(cells)]
    are_below = bool(others) and all(len(cells) == len(second) and cells[0] for cells in others)
    return bool(unclear and first[:1] != [""] and second[:1] == [""] and all(second[1:]) and are_below)


def refuse_side_by_side(path: Path, rows: Sequence[_Row]) -> None:
    """Refuse two tables that an empty column parts: each has a time, and a count or a name of the other one.

    Raises
    ------
    ReadError
        With the line of the header, and the columns of both.
    """
    line, header = rows[0]
    for gap, name in enumerate(header):
        if name or any("".join(row[gap : gap + 1]) for _, row in rows):
            continue
        left, right = list(filter(None, header[:gap])), list(filter(None, header[gap + 1 :]))
        if _is_table(left, right) and _is_table(right, left):
            raise ReadError(
                path,
                f"an empty column parts two tables, that of {left[0]!r} to {left[-1]!r} and that of {right[0]!r} to "
                f"{right[-1]!r}: save each in a file of its own",
                line=line,
            )


def _is_table(names: Sequence[str], others: Sequence[str]) -> bool:
    has_time = any((told := measured(name)) is not None and told.certainty > 0 for name in names)
    return has_time and any(is_count(name) or (name in others and measured(name) is None) for name in names)


def without_row_numbers(rows: Sequence[_Row]) -> list[_Row]:
    """Return rows without the numbers 0, 1, 2, … or 1, 2, 3, … that stand before each but the header.

    Examples
    --------
    >>> without_row_numbers([(1, ["cores", "time"]), (2, ["0", "8", "90.1"]), (3, ["1", "16", "46.2"])])
    [(1, ['cores', 'time']), (2, ['8', '90.1']), (3, ['16', '46.2'])]
    """
    (_, header), *body = rows
    if not body or any(len(cells) != len(header) + 1 for _, cells in body) or body[0][1][0] not in ("0", "1"):
        return list(rows)
    start = int(body[0][1][0])
    are_numbers = all(cells[0] == str(number) for number, (_, cells) in enumerate(body, start))
    if not are_numbers or not any(cells[-1] for _, cells in body):  # a mark at the ends of rows
        return list(rows)
    return [rows[0], *((line, cells[1:]) for line, cells in body)]


#: A row of these tells the units of the row above it.
_UNITS = frozenset({"s", "ms", "us", "ns", "min", "h", "d", "-", "--", "#", "%", "1", "GB", "MB", "GiB", "MiB"})


def _is_number(cell: str) -> bool:
    return cell[:1].isdigit() or (cell[:1] in "+-." and cell[1:2].isdigit())
