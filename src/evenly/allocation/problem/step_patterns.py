"""How a solver's steps vary around what its model tells, on any number of cores.

Some of the variation scales with a step, as noise does, and some is constant in seconds, as writing a file is. So each
quantile of the steps is a straight line in the usual step: a share of it, and seconds. The line is learned over the
runs by weighted least squares. A share alone is the simpler law; the two laws are averaged with Akaike's weights
[Burnham and Anderson, Model Selection and Multimodel Inference, 2nd ed., 2002, section 2.9].
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.allocation.problem.layout import Layout

__all__ = ["StepPattern", "mean_step"]

Floats = NDArray[np.float64]

#: The mean step of a run is never taken as known to better than this share.
_SURE = 1e-3


@dataclass(frozen=True)
class StepPattern:
    """Times of steps around the usual one, which a model tells.

    Attributes
    ----------
    shares : array (n_steps,)
        What scales with the usual step.
    seconds : array (n_steps,)
        What is the same however long the usual step is.
    covariance : array (2, 2)
        Covariance of the means of both.
    """

    shares: Floats
    seconds: Floats
    covariance: Floats

    @classmethod
    def of(cls, runs: Sequence[ArrayLike], statistic: str = "median", every: int = 1) -> StepPattern:
        """Return the pattern of the steps of runs, whose order is that of the longest one.

        If others wait after `every` steps only, the pattern is that of the means of so many steps in a row.

        Examples
        --------
        >>> slow = np.arange(50) % 5 == 4  # writing a file takes a second
        >>> found = StepPattern.of([8 + slow, 4 + slow, 2 + slow, 1 + slow])
        >>> found.at(0.5)[:5].round(1)
        array([0.5, 0.5, 0.5, 0.5, 1.5])
        >>> StepPattern.of([[1, 1, 4, 1, 4, 1]], every=3).at(1)
        array([2., 2.])
        """
        series = sorted((np.asarray(run, dtype=np.float64) for run in runs), key=len, reverse=True)
        usual = np.array([getattr(np, statistic)(one) for one in series])
        series = [one[: len(one) // every * every].reshape(-1, every).mean(axis=1) for one in series]
        means = np.array([one.mean() for one in series]) / usual
        ratios = np.array([_ordered(one, series[0]) for one in series]) / usual[:, None]
        ratios *= (means / ratios.mean(axis=1))[:, None]
        errors = np.array([one.std() / np.sqrt(len(one)) for one in series]) / usual
        of_shares, of_seconds, covariance = _lines(1.0 / usual, means, np.maximum(errors, _SURE))
        return cls(of_shares @ ratios, of_seconds @ ratios, covariance * (statistic != "mean"))

    @classmethod
    def steady(cls, n: int) -> StepPattern:
        """Return the pattern of `n` steps that don't vary."""
        return cls(np.ones(n), np.zeros(n), np.zeros((2, 2)))

    def at(self, usual: float | Floats) -> Floats:
        """Return the seconds of the steps where the usual one takes so long; (n_steps,), (n, n_steps) for (n, 1)."""
        return np.asarray(np.maximum(self.shares * usual + self.seconds, 0.0))

    def unsure(self, usual: float) -> float:
        """Return the standard deviation of the logarithm of the mean step."""
        place = np.array([usual, 1.0])
        return float(np.sqrt(place @ self.covariance @ place) / self.at(usual).mean())


def mean_step(layout: Layout, times: Mapping[str, Floats], steps: Mapping[str, StepPattern]) -> Floats:
    """Return the mean over steps (n,) of what a layout makes of solvers whose usual steps take these times (n,).

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> steps = {"a": StepPattern.of([[1, 1, 4]], "mean"), "b": StepPattern.steady(3)}
    >>> mean_step(parse_layout("max(a, b)"), {"a": np.array([2.0, 4.0]), "b": np.array([2.0, 2.0])}, steps)
    array([2.66666667, 4.        ])
    """
    varying = {name: steps[name].at(each[:, None]) for name, each in times.items()}
    return np.asarray(np.mean(layout.seconds(varying), axis=1), dtype=np.float64)


def _ordered(run: Floats, like: Floats) -> Floats:
    """Return the quantiles of the steps of a run, in the order of those of another one."""
    if run is like:
        return run
    ranks = np.argsort(np.argsort(like, kind="stable"), kind="stable")
    return np.asarray(np.quantile(run, (ranks + 0.5) / len(like), method="hazen"))


def _lines(inverse: Floats, means: Floats, errors: Floats) -> tuple[Floats, Floats, Floats]:
    """Return the weights (n_runs,) of the runs in shares and in seconds, and the covariance of both means.

    `means` are over the usual step, `inverse` is one over it.
    """
    weights = errors**-2
    flat = weights / weights.sum()
    flat_misfit = float(weights @ (means - flat @ means) ** 2)
    nothing, known = np.zeros_like(flat), np.diag([1.0 / weights.sum(), 0.0])
    if len(means) < 2 or np.ptp(inverse) < _SURE * inverse.max():
        return flat, nothing, known * max(1.0, flat_misfit / max(len(means) - 1, 1))
    design = np.stack([np.ones_like(inverse), inverse], axis=1)
    precise = np.linalg.inv(design.T @ (weights[:, None] * design))
    line = precise @ (design * weights[:, None]).T
    misfit = float(weights @ (means - design @ (line @ means)) ** 2)
    trust = 1.0 / (1.0 + np.exp(np.clip(1.0 - (flat_misfit - misfit) / 2.0, -50.0, 50.0)))
    of_shares, of_seconds = trust * line + (1.0 - trust) * np.stack([flat, nothing])
    covariance = np.zeros((2, 2))
    for share, own, spread in ((trust, line, precise), (1.0 - trust, np.stack([flat, nothing]), known)):
        off = (own - np.stack([of_shares, of_seconds])) @ means
        covariance += share * (spread + np.outer(off, off))
    return of_shares, of_seconds, covariance * max(1.0, misfit / max(len(means) - 2, 1))
