"""Waiting by varying steps, against real steps of a coupled climate model and against trying everything."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest
from numpy.typing import NDArray

from evenly.allocation.allocate import allocate
from evenly.allocation.problem.layout import parse_layout
from evenly.allocation.problem.noise import Noise
from evenly.allocation.problem.step_jitter import patterns
from evenly.errors import InputError
from evenly.models.fitting import fit
from evenly.report.tables.plan import comparison_table
from evenly.runs.runs import Runs


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
    found = patterns(noise, parse_layout("max(a, b)"))
    assert (found["a"].at(1).tolist(), found["b"].at(1).tolist()) == ([0.5, 0.5, 2.0], [0.5, 1.0, 1.0])
    with pytest.raises(InputError, match="statistic must be median, mean or min, but got 'mode'"):
        Noise(statistic="mode")  # type: ignore[arg-type]


def law(p: int) -> float:
    return float(12 / p + 0.02 + 0.004 * np.log2(p))


@pytest.mark.parametrize("kind", ["constant in seconds", "in proportion"])
@pytest.mark.parametrize(("seconds", "largest_error"), [(1.0, 0.03), (0.2, 0.03)])
def test_slow_steps_scale_as_they_did_in_the_runs(kind: str, seconds: float, largest_error: float) -> None:
    """Every fifth step takes longer, by the same seconds on any cores, or by the same share of a step."""
    random = np.random.default_rng(11)

    def steps(p: int, n: int) -> NDArray[np.float64]:
        usual = law(p) * np.exp(0.015 * random.standard_normal(n))
        return usual + np.where(np.arange(n) % 5 == 4, seconds * (1 if kind != "in proportion" else law(p)), 0.0)

    runs = [steps(p, 40) for p in (4, 8, 16, 24, 32, 16)]
    other = [0.34 * np.exp(0.01 * random.standard_normal(40))]
    problem = {"fluid": {38: law(38)}, "solid": {10: 0.34}}
    plan = allocate(problem, 48, noise=Noise(samples={"fluid": runs, "solid": other}, scatter=0.01))
    truth = np.maximum(steps(38, 10_000), 0.34).mean()
    assert plan.expected_seconds == pytest.approx(truth, rel=largest_error)
    assert plan.expected_interval is not None
    assert plan.expected_interval[0] < truth < plan.expected_interval[1]


def test_noise_of_few_steps_is_no_slow_step() -> None:
    """Of runs whose steps vary alike, the mean over the usual step is the same on more cores, as far as is known."""
    random = np.random.default_rng(5)
    errors, inside = [], 0
    for _ in range(100):
        runs = [law(p) * np.exp(0.3 * random.standard_normal(30)) for p in (4, 8, 16, 24, 32)]
        plan = allocate({"a": {38: law(38)}}, 38, noise=Noise(samples={"a": runs}, scatter=1e-6))
        truth = law(38) * np.exp(0.3**2 / 2)
        errors.append(abs(plan.expected_seconds / truth - 1))
        bounds = plan.expected_interval
        assert bounds is not None
        inside += bounds[0] < truth < bounds[1]
    assert np.mean(errors) < 0.04
    assert inside >= 80


def test_others_are_compared_by_their_mean_steps_where_these_are_minimised() -> None:
    """The runner-up's typical step stood beside the plan's mean step, as if it were faster."""
    slow = np.where(np.arange(40) % 5 == 4, 1.0, 0.0)
    runs = [law(p) + slow for p in (4, 8, 16, 32)]
    random, cores = np.random.default_rng(2), np.array([2, 4, 8, 16, 32])
    tables = {
        name: pd.DataFrame({"cores": cores, "seconds": work / cores * np.exp(0.05 * random.standard_normal(5))})
        for name, work in (("fluid", 12), ("solid", 3))
    }
    solvers = {name: fit(Runs.from_frame(table, ["cores"]), method="power-law") for name, table in tables.items()}
    noise = Noise(samples={"fluid": runs, "solid": [0.3, 0.3]}, statistic="median", optimise=True)
    plan = allocate(solvers, 36, noise=noise)
    assert plan.runner_up is not None
    assert plan.runner_up.seconds >= plan.expected_seconds
    cells = [str(cell) for column in comparison_table(plan).columns for cell in column.cells]
    assert not any("−" in cell or "-" in cell for cell in cells[-2:])


def test_models_know_of_which_statistic_of_their_steps_they_are() -> None:
    """A curve of whole runs, as of simulated years per day, tells means: steps were scaled to their median."""
    random = np.random.default_rng(2)
    whole = pd.DataFrame({"cores": [1, 2, 4, 8], "seconds": [80.0, 40.0, 20.0, 10.0]})
    single = pd.DataFrame([
        {"cores": n, "run": str(n), "seconds": 40 / n * skew} for n in (1, 2, 4, 8) for skew in (0.98, 1.0, 3.0)
    ])  # fmt: skip
    models = {name: fit(table, parameters=["cores"]) for name, table in (("a", whole), ("b", single))}
    assert [models[name].training_["of_steps"] for name in models] == ["mean", "median"]
    samples = {name: np.exp(0.8 * random.standard_normal(500)) for name in models}
    plan = allocate(models, 12, noise=Noise(samples=samples))
    told = allocate(models, 12, noise=Noise(samples=samples, statistic={"a": "mean", "b": "median"}))
    assert plan.expected_seconds == told.expected_seconds
    other = allocate(models, 12, noise=Noise(samples=samples, statistic={"a": "median"}))
    assert other.expected_seconds > 1.1 * plan.expected_seconds


def test_steps_between_exchanges_even_out() -> None:
    """Each fourth step of a is long, but b waits after four of them only: then nothing varies."""
    steps = np.where(np.arange(48) % 4 == 0, 3.0, 1.0)
    noise = Noise(samples={"a": steps, "b": np.ones(36)}, statistic="mean")
    solvers = {"a": {1: 1.5}, "b": {1: 2.0}}
    plan = allocate(solvers, 2, layout="max(4 * a, 3 * b)", noise=noise)
    assert plan.jitter is not None
    assert plan.expected_seconds == pytest.approx(6)
    assert plan.jitter.loss == pytest.approx(0)
    each = allocate(solvers, 2, layout="3 * max(a, b)", noise=noise)  # here b waits after each step
    assert each.jitter is not None
    assert each.jitter.loss > 0.1
    few = allocate(solvers, 2, layout="max(50 * a, b)", noise=noise)
    with pytest.raises(InputError, match="only 48 were recorded"):
        _ = few.jitter
