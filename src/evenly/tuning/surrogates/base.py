"""The interface of surrogates: they learn from runs and predict normal distributions of log seconds."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np

from evenly.campaign.noise import UNKNOWN, Noise
from evenly.models.array_types import Flags, Floats
from evenly.models.inputs.coding import Inputs

__all__ = ["Beliefs", "Observed", "Surrogate"]


@dataclass(frozen=True)
class Observed:
    """Runs to learn from, with censored ones.

    Attributes
    ----------
    inputs : Inputs
        Coded configurations, (n, …).
    logs : array (n,)
        Log seconds; for runs that were ended early, the log of the seconds until then (a lower bound).
    weights : array (n,)
        Numbers of repetitions.
    censored : bool array (n,)
        True for runs that were ended early: their seconds are a lower bound.
    noise : Noise
        The scatter of repetitions, as far as there are any.
    """

    inputs: Inputs
    logs: Floats
    weights: Floats
    censored: Flags
    noise: Noise = UNKNOWN

    def __len__(self) -> int:
        return len(self.logs)

    @property
    def best(self) -> float:
        """Least log seconds among the runs that weren't ended early."""
        return float(self.logs[~self.censored].min())


@dataclass(frozen=True)
class Beliefs:
    """Predicted log seconds of n configurations: an equally weighted mixture of k normal distributions each.

    Attributes
    ----------
    means, deviations : arrays (k, n)
        Means and standard deviations of the components.
    """

    means: Floats
    deviations: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the equally weighted mixture of all parts."""
        return cls(np.concatenate([one.means for one in parts]), np.concatenate([one.deviations for one in parts]))

    @property
    def mean(self) -> Floats:
        """Mean of the mixture, (n,)."""
        return np.asarray(self.means.mean(axis=0))

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the mixture, (n,)."""
        return np.asarray(np.sqrt((self.deviations**2).mean(axis=0) + self.means.var(axis=0)))


class Surrogate(ABC):
    """A model that learns from runs and predicts log seconds with uncertainty.

    Every implementation must obey two laws. Predictions depend only on the observed runs and the generator's state.
    With more repetitions of a run, the predicted standard deviation there doesn't grow.
    """

    @abstractmethod
    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        """Learn from n >= 1 runs; anything learned before is discarded."""

    @abstractmethod
    def believe(self, asked: Inputs) -> Beliefs:
        """Predict the log seconds of configurations (n, …)."""
