"""Times of a step in the units of climate models: simulated years per day, core-hours, seconds per simulated day.

SYPD: simulated years per day of wall time. CHSY (also CHPSY): core-hours per simulated year. Source: Balaji et al.,
"CPMIP: measurements of real computational performance of Earth system models in CMIP6", Geoscientific Model Development
10 (2017) 19-34.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass
from typing import Literal, get_args

from evenly.errors import InputError
from evenly.report.formatting import common_prefix, compact, in_unit
from evenly.runs.units import SECONDS_PER_DAY, YEAR_DAYS

__all__ = ["TimeUnit", "Written", "written"]

TimeUnit = Literal["SYPD", "CHSY", "s/day"]
_HEADINGS = {"SYPD": "SYPD", "CHSY": "core-h\nper year", "s/day": "s per\nsimulated day"}
_AFTER = {"SYPD": "SYPD", "CHSY": "core-hours per simulated year", "s/day": "s per simulated day"}
_SECONDS_PER_HOUR = 3600.0


@dataclass(frozen=True)
class Written:
    """How the times of a table are written.

    Parameters
    ----------
    unit : {"SYPD", "CHSY", "s/day"} or None
        None for times, with one prefix for all of a table.
    step_days : float or None
        Days that a step simulates.
    factor, prefix : float, str
        Seconds of one prefixed unit, where times are written.
    """

    unit: TimeUnit | None
    step_days: float | None
    factor: float = 1.0
    prefix: str = "s"

    @property
    def heading(self) -> str:
        """The heading of a column of times."""
        return "time" if self.unit is None else _HEADINGS[self.unit]

    @property
    def after(self) -> str:
        """What follows a number in a sentence; "" where times have prefixes of their own."""
        return "" if self.unit is None else _AFTER[self.unit]

    def value(self, seconds: float, cores: float) -> float:
        """Return the value in the unit, for a step that takes `seconds` on `cores`.

        Examples
        --------
        >>> Written("SYPD", 365.0).value(3600.0, 10), Written("CHSY", 1.0).value(3600.0, 10)
        (24.0, 3650.0)
        """
        if self.unit is None or self.step_days is None:
            return seconds
        if self.unit == "SYPD":
            return self.step_days / YEAR_DAYS * SECONDS_PER_DAY / seconds
        if self.unit == "CHSY":
            return cores * seconds / _SECONDS_PER_HOUR * YEAR_DAYS / self.step_days
        return seconds / self.step_days

    def text(self, seconds: float, cores: float) -> str:
        """Return what stands in a column of times."""
        if self.unit is None:
            return f"{in_unit(seconds, self.factor)} {self.prefix}"
        return compact(self.value(seconds, cores))

    def between(self, bounds: tuple[float, float], cores: float) -> str:
        """Return an interval, with its unit, from the lower bound to the upper one.

        Examples
        --------
        >>> Written("SYPD", 365.0).between((3600.0, 7200.0), 10)
        '12 … 24 SYPD'
        """
        if self.unit is None:
            return f"{' … '.join(in_unit(bound, self.factor, 3) for bound in bounds)} {self.prefix}"
        low, high = sorted(self.value(bound, cores) for bound in bounds)
        return f"{compact(low, 3)} … {compact(high, 3)} {self.after}"


def written(unit: TimeUnit | None, step_days: float | None, seconds: Iterable[float]) -> Written:
    """Return how the times of a table are written.

    Raises
    ------
    InputError
        If the unit is unknown, or counts simulated time, and it isn't known how much of it a step simulates.

    Examples
    --------
    >>> written(None, None, [0.5, 0.02]).text(0.5, 1)
    '500 ms'
    >>> written("SYPD", None, [0.5])
    Traceback (most recent call last):
    evenly.errors.InputError: SYPD needs to know how many days a step simulates: give step_days (--step-days), ...
    """
    if unit is None:
        return Written(None, step_days, *common_prefix(seconds))
    if unit not in get_args(TimeUnit):
        raise InputError(f"the unit must be one of {', '.join(get_args(TimeUnit))}, but got {unit!r}")
    if step_days is None:
        raise InputError(
            f"{unit} needs to know how many days a step simulates: give step_days (--step-days), as 1 for times of a "
            "simulated day, or 0.0104167 for steps of 15 minutes"
        )
    return Written(unit, step_days)
