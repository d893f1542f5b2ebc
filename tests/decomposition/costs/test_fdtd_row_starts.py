"""Rows are counted as one would by hand, wherever boxes are cut."""

from __future__ import annotations

import gc

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs import fdtd_row_starts
from evenly.decomposition.costs.fdtd_row_starts import row_starts


@given(st.integers(0, 2**32 - 1), st.integers(0, 2))
@settings(max_examples=60, deadline=None)
def test_rows_are_counted_as_by_hand(seed: int, axis: int) -> None:
    random = np.random.default_rng(seed)
    shape = tuple(random.integers(1, 9, 3))
    points = (random.random(shape) < random.uniform(0.1, 0.9)).astype(float)
    edges = [np.arange(n + 1) for n in shape]
    survey = Survey.of_blocks(edges, ("other", "polarised"), np.stack([1 - points, points], axis=-1))
    low = np.array([[random.integers(0, n) for n in shape] for _ in range(5)])
    high = np.array([[random.integers(a + 1, n + 1) for a, n in zip(one, shape, strict=True)] for one in low])
    found = row_starts(survey, "polarised", axis, low, high)
    for n, (a, b) in enumerate(zip(low, high, strict=True)):
        inside = np.moveaxis(points[a[0] : b[0], a[1] : b[1], a[2] : b[2]], axis, 0)
        assert found[n] == pytest.approx(np.maximum(0, np.diff(inside, axis=0, prepend=0)).sum())


def test_blocks_of_many_points_are_counted_exactly_where_they_are_cut() -> None:
    blocks = np.array([0.0, 60.0, 0.0, 20.0]).reshape(4, 1, 1, 1)
    survey = Survey.of_blocks(((0, 5, 20, 30, 35), (0, 4), (0, 1)), ("polarised",), blocks)
    low = np.array([[0, 0, 0], [5, 0, 0], [6, 1, 0], [19, 0, 0], [20, 0, 0]])
    high = np.array([[35, 4, 1], [6, 4, 1], [31, 3, 1], [20, 4, 1], [30, 4, 1]])
    assert row_starts(survey, "polarised", 0, low, high) == pytest.approx([8, 4, 4, 4, 0])


def test_large_surveys_are_counted_as_if_rows_were_full(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(fdtd_row_starts, "MOST_BLOCKS", 1)
    survey = Survey.of_blocks(((0, 8), (0, 3), (0, 1)), ("polarised",), np.full((1, 1, 1, 1), 24.0))
    assert row_starts(survey, "polarised", 0, np.zeros((1, 3), int), np.array([[8, 3, 1]])).tolist() == [3.0]


def test_tables_go_with_their_surveys() -> None:
    survey = Survey.of_blocks(((0, 8), (0, 3), (0, 1)), ("polarised",), np.full((1, 1, 1, 1), 24.0))
    row_starts(survey, "polarised", 0, np.zeros((1, 3), int), np.array([[8, 3, 1]]))
    key = id(survey)
    assert key in fdtd_row_starts._kept
    del survey
    gc.collect()
    assert key not in fdtd_row_starts._kept
