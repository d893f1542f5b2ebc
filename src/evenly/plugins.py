"""Plug-ins: what evenly and other packages offer under a name, as entry points of one group per kind."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from importlib.metadata import EntryPoint, entry_points
from typing import Any

from evenly.errors import InputError

__all__ = ["installed", "load"]


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; nothing is imported.

    Examples
    --------
    >>> installed("evenly.launchers")["local"].load().__name__
    'Local'
    """
    return {point.name: point for point in entry_points(group=group)}


def load(group: str, name: str, kind: str, others: Iterable[str] = ()) -> Any:
    """Import one plug-in by name; no other plug-in is imported.

    Parameters
    ----------
    group : str
        The entry-point group, as ``"evenly.models"``.
    name : str
        The plug-in.
    kind : str
        What a message calls it, as ``"method"``.
    others : iterable of str
        Names that do not come from entry points, which a message lists too.

    Raises
    ------
    InputError
        If the group has no such name; the message lists the names.

    Examples
    --------
    >>> load("evenly.launchers", "cloud", "launcher")
    Traceback (most recent call last):
    evenly.errors.InputError: launcher must be one of local, mpi, but got 'cloud'
    """
    found = installed(group)
    if name not in found:
        raise InputError(f"{kind} must be one of {', '.join(sorted({*found, *others}))}, but got {name!r}")
    return found[name].load()
