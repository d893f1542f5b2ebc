"""``evenly sensitivity``: which parameters of measured runs matter, and how much."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated

import typer

from evenly.cli import options as opt
from evenly.cli.console import out, print_json
from evenly.cli.saving_pictures import save_all


def sensitivity(
    path: Annotated[Path, typer.Argument(metavar="RUNS", help="What was measured: a table of runs.")],
    task: Annotated[
        str | None,
        typer.Option("--task", help="A parameter whose values define tasks, each of which is looked at alone."),
    ] = None,
    repeats: Annotated[
        int, typer.Option("--repeats", min=1, help="How many random halves of the runs to use, for error bars.")
    ] = 10,
    seed: Annotated[int, typer.Option("--seed", min=0, help="Seed of the random halves and permutations.")] = 0,
    reading: opt.Reading = opt.Reading(),
    pictures: opt.Pictures = opt.Pictures(),
    json: opt.Json = False,
) -> None:
    """Tell which parameters matter: how much errors grow when their values are shuffled, and Sobol indices."""
    from evenly.cli.run_input import one_program
    from evenly.report.tables.tuning import sensitivity_table
    from evenly.tuning.sensitivity import sensitivity as told

    pictures.check()
    found = told(one_program(path, reading), task=task, repeats=repeats, seed=seed)
    if pictures.plot is not None:
        from evenly.report.plots.tuning import plot_sensitivity, plot_sensitivity_over_tasks

        figures = {
            "sensitivity" if task is None else f"sensitivity-{task}-{value}": plot_sensitivity(found, value)
            for value in dict.fromkeys(found.table["task"])
        }
        if task is not None:
            figures["sensitivity-over-tasks"] = plot_sensitivity_over_tasks(found)
        save_all(figures, pictures)
    if json:
        print_json(found.table.to_dict("records"))
        return
    out.print(sensitivity_table(found))
