"""Power laws for the coefficients of a sum of parts, fitted to measured totals.

The total is Σ factorₖ(x) · exp(aₖ + bₖ · z(x)), where z are the coded inputs. The logarithm of the total is fitted by
the Levenberg-Marquardt method. A ridge penalty keeps the exponents b near 0, so each part is proportional to its factor
unless the runs show otherwise.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass

import numpy as np

from evenly.models.array_types import Floats
from evenly.models.stored_dataclass import Stored

__all__ = ["CoefficientLaws"]

#: Ridge weight of the exponents: an exponent of 1 costs as much as a log residual of 1 in one run of weight 1.
_RIDGE = 1.0
_STEPS = 60
#: In the start values, the scaled constant of a part is at least this share of the largest part's.
_FAINT = 1e-3


@dataclass(frozen=True)
class CoefficientLaws(Stored):
    """Fitted power laws of all parts.

    Attributes
    ----------
    names : tuple of str
        Names of the parts.
    coefficients : array (parts, 1 + inputs)
        a and b of each part.
    """

    names: tuple[str, ...]
    coefficients: Floats

    @classmethod
    def learn(cls, z: Floats, factors: Mapping[str, Floats], values: Floats, weights: Floats) -> CoefficientLaws:
        """Fit the laws of all parts to measured totals.

        Parameters
        ----------
        z : array (n, inputs)
            Coded inputs, of scale about 1.
        factors : mapping of str to array (n,)
            Each part's factor, at least 0.
        values, weights : array (n,)
            Measured totals, above 0, and the weight of each run.
        """
        from scipy.optimize import nnls  # here, since importing it takes longer than a small fit of another method

        names, f = tuple(factors), np.stack(list(factors.values()))
        # Start values: all exponents 0, and constants exp(a) by non-negative least squares on relative errors. Rows are
        # divided by the measured total and multiplied by the square root of the weight; share is (parts, n).
        share = (f / values) * np.sqrt(weights)
        found, _ = nnls(share.T / np.maximum(share.max(axis=1), 1e-300), np.sqrt(weights))
        size = np.maximum(share.max(axis=1), 1e-300)
        start = np.maximum(found, _FAINT * max(found.max(), 1e-3)) / size
        # theta (parts, 1 + inputs) holds a and b of each part; the ridge applies to b only.
        design = np.hstack([np.ones((len(z), 1)), z])
        theta = np.zeros((len(names), design.shape[1]))
        theta[:, 0] = np.log(start)
        ridge = np.tile(np.r_[1e-9, np.full(z.shape[1], _RIDGE)], len(names))
        target, damping = np.log(values), 1e-3
        loss = _loss(theta, design, f, target, weights, ridge)
        for _ in range(_STEPS):
            # The derivative of the log total with respect to a part's a and b is its share times [1, z].
            logs, part = _total(theta, design, f)
            jacobian = np.hstack([p[:, None] * design for p in part])
            missed = target - logs
            # The damped normal equations, H the ridge: (J'WJ + H + damping · diag) step = J'W missed - H theta.
            normal = (jacobian * weights[:, None]).T @ jacobian + np.diag(ridge)
            slope = (jacobian * weights[:, None]).T @ missed - ridge * theta.ravel() * (ridge > 1e-6)
            step = np.linalg.solve(normal + damping * np.diag(np.diag(normal) + 1e-12), slope).reshape(theta.shape)
            trial = theta + step
            now = _loss(trial, design, f, target, weights, ridge)
            # Accept a step that lowers the loss, and damp less; otherwise reject it, and damp more.
            if now < loss:
                gained, theta, loss, damping = loss - now, trial, now, damping / 5
                if gained < 1e-10 * max(loss, 1e-30):
                    break
            else:
                damping *= 8
                if damping > 1e9:
                    break
        return cls(names, theta)

    def parts(self, z: Floats, factors: Mapping[str, Floats]) -> dict[str, Floats]:
        """Return the value of each part, (n,), at coded inputs z (n, inputs) with factors (n,)."""
        design = np.hstack([np.ones((len(z), 1)), z])
        logs = np.clip(design @ self.coefficients.T, -700.0, 700.0)
        return {name: factors[name] * np.exp(logs[:, k]) for k, name in enumerate(self.names)}


def _total(theta: Floats, design: Floats, f: Floats) -> tuple[Floats, Floats]:
    """Return the logarithms of the totals (n,) and each part's share of the totals (parts, n)."""
    with np.errstate(divide="ignore"):
        logs = np.log(f) + np.clip(theta @ design.T, -700.0, 700.0)
    # log Σ exp, with the largest exponent subtracted so that nothing overflows.
    most = logs.max(axis=0)
    scaled = np.exp(logs - most)
    whole = scaled.sum(axis=0)
    return most + np.log(whole), scaled / whole


def _loss(theta: Floats, design: Floats, f: Floats, target: Floats, weights: Floats, ridge: Floats) -> float:
    missed = target - _total(theta, design, f)[0]
    kept = ridge * (ridge > 1e-6)
    return float(np.sum(weights * missed**2) + np.sum(kept * theta.ravel() ** 2))
