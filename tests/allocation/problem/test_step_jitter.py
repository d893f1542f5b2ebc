"""Waiting by varying steps, against real steps of a coupled climate model and against trying everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.noise import Noise
from evenly.allocation.problem.step_jitter import patterns
from evenly.errors import InputError


@pytest.fixture(scope="module")
def steps(samples: Path) -> dict[str, NDArray[np.float64]]:
    """Seconds per step of the atmosphere (every few steps radiation) and the ocean of one run."""
    files = {"atm": "ATMIFS_ts.csv", "ocn": "oceanx_ts.csv"}
    return {n: pd.read_csv(samples / "ec-earth" / f)["Component"].to_numpy() for n, f in files.items()}


def test_real_steps_wait_more_than_their_means_say(steps: dict[str, NDArray[np.float64]]) -> None:
    """Balance the means of the two; the truth is the mean over steps of the slower one, from the series themselves."""
    atm, ocn = steps["atm"], steps["ocn"] * steps["atm"].mean() / steps["ocn"].mean()
    medians = {"atm": float(np.median(atm)), "ocn": float(np.median(ocn))}
    samples = {"atm": 7.0 * atm, "ocn": ocn}  # measured elsewhere: only the pattern counts
    plan = allocate({"atm": {100: medians["atm"]}, "ocn": {100: medians["ocn"]}}, 200, noise=Noise(samples=samples))
    truth = float(np.maximum(atm, ocn).mean())
    assert plan.jitter is not None
    assert plan.expected_seconds == pytest.approx(truth, rel=1e-12)
    assert plan.jitter.seconds_of_means == pytest.approx(max(atm.mean(), ocn.mean()), rel=1e-12)
    assert 0.10 < plan.jitter.loss < 0.18


def test_half_of_the_steps_predict_the_other_half(steps: dict[str, NDArray[np.float64]]) -> None:
    atm, ocn = steps["atm"], steps["ocn"] * steps["atm"].mean() / steps["ocn"].mean()
    half = len(atm) // 2
    seen = {"atm": atm[:half], "ocn": ocn[:half]}
    plan = allocate({"atm": {8: float(np.median(atm[:half]))}, "ocn": {8: float(np.median(ocn[:half]))}}, 16,
                    noise=Noise(samples=seen))  # fmt: skip
    later = np.maximum(atm[half:], ocn[half:])
    standard_error = later.std() / len(later) ** 0.5
    assert abs(plan.expected_seconds - later.mean()) < 3 * standard_error
    assert plan.expected_seconds > max(atm[half:].mean(), ocn[half:].mean()) + standard_error


def test_series_of_different_length_are_independent(steps: dict[str, NDArray[np.float64]]) -> None:
    atm, ocn = steps["atm"], steps["ocn"][:-55] * np.median(steps["atm"]) / np.median(steps["ocn"])
    plan = allocate({"atm": {8: float(np.median(atm))}, "ocn": {8: float(np.median(ocn))}}, 16,
                    noise=Noise(samples={"atm": atm, "ocn": ocn}, draws=20_000))  # fmt: skip
    exact = float(np.maximum(atm[:, None], ocn[None, :]).mean())  # all pairs of steps
    assert plan.expected_seconds == pytest.approx(exact, rel=0.01)  # four standard errors of 20,000 draws


def test_expected_time_is_never_below_that_of_the_means() -> None:
    random = np.random.default_rng(0)
    for _ in range(50):
        series = {name: random.lognormal(0, 0.5, 40) for name in "abc"}
        plan = allocate(
            {name: (lambda p: 9 / p) for name in "abc"}, 30, layout="max(a + b, c)", noise=Noise(samples=series)
        )
        assert plan.jitter is not None
        assert plan.jitter.loss >= -1e-12


def test_minimising_the_expected_time_against_trying_all() -> None:
    random = np.random.default_rng(1)
    series = {"a": random.lognormal(0, 0.1, 200), "b": random.lognormal(0, 0.8, 200)}
    solvers = {"a": lambda p: 60 / p, "b": lambda p: 60 / p}
    plain = allocate(solvers, 60, noise=Noise(samples=series))
    best = allocate(solvers, 60, noise=Noise(samples=series, optimise=True))
    ratios = {name: values / np.median(values) for name, values in series.items()}
    expected = {p: np.maximum(60 / p * ratios["a"], 60 / (60 - p) * ratios["b"]).mean() for p in range(1, 60)}
    assert best.expected_seconds == pytest.approx(min(expected.values()), rel=1e-12)
    assert best.expected_seconds < 0.99 * plain.expected_seconds
    assert best.cores["b"] > plain.cores["b"]  # the unsteady solver gets more
    # Its steady step is longer, but the mean one, which was minimised, is shorter: so much is saved.
    assert best.seconds > plain.seconds
    saved = best.versus["fastest"]
    assert saved.seconds == pytest.approx(plain.expected_seconds, rel=1e-9)
    assert saved.gain == pytest.approx(1 - best.expected_seconds / plain.expected_seconds, rel=1e-9)


def test_wrong_samples_are_refused() -> None:
    solvers = {"a": lambda p: 1 / p}
    for samples in ({"b": [1.0, 2.0]}, {"a": [1.0]}, {"a": [0.0, 0.0]}, {"a": [1.0, float("nan")]}):
        with pytest.raises(InputError):
            _ = allocate(solvers, 4, noise=Noise(samples=samples)).jitter
    with pytest.raises(InputError, match="give samples"):
        Noise(optimise=True)


@pytest.mark.parametrize("kind", ["skewed", "bursty", "correlated"])
def test_steps_around_curves_of_means_give_the_mean_step(kind: str) -> None:
    """Curves of whole runs tell means: 36 % too much came of scaling skewed steps to their median."""
    random = np.random.default_rng(3)
    n = 20_000
    one = np.exp(0.5 * random.standard_normal(n))
    other = np.where(random.random(n) < 0.1, 4.0, 1.0) * np.exp(0.1 * random.standard_normal(n))
    if kind == "skewed":
        other = np.exp(0.4 * random.standard_normal(n))
    if kind == "correlated":
        other = one * np.exp(0.2 * random.standard_normal(n))
    one, other = one / one.mean(), other / other.mean()  # what the curves tell
    truth = np.maximum(10 * one, 9 * other).mean()
    samples = {"a": one[: n // 2], "b": other[: n // 2]}
    solvers = {"a": {1: 10.0}, "b": {1: 9.0}}
    plan = allocate(solvers, 2, noise=Noise(samples=samples, statistic="mean"))
    assert plan.expected_seconds == pytest.approx(truth, rel=0.03)
    assert plan.seconds == pytest.approx(10)
    of_medians = allocate(solvers, 2, noise=Noise(samples=samples)).expected_seconds
    assert of_medians > 1.05 * truth


def test_the_statistic_may_differ_between_solvers() -> None:
    noise = Noise(samples={"a": [1, 1, 4], "b": [2, 4, 4]}, statistic={"a": "mean"})
    found = patterns(noise, ("a", "b"))
    assert (found["a"].tolist(), found["b"].tolist()) == ([0.5, 0.5, 2.0], [0.5, 1.0, 1.0])
    with pytest.raises(InputError, match="statistic must be median or mean, but got 'mode'"):
        Noise(statistic="mode")  # type: ignore[arg-type]
