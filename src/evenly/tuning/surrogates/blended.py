"""Two surrogates at once: what one misses the other may see.

Gaussian processes know how far a run tells of others, trees find what depends on a few values of a few parameters. The
mean of both is nearer than either on most measured tables (``benchmarks/tuning.py``; docs/decisions.md).
"""

from __future__ import annotations

from typing import final

import numpy as np
from numpy.typing import NDArray

from evenly.models._inputs import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate
from evenly.tuning.surrogates.process import SampledProcess
from evenly.tuning.surrogates.trees import Trees

__all__ = ["Blended"]

Floats = NDArray[np.float64]


@final
class Blended(Surrogate):
    """Sampled Gaussian processes, each averaged with a forest.

    Parameters
    ----------
    placed : int
        See `SampledProcess`.
    weight : float
        Of the forest, from 0 to 1.
    """

    def __init__(self, placed: int, *, weight: float = 0.5) -> None:
        self._process, self._trees, self._weight = SampledProcess(placed), Trees(), weight

    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        self._process.learn(observed, random)
        self._trees.learn(observed, random)

    def suppose(self, inputs: Inputs, logs: Floats) -> None:
        """Take runs for made that took so long."""
        self._process.suppose(inputs, logs)
        self._trees.suppose(inputs, logs)

    def believe(self, asked: Inputs) -> Beliefs:
        smooth, stepped, w = self._process.believe(asked), self._trees.believe(asked), self._weight
        deviations = np.sqrt((1 - w) * smooth.deviations**2 + w * stepped.deviations**2)
        return Beliefs((1 - w) * smooth.means + w * stepped.means, deviations)
