from __future__ import annotations

import numpy as np

from evenly.models.inputs.coding import Inputs
from evenly.models.trees.trend import QuadraticTrend


def _inputs(n: int, seed: int = 0) -> Inputs:
    rng = np.random.default_rng(seed)
    return Inputs(rng.uniform(-1, 1, (n, 2)), rng.integers(0, 3, (n, 1)), (3,))


def test_a_planted_quadratic_is_found() -> None:
    def truth(x: Inputs) -> np.ndarray:
        slopes = np.array([1.0, -2.0, 0.5])[x.labels[:, 0]]
        first, second = x.numbers.T
        return np.asarray(3 + first * slopes + first * second + second**2)

    trend, _ = QuadraticTrend.learn(_inputs(200), truth(_inputs(200)), np.ones(200))
    # The smallest ridge, 1e-7 of the squares, moves coefficients by about as much.
    np.testing.assert_allclose(trend.predict(_inputs(50, 1)), truth(_inputs(50, 1)), atol=1e-5)


def test_left_out_predictions_are_those_of_refits() -> None:
    inputs, rng = _inputs(30), np.random.default_rng(1)
    logs, weights = rng.normal(size=30), rng.uniform(0.5, 2, 30)
    _, left_out = QuadraticTrend.learn(inputs, logs, weights)
    # A run that is left out is one whose value, set to what is predicted there, changes nothing.
    for k in (0, 7):
        moved = logs.copy()
        moved[k] = left_out[k]
        again = _at_same_ridge(inputs, moved, weights, logs)
        np.testing.assert_allclose(again[k], left_out[k], atol=1e-9)


def _at_same_ridge(inputs: Inputs, moved: np.ndarray, weights: np.ndarray, logs: np.ndarray) -> np.ndarray:
    """Predictions of a linear smoother are linear in the values: move them along the smoother fitted to `logs`."""
    from evenly.models.trees import trend as module

    original = module._RIDGES
    fits = []
    try:
        for ridge in original:
            module._RIDGES = np.array([ridge])
            _, left_out = QuadraticTrend.learn(inputs, logs, weights)
            error = float(np.sum(np.abs(left_out - logs) * np.sqrt(weights)))
            fits.append((error, QuadraticTrend.learn(inputs, moved, weights)[0].predict(inputs)))
    finally:
        module._RIDGES = original
    return min(fits, key=lambda fit: fit[0])[1]


def test_beyond_the_range_the_tangent_goes_on() -> None:
    x = np.linspace(-1, 1, 40)[:, None]
    none = np.zeros((40, 0), np.int64)
    trend, _ = QuadraticTrend.learn(Inputs(x, none, ()), x[:, 0] ** 2, np.ones(40))
    asked = Inputs(np.array([[2.0], [3.0], [-2.0]]), none[:3], ())
    np.testing.assert_allclose(trend.predict(asked), [3.0, 5.0, 3.0], atol=1e-4)
