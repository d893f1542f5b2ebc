"""What one more job takes at most, from a few that are like it and from how widely others scatter.

Jobs of other names or on other cores take another time, so they say nothing of a job's own time. They do say how widely
times scatter around those of jobs that are alike. So the limit is the quantile of one more normally distributed
logarithm: the mean of the n alike jobs plus ``t · s · sqrt(1 + 1/n)``, with Student's t. The variance s² joins that of
the alike jobs (n - 1 degrees of freedom) and that of the others, which count as little as `WEIGHT` more jobs [a
moderated t statistic: Smyth, Statistical Applications in Genetics and Molecular Biology 3, 3, 2004]. If the alike jobs
scatter more widely than the others (an F test), only they count.
"""

from __future__ import annotations

import math
from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray
from scipy.special import fdtri, stdtrit

__all__ = ["Scatter", "upper"]

Floats = NDArray[np.float64]
#: The others' scatter counts as so many jobs. Each program scatters in its own way: with more, limits of those that
#: scatter most are too short; with fewer, limits from two jobs are far too long.
WEIGHT = 2.0
#: What is known without any other jobs: a scatter by a fifth, as from two pairs of jobs.
FIRST, PAIRS = 0.2, 2.0
#: From this probability on that alike jobs scatter more widely, others don't count.
WIDER = 0.9


@dataclass(frozen=True)
class Scatter:
    """How widely the logarithms of times scatter around the mean of their group.

    Parameters
    ----------
    variance : float
        Over all groups, with two pairs of jobs that scatter by a fifth.
    freedom : int
        The degrees of freedom: the jobs less their groups. 0 if no group has two jobs.

    Examples
    --------
    >>> found = Scatter.of(np.log([10.0, 12.0, 70.0, 100.0, 85.0]), np.array([0, 0, 1, 1, 1]))
    >>> found.freedom, round(found.variance, 3)
    (3, 0.032)
    """

    variance: float = FIRST**2
    freedom: int = 0

    @classmethod
    def of(cls, logs: Floats, groups: NDArray[np.int64]) -> Scatter:
        """Return the scatter of logarithms (n,) in their groups (n,)."""
        _, groups = np.unique(groups, return_inverse=True)
        sizes = np.bincount(groups)
        means = np.bincount(groups, weights=logs) / np.maximum(sizes, 1)
        freedom = int((sizes - 1).sum())
        squares = float(((logs - means[groups]) ** 2).sum()) if freedom else 0.0
        return cls((PAIRS * FIRST**2 + squares) / (PAIRS + freedom), freedom)


def upper(logs: Floats, others: Scatter, probability: float, least: float = 0.0) -> float:
    """Return what the logarithm of one more job's time stays below with a probability.

    Parameters
    ----------
    logs : array (n,)
        Logarithms of what alike jobs took; at least one.
    others : Scatter
        That of the others.
    probability : float
        Between 0 and 1.
    least : float
        The variance is at least this.

    Returns
    -------
    float
        At least the largest of `logs`.

    Examples
    --------
    >>> took, others = np.log([600.0, 630.0, 570.0, 600.0]), Scatter(0.05**2, 40)
    >>> round(math.exp(upper(took, others, 0.95))), round(math.exp(upper(took, others, 0.99)))
    (663, 710)
    """
    own, freedom = len(logs) - 1, min(WEIGHT, PAIRS + others.freedom)
    variance = float(logs.var(ddof=1)) if own else 0.0
    if own and others.freedom and variance > others.variance * fdtri(own, others.freedom, WIDER):
        freedom = 0.0
    joined = max((own * variance + freedom * others.variance) / (own + freedom), least)
    wide = float(stdtrit(own + freedom, probability)) * math.sqrt(joined * (1 + 1 / len(logs)))
    return max(float(logs.max()), float(logs.mean()) + wide)
