"""Allocation: how many cores each of several coupled solvers gets.

Call `evenly.allocate`; the classes of its arguments are here.
"""

from __future__ import annotations

from evenly._lazy import lazy

__all__, __getattr__, __dir__ = lazy(__name__)
