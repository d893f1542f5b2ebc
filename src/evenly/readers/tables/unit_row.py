"""Units elsewhere than in the header: in a row below it, ``-,ms``, and in cells, ``3.2 GB``."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Collection, Iterable, Sequence

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.tables.columns import NO_TIME, canonical_unit, measured, time_candidates, unit_of_time
from evenly.readers.tables.per_work import time_of_work
from evenly.runs.count_names import kind_of
from evenly.runs.durations import is_duration
from evenly.runs.units import SECONDS_PER, base_unit, to_base

__all__ = [
    "are_units",
    "is_unit_of_time",
    "plural_of_count",
    "unit_in_text",
    "units_in_text",
    "with_cell_units",
    "with_counts",
    "with_unit_column",
    "with_units",
]

_UNIT_COLUMNS = frozenset({"unit", "units", "time_unit", "time unit", "einheit", "unité"})
_OTHER_UNITS = frozenset({
    "#", "%", "count", "counts", "number", "cores", "nodes", "ranks", "tasks", "threads", "gpus", "processes", "cells",
    "points", "elements", "dofs", "dof", "particles", "atoms", "steps", "bytes", "m", "mm", "km", "°c", "k", "ghz",
    "mhz", "mio", "mio.", "mrd.", "tsd.", "millions", "w", "kw", "gflop/s", "gflops", "tflop/s", "gb/s", "mb/s",
    "x", "string", "int",
    "float", "eur", "€", "usd", "$",
})  # fmt: skip
#: Rates of simulated time, and its cost: the time of a simulated day or year follows from them.
_OF_YEARS = frozenset({"SYPD", "SDPD", "CHSY", "CHPSY"})
_NONE = frozenset({"", "-", "--", "1", "none", "n/a"})

#: How many of them are one: thousands, or millions of cells.
_MANY = re.compile(r"(?:[kmgt]|mio\.? ?|10\^\d+ ?|1e\d+ ?|thousand |millions? (?:of )?)(?=.)", re.IGNORECASE)

#: A number and its unit, of memory, energy or time.
_WITH_UNIT = re.compile(
    r"(?P<number>[+-]?\d+(?:\.\d+)?(?:[eE][+-]?\d+)?) ?(?P<unit>[kKMGT]i?B|[kM]?J|k?Wh|[mun]?s|min|h)"
)

#: How a column of clocks is written, in a row of units.
_CLOCK = re.compile(r"(?:d{1,2}-)?h{1,2}:mm(?::ss)?|m{1,2}:ss", re.IGNORECASE)
#: ``n=100``
_NAMED = re.compile(r"(?P<name>[^\W\d]\w*)\s*=\s*(?P<value>\d\S*)")
_WITH_WORD = re.compile(r"(\d+)[ -]([^\W\d_]+)")
#: A run on one core.
_SERIAL = frozenset({"serial", "sequential", "seriell", "sequentiell", "séquentiel", "secuencial", "seriale", "série"})


def with_cell_units(cells: pd.DataFrame) -> tuple[pd.DataFrame, dict[str, str]]:
    """Return a table with plain numbers in columns whose every cell has a unit, and the unit of each such column.

    A measured quantity has its unit in its name then.

    Examples
    --------
    >>> cells, units = with_cell_units(pd.DataFrame({"cores": ["8", "16"], "peak memory": ["3.2 GB", "800 MB"]}))
    >>> cells.to_dict("list")
    {'cores': ['8', '16'], 'peak memory [GB]': ['3.2', '0.8']}
    >>> units
    {'peak memory [GB]': 'GB'}
    """
    units: dict[str, str] = {}
    changed: dict[str, list[str]] = {}
    names: dict[str, str] = {}
    for name, column in ((str(name), column) for name, column in cells.items()):
        texts = [cell for cell in column if cell.lower() not in NO_TIME]
        if not texts or _WITH_UNIT.fullmatch(texts[0]) is None:  # most columns of long tables
            continue
        found = [_WITH_UNIT.fullmatch(cell) for cell in texts]
        told = Counter(canonical_unit(match["unit"]) for match in found if match)
        if None in found or len({base_unit(unit) for unit in told}) != 1:
            continue
        unit = told.most_common(1)[0][0]
        if base_unit(unit) == "s" and (time_candidates([name]) or not _are_chosen(texts)):
            continue  # measured
        changed[name] = [_in_unit(cell, unit) for cell in column]
        if measured(f"{name} [{unit}]") is not None:
            names[name] = f"{name} [{unit}]"
        units[names.get(name, name)] = unit
    return (cells.assign(**changed).rename(columns=names) if changed else cells), units


def with_counts(cells: pd.DataFrame, asked: Collection[str]) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with numbers in place of ``1 process``, ``2 processes``, and notes.

    A column whose name doesn't say what it counts is named so, unless the user asks for it. Beside such cells,
    ``serial`` is one.

    Examples
    --------
    >>> cells = pd.DataFrame({"resources": ["serial", "2 cores", "4 cores"]})
    >>> cells, notes = with_counts(cells, ())
    >>> cells.to_dict("list"), notes
    ({'cores': ['1', '2', '4']}, ["'resources' is read as 'cores', 'serial' as 1"])
    >>> with_counts(pd.DataFrame({"": ["n=100", "n=1e4"], "p = 1": ["9", "8"]}), ())[0].to_dict("list")
    {'n': ['100', '1e4'], 'p = 1': ['9', '8']}
    """
    names: dict[str, str] = {}
    changed: dict[str, list[str]] = {}
    notes = []
    for name, column in ((str(name), column) for name, column in cells.items()):
        pairs = [_NAMED.fullmatch(cell) for cell in column]
        said = {pair["name"] if pair else "" for pair in pairs}
        if not name and len(said) == 1 and (own := said.pop()) and own not in cells:
            changed[name] = [pair["value"] for pair in pairs if pair]
            names[name] = own
            notes.append(f"the column without a name is read as {own!r}, as its cells say")
            continue
        others = NO_TIME | _SERIAL
        first = next((cell for cell in column if cell.lower() not in others), "")
        if _WITH_WORD.fullmatch(first) is None:  # most columns of long tables
            continue
        found = [_WITH_WORD.fullmatch(cell) for cell in column if cell.lower() not in others]
        kinds = {kind_of(plural_of_count(match[2])) if match else "" for match in found}
        if len(kinds) != 1 or "" in kinds:
            continue
        changed[name] = ["1" if cell.lower() in _SERIAL else _WITH_WORD.sub(r"\1", cell) for cell in column]
        several = max((match[2] for match in found if match), key=len)
        told = []
        if not kind_of(name) and name not in asked and several not in cells:
            names[name] = several
            told.append(f"as {several!r}")
        told += [f"{cell!r} as 1" for cell in dict.fromkeys(column) if cell.lower() in _SERIAL]
        notes += [f"{name!r} is read {', '.join(told)}"] if told else []
    return (cells.assign(**changed).rename(columns=names) if changed else cells), notes


def plural_of_count(word: str) -> str:
    """Return the word for many of what a word behind a number counts: cores of core; "" if it counts nothing.

    Examples
    --------
    >>> plural_of_count("core"), plural_of_count("Kern"), plural_of_count("nodes"), plural_of_count("steps")
    ('cores', 'Kerne', 'nodes', '')
    """
    return next((word + end for end in ("", "s", "es", "e") if kind_of(word + end)), "")


def _are_chosen(texts: Sequence[str]) -> bool:
    """Tell whether cells repeat a few values, as a setting does: time steps of 10 s, 20 s, 40 s."""
    return len(set(texts)) < 0.7 * len(texts)


def _in_unit(cell: str, unit: str) -> str:
    match = _WITH_UNIT.fullmatch(cell)
    if match is None:
        return cell
    own, number = canonical_unit(match["unit"]), np.array([float(match["number"])])
    return match["number"] if own == unit else f"{(to_base(number, own) / to_base(np.ones(1), unit))[0]:.12g}"


def with_unit_column(cells: pd.DataFrame, time: str | None = None) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the units of a column ``unit`` in the cells of the time, and a note.

    Nothing changes where it isn't plain which column is the time, or no cell holds a unit of time. A unit in one row
    only holds for all. Where some rows have units of other quantities, the column stays, so that rows can be chosen.
    The time of a unit of work and a rate (``s/day``, ``SYPD``) go into the name of the time.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Text.
    time : str, optional
        The column of the time, where it is known.

    Examples
    --------
    >>> cells, notes = with_unit_column(pd.DataFrame({"cores": ["8", "16"], "time": ["2", "58"], "unit": ["h", "min"]}))
    >>> cells["time"].tolist(), notes
    (['2 h', '58 min'], ["'unit' holds the unit of 'time'"])
    >>> list(with_unit_column(pd.DataFrame({"cores": ["8"], "time": ["2"], "unit": ["SYPD"]}))[0])
    ['cores', 'time (SYPD)']

    Raises
    ------
    InputError
        If the rows have times of different work.
    """
    named = [name for name in cells if str(name).strip().lower() in _UNIT_COLUMNS]
    times = [one.column for one in time_candidates([str(name) for name in cells if name not in named])]
    times = [time] if time is not None and time in cells else times
    if len(named) != 1 or len(times) != 1 or unit_of_time(times[0]):
        return cells, []
    written = {str(cell).strip() for cell in cells[named[0]]} - {""}
    if works := {unit: work for unit in written if (work := _work_of(unit))}:
        if len({works.get(unit, unit) for unit in written}) > 1:
            raise InputError(
                f"the units in column {named[0]!r} ({', '.join(sorted(written))}) aren't of the same work: give all "
                "times in one unit, in a column such as 'time (s/day)'"
            )
        if len(written) == 1:
            return _with_work(cells, str(named[0]), times[0], *written, is_named=time is not None)
    units = [canonical_unit(re.sub(r"\s*/.*", "", cell.strip())) for cell in cells[named[0]]]  # us/op: us
    told = {unit for unit in units if unit}
    if told.isdisjoint(SECONDS_PER):
        return cells, []
    if len(told) == 1:  # it may stand in the first row only
        units = [unit or next(iter(told)) for unit in units]
    joined = [
        cell if not cell or is_duration(cell) else f"{cell} {unit}".strip()
        for cell, unit in zip(cells[times[0]], units, strict=True)
    ]
    changed = cells.assign(**{times[0]: joined})
    if told <= SECONDS_PER.keys():
        changed = changed.drop(columns=named)
    return changed, [f"{named[0]!r} holds the unit of {times[0]!r}"]


def _work_of(unit: str) -> str:
    """Return of which work a time of this unit is: ``a simulated day`` of ``s/day``; "" if none is named."""
    if unit.upper() in _OF_YEARS:
        return unit.upper()
    name = f"time ({unit})"
    work = time_of_work(name)
    return work.said if work is not None and work.is_certain and unit_of_time(name) else ""


def _with_work(
    cells: pd.DataFrame, column: str, time: str, unit: str, *, is_named: bool
) -> tuple[pd.DataFrame, list[str]]:
    """Return a table with the unit of all rows in the name of the time, and a note."""
    if is_named:
        raise InputError(f"{column!r} says that {time!r} is in {unit}: rename it to '{time} ({unit})'")
    changed = cells.drop(columns=column).rename(columns={time: f"{time} ({unit})"})
    return changed, [f"{column!r} holds the unit of {time!r}"]


def with_units(cells: pd.DataFrame, lines: NDArray[np.int64]) -> tuple[pd.DataFrame, NDArray[np.int64], dict[str, str]]:
    """Return a table without a first row of units, and the unit of each column that it names.

    What is measured, by its name, has its unit in the name then.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["-", "8"], "time": ["[ms]", "640"], "dt": ["s", "2"]})
    >>> cells, lines, units = with_units(cells, np.array([2, 3]))
    >>> cells.to_dict("list"), lines.tolist(), units
    ({'cores': ['8'], 'time [ms]': ['640'], 'dt': ['2']}, [3], {'time [ms]': 'ms', 'dt': 's'})
    """
    if len(cells) < 2:
        return cells, lines, {}
    first = list(map(str, cells.iloc[0]))
    if not are_units(first):
        return cells, lines, {}
    by_column = {
        str(name): canonical_unit(text)
        for name, text in zip(cells.columns, map(_bare, first), strict=True)
        if text.lower() not in _NONE
    }
    names = {
        name: f"{name} [{unit}]"
        for name, unit in by_column.items()
        if unit not in name and (_CLOCK.fullmatch(unit) or measured(f"{name} [{unit}]") is not None)
    }
    rest = cells.iloc[1:].rename(columns=names).reset_index(drop=True)
    return rest, lines[1:], {names.get(name, name): unit for name, unit in by_column.items() if _is_known(unit)}


def are_units(row: Sequence[str]) -> bool:
    """Tell whether the cells of a row are units, one of them of a time.

    Examples
    --------
    >>> are_units(["-", "Mcells", "h"]), are_units(["[ranks]", "[my unit]", "[ms]"]), are_units(["a", "s"])
    (True, True, False)
    """
    told = [canonical_unit(text) for text in map(_bare, row) if text.lower() not in _NONE]
    bracketed = all(map(_is_bracketed, filter(str.strip, row)))
    return any(map(is_unit_of_time, row)) and (bracketed or all(map(_is_unit, told)))


def is_unit_of_time(cell: str) -> bool:
    """Tell whether a cell is a unit of a time, or of simulated time per day, in brackets or not.

    Examples
    --------
    >>> is_unit_of_time("[ms]"), is_unit_of_time("SYPD"), is_unit_of_time("GB")
    (True, True, False)
    """
    unit = canonical_unit(_bare(cell))
    return unit in SECONDS_PER or unit.lower() in ("sypd", "sdpd") or _CLOCK.fullmatch(unit) is not None


def _bare(cell: str) -> str:
    return cell.strip("[]() ")


def _is_bracketed(cell: str) -> bool:
    return re.fullmatch(r"[\[(].*[\])]", cell.strip()) is not None


_TIME = (
    r"(?:wall[\s-]?clock(?:\s+times?)?|\w*times?|timings?|runtimes?|durations?|\w*zeit(?:en)?|temps(?:\s+d['’]\w+)?|"
    r"durées?|tiempos?|tempos?|tempi)"
)
#: A time and its unit in the text around a table: ``times in ms``, ``run times [min]``, ``Zeiten in Sekunden``,
#: ``time (in hours)``, ``units: time=ms``, ``hours of wall clock``.
_SAID = re.compile(
    r"(?<!simulated )(?<!simulation )(?<!physical )(?<!model )(?<!queue )(?<!waiting )(?<!cpu )"
    rf"\b{_TIME}\b"
    r"(?:\s+(?:are|is|sind|ist|sont|measured|given|given as|all|gemessen))*"
    r"(?:\s+(?:of|for)\s+[\d,.]*\s*\w+,?(?=\s+in\s))?"
    r"\s*(?:[\[(]?(?:in|en|em)\s+|[\[(:,=]\s*|\s(?=(?:hours|minutes|seconds|milliseconds)\b))"
    r"(?P<unit>[^\W\d_]+)\b(?:[^()\[\]]{,20}[\])])?"
    rf"|\b(?P<first>hours|minutes|seconds|milliseconds)\s+of\s+(?:wall|elapsed|run)[\s-]?(?:clock|time)\b",
    re.IGNORECASE,
)


#: The unit of a part of the times: ``times of atm in s, of ocn in min``.
_SAID_OF = re.compile(
    rf"(?:\b{_TIME}\s+)?\b(?:of|for|von|de|für)\s+\w+\s+(?:in|en)\s+(?P<unit>[^\W\d_]+)\b", re.IGNORECASE
)


#: A unit without the word for a time: ``(all in minutes)``, ``unit: ms``; and words of other times.
_ALONE = re.compile(
    r"\b(?:in\s+(?=[^\W\d_]{2})|(?:units?|einheit(?:en)?|unités?)\s*[:=]\s*)(?P<unit>[^\W\d_]+)\b", re.IGNORECASE
)
_OTHERS_TIME = re.compile(r"simulat|\bmodel|queue|wait|\bcpu|limit|\bsteps?\b|interval|output|\bdt\b", re.IGNORECASE)


def unit_in_text(lines: Iterable[str]) -> tuple[str, str]:
    """Return the unit of time that text around a table tells, and the words that do; nothing if none or several do.

    Examples
    --------
    >>> unit_in_text(["# run times in ms"]), unit_in_text(["Table 1: times in minutes, and a time in s"])
    (('ms', 'times in ms'), ('', ''))
    >>> for text in ("wall clock hours", "Wall-clock time (in hours) of X", "All values are hours of wall clock."):
    ...     unit_in_text([text])
    ('h', 'wall clock hours')
    ('h', 'Wall-clock time (in hours)')
    ('h', 'hours of wall clock')
    >>> unit_in_text(["Temps d'exécution en millisecondes"]), unit_in_text(["units: time=ms"])
    (('ms', "Temps d'exécution en millisecondes"), ('ms', 'time=ms'))
    >>> unit_in_text(["Wall times of 3000 iterations, in minutes."])
    ('min', 'times of 3000 iterations, in minutes')
    >>> unit_in_text(["Run times (ms per time step)"])
    ('ms', 'times (ms per time step)')
    """
    found = units_in_text(lines)
    return next(iter(found.items())) if len(found) == 1 else ("", "")


def units_in_text(lines: Iterable[str], *, is_open: bool = False) -> dict[str, str]:
    """Return the units of time that text around a table tells, and the words that do.

    Where the unit of a time `is_open`, words that don't name the time may tell it, too.

    Examples
    --------
    >>> units_in_text(["# times of atm in s, of ocn in min"])
    {'s': 'times of atm in s', 'min': 'of ocn in min'}
    >>> units_in_text(["(all in minutes)", "meta unit: h"], is_open=True), units_in_text(["(all in minutes)"])
    ({'min': 'in minutes', 'h': 'unit: h'}, {})
    """
    found = {}
    for line in lines:
        if is_open and _OTHERS_TIME.search(line) is None:
            for match in _ALONE.finditer(line):
                if (unit := canonical_unit(match["unit"])) in SECONDS_PER:
                    found[unit] = match[0]
        of_parts = _SAID_OF.finditer(line) if re.search(rf"\b{_TIME}\b", line, re.IGNORECASE) else ()
        for match in (*_SAID.finditer(line), *of_parts):
            unit = canonical_unit(match["unit"] or match.groupdict().get("first") or "")
            if unit in SECONDS_PER:
                found[unit] = match[0]
    return found


def _is_unit(text: str) -> bool:
    """Tell whether a text is a unit that evenly knows, or one of a few others that a table may have."""
    other = text.lower() in _OTHER_UNITS or _MANY.sub("", text.lower(), count=1) in _OTHER_UNITS
    return other or _CLOCK.fullmatch(text) is not None or _is_known(text)


def _is_known(text: str) -> bool:
    try:
        base_unit(text)
    except ValueError:
        return False
    return True
