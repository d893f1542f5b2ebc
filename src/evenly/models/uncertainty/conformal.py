"""Prediction intervals from residuals of left-out runs, in log space.

Errors of run times are factors, so intervals are symmetric in the logarithm: ``prediction · exp(±half-width)``. Each
left-out run gives a score: its absolute log residual divided by ``sqrt(1 + h)``. h is the run's leverage on the fit
without it; it is large for runs far from the others. If all errors have the same spread σ, all scores have the spread
σ. The half-width for a new configuration is a quantile of the scores times its own ``sqrt(1 + h)``, so intervals widen
outside the measured range.

The quantile is that of jackknife conformal prediction, the ``ceil((n + 1) · level)``-th smallest score [Vovk et al.,
Algorithmic Learning in a Random World, 2005; Barber et al., Predictive inference with the jackknife+, 2021]. If there
are too few runs (fewer than 9 for 90 %), it is replaced by a quantile of Student's t distribution times the scores'
root mean square. The degrees of freedom are the number of runs minus the number of coefficients.
"""

from __future__ import annotations

import math
from dataclasses import dataclass, replace

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.stored_dataclass import Stored

__all__ = ["LogConformal", "student"]


#: Assumed spread of log run times if the fit has no degrees of freedom to estimate it from. It is rather too wide than
#: too narrow for timings on shared clusters.
_ASSUMED_SPREAD = 0.1
#: With at least this many scores, their own root mean square is used even if the fit has no degrees of freedom, but at
#: least the usual spread of repeated timings.
_FEW, _USUAL_SPREAD = 4, 0.03
#: How many runs of the usual spread the prior of the spread counts as, where runs are too few for a quantile.
_PRIOR_RUNS = 2


@dataclass(frozen=True)
class LogConformal(Stored):
    """Conformal scores of left-out runs, from which half-widths of intervals are computed.

    Parameters
    ----------
    scores : array (n_scores,)
        Absolute log residuals of left-out runs, each divided by ``sqrt(1 + leverage)``, in ascending order.
    freedom : float
        Degrees of freedom: runs minus coefficients, at least 0. It isn't a whole number for averages of models.
    assumed : float
        The spread of log run times that is assumed where no degrees of freedom are left to estimate it from.

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
    assumed: float = _ASSUMED_SPREAD

    @classmethod
    def from_residuals(cls, residuals: Floats, leverages: Floats, *, coefficients: float) -> LogConformal:
        """Build from log residuals of left-out runs (n_runs,) and their leverages on the fit without them (n_runs,).

        A run whose residual or leverage isn't finite, since the others don't determine its prediction, gives no score.
        """
        with np.errstate(all="ignore"):
            scores = np.abs(residuals) / np.sqrt(1.0 + leverages)
        return cls(np.sort(scores[np.isfinite(scores)]), max(float(len(residuals) - coefficients), 0.0))

    def knowing(self, noise: float) -> LogConformal:
        """Return the same for values whose noise is known from repeated runs: their standard deviation, in log units.

        At least the usual spread of timings is assumed even then, since the law may not fit.
        """
        return replace(self, assumed=min(max(_USUAL_SPREAD, noise), _ASSUMED_SPREAD))

    def half_width(self, level: float) -> float:
        """Return the half-width, in log units, of the interval at `level` for a configuration of leverage 0."""
        n = len(self.scores)
        # The ceil((n + 1) level)-th smallest score; the small number absorbs rounding errors.
        rank = math.ceil((n + 1) * level - 1e-9)
        if rank <= n:
            return float(self.scores[rank - 1])
        # Too few scores for the quantile: Student's t times their root mean square, and never below the largest.
        size = float(np.sqrt(np.mean(self.scores**2))) if n else 0.0
        freedom = min(self.freedom, n)
        if freedom < 1:
            size = self.assumed if n < _FEW else max(_USUAL_SPREAD, size)
        largest = float(self.scores[-1]) if n else 0.0
        return max(largest, student(max(freedom, 1.0), level) * size, self.least(level))

    def least(self, level: float) -> float:
        """Return the least half-width that the runs can prove, in log units: 0 if they are enough for the quantile.

        A few exact runs don't prove that there is no noise: this is what the prior of the spread leaves among scores
        of zero.
        """
        n = len(self.scores)
        if math.ceil((n + 1) * level - 1e-9) <= n:
            return 0.0
        spread = _USUAL_SPREAD * math.sqrt(_PRIOR_RUNS / (n + _PRIOR_RUNS))
        return student(max(min(self.freedom, n), 1.0), level) * spread


def student(freedom: float, level: float) -> float:
    """Return the bound below which the absolute value of Student's t stays with probability `level`."""
    from scipy.special import stdtrit  # here, since importing it takes longer than predictions that don't need it

    # By the lower tail: rounding (1 + level) / 2 would lose the digits of levels near 1.
    return -float(stdtrit(freedom, (1 - level) / 2))
