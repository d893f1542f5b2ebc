"""``timing.res`` of the APES suite: each run of Ateles, Musubi or Seeder appends one line.

The header is written only when the file is new. Programs that share a file leave lines whose columns nobody named; they
are left out and counted. Ateles and Musubi run different numbers of iterations, so their time is given per iteration
unless asked otherwise.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import ClassVar, Literal, get_args

import pandas as pd

from evenly.errors import InputError, ReadError
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED, count, head, is_unended, lines, number
from evenly.readers.registry import Skipped
from evenly.runs.runs import BOOKKEEPING, Runs

__all__ = ["ApesTimingReader", "Per"]

Per = Literal["iteration", "run"]

_KIB = 1024.0
#: The rule in messages on a column whose value is no number.
_RULE = "must be a number, zero or more, but"


@dataclass(frozen=True)
class _Program:
    """How one program's columns are to be understood.

    Attributes
    ----------
    marks : frozenset of str
        Columns that only this program writes.
    timer : str
        Column of the solve time; empty where it is the sum of all timers.
    before : str
        The last column before the timers.
    after : str
        The first column behind the timers; empty if there is none.
    elements : str
        Column of the mesh size.
    rate, rate_unit : str and float
        Column of element updates per second, and what it counts in; it says the iterations more exactly than a
        rounded count does.
    """

    name: str
    marks: frozenset[str]
    timer: str
    before: str
    after: str
    elements: str
    rate: str = ""
    rate_unit: float = 1.0


_PROGRAMS = (
    _Program("ateles", frozenset({"KEUPS", "DofPE"}), "simLoop", "maxIter", "MemRSS", "DomSize", "KEUPS", 1e3),
    _Program("musubi", frozenset({"MLUPs", "MFLUPs"}), "timeMainLoop", "Casename", "", "DomSize", "MLUPs", 1e6),
    _Program("seeder", frozenset({"MFEPS", "nFluids"}), "", "MFEPS", "", "nFluids"),
)
#: Parameters of a run, where the program writes the column.
_PARAMETERS = {"DofPEPV": "dofs_per_variable", "nVars": "variables"}


@dataclass(frozen=True)
class _Header:
    columns: tuple[str, ...]
    program: _Program
    line: int


class ApesTimingReader(Reader):
    r"""Reads ``timing.res`` files.

    Parameters are ``cores`` (processes times threads), ``elements``, and for Ateles ``dofs_per_variable`` (of an
    element) and ``variables``. Every timer is a quantity in seconds of the whole run;
    ``peak_memory`` is that of rank 0.

    Parameters
    ----------
    timer : str, optional
        The column that is the solve time; ``simLoop`` of Ateles, ``timeMainLoop`` of Musubi, the sum of all timers of
        Seeder by default.
    per : {"iteration", "run"}
        Whether ``seconds`` are those of one iteration or of the run.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "timing.res"
    >>> _ = path.write_text("# Revision Casename nFluids nProcs MFEPS  proto| flooding|\n"
    ...                     "  4cd2e4914b0c  case  1000  2  1.0E-03  600.0E-03  400.0E-03\n")
    >>> ApesTimingReader().read(path)["seeder"].to_frame()[["cores", "elements", "seconds"]]
       cores  elements  seconds
    0      2      1000      1.0
    """

    name: ClassVar[str] = "apes-timing"
    summary: ClassVar[str] = "timing.res of Ateles, Musubi and Seeder"

    def __init__(self, *, timer: str | None = None, per: Per = "iteration") -> None:
        if per not in get_args(Per):
            raise InputError(f"per must be one of {', '.join(get_args(Per))}, but got {per!r}")
        self.timer = timer
        self.per = per
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []

    def recognises(self, path: Path) -> bool:
        return any(_header(line, number) is not None for number, line in enumerate(head(path).splitlines(), start=1))

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped = [], []
        rows: dict[str, list[dict[str, object]]] = {}
        for header, line, cells in self._rows(path, lines(path)):
            rows.setdefault(header.program.name, []).append(self._row(path, header, line, cells))
        if not rows:
            reason = self.skipped[0].reason if self.skipped else "there is no line of a run below the header"
            raise ReadError(path, reason, line=self.skipped[0].line if self.skipped else None)
        return {program: _to_runs(found) for program, found in rows.items()}

    def _rows(self, path: Path, content: Sequence[str]) -> Iterator[tuple[_Header, int, list[str]]]:
        """Yield each line that some header describes; count the others."""
        headers: list[_Header] = []
        nameless: dict[tuple[str, int], list[int]] = {}
        for at, line in enumerate(content, start=1):
            header = _header(line, at)
            cells = line.split()
            if header is not None:
                headers.append(header)
            elif cells and not line.lstrip().startswith("#"):
                match = next((h for h in reversed(headers) if _describes(h, cells)), None)
                if match is None:
                    nameless.setdefault((cells[0], len(cells)), []).append(at)
                else:
                    yield match, at, cells
        if is_unended(content):
            self.notes.append(UNENDED)
        if not headers:
            raise ReadError(path, "there is no header line that names the columns")
        for (revision, width), found in nameless.items():
            self.skipped.append(_without_header(path, revision, width, found, headers[-1]))

    def _row(self, path: Path, header: _Header, line: int, cells: Sequence[str]) -> dict[str, object]:
        program = header.program
        values = {name: cell for name, cell in zip(header.columns, cells, strict=True) if name != "Casename"}
        timers = {name: number(path, f"{name} {_RULE}", values[name], line) for name in _timer_names(header)}
        wanted = self.timer or program.timer
        if wanted and wanted not in timers:
            raise ReadError(path, f"there is no timer {wanted!r}; there are {', '.join(timers)}", line=header.line)
        seconds = timers[wanted] if wanted else math.fsum(timers.values())
        if not seconds > 0:
            raise ReadError(path, f"the time of this run ({wanted or 'sum of all timers'}) is zero", line=line)
        processes, threads = (count(path, n, values.get(n, "1"), line) for n in ("nProcs", "threads"))
        elements = count(path, program.elements, values[program.elements], line)
        row: dict[str, object] = {"cores": processes * threads, "elements": elements}
        row |= {new: count(path, old, values[old], line) for old, new in _PARAMETERS.items() if old in values}
        iterations = self._iterations(path, header, values, elements, line)
        row |= {"seconds": seconds / iterations}
        row |= {name: value for name, value in timers.items() if name not in _TAKEN}
        if "MemHWM" in values:
            row["peak_memory"] = _KIB * number(path, f"MemHWM {_RULE}", values["MemHWM"], line)
        return row | {"run": f"{path.stem}:{line}", "source": str(path)}

    def _iterations(self, path: Path, header: _Header, values: Mapping[str, str], elements: int, line: int) -> float:
        """Return by how many iterations the time is divided."""
        program = header.program
        if self.per == "run" or not program.rate:
            return 1.0
        iterations = values.get("maxIter", "")
        if iterations.isdigit() and int(iterations) > 0:
            return float(iterations)
        # Musubi prints 98.E+03 iterations, but the rate with four digits.
        rate = number(path, f"{program.rate} {_RULE}", values[program.rate], line) * program.rate_unit
        total = number(path, f"{program.timer} {_RULE}", values[program.timer], line)
        if not rate * total > 0:
            raise ReadError(path, f"{program.rate} is zero: nothing was computed", line=line)
        return rate * total / elements


_TAKEN = ("cores", "elements", "seconds", "peak_memory", "count", "spread", *BOOKKEEPING)


def _header(line: str, number: int) -> _Header | None:
    if not line.lstrip().startswith("#"):
        return None
    columns = tuple(line.replace("#", " ").replace("|", " ").split())
    program = next((p for p in _PROGRAMS if p.marks <= set(columns)), None)
    needed = {"Revision", "Casename", "nProcs"}
    if program is None or not needed | {program.before, program.elements} <= set(columns):
        return None
    return _Header(columns, program, number)


def _describes(header: _Header, cells: Sequence[str]) -> bool:
    """Tell whether a line has the header's columns: as many, and a whole number of processes in their place."""
    return len(cells) == len(header.columns) and cells[header.columns.index("nProcs")].isdigit()


def _timer_names(header: _Header) -> list[str]:
    columns = header.columns
    start = columns.index(header.program.before) + 1
    end = columns.index(header.program.after) if header.program.after in columns else len(columns)
    return list(columns[start:end])


def _without_header(path: Path, revision: str, width: int, found: Sequence[int], header: _Header) -> Skipped:
    what = f"{len(found)} lines of revision {revision} are" if len(found) > 1 else f"a line of revision {revision} is"
    return Skipped(
        path,
        f"{what} left out: their {width} columns have no header in this file "
        f"(that of {header.program.name} names {len(header.columns)})",
        line=found[0],
    )


def _to_runs(rows: Sequence[Mapping[str, object]]) -> Runs:
    table = pd.DataFrame(list(rows))
    known = ["cores", "elements", *_PARAMETERS.values()]
    parameters = [name for name in known if name in table.columns and table[name].notna().all()]
    units = {
        name: "B" if name == "peak_memory" else "s"
        for name in table.columns
        if name not in (*known, "seconds", *BOOKKEEPING) and table[name].notna().all()
    }
    return Runs.from_frame(table, parameters, "seconds", quantities=units)
