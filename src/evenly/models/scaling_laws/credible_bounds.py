"""Prediction intervals that account for model uncertainty: bounds over all scaling laws that fit the runs.

A few runs often fit several laws. With 4 core counts and 3 % noise, ``a/p + b`` and a power law may differ by less than
the noise at the measured counts, but by factors of two at eight times the largest count. The interval of a single law
covers the noise only, and is too narrow there. So the bounds are computed from all credible laws:

* The credibility of a law is ``prior · exp(-S / 2)`` with ``S = (m + v) · log(v s² + m L) + 2 k``. m is the number of
  runs, k the number of coefficients, and L the mean squared log error on left-out runs. The first term of S stands for
  the marginal likelihood of m normal errors of unknown spread. The prior of the spread counts as much as v = 2
  measurements of spread s = 3 %, the usual noise of repeated timings. Credibilities are more even than the weights of
  averaged predictions, so a few runs that fit one law by chance exclude no other law.
* Each law has its own interval: the noise of left-out runs, widened by the leverage of the law.
* The upper bound at level l is a weighted quantile of the laws' upper ends: laws with at most ``(1 - l) / 2`` of the
  credibility exceed it. The lower bound is computed likewise. With one law, the bounds are the law's own interval.
  Bounds of a higher level are never narrower.

Within the measured range the laws agree, and intervals hardly change. Outside it, intervals widen as the laws diverge.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.scaling_laws.formula import Formula, Term
from evenly.models.scaling_laws.laws import fit_laws
from evenly.models.scaling_laws.loglinear import LogLinear
from evenly.models.uncertainty.conformal import LogConformal

__all__ = ["RivalLaws", "credibilities", "credible_bounds", "relative_leverage"]


#: v and s of the module's docstring.
_PRIOR_RUNS, _PRIOR_SPREAD = 2.0, 0.03
#: Laws with less credibility than this are dropped.
_LEAST = 1e-3
#: Number of rows sorted at a time, which limits memory.
_CHUNK = 65_536


def credibilities(losses: Floats, coefficients: Floats, log_priors: Floats, runs: int) -> Floats:
    """Return the credibilities of laws, (n_laws,): ``prior · exp(-S / 2)``, normalised to the sum 1.

    Parameters
    ----------
    losses : array (n_laws,)
        L, the mean squared log errors on left-out runs. A law whose loss isn't finite gets 0; if no loss is finite, the
        first law gets 1.
    coefficients : array (n_laws,)
        k, the numbers of coefficients.
    log_priors : array (n_laws,)
        Logarithms of the prior weights.
    runs : int
        m, the number of runs.
    """
    known = np.isfinite(losses)
    if not known.any():
        return np.append(1.0, np.zeros(len(losses) - 1))
    loss = np.where(known, losses, 1.0)
    s = (runs + _PRIOR_RUNS) * np.log(_PRIOR_RUNS * _PRIOR_SPREAD**2 + runs * loss) + 2.0 * coefficients
    logs = np.where(known, log_priors - 0.5 * s, -np.inf)
    shares = np.exp(logs - logs.max())
    return np.asarray(shares / shares.sum(), dtype=np.float64)


def relative_leverage(formula: Formula, spread: Floats, points: Floats, *, of_logarithm: bool = False) -> Floats:
    """Return the leverage of a formula f at points (n, d), (n,): its relative variance, in units of one run's.

    Computed by the delta method as ``g' C g / f²``. C is `spread`, the inverse Gram matrix of the terms
    (n_terms, n_terms). g is the gradient of f with respect to the coefficients: each term without its coefficient. For
    a formula `of_logarithm` the variance is not divided by f². If `spread` has d rows more, these are of an exponent of
    each parameter p, which all terms that aren't constant in p share: the gradient is the sum of these terms times
    ln(p). If it has another size, the leverage is 0.
    """
    more = len(spread) - len(formula.terms)
    if more not in (0, points.shape[1]):
        return np.zeros(len(points))
    terms = np.column_stack([term.values(points) for term in formula.terms])
    gradient = terms / np.array([term.coefficient for term in formula.terms])
    value = 1.0 if of_logarithm else np.maximum(np.abs(formula.evaluate(points)), 1e-300)[:, None]
    if more:
        shared = terms @ (np.array([term.powers for term in formula.terms]) != 0)
        gradient = np.column_stack([gradient, shared * np.log(points)])
    gradient = gradient / value
    return np.asarray(np.clip(np.einsum("ni,ij,nj->n", gradient, spread, gradient), 0.0, 1e6), dtype=np.float64)


def credible_bounds(
    centre: Floats, logs: Floats, widths: Floats, shares: Floats, level: float
) -> tuple[Floats, Floats]:
    """Return lower and upper bounds of predictions, as weighted quantiles of the intervals of several laws.

    Parameters
    ----------
    centre : array (n,)
        Predictions; the bounds always enclose them.
    logs, widths : array (n_laws, n)
        Logarithms of each law's predictions, and the half-widths of its own intervals in log units.
    shares : array (n_laws,)
        Credibility of each law.
    level : float
        Probability that a new measurement lies between the bounds.

    Returns
    -------
    lower, upper : array (n,)
    """
    tail = (1 - level) / 2
    upper = np.exp(np.clip(_exceeded(logs + widths, shares, tail), -700.0, 700.0))
    lower = np.exp(np.clip(-_exceeded(widths - logs, shares, tail), -700.0, 700.0))
    return np.minimum(lower, centre), np.maximum(upper, centre)


def _exceeded(ends: Floats, shares: Floats, tail: float) -> Floats:
    """Return the upper weighted quantile of each column of `ends` (n_laws, n), (n,).

    It is the largest value that laws with more than `tail` of the shares reach or exceed.
    """
    found = np.empty(ends.shape[1])
    for start in range(0, ends.shape[1], _CHUNK):
        part = ends[:, start : start + _CHUNK]
        # Sort values from the largest to the smallest; stop where the shares add up to more than the tail.
        order = np.argsort(-part, axis=0, kind="stable")
        reached = np.cumsum(shares[order], axis=0)
        first = np.argmax(reached > tail * (1 - 1e-9), axis=0)
        found[start : start + _CHUNK] = np.take_along_axis(part, order, axis=0)[first, np.arange(part.shape[1])]
    return found


@dataclass(frozen=True)
class RivalLaws:
    """A model's rivals: scaling laws that fit the runs about as well as the model, with their credibilities.

    Attributes
    ----------
    credibility : float
        Credibility of the model itself.
    laws : list of (Formula, array, float)
        Formula, inverse Gram matrix and credibility of each law. Empty unless the one parameter can be a core count.
    """

    credibility: float
    laws: list[tuple[Formula, Floats, float]]

    @classmethod
    def learn(
        cls, table: pd.DataFrame, values: Floats, weights: Floats, *, loss: float, coefficients: int
    ) -> RivalLaws:
        """Fit the rival laws of a model, given the model's mean squared log error on left-out runs, `loss`."""
        found = fit_laws(table, values, weights) if table.shape[1] == 1 else []
        if not found:
            return cls(1.0, [])
        laws = [(law.formula, law.spread, law.loss, law.coefficients, law.share) for law in found]
        # The power law c · x^a is a rival of each model of one positive parameter.
        x = table.iloc[:, 0].to_numpy(dtype=np.float64)
        fit = LogLinear.learn(np.column_stack([np.ones(len(x)), np.log(x)]), np.log(values), weights)
        term = Term(float(np.exp(fit.coefficients[0])), (float(fit.coefficients[1]),), (0.0,))
        missed = float(np.average(fit.left_out**2, weights=weights))
        laws.append((Formula((str(table.columns[0]),), (term,)), np.zeros((0, 0)), missed, 2, 1.0))
        formulas, spreads, losses, counts, priors = zip(*laws, strict=True)
        # The model itself comes first, with the prior weight of one power law.
        shares = credibilities(
            np.array([loss, *losses]), np.array([coefficients, *counts]), np.log([1.0, *priors]),
            int(np.sum(weights > 0)),
        )  # fmt: skip
        rated = zip(formulas, spreads, map(float, shares[1:]), strict=True)
        return cls(float(shares[0]), [law for law in rated if law[2] > _LEAST])

    def bounds(
        self, table: pd.DataFrame, centre: Floats, leverage: Floats, conformal: LogConformal, level: float
    ) -> tuple[Floats, Floats]:
        """Return lower and upper bounds (n,) of a model's predictions `centre` (n,) with leverages (n,)."""
        # Each law has the conformal half-width for leverage 0, times sqrt(1 + its own leverage).
        points = table.to_numpy(dtype=np.float64) if self.laws else np.zeros((len(table), 0))
        with np.errstate(all="ignore"):
            others = [np.log(np.maximum(law.evaluate(points), 1e-300)) for law, _, _ in self.laws]
        leverages = [relative_leverage(law, spread, points) for law, spread, _ in self.laws]
        widths = conformal.half_width(level) * np.sqrt(1.0 + np.array([leverage, *leverages]))
        shares = np.array([self.credibility, *(share for _, _, share in self.laws)])
        return credible_bounds(centre, np.array([np.log(centre), *others]), widths, shares, level)

    def to_state(self) -> dict[str, Any]:
        """Return the state as a dict, which `from_state` reads."""
        laws = [
            {"names": list(f.names), "terms": [[t.coefficient, t.powers[0], t.logs[0]] for t in f.terms],
             "spread": spread, "share": share} for f, spread, share in self.laws
        ]  # fmt: skip
        return {"own": self.credibility, "laws": laws}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> RivalLaws:
        """Restore the state from the result of `to_state`."""
        laws = []
        for law in state["laws"]:
            terms = tuple(Term(float(c), (float(i),), (float(j),)) for c, i, j in law["terms"])
            spread = np.asarray(law["spread"], dtype=np.float64)
            laws.append((Formula(tuple(law["names"]), terms), spread, float(law["share"])))
        return cls(float(state["own"]), laws)
