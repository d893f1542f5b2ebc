"""The trend whose residuals trees and nets learn: a ridge regression of log times, of degree 2 in coded inputs.

Its terms are coded numbers, one-hot labels, and products of any two of them. The ridge with the least leave-one-out
error is chosen; for linear smoothers this error has a closed form, without refitting [Golub, Heath and Wahba 1979].
Outside the measured range the parabola is extrapolated along its tangent, which is a power law.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np
from numpy.typing import NDArray

from evenly.models.array_types import Floats, Ints
from evenly.models.inputs.coding import Inputs
from evenly.models.stored_dataclass import Stored

__all__ = ["QuadraticTrend"]

#: Lower bound of 1 - leverage, so that leave-one-out errors stay finite.
_LEAST = 1e-6
_RIDGES = np.logspace(-7, 1, 17)
#: Maximum number of columns. Products of two labels are dropped first, then products of a label and a number.
_COLUMNS = 700


@dataclass(frozen=True)
class QuadraticTrend(Stored):
    """The coefficients of a fitted quadratic trend.

    Attributes
    ----------
    pairs : int16 array (n_pairs, 2)
        Pairs of columns of `Inputs.matrix` whose products are terms.
    constant : float
    linear : array (n_columns,)
    products : array (n_pairs,)
    """

    pairs: NDArray[np.int16]
    constant: float
    linear: Floats
    products: Floats

    @classmethod
    def learn(cls, inputs: Inputs, logs: Floats, weights: Floats) -> tuple[QuadraticTrend, Floats]:
        """Fit to log times (n,) with weights (n,) of mean 1.

        Returns
        -------
        trend : QuadraticTrend
        left_out : array (n,)
            Leave-one-out predictions, at the same ridge.

        Examples
        --------
        >>> x = np.linspace(-1, 1, 20)[:, None]
        >>> trend, _ = QuadraticTrend.learn(Inputs(x, np.zeros((20, 0), int), ()), 1 + 2 * x[:, 0] ** 2, np.ones(20))
        >>> trend.predict(Inputs(np.array([[0.5], [2.0]]), np.zeros((2, 0), int), ())).round(2)
        array([1.5, 7. ])
        """
        pairs = _pairs(inputs)
        raw = inputs.matrix
        # Weighted least squares: columns and logs are centred and multiplied by the square roots of the weights.
        design = np.hstack([raw, raw[:, pairs[:, 0]] * raw[:, pairs[:, 1]]])
        root = np.sqrt(weights)
        centre, middle = np.average(design, axis=0, weights=weights), float(np.average(logs, weights=weights))
        solution, missed = _ridge((design - centre) * root[:, None], (logs - middle) * root, weights / weights.sum())
        k = raw.shape[1]
        return cls(
            pairs.astype(np.int16), middle - float(centre @ solution), solution[:k], solution[k:]
        ), logs - missed / root

    def predict(self, inputs: Inputs) -> Floats:
        """Return predicted log times, (n,)."""
        # Inside: constant + x b + x' A x at the nearest point x of the measured range.
        raw = inputs.matrix
        edge = np.hstack([np.clip(inputs.numbers, -1, 1), inputs.one_hot])
        form = np.zeros((raw.shape[1], raw.shape[1]))
        form[self.pairs[:, 0], self.pairs[:, 1]] = self.products
        made = self.constant + edge @ self.linear + np.einsum("ij,ij->i", edge @ form, edge)
        # Outside: plus the gradient b + (A + A') x at that point times the distance from it.
        far = np.flatnonzero(inputs.beyond)
        slopes = self.linear + edge[far] @ (form + form.T)
        made[far] += np.sum((raw[far] - edge[far]) * slopes, axis=1)
        return np.asarray(made)


def _pairs(inputs: Inputs) -> Ints:
    """Return the pairs of columns whose products are terms, (n_pairs, 2).

    These are pairs of numbers, of a number and a label, and of labels of different parameters.
    """
    k = inputs.numbers.shape[1]
    owner = np.concatenate([-np.arange(k) - 1, np.repeat(np.arange(len(inputs.sizes)), inputs.sizes)]).astype(np.int64)
    a, b = np.triu_indices(len(owner))
    keep = (owner[a] != owner[b]) | (owner[a] < 0)
    a, b = a[keep], b[keep]
    label = (owner[a] >= 0).astype(int) + (owner[b] >= 0)
    for fewest in (2, 1):
        if len(owner) + len(a) > _COLUMNS:
            a, b, label = a[label < fewest], b[label < fewest], label[label < fewest]
    return np.column_stack([a, b])


def _ridge(design: Floats, target: Floats, shares: Floats) -> tuple[Floats, Floats]:
    """Return coefficients (p,) at the ridge with the least mean absolute leave-one-out error, and these errors (n,).

    `design` (n, p) and `target` (n,) are centred and weighted. `shares` (n,) are the weights of sum 1, each run's
    leverage in the means that were subtracted.
    """
    if not design.shape[1]:
        return np.zeros(0), target / np.maximum(1 - shares, _LEAST)
    # With the eigenvectors V of X'X, the solution for a ridge k is b = V (Λ + k)⁻¹ V'X'y.
    values, vectors = np.linalg.eigh(design.T @ design)
    values = np.maximum(values, 0.0)
    turned = design @ vectors
    aim = turned.T @ target
    squares = turned**2
    lowest_error, best = np.inf, (np.zeros(len(aim)), target)
    for ridge in _RIDGES * len(design):
        coefficients = aim / (values + ridge)
        # The leverage h_i = x_i' (X'X + k)⁻¹ x_i gives the leave-one-out error (y_i - ŷ_i) / (1 - h_i).
        leverage = squares @ (1 / (values + ridge)) + shares
        missed = (target - turned @ coefficients) / np.maximum(1 - leverage, _LEAST)
        error = float(np.sum(np.abs(missed)))
        if error < lowest_error * (1 - 1e-9):
            lowest_error, best = error, (coefficients, missed)
    return np.asarray(vectors @ best[0]), best[1]
