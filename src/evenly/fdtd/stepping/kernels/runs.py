"""Runs: consecutive points of a row that share some extra physics, which is then computed for these points only."""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

__all__ = ["find_runs"]


def find_runs(mask: NDArray[np.bool_], start: tuple[int, int, int], shape: tuple[int, int, int]) -> NDArray[np.int64]:
    """Return the runs of true points along the last axis.

    Parameters
    ----------
    mask : (n0, n1, n2) bools
        Points with the extra physics, in memory order.
    start : three ints
        Index of the mask's first point in the array that the flat indices refer to.
    shape : three ints
        Shape of that array.

    Returns
    -------
    (n_runs, 3) ints
        Flat index of the first point, number of points, and number of points in all earlier runs (packed offset).

    Examples
    --------
    >>> find_runs(np.array([[[True, True, False, True]]]), (1, 1, 1), (3, 3, 6)).tolist()
    [[25, 2, 0], [28, 1, 2]]
    """
    padded = np.zeros((*mask.shape[:2], mask.shape[2] + 2), np.int8)
    padded[:, :, 1:-1] = mask
    steps = np.diff(padded, axis=2)
    i, j, first = np.nonzero(steps == 1)
    last = np.nonzero(steps == -1)[2]
    flat = ((i + start[0]) * shape[1] + j + start[1]) * shape[2] + first + start[2]
    # Starts and ends are both in memory order, and every row has as many ends as starts, so they match one to one.
    lengths = last - first
    return np.stack([flat, lengths, np.cumsum(lengths) - lengths], axis=1).astype(np.int64)
