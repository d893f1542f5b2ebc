"""Points of the unit cube by the designs that `Space.sample` offers."""

from __future__ import annotations

import importlib.metadata
from collections.abc import Iterator
from typing import Any, Literal

import numpy as np
from numpy.typing import NDArray

__all__ = ["Design", "unit_points"]

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
    while True:
        yield _latin(d, n, rng) if design == "lhs" else rng.random((max(n, 256), d))


def _sobol(d: int, n: int, rng: np.random.Generator) -> Iterator[NDArray[np.float64]]:
    from scipy.stats import qmc

    engine = qmc.Sobol(d, **_seed(rng))
    m = max(1, int(np.ceil(np.log2(max(n, 2)))))
    while True:
        yield engine.random_base2(m) if engine.num_generated == 0 else engine.random(2**m)


def _latin(d: int, n: int, rng: np.random.Generator) -> NDArray[np.float64]:
    from scipy.stats import qmc

    return np.asarray(qmc.LatinHypercube(d, **_seed(rng)).random(n))


def _seed(rng: np.random.Generator) -> dict[str, Any]:
    """Return the argument that hands over `rng`: scipy 1.15 renamed ``seed`` to ``rng``."""
    major, minor = importlib.metadata.version("scipy").split(".")[:2]
    return {"rng" if (int(major), int(minor)) >= (1, 15) else "seed": rng}
