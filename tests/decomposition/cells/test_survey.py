"""Counts in boxes are the sums over their points, however they are worked out."""

from __future__ import annotations

import builtins
import sys
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells import survey as module
from evenly.decomposition.cells.survey import Survey

SHAPE = (7, 5, 9)


def random_survey(seed: int = 0, kinds: int = 3, shape: tuple[int, int, int] = SHAPE) -> tuple[Survey, Any]:
    """Return a survey in blocks of one point, and the points."""
    points = np.random.default_rng(seed).integers(0, 4, (*shape, kinds)).astype(float)
    return Survey.of_blocks([np.arange(n + 1) for n in shape], [f"kind {n}" for n in range(kinds)], points), points


def random_boxes(number: int, shape: tuple[int, int, int] = SHAPE, seed: int = 0) -> tuple[Any, Any]:
    ends = np.sort(np.random.default_rng(seed).integers(0, np.array(shape) + 1, (2, number, 3)), axis=0)
    return ends[0], ends[1]


@st.composite
def boxes(draw: st.DrawFn) -> tuple[list[int], list[int]]:
    ends = [sorted(draw(st.tuples(st.integers(0, n), st.integers(0, n)))) for n in SHAPE]
    return [a for a, _ in ends], [b for _, b in ends]


@given(boxes())
def test_blocks_of_one_point_are_exact(box: tuple[list[int], list[int]]) -> None:
    survey, points = random_survey()
    (x, y, z), (a, b, c) = box
    assert survey.counts([box[0]], [box[1]])[0].tolist() == points[x:a, y:b, z:c].sum(axis=(0, 1, 2)).tolist()


@given(st.integers(0, 2**31), boxes())
@settings(max_examples=30)
def test_blocks_are_interpolated_evenly(seed: int, box: tuple[list[int], list[int]]) -> None:
    random = np.random.default_rng(seed)
    edges = [np.r_[0, np.flatnonzero(random.random(n - 1) < 0.4) + 1, n] for n in SHAPE]
    held = random.random((*(len(e) - 1 for e in edges), 2))
    survey = Survey.of_blocks(edges, ("a", "b"), held)
    widths = [np.diff(e) for e in edges]
    for axis, width in enumerate(widths):
        held = np.repeat(held / np.expand_dims(width, [a for a in range(4) if a != axis]), width, axis=axis)
    (x, y, z), (a, b, c) = box
    # Sums of up to 315 numbers below 1: the round-off is below 315² epsilon.
    assert np.allclose(
        survey.counts(*[[b] for b in box])[0], held[x:a, y:b, z:c].sum(axis=(0, 1, 2)), rtol=0, atol=3e-11
    )


def test_compiled_and_plain_counts_are_the_same_bits(monkeypatch: pytest.MonkeyPatch) -> None:
    random = np.random.default_rng(1)
    edges = [np.array([0, 3, 4, 50]), np.arange(31), np.array([0, 7, 40])]
    for kinds in (1, 2, 7):
        names = [str(n) for n in range(kinds)]
        survey = Survey.of_blocks(edges, names, random.random((3, 30, 2, kinds)))
        low, high = random_boxes(3000, survey.shape)
        found = []
        for kernel in (module._compiled(), None):
            monkeypatch.setattr(module, "_compiled", lambda kernel=kernel: kernel)
            found.append(survey.counts(low, high))
            monkeypatch.undo()
        assert np.array_equal(found[0], found[1])
        assert found[0].shape == (3000, kinds)


def test_counts_without_numba(monkeypatch: pytest.MonkeyPatch) -> None:
    survey, _ = random_survey()
    low, high = random_boxes(100)
    expected = survey.counts(low, high)
    usual = builtins.__import__

    def missing(name: str, *rest: Any, **options: Any) -> Any:
        if name.startswith("numba"):
            raise ImportError(name)
        return usual(name, *rest, **options)

    monkeypatch.delitem(sys.modules, "evenly.decomposition.cells.survey_kernel", raising=False)
    monkeypatch.setattr(builtins, "__import__", missing)
    assert module._compiled() is None
    assert np.array_equal(survey.counts(low, high), expected)


def test_totals_and_shape() -> None:
    survey, points = random_survey()
    assert survey.shape == SHAPE
    assert survey.totals == {f"kind {n}": points[..., n].sum() for n in range(3)}


def test_no_boxes_and_empty_boxes() -> None:
    survey, _ = random_survey()
    assert survey.counts(np.zeros((0, 3)), np.zeros((0, 3))).shape == (0, 3)
    low, _ = random_boxes(20)
    assert not survey.counts(low, low).any()


def test_boxes_without_a_kind_hold_none_of_it_although_corners_are_interpolated() -> None:
    rng = np.random.default_rng(2)
    blocks = np.zeros((5, 4, 6, 1))
    blocks[:, :, :3, 0] = rng.uniform(1e3, 1e5, (5, 4, 3))
    edges = [np.arange(n + 1) * 7 for n in blocks.shape[:3]]
    survey = Survey.of_blocks(edges, ("poles",), blocks)
    low = np.stack([rng.integers(0, 34, 300), rng.integers(0, 27, 300), rng.integers(21, 41, 300)], axis=1)
    assert np.all(survey.counts(low, low + 1) == 0)
    assert np.all(survey.counts(low * [1, 1, 0], low * [1, 1, 0] + 1) > 0)
