"""Multivariate adaptive regression splines (MARS): sums of products of hinge functions, whose knots are searched.

The model has few terms, so people can read it. It is piecewise linear and extrapolates linearly. It is best for few
parameters with few bends. `forward` finds the terms, `backward` prunes them.

Source: Friedman, *Multivariate Adaptive Regression Splines*, Annals of Statistics 19, 1991; *Fast MARS*, 1993.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any, ClassVar, final

import numpy as np

from evenly.errors import InputError
from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Coding, Inputs
from evenly.models.regression_model import RegressionModel, Regressor
from evenly.models.splines.backward import costs, gcv, least_squares, prune
from evenly.models.splines.formatting import in_words
from evenly.models.splines.forward import Limits, forward
from evenly.models.splines.terms import design, terms_from_state, terms_to_state

__all__ = ["Mars"]

#: Degrees of interaction that are tried if none is given.
_DEGREES = (1, 2, 3)
_MOST_TERMS = 150
#: Number of rows predicted at a time, which limits memory.
_BLOCK = 8192
#: Largest number of runs in the forward pass: its columns then stay in the CPU's cache, and knots are close enough.
_SEARCHED = 5000
#: With at least this many runs, cross-validation refits the coefficients only: without a fold, the search for terms
#: would give almost the same terms.
_LARGE = 3000


class _Splines(Regressor):
    def __init__(self, degree: int | None, penalty: float | None, limits: Mapping[str, Any]) -> None:
        self._degree, self._penalty, self._limits = degree, penalty, limits

    def fit(self, inputs: Inputs, logs: Floats, weights: Floats) -> None:
        self.gcv = np.inf
        # The forward pass uses a sample of the rows; pruning and coefficients use all rows.
        seen = np.sort(np.random.default_rng(0).permutation(len(logs))[:_SEARCHED])
        most = self._limits.get("terms") or max(2, min(_MOST_TERMS, len(logs) // 2))
        roots = np.sqrt(weights)
        target = logs * roots
        for degree in (self._degree,) if self._degree else _DEGREES:
            if degree > max(1, inputs.numbers.shape[1] + len(inputs.sizes)):
                continue
            # Forward pass: many terms. Backward pass: delete terms by GCV. Then least squares on the remaining terms.
            limits = Limits(**{**self._limits, "terms": most, "degree": degree})
            terms = forward(inputs.rows(seen), logs[seen], weights[seen] / weights[seen].mean(), limits)
            columns = design(terms, inputs) * roots[:, None]
            penalty = (2.0 if degree == 1 else 3.0) if self._penalty is None else self._penalty
            kept = prune(columns, target, costs(len(terms), penalty)).kept
            solution = least_squares(columns[:, kept], target)
            squares = float(np.sum((target - columns[:, kept] @ solution) ** 2))
            found = gcv(squares, len(logs), float(costs(len(kept), penalty).sum()))
            if found < self.gcv or not np.isfinite(self.gcv):
                self.gcv, self.terms, self.solution, self.penalty = found, [terms[k] for k in kept], solution, penalty

    def predict(self, inputs: Inputs) -> Floats:
        blocks = (inputs.rows(slice(at, at + _BLOCK)) for at in range(0, len(inputs), _BLOCK))
        return np.concatenate([np.zeros(0), *(design(self.terms, block) @ self.solution for block in blocks)])

    def left_out(self, inputs: Inputs, logs: Floats, weights: Floats, folds: Ints) -> Floats | None:
        """With many runs, return k-fold predictions that refit the coefficients only; otherwise None (refit all)."""
        if len(logs) < _LARGE:
            return None
        columns, roots, found = design(self.terms, inputs), np.sqrt(weights), np.empty(len(logs))
        for fold in np.unique(folds):
            known = folds != fold
            solution = least_squares(columns[known] * roots[known, None], logs[known] * roots[known])
            found[~known] = columns[~known] @ solution
        return found

    def get_state(self) -> dict[str, Any]:
        return {**terms_to_state(self.terms), "solution": self.solution, "gcv": self.gcv, "penalty": self.penalty}

    def set_state(self, state: Mapping[str, Any]) -> None:
        self.terms, self.solution = terms_from_state(state), np.asarray(state["solution"], dtype=np.float64)
        self.gcv, self.penalty = float(state["gcv"]), float(state["penalty"])

    @property
    def coefficients(self) -> float:
        # C of Friedman's equation 32: each term except the constant costs half a knot.
        return len(self.terms) + self.penalty * (len(self.terms) - 1) / 2


@final
@dataclass(kw_only=True, eq=False, repr=False)
class Mars(RegressionModel[_Splines]):
    """Multivariate adaptive regression splines of log times in log parameters.

    Each step of the forward pass multiplies an existing term by a pair of hinges ``max(0, x - t)`` and
    ``max(0, t - x)``, or by the indicator of a label. It takes the product that lowers the sum of squares most. The
    backward pass deletes terms one by one and keeps the set of the least generalised cross-validation (GCV).

    Parameters
    ----------
    degree : int, optional
        Largest number of parameters in one term; by default 1, 2 or 3, whichever has the least GCV.
    terms : int, optional
        Largest number of terms of the forward pass besides the constant; by default half the number of runs, at most
        150.
    penalty : float, optional
        Cost of a knot, in coefficients; by default 2 for degree 1, and 3 for higher degrees.
    span : int, optional
        Least number of runs between two knots; by default from Friedman's rule.
    parents : int
        Number of existing terms that each step tries to multiply.
    folds : int
        Number of cross-validation folds that intervals are computed from.

    Attributes
    ----------
    equation_ : str
        The model as text, with knots in the units of the parameters.
    gcv_ : float
        GCV of the model: a penalised mean squared error of log times.
    terms_ : int
        Number of terms kept, including the constant.

    Examples
    --------
    >>> n = np.geomspace(1, 10_000, 41)
    >>> model = Mars(folds=0).fit({"n": n}, np.maximum(n, 100.0))
    >>> print(model.equation_)
    ln(seconds) = 4.605 + 1 · max(0, ln(n/100))
    >>> model.predict({"n": [1000]}).round(3)
    array([1000.])
    """

    method: ClassVar[str] = "mars"
    summary: ClassVar[str] = "adaptive regression splines: products of hinges, found forward and pruned backward"

    degree: int | None = None
    terms: int | None = None
    penalty: float | None = None
    span: int | None = None
    parents: int = 20
    folds: int = 5

    @property
    def equation_(self) -> str:
        """The model as text, with knots in the units of the parameters."""
        return in_words(self._fitted.terms, self._fitted.solution.tolist(), self._centre, self._coding)

    @property
    def gcv_(self) -> float:
        """Generalised cross-validation (GCV) of the model."""
        return self._fitted.gcv

    @property
    def terms_(self) -> int:
        """Number of terms kept, including the constant."""
        return len(self._fitted.terms)

    def regressor(self, coding: Coding) -> _Splines:
        del coding
        for name in ("degree", "terms", "span", "parents"):
            value = getattr(self, name)
            if value is not None and value < 1:
                raise InputError(f"{name} must be at least 1, but got {value}")
        if self.penalty is not None and not 0 <= self.penalty < np.inf:
            raise InputError(f"penalty must be a finite number from 0 on, but got {self.penalty}: Friedman advises 3")
        limits = {"terms": self.terms, "span": self.span, "parents": self.parents}
        return _Splines(self.degree, self.penalty, limits)
