"""The interface of surrogates: they learn from runs and predict normal distributions of log seconds of others."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Self

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs

__all__ = ["Beliefs", "Observed", "Surrogate"]

Floats = NDArray[np.float64]


@dataclass(frozen=True)
class Observed:
    """Runs that were made.

    Attributes
    ----------
    inputs : Inputs
        Of n configurations.
    logs : array (n,)
        Logarithms of seconds; of those that were ended early, of how long they ran.
    weights : array (n,)
        Repetitions.
    ended : bool array (n,)
        Which were ended early: they take longer.
    """

    inputs: Inputs
    logs: Floats
    weights: Floats
    ended: NDArray[np.bool_]

    def __len__(self) -> int:
        return len(self.logs)

    @property
    def best(self) -> float:
        """Least logarithm of those that weren't ended early."""
        return float(self.logs[~self.ended].min())


@dataclass(frozen=True)
class Beliefs:
    """Predicted normal distributions of logarithms of seconds, of an equally weighted mixture of k models.

    Attributes
    ----------
    means, deviations : arrays (k, n)
    """

    means: Floats
    deviations: Floats

    @classmethod
    def joined(cls, parts: Sequence[Self]) -> Self:
        """Return the equally weighted mixture of all parts."""
        return cls(np.concatenate([one.means for one in parts]), np.concatenate([one.deviations for one in parts]))

    @property
    def mean(self) -> Floats:
        """Mean over explanations, (n,)."""
        return np.asarray(self.means.mean(axis=0))

    @property
    def deviation(self) -> Floats:
        """Standard deviation of the mixture, (n,)."""
        return np.asarray(np.sqrt((self.deviations**2).mean(axis=0) + self.means.var(axis=0)))


class Surrogate(ABC):
    """Learns from runs.

    Laws: what it says depends on what was observed and on the generator's state alone; with more repetitions of a run
    its deviation there doesn't grow.
    """

    @abstractmethod
    def learn(self, observed: Observed, random: np.random.Generator) -> None:
        """Learn from n >= 1 runs, forgetting what was learned before."""

    @abstractmethod
    def believe(self, asked: Inputs) -> Beliefs:
        """Predict the logarithms of seconds of other configurations (n,)."""
