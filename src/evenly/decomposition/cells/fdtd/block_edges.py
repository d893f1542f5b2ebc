"""Choice of the block edges of a survey: along each axis the most important indices, within a number of blocks."""

from __future__ import annotations

import math
from collections.abc import Sequence

import numpy as np
from numpy.typing import ArrayLike, NDArray

__all__ = ["Edges", "chosen_along", "chosen_edges", "shared_out"]

Ints = NDArray[np.int64]
Array = NDArray[np.float64]
Edges = tuple[Ints, Ints, Ints]
#: An axis keeps up to this number of blocks when the others have too many.
FEW = 16


def chosen_edges(weights: Sequence[ArrayLike], blocks: int) -> Edges:
    """Return the block edges along x, y, z, as grid indices.

    Parameters
    ----------
    weights : three arrays (points + 1,)
        Importance of each grid index as an edge, the ends of the cell included. An index of weight 0 isn't needed.
    blocks : int
        Most blocks in total.

    Examples
    --------
    >>> x, y, z = chosen_edges([[1, 0, 5, 0, 1], [1, 1], [1, 1, 1]], blocks=4)
    >>> x.tolist(), y.tolist(), z.tolist()
    ([0, 2, 4], [0, 1], [0, 1, 2])
    """
    given = [np.asarray(w, dtype=np.float64) for w in weights]
    numbers = shared_out([1 + int(np.count_nonzero(w[1:-1])) for w in given], blocks)
    x, y, z = (chosen_along(w, n) for w, n in zip(given, numbers, strict=True))
    return x, y, z


def shared_out(wanted: Sequence[int], product: int) -> list[int]:
    """Return the number of blocks along each axis: all wanted numbers are scaled alike until the product fits.

    Examples
    --------
    >>> shared_out([1000, 1000, 4], 90_000)
    [149, 149, 4]
    """
    scale = 1.0
    numbers = [float(n) for n in wanted]
    while math.prod(numbers) > product * (1 + 1e-9) and scale > 1e-9:
        # An axis with few blocks keeps them all as long as possible, since it may hold films.
        scale *= 0.99
        numbers = (
            [max(min(n, FEW), n * scale) for n in wanted]
            if math.prod(min(n, FEW) for n in wanted) <= product
            else [max(1.0, n * scale) for n in wanted]
        )
    return [max(1, int(n)) for n in numbers]


def chosen_along(weights: Array, number: int) -> Ints:
    """Return the edges of at most `number` blocks along an axis whose indices have weights (points + 1,).

    Half of the edges are the indices of largest weight. The others divide the longest gaps between them evenly.
    """
    last = len(weights) - 1
    inner = np.flatnonzero(weights[1:-1]) + 1
    if len(inner) < number:
        return np.array(np.r_[0, inner, last], dtype=np.int64)
    heavy = inner[np.argsort(-weights[inner], kind="stable")[: (number - 1) // 2]]
    edges = np.unique(np.r_[0, heavy, last])
    return _filled(edges, inner, number)


def _filled(edges: Ints, inner: Ints, number: int) -> Ints:
    """Return `edges` and further indices of `inner`, evenly spread, so that there are at most `number` blocks."""
    # Bisection, on a logarithmic scale, for the smallest feasible length limit; longer blocks are divided evenly.
    low, high = 1.0, float(edges[-1])
    best = edges
    for _ in range(40):
        longest = math.sqrt(low * high)
        parts = np.ceil(np.diff(edges) / longest).astype(np.int64)
        wanted = np.concatenate(
            [np.arange(1, n) * ((b - a) / n) + a for a, b, n in zip(edges[:-1], edges[1:], parts, strict=True)]
        )
        nearest = inner[np.clip(np.searchsorted(inner, wanted), 0, len(inner) - 1)]
        found = np.unique(np.r_[edges, nearest])
        if len(found) - 1 <= number:
            high = longest
            best = found if len(found) > len(best) else best
        else:
            low = longest
    return np.array(best, dtype=np.int64)
