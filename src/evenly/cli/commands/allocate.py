"""``evenly allocate``: how many cores for each coupled solver."""

from __future__ import annotations

import re
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import replace
from typing import TYPE_CHECKING, Annotated, Any

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import loss, note, out, print_json, silence
from evenly.cli.coupled_counts import rule_of_model, rule_of_text
from evenly.cli.coupled_input import (
    check_coupled,
    check_inputs,
    check_no_whole_runs,
    check_one_program,
    column_of_solvers,
)
from evenly.cli.coupled_table import chooses_coupled_runs, counts_nodes, tell_unsure
from evenly.cli.layout_input import check_layout, kept_beside_own, layout_of
from evenly.cli.memory_bounds import tell_shared_nodes
from evenly.cli.net_options import NetOptions
from evenly.cli.plan_options import CompareOptions, GoalOptions, LimitOptions, StartOptions, UnitOptions, for_all
from evenly.cli.run_input import Learned, check_parameters, known_values, learn, step_days_of
from evenly.cli.search_options import SearchOptions
from evenly.cli.step_input import check_steps, steps_in, tell_exchanges, tell_statistics
from evenly.cli.timing_files import whole_runs_of
from evenly.cli.values_of_solvers import by_solver, check_fixed, of_all
from evenly.errors import ExtrapolationWarning, InfeasibleError, InputError

if TYPE_CHECKING:
    from fractions import Fraction

    import pandas as pd

    from evenly.allocation.plan import Plan
    from evenly.allocation.problem.noise import Compare
    from evenly.core_counts.fastest_way import FastestWay
    from evenly.models.base import Model
    from evenly.readers import Measurements
    from evenly.report.simulated_time import TimeUnit
    from evenly.runs.cores import Cores
    from evenly.runs.runs import Runs
    from evenly.space.space import Space


#: Options of groups that plans from whole coupled runs alone use, too.
_OF_WHOLE_RUNS = frozenset({
    "--min", "--max", "--multiple", "--allowed", "--cores-per-node", "--machine", "--coupled", "--coupled-time",
    "--current", "--dof", "--level", "--unit", "--where", "--outliers",
})  # fmt: skip


def allocate(
    path: opt.OptionalPaths = None,
    cores: Annotated[
        str | None,
        typer.Option("--cores", "-P", help="Numbers of cores: 560, or several: 280,336 or 280:560:56 or 1..512."),
    ] = None,
    cores_are: opt.CoresAre = None,
    layout: Annotated[
        str | None,
        typer.Option(
            "--layout",
            help="max(a, b): side by side; sum(a, b): in turn on own cores; a + b: in turn on the same cores; "
            "3 * a: three iterations; parallel; serial. Default: that of preCICE's or CESM's files, else parallel.",
        ),
    ] = None,
    at: opt.At = None,
    limits: LimitOptions = LimitOptions(),
    goal: GoalOptions = GoalOptions(),
    against: CompareOptions = CompareOptions(),
    units: UnitOptions = UnitOptions(),
    start: StartOptions = StartOptions(),
    pictures: opt.Pictures = opt.Pictures(),
    learning: opt.Learning = opt.Learning(),
    search: SearchOptions = SearchOptions(),
    net: NetOptions = NetOptions(),
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Find how many cores each coupled solver gets, and how long a step will take.

    PATH holds measured run times of the solvers (log files, tables) or models saved by `evenly fit`. Without it, curves
    are learned from whole runs alone (``--coupled``, ``--layout``).
    """
    from evenly.allocation.allocate import allocate as decide

    totals = parsing.counts(cores, "--cores") if cores else []
    fixed, compare, arguments = opt.one_value_each(at), against.compare(), search.arguments() | net.arguments()
    goal.check()
    units.check(start, json=json)
    pictures.check()
    programs = start.programs(totals)
    limits.spent()  # what can't be read is refused before anything is learned
    silence(ExtrapolationWarning)  # the plan says it
    _check_totals(totals, goal, against)
    most, steps = max(totals, default=None), steps_in(against.steps, against.steps_time)

    def accept(solvers: list[str], found: Measurements | None) -> None:
        nonlocal cores_are
        if found is not None:
            check_inputs(found, solvers)
            check_no_whole_runs(path or [], found, fixed)
            if not reading.only:
                check_one_program(found)
        check_names(solvers, layout, limits, compare, found)
        if found is not None:
            spaces = [found.runs[name].space for name in solvers]
            cores_are = cores_are or nodes_as_cores(limits.spent().cores_per_node, spaces)
            cores_of_solvers(cores_are, spaces, against)
            _check_open({name: found.runs[name] for name in solvers}, cores_are, fixed)
        check_steps(steps, solvers)
        start.check(found)
        if found is not None:  # models tell it themselves
            goal.objective(units.days(step_days_of(Learned({}, found=found)), layout, solvers))

    if not path:
        is_of_one_count = cores_are is None or counts_nodes(cores_are) or rule_of_text(cores_are) is not None
        useless = [*["--at"][: len(fixed)], *([] if is_of_one_count else ["--cores-are"])]
        for group in (limits, against, learning, search, net, reading):
            useless += [option for option in opt.typed(group) if option not in _OF_WHOLE_RUNS]
        plan = _from_whole_runs(layout, totals, useless, limits, goal, against, units, reading, learning, cores_are)
        _show(plan, totals, start.script(plan, Learned({}), {}, programs), units.unit, json=json)
        if pictures.plot is not None:
            _save_pictures(Learned({}), plan, pictures)
        return
    of_coupled = reading.where if chooses_coupled_runs(reading.where, path, against.coupled) else None
    reading = reading if of_coupled is None else replace(reading, where=None)
    open_ = reading.parameters is None and reading.solver is None
    learned = learn(
        path, reading, learning, lambda runs, known: asked_range(runs, known, most, cores_are, fixed) | arguments,
        accept=accept, others=[*opt.typed(search), *opt.typed(net), *(["--no-waiting"] if against.no_waiting else [])],
        step_days=units.step_days, any_days=goal.max_seconds is None,
        solver_column=(lambda found: column_of_solvers(found, fixed)) if open_ else None,
    )  # fmt: skip
    check_coupled(
        learned, path, chosen=bool(reading.parameters), no_waiting=against.no_waiting, step_days=units.step_days,
        layout=layout,
    )  # fmt: skip
    tell_statistics(learned)
    fixed = by_solver(fixed, {name: model.space_ for name, model in learned.models.items()})
    check_parameters(of_all(fixed), learned)
    fixed = known_values(fixed, learned)
    spaces = [model.space_ for model in learned.models.values()]
    cores_are = cores_are or nodes_as_cores(limits.spent().cores_per_node, spaces)
    own = cores_of_solvers(cores_are, spaces, against)
    kept = kept_beside_own(learned) if own is None else {}
    models = models_by_cores(learned, own, fixed, kept)
    days, how = units.days(step_days_of(learned), layout, learned.models), layout_of(layout, learned)
    rules = {name: rule_of_model(model) for name, model in models.items() if name not in kept}
    coupled = against.runs(
        learned, of_all(fixed), cores_are, days, how, limits.spent().cores_per_node, learning.of_coupled_runs, rules,
        of_coupled,
    )  # fmt: skip
    if coupled is None and own is None:
        coupled = whole_runs_of(learned, how, fixed, kept)
    question: dict[str, Any] = {
        "layout": how, "limits": limits.by_solver(learned, models, fixed), "at": fixed,
        "objective": goal.objective(days), "compare": compare, "noise": against.noise(learned, steps),
        "machine": limits.spent(), "step_days": days, "coupled": coupled,
    }  # fmt: skip
    try:
        plan = decide(models, most, **question)
    except InfeasibleError as error:
        raise goal.refused(error) from None
    if plan.noise.inside is not None:
        tell_unsure(plan.noise.inside.unseen)
    tell_shared_nodes(plan)
    tell_exchanges(plan)
    _show(plan, totals, start.script(plan, learned, models, programs), units.unit, json=json)
    if pictures.plot is not None:
        _save_pictures(learned, plan, pictures)


def _from_whole_runs(
    layout: str | None, totals: list[int], useless: list[str], limits: LimitOptions, goal: GoalOptions,
    against: CompareOptions, units: UnitOptions, reading: opt.Reading, learning: opt.Learning, cores_are: str | None,
) -> Plan:  # fmt: skip
    """Return the plan whose curves are learned from whole coupled runs alone; refuse options that don't suit them."""
    from evenly.allocation.allocate import allocate as decide
    from evenly.allocation.problem.noise import Noise
    from evenly.cli.coupled_table import whole_runs

    if against.coupled is None:
        raise InputError("PATH is missing: give the times of each solver, or whole coupled runs with --coupled")
    if useless:
        raise InputError(
            f"some options need the times of each solver: give PATH, or leave out {', '.join(useless)}, since whole "
            "coupled runs alone are learned as one law"
        )
    found, told, layout, threads = whole_runs(
        against.coupled, against.coupled_time, layout, unit=reading.unit, cores_are=cores_are, where=reading.where,
        cores_per_node=limits.spent().cores_per_node, outliers=learning.of_coupled_runs,
    )  # fmt: skip
    check_names(list(found.curves), layout, limits, against.compare())
    learned = Learned(dict(found.curves))  # type: ignore[arg-type]
    days, own = units.days(told), limits.by_solver(learned, {}, {}, threads)
    return decide(
        found.curves, max(totals, default=None), layout=layout, step_days=days,
        limits=own, objective=goal.objective(days), compare=against.compare(),
        noise=Noise(level=against.level, inside=found.inside, scatter=0.0), machine=limits.spent(),
    )  # fmt: skip


def _check_totals(totals: list[int], goal: GoalOptions, against: CompareOptions) -> None:
    """Refuse several numbers of cores where one plan is asked for."""
    if len(totals) > 1 and not goal.is_fastest:
        raise InputError(
            f"{goal.as_typed()} picks the number of cores itself: give --cores only the most there are, {max(totals)}"
        )
    if len(totals) > 1 and (against.current or against.degrees_of_freedom):
        raise InputError("--current and --dof are compared with one plan: give --cores one number")


def _check_open(runs: Mapping[str, Runs], cores_are: str | None, fixed: dict[str, Any]) -> None:
    """Refuse runs in which more is open than the cores, before anything is learned."""
    from evenly.allocation.allocate import values_at
    from evenly.runs.cores import find_cores

    spaces = {name: one.space for name, one in runs.items()}
    values = values_at(by_solver(fixed, spaces), runs)
    for name, one in runs.items():
        cores = find_cores(one.space, own_text(cores_are, one.space), measured=one.configurations)
        check_fixed(name, spaces, cores, values[name])


def asked_range(
    runs: Runs, known: Collection[str], most: int | None, cores_are: str | None, fixed: dict[str, Any]
) -> dict[str, Any]:
    """Tell a method that wants to know on which range it will be asked: from one core to all there are."""
    from evenly.runs.cores import find_cores

    cores = find_cores(runs.space, own_text(cores_are, runs.space), measured=runs.configurations)
    given = [name for name in runs.parameters if any(name in (typed, typed.rpartition(".")[2]) for typed in fixed)]
    wanted = "asked" in known and most is not None and cores.is_one_parameter and len(runs.parameters) == 1 + len(given)
    return {"asked": {cores.names[0]: (1, most)}} if wanted else {}


def cores_of_solvers(cores_are: str | None, spaces: list[Space], against: CompareOptions) -> str | None:
    """Return what the cores of the solvers are, if ``--cores-are`` isn't about the nodes of ``--coupled`` alone."""
    of_these = any(own_text(cores_are, space) is not None for space in spaces)
    if cores_are is not None and against.coupled is not None and counts_nodes(cores_are) and not of_these:
        return None
    check_cores_are(cores_are, spaces)
    return cores_are


def nodes_as_cores(cores_per_node: int | None, spaces: list[Space]) -> str | None:
    """Return the cores by those of a node, and say so, where solvers have one count, of nodes; else None."""
    from evenly.runs.count_names import cores_of_each, kind_of_parameter
    from evenly.space.expressions import quoted

    counts = {name for space in spaces for name in space.names if kind_of_parameter(name)}
    name = next(iter(counts), "")
    if cores_per_node is None or len(counts) != 1 or kind_of_parameter(name) != "nodes" or cores_of_each(name):
        return None
    note(f"cores: {name} * {cores_per_node}, by --cores-per-node")
    return f"{quoted(name)} * {cores_per_node}"


def check_cores_are(cores_are: str | None, spaces: list[Space]) -> None:
    """Refuse names of parameters that no solver has."""
    if cores_are is not None and all(own_text(cores_are, space) is None for space in spaces):
        from evenly.runs.cores import find_cores

        find_cores(spaces[0], cores_are)  # says what is wrong


def own_text(cores_are: str | None, space: Space) -> str | None:
    """Return ``--cores-are`` for a solver that has these parameters; None for others, whose names must tell."""
    from evenly.space.expressions import Expression

    return cores_are if cores_are is not None and set(Expression(cores_are).names) <= set(space.names) else None


def models_by_cores(
    learned: Learned, cores_are: str | None, fixed: dict[str, Any], kept: Mapping[str, Fraction]
) -> dict[str, Any]:
    """Return the models as models of cores, and say what was taken as cores.

    `kept` says how many times its own cores a solver keeps, if not once.
    """
    from evenly.allocation.allocate import values_at
    from evenly.core_counts.by_cores import by_cores
    from evenly.core_counts.fastest_way import fastest_way
    from evenly.core_counts.one_size import check_one_size
    from evenly.runs.cores import find_cores

    spaces = {name: model.space_ for name, model in learned.models.items()}
    values = values_at(fixed, spaces)
    models: dict[str, Any] = {}
    said: dict[str, list[str]] = {}
    check_cores_are(cores_are, list(spaces.values()))
    _tell_ranks_of_precice(learned, cores_are)
    for name, model in learned.models.items():
        runs = learned.runs.get(name)
        own = own_text(cores_are, model.space_)
        cores = find_cores(model.space_, own, measured=None if runs is None else runs.configurations)
        check_fixed(name, spaces, cores, values[name])
        check_one_size(model, cores)
        if cores.said:
            said.setdefault(cores.said, []).append(name)
        factor = kept.get(name, 1)
        text = cores.text if factor == 1 else f"{cores.text} * {factor}".replace("/", " / ")
        measured = None if runs is None else runs.ok.configurations
        at = values[name]
        decided = _decided(model, cores, measured, at)
        models[name] = fastest_way(model, text, at | decided, measured) if decided else by_cores(model, text, at=at)
        if decided:
            _tell_ways(name, models[name])
    for text, solvers in said.items():
        note(f"{', '.join(solvers)}: {text}")
    return models


def _tell_ranks_of_precice(learned: Learned, cores_are: str | None) -> None:
    """Say that each rank of preCICE's files is taken as a core: these tell no threads."""
    sources = () if learned.found is None else learned.found.sources
    if cores_are is None and any(name.startswith("precice-") for _, name in sources):
        note(
            "cores: one for each rank, as preCICE's files tell no threads (--cores-are says otherwise, as 'cores * 4')"
        )


def _decided(
    model: Model, cores: Cores, measured: pd.DataFrame | None, fixed: dict[str, Any]
) -> dict[str, tuple[int, ...]]:
    """Return the numbers of threads to choose from, where they vary as the ranks do.

    Only measured ones are tried: how much longer a rank takes with more of them isn't known. The tasks of a node aren't
    decided: a plan counts cores, and would need more nodes than there are where nodes aren't full.
    """
    from evenly.runs.cores import constants
    from evenly.runs.count_names import kind_of

    given = {**constants(model.space_), **fixed}
    left = [name for name in cores.names if name not in given]
    threads = [name for name in left if kind_of(name) == "per rank"]
    if measured is None or len(left) != 2 or len(threads) != 1:
        return {}
    found = tuple(sorted(int(value) for value in measured[threads[0]].unique()))
    return {threads[0]: found}


def _tell_ways(solver: str, model: FastestWay) -> None:
    """Say which numbers of threads are tried, and on which cores: a law isn't believed where others were measured."""
    first = model.values[0]
    ways = (f"{one} on {low} … {high} cores" for one, (low, high) in zip(model.values, model.ranges, strict=True))
    note(
        f"{solver}: {model.decided} are decided with {model.each[0].varied}, where they were measured: "
        f"{', '.join(ways)}; --at {model.decided}={first} keeps one, beyond that, too"
    )


def check_names(
    solvers: list[str], layout: str | None, limits: LimitOptions, compare: Compare, found: Measurements | None = None
) -> None:
    """Refuse names that are no solvers, and a layout that leaves solvers out, before anything is learned."""
    if len(solvers) == 1 and (column := _column_of(layout, compare, found)):
        raise InputError(
            f"there is one solver, {solvers[0]}, but {column!r} holds such names: --solver {shlex.quote(column)}"
        )
    given: dict[str, Iterable[str]] = {
        option: parsing.pairs(for_all(limits.typed(option), solvers), option)
        for option in ("--min", "--max", "--multiple", "--allowed")
    }
    given |= {"--current": compare.current or (), "--dof": compare.degrees_of_freedom or ()}
    for option, names in given.items():
        for name in names:
            parsing.one_of(name, solvers, f"the solver that {option} names")
    for option in ("--current", "--dof"):
        missing = [name for name in solvers if given[option] and name not in given[option]]
        if missing:
            raise InputError(
                f"{option} must name every solver ({', '.join(solvers)}), but {', '.join(missing)} is missing: "
                f"add {missing[0]}=…"
            )
    if layout is not None and layout.strip() not in ("parallel", "serial"):
        check_layout(layout, solvers)


def _column_of(layout: str | None, compare: Compare, found: Measurements | None) -> str:
    """Return the column of labels that are the names in a layout, or in the present assignment; "" if there is none."""
    from evenly.space.parameters import Categorical

    words = set(re.findall(r"[^\W\d]\w*", layout or "")) | {*(compare.current or ())}
    for runs in () if found is None else found.runs.values():
        for name, kind in runs.space.parameters.items():
            if isinstance(kind, Categorical) and len(words & set(map(str, kind.options))) > 1:
                return name
    return ""


def _show(plan: Plan, totals: list[int], script: str | None, unit: TimeUnit | None, *, json: bool) -> None:
    from evenly.report.tables import plan as tables

    if script is not None and not json:
        out.print(script, soft_wrap=True, markup=False, highlight=False)  # as it is: it may be written into a file
        return
    if len(totals) > 1:
        enough = [total for total in totals if _is_enough(plan, total)]
        if json:
            print_json(tables.curve_as_dict(plan, enough))
        else:
            out.print(tables.curve_table(plan, enough, unit=unit))
    elif json:
        print_json(tables.plan_as_dict(plan) | ({} if script is None else {"script": script}))
    else:
        out.print(tables.plan_table(plan, unit=unit))
        if plan.versus or plan.runner_up:
            out.print(tables.comparison_table(plan, unit=unit))


def _is_enough(plan: Plan, total: int) -> bool:
    """Tell whether the solvers can run on so many cores, and say so if they can't."""
    try:
        plan.at(total)
    except InfeasibleError as error:
        loss(f"{total} cores left out: {error}")
        return False
    return True


def _save_pictures(learned: Learned, plan: Plan, where: opt.Pictures) -> None:
    from evenly.cli.saving_pictures import save_all
    from evenly.report.plots.allocation import plot_curve, plot_plan
    from evenly.report.plots.model import plot_models

    level = plan.noise.level
    models = {
        name: learned.models[name] for name in plan.problem.names if name in learned.models
    }  # so that colours are those of the plan
    figures = {"curve": plot_curve(plan), "timeline": plot_plan(plan)}
    if models:  # whole runs alone tell laws, but no times of solvers to draw beside them
        figures["models"] = plot_models(models, learned.runs or None, level=level, test=learned.test or None)
    save_all(figures, where)
