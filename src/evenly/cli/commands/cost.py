"""``evenly cost``: what points, chunks and borders take, as measured here or shipped."""

from __future__ import annotations

from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.errors import InputError
from evenly.writing import check_replaceable

if TYPE_CHECKING:
    from evenly.decomposition.costs.cost_model import CostModel

__all__ = ["COMMANDS", "save_pictures", "show"]


def show(
    whose: Annotated[
        Literal["fdtd", "meep"] | None,
        typer.Argument(metavar="[PROGRAM]", help="Whose costs: fdtd or meep (default: those of the file, else fdtd)."),
    ] = None,
    program: Annotated[
        Literal["fdtd", "meep"] | None, typer.Option("--program", help="The same, as an option.")
    ] = None,
    file: Annotated[
        Path | None, typer.Option("--cost", help="A file with costs (default: this machine's, else the shipped ones).")
    ] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Folder for a picture per feature.")] = None,
    json: opt.Json = False,
) -> None:
    """Show what each kind of point, chunk and border takes per step, and how far predictions are off."""
    from evenly.decomposition.costs.locations import find_cost
    from evenly.report.tables.cost import cost_as_dict, cost_table

    if plot is not None:
        opt.check_writable(plot / "picture.png", "pictures", folder_is_made=True)
    if program not in (None, whose or program):
        raise InputError(f"costs of one program are shown, but {whose} and --program {program} were asked for")
    found = find_cost(whose or program, file)
    note(found.note)
    if json:
        print_json({**cost_as_dict(found.cost), "source": found.source, "file": str(found.path)})
    else:
        out.print(cost_table(found.cost, title=f"{found.cost.program} on {found.cost.machine}"))
    if plot is not None:
        save_pictures(found.cost, plot)


def save_pictures(cost: CostModel, folder: Path) -> None:
    """Save a picture per feature and one of all runs; they are too many to be named one by one."""
    from evenly.report.plots.cost import plot_cost
    from evenly.report.plots.style import save_figure

    folder.mkdir(parents=True, exist_ok=True)
    figures = {folder / f"{name}.png": figure for name, figure in plot_cost(cost).items()}
    check_replaceable(figures)
    for target, figure in figures.items():
        save_figure(figure, target)
    note(f"{len(figures)} pictures in {folder}, one of all runs and one per feature: {cost.program}-cost-*.png")


COMMANDS: dict[str, Callable[..., None]] = {"show": show}
