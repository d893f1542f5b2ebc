from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.models.ensemble.stacking import blend_weights, cross_fitted, lean_blend

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


def test_a_model_that_adds_nothing_is_dropped_and_one_that_does_is_kept() -> None:
    rng = np.random.default_rng(0)
    truth, folds = rng.normal(size=3000), np.arange(3000) % 3
    first, second = truth + 0.1 * rng.normal(size=(2, 3000))  # independent: their mean errs by 1/√2 of either
    like_first = first + 0.01 * rng.normal(size=3000)
    predicted, ones = np.column_stack([like_first, first, second]), np.ones(3000)
    shares, honest = blend_weights(predicted, truth, ones), cross_fitted(predicted, truth, ones, folds)
    kept, left_out = lean_blend(predicted, truth, ones, folds, shares, honest)
    assert (kept > 0).tolist() == [False, True, True] or (kept > 0).tolist() == [True, False, True]
    assert np.isclose(kept.sum(), 1)
    assert np.abs(left_out - truth).mean() <= 1.01 * np.abs(honest - truth).mean()
    both = (kept > 0).nonzero()[0]
    np.testing.assert_array_equal(left_out, cross_fitted(predicted[:, both], truth, ones, folds))
