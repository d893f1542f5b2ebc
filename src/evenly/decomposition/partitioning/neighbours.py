"""Pairs of boxes of a cell that touch and the number of faces of points that they share, by sweep and prune along x.

>>> low, high = np.array([[0, 0, 0], [2, 0, 0], [2, 3, 0]]), np.array([[2, 4, 1], [4, 3, 1], [4, 4, 1]])
>>> first, second, faces = touching(low, high, (4, 4, 1), (False, False, False))
>>> [(int(i), int(j), int(n)) for i, j, n in zip(first, second, faces)]
[(0, 1, 3), (0, 2, 1), (1, 2, 2)]
"""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.decomposition.partitioning.kernels import touching_boxes

__all__ = ["owners_borders", "touching"]

Ints = NDArray[np.int64]
Pairs = tuple[Ints, Ints, Ints]


def touching(low: Ints, high: Ints, shape: tuple[int, int, int], periodic: ArrayLike) -> Pairs:
    """Return the pairs of disjoint boxes (n, 3) that share faces: first box, second box, faces, each (pairs,).

    `shape` is the cell's number of grid points along x, y, z; `periodic` tells along which axes the cell is periodic.
    Two boxes that touch inside the cell and also over a periodic side make two pairs. A box isn't its own neighbour.
    """
    order = np.argsort(low[:, 0], kind="stable")
    pairs, faces = touching_boxes(low, high, np.array(shape), np.array(periodic), order)
    return pairs[:, 0], pairs[:, 1], faces


def owners_borders(pairs: Pairs, owners: Ints, ranks: int) -> tuple[NDArray[np.float64], NDArray[np.float64]]:
    """Return the faces that each rank shares with other ranks, and its number of neighbour ranks, each (ranks,)."""
    first, second, faces = pairs
    one, other = owners[first], owners[second]
    apart = one != other
    one, other, faces = one[apart], other[apart], faces[apart]
    shared = np.bincount(one, faces, ranks) + np.bincount(other, faces, ranks)
    met = np.unique(np.concatenate([one * ranks + other, other * ranks + one]))
    return np.asarray(shared, dtype=np.float64), np.bincount(met // ranks, minlength=ranks).astype(np.float64)
