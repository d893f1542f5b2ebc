"""Boosted trees that correct a blend: they learn its errors on left-out runs, such as block sizes and jumps.

Trees see inputs that smooth methods don't have (`evenly.models.inputs.derived`). They are kept only if they lower the
errors on runs that they hadn't learned from either.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.trees.boosted import Boosted, Budget
from evenly.models.trees.fitters import usual_fitter

__all__ = ["Correction"]

Floats = NDArray[np.float64]
Ints = NDArray[np.int64]
#: With fewer runs errors are too noisy to learn; more runs take long.
_LEAST, _MOST = 200, 20_000
#: Trees are kept if errors fall by this share at least.
_GAIN = 0.01
_BUDGET = Budget(pilot_rounds=100, candidates=2, rate=0.05, rounds=400)


@dataclass(frozen=True)
class Correction:
    """What is added to the blend's logs.

    Attributes
    ----------
    trees : Boosted or None
    most : float
        Largest error seen; no correction is larger.
    gain : float
        Share by which the mean absolute error on left-out runs fell; 0 without trees.
    """

    trees: Boosted | None = None
    most: float = 0.0
    gain: float = 0.0

    @classmethod
    def learn(
        cls, coding: Coding, inputs: Inputs, errors: Floats, weights: Floats, folds: Ints
    ) -> tuple[Correction, Floats]:
        """Learn from errors (n,) of left-out runs: logs measured less those predicted.

        Returns
        -------
        correction : Correction
        left_out : array (n,)
            What a correction that hasn't learned from a run's fold adds to that run.
        """
        nothing = np.zeros(len(errors))
        if not _LEAST <= len(errors) <= _MOST:
            return cls(), nothing
        trees = Boosted(coding, usual_fitter(), _BUDGET)
        weights = weights / weights.mean()
        trees.fit(inputs, errors, weights)
        made = trees.left_out(inputs, errors, weights, folds)
        most = float(np.max(np.abs(errors)))
        made = np.clip(nothing if made is None else made, -most, most)
        before, after = (float(np.average(np.abs(e), weights=weights)) for e in (errors, errors - made))
        if not after < before * (1 - _GAIN):
            return cls(), nothing
        return cls(trees, most, 1 - after / before), made

    def predict(self, inputs: Inputs) -> Floats:
        """Return what to add to the logs, (n,)."""
        if self.trees is None:
            return np.zeros(len(inputs))
        return np.clip(self.trees.predict(inputs), -self.most, self.most)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        trees = None if self.trees is None else self.trees.get_state()
        return {"trees": trees, "most": self.most, "gain": self.gain}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None, coding: Coding) -> Correction:
        """Restore what `to_state` returned; blends of earlier versions have none."""
        if state is None or state["trees"] is None:
            return cls()
        trees = Boosted(coding, usual_fitter(), _BUDGET)
        trees.set_state(state["trees"])
        return cls(trees, float(state["most"]), float(state["gain"]))
