"""Repeated runs with numbers, of which the first one always took longest: it warmed up."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

__all__ = ["warmed_up"]

#: The first run took so many times as long as the slowest other one, in so many configurations.
_SLOWER, _CONFIGURATIONS = 1.2, 3


def warmed_up(parameters: pd.DataFrame, numbers: NDArray[np.float64], seconds: NDArray[np.float64]) -> float | None:
    """Return the number of the first run if it was by far the slowest in all configurations; else None.

    Parameters
    ----------
    parameters : DataFrame (n_rows, n_parameters)
    numbers : array (n_rows,)
        Those of the runs.
    seconds : array (n_rows,)

    Examples
    --------
    >>> cores, runs = pd.DataFrame({"cores": [8, 8, 16, 16, 32, 32]}), np.array([1.0, 2, 1, 2, 1, 2])
    >>> warmed_up(cores, runs, np.array([27.0, 15, 13, 8, 7, 4]))
    1.0
    >>> warmed_up(cores, runs, np.array([15.0, 27, 8, 13, 4, 7])) is None
    True
    """
    known = np.isfinite(numbers) & np.isfinite(seconds) & (seconds > 0)
    if not known.any() or not len(parameters.columns):
        return None
    first = float(numbers[known].min())
    frame = parameters[known].assign(_first=numbers[known] == first, _seconds=seconds[known])
    slowest = frame.groupby([*parameters.columns, "_first"], dropna=False)["_seconds"].max().unstack("_first").dropna()
    if slowest.shape[1] < 2 or len(slowest) < _CONFIGURATIONS:
        return None
    return first if (slowest[True] > _SLOWER * slowest[False]).all() else None
