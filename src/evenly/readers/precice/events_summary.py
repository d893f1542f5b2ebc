"""Event summaries of preCICE up to 2.x: ``precice-Fluid-events-summary.log``.

A table of sums over the whole run, for rank 0 only. It gives one row per run: the mean step of rank 0, see
`evenly.readers.precice.events.runs_of_summary`. Where rank 0 is not the slowest, the partner waits longer than that.
Prefer the ``-events.json`` beside it, which holds every step of every rank; both name the run alike.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from datetime import datetime
from pathlib import Path
from typing import ClassVar

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.precice.events import Summary, Totals, head_of, runs_of_summary, solver_of, start_of
from evenly.readers.precice.steps import reading, text_of
from evenly.runs.runs import Runs

__all__ = ["PreciceEventsSummaryReader"]

_MONTHS = ["Jan", "Feb", "Mar", "Apr", "May", "Jun", "Jul", "Aug", "Sep", "Oct", "Nov", "Dec"]
_FINISHED = re.compile(r"Run finished at \w{3} (\w{3}) +(\d+) (\d+):(\d+):(\d+) (\d+)\s*")
_RUNTIME = re.compile(r"Global runtime += +([\d.e+]+)ms\b.*")
_CORES = re.compile(r"Number of processors = (\d+)\s*")

#: A line and its number, counted from 1.
_Line = tuple[int, str]


class PreciceEventsSummaryReader(Reader):
    r"""Reads ``precice-<participant>-events-summary.log``.

    Quantities in seconds: ``seconds`` (mean step of rank 0), ``coupling`` (mean coupling call) and, where listed,
    ``waiting`` and ``mapping`` in it. For a run on one rank also ``rank_mean`` and ``rank_min``. And ``steps``, how
    many the run made.

    Examples
    --------
    >>> import tempfile
    >>> lines = ["Run finished at Thu Sep 10 13:02:15 2020", "Global runtime       = 1000ms / 1s",
    ...          "Number of processors = 4", "# Rank: 0", "", "Event | Count | Total[ms] | Max[ms] | Min[ms] |", "---",
    ...          "advance | 11 | 220 | 30 | 10 |", "solver.advance | 11 | 602 | 70 | 2 |", ""]
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "precice-Fluid-events-summary.log")
    ...     _ = path.write_text("\n".join(lines))
    ...     runs = PreciceEventsSummaryReader().read(path)
    >>> runs["Fluid"].to_frame()[["cores", "seconds", "coupling", "run"]]
       cores  seconds  coupling                          run
    0      4     0.06      0.02  Fluid-4-2020-09-10T13:02:15
    """

    name: ClassVar[str] = "precice-events-summary"
    summary: ClassVar[str] = "preCICE up to 2.x: precice-*-events-summary.log (mean step of rank 0)"

    def __init__(self) -> None:
        #: When each solver's run of the file that was read last ended, ISO 8601.
        self.ended: dict[tuple[str, str], str] = {}

    def recognises(self, path: Path) -> bool:
        head = head_of(path)
        return head.lstrip().startswith(b"Run finished at ") and b"Global runtime" in head

    def read(self, path: Path) -> dict[str, Runs]:
        with reading(path):
            lines = list(enumerate(text_of(path).split("\n"), start=1))
            summaries = [_summary(path, block) for block in _blocks(path, lines)]
            self.ended = {(one.solver, one.run): one.ended for one in summaries}
            return {solver_of(path): Runs.concat([runs_of_summary(one) for one in summaries])}


def _blocks(path: Path, lines: Sequence[_Line]) -> Iterator[Sequence[_Line]]:
    """Runs in a file that several wrote to."""
    starts = [i for i, (_, line) in enumerate(lines) if line.startswith("Run finished at ")]
    if not starts:
        raise ReadError(path, "expected 'Run finished at …', as preCICE begins a summary", line=1)
    for begin, end in zip(starts, [*starts[1:], len(lines)], strict=True):
        yield lines[begin:end]


def _summary(path: Path, block: Sequence[_Line]) -> Summary:
    month, day, hour, minute, second, year = _field(path, block, _FINISHED, "Run finished at Thu Sep 10 13:02:15 2020")
    clock = (int(day), int(hour), int(minute), int(second))
    finished = datetime(int(year), _MONTHS.index(month) + 1, *clock)
    runtime = int(float(_field(path, block, _RUNTIME, "Global runtime = 1000ms / 1s")[0]))
    cores = int(_field(path, block, _CORES, "Number of processors = 4")[0])
    if cores < 1:
        raise ReadError(path, f"the number of processors must be 1 or more, but got {cores}", line=block[0][0])
    solver = solver_of(path)
    run = f"{solver}-{cores}-{finished.isoformat()}"
    when = start_of(finished, runtime)
    return Summary(solver, cores, run, when, finished.isoformat(), path, [_table(path, block)])


def _field(path: Path, block: Sequence[_Line], pattern: re.Pattern[str], example: str) -> tuple[str, ...]:
    for _, line in block:
        match = pattern.fullmatch(line)
        if match:
            return match.groups()
    raise ReadError(path, f"a summary needs a line such as {example!r}: cut off or damaged", line=block[-1][0])


def _table(path: Path, block: Sequence[_Line]) -> dict[str, Totals]:
    columns: list[str] = []
    events: dict[str, Totals] = {}
    for number, line in block:
        cells = [cell.strip() for cell in line.split("|")]
        if cells[0] == "Event":
            columns = cells
        elif columns and len(cells) > 1:
            events[cells[0]] = _totals(path, number, columns, cells)
        elif events:
            break
    if "solver.advance" not in events:
        raise ReadError(path, "the table has no row 'solver.advance': cut off or damaged", line=block[-1][0])
    return events


def _totals(path: Path, number: int, columns: Sequence[str], cells: Sequence[str]) -> Totals:
    if len(cells) != len(columns):
        raise ReadError(path, f"a row must have {len(columns)} columns, but this has {len(cells)}", line=number)
    row = dict(zip(columns, cells, strict=True))
    try:
        return Totals(int(row["Count"]), int(row["Total[ms]"]), min(int(row["Min[ms]"]), int(row["Max[ms]"])))
    except ValueError as error:
        raise ReadError(path, f"expected whole numbers ({error})", line=number) from None
