"""Reads a cell to partition from command-line arguments: a structure, a script of evenly.fdtd or Meep, or a file."""

from __future__ import annotations

import ast
import math
import shlex
from collections.abc import Callable
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenly.cli.fdtd_options import What, run_on
from evenly.cli.option_groups import panel
from evenly.cli.options import typed
from evenly.errors import InputError
from evenly.memory import check_file

if TYPE_CHECKING:
    from evenly.decomposition.cells.cell import Cell

__all__ = ["MeepScript", "Sources", "imported_by", "open_program"]

_meep = panel("Meep script")


@dataclass(frozen=True)
class MeepScript:
    """How a script of Meep is read."""

    whose: Annotated[
        Literal["fdtd", "meep"] | None,
        _meep("--program", help="The library that PROGRAM is a script of (default: the one it imports)."),
    ] = None
    arguments: Annotated[str | None, _meep("--args", help="Arguments of the script, in quotes.")] = None
    python: Annotated[
        Path | None, _meep("--python", help="The Python that has Meep (default: the first that is found).")
    ] = None
    which: Annotated[int, _meep("--which", help="Which of the script's simulations, in the order they run.", min=1)] = 1


@dataclass(frozen=True)
class Sources:
    """A program to cut.

    Parameters
    ----------
    unit : str
        Of its lengths.
    cell : callable
        Takes a number of ranks, returns the cell as it is on so many.
    how : callable
        Takes a file of a layout and a number of ranks, returns how the program is run on it; "" where that isn't known.
    steps : callable
        Takes a number of ranks, returns the number of steps of the program's first run, or None where it doesn't say.
    """

    unit: str
    cell: Callable[[int], Cell]
    how: Callable[[str, int], str] = lambda _layout, _ranks: ""
    steps: Callable[[int], int | None] = lambda _ranks: None


def open_program(program: str, what: What, meep: MeepScript) -> Sources:
    """Return the cell of a structure, a script or a file.

    Raises
    ------
    InputError
        If there is no such thing, or it doesn't take what is given.
    """
    from evenly.fdtd.structures.programs import is_script

    if program.endswith(".npz"):
        return _of_file(program, what, meep)
    path = program.partition(":")[0]
    if not is_script(program):
        _refuse(meep, f"{program!r} is a structure of evenly")
        return _of_fdtd(program, what)
    if not Path(path).is_file():
        raise InputError(
            "PROGRAM must be a structure (`evenly fdtd list`), or a script or a cell file that exists, but there is "
            f"no {path!r}."
        )
    if (meep.whose or imported_by(Path(path))) == "meep":
        return _of_meep(program, what, meep)
    _refuse(
        meep,
        f"{path} is taken for a script of evenly.fdtd; --program meep says it is one of Meep",
        allowed=("--program",),
    )
    return _of_fdtd(program, what)


def imported_by(script: Path) -> Literal["fdtd", "meep"]:
    """Return the kind of a script (evenly.fdtd or Meep) from its imports; evenly's if it imports neither.

    Raises
    ------
    InputError
        If it imports both, or is no Python.
    """
    from evenly.fdtd.structures.programs import libraries

    check_file(script)
    try:
        tree = ast.parse(script.read_text(encoding="utf-8"), filename=str(script))
    except SyntaxError as error:
        raise InputError(f"{script}, line {error.lineno}: a script must be Python, but: {error.msg}.") from None
    except (OSError, ValueError, RecursionError, MemoryError) as error:
        raise InputError(f"{script}: a script must be Python that can be read, but: {error}.") from None
    found = libraries(tree, script.parent)
    if len(found) == 2:
        raise InputError(f"{script} imports both meep and evenly.fdtd: say --program meep or --program fdtd.")
    return "meep" if "meep" in found else "fdtd"


def _refuse(group: Any, why: str, allowed: tuple[str, ...] = ()) -> None:
    given = [option for option in typed(group) if option not in allowed]
    if given:
        raise InputError(f"{', '.join(given)} can't be used here: {why}.")


def _of_file(path: str, what: What, meep: MeepScript) -> Sources:
    from evenly.decomposition.cells.cell import Cell

    for group in (what, meep):
        _refuse(group, f"{path} is a cell as it was saved")
    cell = Cell.load(path)
    return Sources("a", lambda _ranks: cell, steps=lambda _ranks: _steps(cell))


def _of_fdtd(program: str, what: What) -> Sources:
    from evenly.decomposition.cells.fdtd.cell import cell_of
    from evenly.fdtd.structures.programs import load

    found = load(program, what.parameters())
    cell = cell_of(found.simulation, found.monitors.values(), name=found.name)

    def how(layout: str, ranks: int) -> str:
        return f"run on it by `{run_on(program, what, layout, ranks)}`"

    unit = "a" if found.example is None else found.example.unit
    steps = None if found.until is None else math.ceil(found.until / found.simulation.grid.dt)
    return Sources(unit, lambda _ranks: cell, how, lambda _ranks: steps)


def _of_meep(program: str, what: What, meep: MeepScript) -> Sources:
    path, _, function = program.partition(":")
    if function:
        raise InputError(f"A script of Meep is run as it is, so give {path}, not {program}.")
    _refuse(what, f"{path} is a script of Meep: give it its own arguments, as --args '-r 20'")
    from evenly.adapters.meep.cell.scripts import cell_of_script

    try:
        arguments = shlex.split(meep.arguments or "")
    except ValueError as error:
        raise InputError(f"--args must be arguments as in a shell, but got {meep.arguments!r}: {error}.") from None
    python = None if meep.python is None else str(meep.python)

    @lru_cache(maxsize=1)  # a cell may be large
    def cell(ranks: int) -> Cell:
        return cell_of_script(path, arguments, ranks, python, simulation=meep.which)

    script = " ".join(shlex.quote(word) for word in (path, *arguments))

    def how(layout: str, ranks: int) -> str:
        return (
            f"run on it by `mpirun -n {ranks} python3 -m evenly.adapters.meep {shlex.quote(layout)} {script}` in "
            f"Meep's Python, or give Simulation chunk_layout=evenly.adapters.meep.layout('{layout}')"
        )

    return Sources("a", cell, how, lambda ranks: _steps(cell(ranks)))


def _steps(cell: Cell) -> int | None:
    return int(cell.traits["steps"]) if "steps" in cell.traits else None
