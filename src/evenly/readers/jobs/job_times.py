"""What the jobs of a table took, and the time limits that were asked for; a unit that is open is settled by values.

Limits are at least what jobs took, and jobs that were stopped at their limit took as long. What a job took is as long
as from its start to its end. Where several units fit, evenly asks.
"""

from __future__ import annotations

import shlex

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.jobs.job_columns import Dates, agree
from evenly.readers.slurm_texts import NO_LIMIT
from evenly.readers.tables import columns as words
from evenly.readers.tables.clock_times import is_date
from evenly.readers.tables.roles import is_limit
from evenly.readers.tables.states import name_key, state_of
from evenly.readers.tables.time_column import find_time
from evenly.readers.tables.values import Values
from evenly.runs.durations import TWO_FIELDS, has_two_fields, is_duration
from evenly.runs.units import SECONDS_PER

__all__ = ["limits_of", "said_in_time", "taken"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: Units that a plain number may have.
_UNITS = ("s", "min", "h")
#: Nobody asks for more than a year.
_LONGEST_S = 366 * 86_400.0
#: Jobs may take longer than their limit by this factor and a minute, as schedulers look at their clock now and then.
_GRACE, _MINUTE = 1.1, 60.0
#: The share of jobs that may be beyond their limit, as some limits were raised while jobs ran.
_BEYOND = 0.1
#: So many of the jobs that were stopped must have taken their limit, for a unit to be proved by them.
_STOPPED = 0.8


def taken(values: Values, free: list[str], dates: Dates) -> tuple[Floats, str, str]:
    """Return the seconds that jobs took, (n_rows,), their column ("" if that is end less start), and what is said.

    Raises
    ------
    ReadError
        If no column can be told to be the time, or its unit is open.
    """
    between = dates.between
    if between is None or values.options.time is not None:
        try:
            found = find_time(values, free)
        except ReadError as error:
            if len(dates.open) < 2 or values.options.time is not None:
                raise
            *_, start, end = dates.open
            typed = f"-O start={shlex.quote(start)} -O end={shlex.quote(end)}"
            raise ReadError(values.path, f"{error.reason}; or name the dates between which jobs ran: {typed}") from None
        return values.seconds(found.name, found.unit), found.name, "; ".join(found.notes)
    span = f"{dates.columns['start']!r} to {dates.columns['end']!r}"
    candidates = [one.column for one in words.time_candidates(c for c in free if not is_limit(c))]
    for column in dict.fromkeys([*candidates, *(c for c in free if values.are_durations(c) and not is_limit(c))]):
        for unit in _units(values, column, values.options.unit or ""):
            if agree(seconds := values.seconds(column, unit), between):
                return seconds, column, f"{column!r} is what jobs took, in {unit}, as from {span}"
    if values.options.unit is not None:
        raise ReadError(
            values.path,
            f"unit= (--unit) is that of a column of times, but no column holds the time from {span} in "
            f"{values.options.unit}: leave it out, or name the column in time= (--time)",
        )
    return between, "", f"what jobs took is the time from {span}"


def limits_of(values: Values, column: str, took: Floats, done: Flags, stopped: Flags) -> tuple[Floats, str]:
    """Return the limits in a column in seconds, (n_rows,), and a note on its unit.

    They are infinite for jobs without a limit (``UNLIMITED``), NaN where unknown.

    Parameters
    ----------
    values : Values
    column : str
    took : array (n_rows,)
        What jobs took, in seconds.
    done, stopped : bool array (n_rows,)
        Which of them came to their end, and which were stopped at their limit.

    Raises
    ------
    ReadError
        If several units fit, or none; if a cell is no limit.
    """
    without = np.array([cell.lower() in NO_LIMIT for cell in values.texts(column)], dtype=np.bool_)
    values.cells[column] = values.cells[column].where(~without, "")
    _check(values, column)
    given = values.options.quantities.get(column, "")
    units = _units(values, column, given)
    tables = {unit: values.seconds(column, unit) for unit in units}
    fitting = [unit for unit in units if len(units) == 1 or _fits(tables[unit], took, done)]
    proved = [unit for unit in fitting if _is_reached(tables[unit], took, stopped)]
    if len(fitting) > 1:
        fitting = proved if len(proved) == 1 else fitting
    if len(fitting) != 1:
        raise ReadError(values.path, _question(values, column, fitting or list(units), none=not fitting))
    unit = fitting[0]
    limits = np.where(tables[unit] > 0, tables[unit], np.nan)
    if len(units) == 1:
        said = f"{column!r} is the limit" + ("" if values.are_durations(column) else f" in {unit}")
    else:
        why = "stopped jobs took as long" if unit in proved else "else jobs took longer, or it were years"
        said = (
            f"{column!r} is the limit in {unit} ({why}; {option_text('--quantity', f'{column}=UNIT')} says otherwise)"
        )
    return np.where(without, np.inf, limits), said


def _units(values: Values, column: str, given: str) -> tuple[str, ...]:
    """Return the units that a column may have: the one that is told, or several."""
    unit = words.canonical_unit(given)
    if unit and unit not in SECONDS_PER and unit not in TWO_FIELDS:
        raise ReadError(
            values.path, f"the unit of {column!r} must be one of s, min, h, d, mm:ss, hh:mm, but got {given!r}"
        )
    unit = unit or words.unit_of_time(column) or values.unit_of_time(column)
    if not unit and name_key(column) in ("timelimitraw", "timelimit_raw"):
        unit = "min"  # Slurm's
    if values.are_durations(column):
        cells = [cell for cell in values.texts(column) if has_two_fields(cell)]
        if not cells or unit:
            return (unit or "s",)
        try:
            values.seconds(column, "s")
        except ReadError:
            return TWO_FIELDS
        return ("s",)  # its name or other cells tell
    return (unit,) if unit else _UNITS


def _check(values: Values, column: str) -> None:
    numbers, blank = values.numbers(column), values.blank(column)
    for row, cell in enumerate(values.texts(column)):
        if not (np.isfinite(numbers[row]) or blank[row] or is_duration(cell)):
            raise values.at(
                row,
                f"a time limit was expected in column {column!r}, but got {cell!r}: write a number, 1-02:03:04, or "
                "UNLIMITED; leave it empty where it isn't known",
            )


def _fits(limits: Floats, took: Floats, done: Flags) -> bool:
    """Tell whether nearly no job took longer than its limit, and limits are below a year."""
    known = np.isfinite(limits) & np.isfinite(took) & done & (limits > 0)
    if not known.any():
        return True
    beyond = took[known] > _GRACE * limits[known] + _MINUTE
    return bool(beyond.mean() <= _BEYOND and np.median(limits[known]) <= _LONGEST_S)


def _is_reached(limits: Floats, took: Floats, stopped: Flags) -> bool:
    """Tell whether the jobs that were stopped took as long as their limit."""
    known = np.isfinite(limits) & np.isfinite(took) & stopped & (limits > 0)
    if not known.any():
        return False
    near = np.abs(took[known] - limits[known]) <= (_GRACE - 1) * limits[known] + _MINUTE
    return bool(near.mean() >= _STOPPED)


def _question(values: Values, column: str, units: list[str], *, none: bool) -> str:
    example = next(cell for cell in values.texts(column) if cell)
    options = " or ".join(option_text("--quantity", f"{column}={unit}") for unit in units)
    if none:
        return (
            f"in no unit are the limits in {column!r}, as {example!r}, at least what most jobs took: if they "
            f"are limits, say {options}; if another column is, say -O limit=…"
        )
    return f"the unit of the time limit {column!r}, as {example!r}, can't be known: say {options}"


def said_in_time(values: Values, column: str) -> tuple[Flags, Flags]:
    """Return the rows whose time says that they failed, and those that it says took longer, bool (n_rows,) each.

    Raises
    ------
    ReadError
        If a cell is neither a time nor says so.
    """
    failed, longer = (np.zeros(len(values.cells), dtype=np.bool_) for _ in range(2))
    if not column or column not in values.cells:
        return failed, longer
    longer |= values.longer_than(column)
    numbers, blank = values.numbers(column), values.blank(column)
    for row, cell in enumerate(values.texts(column)):
        if np.isfinite(numbers[row]) or blank[row] or is_duration(cell.lstrip(">= ")) or is_date(cell):
            continue
        state = state_of(cell)
        if state is None:
            raise values.at(
                row, f"a time was expected in column {column!r}, but got {cell!r}: correct it, or leave it empty"
            )
        longer[row], failed[row] = state == "timed out", state != "timed out"
    return failed, longer
