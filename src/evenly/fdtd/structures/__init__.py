"""Example structures after published designs, with 10^5 to 10^9 grid points, depending on their parameters.

>>> names()
['cmos', 'oled', 'random', 'tandem']
>>> from evenly.fdtd import Simulation
>>> example = build("oled", resolution=40, size=1.5)
>>> Simulation(**example.simulation).grid.shape
(100, 100, 76)

Building an example allocates nothing large. `solve` runs an example and returns its normalised spectra.
"""

from __future__ import annotations

from dataclasses import fields
from typing import Any

from evenly.errors import InputError
from evenly.fdtd.structures.cmos import Cmos
from evenly.fdtd.structures.example import Example, Incident, Look, Recipe
from evenly.fdtd.structures.oled import Oled
from evenly.fdtd.structures.random_cells import RandomCell
from evenly.fdtd.structures.solving import Solution, prepare, solve
from evenly.fdtd.structures.tandem import Tandem

__all__ = [
    "Cmos", "Example", "Incident", "Look", "Oled", "RandomCell", "Recipe", "Solution", "Tandem", "build", "names",
    "parameters", "prepare", "recipe", "solve", "summary",
]  # fmt: skip

_RECIPES: dict[str, type[Recipe]] = {kind.name: kind for kind in (Cmos, Oled, RandomCell, Tandem)}


def names() -> list[str]:
    """Return the names of the structures.

    Examples
    --------
    >>> "tandem" in names()
    True
    """
    return sorted(_RECIPES)


def recipe(name: str) -> type[Recipe]:
    """Return the class with a structure's parameters; its docstring describes them.

    Raises
    ------
    InputError
        If there is no structure of that name.

    Examples
    --------
    >>> recipe("oled") is Oled
    True
    """
    if name not in _RECIPES:
        raise InputError(f"A structure is one of {', '.join(names())}, but got {name!r}.")
    return _RECIPES[name]


def summary(name: str) -> str:
    """Return a one-line description of a structure.

    Examples
    --------
    >>> summary("oled")
    'organic light-emitting diode: extracted, guided and lost light, 0.4 to 0.8 µm'
    """
    return recipe(name).summary


def parameters(name: str) -> dict[str, Any]:
    """Return a structure's parameters with their defaults.

    Examples
    --------
    >>> parameters("tandem")["resolution"]
    40.0
    """
    return {f.name: f.default for f in fields(recipe(name))}


def build(name: str, **given: Any) -> Example:
    """Return an example: the keywords of a simulation, and its monitors.

    Parameters
    ----------
    name : str
        One of `names()`.
    **given
        Values for some of `parameters(name)`; the others keep their defaults.

    Raises
    ------
    InputError
        If the structure or a parameter is unknown, or a value is invalid.

    Examples
    --------
    >>> build("oled", colour="blue")
    Traceback (most recent call last):
    evenly.errors.InputError: The structure 'oled' has no parameter 'colour': it has resolution, frequencies, ...
    """
    kind = recipe(name)
    unknown = [parameter for parameter in given if parameter not in parameters(name)]
    if unknown:
        known = ", ".join(parameters(name))
        raise InputError(f"The structure {name!r} has no parameter {unknown[0]!r}: it has {known}.")
    return kind(**given).example()
