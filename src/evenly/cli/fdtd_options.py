"""Options of commands that describe a simulation: what to simulate, and how to run it."""

from __future__ import annotations

import shlex
from dataclasses import dataclass
from pathlib import Path
from typing import Annotated, Any, Literal

from evenly.cli import parsing
from evenly.cli.option_groups import panel
from evenly.errors import InputError

__all__ = ["How", "What", "run_on"]

_what, _how = panel("What to simulate"), panel("How to run it")


@dataclass(frozen=True)
class What:
    """Parameters of the program."""

    resolution: Annotated[float | None, _what("--resolution", help="Grid points per unit of length.")] = None
    size: Annotated[float | None, _what("--size", help="Size of the cell, as the structure defines it.")] = None
    frequencies: Annotated[int | None, _what("--frequencies", help="Number of frequencies that the monitors hold.")] = (
        None
    )
    assigned: Annotated[list[str] | None, _what("--set", help="Any other parameter, as pml=0.4 (several allowed).")] = (
        None
    )

    def parameters(self) -> dict[str, Any]:
        """Return what was given by name."""
        given = self.named()
        assigned = parsing.values(self.assigned, "--set") if self.assigned else {}
        for name in assigned:
            if name in given:
                raise InputError(f"{name} is given by --{name} and by --set: keep one of them")
        return {**given, **assigned}

    def named(self) -> dict[str, float]:
        """Return the parameters that have options of their own, where they were given."""
        named = {"resolution": self.resolution, "size": self.size, "frequencies": self.frequencies}
        return {name: value for name, value in named.items() if value is not None}


@dataclass(frozen=True)
class How:
    """Ranks, threads, numbers."""

    ranks: Annotated[
        int | None, _how("--ranks", "-n", help="MPI ranks to start (default: those of --chunks, else 1).", min=1)
    ] = None
    threads: Annotated[int, _how("--threads", help="Threads of each rank.", min=1)] = 1
    precision: Annotated[
        Literal["float64", "float32"], _how("--precision", help="Floating-point numbers of the fields.")
    ] = "float64"
    decimation: Annotated[
        int | None,
        _how("--decimation", help="Steps between two records of Fourier monitors, at most (default: by bands).", min=1),
    ] = None
    layout: Annotated[
        Path | None,
        _how("--chunks", help="Chunks as in this file of `evenly partition -o` (default: of equal volume)."),
    ] = None

    def options(self) -> dict[str, Any]:
        """Return the options of the simulation that differ from the usual."""
        usual = How()
        given = {name: getattr(self, name) for name in ("threads", "precision", "decimation")}
        return {name: value for name, value in given.items() if value != getattr(usual, name)}


def run_on(program: str, what: What, layout: Path | str, ranks: int) -> str:
    """Return the command that runs a program on a layout."""
    parameters = [f"--{name} {value:g}" for name, value in what.named().items()]
    assigned = [f"--set {shlex.quote(text)}" for text in what.assigned or []]
    words = ["evenly fdtd run", shlex.quote(program), *parameters, *assigned]
    return " ".join([*words, f"--ranks {ranks}", f"--chunks {shlex.quote(str(layout))}"])
