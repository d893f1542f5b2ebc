"""``evenly report``: one page about measurements, models, studies, and what to do."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Sequence
from contextlib import contextmanager
from json import loads
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, print_json, silence
from evenly.cli.core_counts_input import Counts, asking, looked_at
from evenly.cli.input_paths import holds_models
from evenly.cli.live_study import Where
from evenly.cli.run_input import (
    Learned,
    check_parameters,
    known_values,
    learn,
    learn_from,
    measurements,
    tell_about,
)
from evenly.cli.values_of_solvers import by_solver, of_all
from evenly.errors import ExtrapolationWarning, InputError
from evenly.writing import replacing

if TYPE_CHECKING:
    from evenly.campaign import Campaign, Study
    from evenly.readers.scanning import Measurements
    from evenly.report.html_page import Page
    from evenly.runs.runs import Runs

_SUFFIXES = (".html", ".md", ".json")


def report(
    things: Annotated[
        list[Path],
        typer.Argument(metavar="THING", help="Measurements (files, folders), saved models (.evenly), studies (.toml)."),
    ],
    save: Annotated[
        Path | None,
        typer.Option("--save", "-o", help="The page: .html, .md, or .json, plain values (default: report.html)."),
    ] = None,
    title: Annotated[str, typer.Option("--title", help="The title of the page.")] = "",
    at: opt.At = None,
    counts: Counts = Counts(),
    layout: Annotated[
        str | None, typer.Option("--layout", help="How coupled solvers wait for each other, as for evenly allocate.")
    ] = None,
    limit: opt.Limit = None,
    level: opt.Level = 0.9,
    next_runs: Annotated[int, typer.Option("--next", min=0, help="How many further runs are proposed.")] = 3,
    learning: opt.Learning = opt.Learning(),
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Write one page: what was measured, the model with sliders, what to do, what to measure next.

    The page is one file, which needs no network. Its sliders move the prediction, its interval and its cost.
    """
    from evenly.report.pages.chapter import Asked
    from evenly.report.pages.page import page_of

    save = save or Path("report.html")
    if save.suffix not in _SUFFIXES:
        raise InputError(f"--save takes a name that ends in {', '.join(_SUFFIXES)}, but got {str(save)!r}")
    opt.check_writable(save, "the page", read=things)
    machine = counts.described()
    fixed, goal = opt.one_value_each(at), counts.goal(machine.currency)
    silence(ExtrapolationWarning)  # the page says it
    studies = [thing for thing in things if thing.suffix == ".toml"]
    notes: list[str] = []
    with _opened(studies, counts.machine) as campaigns:
        named = list(fixed)
        ask = asking(named, counts, learning.train) if counts.cores is not None else None
        measured = [thing for thing in things if thing not in studies]
        learned = _learned(measured, campaigns, reading, learning, notes, ask, _range_of(counts, fixed))
        fixed = by_solver(fixed, {name: model.space_ for name, model in learned.models.items()})
        check_parameters(of_all(fixed), learned)
        fixed = known_values(fixed, learned)
        _check_questions(learned, counts, limit)
        results: list[Any] = [_result(one) if one.study.plan.design == "tune" else one for one in campaigns]
        if counts.cores is not None and len(learned.models) > 1:
            results.append(_plan(learned, things, counts, layout, fixed, level))
        elif layout is not None:
            raise InputError("--layout is for coupled solvers: give their measurements, and --cores")
        single = counts.cores is not None and len(learned.models) == 1
        asked = Asked(
            fixed, looked_at(counts.cores or "", "--cores", machine.cores) if single else None, counts.cores_are, goal,
            counts.steps, machine, level, limit, next_runs,
        )  # fmt: skip
        page = page_of((learned.runs, learned.models, results), asked, title=title, test=learned.test, notes=notes)
    _write(page, save)
    if json:
        print_json({"page": str(save), **page.data})
    else:
        note(f"the page is in {save}")
    if asked.wants_cores and "cores" not in page.data:
        note("no number of cores meets the goal: the page says what comes nearest")
        raise typer.Exit(1)


def _write(page: Page, path: Path) -> None:
    if path.suffix != ".json":
        page.save(path)
        return
    import json

    with replacing(path) as new:
        new.write_text(
            json.dumps({"format": "evenly report", **page.data}, indent=2, ensure_ascii=False) + "\n", encoding="utf-8"
        )


# ---- what is shown ------------------------------------------------------------------------------------------


@contextmanager
def _opened(studies: list[Path], machine: str | None) -> Iterator[list[Campaign]]:
    """Open the campaigns of studies that have runs, as they were made on a machine."""
    from contextlib import ExitStack

    from evenly.campaign import Campaign, Study
    from evenly.campaign.measuring import place_of
    from evenly.tuning.study_search import searched

    with ExitStack() as stack:
        found = []
        for path in studies:
            study = Study.load(path)
            looked_for = searched(study, study.plan.runs or 1, repeated=True)
            places = {place_of(study): study, study.folder / f"{study.name}.tune.db": looked_for}
            there = {place: one for place, one in places.items() if place.exists()}
            if not there:
                raise InputError(f"{path} has no runs yet: `evenly measure {path}` makes them")
            for place, one in there.items():
                as_made = _as_made(one, path, place, machine)
                found.append(stack.enter_context(Campaign(as_made, place, advisor=_no_advice, times=_no_times)))
        yield found


def _as_made(study: Study, path: Path, place: Path, machine: str | None) -> Study:
    """Return a study with the launcher that its stored runs were made with: its own, or that of the machine."""
    from evenly.campaign.listing import loaded_of
    from evenly.machine.machine import Machine

    row = loaded_of(place).rows["about"].get("measured_as")
    noted = {} if row is None else loads(row[1])
    launcher = noted.get("launcher", study.program.launcher)
    if launcher == study.program.launcher:
        return study
    there = None if machine is None else (Machine.load(machine).launcher or {}).get("name")
    if there == launcher:
        return Where(machine=machine).placed(study)
    remedy = "give --machine with the machine file that `evenly measure` had"
    if there is not None and launcher not in ("local", "mpi"):
        raise InputError(
            f"{place} holds runs that the launcher {launcher!r} made, but {machine} names {there!r}: {remedy}, or none"
        )
    placed = Where(launcher=launcher).placed(study)
    now = placed.measured_as()
    for key in ("setup", "nodes", "ranks_per_node", "cores_per_rank"):
        if noted.get(key, now[key]) != now[key]:
            raise InputError(
                f"{place} holds runs that the launcher {launcher!r} made with {key} = {noted[key]!r}, which {path} "
                f"doesn't have: {remedy}"
            )
    return placed


def _result(campaign: Campaign) -> Any:
    """Return what a search has found so far."""
    from evenly.tuning.result import Result
    from evenly.tuning.study_search import Proposer

    campaign.runs()  # raises an error if no run succeeded
    proposer = Proposer(campaign.study)
    proposer.attach(campaign.store)
    return Result.of(proposer.search(), "these are the runs so far")


def _no_times(*_: Any) -> None:
    """Learn nothing about how long further runs take: there are none."""


def _no_advice(*_: Any) -> Any:
    raise InputError("a report makes no runs")


def _check_questions(learned: Learned, counts: Counts, limit: float | None) -> None:
    """Refuse questions on one program's cores where there are several programs."""
    goals = {
        "--steps": counts.steps, "--deadline": counts.deadline, "--budget": counts.budget,
        "--efficiency": counts.efficiency, "--limit": limit,
    }  # fmt: skip
    asked = [option for option, value in goals.items() if value is not None]
    if asked and len(learned.models) > 1:
        instead = ""
        if asked[0] == "--steps":
            instead = ". With --cores, the page tells how long a coupled step takes: n steps take n times as long"
        raise InputError(
            f"{asked[0]} asks for one program, but there are {', '.join(learned.models)}: choose one with --only, or "
            f"leave it out{instead}"
        )


def _learned(
    paths: list[Path],
    campaigns: list[Campaign],
    reading: opt.Reading,
    learning: opt.Learning,
    notes: list[str],
    ask: Callable[[list[str], Measurements | None], None] | None,
    range_of_coupled: Callable[[Runs, Collection[str]], dict[str, Any]] | None,
) -> Learned:
    """Return runs and models: models that are saved are taken, others are learned.

    Of the only program, `ask` asks what is open before anything is learned.
    """
    saved = [path for path in paths if holds_models(path)]
    measured = [path for path in paths if path not in saved]
    models: dict[str, Any] = {}
    for path in saved:
        of_models = opt.Reading(only=reading.only, without=reading.without) if measured else reading
        for name, model in learn([path], of_models, learning).models.items():
            if name in models:
                raise InputError(f"{path} has a model of {name}, as another file has: give one of them")
            models[name] = model
    found = measurements(measured, reading) if measured else None
    runs: dict[str, Runs] = {} if found is None else dict(found.runs)
    if found is not None:
        tell_about(found)
        # On the page, a file's name is enough.
        notes += [_shortened(text, [path for path, _ in found.sources]) for text in found.notes]
        runs = _paired(runs, models) if models else runs
    for name, one in _of_studies(campaigns).items():
        if name in runs:
            raise InputError(f"a study and a file both have runs of {name}: give one of them")
        runs[name] = one
    new = {name: one for name, one in runs.items() if name not in models}
    if ask is not None and found is not None and list(found.runs) == list(new) and len(new) == 1:
        ask(list(new), found)
    arguments = range_of_coupled if len({**models, **runs}) > 1 else None
    learned = learn_from(new, learning, arguments, found=found, reading=reading) if new else Learned({})
    return Learned({**models, **learned.models}, {**runs, **learned.runs}, learned.test, found)


def _range_of(counts: Counts, fixed: dict[str, Any]) -> Callable[[Runs, Collection[str]], dict[str, Any]] | None:
    """Return what tells a method up to which cores it will be asked, where these are shared among coupled solvers."""
    from evenly.cli.commands.allocate import asked_range

    text = counts.cores
    if text is None:
        return None
    return lambda runs, known: asked_range(runs, known, max(parsing.counts(text, "--cores")), counts.cores_are, fixed)


def _of_studies(campaigns: list[Campaign]) -> dict[str, Runs]:
    """Return the runs of each study: those that were measured, and those of a search."""
    from evenly.runs.runs import Runs

    parts: dict[str, list[Runs]] = {}
    for campaign in campaigns:
        parts.setdefault(campaign.study.name, []).append(campaign.runs())
    return {name: Runs.concat(some) for name, some in parts.items()}


def _shortened(text: str, paths: Sequence[Path]) -> str:
    for path in paths:
        text = text.replace(str(path), path.name)
    return text


def _paired(runs: dict[str, Runs], models: dict[str, Any]) -> dict[str, Runs]:
    """Return runs by the names of the models."""
    if len(runs) == len(models) == 1:
        return dict(zip(models, runs.values(), strict=True))
    strange = [name for name in runs if name not in models]
    if strange:
        raise InputError(
            f"the saved models are of {', '.join(models)}, but {strange[0]} was measured too: leave it out with "
            "--without, or leave out the models to learn all anew"
        )
    return runs


def _plan(
    learned: Learned, things: list[Path], counts: Counts, layout: str | None, fixed: dict[str, Any], level: float
) -> Any:
    """Share cores among coupled solvers."""
    from evenly.allocation.allocate import allocate
    from evenly.allocation.problem.limits import Limits
    from evenly.allocation.problem.noise import Noise
    from evenly.cli.commands.allocate import models_by_cores
    from evenly.cli.coupled_input import check_coupled, may_be_alone
    from evenly.cli.layout_input import kept_beside_own, layout_of, threads_of
    from evenly.cli.run_input import step_days_of
    from evenly.cli.timing_files import whole_runs_of

    check_coupled(learned, things, chosen=False)
    totals = parsing.counts(counts.cores or "", "--cores")
    if len(totals) > 1:
        raise InputError("--cores takes one number here, which is shared among the solvers")
    kept = kept_beside_own(learned) if counts.cores_are is None else {}
    models, how = models_by_cores(learned, counts.cores_are, fixed, kept), layout_of(layout, learned)
    return allocate(
        models, totals[0], layout=how, at=fixed,
        coupled=whole_runs_of(learned, how, fixed, kept) if counts.cores_are is None else None,
        noise=Noise(level=level, scatter=None if may_be_alone(learned) else 0.0),
        machine=counts.described(), step_days=step_days_of(learned),
        limits={name: Limits(multiple=count) for name, count in threads_of(learned).items()} or None,
    )  # fmt: skip
