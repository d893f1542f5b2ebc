"""How many days a step of coupled solvers simulates: their times must be of as many, or are made so.

A time of a simulated year beside one of a day, or beside one that tells no work, can't be compared. Only the user knows
how many days the latter is of.
"""

from __future__ import annotations

from collections.abc import Collection, Mapping

from evenly.errors import InputError

__all__ = ["days_of_step", "said_of_days"]

#: The days that the times of each solver are of; None stands for times that don't tell it.
Told = Mapping[str, Collection[float | None]]


def days_of_step(told: Told, asked: float | None = None) -> float | None:
    """Return the days that a step simulates: those of all times, or those that the user asks for; None if neither.

    Parameters
    ----------
    told : mapping of str to collection of float or None
        The days that the times of each solver are of; None stands for times that don't tell it.
    asked : float, optional
        What the user says.

    Raises
    ------
    InputError
        If the times are of different days, or some don't tell it, and the user doesn't say it. If all times are of
        other days than the user says.

    Examples
    --------
    >>> days_of_step({"atm": [365.0], "ocn": [365.0]}), days_of_step({"atm": [365.0], "ocn": [None]}, 1.0)
    (365.0, 1.0)
    >>> days_of_step({"atm": [365.0], "ocn": [None]})
    Traceback (most recent call last):
    evenly.errors.InputError: the times of the solvers are of different work (365 simulated days for atm, and nothing...
    """
    each = set[float | None]().union(*told.values())
    found = each.pop() if len(each) == 1 else None
    if asked is not None and found not in (None, asked):
        raise InputError(
            f"step_days={asked:g} (--step-days) contradicts the measurements, whose times are of "
            f"{_days(f'{found:g}')}: leave it out, or, if a column counts days that the times aren't of, name the "
            "parameters (--parameters)"
        )
    if asked is None and each:
        known = [f"{_days(_listed(its))} for {name}" for name, its in told.items() if {*its} != {None}]
        silent = [name for name, its in told.items() if None in its]
        lacking = f", and nothing tells it for {', '.join(silent)}" if silent else ""
        raise InputError(
            f"the times of the solvers are of different work ({', '.join(known)}{lacking}): say with step_days "
            f"(--step-days) how many days {'each time of ' + ', '.join(silent) if silent else 'a step'} simulates, as "
            "31 for a month; all times are then made those of so many"
        )
    return found if asked is None else asked


def said_of_days(told: Told, days: float) -> list[str]:
    """Return what to say of times that are made those of so many days, or are taken to be of them.

    Examples
    --------
    >>> said_of_days({"atm": [365.0], "ocn": [None], "ice": [1.0]}, 1.0)
    ['atm: times of 365 simulated days are made those of 1', 'ocn: each time is taken to be of 1 simulated day']
    """
    said = []
    for name, its in told.items():
        if others := {*its} - {None, days}:
            said.append(f"{name}: times of {_days(_listed(others))} are made those of {days:g}")
        if None in its:
            which = "each time" if {*its} == {None} else "each time that doesn't tell it"
            said.append(f"{name}: {which} is taken to be of {_days(f'{days:g}')}")
    return said


def _days(count: str) -> str:
    return f"{count} simulated day{'' if count == '1' else 's'}"


def _listed(days: Collection[float | None]) -> str:
    return " and ".join(f"{one:g}" for one in sorted(one for one in days if one is not None))
