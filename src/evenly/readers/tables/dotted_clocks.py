"""Minutes and seconds written as a decimal number: ``27.51`` for 27 min 51 s, under ``time [min:sec]``."""

from __future__ import annotations

import re
from collections.abc import Iterable

from evenly.errors import ReadError
from evenly.readers.tables import columns as words
from evenly.readers.tables.values import Values
from evenly.runs.durations import TwoFields

__all__ = ["clock_in_name", "clock_in_text", "read_as_clock", "refuse_dotted_clock"]

_SEPARATOR = r"[.:]"
_NAMED: tuple[tuple[TwoFields, re.Pattern[str]], ...] = (
    ("mm:ss", re.compile(rf"(?<![^\W_:.])(?:m{{1,2}}|mins?|minutes?|minuten){_SEPARATOR}(?:s{{1,2}}|se[ck]s?|seconds?|"
                         r"sekunden)(?![^\W_])", re.IGNORECASE)),
    ("hh:mm", re.compile(rf"(?<![^\W_:.])(?:h{{1,2}}|hours?|std){_SEPARATOR}(?:m{{1,2}}|mins?|minutes?|minuten)"
                         r"(?![^\W_:.])", re.IGNORECASE)),
)  # fmt: skip
#: ``25.30 means 25 min 30 s``, ``3,45 = 3 Minuten 45 Sekunden``.
_EXPLAINED = re.compile(
    r"(?P<first>\d+)[.,](?P<second>\d\d?)\s*(?:=|:|is|are|means?|stands? for|i\.e\.|ist|sind|heißt|bedeutet|steht für|"
    r"signifie|veut dire|significa)\s*(?P=first)\s*"
    r"(?P<unit>m|min|mins|minutes?|minuten?|minutos?|minuti|h|hrs?|hours?|std|stunden?|heures?|horas?|ore)\.?\s*"
    r"(?:and|und|et|y|e|,)?\s*(?P=second)(?!\d)",
    re.IGNORECASE,
)
_NUMBER = re.compile(r"(?P<mark>[> ]*)(?P<first>\d+)(?:[.,](?P<second>\d+))?")
_SIXTY = 60
_SECOND = {"mm:ss": ("min", "s"), "hh:mm": ("h", "min")}


def clock_in_name(name: str) -> TwoFields | None:
    """Return what two fields are by the name of a column.

    Examples
    --------
    >>> [clock_in_name(name) for name in ("time [min:sec]", "walltime (m:s)", "Zeit (Min.Sek)", "t [h:min]")]
    ['mm:ss', 'mm:ss', 'mm:ss', 'hh:mm']
    >>> [clock_in_name(name) for name in ("time [min]", "Wall (hh:mm:ss)", "items/s")]
    [None, None, None]
    """
    return next((two for two, pattern in _NAMED if pattern.search(name) and not re.search(r"h:m+:s", name)), None)


def clock_in_text(lines: Iterable[str]) -> tuple[TwoFields, str] | None:
    """Return what a line says that a number with two fields means, and its words; None if none says it.

    Examples
    --------
    >>> clock_in_text(["# 25.30 means 25 min 30 s"]), clock_in_text(["1.30 = 1 Minute 30"])
    (('mm:ss', '25.30 means 25 min 30'), ('mm:ss', '1.30 = 1 Minute 30'))
    >>> clock_in_text(["speed-up at 16 cores = 12.5"]) is None
    True
    """
    for line in lines:
        if (match := _EXPLAINED.search(line)) is not None:
            return ("mm:ss" if match["unit"][0] in "mM" else "hh:mm"), match[0]
    return None


def refuse_dotted_clock(values: Values, column: str) -> None:
    """Ask whether plain numbers are decimal ones or two fields, if the name or a line beside the table tells a clock.

    Raises
    ------
    ReadError
        With the options that settle it.
    """
    beside = clock_in_text(values.around)
    two, said = beside or (clock_in_name(column), "")
    shown = _a_number(values, column)
    if values.options.unit is not None or two is None or not shown:
        return
    large, small = _SECOND[two]
    ways = [f"unit={two!r} (--unit {two}) if this is {fields}"] if (fields := _in_words(shown, two)) else []
    ways += [f"unit={unit!r} (--unit {unit}) if it is {shown} {unit}" for unit in (large, small)]
    raise ReadError(
        values.path,
        f"{f'{said!r} stands beside the table' if said else f'{column!r} names a clock'}, but its cells are numbers as "
        f"{shown!r}: pass {', '.join(ways[:-1])}, or {ways[-1]}",
    )


def _in_words(number: str, two: TwoFields) -> str:
    """Return what a number with two fields means, as 27 min 51 s; "" if it can't be one."""
    whole, *parts = re.split("[.,]", number)
    if not parts or len(parts[0]) > 2 or int(parts[0].ljust(2, "0")) >= _SIXTY:
        return ""
    return f"{int(whole)} {_SECOND[two][0]} {int(parts[0].ljust(2, '0'))} {_SECOND[two][1]}"


def _a_number(values: Values, column: str) -> str:
    """Return the first cell, or the first with a fraction, if all cells are plain numbers; else ""."""
    filled = [cell for cell in values.texts(column) if cell.lower() not in words.NO_TIME]
    if not all(map(_NUMBER.fullmatch, filled)):
        return ""
    return next((cell for cell in filled if re.search("[.,]", cell)), filled[0] if filled else "").lstrip("> ")


def read_as_clock(values: Values, column: str, two: TwoFields) -> str:
    """Write plain numbers of a column as a clock, 27.51 as 27:51 and 16.4 as 16:40, and return what was done.

    A spreadsheet drops the last zero. Nothing is done where the cells are durations already.

    Raises
    ------
    ReadError
        If they can't be a clock: no number has a fraction, or one is no number of seconds below 60.

    Examples
    --------
    >>> import numpy as np, pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> values = Values(TableOptions(), Path("a.csv"), pd.DataFrame({"time": ["27.51", "16.4"]}), np.array([2, 3]))
    >>> read_as_clock(values, "time", "mm:ss"), values.texts("time")
    ("'27.51' is 27 min 51 s", ['27:51', '16:40'])
    """
    texts = values.texts(column)
    filled = {row: cell for row, cell in enumerate(texts) if cell.lower() not in words.NO_TIME}
    matches = {row: match for row, cell in filled.items() if (match := _NUMBER.fullmatch(cell))}
    if not matches or len(matches) < len(filled):
        return ""
    large, small = _SECOND[two]
    for row, match in matches.items():
        second = (match["second"] or "").ljust(2, "0")
        if len(second) > 2 or int(second) >= _SIXTY:
            raise values.at(
                row,
                f"{texts[row]!r} in column {column!r} is no {two}: behind the point must stand two digits below 60. "
                f"Pass unit={large!r} (--unit {large}), or {small!r}, if it is a decimal number",
            )
        texts[row] = f"{match['mark']}{match['first']}:{second}"
    said = _in_words(shown := _a_number(values, column), two)
    if not said:
        raise ReadError(
            values.path,
            f"no cell of {column!r} has two fields, so unit={two!r} (--unit {two}) says nothing: pass unit={large!r} "
            f"(--unit {large}) or unit={small!r} (--unit {small})",
        )
    values.replace(column, texts)
    return f"{shown!r} is {said}"
