"""Whole coupled runs (``--coupled``): a table with the cores of each solver, ``ifs_cores``, and the time of a step."""

from __future__ import annotations

import dataclasses
import json
import re
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any, Literal, NamedTuple

from evenly.cli.console import note
from evenly.cli.coupled_counts import rule_of_text
from evenly.cli.coupled_time import COST, StepOfSolvers, StepTime, step_time, times_by_cost
from evenly.cli.same_work import WORK
from evenly.errors import EvenlyError, InputError, ReadError, option_text
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.layout import Layout
    from evenly.allocation.problem.whole_runs import WholeRuns
    from evenly.cli.coupled_counts import CoresOfCounts
    from evenly.readers.tables.cell_files import Cells
    from evenly.readers.tables.roles import Column
    from evenly.readers.tables.values import Values

__all__ = ["Coupled", "chooses_coupled_runs", "counts_nodes", "of_layout", "read_coupled", "tell_unsure", "whole_runs"]

#: Dates that lie apart by so many times the time of a run aren't those of the run.
_OF_DATES = 10
#: The name of the layout of each run as a parameter.
_LAYOUT = "layout by rootpe"


class Coupled(NamedTuple):
    """Whole coupled runs of a table, the days of a step if it tells them, and the layout of each run if it does.

    `columns` are those with the numbers of cores, by solver; none if a table has numbers of something else. `threads`
    are those of each task, of solvers that have several.
    """

    runs: CoupledRuns
    days: float | None
    layouts: tuple[Layout, ...]
    columns: Mapping[str, str]
    threads: Mapping[str, int]


def whole_runs(
    coupled: Path, time: str | None, layout: str | None, *, unit: str | None = None, cores_are: str | None = None,
    where: str | None = None, cores_per_node: int | None = None, outliers: Literal["refuse", "keep"] = "refuse",
) -> tuple[WholeRuns, float | None, str, Mapping[str, int]]:  # fmt: skip
    """Return what whole coupled runs alone tell of their solvers, the days of a step if they tell them, and the layout.

    Last come the threads of each task, of solvers that have several: a task's cores can't be divided.

    Raises
    ------
    InputError
        If nothing tells the solvers and how they wait for each other, or as `read_coupled`.
    """
    from evenly.allocation.problem.layout import parse_layout
    from evenly.allocation.problem.lone_runs import LoneRunError
    from evenly.allocation.problem.whole_runs import learn_whole_runs

    tree = None if layout is None or layout.strip() in ("parallel", "serial") else parse_layout(layout)
    read = read_coupled(
        coupled, time, None if tree is None else tree.names, step=None, unit=unit, cores_are=cores_are,
        where=where, cores_per_node=cores_per_node, layout=layout, outliers=outliers,
    )  # fmt: skip
    runs, days, layouts = read.runs, read.days, read.layouts
    tree = _layout_of_plan(coupled, tree if layout is None or tree else parse_layout(layout, list(runs.cores)), layouts)
    try:
        found = learn_whole_runs(layouts or tree, runs)
    except LoneRunError as error:
        way = f". {_without(read, error.rows[0], where)} leaves it out" if read.columns else ""
        raise InputError(f"{error}{way}") from None
    note(f"curves are learned from {len(runs.seconds)} whole runs alone, as a · cores^-b, b nearly one for all solvers")
    tell_unsure([name for name, told in found.told.items() if not told])
    if read.threads:
        told = ", ".join(f"{name} {count}" for name, count in read.threads.items())
        note(f"cores are multiples of the threads of a task: {told}")
    return found, days, str(tree), read.threads


def _without(read: Coupled, row: int, where: str | None) -> str:
    """Return the option that leaves out a row, beside the one that was typed."""
    others = " or ".join(f"{quoted(column)} != {read.runs.cores[name][row]}" for name, column in read.columns.items())
    return option_text("--where", f"({where}) and ({others})" if where else others)


def _layout_of_plan(path: Path, given: Layout | None, layouts: Sequence[Layout]) -> Layout:
    """Return the layout of the plan, and say what the first tasks in the table tell of those of the runs."""
    from evenly.allocation.problem.layout import same_layout

    if given is None:
        others = [one for one in layouts if not same_layout(one, layouts[0])]
        if others:
            raise InputError(
                f"the runs of {path} have different layouts by rootpe, {layouts[0]} and {others[0]}: say with --layout "
                "which one the plan has, or choose runs with --where"
            )
        note(f"layout {layouts[0]}, from rootpe in {path.name}")
        return layouts[0]
    if others := [one for one in layouts if not same_layout(one, given)]:
        note(
            f"{len(others)} of {len(layouts)} runs of {path.name} have another layout by rootpe, as {others[0]}: "
            f"curves are learned from each run by its own, and the plan has {given}, by --layout"
        )
    return given


def of_layout(path: Path, found: Coupled, layout: str) -> CoupledRuns:
    """Return the runs that have the layout of the plan by their first tasks, and say how many don't."""
    import numpy as np

    from evenly.allocation.problem.layout import parse_layout, same_layout

    runs, plan = found.runs, parse_layout(layout, list(found.runs.cores))
    same = np.array([same_layout(one, plan) for one in found.layouts], dtype=np.bool_)
    if not found.layouts or same.all():
        return runs
    other = next(one for one in found.layouts if not same_layout(one, plan))
    if not same.any():
        raise InputError(
            f"the runs of {path} have another layout by rootpe, {other}, than the plan, {plan}: say with --layout what "
            "holds; if they are runs of the plan's layout, take the columns rootpe out"
        )
    note(f"{path.name}: {(~same).sum()} of {len(same)} runs have another layout by rootpe, {other}: left out")
    cores = {name: counts[same] for name, counts in runs.cores.items()}
    return dataclasses.replace(runs, cores=cores, seconds=runs.seconds[same])


def tell_unsure(solvers: Sequence[str]) -> None:
    """Say of which solvers the coupled runs tell too little."""
    if solvers:
        note(
            f"these runs don't tell the times of {', '.join(solvers)} apart from the others': their cores may be far "
            "from the best. Measure them, or vary their share of the cores"
        )


def read_coupled(
    path: Path,
    time: str | None,
    solvers: Sequence[str] | None,
    *,
    step: StepOfSolvers | None,
    known: Mapping[str, Any] = MappingProxyType({}),
    unit: str | None = None,
    cores_are: str | None = None,
    where: str | None = None,
    cores_per_node: int | None = None,
    layout: str | None = None,
    rules: Mapping[str, CoresOfCounts] = MappingProxyType({}),
    outliers: Literal["refuse", "keep"] = "refuse",
) -> Coupled:
    """Return the whole coupled runs of a table.

    Those that failed or were stopped are left out, and a note says so.

    Parameters
    ----------
    path : Path
    time : str, optional
        The column of the time; by default the only one, or SYPD where the solvers' times are of that.
    solvers : sequence of str, optional
        By default, the components whose first tasks the table tells.
    step : StepOfSolvers or None
        A step of the solvers; None if only whole runs are known.
    known : mapping of str to value
        What the solvers are planned for, as their grid: runs of another are left out.
    unit : str, optional
        The unit of the time.
    cores_are : str, optional
        How many cores nodes have, where the table has the nodes of each solver: ``"nodes * 48"``.
    where : str, optional
        The condition for the rows that count.
    cores_per_node : int, optional
        Cores of a node, where the table has the nodes of each solver; negative tasks are whole nodes, too.
    layout : str, optional
        How solvers share cores, where the table doesn't tell it: it is needed for core-hours only.
    rules : mapping of str to CoresOfCounts
        What makes the cores of each solver, where its own runs tell it; by default, `cores_are`.
    outliers : {"refuse", "keep"}
        What becomes of a run that is far off the others.

    Raises
    ------
    InputError
        If a solver has no column of cores, the time isn't known, or the runs differ in more than their cores.
    """
    from evenly.allocation.problem.coupled_runs import MUCH, CoupledRuns
    from evenly.allocation.problem.layout import parse_layout
    from evenly.cli.task_columns import all_placed, placed_tasks
    from evenly.readers.tables.cell_files import plain_cells, read_cells
    from evenly.readers.tables.chsy import TIME_NAME
    from evenly.readers.tables.options import TableOptions
    from evenly.readers.tables.table import TableReader
    from evenly.readers.tables.values import Values
    from evenly.runs.runs import Runs

    try:
        raw = read_cells(path)
        if isinstance(raw, Runs):
            raise InputError(f"{path} holds runs that evenly wrote: --coupled needs a table of whole coupled runs")
        table = plain_cells(raw, TableOptions())
        raw, table = _chosen(path, raw, table, [where, _of_the_plan(path, table, known)])
        values = Values(TableOptions(), path, table.frame, table.lines)
        names = all_placed(values) if solvers is None else solvers
        if not names:
            raise InputError(
                "whole coupled runs alone don't tell who waits for whom: name the solvers with --layout, as in "
                "--layout 'max(ice + atm, ocn)', or give PATH, the times of each solver"
            )
        columns, factor = _columns_of_cores(values, names, cores_are, cores_per_node)
        told = step_time(path, table, time, names, step=step, unit=unit)
        if time is None:
            _check_lengths(values, told, step)
        tasks = placed_tasks(columns, values, cores_per_node, rules or _same_for_all(values, columns, cores_are))
        known_layouts = list(dict.fromkeys(tasks.layouts))
        made = {
            columns[name]: [str(count) for count in found]
            for name, found in tasks.cores.items()
            if (found != values.numbers(columns[name])).any()
        }
        made |= {_LAYOUT: [str(known_layouts.index(one)) for one in tasks.layouts]} if tasks.layouts else {}
        parameters = list(dict.fromkeys([*columns.values(), *made, *filter(None, [told.counted])]))
        if told.unit == COST:
            all_cores = {name: factor * its for name, its in tasks.cores.items()}
            shared = tasks.layouts or [layout or "parallel"] * len(table.frame)
            made[TIME_NAME] = times_by_cost(values, told.column, all_cores, shared)
            told = dataclasses.replace(told, column=TIME_NAME, unit="s")
        reader = TableReader(parameters=parameters, time=told.column, unit=told.unit)
        (runs,) = reader.read_changed(path, _with_columns(raw, table.lines, made, tasks.used)).values()
        settled = {name_key(name) for name in (*known, *tasks.used, _LAYOUT, told.counted)}
        others = [one for one in reader.columns if name_key(one.name) not in settled]
        _check_one_setting(path, others, table, list(columns.values()), rate=told.unit == "SYPD")
        for text in reader.notes:
            note(f"{path.name}: {text}")
        good = runs.ok
        frame = good.to_frame()
        cores = {name: factor * frame[column].to_numpy(dtype="int64") for name, column in columns.items()}
        layouts = tuple(parse_layout(known_layouts[int(at)]) for at in frame[_LAYOUT]) if tasks.layouts else ()
        most = MUCH if step is None or step.in_coupled is None else float("inf")
        steps = told.steps_of(frame[told.counted]) if told.counted else told.steps
        coupled = CoupledRuns(cores, good.values / steps, most_apart=most, outliers=outliers)
        as_written = factor == 1 and not set(made) & set(columns.values())
        return Coupled(coupled, told.days, layouts, columns if as_written else {}, tasks.threads)
    except ReadError as error:
        raise InputError(f"--coupled: {error}") from None


def chooses_coupled_runs(where: str | None, paths: Sequence[Path], coupled: Path | None) -> bool:
    """Tell whether a condition is about columns that the table of coupled runs has, and no other table.

    Examples
    --------
    >>> chooses_coupled_runs(None, [], Path("coupled.csv"))
    False
    """
    from evenly.space.expressions import Expression

    if where is None or coupled is None:
        return False
    names = set(Expression(where).names)
    files = [file for path in paths for file in (path.rglob("*") if path.is_dir() else [path])]
    return names <= _columns(coupled) and not any(names & _columns(file) for file in files)


def _columns(path: Path) -> set[str]:
    """Return the columns of a table; none of another file."""
    from evenly.readers.tables.cell_files import may_hold_table, plain_cells, read_cells
    from evenly.readers.tables.options import TableOptions
    from evenly.runs.runs import Runs

    try:
        raw = read_cells(path) if may_hold_table(path) else None
        if raw is None or isinstance(raw, Runs):
            return set() if raw is None else {*raw.parameters, *raw.quantities}
        return set(map(str, plain_cells(raw, TableOptions()).frame))
    except EvenlyError:  # several tables, say: each is told when it is read
        return set()


def _ask_about_dates(values: Values, time: str, seconds: NDArray[np.float64]) -> None:
    """Ask about starts and ends that lie days apart where runs took much less: those of the simulation, perhaps."""
    import numpy as np

    from evenly.readers.tables.clock_times import between
    from evenly.runs.units import SECONDS_PER_DAY

    found = between({name: values.texts(name) for name in map(str, values.cells)})
    if found is None or not (found.seconds > np.maximum(_OF_DATES * seconds, SECONDS_PER_DAY)).all():
        return
    days = found.seconds[0] / SECONDS_PER_DAY
    raise InputError(
        f"the starts and ends in {values.path} lie {days:g} days apart, and {time!r} is far less: if they are those of "
        "the simulation, write the days of each run into a column 'simulated_days'; if not, take them out"
    )


def _check_lengths(values: Values, told: StepTime, step: StepOfSolvers | None) -> None:
    """Refuse a time and a rate that contradict each other, or the days of runs, whichever of both is taken."""
    from evenly.readers.tables.columns import time_candidates
    from evenly.readers.tables.simulated_rates import rate_beside
    from evenly.runs.units import SECONDS_PER

    is_time = told.unit in SECONDS_PER
    timed = [(one.column, one.unit) for one in time_candidates(list(map(str, values.cells)))]
    timed = [(told.column, told.unit)] if is_time else [one for one in timed if one[1] in SECONDS_PER]
    if len(timed) == 1 and timed[0][0] in values.cells:
        ((column, unit),) = timed
        seconds = values.seconds(column, unit)
    elif not is_time and told.column in values.cells:
        column, seconds = told.column, values.numbers(told.column)
    else:
        return
    beside = rate_beside(values, column, seconds, seconds > 0)
    if beside is not None and is_time:
        beside.refuse_other_lengths(option="--coupled-time")
    elif beside is not None and beside.rate == told.column:
        beside.refuse_other_days(option="--coupled-time")
        if said := beside.said_of_few():
            note(f"{values.path.name}: {said}")
    if beside is not None and (said := beside.said_of_days(told.counted if is_time and told.counted else told.column)):
        note(f"{values.path.name}: {said}")
    if is_time and told.days is None and not told.counted and (step is None or step.in_coupled is None):
        _ask_about_dates(values, column, seconds)


def _chosen(path: Path, raw: Cells, table: Cells, conditions: Iterable[str | None]) -> tuple[Cells, Cells]:
    """Return the rows for which conditions hold, as they stand in the file and as they are read."""
    import numpy as np

    from evenly.readers.tables.options import TableOptions
    from evenly.readers.tables.values import Values
    from evenly.space.expressions import Expression

    for condition in filter(None, conditions):
        held = Values(TableOptions(), path, table.frame, table.lines).holding(Expression(condition))
        rest = ~np.isin(raw.lines, table.lines[~held])
        raw, table = (
            dataclasses.replace(one, frame=one.frame[rows].reset_index(drop=True), lines=one.lines[rows])
            for one, rows in ((raw, rest), (table, held))
        )
    return raw, table


def _with_columns(
    raw: Cells, lines: NDArray[np.int64], columns: Mapping[str, Sequence[str]], without: Sequence[str]
) -> Cells:
    """Return cells with other texts in columns, in rows with these lines, and without other columns."""
    frame = raw.frame.drop(columns=[name for name in without if name in raw.frame])
    for name, texts in columns.items():
        told = dict(zip(lines.tolist(), texts, strict=True))
        old = frame[name] if name in frame else [""] * len(frame)
        frame = frame.assign(
            **{name: [told.get(line, text) for line, text in zip(raw.lines.tolist(), old, strict=True)]}
        )
    return dataclasses.replace(raw, frame=frame)


def _of_the_plan(path: Path, table: Cells, known: Mapping[str, Any]) -> str | None:
    """Return the condition for the runs of what is planned for; None if the table doesn't tell.

    Times of other days are no other runs: they are divided by the days.

    Raises
    ------
    InputError
        If all its runs are of something else.
    """
    from evenly.readers.tables.lone_work import days_in

    keys = {name_key(name): value for name, value in known.items() if days_in(name, value) is None}
    conditions = []
    for name in map(str, table.frame):
        if name_key(name) not in keys:
            continue
        value, texts = keys[name_key(name)], set(table.frame[name])
        if texts == {str(value)}:
            continue
        if str(value) not in texts:
            raise InputError(
                f"the coupled runs of {path} are of {name} = {', '.join(sorted(texts)[:3])}, but the plan is for "
                f"{name} = {value}: give coupled runs of that"
            )
        conditions.append(f"{quoted(name)} == {value if isinstance(value, int | float) else json.dumps(str(value))}")
        note(f"{path.name}: only runs with {name} = {value}, as in the plan")
    return " and ".join(conditions) or None


def _columns_of_cores(
    values: Values, solvers: Sequence[str], cores_are: str | None, cores_per_node: int | None
) -> tuple[dict[str, str], int]:
    """Return the column with the cores, or tasks, of each solver, and how many cores each of what it counts has.

    The column's name is the solver's, and a word for cores, ranks or nodes before or behind it.
    """
    from evenly.cli.task_columns import counts_of

    found: dict[str, str] = {}
    nodes = {
        solver: column for solver in solvers for column, kind in counts_of(solver, values).items() if kind == "nodes"
    }
    for solver in solvers:
        columns = counts_of(solver, values)
        counted = {kind: column for column, kind in reversed(columns.items()) if kind in ("cores", "ranks")}
        if not counted and len(nodes) == len(solvers):
            return nodes, _cores_of_node(values.path, list(nodes.values()), cores_are, cores_per_node)
        if not counted:
            raise InputError(
                f"--coupled needs the cores of each solver in a column, as {solver}_cores, but {values.path} has "
                f"{', '.join(map(str, values.cells))}"
            )
        found[solver] = counted.get("cores") or counted["ranks"]
    return found, 1


def _same_for_all(values: Values, columns: Mapping[str, str], cores_are: str | None) -> dict[str, CoresOfCounts]:
    """Return what makes the cores of solvers that have no runs of their own; refuse it where nothing counts ranks."""
    from evenly.cli.task_columns import counts_of

    rule = rule_of_text(cores_are)
    if rule is not None and all(counts_of(name, values)[column] != "ranks" for name, column in columns.items()):
        raise InputError(
            f"--cores-are {cores_are!r} is about ranks, but {values.path} has {', '.join(columns.values())}: leave "
            "--cores-are out"
        )
    return {} if rule is None else dict.fromkeys(columns, rule)


def _cores_of_node(path: Path, columns: Sequence[str], cores_are: str | None, cores_per_node: int | None) -> int:
    """Return how many cores a node has: by ``--cores-are``, as ``nodes * 48``, or else by ``--cores-per-node``.

    With ``--cores-are nodes`` it is 1: nodes are then planned.
    """
    from evenly.space.expressions import Expression

    if cores_are is None and cores_per_node is not None:
        return cores_per_node
    if cores_are is None or not counts_nodes(cores_are):
        raise InputError(
            f"{path} has {', '.join(columns)}: say with --cores-are 'nodes * 48', or --cores-per-node 48, with the "
            "cores of your nodes for 48, how many cores these are"
        )
    return int(Expression(cores_are)(dict.fromkeys(Expression(cores_are).names, 1)))


def counts_nodes(cores_are: str) -> bool:
    """Tell whether what the cores are is made of a number of nodes only."""
    from evenly.space.expressions import Expression

    return {kind_of(name) for name in Expression(cores_are).names} == {"nodes"}


def _check_one_setting(
    path: Path, columns: Sequence[Column], table: Cells, cores: Sequence[str], *, rate: bool
) -> None:
    """Refuse runs of several settings: of another grid or machine, or of more steps than others."""
    for column in columns:
        if column.name not in table.frame or column.name in cores or column.role == "time":
            continue
        texts = table.frame[column.name]
        if column.role in ("identifier", "left out") and (kinds := _kinds(texts)):
            note(f"{path.name}: {column.name} names runs of {', '.join(kinds)}: all are taken as alike")
        labels = column.why == "its labels vary" or (column.role == "identifier" and name_key(column.name) == "machine")
        works = not rate and time_of_work(column.name) is None and set(name_key(column.name).split("_")) & WORK
        if texts.nunique() < 2 or not (labels or works) or _are_tied(table, column.name, cores):
            continue
        told = ", ".join(map(str, texts.unique()[:3]))
        why = "their times are of different work" if works else "one plan can't hold for all"
        value = str(texts.iloc[0])
        first = option_text("--where", f"{quoted(column.name)} == {value if value.isdecimal() else json.dumps(value)}")
        raise InputError(
            f"the coupled runs of {path} differ in {column.name!r} ({told}{' …' if texts.nunique() > 3 else ''}), so "
            f"{why}: choose one, as {first}; if it doesn't matter, take the column out"
        )


def _kinds(labels: Iterable[object]) -> list[str]:
    """Return what labels tell without numbers of runs, if it is the same in several runs each, but not in all.

    Examples
    --------
    >>> _kinds(["T255-ORCA1_0", "T511-ORCA025_1", "T255-ORCA1_2", "T511-ORCA025_3"]), _kinds(["run_1", "run_2"])
    (['T255 ORCA1', 'T511 ORCA025'], [])
    """
    words = (re.split(r"[\s_\-.]+", str(label)) for label in labels)
    found = Counter(" ".join(word for word in its if not word.isdecimal()) for its in words)
    return list(found) if len(found) > 1 and min(found.values()) > 1 and all(found) else []


def _are_tied(table: Cells, name: str, cores: Sequence[str]) -> bool:
    """Tell whether a column only names the cores: each of its values stands beside one number of a solver's cores."""
    pairs = {other: len(table.frame[[name, other]].drop_duplicates()) for other in cores}
    counts = {column: table.frame[column].nunique() for column in (name, *cores)}
    return any(pairs[other] == counts[name] == counts[other] for other in cores)
