from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.errors import ExtrapolationWarning
from evenly.models.gaussian_process import experts, gaussian_process
from evenly.models.gaussian_process.few_valued import Levels
from evenly.models.gaussian_process.gaussian_process import GaussianProcess, _Process
from evenly.models.inputs.coding import Inputs
from evenly.models.regression_model import left_out_logs

Floats = NDArray[np.float64]


def numbers(x: Floats) -> Inputs:
    return Inputs(x, np.zeros((len(x), 0), np.int64), ())


def smooth(x: Floats) -> Floats:
    return np.asarray(np.sin(3 * x[:, 0]) + 0.5 * x[:, 0] * x[:, 1])


def fitted(x: Floats, logs: Floats) -> _Process:
    process = _Process()
    process.fit(numbers(x), logs, np.ones(len(x)))
    return process


def _solved(process: _Process, inputs: Inputs, logs: Floats, weights: Floats) -> _Process:
    """Return a process with the same hyper-parameters that is fitted to other runs."""
    other = _Process(process.search)
    other._centre, other._scale, other._levels = process._centre, process._scale, process._levels
    known, values = process._experts, (logs - process._centre) / process._scale
    other._experts = experts.Experts.learn(known.shape, known.theta, process._levels.added(inputs), values, weights)
    return other


def test_without_noise_runs_are_met_and_gaps_filled() -> None:
    rng = np.random.default_rng(0)
    x = rng.uniform(-1, 1, (60, 2))
    process = fitted(x, smooth(x))
    np.testing.assert_allclose(process.predict(numbers(x)), smooth(x), atol=1e-3)
    asked = rng.uniform(-0.9, 0.9, (200, 2))
    assert np.abs(process.predict(numbers(asked)) - smooth(asked)).mean() < 5e-3


def test_scatter_is_found_and_the_deviation_grows_away_from_runs() -> None:
    rng = np.random.default_rng(1)
    x = np.column_stack([rng.uniform(-1, 0, 80), rng.uniform(-1, 1, 80)])
    process = fitted(x, smooth(x) + 0.05 * rng.normal(size=80))
    # 80 runs know their standard deviation to 1/√160 ≈ 8 %; three times that.
    assert process.noise == pytest.approx(0.05, rel=0.3)
    near = process.deviation(numbers(x))
    assert (near < 0.05).all()
    line = np.column_stack([np.linspace(0, 3, 7), np.zeros(7)])
    assert (np.diff(process.deviation(numbers(line))) > 0).all()
    assert process.deviation(numbers(line))[-1] > 5 * near.max()


def test_the_deviation_is_that_of_errors() -> None:
    rng = np.random.default_rng(2)
    x, asked = rng.uniform(-1, 1, (40, 2)), rng.uniform(-1, 1, (400, 2))
    scores = []
    for phase in np.linspace(0, 3, 6):
        process = fitted(x, np.sin(5 * x[:, 0] + phase) * np.cos(4 * x[:, 1]))
        truth = np.sin(5 * asked[:, 0] + phase) * np.cos(4 * asked[:, 1])
        scores.append((process.predict(numbers(asked)) - truth) / process.deviation(numbers(asked)))
    assert 0.4 < np.sqrt(np.mean(np.square(scores))) < 2.5


@pytest.mark.parametrize("regions", [1, 4])
def test_left_out_is_what_solving_again_gives(regions: int, monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(3)
    n = 90
    inputs = Inputs(rng.uniform(-1, 1, (n, 2)), rng.integers(0, 3, (n, 1)), (3,))
    logs = smooth(inputs.numbers) + 0.3 * inputs.labels[:, 0] + 0.02 * rng.normal(size=n)
    weights = rng.uniform(0.5, 2, n)
    weights /= weights.mean()
    folds = rng.integers(0, 4, n)
    whole = _Process()
    if regions > 1:
        monkeypatch.setattr(experts, "EXACT", 50)
        monkeypatch.setattr(experts, "_REGION_RUNS", 30)
        monkeypatch.setattr(experts, "_LEARNED", 60)
    whole.fit(inputs, logs, weights)
    assert len(whole._experts.regions) == regions
    monkeypatch.setattr(gaussian_process, "_RELEARNED", 0)
    known = whole.left_out(inputs, logs, weights, folds)
    assert known is not None
    again = np.empty(n)
    for fold in range(4):
        for region, rows in enumerate(whole._experts.members):
            kept = rows[folds[rows] != fold]
            asked = (folds == fold) & (whole._experts._owners(inputs) == region)
            monkeypatch.setattr(experts, "EXACT", n)
            again[asked] = _solved(whole, inputs.rows(kept), logs[kept], weights[kept]).predict(inputs.rows(asked))
    # Two ways through matrices of condition number (variance / noise) · n ~ 1e6 at rounding 1e-16.
    np.testing.assert_allclose(known, again, atol=1e-8)


def test_left_out_is_as_far_off_as_learning_again() -> None:
    rng = np.random.default_rng(4)
    x = rng.uniform(-1, 1, (60, 2))
    logs = smooth(x) + 0.05 * rng.normal(size=60)
    folds, ones = np.arange(60) % 5, np.ones(60)
    process = fitted(x, logs)
    known = process.left_out(numbers(x), logs, ones, folds)
    assert known is not None
    refitted = left_out_logs(_Process, numbers(x), logs, ones, folds)
    ratio = np.sqrt(np.mean((known - logs) ** 2) / np.mean((refitted - logs) ** 2))
    assert 0.8 < ratio < 1.1


def test_regions_predict_like_one_process(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(5)
    x = rng.uniform(-1, 1, (600, 2))
    logs = smooth(x) + 0.02 * rng.normal(size=600)
    asked = numbers(rng.uniform(-1, 1, (300, 2)))
    one = fitted(x, logs)
    monkeypatch.setattr(experts, "EXACT", 500)
    monkeypatch.setattr(experts, "_REGION_RUNS", 150)
    monkeypatch.setattr(experts, "_LEARNED", 350)
    many = fitted(x, logs)
    assert len(many._experts.regions) == 4
    difference = many.predict(asked) - one.predict(asked)
    # Less than the posterior deviation itself, which is about 0.02 · √(10 / 600).
    assert np.sqrt(np.mean(difference**2)) < 0.002
    np.testing.assert_allclose(many.deviation(asked), one.deviation(asked), rtol=0.5)


def test_regions_hold_all_points_and_tell_identical_ones_from_none() -> None:
    points = np.random.default_rng(6).normal(size=(300, 3))
    regions = experts.Regions.split(points, 50)
    counts = np.bincount(regions.of(points), minlength=len(regions))
    assert counts.sum() == 300
    assert counts.max() <= 50
    assert len(experts.Regions.split(np.zeros((300, 3)), 50)) == 1


def test_single_precision_changes_nothing_that_counts(monkeypatch: pytest.MonkeyPatch) -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (200, 2))
    logs = smooth(x) + 0.02 * rng.normal(size=200)
    asked = numbers(rng.uniform(-1, 1, (300, 2)))
    double = fitted(x, logs)
    monkeypatch.setattr(experts, "_SINGLE_ROWS", 100)
    single = fitted(x, logs)
    assert single._experts.single
    assert not double._experts.single
    np.testing.assert_allclose(single.predict(asked), double.predict(asked), atol=0.1 * 0.02)


def test_weights_are_repetitions() -> None:
    rng = np.random.default_rng(8)
    x = rng.uniform(-1, 1, (30, 1))
    logs = np.sin(2 * x[:, 0]) + 0.1 * rng.normal(size=30)
    process = fitted(x, logs)
    rows = np.concatenate([np.arange(30), np.arange(10)])
    twice = _solved(process, numbers(x[rows]), logs[rows], np.ones(40))
    heavy = _solved(process, numbers(x), logs, np.where(np.arange(30) < 10, 2.0, 1.0))
    np.testing.assert_allclose(twice.predict(numbers(x)), heavy.predict(numbers(x)), atol=1e-6)


def test_the_order_of_parameters_does_not_matter() -> None:
    rng = np.random.default_rng(9)
    x = rng.uniform(-1, 1, (40, 3))
    logs = smooth(x) + np.cos(2 * (x[:, 2] - x[:, 0]))
    asked = rng.uniform(-1, 1, (50, 3))
    order = [2, 0, 1]
    one, other = fitted(x, logs), fitted(x[:, order], logs)
    # Optimisers stop within a relative 1e-6 of the same maximum.
    np.testing.assert_allclose(other.predict(numbers(asked[:, order])), one.predict(numbers(asked)), atol=0.02)


def test_five_runs_give_a_power_law_or_nearly_so() -> None:
    cores = np.array([1, 2, 4, 8, 16])
    seconds = 100.0 / cores**0.9 * np.exp([0.01, -0.02, 0.015, -0.01, 0.005])
    model = GaussianProcess().fit({"cores": cores}, seconds)
    np.testing.assert_allclose(model.predict({"cores": [3, 6, 12]}), 100.0 / np.array([3, 6, 12]) ** 0.9, rtol=0.05)
    lower, upper = model.interval({"cores": [3]})
    assert upper / lower < 2
    with pytest.warns(ExtrapolationWarning):
        assert 0.3 < model.predict({"cores": [64]}).item() / (100.0 / 64**0.9) < 3


def test_the_model_tells_its_deviation() -> None:
    model = GaussianProcess().fit({"n": [10, 20, 40, 80, 160]}, [1.0, 2.2, 3.9, 8.1, 15.0])
    inside = model.deviation({"n": [40]})
    with pytest.warns(ExtrapolationWarning):
        outside = model.deviation({"n": [4000]})
    assert 0 < inside.item() < outside.item()


def test_levels_of_a_number_may_stand_out_of_line() -> None:
    rng = np.random.default_rng(10)
    table = {"ranks": 2.0 ** rng.integers(0, 7, 150), "size": np.exp(rng.uniform(0, 5, 150))}
    slow = np.where(table["ranks"] == 16, 3.0, 1.0)
    model = GaussianProcess().fit(table, table["size"] / table["ranks"] * slow)
    asked = {"ranks": [8, 16, 32], "size": [20.0, 20.0, 20.0]}
    np.testing.assert_allclose(model.predict(asked), [20 / 8, 60 / 16, 20 / 32], rtol=0.05)


def test_levels_are_numbers_of_few_values() -> None:
    x = np.column_stack([np.tile([-1.0, 0.0, 1.0], 10), np.linspace(-1, 1, 30), np.tile([-1.0, 1.0], 15)])
    levels = Levels.learn(numbers(x))
    assert levels.columns == [0]
    np.testing.assert_array_equal(levels.added(numbers(np.array([[0.0, 5, 5], [0.3, 5, 5]]))).labels, [[1], [-1]])
    again = Levels.from_state(levels.to_state())
    np.testing.assert_array_equal(again.values[0], levels.values[0])
