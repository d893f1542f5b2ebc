"""Which column of a table of whole coupled runs (``--coupled``) is the time of a step, and in what unit."""

from __future__ import annotations

import dataclasses
import math
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.console import note
from evenly.errors import InputError
from evenly.readers.tables.per_work import is_of_a_step, time_of_work
from evenly.readers.tables.states import name_key
from evenly.runs.count_names import kind_of
from evenly.runs.units import SECONDS_PER, YEAR_DAYS

if TYPE_CHECKING:
    import numpy as np
    from numpy.typing import NDArray

    from evenly.readers.tables.cell_files import Cells
    from evenly.readers.tables.values import Values

__all__ = ["COST", "StepOfSolvers", "StepTime", "step_time", "times_by_cost"]

#: The unit of core-hours for a simulated year.
COST = "CHSY"

#: A number as tables have them, and by which share rounding may make a rate off that stands beside a time.
_NUMBER, _COARSE = re.compile(r"\d+(?:\.\d+)?"), 0.02
_TOTALS = frozenset({"total", "tot", "gesamt", "whole", "wall"})


@dataclass(frozen=True)
class StepOfSolvers:
    """What a step of the solvers is.

    Parameters
    ----------
    days : float, optional
        Days that it simulates.
    told : bool
        Whether the solvers' times tell it, and not only the user.
    in_coupled : float, optional
        How many of these steps a time of a coupled run is of, as the user says.
    """

    days: float | None = None
    told: bool = False
    in_coupled: float | None = None

    @property
    def said(self) -> str:
        """The step in words.

        Examples
        --------
        >>> StepOfSolvers(365.0).said, StepOfSolvers(10.0).said
        ('a simulated year', '10 simulated days')
        """
        known = {1.0: "a simulated day", YEAR_DAYS: "a simulated year"}
        return known.get(self.days or 0.0, f"{self.days:g} simulated days")


@dataclass(frozen=True)
class StepTime:
    """The column with the time of a coupled step, its unit, how many steps that is, and days that a step simulates.

    `counted` is the column that counts the days of each run, if that tells how many steps it is of.
    """

    column: str
    unit: str
    steps: float = 1.0
    days: float | None = None
    counted: str = ""

    def steps_of(self, counts: Iterable[object]) -> NDArray[np.float64]:
        """Return how many steps each run is of, (n,), given what `counted` counts."""
        import numpy as np

        from evenly.readers.tables.lone_work import days_in

        days = [days_in(self.counted, count) for count in counts]
        return np.array(days, dtype=np.float64) / (self.days or 1.0)


def step_time(
    path: Path, table: Cells, time: str | None, solvers: Sequence[str], *, step: StepOfSolvers | None,
    unit: str | None = None,
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
    step : StepOfSolvers or None
        A step of the solvers; None if only whole runs are known.
    unit : str, optional
        The unit that the user names.

    Raises
    ------
    InputError
        If which column it is, or its unit, isn't certain; or it is of other work.
    """
    from evenly.readers.tables.chsy_names import is_chsy, is_node_hours
    from evenly.readers.tables.clock_times import time_of_day
    from evenly.readers.tables.columns import measured, time_candidates, unit_of_time

    names = [str(name) for name in table.frame]
    at = time_of_day({name: [str(cell) for cell in table.frame[name]] for name in names})
    timed = [
        name
        for name in names
        if name != at and not any(name_key(name).startswith(name_key(solver)) for solver in solvers)
    ]
    rates = [name for name in timed if (m := measured(name)) is not None and m.unit == "SYPD"]
    found = [m.column for m in time_candidates(timed)] or rates
    found = found or [name for name in timed if time_of_work(name)] or _totals(table, timed)
    found = found or [name for name in timed if unit_of_time(name)]  # step_s
    found = found or [name for name in timed if is_chsy(name) or is_node_hours(name)]
    if time is None and rates and (step is None or step.days is not None):
        exact = [name for name in timed if name not in rates and _tells_days(table, name)]
        # Rates tell the days of each run; few digits tell less than a time whose days are known.
        is_coarse = _are_coarse(table, rates)
        found = exact if len(exact) == 1 and is_coarse else rates
        if found == rates and is_coarse:
            note(f"{rates[0]!r} of --coupled has few digits, so each time may be off by more than {100 * _COARSE:g} %")
    if time is not None and time not in names:
        raise InputError(f"--coupled-time names {time!r}, but {path} has {', '.join(names)}")
    if time is None and len(found) != 1:
        open_ = found or [name for name in timed if not _are_texts(table, name)] or timed
        raise InputError(
            f"which column of {path} is the time of a step of the coupled run is open ({', '.join(open_)}): say it "
            "with --coupled-time"
        )
    chosen = _told(table, time or found[0], unit)
    counted, days = _days_of_runs(table, chosen)
    if not counted or (step is not None and step.days is None and step.in_coupled is not None):
        if step is None:
            return chosen
        _check_texts(path, table, chosen, step)
        return _of_the_solvers(chosen, step)
    if step is not None and step.days is None:
        raise InputError(
            f"{counted!r} of --coupled tells that {chosen.column!r} is of {days[0]:g} simulated days, and nothing "
            f"tells of how many the times of the solvers are: say that with --step-days, as --step-days 1 for one day; "
            f"if {counted!r} doesn't count the simulated days of each run, take it out"
        )
    return _by_days(chosen, step, counted, days)


def _check_texts(path: Path, table: Cells, time: StepTime, step: StepOfSolvers) -> None:
    """Ask about simulated days in the name of the file, or in lines beside the table, that aren't those of a step."""
    from evenly.readers.tables.works import Work, works_in

    if time.days is not None or step.days is None or is_of_a_step(time.column):
        return
    given = step.days * (step.in_coupled or 1.0)
    texts = {path.stem: works_in(path.stem), **{line: works_in(line, is_line=True) for line in table.around}}
    for text, works in texts.items():
        days = next((work.count for work in works if work.unit == "days"), given)
        if Work("days", days).is_like(Work("days", given)):
            continue
        if step.in_coupled is not None:
            note(f"{text!r} of --coupled tells {days:g} simulated days, but by --coupled-steps it is {given:g}")
        else:
            raise InputError(
                f"{text!r} of --coupled tells that {time.column!r} is of {days:g} simulated days, and the times of the "
                f"solvers are of {step.said}: if so, say --coupled-steps {days / step.days:.3g}; if both are of one "
                "step, --coupled-steps 1"
            )


def _days_of_runs(table: Cells, time: StepTime) -> tuple[str, list[float]]:
    """Return the only column that counts the simulated days of each run, and these; "" where a time is of a step."""
    from evenly.readers.tables.lone_work import days_in

    if time.days is not None or is_of_a_step(time.column) or time_of_work(time.column):
        return "", []
    found = {}
    for name in map(str, table.frame):
        days = [days_in(name, cell) for cell in table.frame[name]]
        if all(one is not None and one > 0 for one in days):
            found[name] = [one for one in days if one is not None]
    return next(iter(found.items())) if len(found) == 1 else ("", [])


def _by_days(time: StepTime, step: StepOfSolvers | None, counted: str, days: Sequence[float]) -> StepTime:
    """Return the time of a coupled run, of the simulated days that a column counts, and say that.

    They are those of the solvers' steps. If only whole runs are known, they are those of each run, if all are of as
    many, else a day.
    """
    given = None if step is None else step.in_coupled
    each = (days[0] if len(set(days)) == 1 else 1.0) if step is None or step.days is None else step.days
    others = [one / each for one in days if given is not None and not math.isclose(given, one / each, rel_tol=0.01)]
    if others:
        raise InputError(
            f"--coupled-steps {given:g} contradicts {counted!r} of --coupled, by which a run is of {others[0]:g} "
            f"steps: leave it out, since times are divided by {counted!r}; or, if that doesn't count the simulated "
            "days of each run, take the column out"
        )
    note(
        f"{time.column!r} of --coupled is taken to be of as many simulated days as {counted!r} says, so times are "
        f"those of {StepOfSolvers(each).said} (if not, take {counted!r} out)"
    )
    return dataclasses.replace(time, days=each, counted=counted)


def _of_the_solvers(time: StepTime, step: StepOfSolvers) -> StepTime:
    """Return the time of a coupled run with the number of the solvers' steps that it is of, and say that; or ask."""
    told = None if time.days is None or step.days is None else time.days / step.days
    given = step.in_coupled
    if given is not None and told is not None and not math.isclose(given, told, rel_tol=0.01):
        raise InputError(
            f"--coupled-steps {given:g} contradicts {time.column!r} of --coupled, which is of {told:g} times "
            f"{step.said} by its name: leave it out, or give the column another name"
        )
    if told is not None and told != 1:
        note(f"{time.column!r} of --coupled is of {told:g} times {step.said}, as the times of the solvers are")
    steps = told if given is None else given
    if steps is not None:
        return dataclasses.replace(time, steps=steps)
    if time.days is not None:
        raise InputError(
            f"{time.column!r} of --coupled and the times of the solvers are of different work: give both as "
            f"{time.column}, or both as the time of a step; or say with --step-days how many days a step of the "
            "solvers simulates"
        )
    if step.told:
        raise InputError(
            f"of how many simulated days {time.column!r} of --coupled is isn't told, and the times of the solvers are "
            f"of {step.said}: write the simulated days of each run into a column 'simulated_days' there; or, if "
            f"all are of as many, say with --coupled-steps how many times {step.said} that is, as --coupled-steps "
            f"{10 / (step.days or 1.0):.3g} for 10 days"
        )
    if step.days is not None and not is_of_a_step(time.column):
        note(
            f"{time.column!r} of --coupled is taken to be of {step.said}, as the times of the solvers are (if not, say "
            "--coupled-steps)"
        )
    return time


def times_by_cost(
    values: Values, column: str, cores: Mapping[str, NDArray[np.int64]], layouts: Sequence[str]
) -> list[str]:
    """Return the seconds of a simulated year of each run, from its core-hours and all of its cores.

    These are those of a column of cores, else those that the solvers use by the layout.

    Parameters
    ----------
    values : Values
        The table.
    column : str
        The core-hours.
    cores : mapping of str to array (n_runs,)
        Cores of each solver.
    layouts : sequence of str (n_runs,)
        How solvers share cores.
    """
    import numpy as np

    from evenly.allocation.problem.core_usage import footprint_of
    from evenly.allocation.problem.layout import parse_layout

    own = [name for name in map(str, values.cells) if kind_of(name) == "cores"]
    used = [
        float(footprint_of(parse_layout(layout, cores)).cores({name: int(its[row]) for name, its in cores.items()}))
        for row, layout in enumerate(layouts)
    ]
    all_cores = values.numbers(own[0]) if len(own) == 1 else np.array(used)
    told = own[0] if len(own) == 1 else f"those that {', '.join(cores)} use together"
    note(f"{column!r} of --coupled is core-hours for a simulated year: its time is this divided by the cores, {told}")
    return [f"{seconds:.9g}" for seconds in SECONDS_PER["h"] * values.numbers(column) / all_cores]


def _totals(table: Cells, names: Sequence[str]) -> list[str]:
    """Return the columns of numbers that are called a total."""
    return [name for name in names if name_key(name) in _TOTALS and not _are_texts(table, name)]


def _told(table: Cells, column: str, given: str | None) -> StepTime:
    """Return what a column's name, or the user, tells of its unit, and of the work that its time is of."""
    from evenly.readers.tables.chsy_names import is_chsy, is_node_hours
    from evenly.readers.tables.columns import canonical_unit, measured, unit_of_time

    if is_node_hours(column):
        raise InputError(
            f"{column!r} of --coupled is node-hours: multiply it by the cores of a node, and call it CHSY, or give the "
            "time of a step"
        )
    if is_chsy(column, given or table.units.get(column)):
        return StepTime(column, COST, days=YEAR_DAYS)
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
    return StepTime(column, unit or "s", days={"SYPD": YEAR_DAYS, "SDPD": 1.0}.get(unit))


def _tells_days(table: Cells, name: str) -> bool:
    """Tell whether a column is a time of which it is known how many days it simulates."""
    from evenly.readers.tables.columns import time_candidates

    each = time_of_work(name)
    if each is not None:
        return each.days is not None
    return bool(time_candidates([name])) and bool(_days_of_runs(table, StepTime(name, "s"))[0])


def _are_coarse(table: Cells, rates: Sequence[str]) -> bool:
    """Tell whether rates have too few digits to tell a time."""
    import numpy as np

    from evenly.readers.tables.simulated_rates import share_off

    texts = [str(cell).strip().replace(",", ".") for name in rates for cell in table.frame[name]]
    known = np.array([float(text) for text in texts if _NUMBER.fullmatch(text)])
    return bool(len(known)) and bool((share_off(known) > _COARSE).any())


def _are_texts(table: Cells, column: str) -> bool:
    return not any(any(map(str.isdigit, text)) for text in map(str, table.frame[column]))
