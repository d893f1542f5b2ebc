"""Options of commands that describe a simulation: what to simulate, and how to run it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

import typer

from evenly.cli import parsing
from evenly.errors import InputError

__all__ = ["How", "What"]

_WHAT, _HOW = "What to simulate", "How to run it"


def _what(*names: str, help: str) -> Any:  # noqa: A002 - typer's word
    return typer.Option(*names, help=help, rich_help_panel=_WHAT)


def _how(*names: str, help: str, **more: Any) -> Any:  # noqa: A002 - typer's word
    return typer.Option(*names, help=help, rich_help_panel=_HOW, **more)


@dataclass(frozen=True)
class What:
    """Parameters of the program."""

    resolution: Annotated[float | None, _what("--resolution", help="Grid points per unit of length.")] = None
    size: Annotated[float | None, _what("--size", help="Size of the cell, as the structure defines it.")] = None
    frequencies: Annotated[int | None, _what("--frequencies", help="How many the monitors hold.")] = None
    assigned: Annotated[list[str] | None, _what("--set", help="Any other parameter, as pml=0.4 (several allowed).")] = (
        None
    )

    def as_typed(self) -> list[str]:
        """Return the options that give the same, as words of a shell."""
        named = {"--resolution": self.resolution, "--size": self.size, "--frequencies": self.frequencies}
        options = [f"{name} {value:g}" for name, value in named.items() if value is not None]
        return [*options, *(f"--set {shlex.quote(text)}" for text in self.assigned or [])]

    def parameters(self) -> dict[str, Any]:
        """Return what was given by name."""
        named = {"resolution": self.resolution, "size": self.size, "frequencies": self.frequencies}
        given = {name: value for name, value in named.items() if value is not None}
        assigned = parsing.values(self.assigned, "--set") if self.assigned else {}
        for name in assigned:
            if name in given:
                raise InputError(f"{name} is given by --{name} and by --set: keep one of them")
        return {**given, **assigned}


@dataclass(frozen=True)
class How:
    """Ranks, threads, numbers."""

    ranks: Annotated[
        int | None, _how("--ranks", "-n", help="MPI ranks to start (default: those of --layout, else 1).", min=1)
    ] = None
    threads: Annotated[int, _how("--threads", help="Threads of each rank.", min=1)] = 1
    precision: Annotated[Literal["float64", "float32"], _how("--precision", help="Of the fields.")] = "float64"
    decimation: Annotated[
        int | None,
        _how("--decimation", help="Fourier monitors take at most every so many steps (default: by bands).", min=1),
    ] = None
    layout: Annotated[
        Path | None,
        _how("--layout", help="Chunks as in this file of `evenly partition -o` (default: of equal volume)."),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return the options of the simulation that differ from the usual."""
        usual = How()
        given = {name: getattr(self, name) for name in ("threads", "precision", "decimation")}
        return {name: value for name, value in given.items() if value != getattr(usual, name)}
