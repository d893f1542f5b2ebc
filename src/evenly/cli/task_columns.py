"""Cores and layouts from tables of tasks, threads and first tasks, as E3SM lists its layouts.

``ntasks_ocn`` counts MPI tasks, or whole nodes where it is negative; ``nthrds_ocn`` the threads of each task;
``rootpe_ocn`` is the first task among those of all. Components whose tasks overlap run one after the other, the others
side by side, as in timing files (`evenly.readers.cesm_layout`).
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from types import MappingProxyType

import numpy as np
from numpy.typing import NDArray

from evenly.cli.console import note
from evenly.cli.coupled_counts import CoresOfCounts
from evenly.errors import InputError
from evenly.readers.cesm_layout import layout_of
from evenly.readers.tables.states import name_key
from evenly.readers.tables.values import Values
from evenly.readers.tables.wide import is_total
from evenly.runs.count_names import kind_of

__all__ = ["PlacedTasks", "all_placed", "counts_of", "is_first_task", "placed_tasks"]

Floats = NDArray[np.float64]

_ROOTS = frozenset({"rootpe", "root_pe"})
#: Columns with the cores of a node, and with its MPI tasks, which says more.
_CORES_OF_NODE, _TASKS_OF_NODE = "max_tasks_per_node", "max_mpitasks_per_node"


@dataclass(frozen=True)
class PlacedTasks:
    """What a table tells of its whole runs.

    Parameters
    ----------
    cores : mapping of str to array (n_runs,) of int
        Tasks times threads, of each solver.
    layouts : sequence of str (n_runs,)
        How the solvers of each run wait for each other; empty if the table doesn't tell where all tasks are.
    used : tuple of str
        Columns beside those that count.
    threads : mapping of str to int
        The threads of each task, of solvers that have several, and as many in all runs.
    """

    cores: Mapping[str, NDArray[np.int64]]
    layouts: tuple[str, ...]
    used: tuple[str, ...]
    threads: Mapping[str, int]


def counts_of(solver: str, values: Values) -> dict[str, str]:
    """Return the columns that count something of a solver, and of what kind that is: ``"cores"``, ``"ranks"``."""
    return {name: kind for name, rest in _own(solver, values).items() if (kind := kind_of(rest))}


def all_placed(values: Values) -> list[str]:
    """Return the components whose first task and number of tasks all rows tell, and say which of them don't.

    Nothing, if there are no columns with first tasks.

    Raises
    ------
    InputError
        If only some components that have tasks have a column with the first one.
    """
    from evenly.readers.tables.wide import with_cores

    counted = {name: column for name, column in with_cores(map(str, values.cells)).items() if not is_total(name)}
    placed = {name: column for name, column in counted.items() if _root(name, values)}
    open_ = [name for name in counted if name not in placed]
    if placed and open_:
        roots = ", ".join(_root(name, values) for name in placed)
        raise InputError(
            f"{values.path} tells the first tasks of {', '.join(placed)} ({roots}), but not of {', '.join(open_)}: add "
            f"a column rootpe_{open_[0]}, or take {', '.join(counted[name] for name in open_)} out if it doesn't "
            "count; or say with --layout which components there are, and how they wait for each other"
        )
    lacking = [name for name, column in placed.items() if values.blank(column).any()]
    if lacking:
        note(f"{', '.join(lacking)}: left out, as some rows of {values.path.name} tell no tasks of theirs")
    return [name for name in placed if name not in lacking]


def is_first_task(column: str) -> bool:
    """Tell whether a column holds the first task of a component.

    Examples
    --------
    >>> is_first_task("rootpe_ocn"), is_first_task("ocn root_pe"), is_first_task("ntasks_ocn")
    (True, True, False)
    """
    key = name_key(column)
    return any(key.startswith(f"{root}_") or key.endswith(f"_{root}") for root in _ROOTS)


def placed_tasks(
    columns: Mapping[str, str],
    values: Values,
    cores_per_node: int | None,
    rules: Mapping[str, CoresOfCounts] = MappingProxyType({}),
) -> PlacedTasks:
    """Return the cores and the layout of each run.

    Parameters
    ----------
    columns : mapping of str to str
        The column with the tasks, or the cores, of each solver.
    values : Values
        The table.
    cores_per_node : int, optional
        Cores of a node, where no column tells them.
    rules : mapping of str to CoresOfCounts
        What makes the cores of solvers, where it is known.

    Raises
    ------
    InputError
        If tasks are whole nodes whose cores aren't told, or a rule needs what the table doesn't tell.
    ReadError
        If a cell holds no number of tasks.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = {"ntasks_atm": "-2", "nthrds_atm": "2", "rootpe_atm": "0", "ntasks_ocn": "8", "rootpe_ocn": "64"}
    >>> values = Values(TableOptions(), Path("a.csv"), pd.DataFrame([cells]), np.array([2]))
    >>> found = placed_tasks({"atm": "ntasks_atm", "ocn": "ntasks_ocn"}, values, 64)
    >>> found.cores["atm"].tolist(), found.layouts
    ([128], ('max(atm, ocn)',))
    """
    tasks, roots, cores, used, kept = {}, {}, {}, [], dict[str, int]()
    for solver, column in columns.items():
        counted = counts_of(solver, values)
        per_task = [name for name, kind in counted.items() if kind == "per rank" and counted[column] == "ranks"]
        threads = _filled(values, per_task[0], 1.0) if per_task else np.ones(len(values.cells))
        counts = values.numbers(column)
        if counted[column] == "ranks":
            counts = _of_nodes(values, column, counts, threads, cores_per_node)
        tasks[solver] = _whole(values, column, counts, least=1)
        own = {per_task[0]: threads} if per_task else {}
        made, by_rule = _cores(solver, column, tasks[solver], own, counted[column], rules.get(solver))
        cores[solver] = made.astype(np.int64)
        if root := _root(solver, values):
            first = _of_nodes(values, root, _filled(values, root, 0.0), threads, cores_per_node)
            roots[solver] = _whole(values, root, first, least=0)
        used += [*per_task, *filter(None, [root])]
        if (threads > 1).any() and not by_rule:
            note(f"the cores of {solver} are {column} times {per_task[0]}")
            if (threads == threads[0]).all():
                kept[solver] = int(threads[0])
    if empty := [name for name in used if values.blank(name).any()]:
        what = "a first task is 0, and a task has one thread"
        note(f"{values.path.name}: where {', '.join(empty)} are empty, {what}, as CIME has it")
    layouts = _layouts(values, tasks, roots) if len(roots) == len(columns) > 1 else ()
    return PlacedTasks(cores, layouts, tuple(used), kept)


def _cores(
    solver: str, column: str, tasks: Floats, threads: Mapping[str, Floats], kind: str, rule: CoresOfCounts | None
) -> tuple[Floats, bool]:
    """Return the cores of each run, (n_runs,), and whether the rule of the solver's own runs makes them."""
    if rule is not None and rule.kind == kind != "nodes" and not rule.cores.is_one_parameter:
        return rule.of(solver, column, tasks, threads), True
    if kind == "ranks" and not threads and (rule is None or rule.kind != kind):
        note(f"in --coupled, the cores of {solver} are taken to be one for each of {column}")
    return tasks * next(iter(threads.values()), 1.0), False


def _layouts(values: Values, tasks: Mapping[str, Floats], roots: Mapping[str, Floats]) -> tuple[str, ...]:
    from evenly.allocation.problem.layout import Solver

    found = []
    for row in range(len(values.cells)):
        spans = {
            str(Solver(name)): range(int(roots[name][row]), int(roots[name][row] + its[row]))
            for name, its in tasks.items()
        }
        layout = layout_of(spans, {})
        if layout is None:
            raise values.at(row, "the tasks overlap by rootpe in a way that no layout describes: leave the run out")
        found.append(layout[0])
    return tuple(found)


def _own(solver: str, values: Values) -> dict[str, str]:
    """Return the columns that have a solver's name, with the rest of the name."""
    key, found = name_key(solver), {}
    for name in map(str, values.cells):
        its = name_key(name)
        rest = its.removeprefix(f"{key}_") if its.startswith(f"{key}_") else its.removesuffix(f"_{key}")
        if rest != its:
            found[name] = rest
    return found


def _root(solver: str, values: Values) -> str:
    """Return the column with a solver's first task; "" if there is none."""
    return next((name for name, rest in _own(solver, values).items() if rest in _ROOTS), "")


def _filled(values: Values, column: str, empty: float) -> Floats:
    """Return a column's numbers, with what CIME takes where a cell is empty."""
    return np.where(values.blank(column), empty, values.numbers(column))


def _of_nodes(values: Values, column: str, counts: Floats, threads: Floats, cores_per_node: int | None) -> Floats:
    """Return numbers of tasks, (n_runs,): negative ones are whole nodes."""
    nodes = counts < 0
    if not nodes.any():
        return counts
    each = _tasks_of_node(values, threads, cores_per_node)
    if (unknown := np.flatnonzero(nodes & ~np.isfinite(each))).size:
        first = unknown[0]
        raise InputError(
            f"{column} is {counts[first]:g} in line {values.lines[first]} of {values.path}, and negative tasks are "
            "whole nodes: say with --cores-per-node how many cores a node has, or in a column MAX_TASKS_PER_NODE"
        )
    for tasks, count in sorted(set(zip(each[nodes].tolist(), threads[nodes].tolist(), strict=True))):
        of = f"of {count:g} threads" if count > 1 else "of one thread"
        note(f"{values.path.name}: negative tasks are whole nodes, of {tasks:g} tasks {of} each")
    return np.where(nodes, -counts * each, counts)


def _whole(values: Values, column: str, counts: Floats, *, least: int) -> Floats:
    """Refuse what is no number of tasks."""
    wrong = np.flatnonzero(~(np.isfinite(counts) & (counts >= least) & (counts == np.round(counts))))
    if len(wrong):
        cell = values.cells[column].iloc[int(wrong[0])]
        rule = "a whole number above zero" if least else "a whole number, zero or more"
        raise values.at(int(wrong[0]), f"{column!r} must be {rule}, but got {cell!r}")
    return counts


def _tasks_of_node(values: Values, threads: Floats, cores_per_node: int | None) -> Floats:
    """Return the MPI tasks of a node in each run, (n_runs,); NaN where nothing tells them."""
    each = np.full(len(values.cells), np.nan if cores_per_node is None else cores_per_node) / threads
    names = {name_key(str(name)): str(name) for name in values.cells}
    for key, divided in ((_CORES_OF_NODE, threads), (_TASKS_OF_NODE, np.ones_like(threads))):
        if key in names:
            found = values.numbers(names[key]) / divided
            each = np.where(np.isfinite(found), found, each)
    return each
