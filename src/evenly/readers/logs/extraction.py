"""What a pattern finds in a log: the runs with their parameters and times, and what is wrong with the others.

A log is read line by line. A line that the pattern recognises begins another log if there is a time above it already,
or the end of a log; a line of ``begin`` begins another run. A run has the values of its own lines, else those above
the first run.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.readers.logs.pattern import ROWS, Parameter, Pattern, Table
from evenly.readers.logs.template import Template
from evenly.runs.units import to_base
from evenly.space.expressions import Expression

__all__ = ["LAST_LEFT_OUT", "Problem", "Run", "extract"]

#: What is said of a last line that holds a time but no line end.
LAST_LEFT_OUT = "its last line has no line end, so the time in it may be cut off: left out"


@dataclass(frozen=True)
class Run:
    """The rows of one run: parameters in their order, seconds and quantities of each row, shape (n_rows,)."""

    line: int
    solver: str
    parameters: dict[str, Any]
    seconds: NDArray[np.float64]
    quantities: dict[str, Any]


@dataclass(frozen=True)
class Problem:
    """Why there is no time, and the line where this is seen."""

    reason: str
    line: int | None = None


#: What schedulers write into the log of a run that they end.
_KILLED = re.compile(
    r"\*\*\* .*\bCANCELLED\b.*\*\*\*|=>> PBS: job killed|oom[-_ ]kill|TERM_(?:RUNLIMIT|MEMLIMIT)", re.IGNORECASE
)

#: One of these is in such a line: looking for them is quicker.
_KILL_WORDS = ("***", "job killed", "oom", "OOM", "TERM_")


@dataclass
class _Block:
    """What is said of one run: values with their lines, rows, and why its time is no measure."""

    line: int
    begun: bool = False
    values: dict[str, tuple[Any, int]] = field(default_factory=dict)
    conflicts: dict[str, str] = field(default_factory=dict)
    rows: list[dict[str, Any]] = field(default_factory=list)
    row_lines: list[int] = field(default_factory=list)
    refused: Problem | None = None
    left_out: list[Problem] = field(default_factory=list)

    def only(self, good: NDArray[np.bool_]) -> _Block:
        """Return the same block without the rows that are not `good`, whose lines `left_out` tells."""
        lines = [line for line, keep in zip(self.row_lines, good, strict=True) if not keep]
        reason = f"{len(lines)} of {len(good)} rows are left out: their time is zero, too short for its clock"
        self.left_out.append(Problem(reason, lines[0]))
        kept = [i for i, keep in enumerate(good) if keep]
        return replace(self, rows=[self.rows[i] for i in kept], row_lines=[self.row_lines[i] for i in kept])

    def add(self, found: Mapping[str, Any], line: int, choices: Mapping[str, str]) -> None:
        """Keep values; remember where two lines contradict each other."""
        for name, value in found.items():
            before = self.values.get(name)
            choice = choices.get(name)
            if before is None or choice == "last" or (choice == "most" and value > before[0]):
                self.values[name] = (value, line)
            elif choice is None and before[0] != value:
                said = f"line {before[1]} says {name} {before[0]}, but line {line} says {value}"
                self.conflicts.setdefault(name, said)


@dataclass
class _Log:
    """One log: what is said above the first run, and its runs."""

    head: _Block
    blocks: list[_Block] = field(default_factory=list)
    ended: bool = False
    cut: bool = False

    @property
    def last_row(self) -> int:
        return max((b.row_lines[-1] for b in (self.head, *self.blocks) if b.rows), default=0)


def extract(pattern: Pattern, lines: Iterable[str]) -> tuple[list[Run], list[Problem]]:
    r"""Return the runs that a log holds, and what is wrong with others; a log without a run has at least one problem.

    Parameters
    ----------
    pattern : Pattern
        How the log is read.
    lines : iterable of str
        The lines with their line ends; the last one may lack it, and its values then don't count.

    Examples
    --------
    >>> pattern = Pattern.from_dict("ours", {"about": "ours", "recognise": "OurSolver", "row": "Time: {seconds}",
    ...     "read": "{ranks:int} ranks", "parameters": ["ranks"], "end": "Bye."})
    >>> runs, problems = extract(pattern, ["OurSolver\n", "8 ranks\n", "Time: 1.5\n", "Bye."])
    >>> runs[0].parameters, runs[0].seconds
    ({'ranks': 8}, array([1.5]))
    >>> extract(pattern, ["OurSolver\n", "8 ranks\n", "Time: 1.5\n", "By"])[1][0].reason
    "the log is cut off, or the run didn't end well: 'Bye.' should follow"
    """
    runs: list[Run] = []
    problems: list[Problem] = []
    for log in _Lines(pattern).logs(lines):
        found, lacking = _runs(pattern, log)
        runs += found
        problems += lacking
    return runs, problems


class _Lines:
    """Goes through the lines of a file."""

    def __init__(self, pattern: Pattern) -> None:
        self._pattern = pattern
        self._choices = pattern.choices
        self._headed = [table for table in pattern.tables if table.header is not None]
        self._anywhere = [table for table in pattern.tables if table.header is None]
        literals = [t.literal for t in (*pattern.recognise, *pattern.begin, *pattern.end, *pattern.read)]
        literals += [table.header.literal for table in self._headed if table.header is not None]
        literals += [table.columns.literal for table in self._anywhere]
        literals += [rule.line.literal for rule in pattern.refuse if rule.line is not None]
        self._may_count = re.compile("|".join(sorted(map(re.escape, set(literals)))) if all(literals) else "").search
        self._table: Table | None = None

    def logs(self, lines: Iterable[str]) -> Iterator[_Log]:
        log = _Log(_Block(1))
        block = log.head
        for at, line in enumerate(lines, start=1):
            if any(word in line for word in _KILL_WORDS) and _KILLED.search(line) and not log.ended:
                block.refused = block.refused or Problem("the scheduler ended this run", at)
            if self._table is None and self._may_count(line) is None:
                continue
            begins = _any(self._pattern.begin, line) is not None
            # A line of both only begins a run, in a log whose first line may be missing.
            if (log.last_row or log.ended) and not begins and _any(self._pattern.recognise, line) is not None:
                yield log
                log = _Log(_Block(at))
                block = log.head
            if begins:
                block = _Block(at, begun=True)
                log.blocks.append(block)
            self._line(log, block, at, line)
        yield log

    def _line(self, log: _Log, block: _Block, at: int, line: str) -> None:
        if _any(self._pattern.end, line) is not None:
            log.ended = True
        if not line.endswith("\n"):  # its last value may have been cut off
            log.cut = self._row(line) is not None
            return
        for template in (*self._pattern.recognise, *self._pattern.begin, *self._pattern.read):
            if (found := template.match(line)) is not None:
                block.add(found, at, self._choices)
        for rule in self._pattern.refuse:
            if rule.line is not None and (found := rule.line.match(line)) is not None:
                block.add(found, at, self._choices)
                if rule.when is None:
                    block.refused = block.refused or Problem(rule.why, at)
        if (row := self._row(line)) is not None:
            block.rows.append(row)
            block.row_lines.append(at)
            log.ended = False
        elif self._pattern.take == "last" and any(table.columns.begins(line) for table in self._anywhere):
            # Steps are counted by these lines, and the last one tells the time.
            damaged = "a line with a time is damaged, as where two programs wrote into one log"
            block.refused = block.refused or Problem(damaged, at)

    def _row(self, line: str) -> dict[str, Any] | None:
        table = next((t for t in self._headed if t.header is not None and t.header.match(line) is not None), None)
        if table is not None:
            self._table = table
            return None
        if self._table is not None:
            if (found := self._table.columns.match(line)) is not None:
                return found
            # A line of anything else, such as a warning of another process, doesn't end a table; an empty one does.
            if not line.strip():
                self._table = None
        return _any([table.columns for table in self._anywhere], line)


def _any(templates: Iterable[Template], line: str) -> dict[str, Any] | None:
    return next((found for template in templates if (found := template.match(line)) is not None), None)


# ---- runs ---------------------------------------------------------------------------------------------------


def _runs(pattern: Pattern, log: _Log) -> tuple[list[Run], list[Problem]]:
    timed = [block for block in (log.head, *log.blocks) if block.rows]
    problems = [_without_time(pattern, block) for block in log.blocks if not block.rows]
    if not timed:
        return [], problems or [_without_time(pattern, log.head)]
    if pattern.end and not log.ended:
        should = " or ".join(repr(template.text) for template in pattern.end)
        wrong = log.head.refused or timed[-1].refused
        cut = f"the log is cut off, or the run didn't end well: {should} should follow"
        return [], [wrong or Problem(cut, log.last_row)]
    if log.cut:
        problems.append(Problem(LAST_LEFT_OUT))
    runs: list[Run] = []
    for block in timed:
        try:
            runs.append(_run(pattern, log.head, block))
        except _NoRunError as error:
            problems.append(error.problem)
        problems += block.left_out
    return runs, problems


class _NoRunError(Exception):
    def __init__(self, reason: str, line: int | None) -> None:
        self.problem = Problem(reason, line)


def _without_time(pattern: Pattern, block: _Block) -> Problem:
    if block.refused is not None:
        return block.refused
    expected = " or ".join(repr(table.columns.text) for table in pattern.tables)
    what = "the run that begins here has no time" if block.begun else "there is no time in this log"
    return Problem(f"{what}: a line as {expected} was expected", block.line if block.begun else None)


def _run(pattern: Pattern, head: _Block, block: _Block) -> Run:
    if (refused := block.refused or head.refused) is not None:
        raise _NoRunError(refused.reason, refused.line)
    at = block.row_lines[-1]
    rows = block.rows
    if pattern.take == "only" and any(row != rows[0] for row in rows):
        other = next(i for i, row in enumerate(rows) if row != rows[0])
        raise _NoRunError(
            f"lines {block.row_lines[0]} and {block.row_lines[other]} both say a time, and not the same: "
            "give the log of one run",
            None,
        )
    rows = {"only": rows[:1], "last": rows[-1:]}.get(pattern.take, rows)
    values: dict[str, Any] = {name: value for name, (value, _) in (head.values | block.values).items()}
    for name in dict.fromkeys(name for row in rows for name in row):
        column = [row.get(name) for row in rows]
        values[name] = column[0] if len(rows) == 1 else np.array(column)
    values[ROWS] = len(block.rows)
    for name, rule in pattern.otherwise.items():
        if name not in values and rule.names <= set(values):
            values[name] = _value(rule, values)
    _check_conflicts(pattern, head, block)
    for refusal in pattern.refuse:
        if refusal.when is not None and refusal.when.names <= set(values) and np.any(refusal.when(values)):
            raise _NoRunError(refusal.why, at)
    parameters = {p.name: _value(p.expression, values) for p in pattern.parameters if _is_said(pattern, p, values, at)}
    with np.errstate(all="ignore"):
        seconds = to_base(np.broadcast_to(pattern.time(values), (len(rows),)), pattern.unit)
    good = np.isfinite(seconds) & (seconds > 0)
    if not good.all():
        if pattern.take == "each" and good.any():
            return _run(pattern, head, block.only(good))
        bad = int(np.flatnonzero(~good)[0])
        raise _NoRunError(
            f"the time is {seconds[bad]:g} s: too short for its clock, or no time",
            block.row_lines[-len(rows) :][bad],
        )
    quantities = {name: to_base(values[name], unit) for name, unit in pattern.quantities.items() if name in values}
    return Run(block.line, pattern.solver_of(values), parameters, seconds, quantities)


def _value(rule: Expression, values: Mapping[str, Any]) -> Any:
    """Return the value of an expression: a number or text, or an array (n_rows,)."""
    if rule.text in values:
        return values[rule.text]
    found = rule(values)
    return found.item() if found.ndim == 0 else found


def _is_said(pattern: Pattern, parameter: Parameter, values: Mapping[str, Any], line: int) -> bool:
    missing = sorted(parameter.expression.names - set(values))
    if missing and not parameter.optional:
        other = dict(pattern.otherwise).get(missing[0])
        names = [missing[0], *(sorted(other.names) if other is not None else [])]
        lines = [repr(one.text) for name in names for one in pattern.templates if name in one.names]
        said = " or ".join(map(repr, names))
        raise _NoRunError(f"the log doesn't say {said}: a line as {' or '.join(lines)} was expected", line)
    return not missing


def _check_conflicts(pattern: Pattern, head: _Block, block: _Block) -> None:
    """Refuse a run in which two lines contradict each other in a value that counts."""
    rules = [pattern.time, *(p.expression for p in pattern.parameters), *pattern.otherwise.values()]
    used = {name for rule in rules for name in rule.names} | set(pattern.quantities)
    in_head = {name: said for name, said in head.conflicts.items() if name not in block.values}
    for name, said in (in_head | block.conflicts).items():
        if name in used and not any(name in row for row in block.rows):
            raise _NoRunError(f"{said}: give the log of one run", None)
