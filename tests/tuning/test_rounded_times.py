"""Searches in a program that prints rounded times: equal times don't tell that there is no noise."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly.campaign.noise import noise_of, resolution
from evenly.report.tables.tuning import found_text
from evenly.space.parameters import Categorical, Ordinal
from evenly.space.space import Space
from evenly.tuning.tuning import tune

SPACE = Space(ranks=Ordinal(1, 2, 4, 8, 16, 32, 64), solver=Categorical("cg", "amg", "jac"))
TODAY = {"ranks": 4, "solver": "cg"}


def truth(one: dict[str, Any]) -> float:
    factor = {"cg": 1.0, "amg": 0.83, "jac": 1.2}[one["solver"]]
    return float(factor * (3 + 8 / one["ranks"] + one["ranks"] * 0.03))


def test_the_last_digit_tells_the_resolution_and_the_least_noise() -> None:
    assert resolution([12.0, 13.0, 40.0]) == 1.0
    assert resolution([0.0123, 0.0456]) == pytest.approx(1e-4)
    assert resolution([1.23456, 2.0]) == 0.0  # 10 µs are less than 0.1 % of a second
    assert resolution([]) == 0.0
    same = noise_of([(math.log(12.0),) * 3], 1.0)
    assert same.likely == pytest.approx(1 / math.sqrt(12) / 12)
    assert same.matters
    assert same.is_constant


def test_equal_times_of_whole_seconds_are_ties() -> None:
    result = tune(SPACE, lambda one: round(12 + truth(one) / 20), budget=12, seed=0, baseline=TODAY)
    assert result.resolution == 1.0
    assert result.interval is not None
    assert result.interval[0] < 11.6
    assert result.interval[1] > 12.4
    assert result.chance < 0.5
    assert len(result.alike) > 2
    assert result.gain is not None
    assert result.gain.interval is not None
    assert result.gain.interval[0] < 0 < result.gain.interval[1]
    assert "times are rounded to 1 s" in found_text(result)


@pytest.mark.parametrize("digits", [0, 1])
def test_intervals_of_rounded_times_hold_the_truth(digits: int) -> None:
    """Each of eight intervals holds it with 95 %: that two of them don't has a probability of less than 6 %."""
    inside = 0
    for seed in range(8):
        random = np.random.default_rng(seed)

        def run(one: dict[str, Any], random: Any = random) -> float:
            return round(truth(one) * math.exp(random.normal(0, 0.01)), digits)

        result = tune(SPACE, run, budget=15, seed=seed, baseline=TODAY)
        assert result.interval is not None
        inside += result.interval[0] <= truth(result.best) <= result.interval[1]
    assert inside >= 7
