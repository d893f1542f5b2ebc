"""Files of which some tell the time of a simulated year, and others that of a day: all are made those of a day."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path

from evenly.readers.merging import Part
from evenly.readers.tables.per_work import days_of
from evenly.readers.tables.roles import Column
from evenly.runs.runs import Runs

__all__ = ["of_one_day"]


def of_one_day(
    parts: Sequence[Part], columns: Mapping[Path, Sequence[Column]]
) -> tuple[list[Part], list[Column], list[str]]:
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
    listed = [one for its in columns.values() for one in its]
    if None in days.values() or len(set(days.values())) < 2 or not all(part.path in days for part in parts):
        return list(parts), listed, []
    notes, made = list[str](), list[Column]()
    for path, its in columns.items():
        count = days[path] or 1.0
        for one in its:
            if one is times[path] and count != 1.0:
                said = f"is of {count:.4g} simulated days: its times are divided by {count:.4g}, so that all are of one"
                notes.append(f"{path}: {one.name!r} {said}")
                made.append(replace(one, name="time (s/day)", unit="s"))
            else:
                made.append(one)
    return [replace(part, runs=_divided(part.runs, days[part.path] or 1.0)) for part in parts], made, notes


def _divided(runs: Runs, count: float) -> Runs:
    if count == 1.0 or runs.response != "seconds":
        return runs
    table = runs.to_frame().assign(seconds=lambda frame: frame["seconds"] / count)
    return Runs(table, space=runs.space, quantities=runs.quantities, response=runs.response)
