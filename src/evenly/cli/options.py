"""Options that several commands share, in groups, and what they mean."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any

import typer

from evenly.cli import parsing
from evenly.errors import InputError

__all__ = ["At", "Json", "Learning", "Level", "PathArgument", "Pictures", "Reading", "one_value_each"]

_READING = "Reading"
_MODEL = "Model"

PathArgument = Annotated[Path, typer.Argument(help="A measurement file, a folder of them, or a saved model.")]
Json = Annotated[bool, typer.Option("--json", help="Print JSON for machines.")]
Level = Annotated[float, typer.Option("--level", min=0.01, max=0.999, help="Probability that intervals cover.")]
At = Annotated[
    list[str] | None, typer.Option("--at", help="Values of parameters, as level=8 (several allowed: cores=64,128).")
]


def _reads(*names: str, help: str) -> Any:  # noqa: A002 - typer's word
    return typer.Option(*names, help=help, rich_help_panel=_READING)


def _learns(*names: str, help: str) -> Any:  # noqa: A002 - typer's word
    return typer.Option(*names, help=help, rich_help_panel=_MODEL)


@dataclass(frozen=True)
class Reading:
    """How measurements are read."""

    format: Annotated[str | None, _reads("--format", help="Read only this format.")] = None
    time: Annotated[str | None, _reads("--time", help="Table: the column with the time.")] = None
    unit: Annotated[str | None, _reads("--unit", help="Table: its unit: s, ms, us, min, h, ticks@HZ, SYPD.")] = None
    parameters: Annotated[str | None, _reads("--parameters", help="Table: columns that say what was run, a,b,c.")] = (
        None
    )
    solver: Annotated[str | None, _reads("--solver", help="Table: the column that names the solver.")] = None
    quantities: Annotated[
        list[str] | None, _reads("--quantity", help="Table: more measured columns, as memory=GiB.")
    ] = None
    where: Annotated[str | None, _reads("--where", help="Table: rows to use, as \"kind == 'measured'\".")] = None
    constants: Annotated[
        list[str] | None, _reads("--constant", help="Table: a parameter that it doesn't hold, as cores=512.")
    ] = None
    others: Annotated[
        list[str] | None, _reads("--reader-option", "-O", help="Any option of a reader, as warm_up=0.")
    ] = None

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
            **(parsing.values(self.others, "--reader-option") if self.others else {}),
        }
        if self.parameters is not None and not given["parameters"]:
            raise InputError("--parameters must name at least one column")
        return {name: value for name, value in given.items() if value is not None}


@dataclass(frozen=True)
class Learning:
    """How models are learned."""

    method: Annotated[
        str | None, _learns("--method", help="pmnf, power-law, … (default: pmnf, near-ties averaged).")
    ] = None
    effort: Annotated[str, _learns("--effort", help="quick, normal or thorough.")] = "normal"
    statistic: Annotated[str, _learns("--statistic", help="How repetitions are condensed: median, min, mean.")] = (
        "median"
    )
    response: Annotated[
        str | None, _learns("--learn", help="What to learn: seconds, or another measured quantity.")
    ] = None
    train: Annotated[
        str | None,
        _learns("--train", help='Learn only from runs for which this holds, as "cores < 400"; test on the others.'),
    ] = None


@dataclass(frozen=True)
class Pictures:
    """Where pictures go."""

    plot: Annotated[Path | None, typer.Option("--plot", help="Save pictures into this folder.")] = None
    suffix: Annotated[str, typer.Option("--plot-format", help="svg, png or pdf.")] = "svg"


def one_value_each(items: list[str] | None) -> dict[str, Any]:
    """Read ``--at`` where each parameter must have one value."""
    found = parsing.configurations(items) if items else [{}]
    if len(found) != 1:
        raise InputError("--at takes one value per parameter here, as level=8")
    return found[0]
