"""Locally weighted conformal prediction intervals: wider where predictions of nearby left-out runs were worse.

The score of a left-out run is its absolute log residual divided by a local scale. The scale is the root mean square of
the residuals of the nearest other runs, mixed with a few residuals of average size. The half-width for a new
configuration is a quantile of the scores times its own local scale [Lei et al., Distribution-free predictive inference
for regression, 2018, section 5.2]. Outside the range of the training data, scales grow with the distance from it.

Neighbours in a table of a few hundred runs are half the range away, so where noise grows steadily from one end to the
other, the local scale follows it too little. Then residuals are first divided by a law of their size
(`evenly.models.uncertainty.noise_trend`), learned without them. The law is used if intervals with it have a lower
interval score.
"""

from __future__ import annotations

from dataclasses import dataclass, replace

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs
from evenly.models.stored_dataclass import Stored
from evenly.models.uncertainty.conformal import LogConformal
from evenly.models.uncertainty.noise_trend import RACED_AT, NoiseTrend, raced_trend

__all__ = ["LocalConformal"]

#: Number of residuals of average size that are mixed into each local scale.
_USUAL = 10
#: Residuals below this are rounding errors.
_LEAST = 1e-9
#: Largest number of residuals kept. 3,000 determine the 90 % quantile within half a percent, and searches stay fast.
_MOST = 3_000
#: Leaf size of the k-d tree, and tolerance of its approximate search: neighbours may be up to (1 + 1.0) times as far as
#: the true ones. This is exact enough, since a scale is a mean over many neighbours.
_LEAF, _NEARLY = 64, 1.0


@dataclass(frozen=True)
class LocalConformal(Stored):
    """Residuals of left-out runs and their conformal scores, from which local half-widths are computed.

    Attributes
    ----------
    places : array (n_runs, k)
        Coded inputs of the left-out runs, `Inputs.matrix`.
    squares : array (n_runs,)
        Squared log residuals of the left-out runs, divided by the law.
    scores : LogConformal
        Absolute residuals divided by local scales.
    growth : float
        Relative increase of scales per half-range of distance from the range of the training data.
    trend : NoiseTrend or None
        The law by which residuals were divided before; None if it didn't pay.
    """

    places: Floats
    squares: Floats
    scores: LogConformal
    growth: float = 3.0
    trend: NoiseTrend | None = None

    @classmethod
    def learn(cls, inputs: Inputs, residuals: Floats, *, freedom: float, growth: float = 3.0) -> LocalConformal:
        """Build from inputs and log residuals (n_runs,) of left-out runs; residuals that aren't finite are ignored."""
        known = np.flatnonzero(np.isfinite(residuals))
        if len(known) > _MOST:
            known = np.sort(np.random.default_rng(0).permutation(known)[:_MOST])
        places, residuals = inputs.matrix[known], residuals[known]

        def half_width(scaled: Floats) -> Floats:
            one = cls._scored(places, scaled, freedom, growth)
            return one.scores.half_width(RACED_AT) * one._scales(places, leave_out_self=True)

        trend, scales = raced_trend(places, residuals, half_width)
        return replace(cls._scored(places, residuals / scales, freedom, growth), trend=trend)

    @property
    def residuals(self) -> Floats:
        """Sizes of the log residuals that it was built from, (n_runs,).

        What the law divided them by is undone, nearly: each was divided by a law that was learned without it.
        """
        return np.sqrt(self.squares) * (1.0 if self.trend is None else self.trend.scales(self.places))

    @classmethod
    def _scored(cls, places: Floats, residuals: Floats, freedom: float, growth: float) -> LocalConformal:
        """Build from residuals (n,) at places (n, k), without a law of the noise."""
        # A score is a residual divided by its local scale, computed without this residual.
        squares = residuals**2
        unscored = cls(places, squares, LogConformal(np.zeros(0), freedom), growth)
        scores = np.sqrt(squares) / unscored._scales(places, leave_out_self=True) if len(places) else np.zeros(0)
        return cls(places, squares, LogConformal(np.sort(scores), freedom), growth)

    def _scales(self, places: Floats, *, leave_out_self: bool = False) -> Floats:
        """Return local scales at places (n, k), (n,).

        With `leave_out_self`, the places are those of the residuals, and each scale is computed without the residual
        at its place.
        """
        n = len(self.places)
        near = min(n - leave_out_self, max(5, round(np.sqrt(n))))
        if n <= 5:
            # Too few neighbours for local scales: scores are the unscaled residuals, as rules for few runs expect.
            return np.ones(len(places))
        from scipy.spatial import KDTree

        found = np.asarray(KDTree(self.places, leafsize=_LEAF).query(places, near + leave_out_self, eps=_NEARLY)[1])
        total = self.squares[found].sum(axis=1)
        if leave_out_self:
            # A run is its own nearest neighbour, so subtract its own square. If other runs at the same place displaced
            # it from the neighbours, subtract the square of the last neighbour.
            itself = (found == np.arange(n)[:, None]).any(axis=1)
            total = total - np.where(itself, self.squares, self.squares[found[:, -1]])
        # Mean square of the nearby residuals and of _USUAL residuals of the size of all residuals' root mean square.
        usual = max(float(np.mean(self.squares)), _LEAST**2)
        return np.asarray(np.sqrt((np.maximum(total, 0) + _USUAL * usual) / (near + _USUAL)))

    def half_width(self, inputs: Inputs, level: float) -> Floats:
        """Return the half-width of each configuration's interval, (n,), in log units."""
        by = 1.0 if self.trend is None else self.trend.scales(inputs.matrix)
        half = np.maximum(self.scores.half_width(level) * self._scales(inputs.matrix) * by, self.scores.least(level))
        return np.asarray(half * (1 + self.growth * inputs.beyond))
