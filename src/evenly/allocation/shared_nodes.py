"""What solvers that share a node need together, where a plan's solvers are placed one after the other.

A bound per node compares each solver by itself. At the border between two solvers, a node holds ranks of both.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from evenly.allocation.problem.curves import call

if TYPE_CHECKING:
    from evenly.allocation.plan import Plan

__all__ = ["SharedNode", "fullest_node"]


@dataclass(frozen=True)
class SharedNode:
    """A node with ranks of several solvers.

    Attributes
    ----------
    ranks : dict of str to int
        The ranks of each solver on it.
    amount, limit : float
        What they need together, and what the node has, in the unit of the bound.
    """

    ranks: dict[str, int]
    amount: float
    limit: float


def fullest_node(plan: Plan) -> SharedNode | None:
    """Return the node that several solvers fill most; None where none is shared, or no bound per node is known.

    Examples
    --------
    >>> import evenly
    >>> from evenly.allocation.problem.limits import Bound, Limits
    >>> from evenly.machine.machine import Machine
    >>> limits = {name: Limits(bounds=Bound(lambda cores: 10.0 + 0 * cores)) for name in "ab"}
    >>> node = Machine(cores_per_node=4, memory_bytes_per_node=45.0)
    >>> solvers = {"a": lambda p: 60 / p, "b": lambda p: 20 / p}
    >>> fullest_node(evenly.allocate(solvers, 8, limits=limits, machine=node))
    SharedNode(ranks={'a': 2, 'b': 2}, amount=40.0, limit=45.0)
    """
    size = plan.machine.cores_per_node
    each = {name: _per_rank(plan, name) for name in plan.cores}
    known = {name: one for name, one in each.items() if one is not None}
    if size is None or len(known) < 2:
        return None
    places = plan.problem.footprint.places(plan.cores)
    found = []
    for node in sorted({places[name] // size for name in known}):  # a node is shared where a solver begins
        ranks = {
            name: min(places[name] + plan.cores[name], (node + 1) * size) - max(places[name], node * size)
            for name in known
        }
        ranks = {name: count for name, count in ranks.items() if count > 0}
        if len(ranks) > 1:
            amount = sum(known[name][0] * count for name, count in ranks.items())
            found.append(SharedNode(ranks, amount, min(known[name][1] for name in ranks)))
    return max(found, key=lambda one: one.amount / one.limit, default=None)


def _per_rank(plan: Plan, name: str) -> tuple[float, float] | None:
    """Return the memory of one rank of a solver, and that of a node; None without a bound per node."""
    curve, counts = plan.problem.curves[name], np.array([plan.cores[name]])
    for bound in curve.limits.all_bounds:
        if bound.per == "node" and bound.name == "memory":
            return float(call(bound.quantity, counts, curve.at)[0]), bound.limit(plan.machine)
    return None
