"""Processes that see slow runs as they are, beside others that see them less slow.

How much slower than the others the slow half of all runs is says little about where the fastest is, but a process whose
values spread over it spends its length-scales there. So half of the explanations are learned from logarithms whose
slow half is drawn together [after the warped outputs of Song et al., The Vizier Gaussian process bandit algorithm,
2024]. The others know better what is far off (`docs/decisions.md`, 73).
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate
from evenly.tuning.surrogates.process import SampledProcess

__all__ = ["PartlyCompressed", "compressed"]

Floats = NDArray[np.float64]


@final
class PartlyCompressed(Surrogate):
    """Sampled Gaussian processes, half of them of logarithms whose slow half is compressed.

    What is believed of runs slower than the median of those observed is too fast; of faster ones it isn't.

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
        """Take runs for made that took what is expected of them."""
        for part in (self._whole, self._compressed):
            part.suppose(inputs)


def compressed(logs: Floats) -> Floats:
    """Return values whose upper half is drawn towards the median, in the same order, (n,).

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
