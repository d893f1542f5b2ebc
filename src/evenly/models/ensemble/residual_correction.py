"""Boosted trees that correct a blend: they learn its residuals on left-out runs.

Such residuals come from jumps and from effects of block sizes, which smooth methods miss. Trees also get derived inputs
(`evenly.models.inputs.derived`). They are kept only if they lower the error on runs that the trees haven't learned
from.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.trees.boosted import Boosted, Budget
from evenly.models.trees.fitters import usual_fitter

__all__ = ["Correction"]

#: Number of runs for which trees are tried: fewer residuals are too noisy, more take too long.
_LEAST, _MOST = 200, 20_000
#: Trees are kept if the error falls by at least this share.
_GAIN = 0.01
_BUDGET = Budget(pilot_rounds=100, candidates=2, rate=0.05, rounds=400)


@dataclass(frozen=True)
class Correction:
    """Boosted trees that predict the residuals of a blend, to be added to its logs.

    Attributes
    ----------
    trees : Boosted or None
    most : float
        Largest absolute residual among the runs; corrections are clipped to it.
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
        """Learn from residuals `errors` (n,) on left-out runs: measured logs minus predicted logs.

        Returns
        -------
        correction : Correction
        left_out : array (n,)
            The correction of each run by trees that haven't learned from its fold.
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
        """Return the correction to add to the logs, (n,)."""
        if self.trees is None:
            return np.zeros(len(inputs))
        return np.clip(self.trees.predict(inputs), -self.most, self.most)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        trees = None if self.trees is None else self.trees.get_state()
        return {"trees": trees, "most": self.most, "gain": self.gain}

    @classmethod
    def from_state(cls, state: Mapping[str, Any] | None, coding: Coding) -> Correction:
        """Restore what `to_state` returned; the state is None for blends stored by earlier versions."""
        if state is None or state["trees"] is None:
            return cls()
        trees = Boosted(coding, usual_fitter(), _BUDGET)
        trees.set_state(state["trees"])
        return cls(trees, float(state["most"]), float(state["gain"]))
