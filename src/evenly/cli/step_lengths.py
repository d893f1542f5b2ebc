"""How many steps each solver takes in a step of the coupled run, by the lengths of their steps and by the layout."""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Mapping

from evenly.errors import InputError
from evenly.readers.tables.states import name_key

__all__ = ["as_option", "check_counts", "lengths_in", "steps_in", "tells_steps"]

#: Factors of a layout are typed with few digits.
_TYPED = 0.01


def tells_steps(layout: str | None, solvers: Iterable[str]) -> bool:
    """Tell whether a layout has solvers take different numbers of steps.

    Examples
    --------
    >>> tells_steps("max(fluid, 4 * solid)", ["fluid", "solid"]), tells_steps("3 * max(a, b)", ["a", "b"])
    (True, False)
    """
    if layout is None or "*" not in layout:
        return False
    return len(set(steps_in(layout, solvers).values())) > 1


def steps_in(layout: str, solvers: Iterable[str] | None = None) -> dict[str, float]:
    """Return how many steps each solver takes in one of a layout.

    Examples
    --------
    >>> steps_in("3 * max(2 * a, sum(b, c, b))")
    {'a': 6.0, 'b': 6.0, 'c': 3.0}
    """
    from evenly.allocation.problem.layout import parse_layout

    tree = parse_layout(layout, solvers)
    names = tree.names
    return {name: float(tree.seconds({one: float(one == name) for one in names})) for name in names}


def lengths_in(column: str, values: Mapping[str, float | str]) -> dict[str, float]:
    """Return the lengths of solvers' steps in a column, which may hold steps per day; those that are numbers.

    Examples
    --------
    >>> lengths_in("dt", {"a": 300, "b": "fine"}), lengths_in("steps per day", {"a": 24, "b": 48})
    ({'a': 300.0}, {'a': 1.0, 'b': 0.5})
    """
    known = {name: float(value) for name, value in values.items() if not isinstance(value, str) and value > 0}
    if name_key(column).startswith("steps_per_day"):
        return {name: min(known.values()) / value for name, value in known.items()}
    return known


def as_option(layout: str | None, lengths: Mapping[str, float], solvers: Iterable[str]) -> str:
    """Return a layout, side by side by default, in which each solver takes the steps that their lengths tell.

    Examples
    --------
    >>> as_option("max(2 * ifs, nemo)", {"ifs": 300.0, "nemo": 1200.0}, ["ifs", "nemo"])
    "--layout 'max(4 * ifs, nemo)'"
    """
    from evenly.allocation.problem.layout import multiplied, parse_layout

    tree = parse_layout(layout or "parallel", solvers)
    steps = steps_in(str(tree))
    longest = max(lengths, key=lengths.__getitem__)
    simulated = lengths[longest] * steps[longest]
    factors = {name: simulated / (length * steps[name]) for name, length in lengths.items()}
    return f"--layout {shlex.quote(str(multiplied(tree, factors)))}"


def check_counts(layout: str, lengths: Mapping[str, float], what: str, leave_out: str) -> None:
    """Refuse a layout in which solvers simulate different times in a step, by the lengths of their steps.

    Parameters
    ----------
    layout : str
        As the user typed it, with the numbers of steps.
    lengths : mapping of str to float
        The length of a step of each solver.
    what : str
        What tells the lengths, as ``dt is 300 for ifs, 1200 for nemo``.
    leave_out : str
        What says that these lengths don't count.

    Raises
    ------
    InputError
        If the numbers of steps contradict the lengths.
    """
    steps = steps_in(layout)
    simulated = {name: length * steps[name] for name, length in lengths.items() if name in steps}
    if len(simulated) < 2 or max(simulated.values()) <= min(simulated.values()) * (1 + _TYPED):
        return
    raise InputError(
        f"{what}, so that --layout {shlex.quote(layout)} has the solvers simulate different times in a step: "
        f"{as_option(layout, lengths, steps)} agrees with the lengths; if they aren't those of the measured steps, "
        f"{leave_out}"
    )
