"""A time beside simulated years per day: both tell how many days a run simulated."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field

import numpy as np
from numpy.typing import NDArray

from evenly.errors import ReadError, option_text
from evenly.readers.tables.chsy import TIME_NAME, is_chsy, is_node_hours, seconds_by_chsy
from evenly.readers.tables.columns import canonical_unit
from evenly.readers.tables.columns import measured as measured_by_name
from evenly.readers.tables.lone_work import counts_work, days_in
from evenly.readers.tables.per_work import time_of_work
from evenly.readers.tables.values import Values
from evenly.runs.units import SECONDS_PER, SECONDS_PER_DAY, YEAR_DAYS

__all__ = ["RateBeside", "days_by_rate", "rate_beside", "share_off", "unlike"]

Floats = NDArray[np.float64]

#: Days that each rate counts.
_DAYS = {"SYPD": YEAR_DAYS, "SDPD": 1.0}
#: Runs are of other lengths if these differ by more than this factor, beside what rounding makes: one of both numbers
#: may leave out how a run begins and ends. Smaller differences are said from the second one on.
_MORE, _SAID = 1.1, 1.01
#: Times are rounded, too: whole days may be off by this factor.
_EXACT = 1.005
#: A rate that rounding makes off by this share tells no days.
_COARSE = 0.1
#: If so many rows say exactly what a column of days says, a row that differs by this factor is wrong.
_MOST, _DIFFERENT = 0.5, 1.02
#: A whole number in a range that is narrower than this is no chance.
_PART_OF_DAY = 0.5


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
    own_days : float, optional
        The days that the time is of by its name, as ``s/day``.
    tells : bool
        Whether the rate is known to be that of the wall clock: core-hours may be those of other cores.
    seconds : array (n_rows,)
        The times.
    """

    values: Values
    time: str
    rate: str
    days: Floats
    off: Floats
    known: NDArray[np.bool_]
    works: Mapping[str, Floats]
    own_days: float | None = None
    tells: bool = True
    seconds: Floats = field(default_factory=lambda: np.empty(0))

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
        if not self.works and not self.own_days and self._are_unlike:
            right = f"if all are of one length, and {self.rate!r} is wrong"
            raise ReadError(
                self.values.path,
                f"{self._product} in some rows and {self.days[self.known].max():.3g} in others, so these times are of "
                f"runs of different lengths: {self._ways(is_wide=is_wide, option=option, right=right)}",
            )

    def refuse_other_days(self, *, is_wide: bool = False, option: str = "--time") -> None:
        """Refuse times of runs that simulated other times than a column says; see `refuse_other_lengths`."""
        counted, each = next(iter(self.works), ""), self._each
        if self._counts_days and unlike(each, self.off[self.known], of=1.0):
            row = int(np.flatnonzero(self.known)[int(np.argmax(np.abs(np.log(each))))])
            right = f"if {counted!r} and the times are right" if counted else f"if {self.rate!r} is wrong"
            told = f"{counted!r} is {self.works[counted][row]:g}" if counted else f"its name says {self.own_days:g}"
            raise self.values.at(
                row,
                f"{self._both} {self.days[row]:.3g} simulated days, but {told}: "
                f"{self._ways(is_wide=is_wide, option=option, right=right)}",
            )

    def _ways(self, *, is_wide: bool, option: str, right: str) -> str:
        if is_wide:
            return (
                f"to learn from {self.rate!r}, take the columns of {self.time!r} out; {right}, those of {self.rate!r}"
            )
        return (
            f"to learn from {self.rate!r}, say {option_text(option, self.rate)}; {right}, "
            f"{option_text(option, self.time)}"
        )

    def said_of_days(self, taken: str) -> str:
        """Return a sentence if a column of days says a bit more or less than the rate; "" if not.

        `taken` is the column that counts.
        """
        counted, each = next(iter(self.works), ""), self._each
        low, high = each * (1 - self.off[self.known]), each * (1 + self.off[self.known])
        if not self._counts_days or not ((low > _SAID) | (high < 1 / _SAID)).any():
            return ""
        most = 100 * float(np.expm1(np.abs(np.log(each)).max()))
        return (
            f"{self._both} up to {most:.2g} % {'more' if each.mean() > 1 else 'less'} than "
            f"the days {f'in {counted!r}' if counted else 'of its name'}: {taken!r} counts"
        )

    def said_of_few(self) -> str:
        """Return a sentence if a few rows are of another length than all others; "" if not."""
        days, lines = self.days[self.known], np.flatnonzero(self.known)
        middle = float(np.median(days))
        others = lines[np.abs(np.log(days / middle)) > np.log(_DIFFERENT) + self.off[self.known]]
        if self.works or self.own_days or not 0 < len(others) < (1 - _MOST) * len(days):
            return ""
        return (
            f"{self._both} {middle:.3g} simulated days, but {self.days[others[0]]:.3g} in "
            f"line {self.values.lines[others[0]]}: if runs are of one length, one of both is wrong there "
            f"({self.rate!r} counts)"
        )

    def of_equal_lengths(self) -> tuple[float | None, str]:
        """Return the simulated days that all times are of, None if they differ or other columns count them; and a note.

        Rounded rates may tell a bit more or less than whole days, or minutes.
        """
        if self.works or self.own_days:
            return None, self.said_of_days(next(iter(self.works), self.rate if self.own_days else self.time))
        if not self.tells:
            return None, ""
        if np.median(self.off[self.known]) > _COARSE:
            return None, f"{self.rate!r} is rounded too much to tell how many days the times are of"
        low, high = self._each * (1 - self.off[self.known]), self._each * (1 + self.off[self.known])
        if self._are_unlike:
            return None, (
                f"{self._product} in some rows and {self.days[self.known].max():.3g} in others: their times are "
                "learned as those of one length"
            )
        middle, said = float(np.median(self._each)), f"{self._each.min():.4g} to {self._each.max():.4g} simulated days"
        for part in (1.0, 1 / 24, 1 / 1440):
            whole = part * round(middle / part)
            if ((low / _EXACT <= whole) & (whole <= high * _EXACT)).all():
                middle, said = whole, f"{whole:.6g} simulated days in all rows"
                break
        return middle, (
            f"{self._both} {said}: each time is taken to be of {middle:.6g} (if not, --parameters names the parameters)"
        )

    @property
    def _counts_days(self) -> bool:
        """Whether a single column counts the days of runs, and no other their work."""
        return bool(self.own_days) or (len(self.works) == 1 and days_in(next(iter(self.works)), 1.0) is not None)

    @property
    def _each(self) -> Floats:
        """How many times the works that a column counts the days are, of runs that ended well."""
        counted = next(iter(self.works), "")
        if self.own_days:
            return np.asarray(self.days[self.known] / self.own_days)
        told = self.works[counted] * (days_in(counted, 1.0) or 1.0) if counted else 1.0
        return np.asarray((self.days / told)[self.known])

    @property
    def _both(self) -> str:
        return (
            f"{self.time!r} {f'times {self.rate!r} makes' if _unit(self.rate) in _DAYS else f'and {self.rate!r} make'}"
        )

    @property
    def _are_unlike(self) -> bool:
        """Whether rows are of different lengths, by the days alone."""
        seconds, off = self.seconds[self.known], self.off[self.known]
        return unlike(self.days[self.known], off, seconds=seconds, only_exact=not self.tells)

    @property
    def _product(self) -> str:
        return f"{self._both} {self.days[self.known].min():.3g} simulated days"


def rate_beside(values: Values, time: str, seconds: Floats, ended: NDArray[np.bool_]) -> RateBeside | None:
    """Return a time and the only rate of simulated days beside it; None without one, or if no row tells both.

    If the time that is learned is a rate itself, it is that beside the only time of a day or year (``s/day``).

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
    if is_chsy(time) or time == TIME_NAME:
        return None
    if _unit(time) in _DAYS:
        timed = {name: its for name in map(str, values.cells) if (its := _of_a_day(values, name)) is not None}
        if len(timed) != 1:
            return None
        ((other, (seconds, own)),) = timed.items()
        days, off = days_by_rate(values.numbers(time), _DAYS[_unit(time)], seconds)
        known = ended & np.isfinite(days) & (days > 0)
        return RateBeside(values, other, time, days, off, known, {}, own, True, seconds) if known.any() else None
    rates = [name for name in _rates(values) if name != time]
    each = {name: its for name in map(str, values.cells) if name != time and (its := _of_a_day(values, name))}
    costs = [name for name in map(str, values.cells) if is_chsy(name) and values.is_numeric(name)]
    if len(rates or list(each) or costs) != 1:
        return None
    (rate,) = rates or list(each) or costs
    if each and not rates:
        with np.errstate(divide="ignore", invalid="ignore"):
            days = each[rate][1] * seconds / each[rate][0]
        off = share_off(values.numbers(rate))
    elif rates:
        days, off = days_by_rate(values.numbers(rate), _DAYS[_unit(rate)], seconds)
    else:
        try:
            _, year_s = seconds_by_chsy(values, rate)
        except ReadError:  # whose cores these are isn't known
            return None
        days, off = YEAR_DAYS * seconds / year_s, share_off(values.numbers(rate))
    known = ended & np.isfinite(days) & (days > 0)
    works = {name: values.numbers(name) for name in map(str, values.cells) if counts_work(name)}
    works = {name: its for name, its in works.items() if (its[known] > 0).all()}
    of = time_of_work(time)
    if not known.any():
        return None
    own_days = None if of is None else of.days
    works = {} if own_days else works
    return RateBeside(values, time, rate, days, off, known, works, own_days, bool(rates or each), seconds)


def _of_a_day(values: Values, name: str) -> tuple[Floats, float] | None:
    """Return the seconds (n_rows,) of a column, and the days that each is of by its name; None if it tells none."""
    found = time_of_work(name)
    unit = None if found is None else canonical_unit(found.unit.lower())
    if is_chsy(name) or is_node_hours(name):
        return None
    if found is None or found.days is None or unit not in SECONDS_PER or not values.is_numeric(name):
        return None
    return values.seconds(name, unit), found.days


def days_by_rate(rate: Floats, each: float, seconds: Floats) -> tuple[Floats, Floats]:
    """Return the days (n,) that runs of so many seconds simulated, by a rate, and by which share rounding makes it off.

    Examples
    --------
    >>> days, off = days_by_rate(np.array([2.0, 4.1]), 365.0, np.array([4320.0, 2160.0]))
    >>> days.round(1), off.round(3)
    (array([36.5, 37.4]), array([0.025, 0.012]))
    """
    with np.errstate(invalid="ignore"):
        return rate * each * seconds / SECONDS_PER_DAY, share_off(rate)


def share_off(rates: Floats) -> Floats:
    """Return by which share rounding may make each number off, (n,), by the most digits after the point of all.

    Examples
    --------
    >>> share_off(np.array([2.0, 4.1])).round(3).tolist()
    [0.025, 0.012]
    """
    shown = max((len(f"{one:.6g}".partition(".")[2]) for one in rates.tolist()), default=0)
    with np.errstate(divide="ignore"):
        return np.asarray(0.5 / 10.0**shown / rates)


def unlike(
    counts: Floats, off: Floats, *, of: float | None = None, seconds: Floats | None = None, only_exact: bool = False
) -> bool:
    """Tell whether days (n,), each off by a share, can't all be one number; or all `of`, if that is given.

    They differ by much, unless `only_exact`; or a bit, and what they are is too exact for chance: whole days, or
    several times the same. What the start of a run adds is the more the fewer `seconds` (n,) it takes.

    Examples
    --------
    >>> counts, off = np.array([10.0, 10.5]), np.array([0.01, 0.01])
    >>> unlike(counts, off), unlike(counts, off, of=5.0), unlike(np.array([10.0, 30.0]), off)
    (False, True, True)
    >>> unlike(np.array([28.0, 31.0, 28.01, 31.0]), np.full(4, 0.001)), unlike(np.array([28.2, 30.1]), off)
    (True, False)
    >>> exact, days = np.full(4, 1e-4), np.array([30.2, 30.2, 30.8, 30.8])
    >>> [unlike(days, exact, seconds=np.array(its)) for its in ([1208.0, 1208, 308, 308], [1208.0, 308, 1232, 312])]
    [False, True]
    """
    low, high = counts * (1 - off), counts * (1 + off)
    if of is not None:
        most_are = np.mean((low <= _EXACT * of) & (high * _EXACT >= of)) >= _MOST
        more = _DIFFERENT if most_are else _MORE
        return bool((low > more * of).any() or (high * more < of).any())
    low, high, middle = low / _EXACT, high * _EXACT, float(np.median(counts))
    are_one = (low <= middle) & (middle <= high)
    is_wrong = (low > _DIFFERENT * middle) | (high * _DIFFERENT < middle)
    starts = seconds is not None and _grow_as_runs_shorten(counts, seconds)
    few_wrong = len(counts) > 2 and not (only_exact or starts) and bool(is_wrong.any() and np.mean(are_one) > _MOST)
    many = not only_exact and bool(low.max() * _EXACT > _MORE * high.min() / _EXACT)
    return many or few_wrong or _are_several(low, high, may_start=starts)


def _grow_as_runs_shorten(counts: Floats, seconds: Floats) -> bool:
    """Tell whether days (n,) are the more, the fewer seconds (n,) a run takes, as where a time includes its start."""
    ordered = counts[np.argsort(-seconds, kind="stable")]
    return bool((ordered[1:] * _EXACT >= ordered[:-1]).all())


def _are_several(low: Floats, high: Floats, *, may_start: bool) -> bool:
    """Tell whether ranges of days (n,) gather at several whole days, or at several numbers that two rows have each."""
    order = np.argsort(low)
    low, high = low[order], high[order]
    ends = np.maximum.accumulate(high)
    begins = np.flatnonzero(np.append(True, low[1:] > ends[:-1]))
    groups = np.split(np.arange(len(low)), begins[1:])
    if len(groups) < 2:
        return False
    if all(np.floor(high[rows].min()) >= low[rows].max() > high[rows].min() - _PART_OF_DAY for rows in groups):
        return True
    return all(len(rows) > 1 for rows in groups) and not may_start


def _rates(values: Values) -> list[str]:
    return [name for name in map(str, values.cells) if _unit(name) in _DAYS and values.is_numeric(name)]


def _unit(name: str) -> str:
    found = measured_by_name(name)
    return "" if found is None else found.unit
