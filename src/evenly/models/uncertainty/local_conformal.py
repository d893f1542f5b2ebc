"""Prediction intervals from residuals of left-out runs, wider where the runs nearby were predicted badly.

Each residual r of a run that its model hadn't seen is divided by a local scale s, the root mean square of the
residuals of the runs nearest to it (itself left out) and of a few residuals of usual size; the interval of a new
configuration is the quantile of these scores times its own scale [Lei et al., Distribution-free predictive inference
for regression, 2018, section 5.2]. Beyond the range learned on, scales grow with the distance.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["LocalConformal"]

Floats = NDArray[np.float64]
#: Residuals of usual size that each local scale counts beside those of the nearest runs.
_USUAL = 10
#: Residuals below this are rounding.
_LEAST = 1e-9
#: Residuals kept at most: 3,000 tell the 90 % quantile within half a percent, and neighbours are found fast.
_MOST = 3_000
#: Runs in a leaf of the search tree, and by how much farther than the nearest ones those may be that stand for them: a
#: scale is a mean over many.
_LEAF, _NEARLY = 64, 1.0


@dataclass(frozen=True)
class LocalConformal:
    """Half-widths, in log units, that new runs obey.

    Attributes
    ----------
    places : array (n_runs, k)
        Where residuals are known: `Inputs.matrix`.
    squares : array (n_runs,)
        Squared residuals there.
    scores : LogConformal
    growth : float
        By how much scales grow per half-range beyond the range learned on, relative to their size in it.
    """

    places: Floats
    squares: Floats
    scores: LogConformal
    growth: float = 3.0

    @classmethod
    def learn(cls, inputs: Inputs, residuals: Floats, *, freedom: float, growth: float = 3.0) -> LocalConformal:
        """Build from log residuals (n_runs,) of runs that were left out when they were predicted."""
        known = np.flatnonzero(np.isfinite(residuals))
        if len(known) > _MOST:
            known = np.sort(np.random.default_rng(0).permutation(known)[:_MOST])
        # Scores are residuals over local scales in which they have no part themselves.
        places, squares = inputs.matrix[known], residuals[known] ** 2
        unscored = cls(places, squares, LogConformal(np.zeros(0), freedom), growth)
        scores = np.sqrt(squares) / unscored._scales(places, own=True) if len(places) else np.zeros(0)
        return cls(places, squares, LogConformal(np.sort(scores), freedom), growth)

    def _scales(self, places: Floats, *, own: bool = False) -> Floats:
        """Return local scales at places (n, k), (n,); with `own`, these are the places learned from, each left out."""
        n = len(self.places)
        near = min(n - own, max(5, round(np.sqrt(n))))
        if near < 5:
            # Scores are then residuals as they are, which the rules for few runs expect.
            return np.ones(len(places))
        from scipy.spatial import KDTree

        found = np.asarray(KDTree(self.places, leafsize=_LEAF).query(places, near + own, eps=_NEARLY)[1])
        total = self.squares[found].sum(axis=1)
        if own:
            # A run is its own nearest neighbour, but for runs at the same place: take its own square off.
            itself = (found == np.arange(n)[:, None]).any(axis=1)
            total = total - np.where(itself, self.squares, self.squares[found[:, -1]])
        # The mean square of the residuals nearby, as if _USUAL of the size usual among all were among them.
        usual = max(float(np.mean(self.squares)), _LEAST**2)
        return np.asarray(np.sqrt((np.maximum(total, 0) + _USUAL * usual) / (near + _USUAL)))

    def half_width(self, inputs: Inputs, level: float) -> Floats:
        """Return the half-width of each configuration's interval, (n,), in log units."""
        scales = self._scales(inputs.matrix) * (1 + self.growth * inputs.beyond)
        return np.asarray(self.scores.half_width(level) * scales)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {
            "places": self.places, "squares": self.squares, "scores": vars(self.scores), "growth": self.growth,
        }  # fmt: skip

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LocalConformal:
        """Restore what `to_state` returned."""
        return cls(
            np.asarray(state["places"], dtype=np.float64),
            np.asarray(state["squares"], dtype=np.float64),
            LogConformal.from_state(state["scores"]),
            float(state["growth"]),
        )
