"""Compiles the cutter's loops where numba is, and leaves them to Python where it isn't.

Inside Meep's own process there may be nothing but numpy; cells are cut for as many ranks there as Meep runs on, so
plain loops are fast enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Return the function compiled at its first call, or as it is."""
    try:
        from numba import njit
    except ImportError:
        return function
    return cast("F", njit(cache=True)(function))
