"""Groups of options that several commands share, with their help texts."""

from __future__ import annotations

import dataclasses
import os
from collections.abc import Iterable
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal, get_type_hints

import typer

from evenly.cli import parsing
from evenly.cli.option_groups import panel
from evenly.errors import InputError
from evenly.writing import check_replaceable

__all__ = [
    "At", "CoresAre", "Json", "Learning", "Level", "Limit", "OptionalPaths", "Paths", "PictureFormat", "Pictures",
    "Reading", "check_writable", "one_value_each", "typed",
]  # fmt: skip

PictureFormat = Literal["svg", "png", "pdf"]


def _level(text: object) -> float:
    try:
        return parsing.probability(str(text), "--level")
    except InputError as error:
        raise typer.BadParameter(str(error)) from None


def _limit(text: object) -> float:
    try:
        value = parsing.probability(str(text), "--limit")
        if value <= 0.5:
            raise InputError(f"--limit takes a probability above 50 %, as 95%, but got {text!r}")
    except InputError as error:
        raise typer.BadParameter(str(error)) from None
    return value


Paths = Annotated[
    list[Path], typer.Argument(metavar="PATH", help="Measurement files, folders of them, or one saved model.")
]
OptionalPaths = Annotated[
    list[Path] | None,
    typer.Argument(metavar="PATH", help="Measurement files, folders of them, or one saved model."),
]
Json = Annotated[bool, typer.Option("--json", help="Print the result as JSON.")]
KeepGoing = Annotated[
    bool,
    typer.Option("--keep-going", help="Make all runs, even if the first ones fail at once and alike."),
]
Level = Annotated[
    float,
    typer.Option("--level", parser=_level, metavar="SHARE", help="Probability that intervals cover, as 0.9 or 90%."),
]
CoresAre = Annotated[
    str | None,
    typer.Option("--cores-are", help="What the cores are, if no name says it: 'nodes * tasks_per_node', ranks."),
]
Limit = Annotated[
    float | None,
    typer.Option(
        "--limit", parser=_limit, metavar="SHARE",
        help="Print the time limits to ask a batch system for, which are enough with this probability, as 95%.",
    ),
]  # fmt: skip
At = Annotated[
    list[str] | None, typer.Option("--at", help="Values of parameters, as level=8 (several allowed: cores=64,128).")
]


_reads, _learns = panel("Reading"), panel("Model")
TableTime = Annotated[str | None, _reads("--time", help="Table: the column with the time, or several: 'run *'.")]
TableParameters = Annotated[str | None, _reads("--parameters", help="Table: the columns that were varied, as a,b,c.")]
Only = Annotated[list[str] | None, _reads("--only", help="Only these solvers: ice,lnd,atm,ocn.")]


@dataclass(frozen=True)
class Reading:
    """How measurements are read."""

    format: Annotated[str | None, _reads("--format", help="Read only this format.")] = None
    time: TableTime = None
    unit: Annotated[str | None, _reads("--unit", help="Table: the time's unit: s, ms, us, min, h, ticks@HZ, SYPD.")] = (
        None
    )
    parameters: TableParameters = None
    solver: Annotated[
        str | None, _reads("--solver", help="Table: the column that names the solver; '*': the * of --time.")
    ] = None
    quantities: Annotated[
        list[str] | None, _reads("--quantity", help="Table: more measured columns, as memory=GiB.")
    ] = None
    where: Annotated[str | None, _reads("--where", help="Table: rows to use, as \"kind == 'measured'\".")] = None
    constants: Annotated[
        list[str] | None, _reads("--constant", help="Table, log: a parameter that it lacks, as cores=512.")
    ] = None
    pattern: Annotated[
        list[Path] | None, _reads("--pattern", help="Log: a file that says how your program's logs are read.")
    ] = None
    others: Annotated[
        list[str] | None, _reads("--reader-option", "-O", help="Any option of a reader, as warm_up=0.")
    ] = None
    only: Only = None
    without: Annotated[list[str] | None, _reads("--without", help="All solvers except these: cpl.")] = None

    def arguments(self) -> dict[str, Any]:
        """Return the keyword arguments of `evenly.readers.scan` for what was typed."""
        given: dict[str, Any] = {
            "format": self.format,
            "time": self.time,
            "unit": self.unit,
            "parameters": parsing.names(self.parameters),
            "solver": self.solver,
            "quantities": parsing.pairs(self.quantities, "--quantity") if self.quantities else None,
            "where": self.where,
            "constants": parsing.values(self.constants, "--constant") if self.constants else None,
            "pattern": self.pattern or None,
            **(parsing.values(self.others, "--reader-option", texts=("sheet", "table")) if self.others else {}),
        }
        if self.parameters is not None and not given["parameters"]:
            raise InputError("--parameters must name at least one column")
        return {name: value for name, value in given.items() if value is not None}

    def chosen(self, solvers: Iterable[str]) -> list[str]:
        """Return the solvers that ``--only`` and ``--without`` leave, in their order.

        Commas part the names, but those in the name of a solver.

        Raises
        ------
        InputError
            If a name is no solver, or none is left.
        """
        there = list(solvers)
        given = {"--only": self.only, "--without": self.without}
        listed = {
            option: [name for item in items for name in ([item] if item in there else parsing.names(item) or ())]
            for option, items in given.items()
            if items
        }
        for option, names in listed.items():
            for name in names:
                parsing.one_of(name, there, option)
        left = [s for s in there if s in listed.get("--only", there) and s not in listed.get("--without", ())]
        if not left:
            raise InputError(f"--only and --without leave none of the solvers {', '.join(there)}: keep at least one")
        return left


@dataclass(frozen=True)
class Learning:
    """How models are learned."""

    method: Annotated[
        str | None, _learns("--method", help="auto, pmnf, gp, … (default: pmnf for one number, else auto).")
    ] = None
    effort: Annotated[
        Literal["quick", "normal", "thorough"], _learns("--effort", help="How many formulas and methods are tried.")
    ] = "normal"
    factors: Annotated[
        list[str] | None,
        _learns(
            "--factor",
            help="A part of the time, and what it is proportional to: work='cells/ranks' (several: their sum).",
        ),
    ] = None
    statistic: Annotated[
        Literal["median", "min", "mean"], _learns("--statistic", help="How repeated runs become one value.")
    ] = "median"
    response: Annotated[
        str | None, _learns("--learn", help="What to learn: seconds, or another measured quantity.")
    ] = None
    outliers: Annotated[
        Literal["drop", "keep"],
        _learns("--outliers", help="Whether rows far off all that is near are left out, which is said."),
    ] = "drop"
    like: Annotated[
        Path | None,
        _learns(
            "--like",
            help="A saved model, or measurements, of another machine, version or resolution: what differs is learned.",
        ),
    ] = None
    unseen: Annotated[
        Literal["mean", "refuse"] | None,
        _learns(
            "--unseen",
            help="Labels that no run has: the mean over the others stands for them, also if they look like slips; "
            "or they are refused.",
        ),
    ] = None
    train: Annotated[
        str | None,
        _learns("--train", help='Learn only from runs for which this holds, as "cores < 400"; test on the others.'),
    ] = None

    @property
    def of_coupled_runs(self) -> Literal["refuse", "keep"]:
        """What becomes of a whole coupled run that is far off the others: they are too few to leave it out."""
        return "keep" if self.outliers == "keep" else "refuse"


@dataclass(frozen=True)
class Pictures:
    """Where pictures go."""

    plot: Annotated[Path | None, typer.Option("--plot", help="Save pictures into this folder.")] = None
    suffix: Annotated[PictureFormat, typer.Option("--plot-format", help="Format of the pictures.")] = "svg"

    def check(self) -> None:
        """Refuse a folder that pictures can't be written to, before anything is computed."""
        if self.plot is not None:
            check_writable(self.plot / f"picture.{self.suffix}", "pictures", folder_is_made=True)


def check_writable(file: Path, what: str, *, folder_is_made: bool = False, read: Iterable[Path] = ()) -> None:
    """Refuse now what could not be saved later, and saving over a file that was read or that evenly did not write.

    Raises
    ------
    InputError
        If `file` is a folder or one of those read, lies in a folder that is missing (unless it will be made) or is
        none, or may not be written.

    Examples
    --------
    >>> check_writable(Path("models.evenly"), "models")
    """
    if file.is_dir():
        raise InputError(f"{what} can't be saved in {file}: it is a folder, give a file in it")
    folder = next(parent for parent in file.absolute().parents if parent.exists())
    if not folder.is_dir():
        raise InputError(f"{what} can't be saved in {file.parent}: {folder} is not a folder")
    if not (folder_is_made or file.parent.exists()):
        raise InputError(f"{what} can't be saved in {file}: there is no folder {file.parent}, make it first")
    if not os.access(file if file.exists() else folder, os.W_OK):
        raise InputError(f"{what} can't be saved in {file}: it may not be written")
    if file.exists() and any(source.exists() and source.samefile(file) for source in read):
        raise InputError(f"{what} can't be saved in {file}: that was read, and would be lost; give another name")
    if file.is_file() and file.stat().st_size:  # nothing is lost with an empty file, a device or a pipe
        check_replaceable([file])


def typed(group: Any) -> list[str]:
    """Return the options of a group that were typed, as they are typed.

    Examples
    --------
    >>> typed(Reading(time="wall", where=None))
    ['--time']
    """
    hints = get_type_hints(type(group), include_extras=True)
    empty: tuple[Any, ...] = ([], ())
    return [
        _as_typed(hints[field.name].__metadata__[0])
        for field in dataclasses.fields(group)
        if (value := getattr(group, field.name)) != field.default and value not in empty
    ]


def _as_typed(option: Any) -> str:
    """Return an option's first name; typer keeps it where defaults are given outside ``Annotated``."""
    return str(option.default if isinstance(option.default, str) else option.param_decls[0])


def one_value_each(items: list[str] | None) -> dict[str, Any]:
    """Read ``--at`` where each parameter must have one value."""
    found = parsing.configurations(items) if items else [{}]
    if len(found) != 1:
        raise InputError("--at takes one value per parameter here, as level=8")
    return found[0]
