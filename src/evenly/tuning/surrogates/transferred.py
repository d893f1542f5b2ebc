"""A surrogate that starts from what other tasks let expect, as far as the runs of this task bear it out."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed
from evenly.tuning.surrogates.process import SampledProcess

__all__ = ["TransferredProcess"]

Floats = NDArray[np.float64]
#: Before there are so many runs, other tasks are believed: nothing speaks against them.
_FEWEST = 3
#: How likely it is, before any run, that tasks are alike.
_ALIKE = 0.8


@final
class TransferredProcess:
    """Sampled Gaussian processes of what an expectation misses, and of the times themselves.

    Each gets as many of the samples as its share of the evidence.

    Parameters
    ----------
    placed : int
        See `SampledProcess`.
    samples : int
        Of both together.
    """

    def __init__(self, placed: int, *, samples: int = 6) -> None:
        self._placed, self._samples = placed, samples
        self._beyond: SampledProcess | None = None
        self._alone: SampledProcess | None = None
        #: How much other tasks are believed, from 0 to 1.
        self.share = 1.0

    def learn(self, observed: Observed, expected: Floats, random: np.random.Generator) -> None:
        """Learn from n >= 1 runs and what was expected of them, logarithms (n,)."""
        beyond = SampledProcess(self._placed, samples=self._samples)
        alone = SampledProcess(self._placed, samples=self._samples)
        beyond.learn(replace(observed, logs=observed.logs - expected), random)
        self.share = 1.0
        if len(observed) >= _FEWEST:
            alone.learn(observed, random)
            odds = beyond.evidence - alone.evidence + math.log(_ALIKE / (1 - _ALIKE))
            self.share = 1 / (1 + math.exp(-float(np.clip(odds, -50, 50))))
        believed = round(self._samples * self.share)
        self._beyond, self._alone = beyond if believed else None, alone if believed < self._samples else None
        if self._beyond is not None:
            self._beyond.keep(believed)
        if self._alone is not None:
            self._alone.keep(self._samples - believed)

    def suppose(self, inputs: Inputs, logs: Floats, expected: Floats) -> None:
        """Take runs for made that took so long."""
        if self._beyond is not None:
            self._beyond.suppose(inputs, logs - expected)
        if self._alone is not None:
            self._alone.suppose(inputs, logs)

    def believe(self, asked: Inputs, expected: Floats) -> Beliefs:
        """Say how long other runs take of which others let expect so much, logarithms (n,)."""
        parts = []
        if self._beyond is not None:
            missed = self._beyond.believe(asked)
            parts.append(Beliefs(missed.means + expected, missed.deviations))
        if self._alone is not None:
            parts.append(self._alone.believe(asked))
        return Beliefs.joined(parts)
