"""The options of ``evenly allocate``: limits, the goal, what a plan is compared with, and what starts it."""

from __future__ import annotations

import dataclasses
import math
import shlex
from collections.abc import Collection, Iterable, Mapping
from dataclasses import dataclass
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Annotated, Any, Literal

from evenly.cli import options as opt
from evenly.cli import parsing
from evenly.cli.console import note
from evenly.cli.coupled_input import may_be_alone
from evenly.cli.coupled_table import of_layout, read_coupled
from evenly.cli.coupled_time import StepOfSolvers
from evenly.cli.layout_input import threads_of
from evenly.cli.memory_bounds import MemoryIs, memory_bounds
from evenly.cli.option_groups import panel
from evenly.cli.run_input import Learned, step_days_of
from evenly.cli.step_input import Steps, measured_steps, tell_means
from evenly.cli.step_lengths import steps_in
from evenly.errors import InfeasibleError, InputError
from evenly.runs.step_days import days_of_step
from evenly.runs.units import SECONDS_PER_DAY, YEAR_DAYS

if TYPE_CHECKING:
    from evenly.allocation.plan import Plan
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.limits import Limits
    from evenly.allocation.problem.noise import Compare, Noise
    from evenly.allocation.problem.objective import Objective
    from evenly.cli.coupled_counts import CoresOfCounts
    from evenly.core_counts.by_cores import ByCores
    from evenly.core_counts.fastest_way import FastestWay
    from evenly.machine.machine import Machine
    from evenly.readers.scanning import Measurements
    from evenly.report.simulated_time import TimeUnit

__all__ = ["CompareOptions", "GoalOptions", "LimitOptions", "StartOptions", "UnitOptions", "for_all"]

#: Why a column of one value is a constant.
_ONE_VALUE = "one value: "
_limits, _goal, _compare, _start = panel("Limits"), panel("Goal"), panel("Comparison and noise"), panel("Start")
_units = panel("Units")


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

    def by_solver(
        self, learned: Learned, models: dict[str, Any], at: dict[str, Any],
        threads: Mapping[str, int] = MappingProxyType({}),
    ) -> dict[str, Limits]:  # fmt: skip
        """Return the limits of each solver; `threads` are those of each task, where they aren't in `learned`."""
        from evenly.allocation.problem.limits import Limits

        fields: dict[str, dict[str, Any]] = {name: {} for name in learned.models}
        for option, key in (("--min", "minimum"), ("--max", "maximum"), ("--multiple", "multiple")):
            for name, count in parsing.assignments(for_all(self.typed(option), fields), option).items():
                _known(fields, name, option)[key] = count
        for name, count in {**threads, **threads_of(learned)}.items():  # a task's cores can't be divided
            fields[name].setdefault("multiple", count)
        for name, text in parsing.pairs(for_all(self.typed("--allowed"), fields), "--allowed").items():
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
        str | None,
        _goal("--within", help="Take the cheapest that is at most so much slower than the fastest, as 5%."),
    ] = None
    max_seconds: Annotated[float | None, _goal("--max-seconds", help="Longest allowed step.")] = None
    min_sypd: Annotated[
        float | None, _goal("--min-sypd", help="Fewest simulated years per day, instead of the longest step.")
    ] = None

    def check(self) -> None:
        """Refuse what doesn't fit together, before anything is learned."""
        self.objective(step_days=1.0)
        if self.min_sypd is not None and (self.max_seconds is not None or not self.min_sypd > 0):
            raise InputError("--min-sypd takes a number above 0, and stands instead of --max-seconds")

    @property
    def is_fastest(self) -> bool:
        """Whether the fastest step is wanted, without constraints."""
        return self.objective(step_days=1.0).is_fastest

    def objective(self, step_days: float | None) -> Objective:
        """Return the objective; a share means the cheapest within it, unless something else is minimised."""
        from evenly.allocation.problem.objective import Objective

        share = None if self.within is None else parsing.share(self.within, "--within")
        minimise: Any = "cost" if share is not None and self.minimise == "time" else self.minimise
        return Objective(minimise, within=share, max_seconds=self._longest(step_days))

    def _longest(self, step_days: float | None) -> float | None:
        """Return the longest step, in seconds."""
        if self.min_sypd is None:
            return self.max_seconds
        if step_days is None:
            raise InputError("--min-sypd needs to know how many days a step simulates: give --step-days")
        return step_days / YEAR_DAYS * SECONDS_PER_DAY / self.min_sypd

    def refused(self, error: InfeasibleError) -> InfeasibleError:
        """Return why no plan is fast enough in the words of what was typed."""
        if self.min_sypd is None or error.constraint != "max_seconds":
            return error
        said = str(error).replace("raise it, or raise", f"lower --min-sypd {self.min_sypd:g}, or raise")
        return InfeasibleError(said, constraint=error.constraint)

    def as_typed(self) -> str:
        """Return what was typed of these options."""
        typed = {
            "--minimise": None if self.minimise == "time" else self.minimise,
            "--within": self.within,
            "--max-seconds": None if self.max_seconds is None else f"{self.max_seconds:g}",
            "--min-sypd": None if self.min_sypd is None else f"{self.min_sypd:g}",
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
            "--step-times",
            help="File, or folder, with the times of single steps of solvers at any core count; repeat it for several.",
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
    coupled_steps: Annotated[
        float | None,
        _compare(
            "--coupled-steps",
            help="How many steps of the solvers each time of --coupled is of: 10 for ten days beside theirs of one.",
        ),
    ] = None
    no_waiting: Annotated[
        bool, _compare("--no-waiting", help="The times don't contain waiting for other solvers, even if two are alike.")
    ] = False
    level: opt.Level = 0.9

    def runs(
        self, learned: Learned, fixed: Mapping[str, Any], cores_are: str | None, step_days: float | None, layout: str,
        cores_per_node: int | None, outliers: Literal["refuse", "keep"], rules: Mapping[str, CoresOfCounts],
        where: str | None = None,
    ) -> CoupledRuns | None:  # fmt: skip
        """Return the whole coupled runs, if a table of them is given, of the settings that the plan is for."""
        if self.coupled is None:
            if self.coupled_time is not None:
                raise InputError("--coupled-time names a column of the table of --coupled: give --coupled too")
            if self.coupled_steps is not None:
                raise InputError("--coupled-steps is about the times of --coupled: give --coupled too")
            return None
        if self.coupled_steps is not None and not self.coupled_steps > 0:
            raise InputError("--coupled-steps takes a number above 0")
        step = StepOfSolvers(step_days, told=step_days_of(learned) is not None, in_coupled=self.coupled_steps)
        columns = () if learned.found is None else learned.found.columns
        same = {c.name: c.why.removeprefix(_ONE_VALUE) for c in columns if c.why.startswith(_ONE_VALUE)}
        found = read_coupled(
            self.coupled, self.coupled_time, list(learned.models), step=step, known={**same, **fixed},
            cores_are=cores_are, cores_per_node=cores_per_node, layout=layout, rules=rules, outliers=outliers,
            where=where,
        )  # fmt: skip
        return of_layout(self.coupled, found, layout)

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
        tell_means(learned, steps)
        scatter = None if may_be_alone(learned) else 0.0
        return Noise(level=self.level, samples=samples or None, scatter=scatter, optimise=self.jitter)


@dataclass(frozen=True)
class UnitOptions:
    """The units of the answer."""

    show_in: Annotated[
        Literal["SYPD", "CHSY", "CHPSY", "s/day"] | None,
        _units("--in", help="Simulated years per day, core-hours per simulated year, or seconds per simulated day."),
    ] = None
    step_days: Annotated[
        float | None, _units("--step-days", help="Days that a step simulates: 1 for the time of a simulated day.")
    ] = None

    @property
    def unit(self) -> TimeUnit | None:
        """The unit of the answer; CHPSY is another name of CHSY."""
        return "CHSY" if self.show_in == "CHPSY" else self.show_in

    def check(self, start: StartOptions, *, json: bool) -> None:
        """Refuse a unit where no table is printed."""
        if self.show_in is None:
            return
        if start.write is not None:
            raise InputError("--in is for the table of a plan, and --write prints what starts it: leave out --in")
        if json:
            raise InputError(
                "--in is for tables. JSON has seconds and, where it is known what a step simulates, "
                "simulated_years_per_day and core_hours_per_simulated_year: leave out --in"
            )

    def days(self, found: float | None, layout: str | None = None, solvers: Iterable[str] = ()) -> float | None:
        """Return the days that a step simulates: what was typed, or `found`, what files and units of times tell.

        Factors in a layout may stand for several times as many days, or for iterations of the same days.
        """
        counts = {1.0} if layout is None or found is None else set(steps_in(layout, solvers).values())
        if self.step_days is None and found is not None and counts != {1.0}:
            raise InputError(_which_days(layout or "", found, counts))
        several = [] if found is None else [found * count for count in counts]
        is_several = self.step_days is not None and any(math.isclose(self.step_days, one) for one in several)
        days = self.step_days if is_several else days_of_step({"": [found]}, self.step_days)
        if self.show_in is not None and days is None:
            raise InputError(
                f"--in {self.show_in} needs to know how many days a step simulates: give --step-days, as 1 for times "
                "of a simulated day, or 0.0104167 for steps of 15 minutes"
            )
        return days


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

    def check(self, found: Measurements | None) -> None:
        """Refuse one ``MPI_COMM_WORLD`` for participants of preCICE, which have one each."""
        if found is not None and found.coupling is not None and self.write in ("slurm", "mpirun"):
            raise InputError(
                f"preCICE's participants have an MPI_COMM_WORLD of their own each, and --write {self.write} starts all "
                "programs in one: take --write precice, whose script runs in a job of Slurm or PBS"
            )

    def script(
        self, plan: Plan, learned: Learned, models: Mapping[str, ByCores | FastestWay], programs: dict[str, str]
    ) -> str | None:
        """Return the text that starts a plan, if it is asked for."""
        from evenly.allocation.start_script import start_script

        if self.write is None:
            return None
        found = learned.found
        kept = {} if found is None else found.cores_per_task
        if self.write == "cesm" and found is not None and found.placed and not set(models) <= set(found.threads):
            varied = ", ".join(name for name in models if name not in found.threads)
            raise InputError(
                f"the timing files have different threads ({varied}), so that those of the plan are open: give the "
                "files of one number of threads for each component"
            )
        each = {name: kept.get(name) or _of_task(model, plan, name) for name, model in models.items()}
        return start_script(plan, self.write, programs, each, {} if found is None else found.threads)


def _which_days(layout: str, found: float, counts: Collection[float]) -> str:
    """Ask what factors of a layout stand for, where times tell the days that they are of."""
    if len(counts) == 1:
        days = found * next(iter(counts))
        way = f"--step-days {days:g} says that a step of the coupled run simulates {days:g} days"
    else:
        way = "leave the factors out, since the times of all solvers are of the same days"
    return (
        f"the factors in --layout {shlex.quote(layout)} may count steps or iterations, and the times of the solvers "
        f"are of {found:g} simulated days: {way}; --step-days {found:g} says that the factors count iterations"
    )


def _of_task(model: ByCores | FastestWay, plan: Plan, name: str) -> int:
    from evenly.core_counts.by_cores import ByCores

    if isinstance(model, ByCores):
        return model.cores_of_task(plan.cores[name])
    return model.cores_of_task(plan.cores[name], plan.problem.curves[name].at)


def for_all(items: list[str], solvers: Iterable[str]) -> list[str]:
    """Spell out items without a name, which are for all solvers."""
    return [word for item in items for word in ([item] if "=" in item else [f"{s}={item}" for s in solvers])]


def _known(fields: dict[str, dict[str, Any]], name: str, option: str) -> dict[str, Any]:
    return fields[parsing.one_of(name, fields, f"the solver that {option} names")]
