"""Helpers that build and concatenate tables of runs: their space, their common units, their label columns."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from evenly.errors import InputError
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["label_names", "shared_units", "space_of"]


def space_of(source: pd.DataFrame, parameters: list[str], space: Space | None) -> Space:
    """Return `space` if it has exactly these parameters; without a space, the box of parameter ranges of the table.

    Raises
    ------
    InputError
        If `space` has other parameters.

    Examples
    --------
    >>> space_of(pd.DataFrame({"cores": [1, 8], "seconds": [8.0, 1.0]}), ["cores"], None).names
    ['cores']
    """
    if space is None:
        return Space.from_data(source[parameters])
    if set(space.names) != set(parameters):
        raise InputError(
            f"the space must have the parameters {', '.join(parameters)}, but has {', '.join(space.names) or 'none'}"
        )
    return space


def shared_units(parts: Sequence[tuple[Sequence[str], Mapping[str, str]]]) -> dict[str, str]:
    """Return the units of all quantities of several tables that will be concatenated.

    Parameters
    ----------
    parts : sequence of (parameters, quantities)
        For each table: the names of its parameters, and the unit of each of its quantities.

    Raises
    ------
    InputError
        If the tables differ in their parameters, or in the unit of one quantity.

    Examples
    --------
    >>> shared_units([(["cores"], {"seconds": "s"}), (["cores"], {"seconds": "s", "memory": "B"})])
    {'seconds': 's', 'memory': 'B'}
    """
    names = parts[0][0]
    units: dict[str, str] = {}
    for others, quantities in parts:
        if set(others) != set(names):
            raise InputError(
                f"runs can be put together only over the same parameters, "
                f"but got {', '.join(names)} and {', '.join(others)}"
            )
        for quantity, unit in quantities.items():
            if units.setdefault(quantity, unit) != unit:
                raise InputError(f"{quantity!r} is in {units[quantity]} in one table and in {unit} in another")
    return units


def label_names(space: Space) -> list[str]:
    """Return the names of the categorical parameters.

    Examples
    --------
    >>> label_names(Space(solver=Categorical("cg", "gmres")))
    ['solver']
    """
    return [name for name, kind in space.parameters.items() if isinstance(kind, Categorical)]
