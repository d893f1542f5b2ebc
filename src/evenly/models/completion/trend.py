"""A polynomial of low degree beneath the tensor, so that the tensor needs to describe only its residuals.

Coefficients have normal priors, one variance per kind of term (linear, products, labels of one parameter), found from
the runs by sparse Bayesian learning [Tipping, 2001]. Outside the learned range products are extrapolated along their
tangents.
"""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.models.inputs.coding import Inputs

__all__ = ["Trend"]

Floats = NDArray[np.float64]
#: Kinds of terms; the labels of each categorical parameter are one more kind.
_CONSTANT, _LINEAR, _PRODUCT = range(3)
#: Steps that add up the equations anew: the first ones, and then one in so many.
_FIRST, _EVERY = 8, 4


class Trend:
    """A constant, numbers and labels with `degree` 1, products of two numbers too with 2.

    Attributes
    ----------
    coefficients : array (p,)
    covariance : array (p, p)
    priors : array (p,)
        Precision of each coefficient.
    """

    def __init__(self, degree: int) -> None:
        self.degree = degree

    def design(self, inputs: Inputs) -> Floats:
        """Return the terms' values, (n, p)."""
        columns = [np.ones((len(inputs), 1))]
        if self.degree >= 1:
            columns += [inputs.numbers, inputs.one_hot]
        if self.degree >= 2:
            # z_a z_b; at a distance r outside the range, without r_a r_b, which leaves the tangent at the edge.
            z = inputs.numbers
            rest = z - np.clip(z, -1, 1)
            a, b = np.tril_indices(z.shape[1])
            columns.append(z[:, a] * z[:, b] - rest[:, a] * rest[:, b])
        return np.hstack(columns)

    def start(self, inputs: Inputs, targets: Floats, weights: Floats) -> None:
        """Learn the trend alone."""
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
        """Take one step: coefficients given priors, then priors given coefficients.

        The equations are added up in the first steps and in every fourth after. In between, Newton's steps with the
        last ones follow the targets (n,), at a cost of O(n p) instead of O(n p²).
        """
        if self._steps < _FIRST or self._steps % _EVERY == 0:
            # Posterior covariance Σ = (β Φ' W Φ + A)⁻¹ [Tipping 2001, equation 12], and the variance of each run's
            # trend.
            matrix = self._design.T @ (self._design * (precision * weights)[:, None])
            # A small ridge, since without noise terms that depend on each other would leave it singular.
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
        """Drop what is needed only while learning."""
        del self._design, self.fitted, self.variance

    def predict(self, inputs: Inputs) -> Floats:
        """Return the trend, (n,)."""
        return np.asarray(self.design(inputs) @ self.coefficients)

    def to_state(self) -> dict[str, Any]:
        """Return what `from_state` reads."""
        return {"degree": self.degree, "coefficients": self.coefficients}

    @classmethod
    def from_state(cls, state: Mapping[str, Any]) -> Trend:
        """Restore what `to_state` returned."""
        made = cls(int(state["degree"]))
        made.coefficients = np.asarray(state["coefficients"], dtype=np.float64)
        return made
