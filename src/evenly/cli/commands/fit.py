"""``evenly fit``: learn one model per solver."""

from __future__ import annotations

from collections.abc import Collection, Mapping
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json, print_summaries
from evenly.cli.net_options import NetOptions
from evenly.cli.option_groups import panel
from evenly.cli.run_input import Learned, learn
from evenly.cli.search_options import SearchOptions
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.models.base import Model
    from evenly.runs.runs import Runs

_regions = panel("Regions")


@dataclass(frozen=True)
class Regions:
    """One law for each value of a column, and how they are ranked."""

    each: Annotated[
        str | None, _regions("--each", help="Learn one law for each value of this column, as region, and rank them.")
    ] = None
    at: Annotated[
        list[str] | None, _regions("--at", help="Rank at this scale, as ranks=4096 (several allowed: ranks=1024,4096).")
    ] = None
    expect: Annotated[
        str | None, _regions("--expect", help="Which regions grow faster than this: 1, 'log(ranks)', 'n / ranks'.")
    ] = None

    def asked(self) -> dict[str, tuple[float, float]]:
        """Return the range of each parameter that a scale names: laws must stay above zero there."""
        ranges = {}
        for name in {name for row in parsing.configurations(self.at or []) for name in row}:
            values = [row[name] for row in parsing.configurations(self.at or [])]
            if all(isinstance(value, int | float) for value in values):
                ranges[name] = (float(min(values)), float(max(values)))
        return ranges


@dataclass(frozen=True)
class Showing:
    """How models are shown."""

    details: Annotated[
        bool, typer.Option("--details", help="All about each model: candidates, terms by share, every error.")
    ] = False
    scale: Annotated[
        list[str] | None, typer.Option("--scale", help="With --details: rank the terms at these values, as cores=4096.")
    ] = None
    latex: Annotated[bool, typer.Option("--latex", help="Print the formulas in LaTeX.")] = False
    json: opt.Json = False


def fit(
    path: opt.OptionalPaths = None,
    methods: Annotated[bool, typer.Option("--methods", help="List the methods.")] = False,
    save: Annotated[Path | None, typer.Option("--save", "-o", help="Save the models, as models.evenly.")] = None,
    compact: Annotated[
        bool, typer.Option("--compact", help="Replace a blend by one small model, and say what that loses.")
    ] = False,
    regions: Regions = Regions(),
    showing: Showing = Showing(),
    pictures: opt.Pictures = opt.Pictures(),
    learning: opt.Learning = opt.Learning(),
    search: SearchOptions = SearchOptions(),
    net: NetOptions = NetOptions(),
    reading: opt.Reading = opt.Reading(),
) -> None:
    """Learn from measured run times how long configurations take: one model per solver, as a formula with errors.

    For profiles, ``--each region`` learns one law per region and ranks which will take the time.
    """
    if methods:
        from evenly.models.registry import method_names, model_class

        print_summaries({name: model_class(name).summary for name in method_names()}, json=showing.json)
        return
    if not path:
        raise InputError(
            "PATH is missing: give files or a folder, as in: evenly fit case/ (--methods lists the methods)"
        )
    arguments = search.arguments() | net.arguments()
    pictures.check()
    if save is not None:
        opt.check_writable(save, "models", read=path)
    learned = learn(
        path, reading, learning, lambda runs, known: _with_range(arguments, regions, runs, known),
        others=[*opt.typed(search), *opt.typed(net), *(["--each"] if regions.each else [])], each=regions.each,
    )  # fmt: skip
    if (regions.at or regions.expect) and not _of_each(learned):
        raise InputError("--at and --expect rank regions: name their column with --each, as --each region")
    if compact:
        learned = _compacted(learned)
    if save is not None:
        from evenly.models.storage import save as write

        write(next(iter(learned.models.values())) if learned.unnamed else learned.models, save)
        note(f"saved {save}")
    _tell_missed({} if _of_each(learned) else learned.models)
    if _of_each(learned) and not (showing.latex or showing.details or showing.scale):
        _show_ranking(learned, regions, showing)
    else:
        _show(learned, showing)
    if pictures.plot is not None:
        from evenly.cli.saving_pictures import save_all
        from evenly.report.pages.pictures import pictures_of

        save_all(pictures_of(learned.models, learned.runs, learned.test), pictures)


def _tell_missed(models: Mapping[str, Model]) -> None:
    from evenly.models.learned import told_missed

    for name, model in models.items():
        if missed := told_missed(model):
            note(f"{name}: {missed}" if name else missed)


def _of_each(learned: Learned) -> bool:
    return all("each" in model.training_ for model in learned.models.values())


def _with_range(arguments: dict[str, Any], regions: Regions, runs: Runs, known: Collection[str]) -> dict[str, Any]:
    asked = {name: ends for name, ends in regions.asked().items() if name in runs.parameters}
    return {"asked": asked, **arguments} if asked and "asked" in known else arguments


def _show_ranking(learned: Learned, regions: Regions, showing: Showing) -> None:
    from evenly.models.ranking import ranking
    from evenly.report.tables.regions import ranking_as_dict, ranking_tables

    scales = parsing.configurations(regions.at) if regions.at else None
    found = ranking(learned.models, scales, expect=regions.expect)
    if showing.json:
        print_json(ranking_as_dict(found, learned.models, expect=regions.expect))
    else:
        for table in ranking_tables(found, learned.models, expect=regions.expect):
            out.print(table)


def _compacted(learned: Learned) -> Learned:
    """Return the models with blends distilled; tell what was lost."""
    from evenly.models.ensemble.automatic import Automatic
    from evenly.models.ensemble.distillation import distil
    from evenly.report.formatting import percent, quantity
    from evenly.report.tables.choice import blend_of

    made = dict(learned.models)
    for name, model in learned.models.items():
        if not isinstance(model, Automatic):
            note(f"{name} is one model already ({model.method}), left as it is")
            continue
        made[name] = small = distil(model)
        known = small.training_["distilled"]
        size, off = quantity(known["bytes"], "B", 2), percent(known["difference"], 2)
        note(f"{name}: {blend_of(model)} (error {known['error']:.4f}) in {size}, which differs from it by {off}")
    return replace(learned, models=made)


def _show(learned: Learned, showing: Showing) -> None:
    from evenly.models.ensemble.automatic import Automatic
    from evenly.report.tables.choice import choice_table
    from evenly.report.tables.model import model_table, models_as_dict, models_table

    if showing.json:
        print_json(models_as_dict(learned.models, learned.runs, learned.test))
    elif showing.latex:
        _show_latex(learned)
    elif showing.details or showing.scale:
        at = parsing.values(showing.scale or [], "--scale")
        for name, model in learned.models.items():
            out.print(model_table(model, learned.runs.get(name), learned.test.get(name), name=name, at=at))
    else:
        out.print(models_table(learned.models, learned.runs, learned.test))
        for name, model in learned.models.items():
            if isinstance(model, Automatic):
                out.print(choice_table(model, title=name))


def _show_latex(learned: Learned) -> None:
    for name, model in learned.models.items():
        formula = getattr(model, "formula_", None)
        if formula is None:
            raise InputError(f"{model.method} has no formula to print: use another --method")
        out.print(f"{name}: {formula.latex()}" if name else formula.latex(), soft_wrap=True)
