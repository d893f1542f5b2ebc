"""Logs of programs: one reader, and a pattern for each program that says what its log tells.

The patterns are the TOML files in ``patterns/``; a user's own is given with ``pattern=``.
"""

from __future__ import annotations

from collections import deque
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import Any, ClassVar

import numpy as np
import pandas as pd

from evenly.errors import InputError, ReadError, did_you_mean
from evenly.readers.base import Reader
from evenly.readers.files import UNENDED, head, stream
from evenly.readers.logs.extraction import LAST_LEFT_OUT, Run, extract
from evenly.readers.logs.pattern import Pattern, shipped_patterns
from evenly.readers.logs.template import Template
from evenly.readers.registry import Skipped
from evenly.runs.runs import Runs
from evenly.runs.units import base_unit

__all__ = ["LogReader"]

#: A log must be recognised in so many bytes; job scripts and ranks print before the program does.
_HEAD_BYTES = 65_536
#: From so many equal values on, two logs are those of one run: a program may write its log twice.
_TELLING_DIGITS, _TELLING_ROWS = 5, 3
#: How what was varied is told.
_HOW = "with --constant, as ranks=64, or from the files' names with -O name=, as '{ranks:int}ranks'"
#: Repeated runs differ by less than this factor.
_UNLIKE = 1.5
#: A mean this far from the median is worth a note.
_SKEW = 1.05


class LogReader(Reader):
    r"""Reads the logs of many programs (``evenly read --formats`` lists them), and of any other by a pattern.

    The quantity ``seconds`` is what the pattern says, and the parameters are what the log says: ranks, threads, nodes
    and the size of the problem. The solver has the name of the program.

    Parameters
    ----------
    pattern : path-like or sequence of path-like
        Files with patterns of one's own; they come before those of evenly.
    program : str, optional
        Read logs as those of this program only.
    name : str, optional
        A template of the names of files or folders, for what the logs don't say: ``"{nodes:int}nodes"``.
    constants : mapping, optional
        Parameters that the logs don't say, with their value, as in ``{"ranks": 64}``.

    Examples
    --------
    >>> import tempfile
    >>> folder = Path(tempfile.mkdtemp())
    >>> _ = (folder / "ours.toml").write_text('''
    ... about = "the solver of our group"
    ... recognise = "OurSolver {:word}"
    ... read = "Started on {ranks:int} processes"
    ... row = "Total time: {seconds} s"
    ... parameters = ["ranks"]
    ... ''')
    >>> path = folder / "run.log"
    >>> _ = path.write_text("OurSolver 1.2\nStarted on 8 processes\nTotal time: 12.5 s\n")
    >>> LogReader(pattern=folder / "ours.toml").read(path)["ours"].to_frame()[["ranks", "seconds"]]
       ranks  seconds
    0      8     12.5
    """

    name: ClassVar[str] = "log"
    summary: ClassVar[str] = "logs of programs, and of any other with a pattern of one's own (docs/logs.md)"

    def __init__(
        self,
        *,
        pattern: Path | str | Sequence[Path | str] = (),
        program: str | None = None,
        name: str | None = None,
        constants: Mapping[str, Any] | None = None,
    ) -> None:
        files = [pattern] if isinstance(pattern, str | Path) else list(pattern)
        self._own = {loaded.program: loaded for loaded in map(Pattern.load, files)}
        self._program = None if program is None else self._named(program)
        self._file_name = None if name is None else Template(name, within=True)
        self._constants = dict(constants or {})
        self._read: dict[tuple[Any, ...], tuple[Path, str]] = {}
        self._alike: dict[tuple[Any, ...], tuple[Path, float]] = {}
        self.notes: list[str] = []
        self.skipped: list[Skipped] = []

    @staticmethod
    def kinds() -> dict[str, str]:
        """Return the programs whose logs are known, each with a line about it, for the list of formats."""
        return {pattern.program: pattern.about for pattern in shipped_patterns().values()}

    def recognises(self, path: Path) -> bool:
        return bool(self._candidates(path))

    def read(self, path: Path) -> dict[str, Runs]:
        self.notes, self.skipped = [], []
        try:
            return self._runs_of(path, self._pattern(path))
        except ReadError:
            raise
        except InputError as error:  # a value that its place in the pattern doesn't fit
            raise ReadError(path, str(error)) from None

    def _runs_of(self, path: Path, pattern: Pattern) -> dict[str, Runs]:
        told = self._told(path)
        last: deque[str] = deque(maxlen=1)
        runs, problems = extract(pattern, _kept(stream(path), last))
        if not runs:
            raise ReadError(path, f"{pattern.program}: {problems[0].reason}", line=problems[0].line)
        self.skipped += [Skipped(path, problem.reason, problem.line) for problem in problems]
        is_whole = last[0].endswith("\n") or (pattern.end and not problems)
        if not is_whole and all(problem.reason != LAST_LEFT_OUT for problem in problems):
            self.notes.append(UNENDED)
        tables: dict[str, list[pd.DataFrame]] = {}
        kinds: dict[str, list[str]] = {}
        for number, run in enumerate(runs):
            parameters = _together(path, run, told)
            if kinds.setdefault(run.solver, list(parameters)) != list(parameters):
                reason = f"its parameters are not those of the runs above it: {', '.join(kinds[run.solver])}"
                self.skipped.append(Skipped(path, reason, run.line))
                continue
            place = self._place(path, str(path) if len(runs) == 1 else f"{path}:{number + 1}", run, parameters)
            tables.setdefault(run.solver, []).append(self._table(pattern, run, parameters, place, path))
        if not tables:
            raise ReadError(path, self.skipped[-1].reason)
        self._tell(pattern, runs, told)
        units = {name: base_unit(unit) for name, unit in pattern.quantities.items()}
        return {solver: _runs(path, parts, kinds[solver], units) for solver, parts in tables.items()}

    def _named(self, program: str) -> Pattern:
        known = {**shipped_patterns(), **self._own}
        if program not in known:
            hint = did_you_mean(program, known)
            raise InputError(f"program must be one of {', '.join(sorted(known))}, but got {program!r}{hint}")
        return known[program]

    def _pattern(self, path: Path) -> Pattern:
        if self._program is not None:
            return self._program
        candidates = self._candidates(path)
        if not candidates:
            raise ReadError(
                path,
                "no pattern knows this log: name the program (-O program=NAME), or give a pattern (--pattern FILE)",
            )
        if len(candidates) > 1:
            names = " and ".join(pattern.program for pattern in candidates)
            raise ReadError(path, f"it holds logs of {names}: say which to read, as -O program={candidates[0].program}")
        return candidates[0]

    def _candidates(self, path: Path) -> list[Pattern]:
        """Return the patterns that recognise a file: a user's own if there is one, else those of evenly."""
        if not head(path):  # not a text file
            return []
        start = head(path, _HEAD_BYTES)
        if self._program is not None:
            return [self._program] if _is_recognised(self._program, start) else []
        own = [pattern for pattern in self._own.values() if _is_recognised(pattern, start)]
        return own or [pattern for pattern in shipped_patterns().values() if _is_recognised(pattern, start)]

    def _told(self, path: Path) -> dict[str, Any]:
        """Return the parameters that the user tells: constants, and those in the name of the file or of a folder."""
        if self._file_name is None:
            return self._constants
        for part in reversed(path.absolute().parts):
            if (found := self._file_name.match(part)) is not None:
                return self._constants | found
        raise ReadError(
            path, f"neither its name nor that of a folder above it is as name={self._file_name.text!r} says"
        )

    def _place(self, path: Path, place: str, run: Run, parameters: Mapping[str, Any]) -> str:
        """Return the name of a run: that of an equal run in another log, as a program may write its log twice.

        Runs of one name count once.
        """
        values = run.seconds.tolist()
        kind = (run.solver, *((name, np.asarray(x).tobytes()) for name, x in parameters.items()))
        telling = (
            len(values) >= _TELLING_ROWS or len(f"{values[0]:.12g}".replace(".", "").strip("0")) >= _TELLING_DIGITS
        )
        first, name = self._read.setdefault((*kind, *values), (path, place))
        if telling and first != path:
            return name
        self._compare(path, kind, float(np.median(run.seconds)))
        return place

    def _compare(self, path: Path, kind: tuple[Any, ...], seconds: float) -> None:
        """Note a run that differs much from one with the same parameters: the logs don't say all that was varied."""
        other, before = self._alike.setdefault(kind, (path, seconds))
        ratio = max(seconds, before) / min(seconds, before)
        if other != path and ratio > _UNLIKE:
            self.notes.append(
                f"it says the same parameters as {other}, but the times differ by a factor of {ratio:.3g}: "
                f"tell what was varied {_HOW}"
            )

    def _table(self, pattern: Pattern, run: Run, parameters: Mapping[str, Any], place: str, path: Path) -> pd.DataFrame:
        table = pd.DataFrame({"seconds": run.seconds})
        for name, value in {**parameters, **run.quantities}.items():
            table[name] = value
        each = pattern.take == "each" and len(table) > 1
        table["run"] = [f"{place}-{row + 1}" for row in range(len(table))] if each else place
        table["source"] = str(path)
        if pattern.take == "steps" and (mean := run.seconds.mean()) > _SKEW * np.median(run.seconds):
            self.notes.append(
                f"its {len(table)} steps took {run.seconds.sum():.6g} s in all, {mean:.4g} s on average, half of them "
                f"no more than {np.median(run.seconds):.4g} s: for the time of many steps, say --statistic mean"
            )
        return table

    def _tell(self, pattern: Pattern, runs: Sequence[Run], told: Mapping[str, Any]) -> None:
        said = {name for run in runs for name in run.parameters} | set(told)
        lacking = [p.name for p in pattern.parameters if p.optional and p.name not in said]
        silent = [] if told else list(pattern.silent)
        if lacking or silent:
            who = "this log doesn't" if lacking else f"logs of {pattern.program} don't"
            what = " and ".join([*lacking, *silent])
            name, value = (lacking[0], "64") if lacking else ("NAME", "VALUE")
            self.notes.append(
                f"{who} say {what}: where that differs between logs, tell it with --constant {name}={value}, or from "
                f"the files' names with -O name=, as '{{{name}:int}}'"
            )


def _kept(lines: Iterable[str], last: deque[str]) -> Iterator[str]:
    for line in lines:
        last.append(line)
        yield line


def _is_recognised(pattern: Pattern, start: str) -> bool:
    for template in pattern.recognise:
        at = start.find(template.literal)
        while at >= 0:
            first, last = start.rfind("\n", 0, at) + 1, start.find("\n", at)
            if template.match(start[first : last if last >= 0 else len(start)].rstrip("\r")) is not None:
                return True
            at = start.find(template.literal, max(last, at + 1)) if last >= 0 else -1
    return False


def _together(path: Path, run: Run, told: Mapping[str, Any]) -> dict[str, Any]:
    """Return the parameters of a run and those that the user tells beside."""
    for name, value in told.items():
        if name in run.parameters and np.any(np.asarray(run.parameters[name]) != value):
            raise ReadError(path, f"{name} is {value} as told, but the log says {run.parameters[name]}", line=run.line)
    return {**run.parameters, **told}


def _runs(path: Path, parts: list[pd.DataFrame], parameters: list[str], units: Mapping[str, str]) -> Runs:
    if not parameters:
        raise ReadError(
            path,
            f"the log says no parameter, such as the number of ranks: tell it {_HOW}",
        )
    table = parts[0] if len(parts) == 1 else pd.concat(parts, ignore_index=True)
    quantities = {name: unit for name, unit in units.items() if name in table}
    return Runs.from_frame(table, parameters, "seconds", quantities=quantities)
