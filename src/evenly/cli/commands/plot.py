"""``evenly plot``: pictures of models and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import print_json
from evenly.cli.run_input import Learned, learn
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from matplotlib.figure import Figure

View = Literal["map", "3d"]


def plot(
    path: opt.Paths,
    into: Annotated[Path, typer.Option("--into", help="The folder for the pictures.")] = Path("plots"),
    suffix: Annotated[opt.PictureFormat, typer.Option("--plot-format", help="Format of the pictures.")] = "svg",
    along: Annotated[
        str | None, typer.Option("--along", help="The parameter on the axis of 1-d pictures (default: all).")
    ] = None,
    surface: Annotated[
        str | None, typer.Option("--surface", help="Two parameters for a 2-d picture: cores,level.")
    ] = None,
    view: Annotated[View, typer.Option("--view", help="How --surface is drawn.")] = "map",
    extend_to: Annotated[float | None, typer.Option("--extend-to", help="Draw up to this value of --along.")] = None,
    at: opt.At = None,
    level: opt.Level = 0.9,
    learning: opt.Learning = opt.Learning(),
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Draw models with intervals beside the measurements: along parameters, over two, predicted against measured."""
    fixed = opt.one_value_each(at) or None
    axes = parsing.names(surface)
    if axes is not None and len(axes) != 2:
        raise InputError(f"--surface takes two parameters, as cores,level, but got {surface!r}")
    where = opt.Pictures(into, suffix)
    where.check()
    learned = learn(path, reading, learning)
    opt.check_parameters(fixed or (), learned.models.values())
    figures = pictures_of(learned, level=level, along=along, at=fixed, axes=axes, view=view, extend_to=extend_to)
    files = save_all(figures, where)
    if json:
        print_json({"files": [str(file) for file in files]})


def pictures_of(
    learned: Learned,
    *,
    level: float,
    along: str | None = None,
    at: dict[str, object] | None = None,
    axes: list[str] | None = None,
    view: View = "map",
    extend_to: float | None = None,
) -> dict[str, Figure]:
    """Return the pictures that suit what was learned, by name."""
    from evenly.report.plots.model import plot_model, plot_slices
    from evenly.report.plots.prediction import plot_predictions
    from evenly.report.plots.surface import plot_surface

    figures: dict[str, Figure] = {}
    for name, model in learned.models.items():
        runs, test = learned.runs.get(name), learned.test.get(name)
        title = name.replace("/", "-") or "model"
        if axes is not None:
            figures[f"{title}-surface"] = plot_surface(
                model,
                runs,
                x=axes[0],
                y=axes[1],
                at=at,
                view=view,
                name=name,
            )
        elif along is not None or len(model.space_) == 1:
            figures[title] = plot_model(
                model, runs, parameter=along, at=at, level=level, test=test, extend_to=extend_to, name=name
            )
        else:
            figures[f"{title}-slices"] = plot_slices(model, runs, at=at, level=level, test=test, name=name)
        if runs is not None:
            figures[f"{title}-predicted"] = plot_predictions(model, runs, test, level=level, name=name)
    return figures
