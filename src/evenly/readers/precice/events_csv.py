"""Event logs of preCICE 1.x: ``precice-Fluid-events.log`` and ``precice-Fluid-eventTimings.log``.

The first holds every event of every rank and gives one row per step; the second holds sums and gives one row per run,
the mean step. Both name a run alike (it is told by its time stamp), so that a run read from both is recognised.
preCICE opens these files to append: one file holds all runs that were ever started in its folder. Versions differ in
columns and their order (1.0 has no ``RunName`` and puts ``Max`` before ``Min``); the header says which they are.
"""

from __future__ import annotations

import csv
from collections.abc import Iterator, Sequence
from dataclasses import dataclass, field
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from evenly.errors import ReadError
from evenly.readers.precice.events import (
    TICK_S,
    Change,
    Summary,
    Totals,
    head_of,
    runs_of_summary,
    solver_of,
    start_of,
    steps_of,
)
from evenly.readers.precice.steps import Execution, StepReader, text_of
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs

__all__ = ["PreciceEventsCsvReader"]

_EVENTS = {"RunTimestamp", "Name", "Rank", "Timestamp", "State"}
_TIMINGS = {"Timestamp", "Rank", "Name", "Count", "Total", "Min", "Max"}
_PROCESSORS = "# Number of processors:"


class PreciceEventsCsvReader(StepReader):
    r"""Reads ``precice-<participant>-events.log`` and ``precice-<participant>-eventTimings.log``.

    Quantities, all in seconds: ``seconds`` (work of the slowest rank), ``rank_mean``, ``rank_min``, ``coupling`` (the
    coupling call after the step) and, where recorded, ``mapping`` in it. Times are whole milliseconds; steps of a few
    milliseconds are averaged with their neighbours.

    Parameters
    ----------
    warm_up : int
        How many steps at the begin of each run are left out. The first step is the last part of
        ``solver.initialize``. Sums don't hold it, so they are the same whatever `warm_up`.

    Examples
    --------
    >>> import tempfile
    >>> lines = ["Timestamp,RunName,Rank,Name,Count,Total,Min,Max,Avg,T%,Data", "# Number of processors: 1",
    ...          "2019-01-23T22:31:43.480,,0,advance,212,916,3,75,4,4,[]",
    ...          "2019-01-23T22:31:43.480,,0,solver.advance,212,18748,41,130,88,94,[]", ""]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "precice-Fluid-eventTimings.log")
    ...     _ = path.write_text("\n".join(lines))
    ...     runs = PreciceEventsCsvReader().read(path)
    >>> runs["Fluid"].to_frame()[["cores", "seconds", "run"]].round(4)
       cores  seconds                              run
    0      1   0.0887  Fluid-1-2019-01-23T22:31:43.480
    """

    name: ClassVar[str] = "precice-events-csv"
    summary: ClassVar[str] = "preCICE 1.x: precice-*-events.log and precice-*-eventTimings.log"

    def recognises(self, path: Path) -> bool:
        columns = set(_header(head_of(path).decode("utf-8", errors="replace")))
        return columns >= _EVENTS or columns >= _TIMINGS

    def _read(self, path: Path) -> dict[str, Runs]:
        text = text_of(path)
        columns = set(_header(text))
        if not columns >= _EVENTS and not columns >= _TIMINGS:
            raise ReadError(path, "the first line must name preCICE's columns: this is another format", line=1)
        rows = list(_rows(text, path))
        if columns >= _EVENTS:
            logs = _event_logs(rows, path)
            self.notes += [note for log in logs if (note := log.cut())]
            return self._runs([log.execution(path) for log in logs])
        return {solver_of(path): Runs.concat(self._summaries(rows, path))}

    def _summaries(self, rows: Sequence[_Row], path: Path) -> list[Runs]:
        parts = []
        for summary in _timings(rows, path):
            self.ended[summary.solver, summary.run] = summary.ended
            try:
                parts.append(runs_of_summary(summary))
            except ReadError as error:
                self.skipped.append(Skipped(error.path, f"{summary.run}: {error.reason}", error.line))
        if not parts:
            raise ReadError(path, self.skipped[0].reason if self.skipped else "no run in it recorded any event")
        return parts


# ---- lines ----------------------------------------------------------------------------------------------------------


@dataclass(frozen=True)
class _Row:
    line: int
    #: Number of processors that was announced last, 0 if none was.
    cores: int
    cells: dict[str, str]

    def number(self, name: str, path: Path, *, least: int = 0) -> int:
        try:
            value = int(self.cells[name])
        except ValueError:
            value = least - 1
        if value < least:
            rule = f"{name} must be a whole number of {least} or more, but got {self.cells[name]!r}"
            raise ReadError(path, rule, line=self.line)
        return value


def _header(text: str) -> list[str]:
    return [cell.strip() for cell in text.split("\n", 1)[0].lstrip("# ").split(",")]


def _rows(text: str, path: Path) -> Iterator[_Row]:
    columns = _header(text)
    cores = 0
    lines = text.split("\n")
    if lines[-1].strip():
        raise ReadError(path, "the last line is cut off", line=len(lines))
    for number, line in enumerate(lines[1:], start=2):
        if line.startswith(_PROCESSORS):
            cores = _processors(line, path, number)
        elif line.startswith(("# Timestamp,", "Timestamp,", "RunTimestamp,")):
            columns = _header(line)
        elif line.strip() and not line.startswith("#"):
            cells = next(csv.reader([line]))
            if len(cells) != len(columns):
                rule = f"a row must have {len(columns)} columns ({', '.join(columns)}), but this has {len(cells)}"
                raise ReadError(path, rule, line=number)
            yield _Row(number, cores, dict(zip(columns, cells, strict=True)))


def _processors(line: str, path: Path, number: int) -> int:
    count = line.removeprefix(_PROCESSORS).strip()
    if not count.isdecimal() or int(count) < 1:
        raise ReadError(path, f"the number of processors must be 1 or more, but got {count!r}", line=number)
    return int(count)


def _stamp(row: _Row, name: str, path: Path) -> datetime:
    """Read a time stamp; versions put a T or a blank between date and time, and pad milliseconds by blanks or zeros."""
    date, _, clock = row.cells[name].strip().replace("T", " ").partition(" ")
    try:
        return datetime.fromisoformat(f"{date}T{clock.replace(' ', '0')}")
    except ValueError:
        rule = f"{name} must be a time such as 2019-01-23T22:31:43.480, but got {row.cells[name]!r}"
        raise ReadError(path, rule, line=row.line) from None


def _run(solver: str, cores: int, finished: datetime) -> str:
    return f"{solver}-{cores}-{finished.isoformat(timespec='milliseconds')}"


# ---- every event ----------------------------------------------------------------------------------------------------


@dataclass
class _EventLog:
    """One run: state changes per rank and event."""

    finished: datetime
    ranks: dict[int, dict[str, list[Change]]] = field(default_factory=dict)

    def cut(self) -> str:
        """Return what tells that the file was cut off in this run; a run is written when it ends, names in order."""
        for rank, changes in self.ranks.items():
            work, calls, begun = (
                sum(state == 0 for state, _ in changes.get(name, ()))
                for name in ("solver.advance", "advance", "solver.initialize")
            )
            if work != calls or not begun:
                when, first = self.finished.isoformat(timespec="seconds"), "" if begun else " without the first"
                told = f"rank {rank} has {calls} coupling calls and {work} times of work{first}"
                return f"the run of {when} seems to be cut off: {told}"
        return ""

    def execution(self, path: Path) -> Execution:
        cores = max(self.ranks) + 1
        missing = [rank for rank in range(cores) if rank not in self.ranks]
        if missing:
            raise ReadError(path, f"the run of {self.finished.isoformat()} lacks rank {missing[0]} of {cores}")
        solver = solver_of(path)
        whole = [time for _, time in self.ranks[0].get("_GLOBAL", [])]
        when = start_of(self.finished, max(whole) - min(whole) if whole else 0)
        ranks = [steps_of(self.ranks[rank]) for rank in range(cores)]
        run, ended = _run(solver, cores, self.finished), self.finished.isoformat()
        return Execution(solver, cores, run, when, ended, str(path), TICK_S, ranks)


def _event_logs(rows: Sequence[_Row], path: Path) -> list[_EventLog]:
    logs: dict[str, _EventLog] = {}
    for row in rows:
        stamp = row.cells["RunTimestamp"]
        log = logs.get(stamp)
        if log is None:
            log = logs[stamp] = _EventLog(_stamp(row, "RunTimestamp", path))
        if row.cells["State"] not in ("0", "1", "2"):
            raise ReadError(path, f"State must be 0, 1 or 2, but got {row.cells['State']!r}", line=row.line)
        change = (int(row.cells["State"]), row.number("Timestamp", path))
        log.ranks.setdefault(row.number("Rank", path), {}).setdefault(row.cells["Name"], []).append(change)
    if not logs:
        raise ReadError(path, "no run in it recorded any event")
    return list(logs.values())


# ---- sums -----------------------------------------------------------------------------------------------------------


def _timings(rows: Sequence[_Row], path: Path) -> Iterator[Summary]:
    runs: dict[str, list[_Row]] = {}
    for row in rows:
        runs.setdefault(row.cells["Timestamp"], []).append(row)
    for its_rows in runs.values():
        ranks: dict[int, dict[str, Totals]] = {}
        for row in its_rows:
            ranks.setdefault(row.number("Rank", path), {})[row.cells["Name"]] = _totals(row, path)
        cores = max(its_rows[0].cores, max(ranks) + 1)
        finished = _stamp(its_rows[0], "Timestamp", path)
        whole = ranks.get(0, {}).get("_GLOBAL")
        when = start_of(finished, whole.total if whole else 0)
        solver = solver_of(path)
        run, ended = _run(solver, cores, finished), finished.isoformat()
        yield Summary(solver, cores, run, when, ended, path, list(ranks.values()))


def _totals(row: _Row, path: Path) -> Totals:
    # The smaller one is the minimum: a file may have been appended to by a version that orders the columns otherwise.
    least = min(row.number("Min", path), row.number("Max", path))
    return Totals(row.number("Count", path, least=1), row.number("Total", path), least)
