"""Sampling designs: points in the unit cube for `Space.sample`."""

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
    """Yield blocks of points in the unit cube, each of shape (m, d), without end.

    Parameters
    ----------
    d : int
        The number of dimensions.
    design : {"random", "uniform", "log-uniform", "sobol", "lhs"}
        ``"sobol"`` gives a scrambled Sobol sequence, ``"lhs"`` Latin hypercubes. All others give independent uniform
        points; the caller maps them to a scale.
    n : int
        The number of points that the caller needs; it sets the size of the first block.
    rng : Generator
        The source of random numbers.

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
    """Return the size of the next block: doubled, up to a limit, so that few blocks suffice if most points fail."""
    return max(size, min(2 * size, _LARGEST_BLOCK))


def _sobol(d: int, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    from scipy.stats import qmc

    engine = qmc.Sobol(d, **_seed(rng))
    m = max(1, math.ceil(math.log2(max(n, 2))))
    yield np.asarray(engine.random_base2(m))
    size = 2**m
    while True:  # blocks of 2^m, 2^m, 2^(m + 1), … points, so that their total stays a power of two
        yield np.asarray(engine.random(size))
        size = _next_size(size)


def _latin(d: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    from scipy.stats import qmc

    return np.asarray(qmc.LatinHypercube(d, **_seed(rng)).random(n))


def _seed(rng: np.random.Generator) -> dict[str, Any]:
    """Return the keyword argument that passes `rng` to scipy, which renamed ``seed`` to ``rng`` in version 1.15."""
    import scipy

    major, minor = scipy.__version__.split(".")[:2]
    return {"rng" if (int(major), int(minor)) >= (1, 15) else "seed": rng}
