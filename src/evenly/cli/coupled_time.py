"""Which column of a table of whole coupled runs (``--coupled``) is the time of a step, and in what unit."""

from __future__ import annotations

import dataclasses
from collections.abc import Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.errors import InputError
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.states import name_key
from evenly.runs.units import SECONDS_PER, YEAR_DAYS

if TYPE_CHECKING:
    from evenly.readers.tables.cell_files import Cells

__all__ = ["StepTime", "step_time"]

_TOTALS = frozenset({"total", "tot", "gesamt", "whole", "wall"})


@dataclass(frozen=True)
class StepTime:
    """The column with the time of a coupled step, its unit, how many steps that is, and days that a step simulates."""

    column: str
    unit: str
    steps: float = 1.0
    days: float | None = None


def step_time(
    path: Path, table: Cells, time: str | None, solvers: Sequence[str], *, simulated_years: bool | None,
    unit: str | None = None, step_days: float | None = None,
) -> StepTime:  # fmt: skip
    """Return the time of a step in a table of coupled runs.

    Parameters
    ----------
    path : Path
    table : Cells
    time : str, optional
        The column that the user names.
    solvers : sequence of str
        Columns that begin with their names aren't those of whole runs.
    simulated_years : bool or None
        Whether a step of the solvers is a simulated year; None if only whole runs are known.
    unit : str, optional
        The unit that the user names.
    step_days : float, optional
        Days that a step simulates: then SYPD tells its time, too.

    Raises
    ------
    InputError
        If which column it is, or its unit, isn't certain; or it is of other work.
    """
    from evenly.readers.tables.columns import measured, time_candidates, unit_of_time

    names = [str(name) for name in table.frame]
    timed = [name for name in names if not any(name_key(name).startswith(name_key(solver)) for solver in solvers)]
    rates = [name for name in timed if (m := measured(name)) is not None and m.unit == "SYPD"]
    found = [m.column for m in time_candidates(timed)] or rates
    found = found or [name for name in timed if time_of_work(name)] or _totals(table, timed)
    found = found or [name for name in timed if unit_of_time(name)]  # step_s
    if time is None and rates and simulated_years:
        found = rates
    if time is not None and time not in names:
        raise InputError(f"--coupled-time names {time!r}, but {path} has {', '.join(names)}")
    if time is None and len(found) != 1:
        open_ = found or [name for name in timed if not _are_texts(table, name)] or timed
        raise InputError(
            f"which column of {path} is the time of a step of the coupled run is open ({', '.join(open_)}): say it "
            "with --coupled-time"
        )
    chosen = _told(table, time or found[0], unit)
    is_year = chosen.days == YEAR_DAYS
    if simulated_years is None or is_year == simulated_years:
        return chosen
    if chosen.days is not None and step_days is not None:
        return dataclasses.replace(chosen, steps=chosen.days / step_days)
    if not (is_year and chosen.unit == "SYPD") and not simulated_years:
        return chosen  # a factor between the times is found later
    raise InputError(
        f"{chosen.column!r} of --coupled and the times of the solvers are of different work: give both as SYPD, or "
        "both as the time of a step; or say with --step-days how many days a step of the solvers simulates"
    )


def _totals(table: Cells, names: Sequence[str]) -> list[str]:
    """Return the columns of numbers that are called a total."""
    return [name for name in names if name_key(name) in _TOTALS and not _are_texts(table, name)]


def _told(table: Cells, column: str, given: str | None) -> StepTime:
    """Return what a column's name, or the user, tells of its unit, and of the work that its time is of."""
    from evenly.readers.tables.columns import canonical_unit, measured, unit_of_time

    known, each = measured(column), time_of_work(column)
    unit = given or table.units.get(column) or (known.unit if known else "") or unit_of_time(column)
    if given is None and each is not None and unit != "SYPD":
        by_work = canonical_unit(each.unit.lower())
        unit = by_work if by_work in SECONDS_PER or unit not in SECONDS_PER else unit  # Zeit_pro_Schritt_s
        if unit not in SECONDS_PER:
            raise InputError(
                f"the unit of {column!r} in the table of --coupled isn't known: give it in brackets, as in 'time [h]'; "
                "without PATH, --unit h says it, too"
            )
        note(f"{column!r} of --coupled is a time in {unit}, of {each.said}")
        return StepTime(column, unit, days=each.days)
    return StepTime(column, unit or "s", days=YEAR_DAYS if unit == "SYPD" else None)


def _are_texts(table: Cells, column: str) -> bool:
    return not any(any(map(str.isdigit, text)) for text in map(str, table.frame[column]))
