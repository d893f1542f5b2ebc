"""``evenly train``: learn the errors of the cost model on this machine, from timed ranks of random cells."""

from __future__ import annotations

import time
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import err, note, out, print_json, progress
from evenly.cli.interruptions import INTERRUPTED
from evenly.errors import InputError

if TYPE_CHECKING:
    from collections.abc import Callable

    from evenly.decomposition.costs.cost_model import CostModel
    from evenly.decomposition.forecasting.rehearsal import Rehearsal, Setting

    Cells = tuple[list[Setting], Callable[[Setting, CostModel], Rehearsal]]

__all__ = ["train"]

#: Range of the grid points of Meep's random cells: larger ones take long to begin.
POINTS_OF_MEEP = (3e4, 1e6)


def train(
    program: Annotated[
        Literal["fdtd", "meep"], typer.Argument(metavar="PROGRAM", help="Whose simulations: fdtd or meep.")
    ] = "fdtd",
    runs: Annotated[
        int, typer.Option("--runs", help="How many random cells to time; a later call can add more.", min=10)
    ] = 300,
    budget: Annotated[str, typer.Option("--wall-time", help="Wall time to spend on timing, as 90s or 15m.")] = "15m",
    workers: Annotated[int, typer.Option("--workers", help="How many processes time ranks at once.", min=1)] = 1,
    real: Annotated[
        int, typer.Option("--real", help="Random cells that run on real MPI ranks besides, up to 8.", min=0)
    ] = 0,
    python: Annotated[
        Path | None, typer.Option("--python", help="The Python that has Meep (default: the first that is found).")
    ] = None,
    learner: Annotated[
        str | None, typer.Option("--learner", help="Method that learns, as neural-net (default: extra-trees).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="Where to save the step model (default: where `evenly predict` looks)."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Learn how long time steps take here, for `evenly predict --simulation`.

    Random cells are timed: of fdtd, each rank alone; of Meep, all ranks together, on up to 8 cores. What was timed is
    kept: after an interruption, or with more --runs, the same command goes on.
    """
    seconds = parsing.duration(budget, "--wall-time")
    from evenly.decomposition.costs.locations import find_cost
    from evenly.decomposition.forecasting.locations import rehearsal_file, step_model_file
    from evenly.decomposition.forecasting.step_model import LEARNER, StepModel

    target, store = output or step_model_file(program), rehearsal_file(program)
    opt.check_writable(target, "the step model", folder_is_made=True)
    for folder in (target.parent, store.parent):
        folder.mkdir(parents=True, exist_ok=True)
    found = find_cost(program)
    note(found.note)
    cells = _cells_of_meep(runs, python, workers, real) if program == "meep" else _cells(runs, real, python)
    rehearsals = _timed(cells, store, found.cost, workers, seconds)
    model = StepModel.learn(rehearsals, found.cost, learner=learner or LEARNER)
    model.save(target)
    errors = {"error": model.half_width(0.5), "error_90": model.half_width(0.9)}
    told = {"file": str(target), "cells": len(rehearsals), **errors}
    if json:
        print_json(told)
    else:
        out.print(
            f"learned from {len(rehearsals)} cells; the slowest rank of cells not learned from is off by "
            f"{100 * errors['error']:.1f} % (median), {100 * errors['error_90']:.1f} % (nine of ten)"
        )
    note(f"saved {target}; `evenly predict --simulation` uses it" if output is None else f"saved {target}")


def _timed(cells: Cells, store: Path, cost: CostModel, workers: int, seconds: float) -> list[Rehearsal]:
    """Time the cells that the store doesn't hold yet, as long as there is time; return all that it holds of them."""
    from evenly.decomposition.forecasting.rehearsal import RehearsalStore
    from evenly.decomposition.forecasting.step_model import FEWEST
    from evenly.decomposition.forecasting.training_data import gather

    settings, how = cells
    begin = time.monotonic()
    with progress("timing random cells") as show:
        try:
            gather(
                settings, store, cost, how=how, workers=workers, seconds=seconds,
                told=lambda done, of, _wrong: show(max(done / of, min(1.0, (time.monotonic() - begin) / seconds))),
            )  # fmt: skip
        except KeyboardInterrupt:
            err.print(f"interrupted: what was timed is in {store}; the same command goes on from there", style="red")
            raise typer.Exit(INTERRUPTED) from None
    with RehearsalStore(store, cost) as kept:
        wanted = {setting.key for setting in settings}
        rehearsals = [one for one in kept if one.setting.key in wanted]
    if len(rehearsals) < FEWEST:
        raise InputError(
            f"only {len(rehearsals)} of {len(settings)} cells were timed in {seconds:g} s, and a step model is learned "
            f"from at least {FEWEST}. What was timed is kept: the same command goes on from there"
        )
    if len(rehearsals) < len(settings):
        note(f"{len(rehearsals)} of {len(settings)} cells were timed: a longer --wall-time times more")
    return rehearsals


def _cells(runs: int, real: int, python: Path | None) -> Cells:
    """Return random cells of evenly's own simulation, and the function that times their ranks."""
    from evenly.decomposition.forecasting.rehearsal import rehearse
    from evenly.decomposition.forecasting.training_data import real_settings, training_settings

    if python is not None:
        raise InputError("--python names the Python that has Meep: `evenly train meep` uses it")
    return [*training_settings(runs), *real_settings(real)], rehearse


def _cells_of_meep(runs: int, python: Path | None, workers: int, real: int) -> Cells:
    """Return random cells of Meep on no more ranks than there are cores, and the function that times them."""
    from functools import partial

    from evenly.adapters.meep.cell.interpreter import find_python
    from evenly.adapters.meep.timing.random_cells import RANKS, random_settings
    from evenly.adapters.meep.timing.rehearsals import rehearse_random
    from evenly.launch.local import own_cores

    if workers > 1 or real:
        raise InputError("--workers and --real are for fdtd: cells of Meep run on real ranks, one after the other")
    ranks = [n for n in RANKS if n <= len(own_cores())]
    return random_settings(runs, points=POINTS_OF_MEEP, ranks=ranks), partial(
        rehearse_random, python=find_python(python)
    )
