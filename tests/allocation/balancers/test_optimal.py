"""The optimal balancer against trying everything, on arbitrary tables."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.allocation.balancers.optimal import OptimalBalancer
from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.limits import Limits
from evenly.errors import InfeasibleError
from tests.allocation import brute
from tests.allocation.schemes import GRAPHS, TREES

ALL = {**TREES, **GRAPHS}
#: Largest totals by number of solvers: everything is tried, so the count of assignments bounds them.
MOST = {1: 60, 2: 60, 3: 20, 4: 10}
#: Times are sums and products of at most ten floats: they agree to a few rounding errors.
RELATIVE = 1e-12

SECONDS = st.one_of(
    st.floats(1e-3, 1e3),
    st.integers(1, 4).map(float),  # many ties
)


@st.composite
def tables(draw: st.DrawFn, names: tuple[str, ...], size: int) -> dict[str, list[float]]:
    """Draw tables of any shape, or such as scale: falling, falling with a rise at the end."""
    out = {}
    for name in names:
        kind = draw(st.sampled_from(["any", "falling", "law"]))
        values = draw(st.lists(SECONDS, min_size=size, max_size=size))
        if kind == "falling":
            values = sorted(values, reverse=True)
        if kind == "law":
            values = [values[0] / p + values[-1] * p / 1e3 for p in range(1, size + 1)]
        out[name] = values
    return out


@st.composite
def questions(draw: st.DrawFn, *, limited: bool) -> tuple[str, dict[str, list[float]], int, dict[str, list[int]]]:
    text = draw(st.sampled_from(sorted(ALL)))
    names = parse_layout(text).names
    total = draw(st.integers(1, MOST[len(names)]))
    found = draw(tables(names, total))
    counts = {name: list(range(1, total + 1)) for name in names}
    if limited:
        counts = {name: [int(c) for c in draw(limits()).counts(total)] for name in names}
    return text, found, total, counts


def limits() -> st.SearchStrategy[Limits]:
    """Draw limits of all kinds."""
    return st.builds(
        lambda low, width, multiple, allowed: Limits(
            minimum=low, maximum=None if width is None else low + width, multiple=multiple, allowed=allowed
        ),
        st.integers(1, 4),
        st.none() | st.integers(0, 30),
        st.integers(1, 4),
        st.none() | st.lists(st.integers(1, 40), min_size=1, max_size=6),
    )


def _problem(text: str, found: Mapping[str, list[float]], total: int, counts: Mapping[str, list[int]]) -> Problem:
    def table(name: str) -> Callable[[Any], Any]:
        values = np.array(found[name])
        return lambda cores: values[cores - 1]

    curves = {name: SolverCurve(name, table(name), np.array(counts[name], dtype=np.int64)) for name in found}
    return Problem(parse_layout(text), curves, total)


def _check(question: tuple[str, dict[str, list[float]], int, dict[str, list[int]]]) -> None:
    text, found, total, counts = question
    expected = brute.best(text, found, ALL[text], total, counts)
    problem = _problem(text, found, total, counts)
    if expected is None:
        if all(counts.values()):
            with pytest.raises(InfeasibleError):
                OptimalBalancer().assign(problem)
        return
    cores = OptimalBalancer().assign(problem)
    assert list(cores) == list(problem.names)
    assert all(cores[name] in counts[name] for name in cores)
    assert ALL[text](cores) <= total
    seconds = brute.seconds_of(text, {name: found[name][cores[name] - 1] for name in cores})
    assert seconds == pytest.approx(expected[0], rel=RELATIVE)
    whole = all(float(time).is_integer() for times in found.values() for time in times)
    if seconds == expected[0] and whole:  # whole numbers add up to the same in any order, so the ties are the same
        assert ALL[text](cores) <= expected[1]


@settings(max_examples=150, deadline=None)
@given(questions(limited=False))
def test_equals_trying_everything(question: tuple[str, dict[str, list[float]], int, dict[str, list[int]]]) -> None:
    _check(question)


@settings(max_examples=150, deadline=None)
@given(questions(limited=True))
def test_equals_trying_everything_within_limits(
    question: tuple[str, dict[str, list[float]], int, dict[str, list[int]]],
) -> None:
    _check(question)


@settings(max_examples=80, deadline=None)
@given(st.data())
def test_all_totals_at_once_are_those_one_by_one(data: st.DataObject) -> None:
    text = data.draw(st.sampled_from(sorted(TREES)))
    names = parse_layout(text).names
    total = data.draw(st.integers(len(names), 12))
    found = data.draw(tables(names, total))
    problem = _problem(text, found, total, {name: list(range(1, total + 1)) for name in names})
    first = int(problem.used(problem.fewest()))
    totals = np.arange(first, total + 1)
    together = OptimalBalancer().assign_all(problem, totals)
    front = OptimalBalancer().front(problem)
    assert front is not None
    for k, limit in enumerate(totals):
        expected = brute.best(text, found, TREES[text], int(limit))
        assert expected is not None
        cores = {name: int(together[name][k]) for name in names}
        assert TREES[text](cores) <= limit
        assert problem.seconds(cores) == pytest.approx(expected[0], rel=RELATIVE)
        assert float(front.at(limit)) == pytest.approx(expected[0], rel=RELATIVE)


def test_cores_stay_idle_where_more_would_be_slower() -> None:
    rising = [3.0, 1.0, 2.0, 4.0, 8.0]
    problem = _problem("max(a, b)", {"a": rising, "b": rising}, 5, {n: [1, 2, 3, 4, 5] for n in "ab"})
    assert OptimalBalancer().assign(problem) == {"a": 2, "b": 2}


def test_too_few_cores_say_so() -> None:
    problem = _problem("max(a, b, c)", {n: [1.0, 1.0] for n in "abc"}, 2, {n: [1, 2] for n in "abc"})
    with pytest.raises(InfeasibleError) as caught:
        OptimalBalancer().assign(problem)
    assert str(caught.value) == "`cores` must be at least the number of solvers (3), but got 2: raise --cores."
    assert caught.value.constraint == "cores"


def test_infinite_times_mean_that_a_solver_cannot_run_there() -> None:
    forever = [np.inf, np.inf, 2.0]
    problem = _problem("max(a, b)", {"a": forever, "b": [1.0] * 3}, 3, {n: [1, 2, 3] for n in "ab"})
    with pytest.raises(InfeasibleError):
        OptimalBalancer().assign(problem)
