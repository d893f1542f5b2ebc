"""The first runs of a search: those that tell most of everywhere, before anything is known.

A Gaussian process knows before any run how much a run at one place tells of another. The first run is the one after
which the mean variance over the space is least, the second the one after these two, and so on [sequential design after
Sacks, Welch, Mitchell and Wynn, Design and analysis of computer experiments, 1989].
"""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.gaussian_process.hyperparameters import Shape
from evenly.models.gaussian_process.likelihood import covariance_matrix
from evenly.models.inputs.coding import Inputs
from evenly.tuning.candidates import Candidates

__all__ = ["most_telling"]

Floats = NDArray[np.float64]
#: Configurations to choose from, and places of which the run should tell.
_CHOSEN_FROM, _ASKED = 600, 300
#: Variance of a run around what is predicted, relative to that of all times.
_NOISE = 1e-2


def most_telling(candidates: Candidates, tried: pd.DataFrame, table: pd.DataFrame, random: np.random.Generator) -> int:
    """Return the row of a table that tells most of the others after what was tried.

    Parameters
    ----------
    candidates : Candidates
    tried : DataFrame (m, n_parameters)
    table : DataFrame (n, n_parameters)
    random : Generator
        Draws those rows that are compared, so that searches differ.
    """
    some, asked = random.permutation(len(table))[:_CHOSEN_FROM], random.permutation(len(table))[:_ASKED]
    inputs = candidates.inputs(pd.concat([tried, table.iloc[some], table.iloc[asked]], ignore_index=True))
    covariance = _prior(inputs, candidates.placed)
    for run in range(len(tried)):
        told = covariance[:, run] / (covariance[run, run] + _NOISE)
        covariance -= np.outer(told, covariance[run])
    first = len(tried)
    there = slice(first, first + len(some))
    gain = np.mean(covariance[there, first + len(some) :] ** 2, axis=1) / (np.diag(covariance)[there] + _NOISE)
    return int(some[int(np.argmax(gain))])


def _prior(inputs: Inputs, placed: int) -> Floats:
    shape = Shape(inputs.numbers.shape[1], inputs.sizes, placed=placed)
    return covariance_matrix(shape.means, shape, inputs, np.full(len(inputs), 1e12))
