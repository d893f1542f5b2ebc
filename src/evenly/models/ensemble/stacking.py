"""Stacking: a weighted mean of models, with weights learned from predictions of left-out runs.

This is stacked regression [Wolpert, Stacked generalization, 1992; Breiman, Stacked regressions, 1996] on logarithms.
The weights are non-negative and sum to one. They minimise the blend's mean absolute log error on left-out runs,
smoothed near zero. With few runs the weights are uncertain, so they are averaged over bootstrap samples. Models of
similar accuracy then share the weight.
"""

from __future__ import annotations

import numpy as np
from scipy.optimize import minimize

from evenly.models.array_types import Floats, Ints

__all__ = ["blend_weights", "cross_fitted", "lean_blend"]

_RESAMPLES = 12
#: Smaller weights are set to zero: they are noise, and predictions get faster.
_SMALL = 0.02
#: A model adds nothing if without it the error is at most this much larger, in all with those dropped before.
_NOTHING = 1.01


def blend_weights(predicted: Floats, logs: Floats, weights: Floats, *, seed: int = 0) -> Floats:
    """Return the non-negative weight of each model, (n_models,), with sum 1.

    Parameters
    ----------
    predicted : array (n_runs, n_models)
        Left-out log predictions of each model.
    logs : array (n_runs,)
        Measured logs.
    weights : array (n_runs,)
        Weight of each run.

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
        # Bayesian bootstrap [Rubin 1981]: every run gets a random exponential weight.
        drawn = weights * rng.exponential(size=len(logs))
        shares += _best(errors, drawn / drawn.sum())
    shares /= _RESAMPLES
    shares[shares < _SMALL] = 0.0
    return np.asarray(shares / shares.sum())


def _best(errors: Floats, weights: Floats) -> Floats:
    """Minimise the smoothed mean absolute error of blended errors (n_runs, n_models) over the simplex."""
    # |e| is smoothed to √(e² + s²), with s 0.3 times the best model's error. The start favours models of small error.
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
    """Blend each fold with weights learned from the other folds, so that the error isn't too optimistic, (n_runs,)."""
    blended = np.empty(len(logs))
    for fold in np.unique(folds):
        there = folds == fold
        blended[there] = predicted[there] @ blend_weights(predicted[~there], logs[~there], weights[~there])
    return blended


def lean_blend(
    predicted: Floats, logs: Floats, weights: Floats, folds: Ints, shares: Floats, honest: Floats
) -> tuple[Floats, Floats]:
    """Drop models from a blend that add nothing, the one of the least use first (backward elimination).

    Files get smaller and predictions faster. Only many runs tell which models these are.

    Parameters
    ----------
    predicted, logs, weights, folds
        As for `cross_fitted`.
    shares, honest : array (n_models,), array (n_runs,)
        The blend to start from, and its left-out predictions.

    Returns
    -------
    shares, honest : array (n_models,), array (n_runs,)

    Examples
    --------
    >>> truth, rng = np.linspace(0, 1, 300), np.random.default_rng(0)
    >>> first = truth + 0.01 * rng.normal(size=300)
    >>> second = first + 0.001 * rng.normal(size=300)
    >>> both, ones, folds = np.column_stack([first, second]), np.ones(300), np.arange(300) % 3
    >>> (lean_blend(both, truth, ones, folds, np.array([0.5, 0.5]), both.mean(axis=1))[0] > 0).sum()
    np.int64(1)
    """
    most = _NOTHING * float(np.average(np.abs(honest - logs), weights=weights))
    kept = np.flatnonzero(shares > 0)
    while len(kept) > 1:
        fewer = [np.delete(kept, i) for i in range(len(kept))]
        made = [cross_fitted(predicted[:, some], logs, weights, folds) for some in fewer]
        errors = [float(np.average(np.abs(one - logs), weights=weights)) for one in made]
        best = int(np.argmin(errors))
        if errors[best] > most:
            break
        kept, honest = fewer[best], made[best]
        shares = np.zeros(len(shares))
        shares[kept] = blend_weights(predicted[:, kept], logs, weights)
    return shares, honest
