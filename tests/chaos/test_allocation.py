"""`evenly.allocate` against trying everything: 1,000 problems with all kinds of layouts, limits and objectives."""

from __future__ import annotations

import itertools
import math
from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest

import evenly
from evenly.allocation.problem.layout import parse_layout
from evenly.errors import InfeasibleError
from tests.allocation import brute
from tests.allocation.schemes import GRAPHS, TREES
from tests.chaos.amount import amount
from tests.chaos.conftest import MakeTally

pytestmark = pytest.mark.chaos

ALL: Mapping[str, Callable[[Mapping[str, int]], int]] = {**TREES, **GRAPHS}
#: Times are sums and products of at most ten floats: they agree to a few rounding errors.
RELATIVE = 1e-9
#: Largest totals by number of solvers: everything is tried, so the count of assignments bounds them.
MOST = {1: 60, 2: 40, 3: 16, 4: 9}


def times(random: np.random.Generator, size: int) -> list[float]:
    """Draw seconds on 1 to `size` cores: any, falling, or a scaling law with a rise at the end."""
    kind = random.integers(3)
    if kind == 0:
        return [float(t) for t in random.integers(1, 6, size)]
    if kind == 1:
        return sorted((float(t) for t in random.uniform(0.1, 9, size)), reverse=True)
    return [100 / p**0.9 + 0.2 * p for p in range(1, size + 1)]


def limits(random: np.random.Generator, size: int) -> dict[str, Any]:
    """Draw limits of a solver: each kind in a quarter of the cases."""
    found: dict[str, Any] = {}
    if random.integers(4) == 0:
        found["minimum"] = int(random.integers(1, 4))
    if random.integers(4) == 0:
        found["maximum"] = found.get("minimum", 1) + int(random.integers(size))
    if random.integers(4) == 0:
        found["multiple"] = int(random.integers(1, 4))
    if random.integers(4) == 0:
        found["allowed"] = sorted({int(p) for p in random.integers(1, size + 1, 4)})
    if random.integers(4) == 0:
        per = str(random.choice(["rank", "node", "solver"]))
        found["bounds"] = evenly.Bound(lambda cores: 12.0 / cores, at_most=float(random.uniform(2, 13)), per=per)  # type: ignore[arg-type]
    return found


def permitted(limit: Mapping[str, Any], total: int, cores_per_node: int) -> list[int]:
    """Return the counts that the limits permit, as their documentation states it."""
    found = []
    for cores in range(limit.get("minimum", 1), min(total, limit.get("maximum", total)) + 1):
        bound = limit.get("bounds")
        if cores % limit.get("multiple", 1) or cores not in limit.get("allowed", [cores]):
            continue
        if bound is not None:
            ranks = {"rank": 1, "node": min(cores, cores_per_node), "solver": cores}[bound.per]
            if 12.0 / cores * ranks > bound.at_most:
                continue
        found.append(cores)
    return found


def objective(random: np.random.Generator) -> evenly.Objective:
    """Draw what to minimise, and what to keep to."""
    minimise = str(random.choice(["time", "time", "cost", "cores"]))
    return evenly.Objective(
        minimise,  # type: ignore[arg-type]
        within=None if minimise == "time" or random.integers(2) else float(random.uniform(0, 0.5)),
        max_seconds=None if random.integers(3) else float(random.uniform(3, 60)),
        max_core_hours=None if random.integers(3) else float(random.uniform(0.002, 0.1)),
    )


def best(combinations: list[tuple[float, int, float]], goal: evenly.Objective) -> float | None:
    """Return the least seconds, core-hours or cores of (seconds, cores, core-hours) that keep to the objective."""
    fit = [
        one
        for one in combinations
        if one[0] <= (goal.max_seconds or math.inf) * (1 + RELATIVE)
        and one[2] <= (goal.max_core_hours or math.inf) * (1 + RELATIVE)
    ]
    if goal.within is not None and fit:
        fastest = min(seconds for seconds, _, _ in fit)
        fit = [one for one in fit if one[0] <= (1 + goal.within) * fastest * (1 + RELATIVE)]
    return min((one[{"time": 0, "cores": 1, "cost": 2}[goal.minimise]] for one in fit), default=None)


@pytest.mark.parametrize("seed", range(amount(3, of=10)))
def test_equals_trying_everything(seed: int, tally: MakeTally) -> None:
    random, counts = np.random.default_rng(seed), tally("allocations, against trying everything")
    answered = 0
    for _ in range(100):
        text = str(random.choice(sorted(ALL)))
        names = parse_layout(text).names
        total = int(random.integers(len(names), MOST[len(names)] + 1))
        tables = {name: times(random, total) for name in names}
        limit = {name: limits(random, total) for name in names}
        goal = objective(random)
        machine = evenly.Machine(cores_per_node=4, whole_nodes=bool(random.integers(2)))
        allowed = [permitted(limit[name], total, 4) for name in names]
        combinations = []
        for cores in (dict(zip(names, row, strict=True)) for row in itertools.product(*allowed)):
            used = ALL[text](cores)
            if used <= total:
                seconds = brute.seconds_of(text, {name: tables[name][cores[name] - 1] for name in names})
                billed = 4 * math.ceil(used / 4) if machine.whole_nodes else used
                combinations.append((seconds, used, billed * seconds / 3600))
        expected = best(combinations, goal)
        solvers = {name: (lambda cores, row=tables[name]: np.array(row)[np.asarray(cores) - 1]) for name in names}
        question = (text, total, limit, goal, machine.whole_nodes)
        counts.try_one()
        try:
            plan = evenly.allocate(
                solvers,
                total,
                layout=text,
                limits={name: evenly.Limits(**limit[name]) for name in names},
                objective=goal,
                machine=machine,
            )
        except InfeasibleError:
            if expected is not None:
                counts.bad("wrong", f"{question}: no plan, but {expected}")
            continue
        answered += 1
        got = {"time": plan.seconds, "cores": plan.used, "cost": plan.core_hours}[goal.minimise]
        permitted_too = all(plan.cores[name] in row for name, row in zip(names, allowed, strict=True))
        if expected is None or got != pytest.approx(expected, rel=RELATIVE) or not permitted_too or plan.used > total:
            counts.bad("wrong", f"{question}: {plan.cores} gives {got}, but {expected}")
    assert answered > 30
