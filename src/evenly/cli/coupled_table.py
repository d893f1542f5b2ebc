"""Whole coupled runs (``--coupled``): a table with the cores of each solver, ``ifs_cores``, and the time of a step."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from pathlib import Path
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from evenly.cli.console import note
from evenly.cli.coupled_time import step_time
from evenly.cli.same_work import WORK
from evenly.errors import InputError, ReadError
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of
from evenly.space.expressions import quoted

if TYPE_CHECKING:
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.allocation.problem.whole_runs import WholeRuns
    from evenly.readers.tables.cell_files import Cells
    from evenly.readers.tables.roles import Column
    from evenly.readers.tables.values import Values

__all__ = ["counts_nodes", "read_coupled", "tell_unsure", "whole_runs"]


def whole_runs(
    coupled: Path, time: str | None, layout: str | None, *, unit: str | None = None, cores_are: str | None = None
) -> tuple[WholeRuns, float | None]:
    """Return what whole coupled runs alone tell of the solvers of a layout, and the days of a step if they tell them.

    Raises
    ------
    InputError
        If the layout doesn't name the solvers, or as `read_coupled`.
    """
    from evenly.allocation.problem.layout import parse_layout
    from evenly.allocation.problem.whole_runs import learn_whole_runs

    if layout is None or layout.strip() in ("parallel", "serial"):
        raise InputError(
            "whole coupled runs alone don't tell who waits for whom: name the solvers with --layout, as in --layout "
            "'max(ice + atm, ocn)', or give PATH, the times of each solver"
        )
    tree = parse_layout(layout)
    solvers = list(tree.names)
    runs, days = read_coupled(coupled, time, solvers, simulated_years=None, unit=unit, cores_are=cores_are)
    found = learn_whole_runs(tree, runs)
    note(f"curves are learned from {len(runs.seconds)} whole runs alone, as a · cores^-b, b nearly one for all solvers")
    tell_unsure([name for name, told in found.told.items() if not told])
    return found, days


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
    solvers: Sequence[str],
    *,
    simulated_years: bool | None,
    known: Mapping[str, Any] = MappingProxyType({}),
    unit: str | None = None,
    cores_are: str | None = None,
    step_days: float | None = None,
) -> tuple[CoupledRuns, float | None]:
    """Return the whole coupled runs of a table, and the days of a step if it tells them.

    Those that failed or were stopped are left out, and a note says so.

    Parameters
    ----------
    path : Path
    time : str, optional
        The column of the time; by default the only one, or SYPD where the solvers' times are of that.
    solvers : sequence of str
    simulated_years : bool or None
        Whether a step of the solvers is a simulated year; None if only whole runs are known.
    known : mapping of str to value
        What the solvers are planned for, as their grid: runs of another are left out.
    unit : str, optional
        The unit of the time.
    cores_are : str, optional
        How many cores nodes have, where the table has the nodes of each solver: ``"nodes * 48"``.
    step_days : float, optional
        Days that a step simulates.

    Raises
    ------
    InputError
        If a solver has no column of cores, the time isn't known, or the runs differ in more than their cores.
    """
    from evenly.allocation.problem.coupled_runs import CoupledRuns
    from evenly.readers.tables.cell_files import plain_cells, read_cells
    from evenly.readers.tables.options import TableOptions
    from evenly.readers.tables.table import TableReader
    from evenly.readers.tables.values import Values
    from evenly.runs.runs import Runs

    try:
        table = read_cells(path)
        if isinstance(table, Runs):
            raise InputError(f"{path} holds runs that evenly wrote: --coupled needs a table of whole coupled runs")
        table = plain_cells(table, TableOptions())
        where = _of_the_plan(path, table, known)
        cores, factor = _columns_of_cores(path, table, solvers, cores_are)
        step = step_time(path, table, time, solvers, simulated_years=simulated_years, unit=unit, step_days=step_days)
        values = Values(TableOptions(), path, table.frame, table.lines)
        for name in cores.values():
            _check_whole(values, name)
        reader = TableReader(parameters=list(cores.values()), time=step.column, unit=step.unit, where=where)
        (runs,) = reader.read(path).values()
        settled = {name_key(name) for name in known}
        columns = [one for one in reader.columns if name_key(one.name) not in settled]
        _check_one_setting(path, columns, table, list(cores.values()), rate=step.unit == "SYPD")
        for text in reader.notes:
            note(f"{path.name}: {text}")
        good = runs.ok
        counts = factor * good.to_frame()[list(cores.values())].to_numpy(dtype="int64")
        return CoupledRuns(dict(zip(cores, counts.T, strict=True)), good.values / step.steps), step.days
    except ReadError as error:
        beside = (
            "; --where reads PATH, not the table of --coupled: take the row out there"
            if "--where" in str(error)
            else ""
        )
        raise InputError(f"--coupled: {error}{beside}") from None


def _of_the_plan(path: Path, table: Cells, known: Mapping[str, Any]) -> str | None:
    """Return the condition for the runs of what is planned for; None if the table doesn't tell.

    Raises
    ------
    InputError
        If all its runs are of something else.
    """
    keys = {name_key(name): value for name, value in known.items()}
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
    path: Path, table: Cells, solvers: Sequence[str], cores_are: str | None
) -> tuple[dict[str, str], int]:
    """Return the column with the cores of each solver, and how many cores each of what it counts has.

    The column's name is the solver's, and a word for cores, ranks or nodes before or behind it.
    """
    found: dict[str, str] = {}
    nodes = {
        solver: column for solver in solvers for column, kind in _columns_of(solver, table).items() if kind == "nodes"
    }
    for solver in solvers:
        columns = _columns_of(solver, table)
        counted = {kind: column for column, kind in reversed(columns.items()) if kind in ("cores", "ranks")}
        if not counted and len(nodes) == len(solvers):
            return nodes, _cores_of_node(path, list(nodes.values()), cores_are)
        if not counted:
            raise InputError(
                f"--coupled needs the cores of each solver in a column, as {solver}_cores, but {path} has "
                f"{', '.join(map(str, table.frame))}"
            )
        found[solver] = counted.get("cores") or counted["ranks"]
        threads = [column for column, kind in columns.items() if kind == "per rank"]
        if "cores" not in counted and any(set(table.frame[column]) - {"", "1"} for column in threads):
            raise InputError(
                f"the cores of {solver} are {found[solver]} times {threads[0]} in {path}: give them in a column "
                f"{solver}_cores"
            )
    return found, 1


def _cores_of_node(path: Path, columns: Sequence[str], cores_are: str | None) -> int:
    """Return how many cores a node has, by ``--cores-are``: ``nodes * 48``; 1 for ``nodes``, which are then planned."""
    from evenly.space.expressions import Expression

    if cores_are is None or not counts_nodes(cores_are):
        raise InputError(
            f"{path} has {', '.join(columns)}: say with --cores-are 'nodes * 48', with the cores of your nodes for 48, "
            "how many cores these are"
        )
    return int(Expression(cores_are)(dict.fromkeys(Expression(cores_are).names, 1)))


def counts_nodes(cores_are: str) -> bool:
    """Tell whether what the cores are is made of a number of nodes only."""
    from evenly.space.expressions import Expression

    return {kind_of(name) for name in Expression(cores_are).names} == {"nodes"}


def _columns_of(solver: str, table: Cells) -> dict[str, str]:
    """Return the columns that count something of a solver, and of what kind that is: ``"cores"``, ``"ranks"``."""
    key, found = name_key(solver), {}
    for name in map(str, table.frame):
        its = name_key(name)
        rest = its.removeprefix(f"{key}_") if its.startswith(f"{key}_") else its.removesuffix(f"_{key}")
        if rest != its and (kind := kind_of(rest)):
            found[name] = kind
    return found


def _check_one_setting(
    path: Path, columns: Sequence[Column], table: Cells, cores: Sequence[str], *, rate: bool
) -> None:
    """Refuse runs of several settings: of another grid or machine, or of more steps than others."""
    for column in columns:
        if column.name not in table.frame or column.name in cores or column.role == "time":
            continue
        texts = table.frame[column.name]
        labels = column.why == "its labels vary" or (column.role == "identifier" and name_key(column.name) == "machine")
        works = not rate and time_of_work(column.name) is None and set(name_key(column.name).split("_")) & WORK
        if texts.nunique() < 2 or not (labels or works) or _are_tied(table, column.name, cores):
            continue
        told = ", ".join(map(str, texts.unique()[:3]))
        why = "their times are of different work" if works else "one plan can't hold for all"
        raise InputError(
            f"the coupled runs of {path} differ in {column.name!r} ({told}{' …' if texts.nunique() > 3 else ''}), so "
            f"{why}: keep the rows of one of them in the table of --coupled; if it doesn't matter, take the column out"
        )


def _are_tied(table: Cells, name: str, cores: Sequence[str]) -> bool:
    """Tell whether a column only names the cores: each of its values stands beside one number of a solver's cores."""
    pairs = {other: len(table.frame[[name, other]].drop_duplicates()) for other in cores}
    counts = {column: table.frame[column].nunique() for column in (name, *cores)}
    return any(pairs[other] == counts[name] == counts[other] for other in cores)


def _check_whole(values: Values, name: str) -> None:
    """Refuse a run that doesn't tell the cores of a solver."""
    import numpy as np

    found = values.numbers(name)
    wrong = np.flatnonzero(~(np.isfinite(found) & (found >= 1) & (found == np.round(found))))
    if len(wrong):
        row = int(wrong[0])
        raise values.at(row, f"{name!r} must be a whole number above zero, but got {values.cells[name].iloc[row]!r}")
