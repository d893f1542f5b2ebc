"""Gaussian processes of which half learn from logarithms of seconds whose slow half is compressed.

How much slower the slow half of all runs is says little about where the fastest is. A process that has to explain it
fits its length-scales to the slow runs. So half of the drawn processes learn from values above the median that are
drawn towards it [after the output warping of Song et al., The Vizier Gaussian process bandit algorithm, 2024]. The
other half learns from the values as they are and predicts better far from the best runs (`docs/decisions.md`, 73).
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate
from evenly.tuning.surrogates.gaussian_process import SampledProcess

__all__ = ["PartlyCompressed", "compressed"]

Floats = NDArray[np.float64]


@final
class PartlyCompressed(Surrogate):
    """Sampled Gaussian processes, half of them of logarithms whose slow half is compressed.

    The compressed half predicts too short times for runs slower than the median of those observed, unbiased ones for
    faster runs.

    Parameters
    ----------
    placed : int
        See `SampledProcess`.
    samples : int
        Of both kinds together, at least 2.
    """

    def __init__(self, placed: int, *, samples: int = 6) -> None:
        self._whole = SampledProcess(placed, samples=samples - samples // 2)
        self._compressed = SampledProcess(placed, samples=samples // 2)

    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        self._whole.learn(observed, random)
        self._compressed.learn(replace(observed, logs=compressed(observed.logs)), random)

    def believe(self, asked: Inputs) -> Beliefs:
        return Beliefs.joined([part.believe(asked) for part in (self._whole, self._compressed)])

    def suppose(self, inputs: Inputs) -> None:
        """Condition on runs that are under way, as if they took their predicted mean (a "Kriging believer")."""
        for part in (self._whole, self._compressed):
            part.suppose(inputs)


def compressed(logs: Floats) -> Floats:
    """Return logarithms (n,) of which those above the median are drawn towards it, in the same order.

    ``m + s log(1 + (y - m) / s)`` above the median m; s is the root mean square distance of the lower half from it.

    Examples
    --------
    >>> compressed(np.array([-3.0, -3.0, 0.0, 1.0, 30.0])).round(2).tolist()
    [-3.0, -3.0, 0.0, 0.84, 6.33]
    """
    middle = float(np.median(logs))
    low = logs[logs <= middle]
    spread = float(np.sqrt(np.mean((low - middle) ** 2))) or 1.0
    return np.where(logs > middle, middle + spread * np.log1p(np.maximum(logs - middle, 0.0) / spread), logs)
