"""Launchers by name: evenly's own, and those that other packages provide as entry points."""

from __future__ import annotations

from evenly.launch.base import Launcher
from evenly.plugins import installed, load

__all__ = ["launcher_class", "launcher_names"]

_GROUP = "evenly.launchers"


def launcher_names() -> list[str]:
    """Return the names of all launchers: the allowed values of ``launcher`` in a study.

    Examples
    --------
    >>> launcher_names()[:2]
    ['flux', 'local']
    """
    return sorted(installed(_GROUP))


def launcher_class(name: str) -> type[Launcher]:
    """Return the class of a launcher by its name, without importing other launchers.

    Raises
    ------
    InputError
        If no package provides the launcher; the message lists the known names.

    Examples
    --------
    >>> launcher_class("local").__name__
    'Local'
    """
    kind: type[Launcher] = load(_GROUP, name, "launcher")
    return kind
