"""Values of ``--at`` for coupled solvers: ``level=8`` is for all that have such a parameter, ``atm.grid=fine`` for one.

A mapping of values holds those of all solvers by parameter, and those of one solver in a mapping of its own, as
`evenly.allocate` takes them.
"""

from __future__ import annotations

import shlex
from collections.abc import Mapping
from typing import TYPE_CHECKING, Any

from evenly.cli import parsing
from evenly.errors import InputError, option_text
from evenly.runs.count_names import kind_of

if TYPE_CHECKING:
    from evenly.runs.cores import Cores
    from evenly.space.space import Space

__all__ = ["by_solver", "check_fixed", "of_all"]


def by_solver(fixed: Mapping[str, Any], spaces: Mapping[str, Space]) -> dict[str, Any]:
    """Return values as they are typed by parameter, with those of one solver in a mapping.

    Names are spelled as the parameters are: a column `machine` is the parameter `machine_`.

    Parameters
    ----------
    fixed : mapping
        Name, or solver and name with a dot between them, to value.
    spaces : mapping of str to Space
        The parameters of each solver.

    Raises
    ------
    InputError
        If the solver has no such parameter.

    Examples
    --------
    >>> from evenly import Categorical, Integer, Space
    >>> space = Space(cores=Integer(1, 64), grid=Categorical("fine", "coarse"), level=Integer(8, 9))
    >>> by_solver({"Level": 8, "atm.grid": "fine"}, {"atm": space, "ocn": space})
    {'level': 8, 'atm': {'grid': 'fine'}}
    """
    known = list(dict.fromkeys(name for space in spaces.values() for name in space.names))
    found: dict[str, Any] = {}
    for typed, value in fixed.items():
        name = parsing.spelled(typed, known)
        solver = next((one for one in spaces if typed.startswith(f"{one}.") and name not in known), None)
        if solver is None:
            found[name] = value
            continue
        own = spaces[solver].names
        name = parsing.spelled(typed.removeprefix(f"{solver}."), own)
        found.setdefault(solver, {})[parsing.one_of(name, own, f"the parameter of {solver} that --at names")] = value
    return found


def of_all(fixed: Mapping[str, Any]) -> dict[str, Any]:
    """Return the values that are for all solvers.

    Examples
    --------
    >>> of_all({"level": 8, "atm": {"grid": "fine"}})
    {'level': 8}
    """
    return {name: value for name, value in fixed.items() if not isinstance(value, Mapping)}


def check_fixed(solver: str, spaces: Mapping[str, Space], cores: Cores, fixed: Mapping[str, Any]) -> None:
    """Refuse a solver of which more is open than the cores, or of which no run has the label that is asked for.

    Parameters
    ----------
    solver : str
        Its name.
    spaces : mapping of str to Space
        The parameters of each solver.
    cores : Cores
        What the cores of the solver are.
    fixed : mapping
        The values of its other parameters.

    Examples
    --------
    >>> from evenly import Categorical, Integer, Space
    >>> from evenly.runs.cores import find_cores
    >>> spaces = {"atm": Space(cores=Integer(1, 64), grid=Categorical("fine", "coarse")),
    ...           "ocn": Space(cores=Integer(1, 64), grid=Categorical("tripolar"))}
    >>> check_fixed("ocn", spaces, find_cores(spaces["ocn"]), {"grid": "fine"})
    Traceback (most recent call last):
    evenly.errors.InputError: grid is tripolar in all runs of ocn, not fine: --at atm.grid=fine sets it for atm alone
    """
    from evenly.runs.cores import constants
    from evenly.space.parameters import Categorical

    space = spaces[solver]
    for name, label in constants(space).items():
        asked = str(fixed.get(name, label))
        kind = space.parameters[name]
        others = [one for one, its in spaces.items() if one != solver and asked in _labels(its, name)]
        if isinstance(kind, Categorical) and asked.lower() != str(label).lower() and others:
            alone = " ".join(f"--at {shlex.quote(f'{one}.{name}={asked}')}" for one in others)
            raise InputError(
                f"{name} is {label} in all runs of {solver}, not {asked}: {alone} sets it for {', '.join(others)} alone"
            )
    given = {**constants(space), **fixed}
    left = [name for name in space.names if name not in cores.names and name not in given]
    if left:
        of = "" if all(set(left) <= set(space.names) for space in spaces.values()) else f"{solver}."
        listed = " ".join(f"--at {shlex.quote(f'{of}{name}=…')}" for name in left)
        raise InputError(
            f"the measurements {f'of {solver} ' if of else ''}vary {', '.join(space.names)}, but an assignment decides "
            f"only on cores ({cores.text}): give a value for {', '.join(left)}, as in {listed}"
            + _maybe_told(cores, left)
            + _maybe_divided(left)
            + (_maybe_solvers(space, left) if len(spaces) == 1 else "")
        )


def _labels(space: Space, name: str) -> list[str]:
    return [str(label) for label in getattr(space.parameters.get(name), "options", ())]


def _maybe_divided(left: list[str]) -> str:
    """Propose to divide times by the simulated days that a column counts."""
    from evenly.readers.tables.lone_work import days_in

    days = [name for name in left if days_in(name, 1.0) is not None]
    return f"; or divide each time by {days[0]}, and call the column 's/day'" if days else ""


def _maybe_told(cores: Cores, left: list[str]) -> str:
    """Propose to leave nodes out, which follow from the cores."""
    nodes = [name for name in left if kind_of(name) == "nodes"]
    named = option_text("--parameters", ",".join(cores.names))
    return f"; or, if {nodes[0]} follows from the cores, leave it out with {named}" if nodes == left else ""


def _maybe_solvers(space: Space, left: list[str]) -> str:
    """Propose a column of labels as that of the solvers: it may be called model, code or application."""
    labels = [name for name in left if space.parameters[name].kind == "categorical"]
    return f"; or, if {labels[0]} names the coupled solvers: --solver {shlex.quote(labels[0])}" if labels else ""
