"""``evenly cost``: what points, chunks and borders take, as measured here or shipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.pictures import save_all

__all__ = ["COMMANDS", "show"]


def show(
    program: Annotated[Literal["fdtd", "meep"], typer.Option("--program", help="Whose costs.")] = "fdtd",
    file: Annotated[
        Path | None, typer.Option("--cost", help="A file with costs (default: this machine's, else the shipped ones).")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Folder for a picture per feature.")] = None,
    json: opt.Json = False,
) -> None:
    """Show what each kind of point, chunk and border takes per step, and how far predictions are off."""
    from evenly.balance.cost.places import find_cost
    from evenly.report.cost_plots import plot_cost
    from evenly.report.cost_tables import cost_as_dict, cost_table

    found = find_cost(program, file)
    note(found.note)
    if json:
        print_json({**cost_as_dict(found.cost), "source": found.source, "file": str(found.path)})
    else:
        out.print(cost_table(found.cost, title=f"{found.cost.program} on {found.cost.machine}"))
    if plot is not None:
        save_all(plot_cost(found.cost), opt.Pictures(plot, "png"))


COMMANDS: dict[str, Callable[..., None]] = {"show": show}
