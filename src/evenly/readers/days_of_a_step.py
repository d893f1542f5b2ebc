"""Times of which some tell how many days they simulate, and others don't: all are made those of a step's days.

Logs of programs don't tell it, and only the user knows it.
"""

from __future__ import annotations

from dataclasses import replace
from pathlib import Path

from evenly.readers.scanning import Measurements
from evenly.readers.simulated_days import days_of_solvers, divided
from evenly.readers.tables.per_work import days_of
from evenly.runs.step_days import said_of_days

__all__ = ["of_so_many_days", "tells_all_days"]


def tells_all_days(found: Measurements) -> bool:
    """Tell whether all times tell how many days they simulate, and these differ."""
    each = set[float | None]().union(*days_of_solvers(found.runs, found.days).values())
    return len(each) > 1 and None not in each


def of_so_many_days(found: Measurements, days: float) -> Measurements:
    """Return measurements of which all times are of so many days, where files tell different ones, or don't tell them.

    Those that don't tell it are taken to be of so many already.
    """
    of_solvers = days_of_solvers(found.runs, found.days)
    if len(set[float | None]().union(*of_solvers.values())) < 2:
        return found
    runs = {}
    for solver, one in found.runs.items():
        own = [found.days.get(Path(str(source)), one.days or days) / days for source in one.to_frame()["source"]]
        runs[solver] = divided(one, own).of_days(days)
    columns = tuple(
        replace(one, name="time", unit="s") if one.role == "time" and days_of(one.name, one.unit) is not None else one
        for one in found.columns
    )
    notes = (*found.notes, *said_of_days(of_solvers, days))
    same = tells_all_days(found)
    return replace(found, runs=runs, columns=columns, days={}, same_days=same, notes=notes)
