"""Finding launchers by name: those of evenly, and those other packages bring as entry points."""

from __future__ import annotations

from evenly.errors import InputError
from evenly.launch.base import Launcher
from evenly.plugins import installed

__all__ = ["launcher_class", "launcher_names"]


_GROUP = "evenly.launchers"


def launcher_names() -> list[str]:
    """Return the names that a study's ``launcher`` may have.

    Examples
    --------
    >>> launcher_names()[:2]
    ['local', 'mpi']
    """
    return sorted(installed(_GROUP))


def launcher_class(name: str) -> type[Launcher]:
    """Return a launcher's class; only this one is imported.

    Raises
    ------
    InputError
        If nobody provides it; the message lists what there is.

    Examples
    --------
    >>> launcher_class("local").__name__
    'Local'
    """
    if name not in installed(_GROUP):
        raise InputError(f"launcher must be one of {', '.join(launcher_names())}, but got {name!r}")
    kind: type[Launcher] = installed(_GROUP)[name].load()
    return kind
