"""Allocation: how many cores each of several coupled solvers gets.

Call `evenly.allocate`; the classes of its arguments are here.
"""

from __future__ import annotations

from typing import TYPE_CHECKING

from evenly._lazy import lazy

if TYPE_CHECKING:
    from evenly.allocation.allocate import balancers as balancers
    from evenly.allocation.plan import Plan as Plan
    from evenly.allocation.problem.base import Balancer as Balancer
    from evenly.allocation.problem.base import Problem as Problem
    from evenly.allocation.problem.layout import parse_layout as parse_layout
    from evenly.allocation.problem.limits import Bound as Bound
    from evenly.allocation.problem.limits import Limits as Limits
    from evenly.allocation.problem.noise import Compare as Compare
    from evenly.allocation.problem.noise import Noise as Noise
    from evenly.allocation.problem.objective import Objective as Objective

_HOMES = {
    "Balancer": "evenly.allocation.problem.base",
    "Bound": "evenly.allocation.problem.limits",
    "Compare": "evenly.allocation.problem.noise",
    "Limits": "evenly.allocation.problem.limits",
    "Noise": "evenly.allocation.problem.noise",
    "Objective": "evenly.allocation.problem.objective",
    "Plan": "evenly.allocation.plan",
    "Problem": "evenly.allocation.problem.base",
    "balancers": "evenly.allocation.allocate",
    "parse_layout": "evenly.allocation.problem.layout",
}

__all__ = sorted(_HOMES)


__getattr__, __dir__ = lazy(__name__, _HOMES)
