"""``evenly train``: learn the errors of the cost model on this machine, from timed ranks of random cells."""

from __future__ import annotations

import time
from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import err, note, out, print_json, progress
from evenly.cli.interruptions import INTERRUPTED
from evenly.errors import InputError

__all__ = ["train"]


def train(
    program: Annotated[str, typer.Argument(metavar="PROGRAM", help="Whose simulations: fdtd.")] = "fdtd",
    runs: Annotated[
        int, typer.Option("--runs", help="How many random cells to time; a later call can add more.", min=10)
    ] = 300,
    budget: Annotated[str, typer.Option("--wall-time", help="Wall time to spend on timing, as 90s or 15m.")] = "15m",
    workers: Annotated[int, typer.Option("--workers", help="How many processes time ranks at once.", min=1)] = 1,
    real: Annotated[
        int, typer.Option("--real", help="Random cells that run on real MPI ranks besides, up to 8.", min=0)
    ] = 0,
    learner: Annotated[
        str | None, typer.Option("--learner", help="Method that learns, as neural-net (default: extra-trees).")
    ] = None,
    output: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="Where to save the step model (default: where `evenly predict` looks)."),
    ] = None,
    json: opt.Json = False,
) -> None:
    """Learn how long time steps take here, for `evenly predict --simulation`: each rank of random cells is timed alone.

    What was timed is kept: after an interruption, or with more --runs, the same command goes on.
    """
    if program != "fdtd":
        raise InputError(f"PROGRAM must be fdtd, whose simulations can be timed rank by rank here, but got {program!r}")
    seconds = parsing.duration(budget, "--wall-time")
    from evenly.decomposition.costs.locations import find_cost
    from evenly.decomposition.forecasting.locations import rehearsal_file, step_model_file
    from evenly.decomposition.forecasting.rehearsal import RehearsalStore
    from evenly.decomposition.forecasting.step_model import LEARNER, StepModel
    from evenly.decomposition.forecasting.training_data import gather, real_settings, training_settings

    target, store = output or step_model_file(program), rehearsal_file(program)
    opt.check_writable(target, "the step model", folder_is_made=True)
    for folder in (target.parent, store.parent):
        folder.mkdir(parents=True, exist_ok=True)
    found = find_cost(program)
    note(found.note)
    settings = [*training_settings(runs), *real_settings(real)]
    begin = time.monotonic()
    with progress("timing random cells") as show:
        try:
            gather(
                settings, store, found.cost, workers=workers, seconds=seconds,
                told=lambda done, of, _wrong: show(max(done / of, min(1.0, (time.monotonic() - begin) / seconds))),
            )  # fmt: skip
        except KeyboardInterrupt:
            err.print(f"interrupted: what was timed is in {store}; the same command goes on from there", style="red")
            raise typer.Exit(INTERRUPTED) from None
    with RehearsalStore(store, found.cost) as kept:
        wanted = {setting.key for setting in settings}
        rehearsals = [one for one in kept if one.setting.key in wanted]
    if len(rehearsals) < len(settings):
        note(f"{len(rehearsals)} of {len(settings)} cells were timed: a longer --wall-time times more")
    model = StepModel.learn(rehearsals, found.cost, learner=learner or LEARNER)
    model.save(target)
    errors = {"error": model.half_width(0.5), "error_90": model.half_width(0.9)}
    told = {"file": str(target), "cells": len(rehearsals), **errors}
    if json:
        print_json(told)
    else:
        out.print(
            f"learned from {len(rehearsals)} cells; the slowest rank of cells not learned from is off by "
            f"{errors['error']:.1%} (median), {errors['error_90']:.1%} (nine of ten)"
        )
    note(f"saved {target}; `evenly predict --simulation` uses it" if output is None else f"saved {target}")
