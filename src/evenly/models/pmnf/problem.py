"""Data classes of a PMNF search: the problem with its runs, the candidates found, and the counts of the search."""

from __future__ import annotations

from dataclasses import dataclass, field, replace
from functools import cached_property
from typing import Literal

import numpy as np

from evenly.models.array_types import Floats, Ints

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
    "SearchReport",
]

Fit = Literal["relative", "absolute", "log"]
Loss = Literal["mlogq2", "mlogq", "smape", "se"]
#: Numbers of the losses that the kernels compute. First for a fit of values: squared errors, symmetric relative errors,
#: squared and absolute log ratios. Then for a fit of logarithms: squared errors, symmetric errors, absolute log ratios.
QUADRATIC, SMAPE, MLOGQ2, MLOGQ, LOG_FIT_SE, LOG_FIT_SMAPE, LOG_FIT_MLOGQ = range(7)


@dataclass(frozen=True)
class Candidate:
    """A combination of terms (by their numbers in a `TermSet`) and its mean loss on left-out runs."""

    loss: float
    terms: tuple[int, ...]


@dataclass
class SearchReport:
    """Report of a search: how many candidates it covered, and what happened to them.

    Attributes
    ----------
    method : str
        "full", "hierarchical" or "golden-section".
    asked : int
        Number of candidates in the full space.
    considered : int
        Number of candidates that this search covered.
    first_stage : int
        Number of fits of one parameter alone, by which a search that isn't full chose the factors to combine. They
        don't count as candidates.
    counts : dict of str to int
        Number of candidates by outcome. ``evaluated``: the loss on left-out runs was computed as far as needed.
        ``pruned``: a bound proved that the loss can't be among the best. ``pole`` and ``ill-conditioned``: rejected
        without a loss. ``negative`` and ``not monotone``: rejected because of `Conditions`, although the loss was good
        enough; these include rivals such as laws of fixed form.
    notes : list of str
        Remarks for the user: a reduced number of terms, a search on a sample of the runs, or a rival that leads.
    """

    method: str
    asked: int
    considered: int = 0
    counts: dict[str, int] = field(default_factory=dict)
    notes: list[str] = field(default_factory=list)
    first_stage: int = 0

    def add(self, name: str, number: int) -> None:
        """Add a number to one of the counts."""
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
    """Measured runs, and the rules by which candidates are fitted and ranked.

    Attributes
    ----------
    points : array (n_runs, d)
        Parameter values of each run.
    values : array (n_runs,)
        Measured values, above zero, of geometric mean about 1.
    weights : array (n_runs,)
        Relative weight of each run.
    fit, loss : str
        Kind of the residuals of the fit, and loss on left-out runs; see `PMNF` (``residuals``, ``loss``).
    ridge : float
        Penalty on the squared coefficients of terms scaled to unit length.
    folds : array (n_runs,) of int, optional
        Fold of each run, 0 … k - 1, in ascending order; None for leave-one-out.
    """

    points: Floats
    values: Floats
    weights: Floats
    fit: Fit
    loss: Loss
    ridge: float = 0.0
    folds: Ints | None = None

    @cached_property
    def roots(self) -> Floats:
        """Square roots of the weights of the least-squares fit, (n_runs,)."""
        # Squared relative errors ((ŷ - y) / y)² are squared errors of weight 1 / y².
        weights = self.weights / self.values**2 if self.fit == "relative" else self.weights
        return np.asarray(np.sqrt(weights), dtype=np.float64)

    @cached_property
    def response(self) -> Floats:
        """The fitted response: the values or their logarithms, (n_runs,)."""
        return np.log(self.values) if self.fit == "log" else self.values

    def some(self, n: int) -> Problem:
        """Return the problem with a sample of about `n` of its runs, drawn by a fixed seed.

        The sample includes the runs with the least and the largest value of each parameter and of the response.
        """
        m = len(self.values)
        if m <= n:
            return self
        columns = np.column_stack([self.points, self.values])
        mixed = np.random.default_rng(0).permutation(m)[:n]
        chosen = np.unique(np.concatenate([mixed, columns.argmin(axis=0), columns.argmax(axis=0)]))
        folds = None if self.folds is None else np.unique(self.folds[chosen], return_inverse=True)[1].astype(np.int64)
        return replace(
            self, points=self.points[chosen], values=self.values[chosen], weights=self.weights[chosen], folds=folds
        )

    def extremes_first(self) -> Problem:
        """Return the same problem with its runs sorted by distance from the median log value, the farthest first.

        With folds the order is not changed.
        """
        if self.folds is not None:
            return self
        # Candidates have the largest errors far from the median, so their sums of losses reach the limit early.
        logs = np.log(self.values)
        order = np.argsort(-np.abs(logs - np.median(logs)), kind="stable")
        return replace(self, points=self.points[order], values=self.values[order], weights=self.weights[order])

    def predicted(self, response: Floats) -> Floats:
        """Convert fitted responses (n_runs,) to values (n_runs,)."""
        return np.exp(response) if self.fit == "log" else response

    @cached_property
    def loss_rule(self) -> tuple[int, Floats, Floats]:
        """Number of the loss in the kernels, weights (n_runs,) and scales (n_runs,); see `loss_kernels.single_loss`.

        The scale converts the weighted residual of a run to its relative error, or to the error of its logarithm.
        """
        # Residuals in the kernels are multiplied by sqrt(weight). Dividing by it undoes this; 1 / y makes them
        # relative.
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
