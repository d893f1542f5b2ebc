"""Gaussian processes averaged over the posterior of their hyper-parameters.

Five or ten runs don't determine a length-scale, and the most likely hyper-parameters give too small variances. So
hyper-parameters are drawn from their posterior by elliptical slice sampling, which needs Gaussian priors [Murray, Adams
and MacKay, Elliptical slice sampling, 2010]. The chain starts at the most likely hyper-parameters. The predictions of
all drawn processes are averaged [as Snoek, Larochelle and Adams, Practical Bayesian optimization of machine learning
algorithms, 2012, do with slice sampling].
"""

from __future__ import annotations

import math
from collections.abc import Callable
from typing import final

import numpy as np
from scipy.special import digamma, polygamma

from evenly.campaign.noise import Noise
from evenly.models.array_types import Floats
from evenly.models.censoring import hazard
from evenly.models.gaussian_process.experts import Experts
from evenly.models.gaussian_process.hyperparameters import Shape
from evenly.models.gaussian_process.likelihood import cost, minimised
from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate

__all__ = ["SampledProcess"]

#: Rounds of imputation: runs that were ended early get the predicted mean of their log time, given its lower bound.
_ROUNDS = 3
#: Least share of the variance of log times that is taken for differences between configurations.
_LEAST_SIGNAL = 0.1


@final
class SampledProcess(Surrogate):
    """Gaussian processes with hyper-parameters drawn from their posterior.

    Parameters
    ----------
    placed : int
        Number of label columns, the first ones, that get learned coordinates: those of categorical parameters.
    samples : int
        Number of draws of hyper-parameters.
    thinning : int
        Number of slice-sampling steps per draw.
    steps : int
        Maximum number of optimisation steps towards the most likely hyper-parameters, at which the chain starts.
    """

    def __init__(self, placed: int, *, samples: int = 6, thinning: int = 4, steps: int = 30) -> None:
        self._placed, self._samples, self._thinning, self._steps = placed, samples, thinning, steps
        self._experts: list[Experts] = []
        self._centre, self._scale = 0.0, 1.0
        #: Variance of the noise of one run.
        self._noise = 0.0
        #: Logarithm of likelihood times prior at the most likely hyper-parameters, used as evidence of the model.
        self.evidence = float("-inf")

    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        logs = observed.logs.copy()
        self._learn(observed, logs, random)
        for _ in range(_ROUNDS if observed.censored.any() else 0):
            # Censored runs are imputed by the mean of the predicted distribution, truncated at the time they ran
            # [Hutter, Hoos and Leyton-Brown, Bayesian optimization with censored response data, 2011].
            late = observed.censored
            beliefs = self.believe(observed.inputs.rows(late))
            # What ran is a time with noise, so a bound says less of the true time where runs scatter more.
            deviation = np.sqrt(beliefs.deviation**2 + self._noise)
            logs[late] = np.maximum(logs[late], _mean_beyond(beliefs.mean, deviation, observed.logs[late]))
            self._learn(observed, logs, random)

    def _learn(self, observed: Observed, logs: Floats, random: np.random.Generator) -> None:
        inputs, weights = observed.inputs, observed.weights
        self._centre, self._scale = float(logs.mean()), _spread(logs, weights, observed.noise)
        values = (logs - self._centre) / self._scale
        shape = Shape(
            inputs.numbers.shape[1], inputs.sizes, placed=self._placed,
            known_noise=_noise_prior(observed.noise, self._scale),
        )  # fmt: skip
        found = minimised(shape, shape.starts(inputs, values)[0], inputs, values, weights, self._steps)
        # The posterior density at its mode, converted from standardised values to log seconds.
        self.evidence = -found.cost - len(values) * float(np.log(self._scale))

        def likelihood(theta: Floats) -> float:
            # `cost` is minus the log posterior; adding the Gaussian prior's exponent leaves the log likelihood.
            gap = (theta - shape.means) / shape.spreads
            return float(0.5 * gap @ gap - cost(theta, shape, inputs, values, weights))

        drawn = _elliptical_slices(
            likelihood, found.theta, shape.means, shape.spreads, self._samples, self._thinning, random
        )
        self._experts = [Experts.learn(shape, theta, inputs, values, weights) for theta in drawn]
        self._noise = self._scale**2 * float(np.mean([shape.noise(theta) for theta in drawn]))

    def believe(self, asked: Inputs) -> Beliefs:
        means = np.array([self._centre + self._scale * one.predict(asked) for one in self._experts])
        return Beliefs(means, np.array([self._scale * one.deviation(asked) for one in self._experts]))

    def keep(self, samples: int) -> None:
        """Keep only the last `samples` drawn processes."""
        self._experts = self._experts[-samples:]

    def condition_on_pending(self, inputs: Inputs, logs: Floats | None = None) -> None:
        """Condition on more runs (by default at their predicted mean), without changing the hyper-parameters."""
        logs = self.believe(inputs).mean if logs is None else logs
        values = (logs - self._centre) / self._scale
        self._experts = [one.with_runs(inputs, values) for one in self._experts]


def _elliptical_slices(
    likelihood: Callable[[Floats], float],
    start: Floats,
    means: Floats,
    spreads: Floats,
    samples: int,
    thinning: int,
    random: np.random.Generator,
) -> list[Floats]:
    """Draw from a posterior with independent Gaussian priors [Murray, Adams and MacKay 2010, figure 2].

    Parameters
    ----------
    likelihood : callable
        Log likelihood of a vector (d,).
    start : array (d,)
        First state of the chain.
    means, spreads : arrays (d,)
        Means and standard deviations of the priors.
    samples, thinning : int
        Number of draws to return, and number of steps per draw.
    random : Generator

    Examples
    --------
    >>> random = np.random.default_rng(0)
    >>> drawn = _elliptical_slices(lambda x: -0.5 * float(x @ x), *np.zeros((2, 1)), np.ones(1), 2000, 2, random)
    >>> bool(abs(np.var(drawn) - 0.5) < 0.05)  # a normal prior and likelihood of variance 1
    True
    """
    now, gap, drawn = likelihood(start), start - means, []
    for _ in range(samples):
        for _ in range(thinning):
            # Steps 1 to 3: an ellipse through the state and a draw from the prior, a threshold, a first angle.
            other = spreads * random.standard_normal(len(gap))
            threshold = now + np.log(random.random())
            angle = random.uniform(0, 2 * np.pi)
            low, high = angle - 2 * np.pi, angle
            while True:
                # Steps 4 to 6: a point on the ellipse is taken if it is likely enough.
                tried = gap * np.cos(angle) + other * np.sin(angle)
                found = likelihood(means + tried)
                if found > threshold or high - low < 1e-9:
                    break
                # Steps 7 to 10: else the bracket shrinks towards the state, at angle 0.
                low, high = (angle, high) if angle < 0 else (low, angle)
                angle = random.uniform(low, high)
            gap, now = tried, found
        drawn.append(means + gap)
    return drawn


def _spread(logs: Floats, weights: Floats, noise: Noise) -> float:
    """Return the unit of standardised values: the standard deviation of log times, without what noise adds to it.

    The priors of the covariance are about differences between configurations. In units of the whole scatter, noise
    would be expected to be such differences, and the fastest run to be fast rather than lucky.

    Examples
    --------
    >>> logs = np.array([-0.25, 0.25])
    >>> [round(_spread(logs, np.ones(2), Noise(deviation, 1_000)), 2) for deviation in (0.0, 0.2, 0.9)]
    [0.25, 0.15, 0.08]
    """
    variance = float(logs.var())
    added = noise.likely**2 * float(np.mean(1 / weights)) if noise.is_known else 0.0
    return math.sqrt(max(variance - added, _LEAST_SIGNAL * variance)) or 1.0


def _noise_prior(noise: Noise, scale: float) -> tuple[float, float] | None:
    """Return mean and standard deviation of the log variance of the noise in units of `scale`; None if it is unknown.

    ν squares of deviations with the mean s² tell a variance σ²: ν s²/σ² is a χ² number. So log σ² has the mean
    log s² - ψ(ν/2) + log(ν/2) and the variance ψ'(ν/2), with the digamma and trigamma functions. Few repetitions are
    more often too much alike than too different.

    Examples
    --------
    >>> [[round(value, 2) for value in _noise_prior(Noise(1.0, freedom), 1.0)] for freedom in (1, 100)]
    [[-0.11, 1.28], [0.0, 0.14]]
    """
    if not noise.is_known or noise.likely == 0:
        return None
    half = (noise.freedom + 1) / 2
    middle = 2 * math.log(noise.likely / scale) - float(digamma(half)) + math.log(half)
    return middle, math.sqrt(float(polygamma(1, half)))


def _mean_beyond(mean: Floats, deviation: Floats, threshold: Floats) -> Floats:
    """Return the mean of a normal distribution truncated to values above `threshold`, (n,)."""
    deviation = np.maximum(deviation, 1e-9)
    return np.asarray(mean + deviation * hazard((threshold - mean) / deviation))
