"""How hard a method tries."""

from __future__ import annotations

from typing import Literal, get_args

from evenly.errors import InputError

__all__ = ["EFFORTS", "Effort", "check_effort"]

Effort = Literal["quick", "normal", "thorough"]
#: From the least to the most.
EFFORTS: tuple[str, ...] = get_args(Effort)


def check_effort(effort: str) -> None:
    """Raise `InputError` unless it is an effort.

    Examples
    --------
    >>> check_effort("much")
    Traceback (most recent call last):
    evenly.errors.InputError: effort must be one of quick, normal, thorough, but got 'much'
    """
    if effort not in EFFORTS:
        raise InputError(f"effort must be one of {', '.join(EFFORTS)}, but got {effort!r}")
