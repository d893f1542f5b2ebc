"""``evenly tune``: look for the fastest configuration of a study's program, in few runs."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.live_study import Where, make_again, table_of_runs, watched
from evenly.cli.parsing import names, values
from evenly.cli.saving_pictures import save_all
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.runs.runs import Runs
    from evenly.tuning.result import Result


@dataclass(frozen=True)
class Search:
    """How the search chooses runs, and when it ends."""

    strategy: Annotated[
        Literal["model", "greedy", "random", "all"],
        typer.Option(
            "--strategy",
            help="How runs are chosen: by the savings that a model expects; greedy is that of the CICE study.",
        ),
    ] = "model"
    first: Annotated[int, typer.Option("--first", min=2, help="Runs before a model is learned.")] = 5
    surrogate: Annotated[
        str | None,
        typer.Option(
            "--surrogate",
            help="Model of the greedy search: forest, svm, gp, neural-net; forest:raw learns raw times.",
        ),
    ] = None
    tasks: Annotated[
        str | None,
        typer.Option("--tasks", help="Parameters that define tasks, each of which has its own fastest: cores,size."),
    ] = None
    baseline: Annotated[
        str | None,
        typer.Option(
            "--baseline", help="The configuration in use today, run first; gains are those over it: block=8,solver=cg."
        ),
    ] = None
    limit: Annotated[
        float | None,
        typer.Option("--give-up", help="End a run that takes this many times as long as the fastest of its task."),
    ] = None
    production: Annotated[
        float | None,
        typer.Option(
            "--production",
            help="Number of runs to come: the search ends when another run takes longer than it saves them.",
        ),
    ] = None

    def settings(self) -> dict[str, Any]:
        """Return what was given of the search's own settings."""
        # A comma before a name stands between two parameters, as in block=8,solver=cg.
        today = None if self.baseline is None else values([re.sub(r",\s*(?=\w+=)", " ", self.baseline)], "--baseline")
        asked = {"tasks": names(self.tasks), "baseline": today, "limit": self.limit, "production": self.production}
        return {name: value for name, value in asked.items() if value is not None}


@dataclass(frozen=True)
class Replaying:
    """Searches in runs that were measured before, to compare strategies."""

    table: Annotated[
        Path | None,
        typer.Option("--replay", help="Compare strategies on a table of measured runs instead: nothing is run."),
    ] = None
    strategies: Annotated[
        str, typer.Option("--strategies", help="With --replay: which, as model,greedy:forest,greedy:svm:raw,random.")
    ] = "model,random"
    seeds: Annotated[int, typer.Option("--seeds", min=2, help="With --replay: searches of each strategy.")] = 10

    def show(self, table: Path, runs: int, reading: opt.Reading, pictures: opt.Pictures, json: bool) -> None:
        """Compare the strategies and print what came of it."""
        from evenly.cli.run_input import one_program
        from evenly.report.tables.tuning import comparison_as_dict, comparison_table, comparison_text
        from evenly.tuning.strategy_comparison import compare_strategies

        pictures.check()
        found = compare_strategies(
            one_program(table, reading), names(self.strategies) or [], seeds=self.seeds, most=runs
        )
        if pictures.plot is not None:
            from evenly.report.plots.tuning import plot_comparison

            save_all({f"{table.stem}-strategies": plot_comparison(found)}, pictures)
        if json:
            print_json(comparison_as_dict(found))
            return
        out.print(comparison_table(found))
        out.print(comparison_text(found))


def tune(
    path: Annotated[
        Path | None, typer.Argument(metavar="STUDY", help="The study: a TOML file, as for evenly measure.")
    ] = None,
    runs: Annotated[
        int | None,
        typer.Option(
            "--runs", min=1, help="How many runs are made, repetitions included (default: the plan's, or 20)."
        ),
    ] = None,
    search: Search = Search(),
    replaying: Replaying = Replaying(),
    known: Annotated[Path | None, typer.Option("--known", help="Table of runs that were made before.")] = None,
    store: Annotated[
        Path | None, typer.Option("--store", help="Where runs are kept (default: beside the study, as .tune.db).")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="Table of all runs: .csv or .parquet (default: beside the store)."),
    ] = None,
    retry: Annotated[bool, typer.Option("--retry", help="Repeat runs that failed, or were marked as bad.")] = False,
    keep_going: opt.KeepGoing = False,
    where: Where = Where(),
    reading: opt.Reading = opt.Reading(),
    pictures: opt.Pictures = opt.Pictures(),
    json: opt.Json = False,
) -> None:
    """Find the fastest configuration of a program in few runs; the same command goes on after an interruption."""
    from evenly.campaign import Campaign, Study
    from evenly.report.tables.tuning import result_as_dict
    from evenly.time_limits.by_model import learn_times
    from evenly.tuning.study_search import Proposer, searched, tune_study

    if replaying.table is not None and path is None:
        replaying.show(replaying.table, runs or 20, reading, pictures, json)
        return
    if path is None or replaying.table is not None:
        raise InputError("name a study to search in, or --replay TABLE to compare strategies: one of them")
    if known is None and reading != opt.Reading():
        raise InputError("options of how tables are read belong to --known or --replay")
    given = where.placed(Study.load(path))
    study = searched(given, runs or given.plan.runs or 20, repeated=_says_how_often(path), **search.settings())
    place = store or study.folder / f"{study.name}.tune.db"
    target = table_of_runs(save, place)
    pictures.check()
    before = None if known is None else _loaded(known, study.space.names, reading)
    proposer = Proposer(study, strategy=search.strategy, first=search.first, surrogate=search.surrogate, known=before)
    times = learn_times if study.program.placement.by_model is not None else None
    with Campaign(study, place, advisor=proposer, keep_going=keep_going, times=times) as campaign:
        if retry:
            make_again(campaign)
        with watched(campaign, target) as show:
            result = tune_study(campaign, proposer, show)
        campaign.runs().save(target)
    if pictures.plot is not None:
        from evenly.report.plots.tuning import plot_search

        save_all({f"{study.name}-search": plot_search(result)}, pictures)
    if json:
        print_json(result_as_dict(result))
        return
    _show(result)
    more = "; more --runs go on from here" if campaign.progress.left <= 0 else ""
    note(f"{result.stopped}; all runs are in {target}{more}")


def _show(result: Result) -> None:
    from evenly.report.tables.tuning import alike_table, found_text, tasks_table, tasks_text

    if result.task_names:
        out.print(tasks_table(result))
        if told := tasks_text(result):
            out.print(told, soft_wrap=True)
        return
    out.print(alike_table(result))
    out.print(found_text(result))


def _says_how_often(path: Path) -> bool:
    """Whether the study says how often configurations are run; a search runs each once otherwise."""
    import tomllib

    return "repetitions" in tomllib.loads(path.read_text(encoding="utf-8"))


def _loaded(known: Path, varied: Sequence[str], reading: opt.Reading) -> Runs:
    """Read runs made before; a column that the study varies is a parameter, even if it is called "solver"."""
    from evenly.readers import read

    given = reading.arguments()
    found = read(known, **given)
    if isinstance(found, dict) and "solver" in varied:
        found = read(known, **given | {"parameters": list(varied)})
    if isinstance(found, dict):
        raise InputError(
            f"--known takes runs of one program, but {known} has those of {', '.join(found)}: keep those of one"
        )
    return found
