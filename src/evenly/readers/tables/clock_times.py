"""Points in time in two columns, the start and the end of each run, whose difference is its time; or its parts.

Dates with times as ISO 8601, Slurm and people write them (``14/03/2026 9:15 PM``), with or without time zone, times of
day, and seconds (also milliseconds, microseconds, nanoseconds) since 1970.
"""

from __future__ import annotations

import itertools
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from datetime import datetime

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.tables.columns import measured, time_candidates, unit_of_time
from evenly.readers.tables.states import name_key
from evenly.runs.units import SECONDS_PER_DAY

__all__ = [
    "ENDS",
    "STARTS",
    "Between",
    "are_dates",
    "between",
    "in_parts",
    "is_date",
    "moments",
    "start_and_end",
    "tell_when",
]

#: Names of columns of starts and of ends, as `name_key` writes them.
STARTS = ("start", "started", "start_time", "starttime", "started_at", "start_date", "begin", "begin_time", "began",
           "start_ts", "t_start", "job_start", "run_start", "time_start", "beginn", "startzeit", "anfang", "début",
           "debut", "inicio", "início", "inizio")  # fmt: skip
ENDS = (
    "end", "ended", "end_time", "endtime", "ended_at", "end_date", "finish", "finished", "finish_time", "finished_at",
    "stop", "stopped", "stop_time", "completed_at", "completion_time", "end_ts", "t_end", "job_end", "run_end",
    "time_end", "ende", "endzeit", "fin", "fim", "fine", "término",
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
_DOTTED = re.compile(r"(?P<day>\d\d?)\.(?P<month>\d\d?)\.(?P<year>\d{4})(?P<rest>[ T]\d\d?:\d\d.*)?")
#: An hour without its zero: ``2025-02-01 8:00``.
_HOUR = re.compile(r"(?<=\d[ T])(?=\d:)")
#: A date with its year last, or with a month in words; the time of day may be told with AM and PM.
_TIME = r"\d{1,2}:\d\d(?::\d\d(?:\.\d+)?)?(?:\s*[ap]\.?m\.?)?"
_WRITTEN = re.compile(
    rf"(?P<first>\d{{1,2}})(?P<mark>[/.-])(?P<second>\d{{1,2}})(?P=mark)(?P<year>\d{{4}}|\d\d)(?:,?\s+{_TIME})?", re.I
)
_WORD = r"[^\W\d_]{3,10}\.?"
_WITH_MONTH = re.compile(
    rf"(?:{_WORD},?\s+)?(?:\d{{1,2}}\.?[\s/-]{_WORD}|{_WORD}\s+\d{{1,2}})[\s,/-]+"
    rf"(?:\d{{4}}[\s,:]+{_TIME}|{_TIME}\s+\d{{4}})",
    re.I,
)
#: As ``bjobs`` writes it: ``Feb  1 08:00``.
_WITHOUT_YEAR = re.compile(r"[A-Z][a-z]{2}[ -]+\d{1,2}[ -]+\d{1,2}:\d\d(?::\d\d)?")
#: Months in German, French, Spanish, Italian, Portuguese and Dutch, where they aren't as in English.
_MONTHS = {
    word: english
    for english, words in {
        "Jan": "jän januar janv janvier ene enero gen gennaio janeiro januari",
        "Feb": "februar févr fév février fevr febrero febbraio fevereiro fev februari",
        "Mar": "mär märz mrz mars marzo março maart mrt",
        "Apr": "avr avril abr abril aprile",
        "May": "mai mayo mag maggio maio mei",
        "Jun": "juni juin junio giu giugno junho",
        "Jul": "juli juil juillet julio lug luglio julho",
        "Aug": "août aout ago agosto augustus",
        "Sep": "sept septembre septiembre set settembre setembro",
        "Oct": "okt oktober octobre octubre ott ottobre out outubro",
        "Nov": "novembre noviembre novembro",
        "Dec": "dez dezember déc décembre dic diciembre dicembre dezembro",
    }.items()
    for word in words.split()
}
_MONTH = re.compile(_WORD)
_TIME_OF_DAY = re.compile(_TIME, re.I)
_TO_THE_MINUTE = re.compile(r"(?:[01]?\d|2[0-3]):[0-5]\d")
_UTC = re.compile(r"(?<=\d)\s*(?:UTC|GMT)$")
#: Of an epoch.
_UNIT = re.compile(r"_(?:s|sec|ms|us|ns|unix|epoch|utc)$")
_NOT_YET = frozenset({"", "-", "-/-", "unknown", "none", "n/a", "na", "null"})
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
    said : str
        What can't be seen in the columns: a change of the clock without a time zone, days without dates.
    """

    start: str
    end: str
    seconds: NDArray[np.float64]
    said: str


def between(columns: dict[str, Sequence[str]]) -> Between | None:
    """Return the time between a column of starts and one of ends; None if there are no two such columns.

    Raises
    ------
    InputError
        If ``03/04/2026`` may be a day of March or April, and the time depends on it.

    Examples
    --------
    >>> between({"Start": ["2026-11-25T10:00:00"], "End": ["2026-11-25T11:00:30"]}).seconds.tolist()
    [3630.0]
    >>> between({"start": ["3/14/2026 11:50 AM"], "end": ["3/14/2026 12:08 PM"]}).seconds.tolist()
    [1080.0]
    >>> between({"start": ["23:50"], "end": ["00:10"]}).seconds.tolist()
    [1200.0]
    """
    if (names := start_and_end(columns)) is None:
        return None
    start, end = names
    points = [_points(columns[name]) for name in (start, end)]
    if points[0] is not None and points[1] is not None and points[0][1] == points[1][1]:
        zone = "no time zone is told: a change of the clock in between would be missed"
        return Between(start, end, points[1][0] - points[0][0], zone * (points[0][1] == "local"))
    return _of_day(start, end, columns) or _as_written(start, end, columns)


def start_and_end(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the column of starts and that of ends, by their names; None if there aren't one of each.

    Examples
    --------
    >>> start_and_end(["cores", "Start", "End"]), start_and_end(["start_ms", "end_ms"]), start_and_end(["finished"])
    (('Start', 'End'), ('start_ms', 'end_ms'), None)
    """
    keys = {name: _UNIT.sub("", name_key(name)) for name in columns}
    starts, ends = ([name for name, key in keys.items() if key in known] for known in (STARTS, ENDS))
    return (starts[0], ends[0]) if len(starts) == len(ends) == 1 else None


def moments(columns: Mapping[str, Sequence[str]]) -> list[dict[str, NDArray[np.float64]]]:
    """Return the seconds since 1970 of dates in several columns, (n_rows,) each; NaN where a cell is empty.

    Two such tables are returned, with the day and with the month first, where ``03/04/2026`` may be either throughout.

    Raises
    ------
    InputError
        If a cell is no date, or some dates tell their time zone and others don't.

    Examples
    --------
    >>> [one["submitted"].tolist() for one in moments({"submitted": ["1970-01-01 00:01", "-"]})]
    [[60.0, nan]]
    >>> [one["in"].tolist() for one in moments({"in": ["01/02/1970"]})]
    [[2678400.0], [86400.0]]
    """
    kinds: dict[str, str] = {}
    known: dict[str, NDArray[np.float64]] = {}
    written: dict[str, Sequence[str]] = {}
    for name, cells in columns.items():
        points = _points(cells)
        if points is not None:
            known[name], kinds[name] = points[0], "local" if points[1] == "local" else "zoned"
            continue
        for cell in (cell.strip() for cell in cells):
            if cell.lower() not in _NOT_YET and not (_WRITTEN.fullmatch(cell) or _WITH_MONTH.fullmatch(cell)):
                raise InputError(
                    f"{cell!r} in column {name!r} is no date with a time that evenly knows, or is written otherwise "
                    "than the others there: write dates as 2026-12-31 08:30"
                )
        written[name], kinds[name] = cells, "local"
    if len(set(kinds.values())) > 1:
        zoned = next(name for name, kind in kinds.items() if kind == "zoned")
        local = next(name for name, kind in kinds.items() if kind == "local")
        raise InputError(
            f"the dates in {zoned!r} tell their time zone and those in {local!r} don't: write all of them with it, as "
            "2026-12-31T08:30:00+01:00, or none"
        )
    orders = _orders([cell.strip() for cells in written.values() for cell in cells])
    if not orders:
        raise InputError(
            f"the dates in {', '.join(map(repr, written))} have numbers above 12 in the places of day and month: write "
            "dates as 2026-12-31 08:30"
        )
    return [known | {name: _parsed(cells, day_first=order) for name, cells in written.items()} for order in orders]


def _orders(cells: Iterable[str]) -> list[bool]:
    """Return whether the day may be first, and whether the month may be; dots stand behind days only."""
    found = [
        (match["mark"], int(match["first"]), int(match["second"])) for match in map(_WRITTEN.fullmatch, cells) if match
    ]
    if not found:
        return [True]
    day = all(second <= 12 for _, _, second in found)
    month = all(first <= 12 and mark != "." for mark, first, _ in found)
    return [order for order, fits in ((True, day), (False, month)) if fits]


def _of_day(start: str, end: str, columns: Mapping[str, Sequence[str]]) -> Between | None:
    """Return the time between times of day; an end before its start is on the next day."""
    cells = [[cell.strip() for cell in columns[name]] for name in (start, end)]
    if not all(_TIME_OF_DAY.fullmatch(cell) for column in cells for cell in column):
        return None
    first, last = (_parsed(column, day_first=False) for column in cells)
    said = "no dates are told: an end before its start is on the next day, and a run of more than a day would be missed"
    return Between(start, end, (last - first) % SECONDS_PER_DAY, said)


def _as_written(start: str, end: str, columns: Mapping[str, Sequence[str]]) -> Between | None:
    """Return the time between dates with the year last, whose order of day and month is told by one above 12."""
    cells = [columns[name] for name in (start, end)]
    there = [cell.strip() for column in cells for cell in column if cell.lower() not in _NOT_YET]
    matches = [_WRITTEN.fullmatch(cell) for cell in there]
    if not there or not all(match or _WITH_MONTH.fullmatch(cell) for match, cell in zip(matches, there, strict=True)):
        return None
    orders = _orders(there)
    found = [_parsed(cells[1], day_first=order) - _parsed(cells[0], day_first=order) for order in orders]
    if not found:
        return None
    if len(found) > 1 and not np.array_equal(found[0], found[1], equal_nan=True):
        example = next(match[0] for match in matches if match)
        raise InputError(
            f"{example!r} may have the day or the month first, and the times from {start!r} to {end!r} depend on it: "
            "write dates as 2026-12-31"
        )
    return Between(start, end, found[0], "no time zone is told: a change of the clock in between would be missed")


def _parsed(cells: Sequence[str], *, day_first: bool) -> NDArray[np.float64]:
    """Return the seconds of dates and times; NaN for those that aren't known yet.

    Raises
    ------
    InputError
        If a cell is no date, as 31/02/2026.
    """
    texts = [None if cell.lower() in _NOT_YET else _MONTH.sub(_in_english, cell) for cell in cells]
    moments = pd.to_datetime(pd.Series(texts, dtype=object), format="mixed", dayfirst=day_first, errors="coerce")
    for cell, text, wrong in zip(cells, texts, moments.isna(), strict=True):
        if wrong and text is not None:
            raise InputError(f"{cell!r} is no date that evenly knows: write dates as 2026-12-31 08:30")
    return np.asarray((moments - pd.Timestamp(1970, 1, 1)) / pd.Timedelta(seconds=1), dtype=np.float64)


def _in_english(month: re.Match[str]) -> str:
    return _MONTHS.get(month[0].lower().rstrip("."), month[0])


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


def are_dates(cells: Iterable[str]) -> bool:
    """Tell whether cells hold dates, and nothing else.

    Examples
    --------
    >>> are_dates(["02/01/2024 07:51:00", "-/-"]), are_dates(["Feb  1 08:00"]), are_dates(["3994"]), are_dates([""])
    (True, True, False, False)
    """
    known = [cell for cell in cells if cell.lower() not in _NOT_YET]
    return bool(known) and is_date(known[0]) and all(map(is_date, set(known)))


def time_of_day(columns: Mapping[str, Sequence[str]]) -> str:
    """Return the column ``time`` with the times of day right behind a date, where another is the time of the run.

    It is "" if there is none.

    Examples
    --------
    >>> rows = {"date": ["2024-03-14", "2024-03-15"], "time": ["23:50", "05:08"], "wall_min": ["97", "50"]}
    >>> time_of_day(rows), time_of_day({name: rows[name] for name in ("date", "time")})
    ('time', '')
    """
    names = list(columns)
    for before, name in itertools.pairwise(names):
        days = [cell for cell in columns[before] if ":" not in cell]
        beside = len(days) == len(columns[before]) and are_dates(days) and name_key(name) == "time"
        if beside and all(map(_TIME_OF_DAY.fullmatch, columns[name])):
            return name if time_candidates(one for one in names if one != name) else ""
    return ""


def tell_when(name: str, cells: Iterable[str]) -> bool:
    """Tell whether a column holds points in time: dates, or times of day in one of starts or of ends.

    So does one with ``08:15`` that no word, and no unit, calls a time.

    Examples
    --------
    >>> tell_when("start", ["08:15:02", "-"]), tell_when("wall", ["08:15:02"]), tell_when("on", ["2026-11-25"])
    (True, False, True)
    >>> tell_when("Uhrzeit", ["08:15", "23:15"]), tell_when("init [min]", ["08:15"]), tell_when("wall", ["08:15"])
    (True, False, False)
    """
    known = [cell for cell in cells if cell.lower() not in _NOT_YET]
    is_named = _UNIT.sub("", name_key(name)) in (*STARTS, *ENDS)
    if all(map(_TO_THE_MINUTE.fullmatch, known)) and measured(name) is None and not unit_of_time(name):
        is_named = True
    return are_dates(known) or (is_named and bool(known) and all(map(_TIME_OF_DAY.fullmatch, known)))


def is_date(cell: str) -> bool:
    """Tell whether a text is a date, with or without a time.

    Examples
    --------
    >>> is_date("2026-11-25"), is_date("2026-11-25T10:00:00Z"), is_date("20261125"), is_date("25")
    (True, True, False, False)
    >>> is_date("11/25/2026"), is_date("25 Nov 2026 10:00"), is_date("16/32/64")
    (True, True, False)
    """
    if (written := _WRITTEN.fullmatch(cell)) is not None:
        numbers = int(written["first"]), int(written["second"])
        return len(written["year"]) == 4 and min(numbers) <= 12 and max(numbers) <= 31
    if _WITH_MONTH.fullmatch(cell) is not None or _WITHOUT_YEAR.fullmatch(cell) is not None:
        return True
    return ("-" in cell[4:8] or _DOTTED.fullmatch(cell) is not None) and _moment(cell) is not None


def _moment(cell: str) -> datetime | None:
    if dotted := _DOTTED.fullmatch(cell):  # day, month, year
        cell = f"{dotted['year']}-{int(dotted['month']):02}-{int(dotted['day']):02}{dotted['rest'] or ''}"
    cell = _HOUR.sub("0", _UTC.sub("+00:00", cell))
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
