"""Decisions: how many cores each solver gets.

`evenly.allocate` is the door; the classes that its arguments take are found here.
"""

from __future__ import annotations

import importlib
from typing import TYPE_CHECKING, Any

if TYPE_CHECKING:
    from evenly.balance.allocate import balancers as balancers
    from evenly.balance.base import Balancer as Balancer
    from evenly.balance.base import Problem as Problem
    from evenly.balance.layout import parse_layout as parse_layout
    from evenly.balance.limits import Bound as Bound
    from evenly.balance.limits import Limits as Limits
    from evenly.balance.noise import Compare as Compare
    from evenly.balance.noise import Noise as Noise
    from evenly.balance.objective import Objective as Objective
    from evenly.balance.plan import Plan as Plan

_HOMES = {
    "Balancer": "base",
    "Bound": "limits",
    "Compare": "noise",
    "Limits": "limits",
    "Noise": "noise",
    "Objective": "objective",
    "Plan": "plan",
    "Problem": "base",
    "balancers": "allocate",
    "parse_layout": "layout",
}

__all__ = sorted(_HOMES)


def __getattr__(name: str) -> Any:
    if name not in _HOMES:
        raise AttributeError(f"module 'evenly.balance' has no attribute {name!r}")
    return getattr(importlib.import_module(f"evenly.balance.{_HOMES[name]}"), name)


def __dir__() -> list[str]:
    return __all__
