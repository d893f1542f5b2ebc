"""Error metrics: how far predicted values are from measured values.

The formulas are those of Table 1 of the tensor-completion paper (Hutter and Solomonik), each a mean over the M pairs.
SMAPE, MAPE and MSE are also equations 2.8 to 2.10 of the core-assignment thesis, there times 100 %. Only MLogQ and
MLogQ2 give the same error to a prediction of twice the measured time and of half of it. evenly judges its models by
these two.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError

__all__ = ["METRICS", "all_metrics", "lgmape", "mae", "mape", "mlogq", "mlogq2", "mse", "r2", "smape"]

Floats = NDArray[np.float64]
#: Replaces a prediction at or below zero before a logarithm is taken (section 2.2 of the paper).
_TINY = 1e-16


def _pairs(true: ArrayLike, predicted: ArrayLike) -> tuple[Floats, Floats]:
    y: Floats = np.asarray(true, dtype=np.float64).ravel()
    m: Floats = np.asarray(predicted, dtype=np.float64).ravel()
    if len(y) != len(m) or not len(y):
        raise InputError(f"measured and predicted values must be as many, and at least one: got {len(y)} and {len(m)}")
    if not np.all(np.isfinite(y) & (y > 0)):
        row = int(np.flatnonzero(~(np.isfinite(y) & (y > 0)))[0])
        raise InputError(f"measured values must be finite and above zero, but value {row} is {y[row]}")
    return y, m


def _above_zero(m: Floats) -> Floats:
    return np.where(m <= 0, _TINY, m)


@explained
def mape(true: ArrayLike, predicted: ArrayLike) -> float:
    """Mean absolute relative error (MAPE as a fraction), ``mean(|m - y| / y)``; 0.1 is 10 %.

    Parameters
    ----------
    true, predicted : array_like (n,)
        Measured values y > 0 and predictions m.

    Examples
    --------
    >>> mape([1.0, 2.0], [1.25, 1.5])
    0.25
    """
    y, m = _pairs(true, predicted)
    return float(np.mean(np.abs(m - y) / y))


@explained
def mae(true: ArrayLike, predicted: ArrayLike) -> float:
    """Mean absolute error, ``mean(|m - y|)``, in the unit of the values.

    Examples
    --------
    >>> mae([1.0, 2.0], [1.5, 1.5])
    0.5
    """
    y, m = _pairs(true, predicted)
    return float(np.mean(np.abs(m - y)))


@explained
def mse(true: ArrayLike, predicted: ArrayLike) -> float:
    """Mean squared error, ``mean((m - y)²)``, in the squared unit of the values.

    Examples
    --------
    >>> mse([1.0, 2.0], [1.5, 1.5])
    0.25
    """
    y, m = _pairs(true, predicted)
    return float(np.mean((m - y) ** 2))


@explained
def smape(true: ArrayLike, predicted: ArrayLike) -> float:
    """Symmetric mean absolute relative error, ``2 mean(|m - y| / (|y| + |m|))``, between 0 and 2.

    Examples
    --------
    >>> smape([1.0], [3.0])
    1.0
    """
    y, m = _pairs(true, predicted)
    return float(2 * np.mean(np.abs(m - y) / (np.abs(y) + np.abs(m))))


@explained
def lgmape(true: ArrayLike, predicted: ArrayLike) -> float:
    """Logarithm of the geometric mean of the relative errors, ``mean(ln(|m - y| / y))``; -inf if one is exact.

    Examples
    --------
    >>> round(lgmape([1.0, 1.0], [1.1, 0.9]), 6)
    -2.302585
    """
    y, m = _pairs(true, predicted)
    with np.errstate(divide="ignore"):
        return float(np.mean(np.log(np.abs(m - y) / y)))


@explained
def mlogq(true: ArrayLike, predicted: ArrayLike) -> float:
    """Mean absolute logarithm of the accuracy ratio, ``mean(|ln(m / y)|)``.

    A prediction at or below zero is replaced by 1e-16, as in the paper.

    Examples
    --------
    >>> round(mlogq([1.0, 1.0], [2.0, 0.5]), 6)
    0.693147
    """
    y, m = _pairs(true, predicted)
    return float(np.mean(np.abs(np.log(_above_zero(m) / y))))


@explained
def mlogq2(true: ArrayLike, predicted: ArrayLike) -> float:
    """Mean squared logarithm of the accuracy ratio, ``mean(ln(m / y)²)``.

    Examples
    --------
    >>> round(mlogq2([1.0, 1.0], [2.0, 0.5]), 6)
    0.480453
    """
    y, m = _pairs(true, predicted)
    return float(np.mean(np.log(_above_zero(m) / y) ** 2))


@explained
def r2(true: ArrayLike, predicted: ArrayLike) -> float:
    """Coefficient of determination, ``1 - Σ(m - y)² / Σ(y - ȳ)²``; NaN if all measured values are equal.

    Examples
    --------
    >>> r2([1.0, 2.0, 3.0], [1.0, 2.0, 3.0])
    1.0
    """
    y, m = _pairs(true, predicted)
    total = np.sum((y - y.mean()) ** 2)
    return float(1 - np.sum((m - y) ** 2) / total) if np.ptp(y) > 0 else float("nan")


#: Every metric by its name.
METRICS: dict[str, Callable[[ArrayLike, ArrayLike], float]] = {
    "MLogQ": mlogq,
    "MLogQ2": mlogq2,
    "MAPE": mape,
    "SMAPE": smape,
    "LGMAPE": lgmape,
    "MAE": mae,
    "MSE": mse,
    "R2": r2,
}


def all_metrics(true: ArrayLike, predicted: ArrayLike) -> dict[str, float]:
    """Return every metric over the pairs that are finite and predicted above zero; {} if there is none.

    Examples
    --------
    >>> round(all_metrics([8.0, 4.0, np.nan], [8.8, np.nan, 3.0])["MAPE"], 3)
    0.1
    >>> all_metrics([8.0], [np.nan])
    {}
    """
    y, m = np.asarray(true, dtype=np.float64), np.asarray(predicted, dtype=np.float64)
    known = np.isfinite(y) & np.isfinite(m) & (m > 0)
    return {name: float(metric(y[known], m[known])) for name, metric in METRICS.items()} if known.any() else {}
