"""Times of a simulated year, of a day, and of so much as nothing tells: all are made those of the same days.

Files that tell a year, and others that tell a day, are made those of a day. Where some don't tell what their times are
of, as logs of programs don't, only the user knows.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

import numpy as np

from evenly.readers.merging import Part
from evenly.readers.tables.lone_work import days_in, work_counted
from evenly.readers.tables.per_work import days_of, is_of_a_step, time_of_work
from evenly.readers.tables.roles import NAMED, Column, only
from evenly.runs.runs import Runs

__all__ = [
    "days_of_files", "days_of_solvers", "days_said", "days_told", "divided", "knowing_days", "of_one_day",
    "of_own_days", "unequal_days",
]  # fmt: skip

#: The format whose times are all of a day.
_OF_A_DAY = "cesm-timing"


def of_one_day(
    parts: Sequence[Part], columns: Mapping[Path, Sequence[Column]]
) -> tuple[list[Part], dict[Path, list[Column]], list[str]]:
    """Return parts and columns with times of one simulated day, where files tell those of a year and others; and notes.

    Nothing is changed if a file doesn't tell what its times are of.

    Parameters
    ----------
    parts : sequence of Part
    columns : mapping of Path to sequence of Column
        Those of each file.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [8, 16], "seconds": [730.0, 365.0]})
    >>> parts = [Part("", Runs.from_frame(table, ["cores"]), Path(name), "table") for name in ("a.csv", "b.csv")]
    >>> told = {Path("a.csv"): [Column("SYPD", "time", "", "SYPD")], Path("b.csv"): [Column("s/day", "time", "", "s")]}
    >>> made, _, notes = of_one_day(parts, told)
    >>> made[0].runs.values.tolist(), notes
    ([2.0, 1.0], ["a.csv: 'SYPD' is of 365 simulated days: its times are divided by 365, so that all are of one"])
    """
    times = {path: next((one for one in its if one.role == "time"), None) for path, its in columns.items()}
    days = {path: None if one is None else days_of(one.name, one.unit) for path, one in times.items()}
    if None in days.values() or len(set(days.values())) < 2 or not all(part.path in days for part in parts):
        return list(parts), {path: list(its) for path, its in columns.items()}, []
    notes, made = list[str](), dict[Path, list[Column]]()
    for path, its in columns.items():
        count = days[path] or 1.0
        for one in its:
            if one is times[path] and count != 1.0:
                said = f"is of {count:.4g} simulated days: its times are divided by {count:.4g}, so that all are of one"
                notes.append(f"{path}: {one.name!r} {said}")
                made.setdefault(path, []).append(replace(one, name="time (s/day)", unit="s"))
            else:
                made.setdefault(path, []).append(one)
    return [replace(part, runs=divided(part.runs, days[part.path] or 1.0)) for part in parts], made, notes


def days_of_files(parts: Sequence[Part], columns: Mapping[Path, Sequence[Column]]) -> dict[Path, float]:
    """Return the days that the times of each file are of, of those that tell it."""
    stored = [(part.runs.days, part.runs.to_frame()["source"].unique()) for part in parts if part.runs.days is not None]
    found = {Path(str(source)): days for days, sources in stored for source in sources}
    found |= {part.path: 1.0 for part in parts if part.format == _OF_A_DAY}
    for path, its in columns.items():
        days = {days_of(one.name, one.unit) or one.days for one in its if one.role == "time"}
        if len(days) == 1 and (known := days.pop() or _days_counted(its)) is not None:
            found[path] = known
    return found


def days_told(columns: Sequence[Column]) -> dict[str, float]:
    """Return the simulated days that columns with one value count, by what they say: ``simulated_days: 30``.

    Examples
    --------
    >>> days_told([Column("sim_months", "constant", "one value: 12"), Column("cells", "constant", "one value: 30")])
    {'sim_months: 12': 365.0}
    """
    told = {f"{one.name}: {one.only_value}": days_in(one.name, one.only_value) for one in columns if one.only_value}
    return {text: days for text, days in told.items() if days is not None}


def days_said(columns: Mapping[Path, Sequence[Column]]) -> list[str]:
    """Return what to say of the days that columns of tables count, and their times are taken to be of."""
    counted = [path for path, its in columns.items() if _days_counted(its) is not None]
    return [
        f"{path}: {text} in all rows: each time is taken to be of {count:g} simulated days (if not, --parameters names "
        "the parameters)"
        for path in counted
        for text, count in days_told(columns[path]).items()
    ]


def of_own_days(runs: Mapping[str, Runs], columns: Sequence[Column]) -> tuple[dict[str, Runs], list[Column], list[str]]:
    """Return runs that know the days that a column counts, where it holds one value for each solver; and notes.

    That column is no parameter then: nothing can be learned about it.

    Examples
    --------
    >>> import pandas as pd
    >>> tables = [pd.DataFrame({"cores": [8, 16], "days": [d, d], "seconds": [60.0, 30.0]}) for d in (30, 5)]
    >>> runs = {name: Runs.from_frame(one, ["cores", "days"]) for name, one in zip("ab", tables)}
    >>> made, _, (note,) = of_own_days(runs, [Column("days", "parameter", ""), Column("time", "time", "", "s")])
    >>> [(one.parameters, one.days) for one in made.values()], note.partition(":")[0]
    ([(['cores'], 30.0), (['cores'], 5.0)], 'days is 30 for a, 5 for b')
    """
    name = next((one.name for one in columns if one.role == "parameter" and work_counted(one.name)), "")
    alone = all(name in one.parameters and one.days is None for one in runs.values())
    if not (name and alone and len(runs) > 1 and _are_of_whole_runs(columns)):
        return dict(runs), list(columns), []
    values = {solver: one.configurations[name].unique() for solver, one in runs.items()}
    days = {solver: days_in(name, its[0]) for solver, its in values.items() if len(its) == 1}
    if len(days) < len(runs) or None in days.values():
        return dict(runs), list(columns), []
    made = {
        solver: only(one, [other for other in one.parameters if other != name]).of_days(days[solver])
        for solver, one in runs.items()
    }
    told = [
        replace(one, role="left out", why="the days of each solver") if one.name == name else one for one in columns
    ]
    listed = ", ".join(f"{its[0]:g} for {solver}" for solver, its in values.items())
    counts = " and ".join(f"{count:g}" for count in days.values() if count is not None)
    said = (
        f"{name} is {listed}: their times are taken to be of {counts} simulated days (if not, --parameters names the "
        "parameters)"
    )
    return made, told, [said]


def _are_of_whole_runs(columns: Sequence[Column]) -> bool:
    """Tell whether times are those of whole runs: no step or other work is told, and no parameters are named."""
    times = [one.name for one in columns if one.role == "time"]
    return not (
        any(one.why == NAMED for one in columns) or any(is_of_a_step(name) or time_of_work(name) for name in times)
    )


def _days_counted(columns: Sequence[Column]) -> float | None:
    """Return the days that the only count of them in a table tells, where a time is that of a whole run.

    A time of a step is of less, and who names the parameters leaves the count out.
    """
    counted = {*days_told(columns).values()} if _are_of_whole_runs(columns) else set[float]()
    return counted.pop() if len(counted) == 1 else None


def days_of_solvers(runs: Mapping[str, Runs], days: Mapping[Path, float]) -> dict[str, set[float | None]]:
    """Return the days that the times of each solver are of, by its files; None stands for files that don't tell it.

    Parameters
    ----------
    runs : mapping of str to Runs
        The runs of each solver.
    days : mapping of Path to float
        As `days_of_files` returns it.
    """
    return {
        solver: {days.get(Path(str(source)), one.days) for source in one.to_frame()["source"].unique()}
        for solver, one in runs.items()
    }


def knowing_days(runs: Mapping[str, Runs], days: Mapping[Path, float]) -> dict[str, Runs]:
    """Return runs that know the days that their times are of, where all files of a solver tell the same.

    Parameters
    ----------
    runs, days
        As for `days_of_solvers`.
    """
    of_solvers = days_of_solvers(runs, days)
    return {
        solver: one.of_days(next(iter(its)) if len(its := of_solvers[solver]) == 1 else None)
        for solver, one in runs.items()
    }


def unequal_days(runs: Mapping[str, Runs], days: Mapping[Path, float]) -> list[str]:
    """Return what to say of solvers of which some files tell the days that their times are of, and others don't.

    Parameters
    ----------
    runs, days
        As for `days_of_solvers`.
    """
    notes = []
    for solver, one in runs.items():
        files = {str(source): days.get(Path(str(source))) for source in one.to_frame()["source"].unique()}
        told = next(((file, its) for file, its in files.items() if its is not None), None)
        silent = next((file for file, its in files.items() if its is None), None)
        if told is not None and silent is not None:
            notes.append(
                f"{solver and f'{solver}: '}the times of {Path(told[0]).name} are of {told[1]:g} simulated days, "
                f"and {Path(silent).name} doesn't tell of how many: they are learned together as they are; if they are "
                "of different days, give both in one unit, as s/day"
            )
    return notes


def divided(runs: Runs, count: float | Sequence[float]) -> Runs:
    """Return runs with their times divided by a number, or by one for each; what days they are of is left open."""
    if count == 1.0 or runs.response != "seconds":
        return runs
    table = runs.to_frame().assign(seconds=lambda frame: frame["seconds"] / np.asarray(count))
    return Runs(table, space=runs.space, quantities=runs.quantities, response=runs.response)
