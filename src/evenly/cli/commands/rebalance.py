"""``evenly rebalance``: compute a better layout for the next run from the times of a measured run."""

from __future__ import annotations

import math
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli.cell_input import MeepScript, open_program
from evenly.cli.console import note, out, print_json
from evenly.cli.fdtd_options import What
from evenly.errors import InputError, ReadError

if TYPE_CHECKING:
    from evenly.decomposition.cells.cell import Cell
    from evenly.fdtd.measurement.measurement import Measurement

__all__ = ["rebalance"]

#: Whose runs are read, and what there is for others.
_WHOSE = (
    "Only measurements of evenly.fdtd are read (`evenly fdtd run --save`); for Meep, evenly.adapters.meep has a "
    "ChunkBalancer (docs/meep.md)."
)


def rebalance(
    paths: Annotated[
        list[Path],
        typer.Argument(metavar="MEASUREMENT", help="Files of runs (*.fdtd.json): repetitions, and other layouts."),
    ],
    program: Annotated[
        str | None,
        typer.Option(
            "--of", metavar="PROGRAM", help="What was run, if no structure: script.py[:function] or cell.npz."
        ),
    ] = None,
    what: What = What(),
    cost: Annotated[Path | None, typer.Option("--cost", help="A file with costs (default: this machine's).")] = None,
    steps: Annotated[
        float | None,
        typer.Option("--steps", help="Time steps of the next run, to tell what it gains in all.", min=1),
    ] = None,
    rebuild_s: Annotated[
        float | None,
        typer.Option(
            "--rebuild",
            help="Seconds that changing the layout costs, which --steps must earn back.",
            min=0,
        ),
    ] = None,
    output: Annotated[Path | None, typer.Option("--save", "-o", help="Save the new layout as .json.")] = None,
    json: opt.Json = False,
) -> None:
    """Say whether another layout would make a measured run faster, and save it.

    Slow ranks get less; what the cost model misjudged is corrected by what was measured. Only measurements of
    evenly.fdtd are read; for Meep, evenly.adapters.meep has a ChunkBalancer (docs/meep.md).
    """
    from evenly.decomposition.costs.locations import find_cost
    from evenly.decomposition.rebalancing.files import decide_from, latest_of
    from evenly.decomposition.rebalancing.simulation_interface import timings_of
    from evenly.fdtd.cell.partition import BinaryPartition
    from evenly.report.tables import rebalance as tables

    if output is not None:
        opt.check_writable(output, "the layout", read=paths)
    runs = _measurements(paths)
    cell = _cell(runs[-1], program, what)
    found = find_cost(cell.program, cost)
    note(found.note)
    if lacking := found.cost.lacking(cell):
        note(lacking)
    given: dict[str, Any] = {"steps_left": math.inf if steps is None else steps}
    given["rebuild_s"] = math.nan if rebuild_s is None else rebuild_s
    decision = decide_from(runs, cell, found.cost, **given)
    timings, name = timings_of(latest_of(runs)), runs[-1].name
    if json:
        print_json(tables.decision_as_dict(name, timings, decision))
    else:
        out.print(tables.decision_headline(name, timings, decision), soft_wrap=True)
        out.print(tables.decision_table(timings, decision, BinaryPartition(runs[-1].layout), cell.grid))
        out.print(decision.why, soft_wrap=True)
    if output is not None:
        layout = decision.layout if decision.adjust and decision.layout is not None else runs[-1].layout
        saved = BinaryPartition(layout).save(output)
        note(f"saved {saved}" + ("" if decision.adjust else ", the layout of the run"))


def _measurements(paths: Sequence[Path]) -> list[Measurement]:
    """Return all runs, the last one last."""
    from evenly.fdtd.measurement.measurement import SUFFIX

    files = [file for path in paths for file in (sorted(path.glob(f"*{SUFFIX}")) if path.is_dir() else [path])]
    if not files:
        raise InputError(f"There are no measurements (*{SUFFIX}) in {', '.join(map(str, paths))}.")
    return sorted((_measurement(file) for file in files), key=lambda run: run.when)


def _measurement(file: Path) -> Measurement:
    from evenly.fdtd.measurement.measurement import Measurement

    try:
        return Measurement.load(file)
    except ReadError as error:
        if not file.exists():
            raise
        raise ReadError(file, f"{error.reason.rstrip('.')}. {_WHOSE}", line=error.line) from None


def _cell(run: Measurement, program: str | None, what: What) -> Cell:
    """Return what was run: a structure of its name and parameters, unless a program is named."""
    from evenly.fdtd import structures

    if program is None:
        if run.name not in structures.names():
            raise InputError(f"{run.name!r} is no structure of evenly: say what was run, as --of script.py.")
        if not what.parameters():
            return _of_structure(run)
    return open_program(program or run.name, what, MeepScript()).cell(run.size)


def _of_structure(run: Measurement) -> Cell:
    from evenly.decomposition.cells.fdtd.cell import cell_of
    from evenly.fdtd.structures.programs import load

    found = load(run.name, run.parameters)
    return cell_of(found.simulation, found.monitors.values(), name=found.name)
