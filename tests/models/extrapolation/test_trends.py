"""Trends: planted laws are found with their exponents, and go on."""

from __future__ import annotations

import numpy as np
import pandas as pd
import pytest

from evenly.models.extrapolation.trends import LAWS, Places, Trend, TrendChoice
from evenly.models.inputs.coding import Coding
from evenly.space.space import Space


def places(table: pd.DataFrame, far: pd.DataFrame) -> tuple[Places, Places]:
    coding = Coding.learn(table, Space.from_data(table))
    ends = np.full(len(coding.numeric), -1.0), np.ones(len(coding.numeric))
    return Places.of(coding.inputs(table), coding, *ends), Places.of(coding.inputs(far), coding, *ends)


def drawn(n: int, low: float, high: float, seed: int = 0) -> pd.DataFrame:
    rng = np.random.default_rng(seed)
    return pd.DataFrame({name: np.exp(rng.uniform(np.log(low), np.log(high), n)) for name in ("m", "n")})


def error(choice: TrendChoice, seconds: object, noise: float = 0.0) -> float:
    assert callable(seconds)
    table, far = drawn(800, 10, 300), drawn(100, 1000, 3000, seed=1)
    here, there = places(table, far)
    logs = np.log(np.asarray(seconds(table))) + noise * np.random.default_rng(2).normal(size=800)
    trend = Trend(choice, np.array([1, 1])).fit(here, logs, np.ones(800))
    return float(np.abs(trend.predict(there) - np.log(np.asarray(seconds(far)))).max())


@pytest.mark.parametrize("law", [law for law in LAWS if law != "level"])
def test_every_law_continues_a_power_law(law: str) -> None:
    # The ridge of 1e-6 pulls slopes by about as much of themselves: 1e-4 over seven e-folds.
    exponent = 1.0 if law == "ones" else 0.5
    assert error(TrendChoice(law, 2.0), lambda t: 3 * t.m**1.0 * t.n**exponent) < 3e-3


def test_whole_exponents_are_enough_for_whole_exponents() -> None:
    assert error(TrendChoice("ones", 0.0), lambda t: 3 * t.m**2 * t.n) < 1e-3


@pytest.mark.parametrize("law", ["ones", "halves"])
def test_a_sum_of_power_laws_is_continued_where_a_single_one_bends(law: str) -> None:
    def seconds(t: pd.DataFrame) -> pd.Series:
        return 1e-9 * t.m * t.n + 3e-8 * t.m + 1e-6

    assert error(TrendChoice(law, 0.0), seconds) < 0.02
    assert error(TrendChoice("power", 0.0), seconds) > 0.2


def test_noise_does_not_move_rounded_exponents() -> None:
    seconds = lambda t: 1e-9 * t.m**2 * t.n**-1.0  # noqa: E731
    # Constants err by the noise over the root of 800 runs; exponents don't err.
    assert error(TrendChoice("rounded", 0.0), seconds, noise=0.1) < 5 * 0.1 / np.sqrt(800)
    assert error(TrendChoice("rounded", 0.0), seconds, noise=0.1) < error(TrendChoice("power", 0.0), seconds, noise=0.1)


def test_a_logarithm_is_found() -> None:
    def seconds(t: pd.DataFrame) -> np.ndarray:
        return np.asarray(1e-6 * t.n * (1 + np.log(t.m / 10)))

    assert error(TrendChoice("logs", 0.0), seconds) < 0.03 < error(TrendChoice("halves", 0.0), seconds)


def test_labels_and_zeros_are_factors() -> None:
    rng = np.random.default_rng(3)
    table = drawn(600, 10, 300).assign(level=rng.choice([0, 1, 2], 600), solver=rng.choice(["a", "b"], 600))
    far = drawn(50, 1000, 3000, 1).assign(level=3, solver="b")

    def seconds(t: pd.DataFrame) -> np.ndarray:
        return np.asarray((1e-9 * t.m * t.n + 1e-7) * 2.0**t.level * np.where(t.solver == "a", 1.0, 1.7))

    here, there = places(table, far)
    trend = Trend(TrendChoice("ones", 0.0), np.array([1, 1])).fit(here, np.log(seconds(table)), np.ones(600))
    assert np.abs(trend.predict(there) - np.log(seconds(far))).max() < 0.15
