"""``evenly advise``: which runs next would teach a model most for what they cost."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json, save_table
from evenly.errors import InputError

if TYPE_CHECKING:
    import pandas as pd

    from evenly.runs.runs import Runs


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
    at: Annotated[
        list[str] | None,
        typer.Option("--at", help="What is to be known, as cores=512: runs are proposed for what they tell of it."),
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the proposals as .csv.")] = None,
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Propose the runs that lower a model's error most per core-hour, out of all that may be run."""
    from evenly.cli.run_input import one_program
    from evenly.report.tables.tuning import advice_table
    from evenly.tuning.advisor import advise as advised

    found = one_program(path, reading)
    if study is not None:
        from evenly.campaign import Study
        from evenly.runs.runs import Runs as Table

        space = Study.load(study).space
        found = Table.from_frame(found.to_frame(), space.names, space=space)
    if save is not None:
        opt.check_writable(save, "table of proposals")
    if cores_are is None or budget is not None:
        cores_are = _cores(found, cores_are, needed=budget is not None)
    asked = None if at is None else _asked(at, found)
    table = advised(found, runs, budget=budget, cores=cores_are, asked=asked)
    if save is not None:
        save_table(table, save, "table of proposals")
    if json:
        print_json(table.to_dict("records"))
        return
    if not len(table):
        if budget is None or not len(advised(found, 1, cores=cores_are)):
            raise InputError("everything that may be run was run: --study with more values gives more")
        raise InputError(f"nothing that is left takes less than {budget:g} core-hours: a larger --budget gives more")
    out.print(advice_table(table, found.parameters, per_core=cores_are is None))


def _cores(found: Runs, cores_are: str | None, *, needed: bool) -> str | None:
    """Return what the cores are, and say what was assumed; None where it is open, and not needed."""
    from evenly.runs.cores import find_cores

    try:
        cores = find_cores(found.space, cores_are, measured=found.configurations)
    except InputError:
        if needed:
            raise
        note("what the cores are is open, so runs are compared by their time: --cores-are says it")
        return None
    if cores.said:
        note(cores.said)
    return cores.text


def _asked(at: list[str], found: Runs) -> pd.DataFrame:
    """Return the configurations of ``--at``; parameters that never varied may be left out."""
    import pandas as pd

    from evenly.cli import parsing
    from evenly.cli.run_input import Learned, check_parameters, known_rows
    from evenly.core_counts.other_parameters import unvaried

    asked, there = pd.DataFrame(parsing.configurations(at)), Learned({}, {"": found})
    named = list(map(str, asked.columns))
    check_parameters(named, there)
    rows = known_rows(asked, there)
    return rows.assign(**unvaried(found.space, list(map(str, rows.columns))))
