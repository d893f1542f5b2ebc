"""Fronts of groups: the same whether compiled loops merge them or numpy does."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.allocation.balancers import pareto_fronts
from evenly.allocation.balancers.pareto_fronts import build
from evenly.allocation.problem.curves import Front, SolverCurve, Table
from evenly.allocation.problem.layout import parse_layout

#: Few different values, so that times of both solvers are often equal.
TIMES = st.lists(st.integers(1, 12), min_size=1, max_size=20)


@given(TIMES, TIMES, st.integers(1, 3), st.integers(1, 3), st.integers(0, 30), st.sampled_from(["max(a, b)", "a + b"]))
def test_compiled_loops_and_numpy_give_the_same_front(
    one: list[int], other: list[int], first: int, step: int, more: int, layout: str
) -> None:
    curves = {}
    for name, times in (("a", one), ("b", other)):
        counts = first + step * np.arange(len(times))
        curves[name] = SolverCurve(name, Table(name, counts, np.array(times, dtype=np.float64)), counts)
    limit = 2 * first + more
    fronts: list[Front] = []
    for compiled in (False, True):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(pareto_fronts, "_is_worth_compiled_loops", lambda _a, _b, compiled=compiled: compiled)
            fronts.append(build(parse_layout(layout), curves, limit).front)
    assert np.array_equal(fronts[0].cores, fronts[1].cores)
    assert np.array_equal(fronts[0].seconds, fronts[1].seconds)
