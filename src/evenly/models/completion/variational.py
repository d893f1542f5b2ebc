"""Variational Bayes for a CP decomposition: alternating least squares that learns its penalties.

In the approximate posterior the columns of the factors are independent normal vectors. Each column has its own ridge
and roughness, which are learned too, so that components without support in the runs fade to zero [Zhao et al., Bayesian
CP factorization of incomplete tensors, 2015, there with one precision per component and without neighbours]. Given the
other modes' means and variances, a mode's means solve the normal equations of alternating least squares, with expected
squares of the other factors on the diagonal. A column's variances come from its own tridiagonal matrix. Noise has
Student's t distribution, so that outliers get smaller weights.

Ridge and roughness of a column are its degrees of freedom divided by its expected squares, as in the generalised
Fellner-Schall method [Wood and Fasiolo, 2017].
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.completion.factors import Blocks, Factors, Penalty, Problem, equations, solve
from evenly.models.completion.grid import Grid
from evenly.models.completion.kernels import tridiagonal_inverse
from evenly.models.completion.trend import BayesianTrend

__all__ = ["TAILS", "Posterior", "VariationalFit", "learn_penalties", "update_mode"]

#: Degrees of freedom of Student's t distribution of the noise.
TAILS = 4.0
#: First sweeps in which expected squares, penalties and t weights are used: the first factors are far from a solution.
_SQUARES_FROM, _PENALTIES_FROM, _TAILS_FROM = 1, 2, 3
#: Components whose largest value is below this fraction of the noise are dropped, after every so many sweeps. Otherwise
#: their elements would become subnormal numbers, which are slow.
_FADED, _PRUNE_EVERY = 1e-4, 4
#: Shape and rate of the gamma priors of ridge and roughness.
_LITTLE = 1e-3


@dataclass
class Posterior:
    """Approximate posterior of a tensor: factors with variances, their penalties, and the precision of the noise."""

    factors: Factors
    penalty: Penalty
    precision: float

    def prune(self) -> None:
        """Drop components that have faded to zero, but always keep one."""
        f, p = self.factors, self.penalty
        most = np.prod(np.abs(f.mean).max(axis=1), axis=0)
        keep = most > _FADED / np.sqrt(self.precision)
        keep[int(np.argmax(most))] = True
        if keep.all():
            return
        arrays = (f.mean, f.variance, f.covariance, f.centres)
        self.factors = Factors(*(np.ascontiguousarray(a[..., keep]) for a in arrays))
        self.penalty = Penalty(p.ridge[:, keep], p.roughness[:, keep])

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {**vars(self.factors), **vars(self.penalty), "precision": self.precision}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Posterior:
        """Restore what `to_state` returned."""
        names = ("mean", "variance", "covariance", "centres", "ridge", "roughness")
        arrays = [np.asarray(state[name], dtype=np.float64) for name in names]
        return cls(Factors(*arrays[:4]), Penalty(*arrays[4:]), float(state["precision"]))


class VariationalFit:
    """A fit of trend and tensor together.

    Parameters
    ----------
    problem : Problem
        The runs. Where there is a trend, targets include it.
    trend : BayesianTrend or None
        A trend that was started on the same runs; None to fit the tensor alone.
    posterior : Posterior
        The start of the fit, changed in place.
    """

    def __init__(self, problem: Problem, trend: BayesianTrend | None, posterior: Posterior) -> None:
        self.problem, self.trend, self.posterior = problem, trend, posterior
        self._weights = problem.weights
        self._total = float(problem.weights.sum())
        self._floor = 1e-10 * float(np.var(problem.targets)) + 1e-16

    def run(self, *, tolerance: float, sweeps: int, done: int = 0) -> None:
        """Sweep until the mean expected square changes by less than `tolerance` of it.

        Sweeps are counted from `done`, so that a refit skips the special rules for the first sweeps.
        """
        before = np.inf
        for sweep in range(done, done + sweeps):
            square = self._sweep(sweep)
            if sweep % _PRUNE_EVERY == _PRUNE_EVERY - 1:
                self.posterior.prune()
            if sweep > 5 and abs(before - square) <= tolerance * square:
                return
            before = square

    def _sweep(self, number: int) -> float:
        posterior, problem = self.posterior, self.problem
        rest = problem.targets - (self.trend.fitted if self.trend is not None else 0.0)
        now = Problem(problem.grid, problem.place, rest, self._weights)
        # Factors, mode by mode [Zhao et al. 2015].
        for j in range(len(problem.grid.modes)):
            with_variance = number >= _SQUARES_FROM
            blocks = equations(now, posterior.factors, j, precision=posterior.precision, with_variance=with_variance)
            update_mode(problem.grid, blocks, posterior, j)
            if number >= _PENALTIES_FROM:
                learn_penalties(problem.grid, posterior, j)
            posterior.factors.centre(problem.grid, j)
        # The trend is fitted to the tensor's residuals; the variances of both add up.
        fitted, variance = posterior.factors.values(problem.place, with_variance=True)
        if self.trend is not None:
            self.trend.update(problem.targets - fitted, self._weights, posterior.precision)
            fitted, variance = fitted + self.trend.fitted, variance + self.trend.variance
        # Weights of Student's t distribution with ν degrees of freedom, (ν + 1) / (ν + β e²) [Lange et al. 1989], and
        # the precision β of the noise, one over the mean expected square e².
        squares = (problem.targets - fitted) ** 2 + variance
        if number >= _TAILS_FROM:
            self._weights = problem.weights * (TAILS + 1) / (TAILS + posterior.precision * squares)
        square = float(self._weights @ squares) / self._total
        if number >= _SQUARES_FROM:
            posterior.precision = 1 / (square + self._floor)
        return square


def update_mode(grid: Grid, blocks: Blocks, posterior: Posterior, j: int) -> None:
    """Update the means of mode j from its normal equations and penalties, and the variances of its columns."""
    factors = posterior.factors
    diagonal, above = solve(grid, blocks, factors, posterior.penalty, j)
    rows = grid.modes[j].size
    if grid.modes[j].ordered:
        factors.variance[j, :rows], factors.covariance[j, :rows] = tridiagonal_inverse(diagonal, above)
    else:
        factors.variance[j, :rows] = 1 / diagonal


def learn_penalties(grid: Grid, posterior: Posterior, j: int) -> None:
    """Update ridge and roughness of mode j's columns from their expected squares.

    Each is its degrees of freedom divided by the expected squares that it penalises [Wood and Fasiolo 2017].
    """
    factors, penalty = posterior.factors, posterior.penalty
    rows = grid.modes[j].size
    u, v, c = factors.mean[j, :rows], factors.variance[j, :rows], factors.covariance[j, : rows - 1]
    if not grid.modes[j].ordered:
        # Labels: squared distances from their mean, with one degree of freedom per row.
        penalty.roughness[j] = (rows + _LITTLE) / (np.sum((u - factors.centres[j]) ** 2 + v, axis=0) + _LITTLE)
        penalty.ridge[j] = _LITTLE
        return
    # Numbers: E (u_i+1 - u_i)² and E u_i², from means u, variances v and covariances c of neighbours.
    rough = np.sum(np.diff(u, axis=0) ** 2 + v[1:] + v[:-1] - 2 * c, axis=0)
    size = np.sum(u**2 + v, axis=0)
    # Eigenvalues of D'D, whose eigenvectors are cosines. `share` is the roughness's part of the penalty of each.
    waves = (2 - 2 * np.cos(np.pi * np.arange(rows) / rows))[:, None]
    share = penalty.roughness[j] * waves / (penalty.roughness[j] * waves + penalty.ridge[j])
    penalty.roughness[j] = (share.sum(axis=0) + _LITTLE) / (rough + _LITTLE)
    penalty.ridge[j] = ((1 - share).sum(axis=0) + _LITTLE) / (size + _LITTLE)
