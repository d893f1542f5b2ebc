"""``evenly measure``: run a study, keep every run, go on where an earlier call ended."""

from __future__ import annotations

import shlex
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli.console import note, out, print_json
from evenly.cli.live_study import Where, make_again, table_of_runs, watched

if TYPE_CHECKING:
    from evenly.campaign import Campaign, Study
    from evenly.campaign.limits import Learn
    from evenly.campaign.one_run import Runner


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
        _show_plan(study, _plan_of(study, place, retry=retry), json=json)
        return
    target = table_of_runs(save, place)
    with Campaign(study, place, advisor=_advisor(study), keep_going=keep_going, times=_times_of(study)) as campaign:
        if retry:
            make_again(campaign)
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


def _times_of(study: Study, *, asked: bool = False) -> Learn | None:
    """Return what learns how long runs take, if the study's limits need it, or it is asked for."""
    in_job = study.program.launcher == "srun"  # which ends, so that runs must fit into what is left of it
    if study.program.placement.by_model is None and not asked and not in_job:
        return None
    from evenly.time_limits.by_model import learn_times

    return learn_times


def _run(campaign: Campaign, target: Path) -> None:
    with watched(campaign, target) as show:
        campaign.run(show)
    left = campaign.progress.left
    if held := campaign.held_back:
        note(
            f"about {left} runs of {held} configuration{'' if held == 1 else 's'} weren't started: the job would have "
            "ended before them; the same command in another job goes on"
        )
    elif left and campaign.study.plan.budget_s is not None:
        note(f"the study's budget_s is used up, about {left} runs were not made: raise it and start again")


@dataclass(frozen=True)
class _Plan:
    """What is left of a study: each configuration with the fewest and the most runs that it needs, and a run's time."""

    configurations: list[dict[str, Any]]
    runs: list[int]
    most: list[int]
    times: Sequence[tuple[float, float] | None]
    #: Runs that were made before, and those of them that aren't made again.
    made: int = 0
    bad: int = 0


def _plan_of(study: Study, place: Path, *, retry: bool) -> _Plan:
    from evenly.campaign import Campaign
    from evenly.campaign.planning import first_configurations

    often = study.repetitions
    if not place.exists():
        first = first_configurations(study)
        return _Plan(first, [often.least] * len(first), [often.most] * len(first), [None] * len(first))
    with (
        _unlocked(place) as there,
        Campaign(study, there, advisor=_advisor(study), times=_times_of(study, asked=True)) as campaign,
    ):
        schedule = campaign.outlook(retry=retry)
        missing = {number: runs for number, runs in schedule.missing.items() if runs}
        left = [campaign.configurations[number] for number in missing]
        most, records = schedule.most_missing, campaign.store.records()
        bad = 0 if retry else sum(record.status != "ok" for record in records)
        times = campaign.times(left)
        return _Plan(left, [*missing.values()], [most[number] for number in missing], times, len(records), bad)


@contextmanager
def _unlocked(place: Path) -> Iterator[Path]:
    """Return a store that can be opened: a copy, without what is under way, if a campaign is at work in it."""
    from evenly.campaign.listing import loaded_of
    from evenly.campaign.lock import is_in_use
    from evenly.campaign.rows import create
    from evenly.processes import scratch_folder

    if not is_in_use(place):
        yield place
        return
    note("a campaign is at work: its runs under way count as left")
    with scratch_folder() as folder:
        create(folder / place.name, loaded_of(place).rows | {"running": {}})
        yield folder / place.name


def _show_plan(study: Study, plan: _Plan, *, json: bool) -> None:
    from evenly.campaign.one_run import Runner
    from evenly.report.tables.run import add_row, new_table

    configurations, runner = plan.configurations, Runner(study)
    commands = [runner.command(one) for one in configurations]
    hours = [
        None if found is None else found[0] * runner.cores_needed(one) / 3600
        for one, found in zip(configurations, plan.times, strict=True)
    ]
    if json:
        print_json([
            {"configuration": c, "runs": runs, "command": text, "core_hours": each}
            for c, runs, text, each in zip(configurations, plan.runs, commands, hours, strict=True)
        ])  # fmt: skip
        return
    if plan.bad:
        note(f"runs that failed or are marked as bad: {plan.bad}; --retry deletes them, and makes what is missing then")
    if not configurations:
        out.print("nothing: all has been run")
        return
    out.print(_how_many(study, plan), soft_wrap=True)
    if cut := [seconds for one in configurations if (seconds := runner.cut_after_s(one)) is not None]:
        note(_told_cut(study, min(cut), len(cut), len(configurations)))
    out.print(_cost(study, plan, runner, hours), soft_wrap=True)
    is_known = any(each is not None for each in hours)
    table = new_table()
    for name in [*study.space.names, *(["core-hours"] if is_known else []), "command"]:
        table.add_column(name)
    for one, text, each in zip(configurations, commands, hours, strict=True):
        told = ["?" if each is None else f"{each:.3g}"] if is_known else []
        add_row(table, *map(str, one.values()), *told, text)
    out.print(table)


def _how_many(study: Study, plan: _Plan) -> str:
    """Return how many runs of how many configurations are left, and which others may follow."""
    least, most = sum(plan.runs), sum(plan.most)
    of = f"{len(plan.configurations)} configuration{'s' * (len(plan.configurations) != 1)}"
    often = study.repetitions
    if plan.made:
        many = f"left: {least if least == most else f'{least} to {most}'} run{'s' * (most != 1)} of {of}"
    elif often.least < often.most:
        many = f"{of}, each {often.least} to {often.most} times"
    else:
        many = f"{of}, each {_times(often.least)}"
    if study.plan.design == "advisor":
        many += f", then others as the advisor proposes, up to {study.plan.runs} in all"
    if _repeats_anchor(study, plan):
        many += f", and one of them again after every {study.plan.anchor_every} runs (anchor_every)"
    return many


def _repeats_anchor(study: Study, plan: _Plan) -> bool:
    return 0 < study.plan.anchor_every < plan.made + sum(plan.most)


def _told_cut(study: Study, seconds: float, count: int, of: int) -> str:
    """Say that the time limit of jobs ends runs before the study's time-out does."""
    which = "runs" if count == of else f"runs of {count} of {of} configurations"
    most = study.program.timeout_s
    limit = "they end" if most is None else f"timeout_s = {most:g}"
    return (
        f"time_limit ends {which} after {seconds:.4g} s, before {limit}, since a minute of a job's limit is kept to "
        "tell it: give jobs a longer time_limit, or leave it out"
    )


def _cost(study: Study, plan: _Plan, runner: Runner, hours: list[float | None]) -> str:
    """Return what one run of each configuration is predicted to take, and what all at most take."""
    known = [each for each in hours if each is not None]
    told = []
    if known:
        of = "" if len(known) == len(hours) else f" for {len(known)} of them"
        told.append(f"predicted core-hours of one run of each: {sum(known):.3g}{of}")
    else:
        told.append("core-hours can't be predicted: fewer than six configurations near these were measured")
    cuts, most_s = [runner.cut_after_s(one) for one in plan.configurations], study.program.timeout_s
    if most_s is not None or None not in cuts:
        longest = [most_s or 0.0 if cut is None else cut for cut in cuts]
        each = zip(plan.configurations, plan.most, longest, strict=True)
        most = sum(runner.cores_needed(one) * runs * seconds for one, runs, seconds in each) / 3600
        others = ["the anchor's"] * _repeats_anchor(study, plan) + ["the advisor's"] * (study.plan.design == "advisor")
        but = f" but {' and '.join(others)}" if others else ""
        by = [name for name, holds in (("timeout_s", None in cuts), ("time_limit", any(cuts))) if holds]
        told.append(f"at most {most:.3g} for all runs{but}, by {' and '.join(by)}")
    return "; ".join(told)


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
    processors = Counter(str(r.details.get("cpu", "")) for r in records if r.status == "ok" and r.details.get("cpu"))
    if len(processors) > 1:
        each = ", ".join(f"{name} ({count} runs)" for name, count in processors.most_common())
        note(f"runs were made on different processors, so their times may differ: {each}")
    if (saved := campaign.saved()) is not None:
        note(str(saved))
    if others is not None and others > 0.1:
        note(f"other programs kept {others:.1f} cores busy meanwhile, in the mean: times may be too long")
