"""Learning curves: errors on left-out runs by the number of runs learned from, extrapolated to more runs.

Errors of regression fall about as a power of the number of runs until noise stops them [Viering and Loog, The shape of
learning curves, 2022]. Three sizes give the exponent. The level at which noise stops the fall can't be seen before it
is reached, so the extrapolation is an upper bound on what more runs bring.
"""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.models.base import Model
from evenly.models.ensemble.race import Table, left_out_logs_of, mean_error

__all__ = ["learning_curve"]

Floats = NDArray[np.float64]
_SHARES = (0.25, 0.5)
_MORE = (2, 4)
#: Fewer runs than this tell no trend; more than so many test runs only cost time.
_FEWEST, _TESTED = 24, 2_000
#: From so many runs on, one draw tells enough.
_LARGE = 2_000


def learning_curve(
    table: Table, make: Callable[[], Model], error: float, learned_from: int, *, quick: bool = False
) -> pd.DataFrame:
    """Measure errors with a quarter and half of the runs and extend their trend to two and four times as many.

    Parameters
    ----------
    table : Table
    make : callable
        Returns a model that has learned nothing yet.
    error : float
        MLogQ on left-out runs that `make`'s models reach with `learned_from` runs.
    learned_from : int
    quick : bool
        Only with a quarter, and of one draw.

    Returns
    -------
    DataFrame
        ``runs``, ``error`` (MLogQ) and ``measured`` (whether it was, or follows from the trend); no rows where there
        are too few runs.
    """
    n = len(table)
    if n < _FEWEST or not np.isfinite(error) or error <= 0:
        return pd.DataFrame({"runs": [], "error": [], "measured": []})
    rows = []
    for share in _SHARES[:1] if quick else _SHARES:
        learned = round(share * n)
        errors = []
        for seed in range(1 if quick or learned >= _LARGE else 2):
            order = np.random.default_rng(seed).permutation(n)[: learned + _TESTED]
            some, folds = table.rows(order), np.repeat([0, 1], [learned, len(order) - learned])
            errors.append(mean_error(left_out_logs_of(make, some, folds, [1]), some))
        finite = [one for one in errors if np.isfinite(one)]
        if finite:
            rows.append((learned, float(np.mean(finite)), True))
    rows.append((learned_from, error, True))
    sizes, measured = np.array([r[0] for r in rows], float), np.array([r[1] for r in rows])
    # error ≈ c · runs^slope, by least squares in logarithms; more runs neither harm nor help more than 1 / runs.
    slope = np.polyfit(np.log(sizes), np.log(measured), 1)[0] if len(rows) > 1 else 0.0
    slope = float(np.clip(slope, -1.0, 0.0))
    rows += [(more * n, float(error * (more * n / learned_from) ** slope), False) for more in _MORE]
    return pd.DataFrame(rows, columns=["runs", "error", "measured"])
