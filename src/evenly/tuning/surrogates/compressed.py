"""Gaussian processes, half of which learn from log times that are compressed above the median.

The times of slow runs say little about where the fastest configuration is, but a Gaussian process would fit its
length-scales to their large differences. So half of the drawn processes learn from log times that are compressed above
the median [after the output warping of Song et al., The Vizier Gaussian process bandit algorithm, 2024]. The other half
learns from the unchanged log times and predicts better far from the best runs (`docs/decisions.md`, 73).
"""

from __future__ import annotations

from dataclasses import replace
from typing import final

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed, Surrogate
from evenly.tuning.surrogates.gaussian_process import SampledProcess

__all__ = ["PartlyCompressed", "compressed"]


@final
class PartlyCompressed(Surrogate):
    """Sampled Gaussian processes, half of which learn from compressed log times.

    The compressed half is biased for runs slower than the observed median (it predicts too short times), but not for
    faster runs.

    Parameters
    ----------
    placed : int
        See `SampledProcess`.
    samples : int
        Number of processes of both kinds together, at least 2.
    """

    def __init__(self, placed: int, *, samples: int = 6) -> None:
        self._whole = SampledProcess(placed, samples=samples - samples // 2)
        self._compressed = SampledProcess(placed, samples=samples // 2)

    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        self._whole.learn(observed, random)
        self._compressed.learn(replace(observed, logs=compressed(observed.logs)), random)

    def believe(self, asked: Inputs) -> Beliefs:
        return Beliefs.joined([part.believe(asked) for part in (self._whole, self._compressed)])

    def condition_on_pending(self, inputs: Inputs) -> None:
        """Condition on runs that are under way, as if they took their predicted mean ("Kriging believer")."""
        for part in (self._whole, self._compressed):
            part.condition_on_pending(inputs)


def compressed(logs: Floats) -> Floats:
    """Return logs (n,) with the values above the median compressed towards it; their order stays the same.

    A value y above the median m becomes ``m + s log(1 + (y - m) / s)``, with s the root mean square distance of the
    lower half from m.

    Examples
    --------
    >>> compressed(np.array([-3.0, -3.0, 0.0, 1.0, 30.0])).round(2).tolist()
    [-3.0, -3.0, 0.0, 0.84, 6.33]
    """
    middle = float(np.median(logs))
    low = logs[logs <= middle]
    spread = float(np.sqrt(np.mean((low - middle) ** 2))) or 1.0
    return np.where(logs > middle, middle + spread * np.log1p(np.maximum(logs - middle, 0.0) / spread), logs)
