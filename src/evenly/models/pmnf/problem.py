"""What a search of PMNF candidates is given and what it gives: runs, candidates, counts."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np
from numpy.typing import NDArray

__all__ = [
    "LOG_FIT_MLOGQ",
    "LOG_FIT_SE",
    "LOG_FIT_SMAPE",
    "MLOGQ",
    "MLOGQ2",
    "QUADRATIC",
    "SMAPE",
    "Candidate",
    "Fit",
    "Loss",
    "Problem",
    "Search",
]

Floats = NDArray[np.float64]
Fit = Literal["relative", "absolute", "log"]
Loss = Literal["mlogq2", "mlogq", "smape", "se"]
#: What the kernels sum over runs: squares, symmetric errors, squared or absolute log ratios of a fit of values, then
#: squared errors, symmetric errors or absolute log ratios of a fit of logarithms.
QUADRATIC, SMAPE, MLOGQ2, MLOGQ, LOG_FIT_SE, LOG_FIT_SMAPE, LOG_FIT_MLOGQ = range(7)


@dataclass(frozen=True)
class Candidate:
    """A combination of terms, its loss on left-out runs (mean over runs), best first when sorted."""

    loss: float
    terms: tuple[int, ...]


@dataclass
class Search:
    """What was searched: every candidate asked for is counted once.

    Attributes
    ----------
    method : str
        "full", "hierarchical" or "golden-section".
    asked : int
        Candidates in the full space.
    considered : int
        Candidates that this search looked at.
    first_stage : int
        Fits of one parameter alone, that are no candidates: by these a search that is not full chose what to combine.
    counts : dict of str to int
        Of those considered: ``evaluated`` (loss on left-out runs computed as far as needed), ``pruned`` (a bound showed
        that the loss can't be among the best), and the rejected by reason: ``pole``, ``ill-conditioned``, and, among
        those good enough to be kept and the laws of fixed form,
        ``negative`` and ``not monotone``.
    notes : list of str
        What else a reader must know: fewer terms than asked for, rows left out of the search, who leads.
    """

    method: str
    asked: int
    considered: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    first_stage: int = 0

    def add(self, name: str, number: int) -> None:
        """Count."""
        self.counts[name] = self.counts.get(name, 0) + int(number)

    def __str__(self) -> str:
        listed = ", ".join(f"{number:,} {name}" for name, number in self.counts.items() if number)
        counted = f" ({listed})" if listed else ""
        if not self.considered:
            return "; ".join([f"no search, laws of fixed form only{counted}", *self.notes])
        chosen = f" of factors that {self.first_stage:,} fits of one parameter chose" if self.first_stage else ""
        searched = f"{self.method} search: {self.considered:,} of {_short(self.asked)} candidates{chosen}{counted}"
        return "; ".join([searched, *self.notes])


@dataclass(frozen=True)
class Problem:
    """Measured runs, and how candidates are fitted and judged.

    Attributes
    ----------
    points : array (n_runs, d)
    values : array (n_runs,)
        Above zero, of geometric mean about 1.
    weights : array (n_runs,)
        Relative weight of each run.
    fit, loss : str
    ridge : float
        Penalty on the squared coefficients of terms scaled to unit length.
    folds : array (n_runs,) of int, optional
        Fold of each run, 0 … k - 1, in ascending order; leave-one-out without.
    """

    points: Floats
    values: Floats
    weights: Floats
    fit: Fit
    loss: Loss
    ridge: float = 0.0
    folds: NDArray[np.int64] | None = None

    @cached_property
    def roots(self) -> Floats:
        """Square roots of the weights of the least-squares fit, (n_runs,)."""
        # Relative errors (ŷ - y) / y are errors of weight 1 / y².
        weights = self.weights / self.values**2 if self.fit == "relative" else self.weights
        return np.asarray(np.sqrt(weights), dtype=np.float64)

    @cached_property
    def response(self) -> Floats:
        """What is fitted: the values or their logarithms, (n_runs,)."""
        return np.log(self.values) if self.fit == "log" else self.values

    def some(self, n: int) -> Problem:
        """Return the problem with about `n` of its runs, the extremes of every parameter and of the values included.

        The choice is a fixed one, and even: the runs come mixed, or spread evenly over folds.
        """
        m = len(self.values)
        if m <= n:
            return self
        # A fixed random sample, and the rows that hold the least or the largest of some column.
        columns = np.column_stack([self.points, self.values])
        mixed = np.random.default_rng(0).permutation(m)[:n]
        chosen = np.unique(np.concatenate([mixed, columns.argmin(axis=0), columns.argmax(axis=0)]))
        folds = None if self.folds is None else np.unique(self.folds[chosen], return_inverse=True)[1].astype(np.int64)
        return replace(
            self, points=self.points[chosen], values=self.values[chosen], weights=self.weights[chosen], folds=folds
        )

    def extremes_first(self) -> Problem:
        """Return the same problem with its runs in the order in which they tell candidates apart; folds stay."""
        if self.folds is not None:
            return self
        # Far from the median first: there candidates err most, and sums reach the limit soonest.
        logs = np.log(self.values)
        order = np.argsort(-np.abs(logs - np.median(logs)), kind="stable")
        return replace(self, points=self.points[order], values=self.values[order], weights=self.weights[order])

    def predicted(self, response: Floats) -> Floats:
        """Turn fitted responses into values."""
        return np.exp(response) if self.fit == "log" else response

    @cached_property
    def loss_rule(self) -> tuple[int, Floats, Floats]:
        """The kernels' number of the loss, each run's weight in it, and a scale; see `loss_kernels.single_loss`.

        The scale turns the weighted residual of a run into its relative error, or into the error of its logarithm.
        """
        # The kernels see residuals times sqrt(weight); 1 / sqrt(weight) takes that back, and 1 / y makes them relative.
        with np.errstate(divide="ignore"):
            unweighted = np.where(self.roots > 0, 1 / self.roots, 0.0)
        if self.fit == "log":
            if self.loss == "mlogq2":
                return QUADRATIC, np.sign(self.weights), np.ones_like(self.values)
            kind = {"se": LOG_FIT_SE, "smape": LOG_FIT_SMAPE, "mlogq": LOG_FIT_MLOGQ}[self.loss]
            return kind, self.weights * (self.values**2 if self.loss == "se" else 1.0), unweighted
        if self.loss == "se":
            return QUADRATIC, self.weights * unweighted**2, np.ones_like(self.values)
        kind = {"smape": SMAPE, "mlogq": MLOGQ, "mlogq2": MLOGQ2}[self.loss]
        return kind, self.weights, unweighted / self.values


def _short(number: int) -> str:
    return f"{number:,}" if number < 10**15 else f"{float(min(number, 10**300)):.1e}"
