"""The column of a table that holds the time: by its name, its values, or two columns of start and end."""

from __future__ import annotations

import re
from collections.abc import Iterable, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError, option_text
from evenly.readers.tables import columns as words
from evenly.readers.tables.bookkeeping import is_unnamed
from evenly.readers.tables.chsy import TIME_NAME, is_chsy, is_node_hours, seconds_by_chsy
from evenly.readers.tables.clock_times import Between, are_dates, between, in_parts, start_and_end
from evenly.readers.tables.dotted_clocks import read_as_clock, refuse_dotted_clock
from evenly.readers.tables.per_work import (
    days_of,
    exception_in_text,
    other_time_in_text,
    several_works,
    sum_in_text,
    time_of_work,
    with_short_rate,
    work_in_text,
)
from evenly.readers.tables.ratios import ratio_of_times, refuse_ratio
from evenly.readers.tables.roles import ASSUMED, is_limit, is_result, is_summed, words_of
from evenly.readers.tables.running_clocks import refuse_running_clock
from evenly.readers.tables.side_by_side import pattern_in, shared_pattern
from evenly.readers.tables.states import name_key
from evenly.readers.tables.unit_row import units_in_text
from evenly.readers.tables.values import Values
from evenly.runs.count_names import kind_of
from evenly.runs.durations import TWO_FIELDS
from evenly.runs.units import SECONDS_PER, SECONDS_PER_DAY, base_unit, step_name

__all__ = ["TimeColumn", "find_time", "statistics_beside"]


#: Programs whose tables are known by the names of their columns, and the column of the seconds in each.
_OF_PROGRAMS = (
    ("Snakemake", "s", frozenset({"s", "h:m:s"})),
    ("Grid Engine", "ru_wallclock", frozenset({"ru_wallclock"})),
    ("hyperfine", "mean", frozenset({"command", "mean", "stddev", "median", "user", "system", "min", "max"})),
)
#: Words of phases, and of the time on the wall, which contains them.
_COMPUTING = frozenset({
    "compute", "computation", "computing", "calc", "calculation", "kernel", "rechnen", "rechenzeit", "calcul", "part",
})  # fmt: skip
_OTHER_PHASES = frozenset({
    "comm", "communication", "mpi", "wait", "waiting", "io", "exchange", "halo", "sync", "idle", "wartezeit",
    "kommunikation", "kommunikationszeit", "attente",
})  # fmt: skip
_WAITING = frozenset({"idle", "queue", "queued", "queuing", "wait", "waiting", "pending", "wartezeit", "attente"})
_CLOCKS = frozenset({"wall", "walltime", "wallclock", "elapsed", "total", "real"})
#: Names of the whole of several parts. It is a time if its ranks, among the runs, are like those of a part.
_WHOLES = frozenset({"total", "totale", "overall", "whole", "sum", "all", "gesamt", "summe", "insgesamt", "totals"})
_ALIKE = 0.8
#: A time is longer than that from start to end if it is by this factor and a minute: ends may be told to the minute.
_LONGER, _MINUTE = 1.1, 60.0
_LONGER_SAID = ": {!r} is longer, as times of all cores together are, or those with the waiting in a queue"
#: A unit is that by which a time and that from start to end are the same, to this share and a second.
_SAME, _SECOND = 0.02, 1.0
#: Words of the time of all cores together.
_SUMMED_UP = frozenset({
    "aggregate", "aggregated", "summed", "cumulative", "accumulated", "kumuliert", "kumulierte", "cumulé", "cumulée",
    "agregado", "thread", "threads",
})  # fmt: skip
#: A factor that a name tells: ``time (x1000 s)``, ``Time [10^3 s]``, ``time / 60 s``, ``in 1000 s``, ``log time``.
_SCALED = re.compile(
    r"[\[(]\s*(?:[x×*]\s*\d|10\s*(?:\^|\*\*|e)?-?\d|1e-?\d|10[⁰¹²³⁴⁵⁶⁷⁸⁹⁻])[^\])]*[\])]"
    r"|[x×*/]\s*(?:1(?:0+|e-?\d)\b|\d+\s*(?:s|sec|min|h)\b).*|\bin\s+\d+\s*\w+.*"
    r"|\b10\s*(?:\^|\*\*)\s*-?\d.*|^(?:log|ln|log2|log10)\b.*|[\[(]\s*(?-i:Ms)\s*[\])]",
    re.IGNORECASE,
)
#: What looks as a unit of time that evenly doesn't know: ``[cs]``, ``(quarter hours)``, ``(s/core)``.
_OTHER_UNIT = re.compile(
    r"[\[(][^\]):]*?(?:\b[a-zµ]{1,2}s|\bmn?|(?:second|minute|hour|day|week|fortnight|month)s?|a\. ?u\.?|arb\.? units?|"
    r"normali[sz]ed|rel(?:ative|\.)?|(?:core|cpu|node|gpu)[\s-]?h(?:ours?|rs?)?|h+\.mm|m+\.ss|'{1,2}|[^\W\x00-\x7f]+|"
    r"\w+\s*(?:/|\bper\b)[^\])]+)"
    r"\s*[\])]\s*$",
    re.IGNORECASE,
)
_SIMULATED_RATE = re.compile(r"(?<![a-z])s[yd]pd(?![a-z])", re.IGNORECASE)
#: Words of a time of a whole run. Others may make it another time: it is said then that it was taken for that.
_USUAL = frozenset({
    "time", "times", "timing", "runtime", "run", "walltime", "wall", "wallclock", "clock", "elapsed", "duration",
    "total", "overall", "whole", "full", "real", "seconds", "second", "secs", "sec", "s", "ms", "us", "ns", "min", "h",
    "minutes", "hours", "in", "of", "the", "to", "for", "per", "a", "and", "solution", "execution", "exec", "measured",
    "mean", "avg", "average", "median", "max", "minimum", "maximum", "best", "mittlere", "mittelwert",
    "loop", "main", "step", "solve", "solver", "compute", "job", "app", "application", "program", "code", "benchmark",
    "process", "task", "new", "old", "result", "response", "t", "y", "lap", "iteration", "timestep", "each", "spent",
    "iter", "it", "epoch", "zeitschritt", "cycle",
    "zeit", "laufzeit", "rechenzeit", "gesamtzeit", "dauer", "gesamt", "wanduhr", "wanduhrzeit", "wandzeit",
    "время", "с", "мс", "сек", "мин", "ч", "czas", "tijd", "echtzeit", "pro",
    "schritt", "sekunden", "minuten", "stunden", "temps", "durée", "totale", "exécution", "mur", "écoulé",
    "réel", "moyen", "secondes", "heures", "de", "du", "d", "par", "tiempo", "tempo", "ejecución", "reale", "raw",
    "sypd", "sdpd", "day", "days", "year", "years", "simulated", "model", "mday", "myear",
})  # fmt: skip


@dataclass(frozen=True)
class TimeColumn:
    """The column of the time.

    Parameters
    ----------
    name : str
        Its name.
    unit : str
        The unit of its plain numbers, or what ``12:30`` means.
    why : str
        Why it is taken for the time.
    notes : tuple of str
        What was guessed.
    shown_unit : str
        The unit to show; nothing where the cells tell it.
    spans : tuple of str
        The columns of start and end whose difference it is, or of hours, minutes and seconds.
    """

    name: str
    unit: str
    why: str
    notes: tuple[str, ...]
    shown_unit: str = ""
    spans: tuple[str, ...] = ()


def find_time(values: Values, free: Sequence[str]) -> TimeColumn:
    """Return the column of the time: the one that the user names, else the only one of `free` that can be.

    The time between two columns is added to the cells of `values`.

    Raises
    ------
    ReadError
        If several columns may be the time, or none; if its unit is none of time; if it can't be known.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"np": ["1"], "real": ["0m35.01s"], "user": ["0m34.1s"], "sys": ["0m0.4s"]})
    >>> find_time(Values(TableOptions(), Path("a.csv"), cells, np.array([2])), list(cells)).name
    'real'
    """
    options = values.options
    made: _Made | None = None
    if options.time is not None:
        column, why = options.time, "named in time= (--time)"
    else:
        column, why, made = _guess(values, free)
    refuse_ratio(values, column)
    refuse_running_clock(values, column, [column, *values.around])
    if made is None and (is_chsy(column, options.unit) or is_node_hours(column)):
        column, why, made = _by_cores(values, column)
    _refuse_other_times(values, column)
    if made is None and (several := several_works(column)) is not None:
        column, why, made = _of_one(values, column, *several)
    if made is None:
        _refuse_ends(values, column)
        _refuse_work_beside(values, column)
    known = words.measured(column)
    told = (known.unit if known else "") or words.unit_of_time(column) or values.unit_of_time(column)
    by_ends = "" if told or made is not None else _unit_by_ends(values, column)
    told = told or by_ends
    unit = words.canonical_unit("" if column == TIME_NAME else options.unit or "") or told or "s"
    if unit not in TWO_FIELDS and base_unit(unit) != "s":
        raise ReadError(values.path, f"the time's unit must be a time or a rate, but got {unit!r}")
    refuse_dotted_clock(values, column)
    _refuse_unclear_units(values, column, told)
    clock = read_as_clock(values, column, unit) if unit in TWO_FIELDS else ""
    in_cells = values.are_durations(column)
    if not (options.unit or told or in_cells or options.time) and name_key(column) == "median":
        raise ReadError(values.path, f"{column!r} doesn't say in which unit it is: pass unit= (--unit), as s, ms or us")
    program = _program(free) if options.time is None else None
    assumed = not (options.unit or told or in_cells or program)
    if not in_cells:
        _refuse_another_unit(values, column, unit, is_open=assumed)
    work = found if told and (found := time_of_work(column)) is not None and found.is_certain else None
    of_a_run = options.time is None and made is None and not (program or work or _is_usual(column))
    hint = " (assumed: pass unit=, --unit, otherwise)" if assumed else ""
    hint = " (as the times from start to end beside it tell)" if by_ends and unit == by_ends else hint
    if of_a_run:
        hint = " (assumed: that of a whole run on the wall; pass time=, --time, if it is another)"
    if of_a_run and assumed:
        hint = ", of a whole run on the wall (both assumed: unit=, --unit, and time=, --time, say otherwise)"
    if made is not None:
        note = made.said
    elif clock:
        note = f"{column!r} is the time in {unit}: {clock}"
    elif in_cells:
        note = f"{column!r} is the time, in hours, minutes and seconds or with its units{hint}"
    elif unit in SECONDS_PER or unit.startswith("ticks@") or unit in TWO_FIELDS:
        note = f"{column!r} is the time in {unit}{f' of {work.said}' if work else ''}{hint}"
    else:
        simulated = step_name(days_of(column, unit))
        of = "one unit of work" if simulated == "step" else f"a {simulated}"
        note = f"{column!r} is a rate in {unit}: seconds are those of {of}"
    why += ASSUMED if assumed else ""
    spans = () if made is None else made.columns
    if options.time is None:
        _refuse_one_time(values, column, unit)
    return TimeColumn(column, unit, why, (note,), "" if in_cells else unit, spans)


def _refuse_one_time(values: Values, column: str, unit: str) -> None:
    """Refuse a time that is exactly one on all numbers of cores: no clock tells this, but a simulated time does."""
    seconds = values.seconds(column, unit)
    rows = np.isfinite(seconds) & (seconds > 0)
    counts = [values.cells[name][rows].nunique() for name in map(str, values.cells.columns) if kind_of(name)]
    if max(counts, default=0) > 2 and len(np.unique(seconds[rows])) == 1:
        text = next(text for text, row in zip(values.texts(column), rows, strict=True) if row)
        raise ReadError(
            values.path,
            f"{column!r} is {text} on all numbers of cores: it may be a simulated time or a limit, which nobody "
            f"measured. Pass time= (--time) with the column of the measured time, {column!r} if it is that",
        )


def _is_usual(column: str) -> bool:
    """Tell whether all words of a name are those of the time of a run, and none may make it another time."""
    return words_of(re.sub(r"[\[(][^\])]*[\])]\s*$", "", with_short_rate(column))) <= _USUAL


def _refuse_another_unit(values: Values, column: str, unit: str, *, is_open: bool) -> None:
    """Refuse a unit that a text beside the table contradicts, unless the user names it."""
    told = units_in_text(values.around, is_open=is_open)
    beside, said = next(iter(told.items())) if len(told) == 1 else ("", "")
    known = values.options.unit or words.unit_of_time(column) or values.unit_of_time(column)
    if len(told) > 1 and not known:
        raise ReadError(
            values.path,
            f"{' and '.join(map(repr, told.values()))} stand beside the table, so the unit of {column!r} is open: "
            "give all times in one unit, or pass unit= (--unit)",
        )
    if beside and beside != unit and values.options.unit is None:
        raise ReadError(
            values.path,
            f"{said!r} stands beside the table, but {column!r} would be in {unit}: pass unit= (--unit), as "
            f"--unit {beside}",
        )


def _refuse_work_beside(values: Values, column: str) -> None:
    """Ask whether a text beside the table tells of which work a time is whose own name doesn't."""
    settled = f"if not, {option_text('--time', column)} says so"
    if values.options.time is None and (said := sum_in_text(values.around)):
        raise ReadError(
            values.path,
            f"whether {said!r}, beside the table, tells that {column!r} is the time of several runs or ranks together "
            f"is open: if so, divide it by their number, and leave the text out; {settled}",
        )
    has_unit = words.unit_of_time(column) or values.options.unit
    if values.options.time is None and not has_unit and (said := other_time_in_text(values.around)):
        raise ReadError(
            values.path,
            f"whether {said!r}, beside the table, tells that {column!r} isn't the time of a run on the wall is open: "
            f"if so, give that time in seconds, and leave the text out; {settled}",
        )
    both_open = values.options.time is None and values.options.where is None
    if both_open and (said := exception_in_text(values.around)):
        raise ReadError(
            values.path,
            f"{said!r}, beside the table, may tell that some runs did another amount of work: if so, leave them out "
            f"with where= (--where), or give the amounts in a column, as 'steps', and leave the text out; {settled}",
        )
    said = work_in_text(values.around)
    if said and values.options.time is None and time_of_work(column) is None:
        raise ReadError(
            values.path,
            f"whether {said!r}, beside the table, tells of which work {column!r} is, is open: if so, write it into the "
            f"name, as 'time (s/day)' or 'time per 10 steps (s)'; {settled}",
        )


def _refuse_ends(values: Values, column: str) -> None:
    """Refuse a point in time, as the end of a run beside its start, that would be read as how long it took."""
    ends = start_and_end(map(str, values.cells.columns))
    if ends is not None and column in ends and between({c: values.texts(c) for c in ends}) is not None:
        raise ReadError(
            values.path,
            f"{column!r} tells when runs began or ended: leave out time= (--time), and the time is that from "
            f"{ends[0]!r} to {ends[1]!r}",
        )


def _refuse_other_times(values: Values, column: str) -> None:
    """Refuse a column that is not the time of a run by its name, or may be another one."""
    if is_summed(column):  # no unit makes it the time of a run
        raise ReadError(
            values.path,
            f"{column!r} is the time of all cores together by its name, and no unit makes it that of a run: give the "
            "time itself in a column, which is this divided by the number of cores",
        )
    if values.options.time is None and (why_not := _no_whole_time(column, values.cells.columns)):
        raise ReadError(values.path, f"{why_not}: pass time= (--time) with the column of the time of the whole run")
    if values.options.unit is None and (beside := statistics_beside(column, values.cells.columns)):
        raise ReadError(
            values.path,
            f"{column!r} may be minutes, or the least of several times, as {beside!r} beside it: pass time= (--time) "
            "with the column to learn, and unit= (--unit)",
        )


def _refuse_unclear_units(values: Values, column: str, told: str) -> None:
    """Refuse a column whose name leaves its unit open, where the user names none; `told` is that of the name."""
    if values.options.unit is not None:
        return
    if words.is_rate(column):
        work = re.split(r"[\s_]+per[\s_]+|/", column)[0].strip()
        its = m.unit if (m := words.measured(work)) is not None else words.canonical_unit(work)
        is_t = re.fullmatch(r"[tT](_\w+)?", work) is not None  # tokens, or a time and its unit: T_gesamt/s
        if its in ("s", "min", "h") or is_t:  # no ns/day
            its = re.split(r"[\s_]+per[\s_]+|/", column)[-1].strip() if is_t else its
            raise ReadError(
                values.path,
                f"{column!r} may be a time or a rate: pass unit={its} (--unit {its}) if more is slower; else the unit "
                "of the rate, as 1/s, 1/h or 1/d",
            )
        raise ReadError(
            values.path,
            f"{column!r} is a rate by its name: pass unit= (--unit), as --unit {words.unit_of_rate(column)}",
        )
    if (scaled := _SCALED.search(column) or (None if told else _OTHER_UNIT.search(column))) is not None:
        raise ReadError(
            values.path,
            f"{scaled[0]!r} in {column!r} is no unit that evenly knows: multiply the numbers, or pass unit= (--unit) "
            "if they are in s, ms, …",
        )
    work = time_of_work(column)
    if not told and work is not None and (its := words.canonical_unit(work.unit)) in SECONDS_PER:
        raise ReadError(values.path, f"{column!r} may be in {its}: pass unit= (--unit), as --unit {its}")
    if not told and is_result(column):
        raise ReadError(
            values.path,
            f"{column!r} isn't a time by its name, but a result: pass unit= (--unit), as s, or 1/s where it is a rate",
        )


def _no_whole_time(column: str, columns: Iterable[str]) -> str:
    """Return why a column is not the time of a run as a clock on the wall tells it; "" if nothing says so."""
    its = set(name_key(column).split("_"))
    if its & _SUMMED_UP:
        return f"{column!r} is the time of all cores together by its name"
    if its & _WAITING and not its & (_CLOCKS - {"wall"}):
        return f"{column!r} is the time of waiting by its name"
    if its & {"cpu", "cputime", "user", "utime"} and not its & (_CLOCKS - {"total"}):
        return f"{column!r} is CPU time by its name, which may be that of all cores together"
    parts = [name for name in columns if set(name_key(name).split("_")) & _OTHER_PHASES]
    if its & _COMPUTING and not its & _CLOCKS and parts:
        return f"{column!r} may be a part of the time only, beside {', '.join(map(repr, parts))}"
    return ""


def statistics_beside(column: str, columns: Iterable[str]) -> str:
    """Return a column that is another statistic of the same times, if this one ends in ``min``; else ""."""
    stem = re.fullmatch(r"(.*?)[\s_.-]*[\[(]?\s*min\s*[\])]?", column.strip(), re.IGNORECASE)
    if stem is None:
        return ""
    statistic = r"[\s_.-]*[\[(]?\s*(max|avg|mean|median|std|stddev|mittel|moy|media)\s*[\])]?"
    others = re.compile(re.escape(stem[1]) + statistic, re.IGNORECASE)
    return next((name for name in columns if others.fullmatch(name.strip())), "")


@dataclass(frozen=True)
class _Made:
    """A time that is made of several columns."""

    columns: tuple[str, ...]
    said: str


def _guess(values: Values, free: Sequence[str]) -> tuple[str, str, _Made | None]:
    free = [c for c in free if not are_dates(values.texts(c))]
    parts = in_parts({c: values.texts(c) for c in free})
    if parts is not None:
        names = ", ".join(map(repr, parts[0]))
        column = _add(values, f"{' + '.join(parts[0])} [s]", parts[1])
        return column, f"the sum of {names}", _Made(parts[0], f"{names} are the parts of one time")
    if (program := _program(free)) is not None:
        return program[1], f"its name, in s as {program[0]} writes it", None
    found = [one.column for one in words.time_candidates(c for c in free if not is_limit(c) and not words.is_rate(c))]
    if len(found) == 1 and not _is_usual(found[0]):
        found += [c for c in free if values.unit_of_time(c) and c not in found and not is_limit(c)]
    if len(found) == 1:
        found += _wholes_beside(values, found[0], free)
    if len(found) == 1:
        if (span := _shorter_span(values, found[0])) is not None:
            return _spanned(values, span, _LONGER_SAID.format(found[0]))
        return found[0], "its name", None
    if not found:
        by_name = {c.lower(): c for c in free}
        if by_name.keys() >= {"real", "user", "sys"}:
            return by_name["real"], "its name, beside user and sys", None
        ends = start_and_end(map(str, values.cells.columns)) or ()
        durations = [c for c in free if values.are_durations(c) and not is_limit(c) and c not in ends]
        if len(durations) == 1:
            if (span := _shorter_span(values, durations[0])) is not None:
                return _spanned(values, span, _LONGER_SAID.format(durations[0]))
            return durations[0], "its values are durations", None
        if (span := between({c: values.texts(c) for c in ends})) is not None:
            return _spanned(values, span, f" ({span.said})" if span.said else "")
        costs = [] if durations else [c for c in free if is_chsy(c) or is_node_hours(c)]
        if len(costs) == 1:
            _refuse_rate_of_another(values, costs[0], free)
            return costs[0], "its name", None
        found = durations
    named = [name for name in map(str, values.cells.columns) if not is_unnamed(name)]
    others = [name for name in named if not kind_of(name) and not values.is_label(name)]
    may_be = [name for name in others if not (ratio_of_times(name) or is_summed(name))]
    for name in () if found else may_be:
        refuse_running_clock(values, name, [name])
    if not found and not any(map(values.is_numeric, may_be)):
        for name in others:
            refuse_ratio(values, name)
            _refuse_other_times(values, name)
    _refuse_on_its_side(values, named)
    shown = ", ".join(map(repr, found or may_be or named))
    why = (
        f"{' and '.join(map(repr, found))} may each be the time" if found else "no column's name says that it is a time"
    )
    in_rows = any(name.strip().lower() in words.SOLVER_NAMES for name in named)  # each solver has rows of its own
    several = not in_rows and (
        found or sum(not kind_of(name) and values.is_numeric(name) for name in named) > 1  # Cores, Fluid, Solid
    )
    wide = "; columns of each solver are told apart by names: a_cores, a_time_ms, b_cores, b_time_ms" if several else ""
    rates = [] if found else [name for name in free if words.is_rate(name)]
    if several and any(map(kind_of, named)) and (solvers := _times_of_solvers(values, found)):
        wide = f"; if each is the time of a solver: {option_text('--time', solvers)} --solver '*'{wide}"
    if len(rates) == 1:
        typed = f"{option_text('--time', rates[0])} --unit {words.unit_of_rate(rates[0])}"
        wide = f"; if the rate is to be learned: {typed}"
        if words.unit_of_time(f"time ({rates[0]})"):  # s/day
            wide = f"; if it is a time for each simulated day, rename it to 'time ({rates[0]})'"
    elif pattern := pattern_in(found or list(map(str, values.cells.columns))):
        wide = f"; if several columns are times: {option_text('--time', pattern)}"
    elif sum(name.strip().isdigit() for name in map(str, values.cells.columns)) > 1:
        wide = (
            "; if the table stands on its side: write a row for each run, or say in the names of columns what their "
            "numbers are, as in '16 cores' or 'N=1000'"
        )
    raise ReadError(
        values.path,
        f"{why}: pass time= (--time) with one of the columns {shown}, and unit= (--unit) if it isn't in seconds{wide}",
    )


def _refuse_on_its_side(values: Values, names: Sequence[str]) -> None:
    """Refuse a table whose first column names what its rows hold, a count and a time among them; the others are runs.

    Raises
    ------
    ReadError
        With how it is written.
    """
    rows = values.texts(names[0]) if names else []
    counts = any(map(kind_of, [*names[:1], *rows]))
    if counts and words.time_candidates(rows) and all(map(values.is_numeric, names[1:])):
        listed = ", ".join(map(repr, [*([names[0]] if kind_of(names[0]) else []), *rows]))
        raise ReadError(
            values.path,
            f"the table stands on its side: its first column holds names ({listed}), and each other column is a run. "
            "Write these names into the first line, and a row for each run",
        )


def _spanned(values: Values, span: Between, more: str) -> tuple[str, str, _Made]:
    """Return the time from the start to the end of each run, and why."""
    column = _add(values, f"{span.end} - {span.start} [s]", span.seconds)
    why = f"the time from {span.start!r} to {span.end!r}"
    return column, why, _Made((span.start, span.end), f"the time is that from {span.start!r} to {span.end!r}{more}")


def _shorter_span(values: Values, column: str) -> Between | None:
    """Return the time from start to end if those of a column are mostly longer, so that none is a run's; else None."""
    told = words.unit_of_time(column) or values.unit_of_time(column) or _unit_by_ends(values, column)
    if (told or "s") not in SECONDS_PER or not (values.is_numeric(column) or values.are_durations(column)):
        return None
    if (span := _from_start_to_end(values)) is None:
        return None
    known = np.isfinite(span.seconds)
    is_longer = values.seconds(column, told or "s")[known] > _LONGER * span.seconds[known] + _MINUTE
    return span if np.mean(is_longer) > 0.5 else None


def _unit_by_ends(values: Values, column: str) -> str:
    """Return the only unit by which plain numbers are the times from start to end in all rows; "" if there is none.

    Raises
    ------
    ReadError
        If runs began later than the column of starts tells, so that several units fit.
    """
    span = _from_start_to_end(values) if values.options.unit is None and values.is_numeric(column) else None
    if span is None or column in (span.start, span.end):
        return ""
    numbers = values.numbers(column)
    known = np.isfinite(span.seconds) & np.isfinite(numbers)
    apart = {
        unit: numbers[known] * SECONDS_PER[unit] - span.seconds[known] for unit in ("s", "min", "h")
    }  # above zero where the time is longer
    room = _SAME * span.seconds[known] + _SECOND
    units = [unit for unit, its in apart.items() if (np.abs(its) <= room).all()]
    fit = [unit for unit, its in apart.items() if (its <= room).all()]
    if not units and len(fit) > 1 and known.sum() > 1 and values.options.time is None:
        raise ReadError(
            values.path,
            f"{column!r} may be in {' or '.join(fit)}, since none of these is longer than the time from {span.start!r} "
            f"to {span.end!r}: pass unit= (--unit), as --unit {fit[-1]} or --unit s",
        )
    return units[0] if len(units) == 1 and known.sum() > 1 else ""


def _from_start_to_end(values: Values) -> Between | None:
    """Return the time between columns of starts and of ends; None if there are none.

    Dates that may be read in two ways, and days without a time of day, prove nothing.
    """
    try:
        span = between({c: values.texts(c) for c in start_and_end(map(str, values.cells.columns)) or ()})
    except InputError:
        return None
    known = np.isfinite(span.seconds) if span is not None else np.array([], dtype=np.bool_)
    return span if known.any() and span is not None and (span.seconds[known] % SECONDS_PER_DAY != 0).any() else None


def _wholes_beside(values: Values, column: str, free: Sequence[str]) -> list[str]:
    """Return columns called the total that may be the time of the whole run: never less than the column, and like it.

    A total of something else, as of cores, doesn't fall when the time falls.
    """
    if set(name_key(column).split("_")) & (_CLOCKS | _WHOLES):
        return []
    may_be = [name for name in free if name != column and name_key(name) in _WHOLES and values.is_numeric(name)]
    own = values.numbers(column)
    found = []
    for name in may_be:
        whole = values.numbers(name)
        known = np.isfinite(own) & np.isfinite(whole)
        if known.sum() < 3 or (whole[known] < own[known]).any() or min(np.ptp(own[known]), np.ptp(whole[known])) == 0:
            continue
        ranks = [np.argsort(np.argsort(column[known])) for column in (own, whole)]
        if np.asarray(np.corrcoef(ranks))[0, 1] > _ALIKE:
            found.append(name)
    return found


def _refuse_rate_of_another(values: Values, cost: str, free: Sequence[str]) -> None:
    """Refuse the core-hours of one solver beside the simulated years per day of another: ``atm SYPD,ocn CHSY``."""
    rates = [name for name in free if _SIMULATED_RATE.search(with_short_rate(name))]
    if rates:
        raise ReadError(
            values.path,
            f"{rates[0]!r} and {cost!r} may be of different solvers: give both in one unit, in columns such as "
            "atm_cores, atm_SYPD, ocn_cores, ocn_SYPD",
        )


def _of_one(values: Values, column: str, bare: str, count: float, work: str) -> tuple[str, str, _Made]:
    """Return the time of one step, or other work, of a column with the time of several."""
    known = words.measured(bare)
    told = words.canonical_unit(values.options.unit or "") or (known.unit if known else "") or words.unit_of_time(bare)
    told = told or (found if (found := words.canonical_unit(bare)) in SECONDS_PER else "")
    unit = told or "s"
    assumed = "" if told else " (assumed: pass unit=, --unit, otherwise)"
    if unit not in SECONDS_PER:
        raise ReadError(values.path, f"the unit of {column!r} must be that of a time, but got {unit!r}")
    seconds = values.numbers(column) * SECONDS_PER[unit] / count
    said = f"{column!r} is the time in {unit}{assumed} of {count:g} × {work}: it is divided by {count:g}"
    name = (
        f"time (s/{work})"
        if (its := time_of_work(f"time (s/{work})")) and its.is_certain
        else f"time of one {work} (s)"
    )
    return _add(values, name, seconds), f"{column!r} / {count:g}", _Made((column,), said)


def _by_cores(values: Values, cost: str) -> tuple[str, str, _Made]:
    """Return the time of a simulated year that its core-hours tell where the cores are known."""
    cores, seconds = seconds_by_chsy(values, cost)
    said = (
        f"{cost!r} is taken for the {'node' if is_node_hours(cost) else 'core'}-hours of a simulated year on the "
        f"{cores!r} of its row: the time is "
        f"{cost} * 3600 s / {cores} for 365 simulated days"
    )
    return _add(values, TIME_NAME, seconds), f"made of {cost!r} and {cores!r}", _Made((cost,), said)


def _times_of_solvers(values: Values, found: Sequence[str]) -> str:
    """Return the pattern of the columns that may each be the time of a solver; "" if others would fit it, too."""
    columns = [name for name in map(str, values.cells.columns) if not kind_of(name) and not is_unnamed(name)]
    times = found or [name for name in columns if values.is_numeric(name)]
    return shared_pattern(times) or ("*" if set(times) == set(columns) else "")


def _program(columns: Iterable[str]) -> tuple[str, str] | None:
    """Return the program that wrote a table with these columns, and its column of seconds; None if none is known."""
    there = set(columns)
    return next(((program, column) for program, column, names in _OF_PROGRAMS if names <= there), None)


def _add(values: Values, name: str, seconds: NDArray[np.float64]) -> str:
    """Add a column of seconds to the cells, and return its name."""
    values.cells[name] = ["" if np.isnan(value) else repr(value) for value in seconds.tolist()]
    return name
