"""Memory of solvers that share a node, against adding up the memory of each core of each node."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.limits import Bound, Limits
from evenly.allocation.shared_nodes import fullest_node
from evenly.machine.machine import Machine

GIB = 2.0**30


@pytest.mark.parametrize("seed", range(12))
def test_the_fullest_shared_node_is_found(seed: int) -> None:
    random = np.random.default_rng(seed)
    names, size, total = "abc", int(random.integers(2, 9)), int(random.integers(12, 40))
    work, need = random.uniform(10, 100, 3), random.uniform(1, 4, 3) * GIB
    limits = {
        name: Limits(bounds=Bound(lambda cores, at=k: need[at] + 0.0 * cores, at_most=1e3 * GIB))
        for k, name in enumerate(names)
    }
    solvers = {name: (lambda cores, at=k: work[at] / cores) for k, name in enumerate(names)}
    plan = allocate(solvers, total, limits=limits, machine=Machine(cores_per_node=size))
    owners = [k for k, name in enumerate(names) for _ in range(plan.cores[name])]
    nodes = [owners[first : first + size] for first in range(0, len(owners), size)]
    shared = [sum(need[k] for k in node) for node in nodes if len(set(node)) > 1]
    found = fullest_node(plan)
    assert (found is None) == (not shared)
    if found is not None:
        assert found.amount == pytest.approx(max(shared))
        assert found.limit == 1e3 * GIB


def test_nothing_is_told_without_nodes_or_bounds() -> None:
    solvers = {"a": lambda p: 60 / p, "b": lambda p: 20 / p}
    bounds = {name: Limits(bounds=Bound(lambda cores: 1.0 + 0 * cores, at_most=9.0, per="rank")) for name in "ab"}
    assert fullest_node(allocate(solvers, 8, machine=Machine(cores_per_node=5))) is None
    assert fullest_node(allocate(solvers, 8, limits=bounds, machine=Machine(cores_per_node=5))) is None
