"""Prediction intervals from residuals of left-out runs, in log space.

Run times err by factors, so intervals are symmetric in the logarithm: ``prediction · exp(±half-width)``. The residual
of a run left out is divided by ``sqrt(1 + h)``, where h is its leverage on the fit without it (how far the run lies
from the others): if errors have equal spread σ, the quotient has spread σ everywhere. A new configuration gets the
quantile of these scores times its own ``sqrt(1 + h)``, so intervals widen outside the measured range.

The quantile is that of split-free (jackknife) conformal prediction, the ``ceil((n + 1) · level)``-th smallest score
[Vovk et al., Algorithmic Learning in a Random World, 2005; Barber et al., Predictive inference with the jackknife+,
2021]. With too few runs for it (fewer than 9 for 90 %) it is Student's t times the scores' root mean square, with the
degrees of freedom that the fit leaves.
"""

from __future__ import annotations

import math
from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray

__all__ = ["LogConformal"]

Floats = NDArray[np.float64]

#: Spread of log run times assumed where the fit leaves nothing to estimate it from; rather too wide than too narrow
#: for timings on shared clusters.
_ASSUMED_SPREAD = 0.1
#: With this many left-out runs their own spread is taken, at least the usual one of repeated timings, even where the
#: fit has as many coefficients as runs.
_FEW, _USUAL_SPREAD = 4, 0.03


@dataclass(frozen=True)
class LogConformal:
    """Scores of left-out runs, and the half-width of an interval made from them.

    Parameters
    ----------
    scores : array (n_scores,)
        Absolute log residuals of left-out runs, each divided by its ``sqrt(1 + leverage)``; ascending.
    freedom : float
        Runs minus coefficients, at least 0; an average of models has a fraction of a coefficient.

    Examples
    --------
    >>> few = LogConformal.from_residuals(np.array([0.1, -0.1, 0.1, -0.1]), np.zeros(4), coefficients=2)
    >>> round(few.half_width(0.9), 3)
    0.292
    >>> many = LogConformal.from_residuals(np.linspace(-1, 1, 101), np.zeros(101), coefficients=2)
    >>> round(many.half_width(0.9), 3)
    0.92
    """

    scores: Floats
    freedom: float

    @classmethod
    def from_residuals(cls, residuals: Floats, leverages: Floats, *, coefficients: float) -> LogConformal:
        """Build from log residuals of left-out runs (n_runs,) and their leverages on the fit without them (n_runs,).

        Runs that the others don't determine (leverage or residual not finite) give no score.
        """
        with np.errstate(all="ignore"):
            scores = np.abs(residuals) / np.sqrt(1.0 + leverages)
        return cls(np.sort(scores[np.isfinite(scores)]), max(float(len(residuals) - coefficients), 0.0))

    def half_width(self, level: float) -> float:
        """Return the half-width, in log units, that a new run of leverage 0 obeys with probability `level`."""
        n = len(self.scores)
        # The ceil((n + 1) level)-th smallest score, but for rounding.
        rank = math.ceil((n + 1) * level - 1e-9)
        if rank <= n:
            return float(self.scores[rank - 1])
        # Too few scores for the quantile: Student's t times their root mean square, and never below the largest.
        from scipy.special import stdtrit  # not scipy.stats, which takes a second to import

        size = float(np.sqrt(np.mean(self.scores**2))) if n else 0.0
        freedom = min(self.freedom, n)
        if freedom < 1:
            size = _ASSUMED_SPREAD if n < _FEW else max(_USUAL_SPREAD, size)
        largest = float(self.scores[-1]) if n else 0.0
        return max(largest, float(stdtrit(max(freedom, 1), (1 + level) / 2)) * size)

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> LogConformal:
        """Restore what `vars` returned."""
        return cls(np.asarray(state["scores"], dtype=np.float64), float(state["freedom"]))
