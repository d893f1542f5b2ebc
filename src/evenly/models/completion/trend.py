"""A polynomial trend of low degree; the tensor describes its residuals.

Coefficients have normal priors. Each kind of term (linear, products, labels of one parameter) has its own prior
variance, which is learned from the runs by sparse Bayesian learning [Tipping, 2001]. Outside the learned range,
products are extrapolated linearly along their tangents.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.inputs.coding import Inputs

__all__ = ["BayesianTrend"]

#: Kinds of terms; the labels of each categorical parameter are one more kind.
_CONSTANT, _LINEAR, _PRODUCT = range(3)
#: The covariance is computed again in the first `_FIRST` steps, and then in every `_EVERY`-th step.
_FIRST, _EVERY = 8, 4


@dataclass(eq=False, repr=False)
class BayesianTrend:
    """A Bayesian regression on a constant, on numbers and labels (degree 1), and on products of numbers (degree 2).

    Attributes
    ----------
    coefficients : array (p,)
    covariance : array (p, p)
    priors : array (p,)
        Precision of each coefficient.
    """

    degree: int

    def design(self, inputs: Inputs) -> Floats:
        """Return the design matrix, (n, p)."""
        columns = [np.ones((len(inputs), 1))]
        if self.degree >= 1:
            columns += [inputs.numbers, inputs.one_hot]
        if self.degree >= 2:
            # z_a z_b. Outside the range, with r the part of z beyond the edge, subtracting r_a r_b leaves the tangent.
            z = inputs.numbers
            rest = z - np.clip(z, -1, 1)
            a, b = np.tril_indices(z.shape[1])
            columns.append(z[:, a] * z[:, b] - rest[:, a] * rest[:, b])
        return np.hstack(columns)

    def start(self, inputs: Inputs, targets: Floats, weights: Floats) -> None:
        """Fit the trend without a tensor, in two steps with estimated noise, to targets (n,) with weights (n,)."""
        d = inputs.numbers.shape[1]
        labels = [_PRODUCT + 1 + k for k, size in enumerate(inputs.sizes) for _ in range(size)]
        kinds = [_CONSTANT, *([_LINEAR] * d + labels if self.degree >= 1 else ())]
        kinds += [_PRODUCT] * (d * (d + 1) // 2) if self.degree >= 2 else []
        self._design, self._kind = self.design(inputs), np.array(kinds)
        first = {_CONSTANT: 1e-6, _LINEAR: 1e-2}
        self.priors = np.array([first.get(int(kind), 1.0) for kind in self._kind])
        self.coefficients, self.fitted, self._steps = np.zeros(len(self.priors)), np.zeros(len(targets)), 0
        noise = 0.1 * float(np.var(targets)) + 1e-9
        for _ in range(2):
            self.update(targets, weights, 1 / noise)
            noise = max(float(np.mean((targets - self.fitted) ** 2)), 1e-6)

    def update(self, targets: Floats, weights: Floats, precision: float) -> None:
        """Make one step: update the coefficients given the priors, then the priors given the coefficients.

        The covariance of the coefficients is computed in the first steps, and then in every fourth step, in O(n p²).
        The other steps reuse it in a Newton step towards the targets (n,), in O(n p). `precision` is that of the noise.
        """
        if self._steps < _FIRST or self._steps % _EVERY == 0:
            # Posterior covariance Σ = (β Φ' W Φ + A)⁻¹ [Tipping 2001, equation 12], and the variance of each run's
            # trend.
            matrix = self._design.T @ (self._design * (precision * weights)[:, None])
            # A small ridge: almost without noise, linearly dependent terms would make the matrix singular.
            matrix[np.diag_indices(len(matrix))] += self.priors + 1e-13 * np.diag(matrix).max()
            self.covariance = np.linalg.inv(matrix)
            self.variance = np.einsum("ij,ij->i", self._design @ self.covariance, self._design)
        self._steps += 1
        slope = self._design.T @ (precision * weights * (targets - self.fitted)) - self.priors * self.coefficients
        self.coefficients = self.coefficients + self.covariance @ slope
        self.fitted = self._design @ self.coefficients
        # Priors: number of coefficients of a kind over the sum of their expected squares μ² + Σ_ii, kept near 1 by a
        # weak gamma hyperprior (Tipping's EM update).
        for kind in np.unique(self._kind):
            if kind != _CONSTANT:
                members = self._kind == kind
                square = np.sum(self.coefficients[members] ** 2 + np.diag(self.covariance)[members])
                self.priors[members] = (members.sum() + 1e-2) / (square + 1e-2)

    def forget_runs(self) -> None:
        """Delete the arrays that are needed only while fitting."""
        del self._design, self.fitted, self.variance

    def predict(self, inputs: Inputs) -> Floats:
        """Return the trend, (n,)."""
        return np.asarray(self.design(inputs) @ self.coefficients)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {"degree": self.degree, "coefficients": self.coefficients}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> BayesianTrend:
        """Restore what `to_state` returned."""
        made = cls(int(state["degree"]))
        made.coefficients = np.asarray(state["coefficients"], dtype=np.float64)
        return made
