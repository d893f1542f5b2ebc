"""Fronts of groups: the best time for every total, as trying all counts finds it."""

from __future__ import annotations

import itertools

import numpy as np
import pytest
from hypothesis import given
from hypothesis import strategies as st

from evenly.allocation.balancers import pareto_fronts
from evenly.allocation.balancers.pareto_fronts import build
from evenly.allocation.problem.curves import SolverCurve, Table
from evenly.allocation.problem.layout import parse_layout

#: Few different values, so that times of several solvers are often equal.
TIMES = st.lists(st.integers(1, 12), min_size=1, max_size=8)


@given(
    st.tuples(TIMES, TIMES, TIMES), st.integers(1, 3), st.integers(1, 3), st.integers(0, 20),
    st.sampled_from(["max(a, b, c)", "a + b + c"]), st.sampled_from([0, 1000]),
)  # fmt: skip
def test_a_front_holds_the_best_time_of_every_total(
    given_times: tuple[list[int], list[int], list[int]], first: int, step: int, more: int, layout: str, long: int
) -> None:
    tables = {
        name: {first + step * k: float(t) for k, t in enumerate(times)}
        for name, times in zip("abc", given_times, strict=True)
    }
    curves = {
        name: SolverCurve(
            name, Table(name, np.array(list(table)), np.array(list(table.values()))), np.array(list(table))
        )
        for name, table in tables.items()
    }
    limit = 3 * first + more
    with pytest.MonkeyPatch.context() as patch:
        # Long fronts are merged by compiled loops; the limit of 0 makes all fronts long.
        patch.setattr(pareto_fronts, "_LONG", long)
        front = build(parse_layout(layout), curves, limit).front
    # Trying all counts: the cores are added side by side, and shared otherwise; the times the other way round.
    cores_of, seconds_of = (sum, max) if layout.startswith("max") else (max, sum)
    tried = [
        (cores_of(counts), seconds_of(tables[name][count] for name, count in zip("abc", counts, strict=True)))
        for counts in itertools.product(*tables.values())
    ]
    for total in range(limit + 1):
        expected = min((seconds for cores, seconds in tried if cores <= total), default=np.inf)
        assert front.at(total) == expected
    assert np.all(np.diff(front.cores) > 0)
    assert np.all(np.diff(front.seconds) < 0)
