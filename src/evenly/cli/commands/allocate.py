"""``evenly allocate``: how many cores for each coupled solver."""

from __future__ import annotations

import dataclasses
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING, Annotated, Any, Literal

import typer

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import loss, note, out, print_json, silence
from evenly.cli.coupled_input import check_coupled, from_tables, read_coupled
from evenly.cli.layout_input import check_layout, kept_beside_own, layout_of, step_days_of, threads_of
from evenly.cli.memory_bounds import MemoryIs, memory_bounds, tell_shared_nodes
from evenly.cli.net_options import NetOptions
from evenly.cli.option_groups import panel
from evenly.cli.run_input import Learned, check_parameters, known_values, learn
from evenly.cli.step_input import Steps, check_steps, measured_steps, statistics_of, steps_in
from evenly.errors import ExtrapolationWarning, InfeasibleError, InputError
from evenly.runs.units import YEAR_DAYS

if TYPE_CHECKING:
    from evenly.allocation.plan import Plan
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.limits import Limits
    from evenly.allocation.problem.noise import Compare, Noise
    from evenly.allocation.problem.objective import Objective
    from evenly.core_counts.by_cores import ByCores
    from evenly.core_counts.cores import Cores
    from evenly.machine.machine import Machine
    from evenly.runs.runs import Runs
    from evenly.space.space import Space


_limits, _goal, _compare, _start = panel("Limits"), panel("Goal"), panel("Comparison and noise"), panel("Start")


@dataclass(frozen=True)
class LimitOptions:
    """What bounds the core counts: of a solver (``ocn=8``) or of all (``8``)."""

    minimum: Annotated[list[str] | None, _limits("--min", help="Fewest cores: ocn=8.")] = None
    maximum: Annotated[list[str] | None, _limits("--max", help="Most cores: ocn=512.")] = None
    multiple: Annotated[
        list[str] | None, _limits("--multiple", help="Core counts must be multiples of: 28, or ocn=8.")
    ] = None
    allowed: Annotated[list[str] | None, _limits("--allowed", help="Allowed core counts: ocn=480,960.")] = None
    memory: Annotated[
        str | None, _limits("--memory", help="Memory of a node: 96GiB. --memory-is says what was measured.")
    ] = None
    memory_quantity: Annotated[
        str, _limits("--memory-quantity", help="The measured quantity that holds the memory.")
    ] = "peak_memory"
    memory_is: Annotated[
        MemoryIs, _limits("--memory-is", help="Whose memory was measured: of one rank (core), of one node, or of all.")
    ] = "per-rank"
    cores_per_node: Annotated[int | None, _limits("--cores-per-node", min=1, help="Cores of one node.")] = None
    machine: Annotated[
        Path | None, _limits("--machine", help="A machine: a file, or a name of `evenly machine list`.")
    ] = None

    def by_solver(self, learned: Learned, models: dict[str, Any], at: dict[str, Any]) -> dict[str, Limits]:
        """Return the limits of each solver."""
        from evenly.allocation.problem.limits import Limits

        fields: dict[str, dict[str, Any]] = {name: {} for name in learned.models}
        for option, key in (("--min", "minimum"), ("--max", "maximum"), ("--multiple", "multiple")):
            for name, count in parsing.assignments(_for_all(self.typed(option), fields), option).items():
                _known(fields, name, option)[key] = count
        for name, threads in threads_of(learned).items():  # a task's cores can't be divided
            fields[name].setdefault("multiple", threads)
        for name, text in parsing.pairs(_for_all(self.typed("--allowed"), fields), "--allowed").items():
            _known(fields, name, "--allowed")["allowed"] = tuple(parsing.counts(text, f"--allowed {name}"))
        if self.memory is not None or self._is_memory_known(learned):
            cores = {name: model.cores_name_ for name, model in models.items()}
            for name, bound in memory_bounds(
                learned, self.memory_quantity, self.memory_is, at, self.spent().cores_per_node, cores
            ).items():
                fields[name]["bounds"] = bound
        return {name: Limits(**given) for name, given in fields.items()}

    def _is_memory_known(self, learned: Learned) -> bool:
        """Tell whether the machine's memory can be compared with what was measured; say it if not."""
        if self.spent().memory_bytes_per_node is None or self.spent().cores_per_node is None:
            return False
        known = bool(learned.runs) and all(self.memory_quantity in runs.quantities for runs in learned.runs.values())
        if not known:
            note(f"the memory of {self.machine}'s nodes isn't compared: {self.memory_quantity} was not measured")
        return known

    def typed(self, option: str) -> list[str]:
        """Return what was typed for ``--min``, ``--max``, ``--multiple`` or ``--allowed``."""
        given = {
            "--min": self.minimum, "--max": self.maximum, "--multiple": self.multiple, "--allowed": self.allowed,
        }  # fmt: skip
        return given[option] or []

    def spent(self) -> Machine:
        """Return the machine: that of the file, with what was typed beside it."""
        from evenly.machine.machine import Machine

        base = Machine() if self.machine is None else Machine.load(self.machine)
        told: dict[str, Any] = {} if self.cores_per_node is None else {"cores_per_node": self.cores_per_node}
        if self.memory is not None:
            told["memory_bytes_per_node"] = parsing.size_in_bytes(self.memory)
        return dataclasses.replace(base, **told)


@dataclass(frozen=True)
class GoalOptions:
    """What to minimise."""

    minimise: Annotated[Literal["time", "cost", "cores"], _goal("--minimise", help="Seconds, core-hours or cores.")] = (
        "time"
    )
    within: Annotated[
        str | None, _goal("--within", help="Take the cheapest that is at most this much slower than the fastest: 5%.")
    ] = None
    max_seconds: Annotated[float | None, _goal("--max-seconds", help="Longest allowed step.")] = None

    def objective(self) -> Objective:
        """Return the objective; a share means the cheapest within it, unless something else is minimised."""
        from evenly.allocation.problem.objective import Objective

        share = None if self.within is None else parsing.share(self.within, "--within")
        minimise: Any = "cost" if share is not None and self.minimise == "time" else self.minimise
        return Objective(minimise, within=share, max_seconds=self.max_seconds)

    def as_typed(self) -> str:
        """Return what was typed of these options."""
        typed = {
            "--minimise": None if self.minimise == "time" else self.minimise,
            "--within": self.within,
            "--max-seconds": None if self.max_seconds is None else f"{self.max_seconds:g}",
        }
        return " with ".join(f"{option} {value}" for option, value in typed.items() if value is not None)


@dataclass(frozen=True)
class CompareOptions:
    """What the answer is compared with, and how sure it is to be."""

    current: Annotated[list[str] | None, _compare("--current", help="The present assignment: inner=140.")] = None
    degrees_of_freedom: Annotated[list[str] | None, _compare("--dof", help="Sizes of the domains: inner=262144.")] = (
        None
    )
    jitter: Annotated[bool, _compare("--jitter", help="Minimise the mean time of a step, where steps vary.")] = False
    steps: Annotated[
        list[Path] | None,
        _compare(
            "--step-times", help="Files, or folders, with the times of single steps of each solver at any core count."
        ),
    ] = None
    steps_time: Annotated[
        str | None, _compare("--step-times-column", help="The column with the time in tables of --step-times.")
    ] = None
    coupled: Annotated[
        Path | None,
        _compare("--coupled", help="A table of whole coupled runs: the cores of each solver, and the time of a step."),
    ] = None
    coupled_time: Annotated[
        str | None, _compare("--coupled-time", help="The column with the time in the table of --coupled.")
    ] = None
    level: opt.Level = 0.9

    def runs(self, learned: Learned) -> CoupledRuns | None:
        """Return the whole coupled runs, if a table of them is given."""
        if self.coupled is None:
            if self.coupled_time is not None:
                raise InputError("--coupled-time names a column of the table of --coupled: give --coupled too")
            return None
        years = step_days_of(learned) == YEAR_DAYS
        return read_coupled(self.coupled, self.coupled_time, list(learned.models), simulated_years=years)

    def compare(self) -> Compare:
        """Return the other assignments."""
        from evenly.allocation.problem.noise import Compare

        dof = parsing.assignments(self.degrees_of_freedom or [], "--dof")
        sizes = {name: float(count) for name, count in dof.items()}
        return Compare(parsing.assignments(self.current or [], "--current") or None, sizes or None)

    def noise(self, learned: Learned, steps: Steps | None) -> Noise:
        """Return the level, and the steps that were measured, if they were of every solver."""
        from evenly.allocation.problem.noise import Noise

        samples = measured_steps(learned, steps)
        if self.jitter and not samples:
            raise InputError(
                "--jitter needs the times of several steps of every solver, which these measurements lack: "
                "give files of steps with --step-times"
            )
        of = statistics_of(learned, steps)
        scatter = None if from_tables(learned) else 0.0
        return Noise(level=self.level, samples=samples or None, statistic=of, scatter=scatter, optimise=self.jitter)


@dataclass(frozen=True)
class StartOptions:
    """What starts the plan."""

    write: Annotated[
        Literal["slurm", "mpirun", "precice", "cesm"] | None,
        _start("--write", help="Print, instead of the plan, what starts it: a job script, a line, or ./xmlchange."),
    ] = None
    program: Annotated[
        list[str] | None, _start("--program", help="The command of a solver, for --write: 'fluid=./fluid case.xml'.")
    ] = None

    def programs(self, totals: list[int]) -> dict[str, str]:
        """Return the commands; refuse what doesn't fit together."""
        if self.program and self.write is None:
            raise InputError("--program is for --write, which says how the plan is started")
        if self.write is not None and len(totals) > 1:
            raise InputError("--write is for one plan: give --cores one number")
        return parsing.pairs(self.program or [], "--program")

    def script(
        self, plan: Plan, learned: Learned, models: Mapping[str, ByCores], programs: dict[str, str]
    ) -> str | None:
        """Return the text that starts a plan, if it is asked for."""
        from evenly.allocation.start_script import start_script

        if self.write is None:
            return None
        kept = {} if learned.found is None else learned.found.cores_per_task
        each = {name: kept.get(name) or model.cores_per_task for name, model in models.items()}
        if learned.found is None:
            return start_script(plan, self.write, programs, each)
        return start_script(plan, self.write, programs, each, learned.found.threads)


def allocate(
    path: opt.Paths,
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
    start: StartOptions = StartOptions(),
    pictures: opt.Pictures = opt.Pictures(),
    learning: opt.Learning = opt.Learning(),
    net: NetOptions = NetOptions(),
    reading: opt.Reading = opt.Reading(),
    json: opt.Json = False,
) -> None:
    """Find how many cores each coupled solver gets, and how long a step will take.

    PATH holds measured run times of the solvers (log files, tables) or models saved by `evenly fit`.
    """
    from evenly.allocation.allocate import allocate as decide

    totals = parsing.counts(cores, "--cores") if cores else []
    fixed, objective, compare = opt.one_value_each(at), goal.objective(), against.compare()
    pictures.check()
    programs = start.programs(totals)
    limits.spent()  # what can't be read is refused before anything is learned
    silence(ExtrapolationWarning)  # the plan says it
    _check_totals(totals, goal, against)
    most, steps = max(totals, default=None), steps_in(against.steps, against.steps_time)

    def accept(solvers: list[str]) -> None:
        check_names(solvers, layout, limits, compare)
        check_steps(steps, solvers)

    learned = learn(
        path, reading, learning, lambda runs, known: _asked(runs, known, most, cores_are, fixed) | net.arguments(),
        accept=accept, others=opt.typed(net),
    )  # fmt: skip
    check_coupled(learned, chosen=bool(reading.parameters))
    check_parameters(fixed, learned)
    fixed = known_values(fixed, learned)
    models = models_by_cores(learned, cores_are, fixed)
    question: dict[str, Any] = {
        "layout": layout_of(layout, learned), "limits": limits.by_solver(learned, models, fixed), "at": fixed,
        "objective": objective, "compare": compare, "noise": against.noise(learned, steps), "machine": limits.spent(),
        "step_days": step_days_of(learned), "coupled": against.runs(learned),
    }  # fmt: skip
    plan = decide(models, most, **question)
    tell_shared_nodes(plan)
    _show(plan, totals, start.script(plan, learned, models, programs), json=json)
    if pictures.plot is not None:
        _save_pictures(learned, plan, pictures)


def _check_totals(totals: list[int], goal: GoalOptions, against: CompareOptions) -> None:
    """Refuse several numbers of cores where one plan is asked for."""
    if len(totals) > 1 and not goal.objective().is_fastest:
        raise InputError(
            f"{goal.as_typed()} picks the number of cores itself: give --cores only the most there are, {max(totals)}"
        )
    if len(totals) > 1 and (against.current or against.degrees_of_freedom):
        raise InputError("--current and --dof are compared with one plan: give --cores one number")


def _asked(
    runs: Runs, known: Collection[str], most: int | None, cores_are: str | None, fixed: dict[str, Any]
) -> dict[str, Any]:
    """Tell a method that wants to know on which range it will be asked: from one core to all there are."""
    from evenly.core_counts.cores import find_cores

    cores = find_cores(runs.space, cores_are, measured=runs.configurations)
    _check_fixed(runs.space, cores, fixed)
    wanted = "asked" in known and most is not None and cores.is_one_parameter and len(runs.parameters) == 1 + len(fixed)
    return {"asked": {cores.names[0]: (1, most)}} if wanted else {}


def _check_fixed(space: Space, cores: Cores, fixed: dict[str, Any]) -> None:
    """Refuse a model of which more is open than the cores."""
    from evenly.core_counts.cores import constants

    given = {**constants(space), **fixed}
    left = [name for name in space.names if name not in cores.names and name not in given]
    if left:
        listed = " ".join(f"--at {shlex.quote(f'{name}=…')}" for name in left)
        raise InputError(
            f"the measurements vary {', '.join(space.names)}, but an assignment decides only on cores ({cores.text}): "
            f"give a value for {', '.join(left)}, as in {listed}{_maybe_solvers(space, left)}"
        )


def _maybe_solvers(space: Space, left: list[str]) -> str:
    """Propose a column of labels as that of the solvers: it may be called model, code or application."""
    labels = [name for name in left if space.parameters[name].kind == "categorical"]
    return f"; or, if {labels[0]} names the coupled solvers: --solver {shlex.quote(labels[0])}" if labels else ""


def models_by_cores(learned: Learned, cores_are: str | None, fixed: dict[str, Any]) -> dict[str, Any]:
    """Return the models as models of cores, and say what was taken as cores."""
    from evenly.core_counts.by_cores import by_cores
    from evenly.core_counts.cores import find_cores
    from evenly.core_counts.one_size import check_one_size

    models: dict[str, Any] = {}
    kept = kept_beside_own(learned) if cores_are is None else {}
    for name, model in learned.models.items():
        runs = learned.runs.get(name)
        cores = find_cores(model.space_, cores_are, measured=None if runs is None else runs.configurations)
        _check_fixed(model.space_, cores, fixed)
        check_one_size(model, cores)
        if cores.said:
            note(f"{name}: {cores.said}")
        factor = kept.get(name, 1)
        models[name] = by_cores(model, cores.text if factor == 1 else f"{cores.text} * {factor}", at=fixed)
    return models


def _for_all(items: list[str], solvers: Iterable[str]) -> list[str]:
    """Spell out items without a name, which are for all solvers."""
    return [word for item in items for word in ([item] if "=" in item else [f"{s}={item}" for s in solvers])]


def _known(fields: dict[str, dict[str, Any]], name: str, option: str) -> dict[str, Any]:
    return fields[parsing.one_of(name, fields, f"the solver that {option} names")]


def check_names(solvers: list[str], layout: str | None, limits: LimitOptions, compare: Compare) -> None:
    """Refuse names that are no solvers, and a layout that leaves solvers out, before anything is learned."""
    given: dict[str, Iterable[str]] = {
        option: parsing.pairs(_for_all(limits.typed(option), solvers), option)
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


def _show(plan: Plan, totals: list[int], script: str | None, *, json: bool) -> None:
    from evenly.report.tables import plan as tables

    if script is not None and not json:
        out.print(script, soft_wrap=True, markup=False, highlight=False)  # as it is: it may be written into a file
        return
    if len(totals) > 1:
        enough = [total for total in totals if _is_enough(plan, total)]
        if json:
            print_json(tables.curve_as_dict(plan, enough))
        else:
            out.print(tables.curve_table(plan, enough))
    elif json:
        print_json(tables.plan_as_dict(plan) | ({} if script is None else {"script": script}))
    else:
        out.print(tables.plan_table(plan))
        if plan.versus or plan.runner_up:
            out.print(tables.comparison_table(plan))


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
    models = {name: learned.models[name] for name in plan.problem.names}  # so that colours are those of the plan
    figures = {
        "models": plot_models(models, learned.runs or None, level=level, test=learned.test or None),
        "curve": plot_curve(plan),
        "timeline": plot_plan(plan),
    }
    save_all(figures, where)
