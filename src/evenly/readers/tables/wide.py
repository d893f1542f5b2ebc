"""Wide tables: one row per coupled run, with columns for each solver: ``inner_cores, inner_time_ms, outer_cores, …``.

The name of a solver is the common prefix or suffix of two columns, in capitals or not: one with cores, or nodes, and
one with a time. Columns without the name of a solver apply to all solvers.
"""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Sequence
from dataclasses import dataclass

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.readers.tables.chsy_names import is_chsy
from evenly.readers.tables.columns import ALIASES, measured, time_candidates
from evenly.readers.tables.identifiers import TITLES
from evenly.readers.tables.number_texts import has_decimal_commas, number
from evenly.readers.tables.per_work import time_of_work
from evenly.runs.count_names import kind_of
from evenly.runs.units import YEAR_DAYS

__all__ = ["Narrowed", "names_layouts", "narrowed", "with_cores"]

#: Kinds of words that count what a solver runs on, the first ones first.
_COUNTS = (("cores", "ranks"), ("nodes",))
#: Words of such kinds that are more often something else beside another word.
_NO_COUNTS = frozenset({"mpi", "slots", "hosts"})
#: Words of columns that name a layout, also by a number.
_LABELS = TITLES | {"layout", "pelayout", "config", "configuration", "setup", "experiment"}
#: Names of columns that are the time of whole runs, if their values fit.
_TOTALS = frozenset({"total", "tot", "whole", "all", "sum", "gesamt", "gesamtzeit", "totale", "totaal"})
_WAITS = frozenset({"wait", "waits", "waiting", "waited", "idle"})
_UNITS = frozenset({"s", "sec", "secs", "ms", "us", "min", "mins", "h", "hours"})
#: ``atm_s_per_day``, beside others alike.
_OF_DAYS = re.compile(r"(?:_per_|/)(?:day|month|year)$")
#: Sums agree within this share.
_SUM = 0.03
_SEPARATOR = re.compile(r"[\s_\-./]+(?![^\[(]*[\])])")
_TOTAL = (
    "left out: {}, which may be the time of the whole run (evenly allocate learns from it with --coupled), or of a "
    "part without cores of its own"
)
_SOLVER_COLUMNS = ("solver", "participant", "domain")


@dataclass(frozen=True)
class Narrowed:
    """A wide table with one row per run, of each solver if it has several.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Text.
    lines : array (n_rows,)
        The line from which each row comes.
    solver : str or None
        The column with the solver.
    time : str
        The column with the time.
    notes : tuple of str
        What was guessed.
    """

    cells: pd.DataFrame
    lines: NDArray[np.int64]
    solver: str | None
    time: str
    notes: tuple[str, ...]


@dataclass(frozen=True)
class _Solver:
    name: str
    own: dict[str, str]  # column → its name without the solver's
    cores: str
    time: str


def narrowed(cells: pd.DataFrame, lines: NDArray[np.int64], kept: Collection[str] = ()) -> Narrowed | None:
    """Return a wide table with one row per run and solver; None if it isn't plainly wide.

    Columns `kept` are never left out.

    Examples
    --------
    >>> cells = pd.DataFrame({"a_cores": ["2"], "a_time_ms": ["9"], "b_cores": ["4"], "b_time_ms": ["5"]})
    >>> narrowed(cells, np.array([2])).cells.to_dict("list")
    {'solver': ['a', 'b'], 'cores': ['2', '4'], 'time_ms': ['9', '5']}
    >>> narrowed(cells[["a_cores", "a_time_ms"]], np.array([2])) is None
    True
    """
    columns = [str(name) for name in cells.columns]
    solvers = [found for name in _names(columns) if (found := _solver(name, columns)) is not None]
    cells, by_cost = _as_rates(cells, solvers)
    taken = [column for one in solvers for column in one.own]
    times = {one.own[one.time] for one in solvers}
    units = {_unit_of(name) for name in times}
    if len(times) > 1 and len({name.removesuffix(_unit_of(name)) for name in times}) == 1 and "" not in units:
        times = {"time"}  # atm_min beside ocn_s
    works = {match[0] if (match := _OF_DAYS.search(one.time)) else "" for one in solvers}
    if len(works) > 1:  # atm_s_per_day, ocn_s_per_month
        named = " and ".join(repr(one.time) for one in solvers)
        raise InputError(f"{named} are of different work: give the times of one, as atm_s_per_day and ocn_s_per_day")
    if len(solvers) < 2 or len(taken) != len(set(taken)) or len(times) > 1:
        return None
    if times == {"time"} and len(units) > 1 and {"unit", "time"} & {name.lower() for name in columns}:
        return None
    rest = [column for column in columns if column not in taken]
    totals = [c for c in rest if ((m := measured(c)) is not None and m.certainty > 0) or _is_whole(cells, c, solvers)]
    names = [column for column in rest if column not in (*totals, *kept) and _names_rows(cells, column, solvers)]
    shared = [column for column in rest if column not in (*totals, *names)]
    key = next((name for name in _SOLVER_COLUMNS if name not in shared), None)
    if key is None:
        return None
    parts = [_part(cells, one, solvers[0], shared, key) for one in solvers]
    if len(units) > 1:
        parts = [
            part.rename(columns={one.own[one.time]: "time"}).assign(unit=_unit_of(one.own[one.time]))
            for one, part in zip(solvers, parts, strict=True)
        ]
    whole = pd.concat(parts).fillna("")
    order = whole.index.to_numpy(dtype=np.int64)
    notes = (
        _told(solvers, shared),
        *by_cost,
        *([_TOTAL.format(", ".join(map(repr, totals)))] if totals else []),
        *(_in_turn(total, solvers) for total in totals if _is_sum(cells, total, solvers)),
        *([f"left out: {', '.join(map(repr, names))}, whose labels name the cores of all solvers"] if names else []),
    )
    return Narrowed(whole.reset_index(drop=True), lines[order], key, times.pop(), notes)


def _as_rates(cells: pd.DataFrame, solvers: Sequence[_Solver]) -> tuple[pd.DataFrame, tuple[str, ...]]:
    """Return the cells with core-hours or days per day as years per day where others have these, and what is said.

    All tell the time of a simulated year: ``atm_SYPD`` beside ``ocn_SDPD``, or ``ocn_CHSY`` with ``ocn_cores``.
    """
    costs = [one for one in solvers if is_chsy(one.own[one.time]) and kind_of(one.own[one.cores]) in _COUNTS[0]]
    daily = [one for one in solvers if one.own[one.time].upper() == "SDPD"]
    rates = {one.own[one.time] for one in solvers if one not in (*costs, *daily)}
    if not (costs or daily) or len(rates) != 1 or min(rates).upper() != "SYPD":
        return cells, ()
    mark, grouping = (",", ".") if has_decimal_commas(cells) else (".", ",")
    cells = cells.copy()
    for one in costs:
        read = cells[[one.cores, one.time]].map(lambda cell: number(cell, grouping))
        years = (24 * read[one.cores] / read[one.time]).map(lambda year: f"{year:.9g}".replace(".", mark))
        cells[one.time] = years.where(read.notna().all(axis=1), cells[one.time])
        one.own[one.time] = min(rates)
    for one in daily:
        days = cells[one.time].map(lambda cell: number(cell, grouping))
        years = (days / YEAR_DAYS).map(lambda year: f"{year:.9g}".replace(".", mark))
        cells[one.time] = years.where(days.notna(), cells[one.time])
        one.own[one.time] = min(rates)
    said = {
        "core-hours for a simulated year, taken as 24 * cores / core-hours simulated years per day": costs,
        "simulated days per day, taken as so many / 365 simulated years per day": daily,
    }
    return cells, tuple(f"{' and '.join(repr(one.time) for one in its)}: {how}" for how, its in said.items() if its)


def names_layouts(column: str) -> bool:
    """Tell whether a column names or numbers the layouts of coupled runs by its own name.

    Examples
    --------
    >>> names_layouts("pe_layout"), names_layouts("Config"), names_layouts("grid")
    (True, True, False)
    """
    return not _LABELS.isdisjoint(re.split(r"[\W_]+", column.lower()))


def with_cores(columns: Iterable[str]) -> dict[str, str]:
    """Return the columns that may hold the cores of a solver each, by what stands beside the word for cores.

    Examples
    --------
    >>> with_cores(["atm_cores", "ranks ocn", "n_cores", "mesh"])
    {'atm': 'atm_cores', 'ocn': 'ranks ocn'}
    """
    found = ((column, _names([column], _COUNTS[0])) for column in columns if not kind_of(column))
    return {names[0]: column for column, names in found if names}


def is_total(name: str) -> bool:
    """Tell whether what stands beside the word for cores is all solvers together: ``total`` of ``total_cores``.

    Examples
    --------
    >>> is_total("total"), is_total("ocn")
    (True, False)
    """
    return name.lower() in _TOTALS


def _tokens(column: str) -> list[str]:
    return [token for token in _SEPARATOR.split(column.strip()) if token]


def _names(columns: Iterable[str], kinds: Collection[str] = (*_COUNTS[0], *_COUNTS[1])) -> list[str]:
    """Return what stands beside a word for cores or nodes at the front or the end of a column, in order."""
    found: list[str] = []
    for column in columns:
        tokens = _tokens(column)
        if len(tokens) > 1 and _counts(tokens[-1], kinds):
            found.append(" ".join(tokens[:-1]))
        elif len(tokens) > 1 and _counts(tokens[0], kinds):
            found.append(" ".join(tokens[1:]))
    return list({name.lower(): name for name in reversed(found)}.values())[::-1]


def _counts(word: str, kinds: Collection[str]) -> bool:
    return word.lower() not in _NO_COUNTS and kind_of(word) in kinds


def _solver(name: str, columns: Sequence[str]) -> _Solver | None:
    own = {column: rest for column in columns if (rest := _without(column, name.split(" ")))}
    if not time_candidates(own.values()):  # atm_cores, atm_s; atm cores, atm [s]
        bare = {column: _OF_DAYS.sub("", rest).strip("[]()") for column, rest in own.items()}
        units = {column: unit for column, unit in bare.items() if unit.lower() in _UNITS}
        if len(units) > 1:  # atm_min is the least beside atm_s
            units = {column: unit for column, unit in units.items() if unit != "min"}
        own |= {column: f"time_{unit}" for column, unit in units.items()}
        own |= {column: f"time ({work})" for column in own if (work := _time_of_work(column, name))}
    cores = next((found for kinds in _COUNTS if (found := [c for c, rest in own.items() if _counts(rest, kinds)])), [])
    times = [one.column for one in time_candidates(own.values())]
    if not times:  # atm_calc_s, atm_wait_s
        times = [rest for rest in own.values() if _unit_of(rest) and not _WAITS & set(rest.lower().split("_"))]
    if not times:
        times = [rest for rest in own.values() if is_chsy(rest)]
    if len(cores) != 1 or len(times) != 1 or len(set(own.values())) < len(own):
        return None
    time = next(column for column, rest in own.items() if rest == times[0])
    spelled = next(_spelled(column, name) for column in cores)
    return _Solver(spelled, own, cores[0], time)


def _time_of_work(column: str, solver: str) -> str:
    """Return the unit of ``atm_h/year`` behind the solver's name; "" if it isn't certainly of a unit of work."""
    rest = column.strip()[len(_spelled(column, solver)) :].lstrip(" _-.:")
    found = time_of_work(f"time ({rest})") if "/" in rest else None
    return rest if found is not None and found.is_certain else ""


def _unit_of(name: str) -> str:
    """Return the unit of a time that ends a name without brackets: ``calc_s``; "" if there is none."""
    tokens = name.split("_")
    return tokens[-1] if len(tokens) > 1 and tokens[-1].lower() in _UNITS else ""


def _without(column: str, name: Sequence[str]) -> str:
    """Return the column's name without the solver's at its front or end, units aside; empty if it isn't there."""
    tokens = _tokens(column)
    for at in range(len(tokens) - len(name) + 1):
        rest = [*tokens[:at], *tokens[at + len(name) :]]
        after = tokens[at + len(name) :]
        ends = at == 0 or not after or (len(after) == 1 and measured(f"time {after[0]}") != measured("time"))
        here = [token.lower() for token in tokens[at : at + len(name)]]
        if here == [token.lower() for token in name] and rest and ends:
            return "_".join(rest).replace("_[", " [").replace("_(", " (")
    return ""


def _spelled(column: str, name: str) -> str:
    """Return the solver's name with the marks that the column has between its words."""
    pattern = r"[\s_\-./]+".join(map(re.escape, name.split(" ")))
    match = re.search(pattern, column, re.IGNORECASE)
    return match[0] if match else name


def _part(cells: pd.DataFrame, one: _Solver, first: _Solver, shared: Sequence[str], key: str) -> pd.DataFrame:
    """Return the rows of one solver; those in which it has neither cores nor a time did not run it."""
    names = {**one.own, one.cores: first.own[first.cores]}
    part = cells[[one.cores, *(c for c in one.own if c != one.cores), *shared]].rename(columns=names)
    part.insert(0, key, one.name)
    ran = (cells[one.cores] != "") | (cells[one.time] != "")
    return part[ran.to_numpy()]


def _names_rows(cells: pd.DataFrame, column: str, solvers: Sequence[_Solver]) -> bool:
    """Tell whether labels, as XS, S and M, go with the cores of all solvers one by one.

    Numbers do so where the column's name says that it names layouts, or some labels are none.
    """
    are_numbers = pd.to_numeric(cells[column], errors="coerce").notna().all()
    if (are_numbers and not names_layouts(column)) or column.strip().lower() in ALIASES:
        return False
    counts = [one.cores for one in solvers]
    runs = cells[[column, *counts]].drop_duplicates()
    return len(runs) > 2 and len(runs) == runs[column].nunique() == len(runs[counts].drop_duplicates())


def _is_whole(cells: pd.DataFrame, column: str, solvers: Sequence[_Solver]) -> bool:
    """Tell whether a column, in the unit of the times, may be the time of whole runs, or of what has no cores.

    No solver takes longer than a whole run. What else is measured differs in nearly all rows.
    """
    ends = [_tokens(_OF_DAYS.sub("", name)) for name in (column, *(one.time for one in solvers))]
    unit, *units = (tokens[-1].strip("[]()").lower() for tokens in ends)
    timed = set(units) == {unit} and unit in _UNITS
    if not timed and _TOTALS.isdisjoint(map(str.lower, ends[0][:1])):
        return False
    read = _times(cells, column, solvers)
    whole, times = read[column], read.drop(columns=column)
    if not whole.notna().all():
        return False
    measured_too = timed and whole.nunique() > max(2, 0.7 * len(whole)) and bool((whole != whole.round()).any())
    return measured_too or bool(((whole >= 0.95 * times.max(axis=1)) & (whole <= 2 * times.sum(axis=1))).all())


def _times(cells: pd.DataFrame, total: str, solvers: Sequence[_Solver]) -> pd.DataFrame:
    """Return the numbers of a total, and of the time of each solver, (n_rows, 1 + n_solvers)."""
    grouping = "." if has_decimal_commas(cells) else ","
    return cells[[total, *(one.time for one in solvers)]].map(lambda cell: number(cell, grouping))


def _is_sum(cells: pd.DataFrame, total: str, solvers: Sequence[_Solver]) -> bool:
    """Tell whether a total is the sum of the solvers' times in all rows, as where they take turns."""
    read = _times(cells, total, solvers)
    sums = read.drop(columns=total).sum(axis=1)
    return bool((abs(read[total] / sums - 1) < _SUM).all())


def _in_turn(total: str, solvers: Sequence[_Solver]) -> str:
    listed = ", ".join(one.name for one in solvers)
    return (
        f"{total!r} is the sum of the times in all rows, as where solvers take turns: --layout 'sum({listed})' says "
        "that they do"
    )


def _told(solvers: Sequence[_Solver], shared: Sequence[str]) -> str:
    listed = "; ".join(f"{one.name}: {', '.join(map(repr, one.own))}" for one in solvers)
    both = [column for column in shared if column.strip().lower() not in ALIASES]
    rest = f"; of all: {', '.join(map(repr, both))}" if both else ""
    return f"each solver has columns of its own ({listed}{rest})"
