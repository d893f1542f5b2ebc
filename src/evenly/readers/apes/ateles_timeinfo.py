"""Ateles' ``timeinfo``: one table of timers per run, each with the minimum, maximum and sum over the processes.

The first line says on how many processes the program ran. The time spent solving is the timer ``simLoop``; what others
wait for is its maximum. Written by ``tem_timer_module`` of treelm, so other solvers of the APES suite have it too.

Source: "Optimal core assignment for coupled simulations" (thesis), section 4.2.2.
"""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

import pandas as pd

from evenly.errors import ReadError
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED, head, is_unended, lines, number
from evenly.runs.runs import BOOKKEEPING, Runs

__all__ = ["AtelesTimeinfoReader"]

_TITLE = re.compile(r"\s*Timings for a run on\s+(?P<ranks>\d+)\s+processes\s*$")
_DETAILS = re.compile(r"D\s+(?P<label>.+?)\s*:\s+(?P<file>\S.*)$")
_COLUMNS = ["timer", "min", "max", "sum"]
#: Printed with seven digits; the sum of many processes rounds a little more.
_TOLERANCE = 1e-4
_TINY_S = 1e-9
#: The rule in messages on a value that is no time.
_TIME = "a time in seconds was expected,"


@dataclass(frozen=True)
class _Timer:
    minimum: float
    maximum: float
    total: float


@dataclass
class _Run:
    line: int
    ranks: int
    timers: dict[str, _Timer] = field(default_factory=dict)


class AtelesTimeinfoReader(Reader):
    r"""Reads ``timeinfo`` files.

    Quantities, all in seconds: ``seconds`` (the timer's maximum over the processes), ``rank_mean`` and ``rank_min`` of
    the same timer, and every other timer's maximum under its own name.

    Parameters
    ----------
    timer : str, optional
        The timer that is the solve time; ``"simLoop"`` by default.

    Examples
    --------
    >>> import tempfile
    >>> path = Path(tempfile.mkdtemp()) / "timeinfo"
    >>> _ = path.write_text(" Timings for a run on           4 processes\n   timer  min  max  sum\n"
    ...                     " simLoop  1.900000E+00  2.100000E+00  8.000000E+00\n")
    >>> AtelesTimeinfoReader().read(path)[""].to_frame()[["cores", "seconds", "rank_mean"]]
       cores  seconds  rank_mean
    0      4      2.1        2.0
    """

    name: ClassVar[str] = "ateles-timeinfo"
    summary: ClassVar[str] = "timer summaries (timeinfo) of Ateles and other solvers of the APES suite"

    def __init__(self, *, timer: str | None = None) -> None:
        self.timer = timer
        self.notes: list[str] = []

    def recognises(self, path: Path) -> bool:
        first = next((line for line in head(path).splitlines() if line.strip()), "")
        return _TITLE.match(first) is not None

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes = []
        content = lines(path)
        runs = self._parse(path, content)
        if not runs:
            raise ReadError(path, "there are no timings of a run")
        if is_unended(content):
            self.notes.append(UNENDED)
        wanted = self.timer or "simLoop"
        rows = [self._row(path, run, wanted, nth) for nth, run in enumerate(runs)]
        table = pd.DataFrame(rows)
        quantities = {name: "s" for name in table.columns if name not in ("cores", "seconds", *BOOKKEEPING)}
        return {"": Runs.from_frame(table, ["cores"], "seconds", quantities=quantities)}

    def _parse(self, path: Path, content: Sequence[str]) -> list[_Run]:
        runs: list[_Run] = []
        for at, line in enumerate(content, start=1):
            title = _TITLE.match(line)
            if title is not None:
                runs.append(_Run(at, _ranks(path, title["ranks"], at)))
            elif line.strip() and line.split() != _COLUMNS:
                if not runs:
                    raise ReadError(path, "'Timings for a run on N processes' was expected", line=at)
                self._add(path, runs[-1], line, at)
        return runs

    def _add(self, path: Path, run: _Run, line: str, at: int) -> None:
        if line.startswith("U"):  # a timer that the configuration names and the program doesn't know
            return
        details = _DETAILS.match(line)
        if details is not None:
            timer = self._details(path, details["file"].strip())
            if timer is not None:
                run.timers[details["label"]] = timer
            return
        cells = line.rsplit(maxsplit=3)
        if len(cells) != len(_COLUMNS):
            raise ReadError(path, f"a timer with min, max and sum was expected, got {line.strip()!r}", line=at)
        label = cells[0].strip()
        if any(set(cell) == {"*"} for cell in cells[1:]):
            self.notes.append(f"timer {label!r} is left out: its value did not fit its column")
            return
        timer = _Timer(*(number(path, _TIME, cell, at) for cell in cells[1:]))
        _check(path, label, timer, run.ranks, at)
        run.timers[label] = timer

    def _details(self, path: Path, name: str) -> _Timer | None:
        """Read the file beside, in which a timer is given per process."""
        beside = path.parent / Path(name).name
        found: dict[str, float] = {}
        try:
            content = lines(beside)
            if is_unended(content):
                self.notes.append(f"{beside}: {UNENDED}")
            for at, line in enumerate(content, start=1):
                key, _, value = line.partition(":")
                if key.strip() in _COLUMNS[1:] and value.strip():
                    found[key.strip()] = number(beside, _TIME, value.strip(), at)
        except ReadError as error:
            self.notes.append(f"details of a timer are left out: {error}")
        return _Timer(found["min"], found["max"], found["sum"]) if len(found) == 3 else None

    def _row(self, path: Path, run: _Run, wanted: str, nth: int) -> dict[str, object]:
        if wanted not in run.timers:
            there = ", ".join(run.timers) or "none: the file was cut off"
            raise ReadError(path, f"there is no timer {wanted!r}; there are {there}", line=run.line)
        main = run.timers[wanted]
        if not main.maximum > 0:
            raise ReadError(path, f"the timer {wanted!r} is zero: nothing was solved", line=run.line)
        others = {name: timer.maximum for name, timer in run.timers.items() if name not in (wanted, *_TAKEN)}
        return {
            "cores": run.ranks,
            "seconds": main.maximum,
            "rank_mean": main.total / run.ranks,
            "rank_min": main.minimum,
            **others,
            "run": f"{path.parent.name}/{path.name}:{nth}",
            "source": str(path),
        }


_TAKEN = ("cores", "seconds", "rank_mean", "rank_min", "count", "spread", *BOOKKEEPING)


def _ranks(path: Path, text: str, line: int) -> int:
    ranks = int(text) if len(text) <= 9 else 0
    if ranks < 1:
        raise ReadError(path, f"the number of processes must be positive, but got {text}", line=line)
    return ranks


def _check(path: Path, label: str, timer: _Timer, ranks: int, line: int) -> None:
    """Refuse numbers that can't be the minimum, maximum and sum of the same times."""
    slack = _TOLERANCE * timer.maximum * ranks + _TINY_S
    fits = timer.minimum * ranks - slack <= timer.total <= timer.maximum * ranks + slack
    if timer.minimum > timer.maximum or not fits:
        raise ReadError(
            path,
            f"timer {label!r} has min {timer.minimum:g}, max {timer.maximum:g} and sum {timer.total:g}, "
            f"which {ranks} processes can't give together: the file is damaged",
            line=line,
        )
