"""A time beside simulated years per day: both tell how many days a run simulated."""

from __future__ import annotations

from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.columns import measured as measured_by_name
from evenly.readers.tables.lone_work import counts_work, days_in
from evenly.readers.tables.values import Values
from evenly.runs.units import SECONDS_PER_DAY, YEAR_DAYS

__all__ = ["days_by_rate", "refuse_other_lengths", "unlike"]

Floats = NDArray[np.float64]

#: Days that each rate counts.
_DAYS = {"SYPD": YEAR_DAYS, "SDPD": 1.0}
#: Runs are of other lengths if these differ by more than this, beside what rounding makes: years have 360 days, too.
_MORE = 1.1


def refuse_other_lengths(
    values: Values,
    time: str,
    seconds: Floats,
    ended: NDArray[np.bool_],
    *,
    is_wide: bool = False,
    option: str = "--time",
) -> None:
    """Refuse times of runs that simulated different times, or other times than a column says, by a rate beside them.

    Parameters
    ----------
    values : Values
    time : str
        The column of the time.
    seconds : array (n_rows,)
        The times.
    ended : bool array (n_rows,)
        The runs that ended well.
    is_wide : bool
        Whether each solver has columns of its own in the file.
    option : str
        That which names the column of the time.

    Raises
    ------
    ReadError
        With both ways (in Python, ``time=``): to learn from the rate, or from the time.
    """
    rates = [name for name in _rates(values) if name != time]
    if len(rates) != 1:
        return
    rate = rates[0]
    days, off = days_by_rate(values.numbers(rate), _DAYS[_unit(rate)], seconds)
    known = ended & np.isfinite(days) & (days > 0)
    works = {name: values.numbers(name) for name in map(str, values.cells) if counts_work(name)}
    works = {name: its for name, its in works.items() if (its[known] > 0).all()}
    if not known.any() or len(works) > 1:
        return
    ways = (
        f"to learn from {rate!r}, say {option_text(option, rate)}; if the times are right, {option_text(option, time)}"
        if not is_wide
        else f"to learn from {rate!r}, take the columns of {time!r} out; if the times are right, those of {rate!r}"
    )
    counted = next(iter(works), "")
    told = _days_of(works, counted)
    each = (days / told)[known]
    row = int(np.flatnonzero(known)[int(np.argmax(np.abs(np.log(each))))])
    if counted and days_in(counted, 1.0) is not None and unlike(each, off[known], of=1.0):
        raise values.at(
            row,
            f"{time!r} times {rate!r} makes {days[row]:.3g} simulated days, but {counted!r} is "
            f"{works[counted][row]:g}: {ways}",
        )
    if unlike(each, off[known]):
        low, high = days[known].min(), days[known].max()
        raise ReadError(
            values.path,
            f"{time!r} times {rate!r} makes {low:.3g} simulated days in some rows and {high:.3g} in others, so these "
            f"times are of runs of different lengths: {ways}",
        )


def days_by_rate(rate: Floats, each: float, seconds: Floats) -> tuple[Floats, Floats]:
    """Return the days (n,) that runs of so many seconds simulated, by a rate, and by which share rounding makes it off.

    Examples
    --------
    >>> days, off = days_by_rate(np.array([2.0, 4.1]), 365.0, np.array([4320.0, 2160.0]))
    >>> days.round(1), off.round(3)
    (array([36.5, 37.4]), array([0.025, 0.012]))
    """
    shown = max(len(f"{one:.6g}".partition(".")[2]) for one in rate.tolist()) if len(rate) else 0
    with np.errstate(divide="ignore", invalid="ignore"):
        return rate * each * seconds / SECONDS_PER_DAY, 0.5 / 10.0**shown / rate


def unlike(counts: Floats, off: Floats, *, of: float | None = None) -> bool:
    """Tell whether numbers (n,), each off by a share, can't all be one; or all `of`, if that is given.

    Examples
    --------
    >>> counts, off = np.array([10.0, 10.5]), np.array([0.01, 0.01])
    >>> unlike(counts, off), unlike(counts, off, of=5.0), unlike(np.array([10.0, 30.0]), off)
    (False, True, True)
    """
    low, high = counts * (1 - off), counts * (1 + off)
    if of is not None:
        return bool((low > _MORE * of).any() or (high * _MORE < of).any())
    return bool(low.max() > _MORE * high.min())


def _rates(values: Values) -> list[str]:
    return [name for name in map(str, values.cells) if _unit(name) in _DAYS and values.is_numeric(name)]


def _unit(name: str) -> str:
    found = measured_by_name(name)
    return "" if found is None else found.unit


def _days_of(works: Mapping[str, Floats], counted: str) -> Floats | float:
    """Return the days, or other works, that a column counts; 1 without one."""
    return works[counted] * (days_in(counted, 1.0) or 1.0) if counted else 1.0
