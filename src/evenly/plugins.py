"""Plug-ins of evenly and of other packages: named entry points, one entry-point group per kind of plug-in."""

from __future__ import annotations

from collections.abc import Iterable
from functools import cache
from typing import TYPE_CHECKING, Any

from evenly.errors import InputError

if TYPE_CHECKING:
    from importlib.metadata import EntryPoint

__all__ = ["installed", "load"]


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of one group by name, without importing any plug-in.

    Examples
    --------
    >>> installed("evenly.launchers")["local"].load().__name__
    'Local'
    """
    from importlib.metadata import entry_points  # takes long to import

    return {point.name: point for point in entry_points(group=group)}


def load(group: str, name: str, kind: str, others: Iterable[str] = ()) -> Any:
    """Import one plug-in by name and return it; no other plug-in is imported.

    Parameters
    ----------
    group : str
        The entry-point group, as ``"evenly.models"``.
    name : str
        The name of the plug-in.
    kind : str
        The word for this kind of plug-in in error messages, for example ``"method"``.
    others : iterable of str
        Further allowed names that are not entry points; error messages list them too.

    Raises
    ------
    InputError
        If the group has no such name; the message lists the allowed names.

    Examples
    --------
    >>> load("evenly.launchers", "cloud", "launcher")
    Traceback (most recent call last):
    evenly.errors.InputError: launcher must be one of flux, local, lsf, mpi, pbs, slurm, srun,
    but got 'cloud'
    """
    found = installed(group)
    if name not in found:
        raise InputError(f"{kind} must be one of {', '.join(sorted({*found, *others}))}, but got {name!r}")
    return found[name].load()
