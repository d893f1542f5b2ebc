"""``evenly measure``: run a study, keep every run, go on where an earlier call ended."""

from __future__ import annotations

import shlex
from collections.abc import Callable
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.live_study import Where, table_of_runs, watched

if TYPE_CHECKING:
    from evenly.campaign import Campaign, Study


def measure(
    path: Annotated[Path, typer.Argument(metavar="STUDY", help="The study: a TOML file.")],
    store: Annotated[
        Path | None, typer.Option("--store", help="Where runs are kept (default: beside the study, as .db).")
    ] = None,
    save: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="Table of all runs: .csv or .parquet (default: beside the store)."),
    ] = None,
    plan: Annotated[bool, typer.Option("--plan", help="Show what is still to be run, and run nothing.")] = False,
    retry: Annotated[bool, typer.Option("--retry", help="Repeat runs that failed, or were marked as bad.")] = False,
    keep_going: opt.KeepGoing = False,
    where: Where = Where(),
    json: opt.Json = False,
) -> None:
    """Run a program on many configurations and keep what each took; the same command goes on after an interruption."""
    from evenly.campaign import Campaign, Study
    from evenly.campaign.measuring import place_of

    study = where.placed(Study.load(path))
    place = store or place_of(study)
    if plan:
        _show_plan(study, place, json=json)
        return
    target = table_of_runs(save, place)
    with Campaign(study, place, advisor=_advisor(study), keep_going=keep_going) as campaign:
        if retry:
            note(f"made again, in place of the old ones: {campaign.retry()} runs that failed or were marked as bad")
        _run(campaign, target)
        campaign.runs().save(target)
        _tell(campaign, json=json)
    factors = "".join(f" --factor {shlex.quote(f'{part}={text}')}" for part, text in study.factors.items())
    note(f"all runs are in {target}: try `evenly fit {target}{factors}`")


def _advisor(study: Study) -> Callable[..., Any] | None:
    if study.plan.design != "advisor":
        return None  # a search says what to do instead
    from evenly.tuning.advisor import next_runs

    return next_runs


def _run(campaign: Campaign, target: Path) -> None:
    with watched(campaign, target) as show:
        campaign.run(show)
    left = campaign.progress.left
    if left and campaign.study.plan.budget_s is not None:
        note(f"the study's budget_s is used up, about {left} runs were not made: raise it and start again")


def _missing(study: Study, place: Path) -> list[dict[str, Any]]:
    """Configurations that are still to be run; all where nothing was."""
    from evenly.campaign import Campaign
    from evenly.campaign.planning import first_configurations

    if not place.exists():
        return first_configurations(study)
    with Campaign(study, place, advisor=_advisor(study)) as campaign:
        return [campaign.configurations[number] for number, runs in campaign.missing.items() if runs]


def _show_plan(study: Study, place: Path, *, json: bool) -> None:
    from evenly.campaign.one_run import Runner
    from evenly.report.tables.run import add_row, new_table

    configurations = _missing(study, place)
    runner = Runner(study)
    commands = [runner.command(one) for one in configurations]
    if json:
        print_json([{"configuration": c, "command": text} for c, text in zip(configurations, commands, strict=True)])
        return
    if not configurations:
        out.print("nothing: all has been run")
        return
    repetitions = study.repetitions
    most = study.plan.runs
    more = f", then others as the advisor proposes, up to {most} in all" if study.plan.design == "advisor" else ""
    least, most_often = repetitions.least, repetitions.most
    often = f"each {least} to {most_often} times" if least < most_often else f"each {_times(least)}"
    out.print(f"{len(configurations)} configurations, {often}{more}")
    table = new_table()
    for name in [*study.space.names, "command"]:
        table.add_column(name)
    for one, text in zip(configurations, commands, strict=True):
        add_row(table, *map(str, one.values()), text)
    out.print(table)


def _times(number: int) -> str:
    return {1: "once", 2: "twice"}.get(number, f"{number} times")


def _tell(campaign: Campaign, *, json: bool) -> None:
    from evenly.report.tables.campaign import campaign_as_dict, campaign_table, failed_table

    known, records = campaign.configurations, campaign.store.records()
    drift, others = campaign.drift(), campaign.other_load()
    if json:
        told = {"runs": drift.runs, "change": drift.change, "error": drift.error, "matters": drift.matters}
        print_json({"runs": campaign_as_dict(known, records), "drift": told, "other_load": others})
        return
    out.print(campaign_table(known, records, title=campaign.study.name))
    failed = [r for r in records if r.status != "ok"]
    if failed:
        out.print(failed_table(known, failed, title=f"{len(failed)} of {len(records)} runs failed"))
        note("failed runs are not made again: --retry does")
    note(str(drift))
    if others is not None and others > 0.1:
        note(f"other programs kept {others:.1f} cores busy meanwhile, in the mean: times may be too long")
