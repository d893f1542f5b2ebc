"""Patterns of logs: what a program's log says, and where, as data.

A pattern is a TOML file::

    about = "the solver of our group"
    recognise = "OurSolver version {:word}"
    read = ["Started on {ranks:int} processes", "Grid of {cells:int} cells"]
    row = "Total time: {seconds} s"
    parameters = ["ranks", "cells"]
    end = "Bye."

`evenly.readers.logs.template` tells what the lines in it mean; docs/logs.md has the list of all keys.
"""

from __future__ import annotations

import re
import tomllib
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, fields
from functools import cache
from pathlib import Path
from typing import Any, Literal, Self, get_args

from evenly.errors import InputError, ReadError, check_keys
from evenly.memory import check_file
from evenly.readers.logs.template import Template
from evenly.runs.columns import BOOKKEEPING
from evenly.runs.units import base_unit
from evenly.space.expressions import Expression

__all__ = ["Parameter", "Pattern", "Refusal", "Table", "Take", "shipped_patterns"]

#: What the lines of a row are: one run in all, the last of a running clock, a run each, or a step of one run each.
Take = Literal["only", "last", "each", "steps"]
_SHIPPED = Path(__file__).parent / "patterns"
_PARAMETER = re.compile(r"\s*(?P<name>[A-Za-z_]\w*)\s*(?P<optional>\?)?\s*(?:=(?P<expression>.+))?")
_SOLVER_PLACE = re.compile(r"\{(\w+)\}")
#: The number of rows of a run, for expressions.
ROWS = "rows"


@dataclass(frozen=True)
class Parameter:
    """A parameter of a pattern: ``"ranks"``, ``"nodes?"`` (left out where a log lacks it) or ``"ranks = P * Q"``."""

    name: str
    expression: Expression
    optional: bool = False


@dataclass(frozen=True)
class Table:
    """A table in a log: the line above it, and what its rows are; without a header, rows may stand anywhere."""

    columns: Template
    header: Template | None = None


@dataclass(frozen=True)
class Refusal:
    """What makes a time no measure of speed: a line, or a condition on the values, and the reason."""

    why: str
    line: Template | None = None
    when: Expression | None = None


@dataclass(frozen=True)
class Pattern:
    """How the log of one program is read; the fields are the keys of its file.

    Parameters
    ----------
    program : str
        The name of the program: that of the file.
    about : str
        One line for the list of programs.
    recognise : tuple of Template
        Lines near the beginning, one of which a log of this program has.
    tables : tuple of Table
        What ``row`` and ``[[table]]`` say: the lines with a time.
    parameters : tuple of Parameter
        The configuration of a run.
    read, begin, end : tuple of Template
        Lines with values; lines that begin another run; lines one of which stands below the last time.
    take : {"only", "last", "each", "steps"}
        What several lines with a time are.
    time, unit : Expression, str
        The time or rate, from the values of a row, and its unit.
    otherwise : dict of str to Expression
        Values that hold where a log doesn't say them.
    quantities : dict of str to str
        More measured values, with their units.
    refuse : tuple of Refusal
        What makes a time no measure of speed.
    solver : str
        The name of the solver; may have places for values, as ``"{application}"``.
    silent : tuple of str
        What such a log doesn't say although it changes the time.

    Examples
    --------
    >>> pattern = Pattern.from_dict("ours", {"about": "ours", "recognise": "OurSolver", "row": "Time: {seconds}",
    ...                                      "read": "{ranks:int} ranks", "parameters": ["ranks"]})
    >>> pattern.end, pattern.take
    ((), 'only')
    """

    program: str
    about: str
    recognise: tuple[Template, ...]
    tables: tuple[Table, ...]
    parameters: tuple[Parameter, ...]
    read: tuple[Template, ...] = ()
    begin: tuple[Template, ...] = ()
    end: tuple[Template, ...] = ()
    take: Take = "only"
    time: Expression = Expression("seconds")  # noqa: RUF009 - immutable
    unit: str = "s"
    otherwise: Mapping[str, Expression] = ()  # type: ignore[assignment]
    quantities: Mapping[str, str] = ()  # type: ignore[assignment]
    refuse: tuple[Refusal, ...] = ()
    solver: str = ""
    silent: tuple[str, ...] = ()

    @classmethod
    def load(cls, path: Path | str) -> Self:
        """Read a pattern from a file; the program has the name of the file.

        Raises
        ------
        ReadError
            If it can't be read, or a key is wrong; the message names the key.
        """
        path = Path(path)
        try:
            check_file(path)
            data = tomllib.loads(path.read_text("utf-8"))
        except ReadError:
            raise
        except (OSError, UnicodeDecodeError, tomllib.TOMLDecodeError) as error:
            raise ReadError(path, f"the pattern can't be read: {getattr(error, 'strerror', None) or error}") from None
        try:
            return cls.from_dict(path.stem, data)
        except InputError as error:
            raise ReadError(path, str(error)) from None

    @classmethod
    def from_dict(cls, program: str, data: Mapping[str, Any]) -> Self:
        """Build a pattern from the keys of its file.

        Raises
        ------
        InputError
            If a key is missing, unknown or wrong; the message names it.
        """
        known = [*(f.name for f in fields(cls) if f.name not in ("program", "tables")), "row", "table"]
        check_keys("a pattern", data, known)
        for key in ("about", "recognise", "parameters"):
            if not data.get(key) and (key, data.get(key)) != ("parameters", []):  # those may be told beside
                raise InputError(f"the key {key!r} is missing: a pattern needs about, recognise, parameters, and row")
        pattern = cls(
            program=program,
            about=_text("about", data["about"]),
            recognise=_templates("recognise", data["recognise"]),
            tables=_tables(data),
            parameters=tuple(_parameter(item) for item in _list("parameters", data["parameters"])),
            read=_templates("read", data.get("read", ())),
            begin=_templates("begin", data.get("begin", ())),
            end=_templates("end", data.get("end", ())),
            take=_take(data.get("take", "only")),
            time=_expression("time", data.get("time", "seconds")),
            unit=_unit("unit", data.get("unit", "s"), of_time=True),
            otherwise={name: _expression(f"otherwise.{name}", x) for name, x in _map("otherwise", data).items()},
            quantities={name: _unit(f"quantities.{name}", x) for name, x in _map("quantities", data).items()},
            refuse=tuple(_refusal(item) for item in _entries("refuse", data)),
            solver=_text("solver", data.get("solver", program)),
            silent=tuple(_text("silent", item) for item in _list("silent", data.get("silent", ()))),
        )
        pattern._check_names()
        return pattern

    @property
    def templates(self) -> list[Template]:
        """All templates whose values count."""
        lines = [refusal.line for refusal in self.refuse if refusal.line is not None]
        return [*self.read, *self.recognise, *self.begin, *(table.columns for table in self.tables), *lines]

    @property
    def choices(self) -> dict[str, str]:
        """Which of several lines counts, by value, where they need not agree."""
        return {name: choice for template in self.templates for name, choice in template.choices.items()}

    def _check_names(self) -> None:
        """Refuse names that no line of the pattern gives, and names that evenly uses itself."""
        given = {name for template in self.templates for name in template.names} | {ROWS, *self.otherwise}
        used: list[tuple[str, Iterable[str]]] = [("time", self.time.names)]
        used += [(f"parameters: {p.name}", p.expression.names) for p in self.parameters]
        used += [(f"otherwise.{name}", rule.names) for name, rule in self.otherwise.items()]
        used += [(f"quantities.{name}", [name]) for name in self.quantities]
        used += [("refuse.when", rule.when.names) for rule in self.refuse if rule.when is not None]
        used += [("solver", _SOLVER_PLACE.findall(self.solver))]
        for key, names in used:
            if missing := sorted(set(names) - given):
                raise InputError(f"{key} needs {missing[0]!r}, but no line of the pattern has {{{missing[0]}}}")
        for parameter in self.parameters:
            if parameter.name in (*BOOKKEEPING, "seconds", "count", "spread"):
                raise InputError(f"parameters: {parameter.name!r} is a name that evenly uses itself, give another one")

    def solver_of(self, values: Mapping[str, Any]) -> str:
        """Return the name of the solver of a run with these values."""
        return _SOLVER_PLACE.sub(lambda place: str(values.get(place[1], "")), self.solver).strip() or self.program


@cache
def shipped_patterns() -> dict[str, Pattern]:
    """Return the patterns that come with evenly, by program.

    Examples
    --------
    >>> {"lammps", "gromacs", "openfoam"} <= set(shipped_patterns())
    True
    """
    loaded = [Pattern.load(path) for path in _SHIPPED.rglob("*.toml")]
    return {pattern.program: pattern for pattern in sorted(loaded, key=lambda pattern: pattern.program)}


# ---- keys ---------------------------------------------------------------------------------------------------


def _text(key: str, value: Any) -> str:
    if not isinstance(value, str) or not value.strip():
        raise InputError(f"{key} must be text, but got {value!r}")
    return value


def _list(key: str, value: Any) -> list[Any]:
    items = [value] if isinstance(value, str) else value
    if not isinstance(items, list | tuple):
        raise InputError(f"{key} must be text, or a list of texts, but got {value!r}")
    return list(items)


def _map(key: str, data: Mapping[str, Any]) -> dict[str, Any]:
    value = data.get(key, {})
    if not isinstance(value, dict):
        raise InputError(f"{key} must be a table of names and values, but got {value!r}")
    return value


def _entries(key: str, data: Mapping[str, Any]) -> list[dict[str, Any]]:
    value = data.get(key, [])
    if not isinstance(value, list) or not all(isinstance(item, dict) for item in value):
        raise InputError(f"{key} must be written as [[{key}]], but got {value!r}")
    return value


def _template(key: str, value: Any) -> Template:
    try:
        return Template(value)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _templates(key: str, value: Any) -> tuple[Template, ...]:
    return tuple(_template(key, item) for item in _list(key, value))


def _expression(key: str, value: Any) -> Expression:
    try:
        return Expression(str(value) if isinstance(value, int | float) else value)
    except InputError as error:
        raise InputError(f"{key}: {error}") from None


def _unit(key: str, value: Any, *, of_time: bool = False) -> str:
    try:
        base = base_unit(_text(key, value))
    except InputError as error:
        raise InputError(f"{key}: {error}") from None
    if of_time and base != "s":
        raise InputError(f"{key} must be that of a time or a rate, but got {value!r}")
    return str(value)


def _take(value: Any) -> Take:
    if value not in get_args(Take):
        raise InputError(f"take must be one of {', '.join(get_args(Take))}, but got {value!r}")
    return value  # type: ignore[no-any-return]


def _parameter(item: Any) -> Parameter:
    match = _PARAMETER.fullmatch(item) if isinstance(item, str) else None
    if match is None:
        raise InputError(f"parameters must be written as 'ranks', 'nodes?' or 'ranks = P * Q', but got {item!r}")
    expression = _expression("parameters", (match["expression"] or match["name"]).strip())
    return Parameter(match["name"], expression, match["optional"] is not None)


def _tables(data: Mapping[str, Any]) -> tuple[Table, ...]:
    tables = [Table(template) for template in _templates("row", data.get("row", ()))]
    for item in _entries("table", data):
        check_keys("a [[table]] of a pattern", item, ["header", "columns"])
        tables.append(
            Table(_template("table.columns", item.get("columns")), _template("table.header", item.get("header")))
        )
    if not tables:
        raise InputError("the key 'row' is missing: the line that says the time, as row = 'Total time: {seconds} s'")
    return tuple(tables)


def _refusal(item: dict[str, Any]) -> Refusal:
    check_keys("a [[refuse]] of a pattern", item, ["line", "when", "why"])
    if "line" not in item and "when" not in item:
        raise InputError("refuse needs the key 'line' or the key 'when': what makes the time no measure of speed")
    line = _template("refuse.line", item["line"]) if "line" in item else None
    when = _expression("refuse.when", item["when"]) if "when" in item else None
    return Refusal(_text("refuse.why", item.get("why")), line, when)
