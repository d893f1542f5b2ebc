"""The laws that every balancer keeps, checked on problems with limits, irregular curves and repeated solvers."""

from __future__ import annotations

import copy
from collections.abc import Iterator

import numpy as np
import pytest

from evenly.allocation.balancers.optimal import OptimalBalancer
from evenly.allocation.problem.base import Balancer, Problem
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import parse_layout
from evenly.errors import InfeasibleError

LAYOUTS = ("max(a, b, c)", "serial", "max(a, b) + c", "max(sum(a, b), sum(a, c))", "4 * sum(max(a, b), c)")


def problems(cores: int) -> Iterator[Problem]:
    """Yield problems of three solvers, of which one may only get multiples of 3 and another has a bumpy curve."""
    random = np.random.default_rng(0)
    bumps = 1 + random.random(cores + 1)
    curves = {
        "a": SolverCurve("a", lambda p: 90 / p + 0.1 * p, range(2, cores + 1)),
        "b": SolverCurve("b", lambda p: 50 / p, np.arange(3, cores + 1, 3)),
        "c": SolverCurve("c", lambda p: 20 * bumps[p] / p, range(1, cores + 1)),
    }
    for text in LAYOUTS:
        yield Problem(parse_layout(text, curves), curves, cores, {"a": 9e5, "b": 5e5, "c": 2e5})


def check(balancer: Balancer) -> None:
    """Check all laws."""
    for cores in (6, 7, 20, 61):
        for problem in problems(cores):
            _check_answer(balancer, problem)
    for problem in problems(5):
        if problem.used({"a": 2, "b": 3, "c": 1}) > problem.cores:
            with pytest.raises(InfeasibleError):
                balancer.assign(problem)


def _check_answer(balancer: Balancer, problem: Problem) -> None:
    before = copy.copy(problem)
    found = balancer.assign(problem)
    assert sorted(found) == sorted(problem.curves)
    assert problem.allows(found), (str(problem.layout), found)
    assert balancer.assign(problem) == found
    assert problem == before
    optimal = problem.seconds(OptimalBalancer().assign(problem))
    assert optimal <= problem.seconds(found) * (1 + 1e-12)
    totals = np.array([problem.cores - 1, problem.cores])
    if problem.used({"a": 2, "b": 3, "c": 1}) < problem.cores:
        together = balancer.assign_all(problem, totals)
        assert {name: int(together[name][-1]) for name in found} == found
