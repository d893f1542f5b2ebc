"""Zooming in gives the same answer as full tables, to the last core."""

from __future__ import annotations

import itertools
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenly.allocation.balancers import coarse_to_fine as module
from evenly.allocation.balancers.coarse_to_fine import can_zoom, zoom
from evenly.allocation.balancers.pareto_fronts import build
from evenly.allocation.problem.base import Problem
from evenly.allocation.problem.curves import SolverCurve
from evenly.allocation.problem.layout import parse_layout


class Wavy:
    """A curve made of runs that rise or fall, which it certifies."""

    def __init__(self, turns: list[int], levels: list[float], digits: int) -> None:
        self.turns, self.levels, self.digits = turns, levels, digits
        self.looked_at = 0

    def __call__(self, cores: NDArray[np.int64]) -> Any:
        self.looked_at += len(cores)
        return np.round(np.interp(cores, self.turns, self.levels), self.digits)  # rounding makes plateaus and ties

    def monotone_pieces(self, low: int, high: int) -> list[tuple[int, int, int]]:
        starts = [low, *[turn + 1 for turn in self.turns if low <= turn < high], high + 1]
        return [(start, after - 1, 0) for start, after in itertools.pairwise(starts)]


@st.composite
def wavy(draw: st.DrawFn, size: int) -> Wavy:
    turns = sorted(draw(st.sets(st.integers(2, size - 1), max_size=6)))
    levels = draw(st.lists(st.floats(0.5, 100.0), min_size=len(turns) + 2, max_size=len(turns) + 2))
    if draw(st.booleans()):
        levels.sort(reverse=True)
    return Wavy([1, *turns, size], levels, draw(st.sampled_from([1, 3, 12])))


@settings(max_examples=150, deadline=None)
@given(st.data(), st.integers(1, 4), st.sampled_from([1, 7]), st.sampled_from(["max", "nested"]))
def test_equals_full_tables(data: st.DataObject, n: int, step: int, shape: str) -> None:
    size = data.draw(st.integers(max(100, 2 * n * step), 3000))
    sources = {name: data.draw(wavy(size)) for name in "abcd"[:n]}
    curves = {name: SolverCurve(name, source, range(step, size + 1, step)) for name, source in sources.items()}
    inner = ", ".join(list(sources)[1:])
    text = f"max({', '.join(sources)})" if shape == "max" or n == 1 else f"max(2 * a, 3 * max({inner}))"
    problem = Problem(parse_layout(text), curves, data.draw(st.integers(2 * n * step, size)))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(module, "_WORTH_IT", 0)
        patch.setattr(module, "_POINTS", 8)
        patch.setattr(module, "_POINTS_PER_TOTAL", 2)
        assert can_zoom(problem)
        totals = np.array([n * step, problem.cores, (n * step + problem.cores) // 2])
        found = zoom(problem, totals)
    tree = build(problem.layout, curves, problem.cores)
    expected = tree.divide(tree.front.cores[np.searchsorted(tree.front.cores, totals, side="right") - 1])
    assert found is not None
    assert {name: list(cores) for name, cores in found.items()} == {n: list(c) for n, c in expected.items()}


def test_totals_too_small_for_finite_times_are_left_to_full_tables() -> None:
    class Late(Wavy):
        def __call__(self, cores: NDArray[np.int64]) -> Any:
            return np.where(cores < 50_000, np.inf, 1e6 / cores)

    curves = {name: SolverCurve(name, Late([1, 10**5], [2.0, 1.0], 9), range(1, 10**5)) for name in "ab"}
    problem = Problem(parse_layout("max(a, b)"), curves, 10**5)
    assert zoom(problem, np.array([99_999])) is None
    found = zoom(problem, np.array([100_000]))
    assert found is not None
    assert [int(found[name][0]) for name in "ab"] == [50_000, 50_000]


def test_looks_at_few_of_a_million_counts() -> None:
    sources = {name: Wavy([1, 10**6], [1e6 * k, 1.0], 12) for k, name in enumerate("abc", start=1)}
    curves = {name: SolverCurve(name, source, range(1, 10**6 + 1)) for name, source in sources.items()}
    problem = Problem(parse_layout("parallel", curves), curves, 10**6)
    assert can_zoom(problem)
    zoom(problem)
    assert all(source.looked_at < 2_000 for source in sources.values())


@pytest.mark.parametrize("text", ["sum(a, b)", "a + b", "max(a + b, c)"])
def test_only_side_by_side(text: str) -> None:
    layout = parse_layout(text)
    curves = {name: SolverCurve(name, Wavy([1, 10**6], [2.0, 1.0], 9), range(1, 10**6)) for name in layout.names}
    assert not can_zoom(Problem(layout, curves, 10**6))


def test_uncertified_curves_are_tabulated() -> None:
    curves = {name: SolverCurve(name, lambda cores: 1 / cores, range(1, 10**6)) for name in "ab"}
    assert not can_zoom(Problem(parse_layout("max(a, b)"), curves, 10**6))
