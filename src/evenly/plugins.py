"""What evenly and other packages bring under one name each: entry points of a group."""

from __future__ import annotations

from functools import cache
from importlib.metadata import EntryPoint, entry_points

__all__ = ["installed"]


@cache
def installed(group: str) -> dict[str, EntryPoint]:
    """Return the entry points of a group by name; nothing is imported.

    Examples
    --------
    >>> installed("evenly.launchers")["local"].load().__name__
    'Local'
    """
    return {point.name: point for point in entry_points(group=group)}
