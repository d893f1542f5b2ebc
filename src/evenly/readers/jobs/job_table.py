"""Tables of jobs as people keep them, in any file that holds a table: what each column is, is told and said.

Every name and value that says what a column is, is used; what stays open is asked, with the option that settles it.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import EvenlyError, MissingExtraError, ReadError
from evenly.readers.jobs.job_columns import DATES, Dates, find_dates, find_limit, find_texts
from evenly.readers.jobs.job_reader import JobReader, holding
from evenly.readers.jobs.job_times import limits_of, said_in_time, taken
from evenly.readers.jobs.jobs import NOT_ENDED, Jobs, told_stopped
from evenly.readers.slurm_texts import STATES, state
from evenly.readers.tables.bookkeeping import is_unnamed
from evenly.readers.tables.cell_files import Cells, may_hold_table, plain_cells, read_cells
from evenly.readers.tables.number_texts import Decimal
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.state_column import StateColumn, find_states
from evenly.readers.tables.values import Values
from evenly.runs.cores import find_cores
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.space.expressions import Expression
from evenly.space.parameters import Integer, Real
from evenly.space.space import Space

__all__ = ["JobTableReader"]

Floats = NDArray[np.float64]
Flags = NDArray[np.bool_]
#: A job that failed after this share of its limit was stopped there.
_AT_LIMIT = 0.995
#: What a table of jobs should tell, and the option that names its column.
_WISHED = {"user": "whose jobs they are", "name": "their names", "limit": "which limit was asked for"}


class JobTableReader(JobReader):
    r"""Reads a table of jobs that people wrote, for `evenly.read_jobs`; `evenly.read` takes it for a table of runs.

    There are more options than elsewhere, since each column may need to be named.

    Parameters
    ----------
    time, unit : str, optional
        The column of what each job took, and its unit.
    quantities : mapping of str to str, optional
        The unit of the limit's column, as ``{"timelimit": "min"}``.
    where : str, optional
        Which rows, as an expression of the table's columns, or of those of `Jobs`.
    constants : mapping, optional
        Columns that the file doesn't have, with their value, as ``{"cores": 16}``.
    decimal, sheet, table
        As `TableReader` takes them.
    cores_are : str, optional
        The cores of a job, as an expression of columns: ``"nodes * 48"``.
    dates : {"day first", "month first"}, optional
        What ``03/04/2026`` means.
    job, user, name, submit, start, end, limit, status : str, optional
        The column of each, where its name and values don't tell.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "jobs.csv"
    >>> _ = path.write_text("job,submitted,runtime_min,limit_h\n1,2026-03-01 08:00,30,6\n2,2026-03-01 09:00,31,6\n")
    >>> JobTableReader().jobs(path).table[["id", "elapsed_s", "limit_s"]].to_dict("list")
    {'id': ['1', '2'], 'elapsed_s': [1800.0, 1860.0], 'limit_s': [21600.0, 21600.0]}
    """

    name: ClassVar[str] = "table"
    summary: ClassVar[str] = "Tables of jobs as people keep them"

    def __init__(
        self,
        *,
        time: str | None = None,
        unit: str | None = None,
        quantities: Mapping[str, str] | None = None,
        where: str | None = None,
        constants: Mapping[str, float | str] | None = None,
        decimal: Decimal = "auto",
        sheet: str | None = None,
        table: int | str | None = None,
        cores_are: str | None = None,
        dates: str | None = None,
        job: str | None = None,
        user: str | None = None,
        name: str | None = None,
        submit: str | None = None,
        start: str | None = None,
        end: str | None = None,
        limit: str | None = None,
        status: str | None = None,
    ) -> None:
        super().__init__()
        self._options = TableOptions(
            time=time, unit=unit, quantities=dict(quantities or {}), constants=dict(constants or {}), status=status,
            decimal=decimal, sheet=sheet, table=None if table is None else str(table),
        )  # fmt: skip
        self._condition = None if where is None else Expression(where)
        self._product, self._order, self._limit = cores_are, dates, limit
        texts = {"id": job, "user": user, "name": name}
        self._texts = {role: column for role, column in texts.items() if column is not None}
        points = {"submit": submit, "start": start, "end": end}
        self._dates = {role: column for role, column in points.items() if column is not None}

    def recognises(self, path: Path) -> bool:
        return may_hold_table(path)

    def jobs(self, path: Path) -> Jobs:
        try:
            cells = read_cells(path, self._options.sheet, self._options.table)
            if isinstance(cells, Runs):
                raise ReadError(path, "it holds runs that evenly wrote, and no jobs")
            self.skipped = list(cells.skipped)
            plain = plain_cells(cells, self._options)
            jobs = self._jobs(path, plain)
            return Jobs(jobs.table, (*jobs.notes, *plain.notes, *cells.notes))
        except (ReadError, MissingExtraError):
            raise
        except EvenlyError as error:
            raise ReadError(path, str(error)) from None

    def _jobs(self, path: Path, cells: Cells) -> Jobs:
        values = Values(
            self._options, path, cells.frame, cells.lines, cells.units, semicolons=cells.semicolons, typed=cells.typed,
            around=cells.around,
        )  # fmt: skip
        for name, value in self._options.constants.items():
            values.cells[name] = str(value)
        self._check_named(values)
        own = self._condition is not None and set(self._condition.names) <= set(values.cells)
        if self._condition is not None and own:
            values.keep(values.holding(self._condition))
        jobs = _Reading(values, self._texts, self._dates, self._limit, self._order, self._product).jobs()
        return holding(path, jobs, self._condition) if self._condition is not None and not own else jobs

    def _check_named(self, values: Values) -> None:
        named = {
            "time": self._options.time, "status": self._options.status, "-O limit": self._limit,
            **{f"-O {'job' if role == 'id' else role}": c for role, c in (self._texts | self._dates).items()},
        }  # fmt: skip
        for option, column in named.items():
            if column is not None:
                values.require([column], option.removeprefix("-O "))
        values.require(list(self._options.quantities), "quantities")


class _Reading:
    """What the columns of one table are, one after the other."""

    def __init__(
        self, values: Values, texts: Mapping[str, str], dates: Mapping[str, str], limit: str | None,
        order: str | None, product: str | None,
    ) -> None:  # fmt: skip
        self.values = values
        self.notes: list[str] = []
        self.given, self.given_dates, self.given_limit = texts, dates, limit
        self.order, self.product = order, product
        self.used: set[str] = set()

    def jobs(self) -> Jobs:
        """Return the jobs.

        Raises
        ------
        ReadError
            If what a column is can't be known.
        """
        values = self.values
        given = (*self.given_dates.values(), *self.given.values(), self.given_limit or "")
        self.used = {values.options.time or "", *given}
        dates = find_dates(values, self.given_dates, self.order)
        limit = find_limit(values, self.given_limit, (*self.used - {self.given_limit}, *dates.columns.values()))
        self.used |= {*dates.columns.values(), *dates.open, limit or ""}
        texts = find_texts(values, self.given, self.used)
        self.used |= set(texts.values())
        ends = find_states(values, values.options.status, self.used)
        self.used |= {ends.name, *ends.others} if ends else set()
        if steps := self._without_steps(texts):
            self.notes.append(steps)
            return self.jobs()
        free = [c for c in map(str, values.cells) if c not in self.used and not is_unnamed(c)]
        took, column, said = taken(values, free, dates)
        self.used.add(column)
        dates = dates.named(took)
        self.used |= set(dates.columns.values())
        points, assumed = self._points(dates, took)
        words, status = self._ended(ends, column, took, dates)
        limits, told = self._limits(limit, took, status)
        words, at_limit = _stopped(words, status, took, limits, whose=("failed", "lost") if ends else ("failed", "ok"))
        cores, counted = self._cores(status)
        told_by = texts | ({"state": ends.name} if ends else {})
        self._say(told_by, dates, [said, told, *assumed, *dates.notes, at_limit, counted], limit)
        blank = [""] * len(values.cells)
        nodes = [c for c in map(str, values.cells) if kind_of(c) == "nodes" and values.is_numeric(c)]
        return Jobs.of(
            {
                **{role: values.texts(texts[role]) if role in texts else blank
                   for role in ("id", "user", "account", "name", "partition", "cluster")},
                "state": words, **points, "elapsed_s": took, "limit_s": limits, "cores": cores,
                "nodes": values.numbers(nodes[0]) if len(nodes) == 1 else np.full(len(took), np.nan),
            },
            self.notes,
        )  # fmt: skip

    def _without_steps(self, texts: Mapping[str, str]) -> str:
        """Leave out the rows of a job's steps, ``7.batch`` beside ``7``, and say how many they were; "" if none."""
        if "id" not in texts:
            return ""
        ids = self.values.cells[texts["id"]]
        steps = ids.str.contains(".", regex=False) & ids.str.split(".", n=1).str[0].isin(set(ids))
        count = int(steps.sum())
        if count:
            self.values.keep(~steps.to_numpy(dtype=np.bool_))
        return f"{count} row{'s are steps' if count > 1 else ' is a step'} of jobs, and left out" if count else ""

    def _points(self, dates: Dates, took: Floats) -> tuple[dict[str, Floats], list[str]]:
        """Return submissions, starts and ends, (n_rows,) each, and what was assumed of those that aren't told."""
        if not dates.seconds:
            open_ = ", ".join(map(repr, dates.open))
            listed = ", ".join(map(repr, self.values.cells.columns))
            what = f"whether {open_} is when they were submitted, began or ended" if open_ else (
                f"no column of {listed} says when jobs were submitted, began or ended"
            )  # fmt: skip
            example = f"-O submit={next(iter(dates.open), 'COLUMN')}"
            raise ReadError(
                self.values.path,
                f"it is no table of jobs yet: {what}{' is open' if open_ else ''}. Say it with {example} (or start=, "
                "end=); for a table of runs, evenly predict --at … --limit 95% says which limit to ask for",
            )
        unknown = np.full(len(took), np.nan)
        submit, start, end = (dates.seconds.get(role, unknown) for role in DATES)
        assumed = []
        if "start" not in dates.seconds and "end" not in dates.seconds:
            start = submit
            assumed.append("no column says when jobs began: each counts as begun when it was submitted")
        start = np.where(np.isnan(start), end - took, start)
        if "submit" not in dates.seconds:
            submit = start
            assumed.append("no column says when jobs were submitted: each counts as submitted when it began")
        known = submit[np.isfinite(submit)]
        if len(known) > 1 and (known % 86_400 == 0).all():
            assumed.append("dates have no time of day: jobs count as of midnight")
        return {"submit": submit, "start": start, "end": np.where(np.isnan(end), start + took, end)}, assumed

    def _ended(
        self, ends: StateColumn | None, column: str, took: Floats, dates: Dates
    ) -> tuple[NDArray[np.object_], NDArray[np.object_]]:
        """Return the word for each job's end, and what `StateColumn` calls it."""
        failed, longer = said_in_time(self.values, column)
        n = len(took)
        status = np.full(n, "ok", dtype=object) if ends is None else ends.status.copy()
        cells = [""] * n if ends is None else self.values.texts(ends.name)
        words = np.array([_word(cell, its) for cell, its in zip(cells, status, strict=True)], dtype=object)
        silent = np.array([not cell for cell in cells], dtype=np.bool_) & (status == "ok")
        still = silent & np.isnan(took) if "end" not in dates.seconds else silent & np.isnan(dates.seconds["end"])
        for which, state_, word in (
            (failed & (status == "ok"), "failed", "FAILED"),
            (longer & (status == "ok"), "timed out", "TIMEOUT"),
            (still & ~failed & ~longer, "running", "RUNNING"),
        ):
            status[which], words[which] = state_, word
        if count := int((silent & (status == "ok")).sum()):
            what = f"{count} job{'s have' if count > 1 else ' has'} no state"
            what = "no column says how jobs ended" if ends is None else what
            self.notes.append(f"{what}: those that ended are taken as completed")
        return words, status

    def _limits(self, column: str | None, took: Floats, status: NDArray[np.object_]) -> tuple[Floats, str]:
        others = [name for name in self.values.options.quantities if name != column]
        if others:
            raise ReadError(
                self.values.path,
                f"--quantity says the unit of the time limit here, which is {column!r}, but got {others[0]!r}: "
                f"leave it out, or name the limit with -O limit={others[0]}",
            )
        if column is None:
            return np.full(len(took), np.nan), ""
        return limits_of(self.values, column, took, status == "ok", status == "timed out")

    def _cores(self, status: NDArray[np.object_]) -> tuple[Floats, str]:
        """Return the cores of each job, (n_rows,), NaN where unknown, and what was assumed."""
        values = self.values
        ended = np.isin(status.astype(str), ("ok", "timed out"))
        counting = [c for c in map(str, values.cells) if kind_of(c)]
        named = [] if self.product is None else sorted(Expression(self.product).names)
        values.require(named, "cores-are")
        if text := next((c for c in named if not values.is_numeric(c)), None):
            raise ReadError(
                values.path,
                f"{text!r}, named in --cores-are, holds no numbers, but {values.texts(text)[0]!r}: give the cores in a "
                "column of numbers; if all jobs have the same, --constant cores=192 says how many",
            )
        names = [c for c in dict.fromkeys([*counting, *named]) if values.is_numeric(c)]
        if not names and self.product is None:
            return np.full(len(status), np.nan), ""
        table = pd.DataFrame({c: values.numbers(c) for c in names})
        found = find_cores(_space(table[ended].dropna()), self.product, measured=table[ended].dropna())
        self.used |= set(found.names)
        cores = found.of(table, len(table))
        filled = table[list(found.names)].notna().all(axis=1).to_numpy(dtype=np.bool_)
        wrong = np.flatnonzero(np.isnan(cores) & ended & filled)
        if len(wrong):
            row = int(wrong[0])
            got = ", ".join(f"{c} {values.texts(c)[row]}" for c in found.names)
            raise values.at(row, f"the cores of a job, {found.text}, must be a whole number above zero, but got {got}")
        return cores, found.said or f"{found.text} are the cores"

    def _say(self, texts: Mapping[str, str], dates: Dates, said: Sequence[str], limit: str | None) -> None:
        """Put together what was taken for what, and what isn't used."""
        labels = {"id": "job"}
        found = [f"{labels.get(role, role)} {column!r}" for role, column in {**texts, **dates.columns}.items()]
        there = {*texts, *({"limit"} if limit else set())}
        lacking = [f"{what} (-O {role}=COLUMN)" for role, what in _WISHED.items() if role not in there]
        unused = [c for c in map(str, self.values.cells) if c not in self.used and not is_unnamed(c)]
        notes = ["; ".join([", ".join(found), *filter(None, said)])]
        notes += [f"no column says {', or '.join(lacking)}"] if lacking else []
        notes += [f"not used: {', '.join(map(repr, unused))}"] if unused else []
        self.notes[:0] = notes


def _space(table: pd.DataFrame) -> Space:
    kinds: dict[str, Any] = {}
    for name, column in table.items():
        low, high = (float(column.min()), float(column.max())) if len(column) else (1.0, 1.0)
        whole = bool((column % 1 == 0).all())
        kinds[str(name)] = Integer(int(low), int(high)) if whole else Real(low, high)
    return Space.of(kinds)


def _word(cell: str, status: str) -> str:
    """Return Slurm's word for a state, or the file's own."""
    if status == "ok":
        return "COMPLETED"
    if status == "timed out":
        return "TIMEOUT"
    own = state(cell.strip().upper())
    if status == "running":
        return own if own in NOT_ENDED else "RUNNING"
    if own in STATES and own not in ("COMPLETED", "TIMEOUT", "DEADLINE", *NOT_ENDED):
        return own
    return "FAILED" if not cell or cell[0].isdigit() else cell


def _stopped(
    words: NDArray[np.object_], status: NDArray[np.object_], took: Floats, limits: Floats, *, whose: Sequence[str]
) -> tuple[NDArray[np.object_], str]:
    """Return the words with ``TIMEOUT`` for jobs that ended at their limit, and a note on them.

    Those that failed count, and all where no column says how jobs ended.
    """
    with np.errstate(invalid="ignore"):
        failed = np.isin(status.astype(str), ("failed", "lost")) & (took >= _AT_LIMIT * limits)
        reached = (failed | (np.isin(status.astype(str), whose) & (took >= limits))) & (took > 0)
    how = "ended" if "ok" in whose else "failed"
    return np.where(reached, "TIMEOUT", words), told_stopped(int(reached.sum()), how)
