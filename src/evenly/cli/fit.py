"""``evenly fit``: learn one model per solver."""

from __future__ import annotations

from pathlib import Path
from typing import Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json
from evenly.cli.loading import FitOptions, Learned, learn
from evenly.errors import InputError

_SEARCH = "PMNF search"


def fit(
    path: Annotated[
        Path | None, typer.Argument(help="A measurement file or a folder of them; or a saved model.")
    ] = None,
    methods: Annotated[bool, typer.Option("--methods", help="List the methods.")] = False,
    method: opt.Method = None,
    effort: Annotated[str, typer.Option("--effort", help="quick, normal or thorough.")] = "normal",
    response: opt.Response = None,
    train: opt.Train = None,
    statistic: opt.Statistic = "median",
    terms: Annotated[
        int | None, typer.Option("--terms", "-n", min=1, max=9, help="Number of terms.", rich_help_panel=_SEARCH)
    ] = None,
    exponents: Annotated[
        str | None,
        typer.Option("--exponents", "-I", help="Of the parameters: -2:2.75:0.25 or 0,1/2,1.", rich_help_panel=_SEARCH),
    ] = None,
    log_exponents: Annotated[
        str | None, typer.Option("--log-exponents", "-J", help="Of their logarithms: -2:2.", rich_help_panel=_SEARCH)
    ] = None,
    ridge: Annotated[float | None, typer.Option("--ridge", help="Ridge parameter α.", rich_help_panel=_SEARCH)] = None,
    log: Annotated[
        bool, typer.Option("--log", help="Learn the logarithm of the times.", rich_help_panel=_SEARCH)
    ] = False,
    loss: Annotated[
        str | None,
        typer.Option("--loss", help="Of left-out runs: mlogq2, mlogq, smape or se.", rich_help_panel=_SEARCH),
    ] = None,
    validation: Annotated[
        str | None, typer.Option("--validation", help="loo, or a number of folds.", rich_help_panel=_SEARCH)
    ] = None,
    search: Annotated[
        str | None,
        typer.Option("--search", help="full, hierarchical, golden-section or auto.", rich_help_panel=_SEARCH),
    ] = None,
    monotone: Annotated[
        list[str] | None,
        typer.Option("--monotone", help="cores=decreasing: keep only such candidates.", rich_help_panel=_SEARCH),
    ] = None,
    asked: Annotated[
        list[str] | None,
        typer.Option("--asked", help="Range to stay positive on: cores=1:4096.", rich_help_panel=_SEARCH),
    ] = None,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the models, as models.evenly.")] = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save pictures into this folder.")] = None,
    suffix: Annotated[str, typer.Option("--plot-format", help="svg, png or pdf.")] = "svg",
    details: Annotated[
        bool, typer.Option("--details", help="All about each model: candidates, terms by share, every error.")
    ] = False,
    scale: Annotated[
        list[str] | None,
        typer.Option("--scale", help="With --details: where terms are ranked, as cores=4096."),
    ] = None,
    latex: Annotated[bool, typer.Option("--latex", help="Print the formulas in LaTeX.")] = False,
    format: opt.Format = None,  # noqa: A002 - the option's name
    time: opt.TimeColumn = None,
    unit: opt.Unit = None,
    parameters: opt.Parameters = None,
    solver: opt.SolverColumn = None,
    quantities: opt.Quantities = None,
    where: opt.Where = None,
    constants: opt.Constants = None,
    reader_options: opt.ReaderOptions = None,
    json: opt.Json = False,
) -> None:
    """Learn from measured run times how long configurations take: one model per solver, as a formula with errors."""
    if methods:
        _list_methods(json=json)
        return
    if path is None:
        raise InputError("which file or folder? as in: evenly fit case/ (--methods lists the methods)")
    reading = opt.reading(
        format=format,
        time=time,
        unit=unit,
        parameters=parameters,
        solver=solver,
        quantities=quantities,
        where=where,
        constants=constants,
        others=reader_options,
    )
    given: dict[str, Any] = {
        "terms": terms,
        "exponents": None if exponents is None else parsing.numbers(exponents),
        "log_exponents": None if log_exponents is None else parsing.numbers(log_exponents),
        "ridge": ridge,
        "residuals": "log" if log else None,
        "loss": loss,
        "validation": _validation(validation),
        "search": search,
        "monotone": parsing.pairs(monotone, "--monotone") if monotone else None,
        "asked": _ranges(asked) if asked else None,
    }
    arguments = {name: value for name, value in given.items() if value is not None}
    if path.suffix == ".evenly" and (arguments or method or train):
        raise InputError(f"{path} holds models that are fitted already: give the measurements to fit them anew")
    learned = learn(path, reading, FitOptions(method, statistic, effort, response, train, arguments=arguments))
    if save is not None:
        from evenly.models.storage import save as write

        write(learned.models if set(learned.models) != {""} else learned.models[""], save)
        note(f"saved {save}")
    _show(learned, latex=latex, scale=scale or [], details=details or bool(scale), json=json)
    if plot is not None:
        from evenly.cli.pictures import save_all
        from evenly.cli.plot import pictures_of

        save_all(pictures_of(learned, level=0.9), plot, suffix)


def _list_methods(*, json: bool) -> None:
    from evenly.models.registry import method_names, model_class

    known = {name: model_class(name).summary for name in method_names()}
    if json:
        print_json(known)
        return
    for name, summary in known.items():
        out.print(f"{name:<20}{summary}", markup=False)


def _validation(text: str | None) -> str | int | None:
    if text is None or text == "loo":
        return text
    return parsing.counts(text)[0]


def _ranges(items: list[str]) -> dict[str, tuple[float, float]]:
    found: dict[str, tuple[float, float]] = {}
    for name, text in parsing.pairs(items, "--asked").items():
        bounds = text.split(":")
        if len(bounds) != 2:
            raise InputError(f"--asked takes low:high, as cores=1:4096, but {name!r} has {text!r}")
        found[name] = (parsing.numbers(bounds[0])[0], parsing.numbers(bounds[1])[0])
    return found


def _show(learned: Learned, *, latex: bool, scale: list[str], details: bool, json: bool) -> None:
    from evenly.report.model_tables import model_table, models_as_dict, models_table

    if json:
        print_json(models_as_dict(learned.models, learned.runs, learned.test))
    elif latex:
        _show_latex(learned)
    elif details:
        at = parsing.values(scale, "--scale")
        for name, model in learned.models.items():
            out.print(model_table(model, learned.runs.get(name), learned.test.get(name), name=name, at=at))
    else:
        out.print(models_table(learned.models, learned.runs, learned.test))


def _show_latex(learned: Learned) -> None:
    for name, model in learned.models.items():
        formula = getattr(model, "formula_", None)
        if formula is None:
            raise InputError(f"{model.method} has no formula to print: use another --method")
        out.print(f"{name}: {formula.latex()}" if name else formula.latex(), markup=False, soft_wrap=True)
