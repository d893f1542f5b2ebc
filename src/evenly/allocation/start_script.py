"""How a plan is started: a job script of Slurm, a line of mpirun, a script for preCICE, or CESM's own settings.

Programs of one coupled run share ``MPI_COMM_WORLD``, as OASIS expects it: ``srun`` and ``mpirun`` start them together.
preCICE's participants have worlds of their own, so each has an ``mpirun`` of its own, on cores of its own.
"""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import TYPE_CHECKING, Literal, get_args

from evenly.allocation.problem.noise import WIDE
from evenly.errors import InputError, did_you_mean
from evenly.runs.units import step_name

if TYPE_CHECKING:
    from evenly.allocation.plan import Plan

__all__ = ["Start", "start_script"]

Start = Literal["slurm", "mpirun", "precice", "cesm"]

#: What a shell would do with a command; launchers start programs without one.
_SHELL = re.compile(r"[|&;<>$`\n]|^\s*cd\s")
_LAUNCHERS = ("mpirun", "mpiexec", "srun", "orterun")
#: Starts one participant on the next cores, and ends all if one fails.
_PRECICE = """\
set -eu
hosts=$(mktemp -d)
trap 'kill $(jobs -p) 2> /dev/null || true; rm -rf "$hosts"' EXIT
if [ -n "${SLURM_JOB_ID:-}" ]; then
    srun hostname | sort > "$hosts/all"
elif [ -n "${PBS_NODEFILE:-}" ]; then
    sort "$PBS_NODEFILE" > "$hosts/all"
else
    for _ in $(seq TASKS); do hostname; done > "$hosts/all"
fi
[ "$(wc -l < "$hosts/all")" -ge TASKS ] || { echo "this job has fewer than TASKS tasks" >&2; exit 1; }
"""
#: Components of CESM and E3SM.
_COMPONENTS = ("atm", "lnd", "ice", "ocn", "cpl", "glc", "rof", "wav", "iac", "esp")
#: Starts one participant in each part of a job of Slurm, and ends all if one fails.
_IN_PARTS = """\
set -eu
trap 'kill $(jobs -p) 2> /dev/null || true' EXIT
[ -n "${SLURM_JOB_ID:-}" ] || { echo "threads differ, so this must be a job of Slurm: sbatch" >&2; exit 1; }
"""


def start_script(
    plan: Plan,
    start: Start,
    programs: Mapping[str, str] | None = None,
    cores_per_task: Mapping[str, int] | None = None,
    threads: Mapping[str, int] | None = None,
) -> str:
    r"""Return the text that starts a plan.

    Parameters
    ----------
    plan : Plan
        From `evenly.allocate`.
    start : {"slurm", "mpirun", "precice", "cesm"}
        A job script of Slurm, a line for Open MPI or MPICH, a script that starts preCICE's participants, or lines of
        CESM's ``xmlchange``.
    programs : mapping of str to str, optional
        The command of each solver, as a shell takes it; not for ``"cesm"``.
    cores_per_task : mapping of str to int, optional
        Cores of each task, by solver; by default one.
    threads : mapping of str to int, optional
        Threads of each task, by solver; by default one on each core.

    Raises
    ------
    InputError
        If the plan is a guess. If a command is missing, or is more than one program. If a solver's cores are no
        multiple of those of a task. If programs would have to share cores.

    Examples
    --------
    >>> import evenly
    >>> plan = evenly.allocate({"inner": lambda p: 60 / p, "outer": lambda p: 30 / p}, cores=90)
    >>> print(start_script(plan, "mpirun", {"inner": "./inner case.xml", "outer": "./outer"}))
    # evenly allocate: inner 60 cores, outer 30 cores; a step takes 1 s
    mpirun -n 60 ./inner case.xml : -n 30 ./outer
    """
    if start not in get_args(Start):
        raise InputError(f"start must be one of {', '.join(get_args(Start))}, but got {start!r}")
    if plan.is_guess:
        raise InputError(
            f"the plan is a guess, which isn't written: {'; '.join(plan.extrapolated)}, and the time of a "
            f"{step_name(plan.step_days)} is uncertain by more than a factor of {WIDE:g}: keep the solvers to counts "
            "near the measured ones (--min, --max), or measure there"
        )
    each = {name: (cores_per_task or {}).get(name, 1) for name in plan.cores}
    for name, cores in plan.cores.items():
        if cores % each[name]:
            raise InputError(
                f"{name} has {cores} cores, which is no multiple of the {each[name]} cores of its tasks: limit it to "
                f"multiples (--multiple {name}={each[name]})"
            )
    tasks = {name: cores // each[name] for name, cores in plan.cores.items()}
    said = [f"evenly allocate: {_listed(plan)}; a {step_name(plan.step_days)} takes {_time(plan)}", *plan.extrapolated]
    head = "\n".join(f"# {' '.join(line.split())}" for line in said)
    if start == "cesm":
        given = {name: count for name, count in (threads or {}).items() if name in each}
        return "\n".join([head, *_cesm(plan, tasks, each | given, is_placed=bool(given))])
    commands = _commands(plan, programs or {}, each)
    _check_apart(plan)
    if start == "mpirun":
        return f"{head}\n{_mpirun(tasks, each, commands)}"
    shell = ["#!/bin/bash", head]
    if start == "slurm":
        return "\n".join([*shell, *_slurm(plan, tasks, each, commands)])
    return "\n".join([*shell, *_precice(plan, tasks, each, commands)])


def _time(plan: Plan) -> str:
    """Return the time of a step, and the simulated years per day where it is known what it simulates."""
    seconds = plan.expected_seconds
    time = f"{seconds / 3600:.4g} h" if seconds > 3600 else f"{seconds:.4g} s"
    return time if plan.sypd is None else f"{time}, {plan.sypd:.4g} SYPD"


def _listed(plan: Plan) -> str:
    """Return the cores of each solver, in one line whatever the names hold."""
    return ", ".join(f"{' '.join(name.split())} {n} core{'s' * (n != 1)}" for name, n in plan.cores.items())


def _commands(plan: Plan, programs: Mapping[str, str], threads: Mapping[str, int]) -> dict[str, str]:
    """Return the command of each solver, with its threads."""
    if strange := [name for name in programs if name not in plan.cores]:
        hint = did_you_mean(strange[0], plan.cores)
        raise InputError(f"a program is given for {strange[0]!r}, but the solvers are {', '.join(plan.cores)}{hint}")
    if missing := [name for name in plan.cores if not programs.get(name, "").strip()]:
        raise InputError(
            f"the program of {missing[0]} isn't known: give the command that starts it, without mpirun, as in "
            f"--program '{missing[0]}=./{missing[0]} input'"
        )
    for name, command in programs.items():
        first = command.split()[0]
        if _SHELL.search(command) or first in _LAUNCHERS:
            raise InputError(
                f"the program of {name} must be one command with its arguments, which the launcher starts, but got "
                f"{command!r}: put cd, pipes and variables into a script and name that"
                + (f"; leave out {first}" if first in _LAUNCHERS else "")
            )
    return {
        name: programs[name] if threads[name] == 1 else f"env OMP_NUM_THREADS={threads[name]} {programs[name]}"
        for name in plan.cores
    }


def _check_apart(plan: Plan) -> None:
    """Refuse solvers that take turns on the same cores: those are parts of one program."""
    places = plan.problem.footprint.places(plan.cores)
    ends = {name: (first, first + plan.cores[name]) for name, first in places.items()}
    for name, (first, last) in ends.items():
        for other, (begin, end) in ends.items():
            if name < other and first < end and begin < last:
                raise InputError(
                    f"{name} and {other} take turns on the same cores, so they are parts of one program, which places "
                    "them itself; --write cesm prints their tasks for CESM"
                )


def _resources(plan: Plan, tasks: int, threads: int) -> str:
    """Return what a job, or a part of one, asks Slurm for; on whole nodes where their cores are known."""
    asked = f"--ntasks={tasks}" + (f" --cpus-per-task={threads}" if threads > 1 else "")
    node = plan.machine.cores_per_node
    if node is None:
        return asked
    nodes = math.ceil(tasks / max(1, node // threads))
    each = f" --ntasks-per-node={tasks // nodes}" if tasks % nodes == 0 else ""
    return f"--nodes={nodes} {asked}{each}{' --exclusive' if plan.machine.whole_nodes else ''}"


def _mpirun(tasks: Mapping[str, int], threads: Mapping[str, int], commands: Mapping[str, str]) -> str:
    """Return the line that starts all programs together; each task is bound to the cores of its threads."""
    most = max(threads.values())
    if set(threads.values()) != {most}:
        raise InputError(
            f"the tasks of {', '.join(threads)} have different numbers of threads, which one line of mpirun can't bind "
            "to cores of their own: --write slurm has a part for each"
        )
    bound = f"--map-by slot:PE={most} " if most > 1 else ""
    return f"mpirun {bound}{' : '.join(f'-n {tasks[name]} {command}' for name, command in commands.items())}"


def _slurm(plan: Plan, tasks: Mapping[str, int], threads: Mapping[str, int], commands: Mapping[str, str]) -> list[str]:
    """Return the lines that start all programs as one step; as a job of several parts where threads differ.

    Slurm gives the parts of such a heterogeneous job nodes of their own, and starts them when all are free.
    """
    if len(set(threads.values())) > 1:
        return [_parts(plan, tasks, threads), f"srun {' : '.join(_steps(tasks, threads, commands))}"]
    if filled := next((name for name, command in commands.items() if "%" in command), None):
        raise InputError(
            f"srun would put numbers of tasks in place of % in the program of {filled}, {commands[filled]!r}: put the "
            "command into a script and name that"
        )
    each, total = next(iter(threads.values())), sum(tasks.values())
    last, rows = -1, []
    for name, command in commands.items():
        first, last = last + 1, last + tasks[name]
        rows.append(f"{first}-{last} {command}" if last > first else f"{first} {command}")
    more = f" --cpus-per-task={each}" if each > 1 else ""
    return [
        f"#SBATCH {_resources(plan, total, each)}",
        "programs=$(mktemp)",
        "cat > \"$programs\" << 'END'",
        *rows,
        "END",
        f'srun --ntasks={total}{more} --multi-prog "$programs"',
    ]


def _parts(plan: Plan, tasks: Mapping[str, int], threads: Mapping[str, int]) -> str:
    """Return what the parts of a heterogeneous job ask for; say it where they need more nodes than one part would."""
    asked = "\n#SBATCH hetjob\n".join(f"#SBATCH {_resources(plan, tasks[name], threads[name])}" for name in tasks)
    return f"{_more_nodes(plan, tasks, threads)}{asked}"


def _more_nodes(plan: Plan, tasks: Mapping[str, int], threads: Mapping[str, int]) -> str:
    """Return a comment on nodes that parts of a job can't share; "" if that makes no difference."""
    node = plan.machine.cores_per_node
    if node is None:
        return ""
    asked = sum(math.ceil(tasks[name] / max(1, node // threads[name])) for name in tasks)
    fewest = math.ceil(sum(tasks[name] * threads[name] for name in tasks) / node)
    return f"# parts have nodes of their own: {asked} nodes, and not {fewest}\n" if asked > fewest else ""


def _steps(tasks: Mapping[str, int], threads: Mapping[str, int], commands: Mapping[str, str]) -> list[str]:
    """Return what srun takes for each program, in a part of the job of its own."""
    return [
        f"--het-group={at} --ntasks={tasks[name]} --cpus-per-task={threads[name]} {command}"
        for at, (name, command) in enumerate(commands.items())
    ]


def _precice(
    plan: Plan, tasks: Mapping[str, int], threads: Mapping[str, int], commands: Mapping[str, str]
) -> list[str]:
    """Return the lines that give each participant the next tasks' hosts, and start it there.

    Where threads differ, each has a part of a job of Slurm, and a step of its own there.
    """
    if len(set(threads.values())) > 1:
        starts = (f"srun {step} &" for step in _steps(tasks, threads, commands))
        return [_parts(plan, tasks, threads), *_IN_PARTS.splitlines(), *starts, *("wait -n" for _ in commands)]
    most, total = max(threads.values()), sum(tasks.values())
    lines = [f"#SBATCH {_resources(plan, total, most)}", *_PRECICE.replace("TASKS", str(total)).splitlines()]
    first = 1
    for at, (name, command) in enumerate(commands.items()):
        last = first + tasks[name] - 1
        lines.append(f'sed -n "{first},{last}p" "$hosts/all" > "$hosts/{at}"  # {" ".join(name.split())}')
        # Each mpirun would bind its ranks to the first cores of a node.
        lines.append(f'mpirun --bind-to none -n {tasks[name]} --hostfile "$hosts/{at}" {command} &')
        first = last + 1
    return [*lines, *("wait -n" for _ in commands)]


def _cesm(plan: Plan, tasks: Mapping[str, int], threads: Mapping[str, int], *, is_placed: bool) -> list[str]:
    """Return the lines that set tasks, threads and the first task of each component.

    By itself, CIME keeps as many cores for each task as the most threads of all; `is_placed`: runs tell the cores.
    """
    if odd := [name for name in tasks if name.lower() not in _COMPONENTS]:
        raise InputError(f"{odd[0]!r} is no component of CESM by its name: --write cesm is for plans of timing files")
    first = plan.problem.footprint.places(tasks)
    last = max(first[name] + tasks[name] for name in tasks)
    used = [max((threads[n] for n in tasks if first[n] <= at < first[n] + tasks[n]), default=1) for at in range(last)]
    needed, why = sum(used), "components that share tasks have different threads"
    if not is_placed and len(set(threads.values())) > 1:
        most = max(threads.values())
        needed, why = last * most, f"threads differ, and CIME then keeps {most} cores for each of {last} tasks"
    if needed > plan.total:
        raise InputError(
            f"{why}, so that the plan needs {needed} cores and not {plan.total}: give all components the same threads "
            "(--at threads=2), or fewer tasks to those with fewer threads (--max)"
        )
    others = f"# other components keep their tasks: these must lie within the first {last}"
    return [
        others,
        *(
            f"./xmlchange NTASKS_{name.upper()}={tasks[name]},NTHRDS_{name.upper()}={threads[name]},"
            f"ROOTPE_{name.upper()}={first[name]},PSTRID_{name.upper()}=1"
            for name in tasks
        ),
    ]
