"""Formatting of numbers for people: three or four significant digits, a suitable unit prefix, and the unit.

All tables and plots format their numbers with this module, so that a quantity looks the same everywhere.
"""

from __future__ import annotations

import math
from collections.abc import Iterable, Mapping
from numbers import Real
from typing import Any

from evenly.errors import InputError
from evenly.runs.durations import unit_of

__all__ = [
    "common_prefix", "compact", "in_unit", "interval", "percent", "plain", "prefix_for", "quantity", "ranks_text",
    "span", "time_limit", "typical_error", "value_text",
]  # fmt: skip

#: For each base unit but seconds: (factor, name) in increasing order. A value is written in the largest unit not above
#: it.
_PREFIXES: dict[str, tuple[tuple[float, str], ...]] = {
    "B": ((1.0, "B"), (2.0**10, "KiB"), (2.0**20, "MiB"), (2.0**30, "GiB"), (2.0**40, "TiB")),
    "J": ((1e-3, "mJ"), (1.0, "J"), (1e3, "kJ"), (1e6, "MJ"), (1e9, "GJ")),
    "1": ((1.0, ""),),
}


def compact(value: float, digits: int = 4) -> str:
    """Format a number with `digits` significant digits, and with ``k``, ``M`` or ``G`` from 10,000 on.

    Examples
    --------
    >>> [compact(x) for x in (0.5, 3.14159, 560, 1024, 4194304, 2.5e-7)]
    ['0.5', '3.142', '560', '1024', '4.194M', '2.5e-07']
    """
    if not math.isfinite(value):
        return {math.inf: "∞", -math.inf: "-∞"}.get(value, "–")
    for factor, letter in ((1e9, "G"), (1e6, "M"), (1e4, "k")):
        scale = 1e3 if letter == "k" else factor
        if abs(value) >= factor and abs(value) < 1e15:
            return _plain(value / scale, digits) + letter
    return _plain(value, digits)


def _plain(value: float, digits: int) -> str:
    if value == 0:
        return "0"
    if abs(value) >= 1e15 or abs(value) < 1e-4:
        return f"{value:.{digits}g}"
    rounded = float(f"{value:.{digits}g}")
    places = max(0, digits - 1 - math.floor(math.log10(abs(rounded))))
    text = f"{rounded:.{places}f}"
    return text.rstrip("0").rstrip(".") if "." in text else text


def prefix_for(values: Iterable[float], unit: str = "s") -> tuple[float, str]:
    """Return the factor and the name of a unit that suits all of `values` (of an axis or a column).

    Parameters
    ----------
    values : iterable of float
        Values in the base unit; the largest magnitude determines the prefix.
    unit : {"s", "B", "J", "1"}
        The base unit.

    Examples
    --------
    >>> prefix_for([0.0004, 0.02])
    (0.001, 'ms')
    >>> prefix_for([3e9], "B")
    (1073741824.0, 'GiB')
    """
    if unit != "s" and unit not in _PREFIXES:
        raise InputError(f"the unit must be one of s, {', '.join(_PREFIXES)}, but got {unit!r}")
    finite = [abs(x) for x in values if math.isfinite(x) and x != 0]
    largest = max(finite, default=1.0) * (1 + 1e-12)
    if unit == "s":
        return unit_of(largest)
    fitting = [(factor, name) for factor, name in _PREFIXES[unit] if largest >= factor]
    return fitting[-1] if fitting else _PREFIXES[unit][0]


def common_prefix(values: Iterable[float], unit: str = "s", own: float | None = None) -> tuple[float, str]:
    """Return the factor and the name of one unit for all values of a column, so that they are easy to compare.

    If the column spans more than four decades, the unit suits `own`, the value of one row, instead.

    Examples
    --------
    >>> common_prefix([0.5, 0.02]), common_prefix([500.0, 1e-4], own=1e-4)
    ((0.001, 'ms'), (1e-06, 'µs'))
    """
    shown = [abs(value) for value in values if math.isfinite(value) and value != 0]
    if own is not None and shown and max(shown) > 1e4 * min(shown):
        return prefix_for([own], unit)
    return prefix_for(shown, unit)


def in_unit(value: float, factor: float, digits: int = 4) -> str:
    """Format a value in the unit of its column: up to a million as it is, since a letter before a unit reads badly.

    Examples
    --------
    >>> in_unit(0.0168, 1e-6, 3), in_unit(0.0168, 1e-3, 3)
    ('16800', '16.8')
    """
    number = value / factor
    return _plain(number, digits) if 1e4 <= abs(number) < 1e6 else compact(number, digits)


def quantity(value: float, unit: str = "s", digits: int = 4) -> str:
    """Format a measured value with a suitable unit prefix.

    Examples
    --------
    >>> quantity(0.0123), quantity(75.0), quantity(7200.0), quantity(3.5e9, "B"), quantity(12.0, "1")
    ('12.3 ms', '75 s', '120 min', '3.26 GiB', '12')
    """
    if not math.isfinite(value):
        return compact(value)
    factor, name = prefix_for([value], unit)
    return f"{compact(value / factor, digits)} {name}".rstrip()


def interval(lower: float, upper: float, unit: str = "s", digits: int = 3) -> str:
    """Format an interval with one unit for both ends.

    Examples
    --------
    >>> interval(0.0117, 0.0131)
    '11.7 … 13.1 ms'
    """
    factor, name = prefix_for([lower, upper], unit)
    return f"{in_unit(lower, factor, digits)} … {in_unit(upper, factor, digits)} {name}".rstrip()


def span(low: float, high: float, digits: int = 4) -> str:
    """Format a range of numbers without a unit; a single number if both ends are equal.

    Examples
    --------
    >>> span(16, 512), span(4, 4)
    ('16 … 512', '4')
    """
    return compact(low, digits) if low == high else f"{compact(low, digits)} … {compact(high, digits)}"


def count_text(count: int) -> str:
    """Format a count of things: exactly, and as `compact` does without a comma below 10,000.

    Examples
    --------
    >>> count_text(1500), count_text(45_000)
    ('1500', '45,000')
    """
    return str(count) if count < 10_000 else f"{count:,}"


def percent(share: float, digits: int = 3) -> str:
    """Format a share as a percentage, rounded to a tenth of a percent.

    Examples
    --------
    >>> percent(0.0312), percent(0.97), percent(1.0), percent(0.9746, 2)
    ('3.1 %', '97 %', '100 %', '97 %')
    """
    if not math.isfinite(share):
        return compact(share)
    places = min(1, digits - len(str(int(100 * abs(share)))))  # rounded once: 97.46 is 97, not 97.5 and then 98
    return f"{compact(round(100 * share, places), digits)} %"


def typical_error(logs: float) -> str:
    """Return how far predictions are typically off, from MLogQ, their mean distance in logarithms.

    Examples
    --------
    >>> typical_error(0.0953), typical_error(1.1)
    ('10 %', 'a factor of 3')
    """
    factor = math.exp(logs)
    return percent(factor - 1) if factor < 2 else f"a factor of {compact(factor, 2)}"


def ranks_text(count: int) -> str:
    """Return so many ranks in words.

    Examples
    --------
    >>> ranks_text(1), ranks_text(2)
    ('1 rank', '2 ranks')
    """
    return f"{count} rank{'' if count == 1 else 's'}"


def time_limit(seconds: float) -> str:
    """Format a time limit for a batch system as HH:MM:SS, rounded up to a whole minute, which Slurm counts in.

    Examples
    --------
    >>> time_limit(62.0), time_limit(3600.0), time_limit(123_456.0)
    ('00:02:00', '01:00:00', '34:18:00')
    """
    if not (math.isfinite(seconds) and seconds >= 0):
        return "–"
    minutes = max(1, math.ceil(seconds / 60 - 1e-9))
    return f"{minutes // 60:02d}:{minutes % 60:02d}:00"


def plain(value: Any) -> Any:
    """Convert a value for JSON: numpy's numbers and arrays to Python's, numbers that are not finite to None.

    Examples
    --------
    >>> import numpy as np
    >>> plain({"cores": np.int64(4), "seconds": np.array([1.5, np.inf])})
    {'cores': 4, 'seconds': [1.5, None]}
    """
    if hasattr(value, "tolist"):
        value = value.tolist()
    match value:
        case Mapping():
            return {str(key): plain(item) for key, item in value.items()}
        case list() | tuple() | set() | frozenset():
            return [plain(item) for item in value]
        case float():
            return value if math.isfinite(value) else None
        case None | bool() | int() | str():
            return value
    return str(value)


def value_text(value: Any) -> str:
    """Format the value of a parameter: numbers with `compact`, labels unchanged, true and false as a study has them.

    Examples
    --------
    >>> value_text(4194304), value_text("gmres"), value_text(True)
    ('4.194M', 'gmres', 'true')
    """
    if not isinstance(value, str) and str(value) in ("True", "False"):
        return str(value).lower()
    return compact(float(value)) if isinstance(value, Real) else str(value)
