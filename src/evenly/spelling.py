"""Hints at what was meant by a name that nobody knows."""

from __future__ import annotations

from collections.abc import Iterable
from difflib import get_close_matches

__all__ = ["did_you_mean"]


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` with the nearest of the known names; nothing where none is near.

    Examples
    --------
    >>> did_you_mean("pmfn", ["pmnf", "power-law"])
    " (did you mean 'pmnf'?)"
    >>> did_you_mean("colour", ["pmnf", "power-law"])
    ''
    """
    lowered = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.65)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""
