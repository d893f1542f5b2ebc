"""Discrete Fourier transforms: accumulates several time samples into all frequencies at once.

Adding each sample at once would read and write every accumulator once per sample. Here the samples of `SAMPLES` steps
are stored and then added in one sweep. The sweep goes tile by tile; a tile of points fits the first-level cache. For
each tile and frequency, the accumulators are loaded only once. Each accumulator still adds its samples in the order of
time, so the result does not depend on how the samples were grouped.
"""

from __future__ import annotations

import numpy as np
from numpy.typing import NDArray

from evenly.compiling import njit

__all__ = ["SAMPLES", "accumulate"]

SAMPLES = 16
_TILE = 256


@njit(cache=True, nogil=True, fastmath={"contract"})
def accumulate(
    samples: NDArray[np.floating],
    count: int,
    cosines: NDArray[np.float64],
    sines: NDArray[np.float64],
    real: NDArray[np.float64],
    imag: NDArray[np.float64],
) -> None:
    """Add ``cosines @ samples`` to `real` and ``sines @ samples`` to `imag`.

    Parameters
    ----------
    samples : array of shape (SAMPLES, n_points), float32 or float64
        Only the first `count` rows are used.
    count : int
        Number of samples.
    cosines, sines : arrays of shape (n_frequencies, SAMPLES)
        Weights.
    real, imag : arrays of shape (n_frequencies, n_points)
        Accumulators, changed in place.

    Examples
    --------
    >>> real, imag, weights = np.zeros((1, 2)), np.zeros((1, 2)), np.full((1, SAMPLES), 0.5)
    >>> accumulate(np.ones((SAMPLES, 2)), 3, weights, -weights, real, imag)
    >>> real.tolist(), imag.tolist()
    ([[1.5, 1.5]], [[-1.5, -1.5]])
    """
    # For each tile of points: copy all samples of its points, then for each frequency F += Σ_t w_t f_t.
    # The tile is one flat array with a constant row length, so the compiler can rule out overlaps and vectorise.
    tile = np.zeros(SAMPLES * _TILE)
    both = np.zeros(2 * _TILE)
    c = np.zeros(SAMPLES)
    s = np.zeros(SAMPLES)
    points = samples.shape[1]
    for start in range(0, points, _TILE):
        n = min(_TILE, points - start)
        for t in range(count):
            for p in range(n):
                tile[t * _TILE + p] = samples[t, start + p]
        for f in range(real.shape[0]):
            for p in range(n):
                both[p] = real[f, start + p]
                both[_TILE + p] = imag[f, start + p]
            for t in range(count):
                c[t] = cosines[f, t]
                s[t] = sines[f, t]
            for t in range(0, count, 8):
                _add_eight(tile[t * _TILE :], c[t:], s[t:], both, n)
            for p in range(n):
                real[f, start + p] = both[p]
                imag[f, start + p] = both[_TILE + p]


@njit(cache=True, nogil=True, fastmath={"contract"}, inline="always")
def _add_eight(
    tile: NDArray[np.float64],
    c: NDArray[np.float64],
    s: NDArray[np.float64],
    both: NDArray[np.float64],
    n: int,
) -> None:
    """Add eight rows of the tile; rows past the last sample are 0."""
    c0, c1, c2, c3, c4, c5, c6, c7 = c[0], c[1], c[2], c[3], c[4], c[5], c[6], c[7]
    s0, s1, s2, s3, s4, s5, s6, s7 = s[0], s[1], s[2], s[3], s[4], s[5], s[6], s[7]
    for p in range(n):
        v0, v1, v2, v3 = tile[p], tile[_TILE + p], tile[2 * _TILE + p], tile[3 * _TILE + p]
        v4, v5, v6, v7 = tile[4 * _TILE + p], tile[5 * _TILE + p], tile[6 * _TILE + p], tile[7 * _TILE + p]
        a = both[p] + c0 * v0 + c1 * v1 + c2 * v2 + c3 * v3
        both[p] = a + c4 * v4 + c5 * v5 + c6 * v6 + c7 * v7
        b = both[_TILE + p] + s0 * v0 + s1 * v1 + s2 * v2 + s3 * v3
        both[_TILE + p] = b + s4 * v4 + s5 * v5 + s6 * v6 + s7 * v7
