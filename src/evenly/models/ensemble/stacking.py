"""Blending of models: a weighted mean whose weights are learned from predictions of left-out runs.

Stacked regression [Wolpert, Stacked generalization, 1992; Breiman, Stacked regressions, 1996] on logarithms: weights
that are not negative and sum to one minimise the mean absolute log error of the blend on runs that no model had seen,
smoothed near zero. Few runs tell little about weights, so the mean over resampled runs is taken. That spreads weight
over models that can't be told apart.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray
from scipy.optimize import minimize

__all__ = ["blend_weights", "cross_fitted"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
_RESAMPLES = 12
#: Shares below this are noise; dropping them makes predictions faster.
_SMALL = 0.02


def blend_weights(predicted: Floats, logs: Floats, weights: Floats, *, seed: int = 0) -> Floats:
    """Return the share of each model, (n_models,), not negative, of sum 1.

    Parameters
    ----------
    predicted : array (n_runs, n_models)
        Logs that each model predicted for runs it hadn't learned from.
    logs : array (n_runs,)
        What was measured.
    weights : array (n_runs,)
        How much each run counts.

    Examples
    --------
    >>> truth = np.linspace(0, 1, 50)
    >>> noise = np.random.default_rng(0).normal(size=(50, 2)) * [0.01, 1.0]
    >>> blend_weights(truth[:, None] + noise, truth, np.ones(50)).round(1)
    array([1., 0.])
    """
    errors = predicted - logs[:, None]
    count = errors.shape[1]
    if count == 1:
        return np.ones(1)
    rng = np.random.default_rng(seed)
    shares = np.zeros(count)
    for _ in range(_RESAMPLES):
        # Bayesian bootstrap [Rubin 1981]: every run stays in, with a random weight.
        drawn = weights * rng.exponential(size=len(logs))
        shares += _best(errors, drawn / drawn.sum())
    shares /= _RESAMPLES
    shares[shares < _SMALL] = 0.0
    return np.asarray(shares / shares.sum())


def _best(errors: Floats, weights: Floats) -> Floats:
    """Minimise the smoothed mean absolute error of blended errors (n_runs, n_models) over the simplex."""
    # |e| is smoothed to √(e² + s²), s a share of the best model's error; the start favours models of small error.
    single = weights @ np.abs(errors)
    smooth = 0.3 * float(single.min()) + 1e-12
    start = smooth / np.maximum(single, smooth)
    start = start**4 / np.sum(start**4)

    def loss(shares: Floats) -> tuple[float, Floats]:
        # Σ w √(e² + s²) with e = E p, and its gradient E' (w e / √(e² + s²)), both over s.
        blended = errors @ shares
        size = np.sqrt(blended**2 + smooth**2)
        return float(weights @ size) / smooth, errors.T @ (weights * blended / size) / smooth

    found = minimize(  # type: ignore[call-overload]
        loss,
        start,
        jac=True,
        method="SLSQP",
        bounds=[(0.0, 1.0)] * len(start),
        constraints={"type": "eq", "fun": lambda s: np.sum(s) - 1.0, "jac": np.ones_like},
        options={"maxiter": 200, "ftol": 1e-9},
    )
    shares = np.clip(found.x if np.all(np.isfinite(found.x)) else start, 0.0, None)
    return np.asarray(shares / shares.sum())


def cross_fitted(predicted: Floats, logs: Floats, weights: Floats, folds: Ints) -> Floats:
    """Blend each fold by weights learned from the other folds, (n_runs,), so that its errors aren't too optimistic."""
    blended = np.empty(len(logs))
    for fold in np.unique(folds):
        there = folds == fold
        blended[there] = predicted[there] @ blend_weights(predicted[~there], logs[~there], weights[~there])
    return blended
