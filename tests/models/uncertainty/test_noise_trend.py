"""Uneven noise: intervals are wide where errors are large, and even noise changes nothing."""

from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.uncertainty.local_conformal import LocalConformal
from evenly.models.uncertainty.noise_trend import NoiseTrend, interval_score


def inputs(places: NDArray[np.float64]) -> Inputs:
    return Inputs(places, np.zeros((len(places), 0), dtype=np.int64), ())


def drawn(n: int, seed: int, log_sigma: tuple[float, float, float]) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return places (n, 2) and residuals whose log standard deviation is a + b x + c x² of the first."""
    rng = np.random.default_rng(seed)
    places = rng.uniform(-1, 1, (n, 2))
    x, (a, b, c) = places[:, 0], log_sigma
    return places, np.exp(a + b * x + c * x**2) * rng.normal(size=n)


def coverage_by_fifths(learned: LocalConformal, seed: int, log_sigma: tuple[float, float, float]) -> list[float]:
    places, residuals = drawn(5000, seed, log_sigma)
    held = np.abs(residuals) <= learned.half_width(inputs(places), 0.9)
    fifth = np.clip(((places[:, 0] + 1) / 2 * 5).astype(int), 0, 4)
    return [float(held[fifth == k].mean()) for k in range(5)]


# Logarithms of 1 % at one end and 30 % at the other, and of 30 % at both and 3 % in the middle.
RISING, BOWL = (np.log(0.0548), np.log(30) / 2, 0.0), (np.log(0.03), 0.0, np.log(10.0))


@pytest.mark.parametrize("law", [RISING, BOWL], ids=["rising", "bowl"])
def test_uneven_noise_is_covered_in_every_fifth(law: tuple[float, float, float]) -> None:
    # 250 residuals fix the slope to about 0.15, and so the scale at an end to 15 %, which moves 90 % to about 85 %.
    places, residuals = drawn(250, 1, law)
    learned = LocalConformal.learn(inputs(places), residuals, freedom=240.0)
    assert learned.trend is not None
    assert min(coverage_by_fifths(learned, 2, law)) >= 0.82


def test_even_noise_needs_no_law() -> None:
    for seed in range(10):
        places, residuals = drawn(200, seed, (-2.0, 0.0, 0.0))
        assert LocalConformal.learn(inputs(places), residuals, freedom=190.0).trend is None


def test_beyond_the_range_the_law_stays_at_its_edge() -> None:
    places, residuals = drawn(300, 0, RISING)
    trend = NoiseTrend.learn(places, residuals)
    assert trend.scales(np.array([[5.0, 0.0]])) == pytest.approx(trend.scales(np.array([[1.0, 0.0]])))


@pytest.mark.parametrize("residuals", [np.zeros(40), np.r_[np.zeros(39), 1.0]], ids=["exact", "one"])
def test_residuals_of_zero_are_no_harm(residuals: NDArray[np.float64]) -> None:
    places = drawn(40, 0, RISING)[0]
    learned = LocalConformal.learn(inputs(places), residuals, freedom=30.0)
    assert np.isfinite(learned.half_width(inputs(places), 0.9)).all()


def test_the_unit_of_residuals_has_no_effect() -> None:
    places, residuals = drawn(100, 3, RISING)
    one, ten = (NoiseTrend.learn(places, factor * residuals, curved=True) for factor in (1.0, 10.0))
    assert ten.scales(places) == pytest.approx(10 * one.scales(places), rel=1e-6)


def test_a_law_is_stored_and_old_files_have_none() -> None:
    places, residuals = drawn(250, 1, RISING)
    learned = LocalConformal.learn(inputs(places), residuals, freedom=240.0)
    state = learned.to_state()
    assert LocalConformal.from_state(state).half_width(inputs(places), 0.9) == pytest.approx(
        learned.half_width(inputs(places), 0.9)
    )
    del state["trend"]
    assert LocalConformal.from_state(state).trend is None


def test_the_interval_score_is_least_at_the_quantile() -> None:
    residuals = np.random.default_rng(0).normal(size=20_000)
    scores = {half: interval_score(residuals, np.full(20_000, half), 0.9) for half in (1.2, 1.645, 2.1)}
    assert min(scores, key=lambda half: scores[half]) == 1.645


def test_learning_anew_from_its_residuals_changes_little() -> None:
    places, residuals = drawn(300, 3, RISING)
    learned = LocalConformal.learn(inputs(places), residuals, freedom=290.0)
    assert learned.trend is not None
    # Each was divided by a law learned without it.
    assert learned.residuals == pytest.approx(np.abs(residuals), rel=0.3)
    again = LocalConformal.learn(inputs(places), learned.residuals, freedom=290.0)
    assert again.half_width(inputs(places), 0.9) == pytest.approx(learned.half_width(inputs(places), 0.9), rel=0.3)
