from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.models.splines.univariate import HingeCurve, univariate_hinges


def test_a_planted_curve_is_found_with_its_knots_and_slopes() -> None:
    x = np.linspace(0, 10, 41)
    y = 2 - 0.5 * x + 1.5 * np.maximum(x - 3, 0) - 2 * np.maximum(x - 7, 0)
    curve = univariate_hinges(x, y)
    np.testing.assert_allclose(curve.knots, [3, 7], atol=1e-12)
    np.testing.assert_allclose(curve.slopes, [-0.5, 1, -1], atol=1e-8)
    np.testing.assert_allclose(curve([-4.0, 20.0]), [4, -8.5], atol=1e-6)


@pytest.mark.parametrize("y", [np.full(6, 3.0), np.arange(6.0)])
def test_a_constant_and_a_line_need_no_knot(y: np.ndarray) -> None:
    curve = univariate_hinges(np.arange(6.0), y)
    assert len(curve.knots) == 0
    np.testing.assert_allclose(curve(np.arange(6.0)), y, atol=1e-9)
    assert curve(100.0) == pytest.approx(3.0 if y[0] else 100.0, abs=1e-6)


def test_noise_brings_few_knots_and_a_curve_brings_several() -> None:
    x, rng = np.linspace(0, 1, 60), np.random.default_rng(0)
    noisy = univariate_hinges(x, 2 * x + 0.1 * rng.normal(size=60))
    curved = univariate_hinges(x, np.sin(6 * x) + 0.01 * rng.normal(size=60))
    assert len(noisy.knots) <= 1
    assert len(curved.knots) >= 3
    assert np.sqrt(np.mean((curved(x) - np.sin(6 * x)) ** 2)) < 0.05


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(1)
    x, y = np.arange(12.0), rng.normal(size=12)
    weights = rng.integers(1, 4, 12)
    straight = univariate_hinges(x, y, weights, most_knots=0, penalty=0.0)
    repeated = np.polyfit(np.repeat(x, weights), np.repeat(y, weights), 1)
    if len(straight.slopes) and straight.slopes[0]:
        np.testing.assert_allclose(straight(x), np.polyval(repeated, x), atol=1e-10)
    else:
        np.testing.assert_allclose(straight(x), np.average(y, weights=weights), atol=1e-10)


def test_the_outermost_slopes_were_seen() -> None:
    x = np.arange(20.0)
    y = np.where(x == 19, 50.0, 0.0)
    assert univariate_hinges(x, y, end=4).knots.max(initial=0.0) <= 15


def test_one_and_two_points() -> None:
    assert univariate_hinges([2.0], [5.0])(9.0) == pytest.approx(5.0)
    assert np.isfinite(univariate_hinges([2.0, 3.0], [5.0, 6.0])(9.0))
    assert univariate_hinges([2.0, 2.0, 2.0], [1.0, 2.0, 3.0])(2.0) == pytest.approx(2.0)


def test_a_stored_curve_is_the_same() -> None:
    curve = univariate_hinges(np.arange(30.0), np.abs(np.arange(30.0) - 12))
    other = HingeCurve.from_state(curve.to_state())
    np.testing.assert_array_equal(other(np.linspace(-5, 40, 9)), curve(np.linspace(-5, 40, 9)))


@settings(max_examples=30, deadline=None)
@given(st.integers(3, 30), st.floats(0.01, 100), st.floats(-1e3, 1e3), st.integers(0, 99))
def test_units_of_both_axes_and_order_dont_matter(n: int, scale: float, shift: float, seed: int) -> None:
    rng = np.random.default_rng(seed)
    x, y = rng.choice(np.arange(100.0), n, replace=False), rng.normal(size=n)
    order = rng.permutation(n)
    asked = np.linspace(-20, 120, 15)
    one = univariate_hinges(x, y)(asked)
    np.testing.assert_array_equal(univariate_hinges(x[order], y[order])(asked), one)
    moved = univariate_hinges(x, 3 * y + 7)(asked)
    np.testing.assert_allclose(moved, 3 * one + 7, atol=1e-5 * (1 + np.abs(one).max()))


@pytest.mark.parametrize(
    ("x", "y", "weights", "said"),
    [
        ([1.0, 2.0], [1.0], None, "as many numbers"),
        ([], [], None, "at least one"),
        ([1.0, np.nan], [1.0, 2.0], None, "finite"),
        ([1.0, 2.0], [1.0, 2.0], [1.0, 0.0], "above zero"),
    ],
)
def test_wrong_input_is_named(x: list[float], y: list[float], weights: list[float] | None, said: str) -> None:
    with pytest.raises(InputError, match=said):
        univariate_hinges(x, y, weights)
