"""Launchers by name: those of evenly, and those that other packages bring as entry points."""

from __future__ import annotations

from evenly.launch.base import Launcher
from evenly.plugins import installed, load

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
    """Return a launcher's class; no other launcher is imported.

    Raises
    ------
    InputError
        If nobody provides it; the message lists the names.

    Examples
    --------
    >>> launcher_class("local").__name__
    'Local'
    """
    kind: type[Launcher] = load(_GROUP, name, "launcher")
    return kind
