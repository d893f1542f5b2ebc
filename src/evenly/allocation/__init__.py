"""Allocation: the number of cores for each of several coupled solvers.

Call `evenly.allocate`. This package exports the classes of its arguments and of its result.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
