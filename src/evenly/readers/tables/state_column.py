"""The column of a table that says what became of each run, and what is told about it."""

from __future__ import annotations

import re
from collections.abc import Collection, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.tables.columns import unit_of_time
from evenly.readers.tables.repetitions import are_whole
from evenly.readers.tables.roles import bounds_time, words_of
from evenly.readers.tables.states import (
    EXIT_NAMES,
    STATE_NAMES,
    State,
    counted,
    must_be_states,
    name_key,
    state_of,
    states,
)
from evenly.readers.tables.values import Values
from evenly.runs.units import SECONDS_PER
from evenly.space.expressions import quoted

__all__ = ["StateColumn", "Stopped", "find_states", "stopped_at_limit"]

#: A run that took this share of its limit was stopped there: schedulers look at their clock now and then.
_AT_LIMIT = 0.995

#: Words of times that no limit bounds.
_NO_WALL_TIME = frozenset({"cpu", "cputime", "user", "sys", "queue", "queued", "wait", "waiting", "pending"})
#: A unit in brackets that is none of time.
_OTHER_UNIT = re.compile(r"[\[(]\s*[^\d\W]+\s*[\])]\s*$")
#: What is said about rows that aren't ok.
_SAID: dict[State, str] = {
    "failed": "failed, so not learned from",
    "timed out": "timed out, so longer than their time",
    "running": "left out, since these jobs had not ended",
    "lost": "left out, since nothing tells that the program failed",
}


@dataclass(frozen=True)
class StateColumn:
    """A column of states.

    Parameters
    ----------
    name : str
        Its name.
    status : array (n_rows,)
        ``"ok"``, ``"failed"``, ``"timed out"``, ``"running"`` or ``"lost"``.
    notes : tuple of str
        How many rows are not ok, by the file's own words.
    others : tuple of str
        More columns that tell states.
    """

    name: str
    status: NDArray[np.object_]
    notes: tuple[str, ...]
    others: tuple[str, ...]


def find_states(values: Values, given: str | None, skip: Collection[str | None]) -> StateColumn | None:
    """Return the first column that tells states; None if there is none.

    Parameters
    ----------
    values : Values
        The table's cells.
    given : str, optional
        The column that the user names.
    skip : collection of str
        Columns that are something else.

    Raises
    ------
    ReadError
        If a column named as states holds another word, or may mean two things; or no job has ended.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"cores": ["8", "16"], "State": ["COMPLETED", "NODE_FAIL"]})
    >>> find_states(Values(TableOptions(), Path("a.csv"), cells, np.array([2, 3])), None, ()).notes
    ("left out, since nothing tells that the program failed: 1 × NODE_FAIL ('State')",)
    """
    found: list[tuple[str, Sequence[State]]] = []
    for column in [given] if given is not None else values.cells.columns:
        if column == given or column not in skip:
            told = _told(values, column, asked=column == given)
            found += [(column, told)] if told is not None else []
    if not found:
        return None
    # A scheduler's words tell more than an exit code.
    name, status = next((one for one in found if name_key(one[0]) in STATE_NAMES), found[0])
    tellers = [name] * len(status)
    if given is None:  # each code may tell of a failure, as SGE's two do, also beside words that know of none
        for other, told in found if values.is_numeric(name) else _codes(found):
            is_more = [its != "ok" and own == "ok" for own, its in zip(status, told, strict=True)]
            status = [its if more else own for own, its, more in zip(status, told, is_more, strict=True)]
            tellers = [other if more else teller for teller, more in zip(tellers, is_more, strict=True)]
    notes = []
    for state, said in _SAID.items():
        for teller in dict.fromkeys(tellers):
            rows = [at for at, its in enumerate(status) if its == state and tellers[at] == teller]
            if rows:
                notes.append(f"{said}: {counted(values.cells[teller].iloc[rows])} ({teller!r})")
    if set(status) <= {"running", "lost"}:
        raise ReadError(values.path, f"no job in this table came to its end: {counted(values.cells[name])}")
    codes = [str(column) for column in values.cells.columns if name_key(str(column)) in EXIT_NAMES]
    others = tuple(column for column in dict.fromkeys([*(one for one, _ in found), *codes]) if column != name)
    return StateColumn(name, np.array(status, dtype=object), tuple(notes), others)


def _codes(found: Sequence[tuple[str, Sequence[State]]]) -> list[tuple[str, Sequence[State]]]:
    """Return the columns of exit codes, but those of jobs' steps, which may fail where the job doesn't."""
    return [one for one in found if name_key(one[0]) in EXIT_NAMES and "derived" not in name_key(one[0])]


def _told(values: Values, column: str, *, asked: bool) -> Sequence[State] | None:
    told = states(column, values.texts(column))
    if isinstance(told, str):
        raise ReadError(
            values.path,
            f"{told}: choose the rows that went well with where= (--where), as in "
            f"{values.options.with_where(f'{quoted(column)} == …')}, or write ok and failed",
        )
    if told is None and (asked or must_be_states(column, values.texts(column))):
        row = next((row for row, cell in enumerate(values.cells[column]) if state_of(cell) is None), 0)
        raise values.at(
            row,
            f"the status in column {column!r} must be ok, failed or timed out, or a scheduler's word, "
            f"but got {values.cells[column].iloc[row]!r}: correct it, or choose rows with where= (--where)",
        )
    return told


@dataclass(frozen=True)
class Stopped:
    """Runs that a limit stopped.

    Parameters
    ----------
    rows : bool array (n_rows,)
        Which they are.
    limit : str
        The column of their limits.
    said : str
        A note on them.
    """

    rows: NDArray[np.bool_]
    limit: str
    said: str


def stopped_at_limit(values: Values, seconds: NDArray[np.float64], time: str, unit: str) -> Stopped | None:
    """Return the runs that took as long as a column says that they may; None if there are none.

    Parameters
    ----------
    values : Values
    seconds : array (n_rows,)
        The times.
    time : str
        The column that holds them.
    unit : str
        The unit of the time: that of a limit whose name has none.
    """
    if not words_of(time).isdisjoint(_NO_WALL_TIME):
        return None
    for column in map(str, values.cells.columns):
        named = bounds_time(column)
        own = values.units.get(column, "") or unit_of_time(column)
        if not own and _OTHER_UNIT.search(column):  # a limit of power, say
            continue
        if column == time or not (named or own in SECONDS_PER or values.are_durations(column)):
            continue
        try:
            limits = values.seconds(column, own or unit)
        except ReadError:
            continue
        per_unit = SECONDS_PER.get(own or unit, 1.0)
        if not are_whole(limits[np.isfinite(limits)] / per_unit):  # something measured
            continue
        stopped = (limits > 0) & (seconds >= _AT_LIMIT * limits)
        if stopped.any() and not stopped.all() and (named or _bounds(limits, seconds)):
            count = int(stopped.sum())
            said = f"{count} run{'s' * (count > 1)} took as long as {column!r} allows: taken as stopped there"
            return Stopped(stopped, column, said)
    return None


def _bounds(limits: NDArray[np.float64], seconds: NDArray[np.float64]) -> bool:
    """Tell whether numbers bound the times, whatever their name: whole minutes, few of them, and no time is above."""
    known = np.isfinite(limits) & np.isfinite(seconds)
    limits, seconds = limits[known], seconds[known]
    above = seconds > limits * (2 - _AT_LIMIT)
    return bool((limits % 60 == 0).all()) and 2 * len(np.unique(limits)) <= len(limits) and not above.any()
