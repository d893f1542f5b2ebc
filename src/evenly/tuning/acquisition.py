"""Acquisition functions: how much a run is expected to improve, or may improve, on the best time so far.

* Expected improvement [Jones, Schonlau and Welch, Efficient global optimization of expensive black-box functions,
  1998].
* Its logarithm, which stays finite where the improvement is tiny [as Ament et al., Unexpected improvements to expected
  improvement for Bayesian optimization, 2023].
* A lower confidence bound [Srinivas, Krause, Kakade and Seeger, Gaussian process optimization in the bandit setting,
  2010].

All take predicted logarithms of seconds, as a mixture of k normal distributions (`Beliefs`).
"""

from __future__ import annotations

import numpy as np
from scipy.special import log_ndtr, ndtr

from evenly.models.array_types import Floats
from evenly.tuning.surrogates.base import Beliefs

__all__ = ["expected_improvement", "log_expected_improvement", "log_lower_bound"]

#: Subtracted where the lower bound promises no saving, so that such values lie below all others.
_NO_SAVING = 100.0


def log_expected_improvement(beliefs: Beliefs, best: float | Floats) -> Floats:
    """Return the logarithm of the expected improvement on `best`, the least logarithm of seconds so far, (n,).

    `best` is one number, or one for each configuration: the least of its task.

    The logarithm still ranks configurations whose expected improvement is too small for floating-point numbers.

    Examples
    --------
    >>> one = Beliefs(np.array([[0.0, 5.0, 50.0]]), np.array([[1.0, 1.0, 1.0]]))
    >>> log_expected_improvement(one, 0.0).round(2).tolist()
    [-0.92, -16.74, -1258.74]
    """
    # EI = σ (z Φ(z) + φ(z)) with z = (best - μ) / σ, of each mixture component, (k, n) [Jones 1998, equation 15].
    deviations = np.maximum(beliefs.deviations, 1e-9)
    z = (best - beliefs.means) / deviations
    log_density = -0.5 * z**2 - 0.5 * np.log(2 * np.pi)
    with np.errstate(divide="ignore", invalid="ignore"):
        near = np.log(deviations) + np.log(np.maximum(z * ndtr(z) + np.exp(log_density), 1e-300))
    # In the tail: z Φ(z) + φ(z) -> φ(z) / z² as z -> -∞.
    far = np.log(deviations) + log_density - 2 * np.log(np.maximum(-z, 1.0))
    logs = np.where(z < -6, far, near)
    # Logarithm of the mean over the mixture components; the largest is factored out, so that nothing underflows.
    most = logs.max(axis=0)
    return np.asarray(most + np.log(np.mean(np.exp(logs - most), axis=0)))


def expected_improvement(beliefs: Beliefs, best: float | Floats) -> Floats:
    """Return the expected saving relative to the best time so far, (n,): 0.1 is 10 %.

    Seconds are lognormal, so the mean of ``max(0, 1 - T / best)`` has a closed form.

    Examples
    --------
    >>> expected_improvement(Beliefs(np.array([[-1.0, 2.0]]), np.array([[0.01, 0.01]])), 0.0).round(3)
    array([0.632, 0.   ])
    """
    deviations = np.maximum(beliefs.deviations, 1e-9)
    # E max(0, 1 - T / best) = Φ(-g / σ) - exp(g + σ² / 2) Φ(-g / σ - σ) with g = μ - log best.
    gap = beliefs.means - best
    saved = ndtr(-gap / deviations) - np.exp(gap + 0.5 * deviations**2 + log_ndtr(-gap / deviations - deviations))
    return np.asarray(np.maximum(saved, 0).mean(axis=0))


def log_lower_bound(beliefs: Beliefs, best: float | Floats) -> Floats:
    """Return the logarithm of the relative saving if the log time is one standard deviation below its mean, (n,).

    Where there is no saving even then, the value is below all others, and values are ordered by the bound.

    Examples
    --------
    >>> log_lower_bound(Beliefs(np.array([[0.0, 1.0]]), np.array([[0.5, 0.5]])), 0.0).round(2).tolist()
    [-0.93, -100.5]
    """
    # The bound is μ - σ of the mixture; a run at the bound saves the share 1 - exp(-gap).
    gap = best - beliefs.mean + beliefs.deviation
    return np.asarray(np.where(gap > 0, np.log(-np.expm1(-np.maximum(gap, 1e-12))), gap - _NO_SAVING))
