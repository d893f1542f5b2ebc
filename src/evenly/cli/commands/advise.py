"""``evenly advise``: which runs next would teach a model most for what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json, save_table
from evenly.errors import InputError


def advise(
    path: Annotated[Path, typer.Argument(metavar="RUNS", help="What was measured: a table of runs.")],
    runs: Annotated[int, typer.Option("--runs", min=1, help="Number of runs to propose.")] = 5,
    budget: Annotated[
        float | None, typer.Option("--budget", help="Core-hours that all of them may take.", min=0)
    ] = None,
    cores_are: opt.CoresAre = None,
    study: Annotated[
        Path | None, typer.Option("--study", help="A study: its parameters say what may be run (default: what was).")
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the proposals as .csv.")] = None,
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Propose the runs that lower a model's error most per core-hour, out of all that may be run."""
    from evenly.cli.run_input import one_program
    from evenly.report.tables.tuning import advice_table
    from evenly.runs.cores import find_cores
    from evenly.tuning.advisor import advise as advised

    found = one_program(path, reading)
    if study is not None:
        from evenly.campaign import Study
        from evenly.runs.runs import Runs

        space = Study.load(study).space
        found = Runs.from_frame(found.to_frame(), space.names, space=space)
    if save is not None:
        opt.check_writable(save, "table of proposals")
    if budget is not None:
        cores = find_cores(found.space, cores_are, measured=found.configurations)
        cores_are = cores.text
        if cores.said:
            note(cores.said)
    table = advised(found, runs, budget=budget, cores=cores_are)
    if save is not None:
        save_table(table, save, "table of proposals")
    if json:
        print_json(table.to_dict("records"))
        return
    if not len(table):
        if budget is None or not len(advised(found, 1)):
            raise InputError("everything that may be run was run: --study with more values gives more")
        raise InputError(f"nothing that is left takes less than {budget:g} core-hours: a larger --budget gives more")
    out.print(advice_table(table, found.parameters, per_core=cores_are is None))
