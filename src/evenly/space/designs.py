"""Points of the unit cube by the designs that `Space.sample` offers."""

from __future__ import annotations

import math
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Design", "unit_points"]

_LARGEST_BLOCK = 65_536

Design = Literal["random", "uniform", "log-uniform", "sobol", "lhs"]


def unit_points(d: int, design: Design, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    """Yield blocks of points of the unit cube, each of shape (m, d), without end.

    Parameters
    ----------
    d : int
        Dimensions.
    design : {"random", "uniform", "log-uniform", "sobol", "lhs"}
        Scrambled Sobol points, Latin hypercubes of `n` points, or independent ones.
    n : int
        How many points the caller wants in all; sizes the blocks.
    rng : Generator
        Where randomness comes from.

    Examples
    --------
    >>> block = next(unit_points(2, "lhs", 4, np.random.default_rng(0)))
    >>> np.sort(np.floor(4 * block), axis=0).T
    array([[0., 1., 2., 3.],
           [0., 1., 2., 3.]])
    """
    if design == "sobol":
        yield from _sobol(d, n, rng)
    size = n if design == "lhs" else max(n, 256)
    while True:
        yield _latin(d, size, rng) if design == "lhs" else rng.random((size, d))
        size = _next_size(size)


def _next_size(size: int) -> int:
    """Grow blocks, so that few are needed where nearly everything is rejected."""
    return max(size, min(2 * size, _LARGEST_BLOCK))


def _sobol(d: int, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    from scipy.stats import qmc

    engine = qmc.Sobol(d, **_seed(rng))
    m = max(1, math.ceil(math.log2(max(n, 2))))
    yield np.asarray(engine.random_base2(m))
    size = 2**m
    while True:  # blocks of 2^m, 2^m, 2^(m + 1), …: what was yielded is always a balanced power of two
        yield np.asarray(engine.random(size))
        size = _next_size(size)


def _latin(d: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    from scipy.stats import qmc

    return np.asarray(qmc.LatinHypercube(d, **_seed(rng)).random(n))


def _seed(rng: np.random.Generator) -> dict[str, Any]:
    """Return the argument that hands over `rng`: scipy 1.15 renamed ``seed`` to ``rng``."""
    import scipy

    major, minor = scipy.__version__.split(".")[:2]
    return {"rng" if (int(major), int(minor)) >= (1, 15) else "seed": rng}
