"""The initial design of a search: the runs that are made before a model is learned.

Each run is chosen to lower a Gaussian process's posterior variance most, on average over the space. This variance
doesn't depend on measured times, so it is known before any run, given the prior means of the hyper-parameters
[integrated mean squared error of Sacks, Welch, Mitchell and Wynn, Design and analysis of computer experiments, 1989;
chosen one by one as Cohn, Neural network exploration using optimal experiment design, 1996].
"""

from __future__ import annotations

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.gaussian_process.hyperparameters import Shape
from evenly.models.gaussian_process.likelihood import covariance_matrix
from evenly.models.inputs.coding import Inputs
from evenly.tuning.candidates import Candidates

__all__ = ["most_informative"]

#: Number of configurations to compare, and of configurations over which the variance is averaged.
_CHOSEN_FROM, _ASKED = 600, 300
#: Noise variance of a run, relative to the variance of all times.
_NOISE = 1e-2


def most_informative(
    candidates: Candidates, tried: pd.DataFrame, table: pd.DataFrame, random: np.random.Generator, success: Floats
) -> int:
    """Return the index of the row whose run would lower the mean posterior variance over the table most.

    Parameters
    ----------
    candidates : Candidates
    tried : DataFrame (m, n_parameters)
        Configurations of the runs that have been made or are under way.
    table : DataFrame (n, n_parameters)
        Configurations to choose from.
    random : Generator
        Samples the rows to compare, and those over which the variance is averaged.
    success : array (n,)
        The probability that a run of each row succeeds: one that fails lowers no variance.
    """
    some, asked = random.permutation(len(table))[:_CHOSEN_FROM], random.permutation(len(table))[:_ASKED]
    inputs = candidates.inputs(pd.concat([tried, table.iloc[some], table.iloc[asked]], ignore_index=True))
    covariance = _prior_covariance(inputs, candidates.placed)
    # Condition on each run: K <- K - k kᵀ / (k(x, x) + noise), with k the covariances of all points with the run at x.
    for run in range(len(tried)):
        gain = covariance[:, run] / (covariance[run, run] + _NOISE)
        covariance -= np.outer(gain, covariance[run])
    first = len(tried)
    there = slice(first, first + len(some))
    # Cohn's criterion: a run at x lowers the variance at x' by cov(x, x')² / (var(x) + noise).
    gain = np.mean(covariance[there, first + len(some) :] ** 2, axis=1) / (np.diag(covariance)[there] + _NOISE)
    return int(some[int(np.argmax(gain * success[some]))])


def _prior_covariance(inputs: Inputs, placed: int) -> Floats:
    """Return the covariance matrix at the prior means of the hyper-parameters, (n, n), almost without noise."""
    shape = Shape(inputs.numbers.shape[1], inputs.sizes, placed=placed)
    return covariance_matrix(shape.means, shape, inputs, np.full(len(inputs), 1e12))
