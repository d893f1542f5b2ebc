"""Options that several commands share, and what they mean."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evenly.cli import parsing
from evenly.errors import InputError

__all__ = [
    "At",
    "Constants",
    "Format",
    "Json",
    "Level",
    "Method",
    "Parameters",
    "PathArgument",
    "Quantities",
    "ReaderOptions",
    "Response",
    "SolverColumn",
    "Statistic",
    "TimeColumn",
    "Train",
    "Unit",
    "Where",
    "reading",
]

_READING = "Reading"
_MODEL = "Model"

PathArgument = Annotated[Path, typer.Argument(help="A measurement file, a folder of them, or a saved model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Format = Annotated[
    str | None, typer.Option("--format", help="Read only this format (see --formats).", rich_help_panel=_READING)
]
TimeColumn = Annotated[
    str | None, typer.Option("--time", help="Table: the column with the time.", rich_help_panel=_READING)
]
Unit = Annotated[
    str | None,
    typer.Option("--unit", help="Table: its unit: s, ms, us, min, h, ticks@HZ, SYPD.", rich_help_panel=_READING),
]
Parameters = Annotated[
    str | None,
    typer.Option("--parameters", help="Table: columns that say what was run, a,b,c.", rich_help_panel=_READING),
]
SolverColumn = Annotated[
    str | None, typer.Option("--solver", help="Table: the column that names the solver.", rich_help_panel=_READING)
]
Quantities = Annotated[
    list[str] | None,
    typer.Option("--quantity", help="Table: more measured columns, as memory=GiB.", rich_help_panel=_READING),
]
Where = Annotated[
    str | None,
    typer.Option("--where", help="Table: rows to use, as \"kind == 'measured'\".", rich_help_panel=_READING),
]
Constants = Annotated[
    list[str] | None,
    typer.Option("--constant", help="Table: a parameter that it doesn't hold, as cores=512.", rich_help_panel=_READING),
]
ReaderOptions = Annotated[
    list[str] | None,
    typer.Option("--reader-option", "-O", help="Any option of a reader, as warm_up=0.", rich_help_panel=_READING),
]
Method = Annotated[
    str | None,
    typer.Option("--method", help="pmnf, power-law, … (default: near-ties averaged).", rich_help_panel=_MODEL),
]
Statistic = Annotated[
    str,
    typer.Option("--statistic", help="How repetitions are condensed: median, min, mean.", rich_help_panel=_MODEL),
]
Response = Annotated[
    str | None,
    typer.Option("--learn", help="What to learn: seconds, or another measured quantity.", rich_help_panel=_MODEL),
]
Train = Annotated[
    str | None,
    typer.Option(
        "--train", help='Learn only from runs for which this holds, as "cores < 400"; test on the others.',
        rich_help_panel=_MODEL,
    ),
]  # fmt: skip
Level = Annotated[float, typer.Option("--level", min=0.01, max=0.999, help="Probability that intervals cover.")]
At = Annotated[
    list[str] | None, typer.Option("--at", help="Values of parameters, as level=8 (several allowed: cores=64,128).")
]


def reading(
    *,
    format: str | None = None,  # noqa: A002 - the option's name
    time: str | None = None,
    unit: str | None = None,
    parameters: str | None = None,
    solver: str | None = None,
    quantities: list[str] | None = None,
    where: str | None = None,
    constants: list[str] | None = None,
    others: list[str] | None = None,
) -> dict[str, Any]:
    """Return the keyword arguments of `evenly.readers.scan` for what was typed."""
    given: dict[str, Any] = {
        "format": format,
        "time": time,
        "unit": unit,
        "parameters": parsing.names(parameters),
        "solver": solver,
        "quantities": parsing.pairs(quantities, "--quantity") if quantities else None,
        "where": where,
        "constants": parsing.values(constants, "--constant") if constants else None,
        **(parsing.values(others, "--reader-option") if others else {}),
    }
    if parameters is not None and not given["parameters"]:
        raise InputError("--parameters must name at least one column")
    return {name: value for name, value in given.items() if value is not None}
