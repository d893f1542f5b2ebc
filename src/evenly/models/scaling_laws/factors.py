"""One parameter's factor in a term of the performance model normal form: ``x^i · log2(x)^j``, and its derivative."""

from __future__ import annotations

import math

import numpy as np

from evenly.models.array_types import Floats

__all__ = ["Factor", "factor_derivatives", "factor_values"]

#: Exponents ``(i, j)`` of one parameter in one term.
Factor = tuple[float, float]


def factor_values(x: Floats, factor: Factor) -> Floats:
    """Return ``x^i · log2(x)^j`` in the shape of `x`; values are not finite at poles.

    Examples
    --------
    >>> factor_values(np.array([2.0, 4.0]), (1.0, 2.0))
    array([ 2., 16.])
    """
    i, j = factor
    with np.errstate(all="ignore"):
        values: Floats = np.power(x, i) if i else np.ones_like(x)
        return values * np.power(np.log2(x), j) if j else values


def factor_derivatives(x: Floats, factor: Factor) -> Floats:
    """Return the derivative ``x^(i-1) · log2(x)^(j-1) · (i · log2(x) + j / ln 2)`` in the shape of `x`.

    This is equation 2.13 of the thesis that `evenly.models.pmnf.pmnf` names.

    Examples
    --------
    >>> factor_derivatives(np.array([2.0, 4.0]), (2.0, 0.0))
    array([4., 8.])
    """
    i, j = factor
    with np.errstate(all="ignore"):
        if not j:
            return i * np.power(x, i - 1) if i else np.zeros_like(x)
        logs = np.log2(x)
        derivative: Floats = np.power(x, i - 1) * np.power(logs, j - 1) * (i * logs + j / math.log(2))
        return derivative
