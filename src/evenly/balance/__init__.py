"""Decisions: how many cores each solver gets.

`evenly.allocate` is the door; the classes that its arguments take are found here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

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
    "Balancer": "evenly.balance.base",
    "Bound": "evenly.balance.limits",
    "Compare": "evenly.balance.noise",
    "Limits": "evenly.balance.limits",
    "Noise": "evenly.balance.noise",
    "Objective": "evenly.balance.objective",
    "Plan": "evenly.balance.plan",
    "Problem": "evenly.balance.base",
    "balancers": "evenly.balance.allocate",
    "parse_layout": "evenly.balance.layout",
}

__all__ = sorted(_HOMES)


__getattr__, __dir__ = lazy(__name__, _HOMES)
