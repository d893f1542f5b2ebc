"""``evenly plot``: pictures of models and measurements."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import print_json
from evenly.cli.run_input import check_parameters, known_values, learn
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

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
    from evenly.report.pages.pictures import pictures_of

    if axes is not None and along is not None:
        raise InputError("--along and --surface are for different pictures: leave one of them out")
    if view != "map" and axes is None:
        raise InputError("--view is for pictures over two parameters: name them with --surface")
    where = opt.Pictures(into, suffix)
    where.check()
    learned = learn(path, reading, learning)
    check_parameters(fixed or (), learned)
    fixed = known_values(fixed or {}, learned) or None
    if extend_to is not None and along is None and (axes or any(len(m.space_) > 1 for m in learned.models.values())):
        raise InputError("--extend-to says how far --along is drawn: name that parameter with --along")
    figures = pictures_of(
        learned.models, learned.runs, learned.test, level=level, along=along, at=fixed,
        surface=None if axes is None else (axes[0], axes[1]), view=view, extend_to=extend_to,
    )  # fmt: skip
    files = save_all(figures, where)
    if json:
        print_json({"files": [str(file) for file in files]})
