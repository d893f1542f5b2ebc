"""Draws of unknowns from their posterior, where normal ones don't do: many walkers move along the lines between them.

A run tells nothing of a solver that it didn't wait for, but that it isn't slower: no normal distribution says this.

Source: Goodman and Weare, Communications in Applied Mathematics and Computational Science 5 (2010) 65, section 3 (the
stretch move, with their a = 2).
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

__all__ = ["posterior"]

Floats = NDArray[np.float64]

_WALKERS, _BURN_IN, _KEPT, _EVERY, _STRETCH, _SEED = 240, 1200, 16, 40, 2.0, 7


def posterior(log_density: Callable[[Floats], Floats], spread: Floats) -> Floats:
    """Return draws (n_draws, d) of what has this logarithm of a density.

    Parameters
    ----------
    log_density : callable
        From points (n, d) to (n,), without a constant.
    spread : array (d,)
        Standard deviations of the points from which walkers start, around 0.

    Examples
    --------
    >>> found = posterior(lambda x: -np.sum((x - 1) ** 2, axis=1) / (2 * 0.1**2), np.ones(2))
    >>> found.shape, np.round(found.mean(axis=0), 1), np.round(found.std(axis=0), 1)
    ((3840, 2), array([1., 1.]), array([0.1, 0.1]))
    """
    random, d, half = np.random.default_rng(_SEED), len(spread), _WALKERS // 2
    at = random.normal(size=(_WALKERS, d)) * spread
    here, kept = log_density(at), []
    for step in range(_BURN_IN + _KEPT * _EVERY):
        for moved, others in ((slice(None, half), slice(half, None)), (slice(half, None), slice(None, half))):
            stretch = ((_STRETCH - 1) * random.random(half) + 1) ** 2 / _STRETCH
            partners = at[others][random.integers(half, size=half)]
            there = partners + stretch[:, None] * (at[moved] - partners)
            density = log_density(there)
            accepted = np.log(random.random(half)) < (d - 1) * np.log(stretch) + density - here[moved]
            at[moved] = np.where(accepted[:, None], there, at[moved])
            here[moved] = np.where(accepted, density, here[moved])
        if step >= _BURN_IN and step % _EVERY == 0:
            kept.append(at.copy())
    return np.concatenate(kept)
