"""Compilation of loops by numba if it is installed; otherwise they run as plain Python.

Meep's own process may have no other package than numpy. Cells are cut there only for as many ranks as Meep runs on, so
plain loops are fast enough.
"""

from __future__ import annotations

from collections.abc import Callable
from typing import TypeVar, cast

__all__ = ["compiled"]

F = TypeVar("F", bound=Callable[..., object])


def compiled(function: F) -> F:
    """Return the function as compiled by numba at its first call, or unchanged without numba."""
    try:
        from evenly.compiling import njit
    except ImportError:
        return function
    return cast("F", njit(cache=True)(function))
