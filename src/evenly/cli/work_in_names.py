"""Work that names of files and solvers tell: ``atm_1month.csv`` beside ``ocn_1year.csv`` holds times of other work."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.cli.layout_input import days_of_time
from evenly.errors import InputError
from evenly.readers.tables.per_work import time_of_work

if TYPE_CHECKING:
    from evenly.readers.tables.roles import Column
    from evenly.runs.runs import Runs

__all__ = ["check_names_of_work", "work_in"]

_DAY = r"d|days?|tage?|jours?|d[ií]as?|giorn[oi]"
_MONTH = r"mon|mo|mths?|months?|monate?|mois|mes(?:es)?|mes[ei]"
_YEAR = r"y|yrs?|years?|jahre?|ans?|años?|ann[oi]"
_STEPS = r"steps?|schritte?|iterations?|windows?"
#: Days of what a name tells; of steps, nobody knows.
_DAYS = {_DAY: 1.0, _MONTH: 365 / 12, _YEAR: 365.0}
#: ``10days``, ``n_days30``, ``month``.
_WORK = re.compile(
    rf"(?<![a-z0-9.])(?:(?P<count>\d+)[\s_-]?(?P<unit>{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})"
    rf"|n?_?(?P<before>{_DAY}|{_MONTH}|{_YEAR}|{_STEPS})[\s_-]?(?P<number>\d+)"
    r"|(?P<one>day|month|year|tag|monat|jahr|jour|mois))(?![a-z0-9])",
    re.IGNORECASE,
)
#: Dimensions, as in ``ocean_3d`` and ``d3``.
_DIMENSIONS = re.compile(r"[23]d|d[23]|[dy]\d+", re.IGNORECASE)
#: A month has 28 to 31 days.
_ALIKE = 1.09


def work_in(name: str) -> tuple[str, float] | None:
    """Return the unit of work in a name, "days" or another one, and how many; None if it tells none, or several.

    Examples
    --------
    >>> work_in("atm_10days"), work_in("ocn-1yr"), work_in("ice_3d"), work_in("x_500steps")
    (('days', 10.0), ('days', 365.0), None, ('steps', 500.0))
    >>> work_in("atm_ndays5"), work_in("ozean_30tage"), work_in("ocn_month") == work_in("ocn_1mon"), work_in("ocean")
    (('days', 5.0), ('days', 30.0), True, None)
    """
    found = [match for match in _WORK.finditer(name) if not _DIMENSIONS.fullmatch(match[0])]
    if len(found) != 1:
        return None
    unit = (found[0]["unit"] or found[0]["before"] or found[0]["one"]).lower()
    count = float(found[0]["count"] or found[0]["number"] or 1)
    days = next((days for words, days in _DAYS.items() if re.fullmatch(words, unit)), None)
    return ("days", count * days) if days else (unit.rstrip("s") + "s", count)


def check_names_of_work(runs: Mapping[str, Runs], columns: Iterable[Column]) -> None:
    """Refuse solvers whose names, or whose files' names, tell different work, where the times tell no unit of work."""
    times = [column for column in columns if column.role == "time"]
    if any(time_of_work(one.name) is not None or days_of_time(one) is not None for one in times):
        return
    told: dict[str, tuple[str, tuple[str, float]]] = {}
    for solver, one in runs.items():
        sources = {Path(str(source)).name.split(".")[0] for source in one.to_frame()["source"]}
        for name in (solver, *(sources if len(sources) == 1 else ())):
            if (work := work_in(name)) is not None:
                told.setdefault(solver, (name, work))
    works = [work for _, work in told.values()]
    if len(works) < 2 or not _differ(works):
        return
    names = " and ".join(repr(name) for name, _ in told.values())
    raise InputError(
        f"{names} tell by their names that their times are of different work: give the time of one step of the coupled "
        "run for each; or, if the times are those already, name the parameters, as in --parameters "
        f"{','.join(next(iter(runs.values())).parameters)}"
    )


def _differ(works: list[tuple[str, float]]) -> bool:
    counts = [count for _, count in works]
    return len({unit for unit, _ in works}) > 1 or max(counts) > _ALIKE * min(counts)
