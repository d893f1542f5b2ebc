"""``evenly allocate``: how many cores for each coupled solver."""

from __future__ import annotations

from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note, out, print_json
from evenly.cli.loading import FitOptions, Learned, learn
from evenly.errors import InputError

if TYPE_CHECKING:
    from evenly.balance.limits import Limits
    from evenly.balance.noise import Compare, Noise
    from evenly.balance.objective import Objective
    from evenly.balance.plan import Plan
    from evenly.machine import Machine

_LIMITS = "Limits"
_GOAL = "Goal"
_COMPARE = "Comparison and noise"


def allocate(
    path: opt.PathArgument,
    cores: Annotated[
        str | None, typer.Option("--cores", "-P", help="All cores there are: 560, or several: 280,336 or 280:560:56.")
    ] = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            help="max(a, b): side by side; sum(a, b): in turn on own cores; a + b: in turn on the same cores; "
            "3 * a: three iterations; parallel; serial. Default: the preCICE configuration found, else parallel.",
        ),
    ] = None,
    minimum: Annotated[
        list[str] | None, typer.Option("--min", help="Fewest cores: ocn=8.", rich_help_panel=_LIMITS)
    ] = None,
    maximum: Annotated[
        list[str] | None, typer.Option("--max", help="Most cores: ocn=512.", rich_help_panel=_LIMITS)
    ] = None,
    multiple: Annotated[
        list[str] | None, typer.Option("--multiple", help="Multiples: 28, or ocn=8.", rich_help_panel=_LIMITS)
    ] = None,
    allowed: Annotated[
        list[str] | None, typer.Option("--allowed", help="Only these: ocn=480,960.", rich_help_panel=_LIMITS)
    ] = None,
    memory: Annotated[
        str | None,
        typer.Option("--memory", help="Keep the measured memory per node below this: 96GiB.", rich_help_panel=_LIMITS),
    ] = None,
    memory_quantity: Annotated[
        str, typer.Option("--memory-quantity", help="Which measured quantity that is.", rich_help_panel=_LIMITS)
    ] = "peak_memory",
    cores_per_node: Annotated[
        int | None, typer.Option("--cores-per-node", min=1, help="Cores of one node.", rich_help_panel=_LIMITS)
    ] = None,
    machine: Annotated[
        Path | None, typer.Option("--machine", help="A machine file (TOML or JSON).", rich_help_panel=_LIMITS)
    ] = None,
    minimise: Annotated[str, typer.Option("--minimise", help="time, cost or cores.", rich_help_panel=_GOAL)] = "time",
    within: Annotated[
        str | None,
        typer.Option("--within", help="At most this much slower than the fastest: 5%.", rich_help_panel=_GOAL),
    ] = None,
    deadline: Annotated[
        float | None, typer.Option("--max-seconds", help="Longest allowed step.", rich_help_panel=_GOAL)
    ] = None,
    current: Annotated[
        list[str] | None,
        typer.Option("--current", help="The present assignment: inner=140.", rich_help_panel=_COMPARE),
    ] = None,
    degrees_of_freedom: Annotated[
        list[str] | None,
        typer.Option("--dof", help="Sizes of the domains: inner=262144.", rich_help_panel=_COMPARE),
    ] = None,
    jitter: Annotated[
        bool,
        typer.Option("--jitter", help="Minimise the expected time of varying steps.", rich_help_panel=_COMPARE),
    ] = False,
    level: opt.Level = 0.9,
    at: opt.At = None,
    method: opt.Method = None,
    train: opt.Train = None,
    statistic: opt.Statistic = "median",
    format: opt.Format = None,  # noqa: A002 - the option's name
    time: opt.TimeColumn = None,
    unit: opt.Unit = None,
    parameters: opt.Parameters = None,
    solver: opt.SolverColumn = None,
    quantities: opt.Quantities = None,
    where: opt.Where = None,
    constants: opt.Constants = None,
    reader_options: opt.ReaderOptions = None,
    plot: Annotated[Path | None, typer.Option("--plot", help="Save pictures into this folder.")] = None,
    suffix: Annotated[str, typer.Option("--plot-format", help="svg, png or pdf.")] = "svg",
    json: opt.Json = False,
) -> None:
    """Find how many cores each coupled solver gets, and how long a step will take.

    PATH holds measured run times of the solvers (log files, tables) or models saved by `evenly fit`.
    """
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
    totals = parsing.counts(cores) if cores else []
    fixed = _one_value_each(at or [])
    most = max(totals, default=None)
    learned = learn(path, reading, FitOptions(method, statistic, train=train, cores=most, fixed=tuple(fixed)))
    spent = _machine(machine, cores_per_node, memory)
    question: dict[str, Any] = {
        "layout": _layout(layout, learned),
        "limits": _limits(
            learned, minimum or [], maximum or [], multiple or [], allowed or [],
            memory=memory_quantity if memory else None,
        ),
        "at": fixed,
        "objective": _objective(minimise, within, deadline),
        "compare": _compare(current, degrees_of_freedom),
        "noise": _noise(learned, level, jitter),
        "machine": spent,
    }  # fmt: skip
    if len(totals) > 1 and not question["objective"].is_fastest:
        raise InputError(f"--minimise {minimise} picks the number of cores itself: give --cores the most there are")
    plan = _plan(learned, most, question)
    _show(plan, totals, json=json)
    if plot is not None:
        _save_pictures(learned, plan, plot, suffix, level)


def _plan(learned: Learned, cores: int | None, question: dict[str, Any]) -> Plan:
    from evenly.balance.allocate import allocate as decide

    return decide(learned.models, cores, **question)


def _layout(layout: str | None, learned: Learned) -> str:
    if layout is not None:
        return layout
    found = learned.found
    if found is not None and found.coupling is not None and set(found.coupling.participants) == set(learned.models):
        note(f"layout {found.layout}, from the preCICE configuration found")
        return str(found.layout)
    return "parallel"


def _machine(path: Path | None, cores_per_node: int | None, memory: str | None) -> Machine | None:
    import dataclasses

    from evenly.machine import Machine

    base = Machine() if path is None else Machine.load(path)
    told: dict[str, Any] = {} if cores_per_node is None else {"cores_per_node": cores_per_node}
    if memory is not None:
        told["memory_bytes_per_node"] = parsing.size_in_bytes(memory)
    return dataclasses.replace(base, **told)


def _limits(
    learned: Learned,
    minimum: list[str],
    maximum: list[str],
    multiple: list[str],
    allowed: list[str],
    *,
    memory: str | None,
) -> dict[str, Limits]:
    """Return the limits of each solver; ``28`` without a name is for all."""
    from evenly.balance.limits import Limits

    solvers = list(learned.models)
    fields: dict[str, dict[str, Any]] = {name: {} for name in solvers}
    for key, option, items in (
        ("minimum", "--min", minimum), ("maximum", "--max", maximum), ("multiple", "--multiple", multiple),
    ):  # fmt: skip
        for name, count in parsing.assignments(_for_all(items, solvers), option).items():
            _known(fields, name, option)[key] = count
    for name, text in parsing.pairs(_for_all(allowed, solvers), "--allowed").items():
        _known(fields, name, "--allowed")["allowed"] = tuple(parsing.counts(text))
    if memory is not None:
        for name, bound in _memory_bounds(learned, memory).items():
            fields[name]["bounds"] = bound
    return {name: Limits(**given) for name, given in fields.items()}


def _for_all(items: list[str], solvers: list[str]) -> list[str]:
    return [word for item in items for word in ([item] if "=" in item else [f"{s}={item}" for s in solvers])]


def _known(fields: dict[str, dict[str, Any]], name: str, option: str) -> dict[str, Any]:
    if name not in fields:
        raise InputError(f"{option} names {name!r}, but the solvers are {', '.join(fields)}")
    return fields[name]


def _memory_bounds(learned: Learned, quantity: str) -> dict[str, Any]:
    from evenly.balance.limits import Bound
    from evenly.models.fitting import fit

    if not learned.runs:
        raise InputError("--memory needs measured runs, not a saved model: give the measurements' folder")
    missing = [name for name, runs in learned.runs.items() if quantity not in runs.quantities]
    if missing:
        have = ", ".join(learned.runs[missing[0]].quantities)
        raise InputError(
            f"--memory needs the quantity {quantity!r} of {missing[0]!r}, but only {have} was measured: name its "
            f"column with --quantity {quantity}=GiB"
        )
    return {name: Bound(fit(runs, response=quantity)) for name, runs in learned.runs.items()}


def _one_value_each(items: list[str]) -> dict[str, Any]:
    found = parsing.configurations(items) if items else [{}]
    if len(found) != 1:
        raise InputError("--at takes one value per parameter here, as level=8")
    return found[0]


def _objective(minimise: str, within: str | None, max_seconds: float | None) -> Objective:
    from evenly.balance.objective import Objective

    share = None
    if within is not None:
        text = within.strip()
        try:
            share = float(text.removesuffix("%")) / (100 if text.endswith("%") else 1)
        except ValueError:
            raise InputError(f"--within takes a share such as 5% or 0.05, but got {within!r}") from None
        minimise = "cost" if minimise == "time" else minimise
    return Objective(minimise, within=share, max_seconds=max_seconds)  # type: ignore[arg-type]


def _compare(current: list[str] | None, degrees_of_freedom: list[str] | None) -> Compare:
    from evenly.balance.noise import Compare

    sizes = {
        name: float(parsing.counts(text)[0]) for name, text in parsing.pairs(degrees_of_freedom or [], "--dof").items()
    }
    return Compare(parsing.assignments(current or [], "--current") or None, sizes or None)


def _noise(learned: Learned, level: float, jitter: bool) -> Noise:
    from evenly.balance.noise import Noise

    samples = {name: steps for name, runs in learned.runs.items() if len(steps := runs.steps()) > 1}
    complete = bool(samples) and set(samples) == set(learned.models)
    if jitter and not complete:
        raise InputError("--jitter needs the times of several steps of every solver, which these measurements lack")
    return Noise(level=level, samples=samples if complete else None, optimise=jitter)


def _show(plan: Plan, totals: list[int], *, json: bool) -> None:
    from evenly.report import plan_tables

    if len(totals) > 1:
        if json:
            print_json(plan_tables.curve_as_dict(plan, totals))
        else:
            out.print(plan_tables.curve_table(plan, totals))
    elif json:
        print_json(plan_tables.plan_as_dict(plan))
    else:
        out.print(plan_tables.plan_table(plan))
        if plan.versus or plan.runner_up:
            out.print(plan_tables.comparison_table(plan))


def _save_pictures(learned: Learned, plan: Plan, folder: Path, suffix: str, level: float) -> None:
    from evenly.cli.pictures import save_all
    from evenly.report.allocation_plots import plot_curve, plot_plan
    from evenly.report.model_plots import plot_models

    figures = {
        "models": plot_models(learned.models, learned.runs or None, level=level, test=learned.test or None),
        "curve": plot_curve(plan),
        "timeline": plot_plan(plan),
    }
    save_all(figures, folder, suffix)
