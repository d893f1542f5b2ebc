"""Planted coefficients come back, none is negative, and errors cover."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st
from numpy.typing import NDArray

from evenly.decomposition.calibration.nonnegative_regression import regress
from evenly.errors import InputError

Array = NDArray[np.float64]


def _designs(random: np.random.Generator, rows: int, terms: int) -> Array:
    """Sizes over two decades, each row with some of the terms."""
    sizes = 10 ** random.uniform(3, 5, (rows, 1))
    return np.asarray(sizes * random.uniform(0.2, 1, (rows, terms)) * (random.random((rows, terms)) < 0.6) + 1.0)


@given(st.integers(0, 2**32 - 1), st.integers(1, 8))
@settings(max_examples=50, deadline=None)
def test_planted_coefficients_come_back(seed: int, terms: int) -> None:
    random = np.random.default_rng(seed)
    planted = 10 ** random.uniform(-9, -7, terms)
    amounts = _designs(random, 12 * terms, terms)
    found = regress(amounts, amounts @ planted)
    # Round-off grows with the condition number, some tens for these.
    np.testing.assert_allclose(found.coefficients, planted, rtol=1e-6)
    assert np.abs(found.residuals).max() < 1e-8


def test_terms_that_cost_nothing_are_zero_and_not_negative() -> None:
    random = np.random.default_rng(3)
    planted = np.array([3e-9, 0.0, 5e-8, 0.0])
    amounts = _designs(random, 60, 4)
    seconds = amounts @ planted * random.normal(1, 0.02, 60)
    found = regress(amounts, seconds)
    assert (found.coefficients >= 0).all()
    assert (np.abs(found.coefficients - planted) < 4 * found.errors).all()
    assert (found.errors > 0).all()


def test_terms_that_no_run_has_are_not_known() -> None:
    amounts = np.array([[1.0, 0.0], [2.0, 0.0], [4.0, 0.0]])
    found = regress(amounts, amounts[:, 0] * 2e-9)
    assert found.known.tolist() == [True, False]
    assert found.coefficients[1] == found.errors[1] == 0


def test_terms_that_always_come_together_share_what_they_take_and_say_so() -> None:
    random = np.random.default_rng(5)
    one = 10 ** random.uniform(3, 5, 30)
    amounts = np.column_stack([one, 2 * one, random.uniform(1, 5, 30)])
    seconds = (amounts @ [1e-9, 2e-9, 3e-6]) * random.normal(1, 0.01, 30)
    found = regress(amounts, seconds)
    # What both take together is known, what each takes isn't.
    assert found.coefficients[0] + 2 * found.coefficients[1] == pytest.approx(5e-9, rel=0.02)
    assert found.errors[:2].max() > 1e-9
    assert np.isfinite(found.errors).all()


def test_standard_errors_cover() -> None:
    random = np.random.default_rng(11)
    planted = np.array([3e-9, 6e-8, 2e-5])
    amounts = np.column_stack([_designs(random, 40, 2), np.ones(40)])
    within = []
    for _ in range(300):
        found = regress(amounts, amounts @ planted * random.normal(1, 0.05, 40))
        within.append(np.abs(found.coefficients - planted) < found.errors)
    # 68 % of estimates lie within one standard error; of 900 such trials, sampling varies by 1.6 %.
    assert np.mean(within) == pytest.approx(0.683, abs=0.06)


def test_small_and_large_runs_count_alike() -> None:
    amounts = np.array([[1e3], [1e6]])
    found = regress(amounts, np.array([1.1e-6, 0.9e-3]))
    # The relative errors of both are what is small: c minimises (c/1.1 - 1)² + (c/0.9 - 1)².
    assert found.coefficients[0] == pytest.approx((1 / 1.1 + 1 / 0.9) / (1 / 1.1**2 + 1 / 0.9**2) * 1e-9, rel=1e-9)


def test_weights_tell_what_counts() -> None:
    amounts = np.ones((2, 1))
    found = regress(amounts, np.array([1.0, 2.0]), np.array([1.0, 1e-9]))
    assert found.coefficients[0] == pytest.approx(1.0, rel=1e-6)


@pytest.mark.parametrize(
    ("amounts", "seconds"),
    [(np.ones((0, 2)), np.ones(0)), (np.ones((2, 1)), np.array([1.0, 0.0])), (np.full((1, 1), np.inf), np.ones(1))],
)
def test_what_tells_nothing_is_refused(amounts: Array, seconds: Array) -> None:
    with pytest.raises(InputError):
        regress(amounts, seconds)
