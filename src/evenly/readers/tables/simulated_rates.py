"""A time beside simulated years per day: both tell how many days a run simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.columns import measured as measured_by_name
from evenly.readers.tables.lone_work import counts_work, days_in
from evenly.readers.tables.values import Values
from evenly.runs.units import SECONDS_PER_DAY, YEAR_DAYS

__all__ = ["RateBeside", "days_by_rate", "rate_beside", "unlike"]

Floats = NDArray[np.float64]

#: Days that each rate counts.
_DAYS = {"SYPD": YEAR_DAYS, "SDPD": 1.0}
#: Runs are of other lengths if these differ by more than this, beside what rounding makes: years have 360 days, too.
_MORE = 1.1
#: Times are rounded, too: whole days may be off by this factor.
_EXACT = 1.005


@dataclass(frozen=True)
class RateBeside:
    """A rate beside a time.

    Parameters
    ----------
    values : Values
        The table.
    time, rate : str
        Their columns.
    days : array (n_rows,)
        The simulated days that each row's time is of, by the rate.
    off : array (n_rows,)
        The share by which rounding makes them off.
    known : bool array (n_rows,)
        The runs that ended well.
    works : mapping of str to array (n_rows,)
        The columns that count days, or other works, too.
    """

    values: Values
    time: str
    rate: str
    days: Floats
    off: Floats
    known: NDArray[np.bool_]
    works: Mapping[str, Floats]

    def refuse_other_lengths(self, *, is_wide: bool = False, option: str = "--time") -> None:
        """Refuse times of runs that simulated different times, or other times than a column says.

        Parameters
        ----------
        is_wide : bool
            Whether each solver has columns of its own in the file.
        option : str
            That which names the column of the time.

        Raises
        ------
        ReadError
            With both ways (in Python, ``time=``): to learn from the rate, or from the time.
        """
        self.refuse_other_days(is_wide=is_wide, option=option)
        if len(self.works) < 2 and unlike(self._each, self.off[self.known]):
            raise ReadError(
                self.values.path,
                f"{self._product} in some rows and {self.days[self.known].max():.3g} in others, so these times are of "
                f"runs of different lengths: {self._ways(is_wide=is_wide, option=option)}",
            )

    def refuse_other_days(self, *, is_wide: bool = False, option: str = "--time") -> None:
        """Refuse times of runs that simulated other times than a column says; see `refuse_other_lengths`."""
        counted, each = next(iter(self.works), ""), self._each
        contradict = len(self.works) == 1 and days_in(counted, 1.0) is not None
        if contradict and unlike(each, self.off[self.known], of=1.0):
            row = int(np.flatnonzero(self.known)[int(np.argmax(np.abs(np.log(each))))])
            raise self.values.at(
                row,
                f"{self.time!r} times {self.rate!r} makes {self.days[row]:.3g} simulated days, but {counted!r} is "
                f"{self.works[counted][row]:g}: {self._ways(is_wide=is_wide, option=option)}",
            )

    def _ways(self, *, is_wide: bool, option: str) -> str:
        if is_wide:
            return (
                f"to learn from {self.rate!r}, take the columns of {self.time!r} out; if the times are right, those of "
                f"{self.rate!r}"
            )
        return (
            f"to learn from {self.rate!r}, say {option_text(option, self.rate)}; if the times are right, "
            f"{option_text(option, self.time)}"
        )

    def of_equal_lengths(self) -> tuple[float | None, str]:
        """Return the simulated days that all times are of, None if they differ or other columns count them; and a note.

        Rounded rates may tell a bit more or less than whole days, or minutes.
        """
        if self.works:
            return None, ""
        low, high = self._each * (1 - self.off[self.known]), self._each * (1 + self.off[self.known])
        if unlike(self._each, self.off[self.known]):
            return None, (
                f"{self._product} in some rows and {self.days[self.known].max():.3g} in others: their times are "
                "learned as those of one length"
            )
        middle = float(np.median(self._each))
        for part in (1.0, 1 / 24, 1 / 1440):
            whole = part * round(middle / part)
            if ((low / _EXACT <= whole) & (whole <= high * _EXACT)).all():
                middle = whole
                break
        return middle, (
            f"{self.time!r} times {self.rate!r} makes {middle:.6g} simulated days in all rows: each time is taken to "
            "be of that (if not, --parameters names the parameters)"
        )

    @property
    def _each(self) -> Floats:
        """How many times the works that a column counts the days are, of runs that ended well."""
        counted = next(iter(self.works), "")
        told = self.works[counted] * (days_in(counted, 1.0) or 1.0) if counted else 1.0
        return np.asarray((self.days / told)[self.known])

    @property
    def _product(self) -> str:
        return f"{self.time!r} times {self.rate!r} makes {self.days[self.known].min():.3g} simulated days"


def rate_beside(values: Values, time: str, seconds: Floats, ended: NDArray[np.bool_]) -> RateBeside | None:
    """Return the only rate of simulated days in a table beside the time; None without one, or if no row tells both.

    Parameters
    ----------
    values : Values
    time : str
        The column of the time.
    seconds : array (n_rows,)
        The times.
    ended : bool array (n_rows,)
        The runs that ended well.
    """
    rates = [name for name in _rates(values) if name != time]
    if len(rates) != 1:
        return None
    days, off = days_by_rate(values.numbers(rates[0]), _DAYS[_unit(rates[0])], seconds)
    known = ended & np.isfinite(days) & (days > 0)
    works = {name: values.numbers(name) for name in map(str, values.cells) if counts_work(name)}
    works = {name: its for name, its in works.items() if (its[known] > 0).all()}
    return RateBeside(values, time, rates[0], days, off, known, works) if known.any() else None


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
