"""``evenly tune``: look for the fastest configuration of a study's program, in few runs."""

from __future__ import annotations

from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Literal

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.live_study import leave, shown
from evenly.cli.parsing import names
from evenly.cli.saving_pictures import save_all

if TYPE_CHECKING:
    from evenly.runs.runs import Runs
    from evenly.tuning.result import Result


def tune(
    path: Annotated[Path, typer.Argument(metavar="STUDY", help="The study: a TOML file, as for evenly measure.")],
    runs: Annotated[
        int | None, typer.Option("--runs", min=1, help="How many configurations are run (default: the plan's, or 20).")
    ] = None,
    strategy: Annotated[
        Literal["model", "greedy", "random", "all"],
        typer.Option("--strategy", help="How they are chosen: by expected savings, or as in the CICE study (greedy)."),
    ] = "model",
    first: Annotated[int, typer.Option("--first", min=2, help="Runs before a model is learned.")] = 5,
    surrogate: Annotated[
        str | None, typer.Option("--surrogate", help="Model of the greedy search: forest, svm, gp, neural-net.")
    ] = None,
    tasks: Annotated[
        str | None,
        typer.Option("--tasks", help="Parameters that tell tasks apart, each with a fastest of its own: cores,size."),
    ] = None,
    limit: Annotated[
        float | None, typer.Option("--limit", help="End runs that take so many times the fastest of their task.")
    ] = None,
    production: Annotated[
        float | None,
        typer.Option("--production", help="Runs to come: the search ends when another run saves less there."),
    ] = None,
    known: Annotated[Path | None, typer.Option("--known", help="Table of runs that were made before.")] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="Where runs are kept (default: beside the study, as .tune.db).")
    ] = None,
    save: Annotated[
        Path | None, typer.Option("--save", help="Table of all runs: .csv or .parquet (default: beside the store).")
    ] = None,
    pictures: opt.Pictures = opt.Pictures(),
    json: opt.Json = False,
) -> None:
    """Find the fastest configuration of a program in few runs; the same command goes on after an interruption."""
    from evenly.campaign import Campaign, Study
    from evenly.report.tables.tuning import result_as_dict
    from evenly.tuning.study_search import Proposer, searched, tune_study

    given = Study.load(path)
    asked = {"tasks": names(tasks), "limit": limit, "production": production}
    settings = {name: value for name, value in asked.items() if value is not None}
    study = searched(given, runs or given.plan.runs or 20, repeated=_says_how_often(path), **settings)
    place = store or study.folder / f"{study.name}.tune.db"
    target = save or place.with_suffix(".runs.csv")
    opt.check_writable(target, "table of runs")
    pictures.check()
    before = None if known is None else _loaded(known, study.space.names)
    proposer = Proposer(study, strategy=strategy, first=first, surrogate=surrogate, known=before)
    with Campaign(study, place, advisor=proposer) as campaign:
        done = campaign.store.count()
        if done:
            note(f"{done} runs are kept in {place} from before")
        try:
            with shown(campaign) as show:
                result = tune_study(campaign, proposer, show)
        except (KeyboardInterrupt, SystemExit):
            leave(campaign, target)
            raise
        campaign.runs().save(target)
    if pictures.plot is not None:
        from evenly.report.plots.tuning import plot_search

        save_all({f"{study.name}-search": plot_search(result)}, pictures)
    if json:
        print_json(result_as_dict(result))
        return
    _show(result)
    more = "; more --runs go on from here" if len(result.history) >= (study.plan.runs or 0) else ""
    note(f"{result.stopped}; all runs are in {target}{more}")


def _show(result: Result) -> None:
    from evenly.report.tables.tuning import alike_table, found_text, tasks_table

    if result.task_names:
        out.print(tasks_table(result))
        return
    out.print(alike_table(result))
    out.print(found_text(result), markup=False)


def _says_how_often(path: Path) -> bool:
    """Whether the study says how often configurations are run; a search runs each once otherwise."""
    import tomllib

    return "repetitions" in tomllib.loads(path.read_text(encoding="utf-8"))


def _loaded(known: Path, varied: Sequence[str]) -> Runs:
    """Read runs made before; a column that the study varies is a parameter, even if it is called "solver"."""
    from evenly.errors import InputError
    from evenly.readers import read

    found = read(known)
    if isinstance(found, dict) and "solver" in varied:
        found = read(known, parameters=list(varied))
    if isinstance(found, dict):
        raise InputError(
            f"--known takes runs of one program, but {known} has those of {', '.join(found)}: keep those of one"
        )
    return found
