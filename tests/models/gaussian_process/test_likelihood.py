from __future__ import annotations

import numpy as np
import pytest
from numpy.typing import NDArray
from sklearn.gaussian_process.kernels import Matern

from evenly.models.gaussian_process.hyperparameters import Shape
from evenly.models.gaussian_process.kernels import (
    MATERN_32,
    MATERN_52,
    add_covariance,
    weighted_sums_32,
    weighted_sums_64,
)
from evenly.models.gaussian_process.likelihood import LEAST_NOISE, cost, covariance_matrix, learn, objective
from evenly.models.inputs.coding import Inputs

Floats = NDArray[np.float64]
SIZES = (3, 2)


def mixed(n: int, d: int, seed: int = 0) -> Inputs:
    rng = np.random.default_rng(seed)
    labels = np.column_stack([rng.integers(0, size, n) for size in SIZES])
    return Inputs(rng.uniform(-1, 1, (n, d)), labels, SIZES)


def covariances(points: Floats, variance: float, kind: tuple[float, float]) -> tuple[Floats, Floats]:
    covariance, slope = np.empty((len(points),) * 2), np.empty((len(points),) * 2)
    add_covariance(points @ points.T, np.sum(points**2, axis=1), variance, *kind, covariance, slope)
    return covariance, slope


@pytest.mark.parametrize(("kind", "nu"), [(MATERN_32, 1.5), (MATERN_52, 2.5)])
def test_the_covariance_is_that_of_scikit_learn(kind: tuple[float, float], nu: float) -> None:
    points = np.random.default_rng(0).normal(size=(40, 3)) * 4
    # Squared distances come from inner products: rounding of 1e-16 · |x|² ~ 1e-14 in r², at most as much in Matérn.
    np.testing.assert_allclose(covariances(points, 2.0, kind)[0], 2.0 * Matern(1.0, nu=nu)(points), atol=1e-12)


def test_the_slope_is_the_derivative_by_squared_distance() -> None:
    points = np.random.default_rng(1).normal(size=(10, 2))
    step = 1e-5
    (more, _), (less, _), (_, slope) = (covariances(points * np.sqrt(1 + f), 1.5, MATERN_52) for f in (step, -step, 0))
    squares = np.sum((points[:, None] - points[None]) ** 2, axis=2)
    np.testing.assert_allclose((more - less) / (2 * step), slope * squares, atol=1e-8)


@pytest.mark.parametrize(("sums", "tolerance"), [(weighted_sums_64, 1e-11), (weighted_sums_32, 1e-4)])
def test_compiled_sums_are_matrix_products(sums: object, tolerance: float) -> None:
    precision = np.float64 if tolerance < 1e-6 else np.float32
    shape, runs, asked = Shape(2, SIZES, 1), mixed(1500, 2), mixed(20, 2, seed=1)
    theta = shape.means + 0.3 * np.random.default_rng(2).normal(size=len(shape))
    component = shape.components(theta)[0]
    coefficients = np.random.default_rng(3).normal(size=1500)
    both = Inputs(np.vstack([asked.numbers, runs.numbers]), np.vstack([asked.labels, runs.labels]), SIZES)
    expected = covariances(component.coordinates(both), 1.0, MATERN_52)[0][:20, 20:] @ coefficients
    total = np.zeros(20)
    assert callable(sums)
    sums(
        component.places(asked).astype(precision), asked.labels.astype(precision),
        np.ascontiguousarray(component.places(runs).T, precision),
        np.ascontiguousarray(runs.labels.T, precision), component.steps.astype(precision), component.kind,
        coefficients.astype(precision), total,
    )  # fmt: skip
    # Sums of 1,500 terms of size 1: 1,500 roundings of each precision.
    np.testing.assert_allclose(total, expected, atol=tolerance)


@pytest.mark.parametrize("smoothness", [1.5, 2.5])
@pytest.mark.parametrize(
    ("d", "parts"), [(3, ("wide", "local")), (1, ("wide", "local")), (2, ("wide",)), (0, ("wide",))]
)
def test_the_gradient_is_that_of_finite_differences(d: int, parts: tuple[str, ...], smoothness: float) -> None:
    shape, inputs = Shape(d, SIZES, 1, smoothness, parts), mixed(25, d)
    rng = np.random.default_rng(4)
    values, weights = rng.normal(size=25), rng.uniform(0.5, 2, 25)
    theta = shape.means + 0.3 * rng.normal(size=len(shape))
    _, gradient = objective(theta, shape, inputs, values, weights)
    step = 1e-5
    numeric = [
        (
            objective(theta + step * unit, shape, inputs, values, weights)[0]
            - objective(theta - step * unit, shape, inputs, values, weights)[0]
        )
        / (2 * step)
        for unit in np.eye(len(shape))
    ]
    np.testing.assert_allclose(gradient, numeric, rtol=1e-5, atol=1e-6 * np.abs(gradient).max())


def test_the_likelihood_is_the_normal_density() -> None:
    from scipy.stats import multivariate_normal

    shape, inputs = Shape(2, SIZES), mixed(15, 2)
    values, weights = np.random.default_rng(5).normal(size=15), np.ones(15)
    matrix = covariance_matrix(shape.means, shape, inputs, weights)
    expected = -multivariate_normal(cov=matrix).logpdf(values) - 15 / 2 * np.log(2 * np.pi)
    assert objective(shape.means, shape, inputs, values, weights)[0] == pytest.approx(expected, rel=1e-9)
    assert cost(shape.means, shape, inputs, values, weights) == pytest.approx(expected, rel=1e-9)
    assert np.linalg.eigvalsh(matrix).min() >= LEAST_NOISE


def test_planted_length_scales_are_found() -> None:
    shape, inputs = Shape(3, (), parts=("wide",)), Inputs(mixed(350, 3).numbers, np.zeros((350, 0), np.int64), ())
    truth = shape.means.copy()
    truth[shape.slices["noise"]] = np.log(1e-4)
    truth[shape.slices["wide.variance"]] = 0.0
    truth[shape.slices["wide.length"]] = np.log([0.5, 1.5, 5.0])
    matrix = covariance_matrix(truth, shape, inputs, np.ones(350))
    values = np.linalg.cholesky(matrix) @ np.random.default_rng(6).normal(size=350)
    _, found = learn(shape, inputs, values, np.ones(350))
    lengths = found[shape.slices["wide.length"]] - 0.5 * (found - truth)[shape.slices["wide.variance"]] / 2.5
    # Length-scales of 350 runs at a signal-to-noise ratio of 100 are known to some ten per cent, the longest less so.
    np.testing.assert_allclose(lengths[:2], np.log([0.5, 1.5]), atol=0.35)
    assert lengths[2] > lengths[1] + 0.4
    assert found[0] == pytest.approx(np.log(1e-4), abs=1.0)


def test_a_sheared_process_finds_the_product_of_two_parameters() -> None:
    rng = np.random.default_rng(7)
    x = rng.uniform(-1, 1, (120, 2))
    values = np.sin(4 * (x[:, 0] + x[:, 1])) * 1.4
    inputs, shape = Inputs(x, np.zeros((120, 0), np.int64), ()), Shape(2, ())
    wide = shape.components(learn(shape, inputs, values, np.ones(120))[1])[0]
    along, across = (np.linalg.norm(np.array(v) @ wide.map) for v in ([1, 1], [1, -1]))
    assert along > 3 * across


def test_labels_that_behave_alike_lie_close() -> None:
    rng = np.random.default_rng(8)
    x, labels = rng.uniform(-1, 1, (200, 1)), rng.integers(0, 4, (200, 1))
    values = np.sin(3 * x[:, 0] + 2.0 * (labels[:, 0] // 2))
    shape, inputs = Shape(1, (4,), 1), Inputs(x, labels, (4,))
    shape, theta = learn(shape, inputs, values, np.ones(200))
    places = theta[shape.slices["wide.place"]]
    assert abs(places[0] - places[1]) + abs(places[2] - places[3]) < 0.5 * abs(places[0] - places[2])
