"""Units of measured quantities, converted on reading to seconds, bytes and joules.

A rate (simulated years per day, steps per second) is the inverse of a time. It is converted to the seconds that one
unit of work takes, so that all later code handles times only.
"""

from __future__ import annotations

import math
import re
from typing import TYPE_CHECKING

from evenly.errors import InputError

if TYPE_CHECKING:  # the command line reads only the names of the units, and importing numpy is slow
    import numpy as np
    from numpy.typing import ArrayLike, NDArray

__all__ = [
    "MONTH_DAYS", "SECONDS_PER", "SECONDS_PER_DAY", "YEAR_DAYS", "base_unit", "check_named_unit", "step_name",
    "to_base",
]  # fmt: skip

SECONDS_PER_DAY = 86_400.0
#: Days of a simulated year, as SYPD and the timing files of climate models count them.
YEAR_DAYS = 365.0
#: The mean of its months.
MONTH_DAYS = YEAR_DAYS / 12

#: Seconds in one unit of time.
SECONDS_PER: dict[str, float] = {
    "s": 1.0,
    "sec": 1.0,
    "seconds": 1.0,
    "ms": 1e-3,
    "us": 1e-6,
    "µs": 1e-6,
    "μs": 1e-6,
    "ns": 1e-9,
    "min": 60.0,
    "h": 3600.0,
    "d": SECONDS_PER_DAY,
}
#: Rates: the seconds for one unit of work are this number divided by the measured rate.
_SECONDS_TIMES_RATE: dict[str, float] = {
    "sypd": SECONDS_PER_DAY,  # simulated years per day → seconds per simulated year
    "sdpd": SECONDS_PER_DAY,  # simulated days per day → seconds per simulated day
    "1/s": 1.0,
    "1/min": 60.0,
    "1/h": 3600.0,
    "1/d": SECONDS_PER_DAY,
}
_BYTES: dict[str, float] = {
    "B": 1, "kB": 1e3, "MB": 1e6, "GB": 1e9, "TB": 1e12,
    "KiB": 2.0**10, "MiB": 2.0**20, "GiB": 2.0**30, "TiB": 2.0**40,
}  # fmt: skip
#: Units of time at the end of a name, which is not all of it: ``time_ms``, ``wall [us]``, ``run-minutes``.
_NAMED_UNITS = {
    "ms": "ms", "msec": "ms", "milliseconds": "ms", "us": "us", "usec": "us", "microseconds": "us", "ns": "ns",
    "nanoseconds": "ns", "min": "min", "minutes": "min", "hours": "h", "hrs": "h",
}  # fmt: skip
_NAMED_UNIT = re.compile(rf"(?:^|[-_ \[(/.])({'|'.join(_NAMED_UNITS)})[\])]?$", re.IGNORECASE)
_JOULES: dict[str, float] = {"J": 1, "kJ": 1e3, "MJ": 1e6, "Wh": 3600.0, "kWh": 3.6e6}


def base_unit(unit: str) -> str:
    """Return the base unit to which values in `unit` are converted: ``"s"``, ``"B"``, ``"J"`` or ``"1"``.

    Examples
    --------
    >>> base_unit("ms"), base_unit("SYPD"), base_unit("GiB"), base_unit("1")
    ('s', 's', 'B', '1')
    """
    if unit.startswith("ticks@"):
        _ticks_per_second(unit)
        return "s"
    for base, units in (("s", SECONDS_PER), ("B", _BYTES), ("J", _JOULES), ("1", ("1",))):
        if unit in units:
            return base
    if unit.lower() in _SECONDS_TIMES_RATE:
        return "s"
    known = [*SECONDS_PER, *_SECONDS_TIMES_RATE, "ticks@HZ", *_BYTES, *_JOULES, "1"]
    raise InputError(f"the unit must be one of {', '.join(known)}, but got {unit!r}")


def check_named_unit(column: str, unit: str) -> None:
    """Refuse a unit of time that contradicts the one in the name of a column: a factor of 1,000 is easily overlooked.

    Raises
    ------
    InputError
        If the name ends in another unit.

    Examples
    --------
    >>> check_named_unit("time_ms", "ms"), check_named_unit("seconds", "s"), check_named_unit("warm", "s")
    (None, None, None)
    >>> check_named_unit("time_ms", "s")
    Traceback (most recent call last):
    evenly.errors.InputError: the name of 'time_ms' says ms, but the unit is 's': give unit='ms', or rename the column
    """
    found = _NAMED_UNIT.search(column)
    named = None if found is None else _NAMED_UNITS[found[1].lower()]
    if named is not None and unit in SECONDS_PER and SECONDS_PER[unit] != SECONDS_PER[named]:
        raise InputError(
            f"the name of {column!r} says {named}, but the unit is {unit!r}: give unit={named!r}, or rename the column"
        )


def to_base(values: ArrayLike, unit: str) -> NDArray[np.float64]:
    """Convert measured values to seconds, bytes or joules.

    Parameters
    ----------
    values : array_like (n,)
        Measured values in `unit`.
    unit : str
        A time (``"s"``, ``"ms"``, ``"us"``, ``"ns"``, ``"min"``, ``"h"``, ``"d"``), clock ticks with the clock's rate
        in hertz (``"ticks@2.4e9"``), a rate (``"SYPD"``, ``"SDPD"``, ``"1/s"``, …), a size (``"GiB"``), an energy
        (``"kWh"``), or ``"1"`` for a number without a unit.

    Returns
    -------
    array (n,)
        Values in the base unit. A rate becomes the seconds per unit of work: SYPD becomes seconds per simulated year.

    Raises
    ------
    InputError
        If the unit is not known; the message lists the known units.

    Examples
    --------
    >>> to_base([1.5, 2.0], "ms")
    array([0.0015, 0.002 ])
    >>> to_base([24.0], "SYPD")
    array([3600.])
    >>> to_base([4.8e9], "ticks@2.4e9")
    array([2.])
    """
    import numpy as np

    base_unit(unit)
    numbers = np.asarray(values, dtype=np.float64)
    if unit.lower() in _SECONDS_TIMES_RATE:
        with np.errstate(divide="ignore"):
            return np.asarray(_SECONDS_TIMES_RATE[unit.lower()] / numbers)
    if unit.startswith("ticks@"):
        return np.asarray(numbers * (1.0 / _ticks_per_second(unit)))
    return np.asarray(numbers * (SECONDS_PER | _BYTES | _JOULES).get(unit, 1.0))


def _ticks_per_second(unit: str) -> float:
    try:
        rate = float(unit.removeprefix("ticks@"))
    except ValueError:
        rate = 0.0
    if not 0 < rate < math.inf:
        raise InputError(f"ticks need a positive rate in hertz, as in 'ticks@2.4e9', but got {unit!r}")
    return rate


def step_name(step_days: float | None) -> str:
    """Return what a step is called: a step, or the time that it simulates.

    Examples
    --------
    >>> step_name(None), step_name(365.0), step_name(1.0), step_name(0.25)
    ('step', 'simulated year', 'simulated day', 'step')
    """
    return {YEAR_DAYS: "simulated year", MONTH_DAYS: "simulated month", 1.0: "simulated day"}.get(
        step_days or 0.0, "step"
    )
