from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.models.ensemble.stacking import blend_weights, cross_fitted

Floats = NDArray[np.float64]
TRUTH = np.linspace(-2, 2, 400)


def _predictions(*noises: float, seed: int = 0) -> Floats:
    rng = np.random.default_rng(seed)
    return np.column_stack([TRUTH + rng.normal(size=len(TRUTH)) * noise for noise in noises])


def test_shares_are_not_negative_and_sum_to_one() -> None:
    shares = blend_weights(_predictions(0.1, 0.2, 0.4), TRUTH, np.ones(len(TRUTH)))
    assert np.all(shares >= 0)
    assert np.isclose(shares.sum(), 1)


def test_models_that_err_apart_are_better_blended_than_the_best_alone() -> None:
    predicted = _predictions(0.1, 0.12, 0.15)
    blended = predicted @ blend_weights(predicted, TRUTH, np.ones(len(TRUTH)))
    alone = np.abs(predicted - TRUTH[:, None]).mean(axis=0).min()
    assert np.abs(blended - TRUTH).mean() < 0.75 * alone


def test_equal_noise_earns_shares_by_inverse_variance() -> None:
    # Blending independent noises of spread 1 and 2 is best at 4:1.
    shares = blend_weights(_predictions(0.1, 0.2), TRUTH, np.ones(len(TRUTH)))
    np.testing.assert_allclose(shares, [0.8, 0.2], atol=0.06)


def test_runs_of_no_weight_do_not_count() -> None:
    predicted, weights = _predictions(0.1, 0.1), np.ones(len(TRUTH))
    predicted[::2, 0] += 5.0
    weights[::2] = 0.0
    kept = blend_weights(predicted[1::2], TRUTH[1::2], weights[1::2])
    assert blend_weights(predicted, TRUTH, weights)[0] > 0.3
    assert kept[0] > 0.3


def test_errors_of_the_blend_are_those_of_weights_that_did_not_see_them() -> None:
    # Twenty models of pure noise: weights fitted to the runs themselves flatter, weights of other folds don't.
    rng = np.random.default_rng(1)
    logs, predicted = rng.normal(size=60), rng.normal(size=(60, 20))
    weights, folds = np.ones(60), np.arange(60) % 5
    fitted = np.abs(predicted @ blend_weights(predicted, logs, weights) - logs).mean()
    honest = np.abs(cross_fitted(predicted, logs, weights, folds) - logs).mean()
    assert fitted < honest
