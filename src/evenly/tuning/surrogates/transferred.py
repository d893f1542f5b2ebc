"""A surrogate whose prior mean is a model of other tasks, as far as the runs of this task support it.

Two hypotheses are averaged by their posterior probability [Bayesian model averaging: Hoeting, Madigan, Raftery and
Volinsky, 1999]. Either this task is the prediction from other tasks plus a Gaussian process, or it is an independent
Gaussian process.
"""

from __future__ import annotations

import math
from dataclasses import replace
from typing import final

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.tuning.surrogates.base import Beliefs, Observed
from evenly.tuning.surrogates.gaussian_process import SampledProcess

__all__ = ["TransferredProcess"]

#: With fewer runs than this, the tasks are assumed to be alike.
_FEWEST = 3
#: Prior probability that tasks are alike (the first hypothesis).
_ALIKE = 0.8


@final
class TransferredProcess:
    """Sampled Gaussian processes of the residuals of a prediction, and of the log times themselves.

    The number of samples of each kind is proportional to its posterior probability.

    Parameters
    ----------
    placed : int
        See `SampledProcess`.
    samples : int
        Number of processes of both kinds together.
    """

    def __init__(self, placed: int, *, samples: int = 6) -> None:
        self._placed, self._samples = placed, samples
        self._beyond: SampledProcess | None = None
        self._alone: SampledProcess | None = None
        #: Posterior probability that tasks are alike.
        self.share = 1.0

    def learn(self, observed: Observed, expected: Floats, random: np.random.Generator) -> None:
        """Learn from n >= 1 runs, given their log seconds predicted from other tasks, `expected` (n,)."""
        beyond = SampledProcess(self._placed, samples=self._samples)
        alone = SampledProcess(self._placed, samples=self._samples)
        beyond.learn(replace(observed, logs=observed.logs - expected), random)
        self.share = 1.0
        if len(observed) >= _FEWEST:
            alone.learn(observed, random)
            # Posterior log odds = log Bayes factor + prior log odds.
            odds = beyond.evidence - alone.evidence + math.log(_ALIKE / (1 - _ALIKE))
            self.share = 1 / (1 + math.exp(-float(np.clip(odds, -50, 50))))
        believed = round(self._samples * self.share)
        self._beyond, self._alone = beyond if believed else None, alone if believed < self._samples else None
        if self._beyond is not None:
            self._beyond.keep(believed)
        if self._alone is not None:
            self._alone.keep(self._samples - believed)

    def condition_on_pending(self, inputs: Inputs, logs: Floats, expected: Floats) -> None:
        """Condition on runs that are under way, as if their log seconds were `logs` (n,)."""
        if self._beyond is not None:
            self._beyond.condition_on_pending(inputs, logs - expected)
        if self._alone is not None:
            self._alone.condition_on_pending(inputs, logs)

    def believe(self, asked: Inputs, expected: Floats) -> Beliefs:
        """Predict configurations (n, …), given their log seconds predicted from other tasks, `expected` (n,)."""
        parts = []
        if self._beyond is not None:
            missed = self._beyond.believe(asked)
            parts.append(Beliefs(missed.means + expected, missed.deviations))
        if self._alone is not None:
            parts.append(self._alone.believe(asked))
        return Beliefs.joined(parts)
