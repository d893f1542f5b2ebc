"""Points in time in two columns, the start and the end of each run, whose difference is its time; or its parts.

Dates with times as ISO 8601 and Slurm write them, with or without time zone, and seconds (also milliseconds,
microseconds, nanoseconds) since 1970.
"""

from __future__ import annotations

import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.states import name_key

__all__ = ["Between", "between", "in_parts", "is_date"]

_STARTS = ("start", "started", "start_time", "starttime", "started_at", "start_date", "begin", "begin_time", "began",
           "start_ts", "t_start", "beginn", "startzeit", "début", "debut")  # fmt: skip
_ENDS = (
    "end", "ended", "end_time", "endtime", "ended_at", "end_date", "finish", "finished", "finish_time", "finished_at",
    "stop", "stopped", "stop_time", "completed_at", "completion_time", "end_ts", "t_end", "ende", "endzeit", "fin",
)  # fmt: skip
#: Parts of a time.
_PARTS = {
    **dict.fromkeys(("h", "hr", "hrs", "hour", "hours", "std", "stunden", "heures", "horas", "ore"), "h"),
    **dict.fromkeys(("m", "min", "mins", "minute", "minutes", "minuten", "minutos", "minuti"), "min"),
    **dict.fromkeys(
        ("s", "sec", "secs", "second", "seconds", "sek", "sekunden", "secondes", "segundos", "secondi"), "s"
    ),
}
_BEFORE_PARTS = frozenset({"", "time", "wall", "walltime", "elapsed", "runtime", "zeit", "laufzeit", "temps"})
_STATISTICS = frozenset({"mean", "avg", "average", "median", "max", "std", "stddev", "sd"})
_DOTTED = re.compile(r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})(?P<rest>[ T]\d\d:\d\d.*)?")
_NOT_YET = frozenset({"", "-", "unknown", "none", "n/a", "na", "null"})
#: Seconds since 1970 lie between; larger numbers count smaller units.
_EPOCH = (1e8, 1e11)


@dataclass(frozen=True)
class Between:
    """The time between two columns.

    Parameters
    ----------
    start, end : str
        The columns.
    seconds : array (n_rows,)
        NaN where one of them is empty.
    zoned : bool
        Whether a time zone or seconds since 1970 make sure that no change of the clock lies in between.
    """

    start: str
    end: str
    seconds: NDArray[np.float64]
    zoned: bool


def between(columns: dict[str, Sequence[str]]) -> Between | None:
    """Return the time between a column of starts and one of ends; None if there are no two such columns.

    Examples
    --------
    >>> found = between({"Start": ["2026-11-25T10:00:00"], "End": ["2026-11-25T11:00:30"]})
    >>> found.seconds.tolist(), found.zoned
    ([3630.0], False)
    """
    starts = [name for name in columns if name_key(name) in _STARTS]
    ends = [name for name in columns if name_key(name) in _ENDS]
    if len(starts) != 1 or len(ends) != 1:
        return None
    points = [_points(columns[name]) for name in (starts[0], ends[0])]
    if points[0] is None or points[1] is None or points[0][1] != points[1][1]:
        return None
    return Between(starts[0], ends[0], points[1][0] - points[0][0], points[0][1] != "local")


def in_parts(columns: Mapping[str, Sequence[str]]) -> tuple[tuple[str, ...], NDArray[np.float64]] | None:
    """Return the columns of hours, minutes and seconds of one time, and its seconds, (n_rows,); None if there are none.

    All but the last are whole numbers, and what stands behind another is below 60: 80 minutes beside 1.33 hours aren't
    parts.

    Examples
    --------
    >>> names, seconds = in_parts({"cores": ["4"], "h": ["1"], "min": ["20"], "s": ["4.5"]})
    >>> names, seconds.tolist()
    (('h', 'min', 's'), [4804.5])
    """
    found: dict[str, str] = {}
    for name in columns:
        base, _, last = name_key(re.sub(r"[\[\]()]", " ", name).strip()).rpartition("_")
        if (unit := _PARTS.get(last)) and base in _BEFORE_PARTS:
            if unit in found:
                return None
            found[unit] = name
    units = [unit for unit in ("h", "min", "s") if unit in found]
    if len(units) < 2 or units == ["h", "s"] or (len(units) < 3 and "m" in map(name_key, found.values())):
        return None
    if not _STATISTICS.isdisjoint(map(name_key, columns)):  # then min is the least time
        return None
    try:
        values = np.array([[float(cell) for cell in columns[found[unit]]] for unit in units])
    except ValueError:
        return None
    whole = (values[:-1] == np.round(values[:-1])).all()
    if not (whole and (values >= 0).all() and (values[1:] < 60).all()):
        return None
    factors = np.array([{"h": 3600.0, "min": 60.0, "s": 1.0}[unit] for unit in units])
    return tuple(found[unit] for unit in units), factors @ values


def is_date(cell: str) -> bool:
    """Tell whether a text is a date, with or without a time.

    Examples
    --------
    >>> is_date("2026-11-25"), is_date("2026-11-25T10:00:00Z"), is_date("20261125"), is_date("25")
    (True, True, False, False)
    """
    return ("-" in cell[4:8] or _DOTTED.fullmatch(cell) is not None) and _moment(cell) is not None


def _moment(cell: str) -> datetime | None:
    if dotted := _DOTTED.fullmatch(cell):  # day, month, year
        cell = f"{dotted['year']}-{int(dotted['month']):02}-{int(dotted['day']):02}{dotted['rest'] or ''}"
    try:
        return datetime.fromisoformat(cell.replace("/", "-"))
    except ValueError:
        return None


def _points(cells: Iterable[str]) -> tuple[NDArray[np.float64], str] | None:
    """Return seconds and their kind, one for all: ``epoch s``, ``zoned`` or ``local``."""
    seconds, kinds = [], set()
    for cell in cells:
        value, kind = (math.nan, "") if cell.lower() in _NOT_YET else _point(cell)
        seconds.append(value)
        kinds |= {kind} - {""}
        if kind == "none":
            return None
    return (np.array(seconds), kinds.pop()) if len(kinds) == 1 else None


def _point(cell: str) -> tuple[float, str]:
    try:
        number = float(cell)
    except ValueError:
        moment = _moment(cell)
        if moment is None:
            return math.nan, "none"
        return (moment - datetime(1970, 1, 1, tzinfo=moment.tzinfo)).total_seconds() - _offset(moment), _zone(moment)
    for unit, factor in (("s", 1.0), ("ms", 1e3), ("us", 1e6), ("ns", 1e9)):
        if _EPOCH[0] <= number / factor < _EPOCH[1]:
            return number / factor, f"epoch {unit}"
    return math.nan, "none"


def _offset(moment: datetime) -> float:
    ahead = moment.utcoffset()
    return ahead.total_seconds() if ahead is not None else 0.0


def _zone(moment: datetime) -> str:
    return "local" if moment.tzinfo is None else "zoned"
