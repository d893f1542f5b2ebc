"""The parameters that aren't the cores: each needs a value before anything can be predicted."""

from __future__ import annotations

import shlex
from collections.abc import Collection
from typing import Any

from evenly.errors import InputError
from evenly.runs.cores import constants
from evenly.space.parameters import Categorical, Parameter
from evenly.space.ranges import ends
from evenly.space.space import Space

__all__ = ["unvaried"]


def unvaried(space: Space, at: Collection[str], *, but: Collection[str] = ()) -> dict[str, Any]:
    """Return the parameters that never varied and aren't in `at`, with their values; ask for those that varied.

    Parameters
    ----------
    space : Space
        The parameters, with the range of the measurements.
    at : collection of str
        The names of those that have a value.
    but : collection of str
        The names of those that need none.

    Raises
    ------
    InputError
        If a parameter varied and has no value.

    Examples
    --------
    >>> from evenly import Integer, Space
    >>> unvaried(Space(cores=Integer(1, 64), grid=Integer(8, 96), level=Integer(8, 8)), ["grid"], but=["cores"])
    {'level': 8}
    """
    always = constants(space, but=[*at, *but])
    if missing := [name for name in space.names if name not in at and name not in but and name not in always]:
        examples = (f"--at {shlex.quote(_example(name, space.parameters[name]))}" for name in missing)
        raise InputError(
            f"the time also depends on {', '.join(missing)}: give a value for each, as in {' '.join(examples)}"
        )
    return always


def _example(name: str, kind: Parameter) -> str:
    """Return ``name=value`` with the last label or the largest number; marks that the option splits at are quoted."""
    value = str(kind.options[-1]) if isinstance(kind, Categorical) else f"{ends(kind)[1]:.12g}"
    if isinstance(kind, Categorical) and set(value) & set(",=:"):
        value = f'"{value}"'
    return f"`{name}`={value}" if "=" in name else f"{name}={value}"
