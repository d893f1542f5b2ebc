"""Columns with the time of a unit of work: ``time (h/year)``, ``s/step``, ``hours per simulated year``."""

from __future__ import annotations

import re
from dataclasses import dataclass

from evenly.runs.units import YEAR_DAYS

__all__ = ["TimeOfWork", "time_of_work"]

_PER = re.compile(
    r"^(?:(?P<base>.*?)(?P<mark>\s*[\[(]|[\s_]+))??(?P<unit>[^\W\d_]+\.?)"
    r"(?:\s*/\s*|[\s_]+(?:per|pro|par|por|je|al?|all)[\s_]+)(?P<work>[^\W\d][^\])]*?)\s*[\])]?\s*$",
    re.IGNORECASE,
)
_SIMULATED = re.compile(
    r"^(?:sim(?:ulated|ulation)?|mod(?:el|ell)?|m|s|simulierte[sr]?)[\s_.]*(?=(?:day|year|yr|y|d|tag|jahr)$)"
    r"|[\s_]*(?:of[\s_])?simul\w+$",
    re.IGNORECASE,
)
_YEARS = frozenset({"y", "yr", "year", "jahr", "an", "année", "annee", "ano", "año", "anno"})
_DAYS = frozenset({"d", "day", "tag", "jour", "dia", "día", "giorno"})
_OTHERS = frozenset({
    "month", "monat", "mois", "step", "time step", "time_step", "timestep", "iteration", "iter", "it", "window",
    "schritt", "zeitschritt", "pas", "paso", "passo", "itération", "iteración", "ns", "nanosecond",
})  # fmt: skip
#: What may stand before the unit without making it another time.
_ON_THE_WALL = frozenset({"", "wall", "wallclock", "walltime", "wallclocktime", "elapsed", "elapsedtime", "time"})


@dataclass(frozen=True)
class TimeOfWork:
    """A name that is, or ends with, a word and "per" another.

    Parameters
    ----------
    base : str
        What stands before: ``time`` of ``time (h/year)``.
    unit : str
        As it is written: ``h``.
    work : str
        In lower case, without "simulated": ``year``.
    days : float or None
        Days that the work simulates, if it is a day or a year.
    is_certain : bool
        Whether the work can be nothing else: a year in brackets, a simulated year, a step; but in ``hours/day``, a day
        may be one on the wall, and ``h/core`` is no time of work.
    """

    base: str
    unit: str
    work: str
    days: float | None
    is_certain: bool

    @property
    def said(self) -> str:
        """The work in words.

        Examples
        --------
        >>> found = [time_of_work(name) for name in ("time (h/an)", "time (s/day)", "min/month", "s/iter")]
        >>> [one.said for one in found if one is not None]
        ['a simulated year', 'a simulated day', 'each month', 'each iter']
        """
        return {1.0: "a simulated day", YEAR_DAYS: "a simulated year"}.get(self.days or 0.0, f"each {self.work}")


def time_of_work(column: str) -> TimeOfWork | None:
    """Return what a name says of the unit of work that its time is of; None if it says nothing.

    Examples
    --------
    >>> time_of_work("time (h/year)")
    TimeOfWork(base='time', unit='h', work='year', days=365.0, is_certain=True)
    >>> time_of_work("hours per simulated day")
    TimeOfWork(base='', unit='hours', work='day', days=1.0, is_certain=True)
    >>> time_of_work("wallclock hours per simulated year").is_certain, time_of_work("CPU hours per step").is_certain
    (True, False)
    >>> time_of_work("hours/day").is_certain, time_of_work("time [s]") is None
    (False, True)
    """
    match = _PER.match(column.strip())
    if match is None:
        return None
    work = _SIMULATED.sub("", match["work"].strip()).lower()
    days = YEAR_DAYS if work in _YEARS else 1.0 if work in _DAYS else None
    in_brackets = (match["mark"] or " ").strip(" _") != ""
    simulated = work != match["work"].strip().lower()
    on_the_wall = re.sub(r"[\s_-]", "", match["base"] or "").lower() in _ON_THE_WALL
    is_certain = (in_brackets or (on_the_wall and (days is None or simulated))) and (
        days is not None or work in _OTHERS
    )
    return TimeOfWork((match["base"] or "").strip(), match["unit"], work, days, is_certain)
