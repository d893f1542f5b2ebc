"""Finds resonances in a time signal (frequencies, decay rates and amplitudes) by filter diagonalisation.

A signal c_n = f(n dt) that is a sum of decaying exponentials,

    f(t) = Σ_k a_k exp(-2πi f_k t - γ_k t),

is the correlation function of an operator whose eigenvalues are u_k = exp(-2πi f_k dt - γ_k dt). In a basis of waves
inside the band of interest, this operator is a small matrix that follows from the signal alone. Its eigenvalues can be
found even if they are much closer to each other than the resolution 1/T of a Fourier transform (V. A. Mandelshtam and
H. S. Taylor, J. Chem. Phys. 107, 6756 (1997)). The matrices are sums over the signal. The matrix for two steps
must have the squared eigenvalues; the deviation from this gives the error.

A real signal contains each wave twice, at f and -f. For a band of positive frequencies, the amplitude of a cosine
A cos(2πft - φ) is found as A/2 exp(iφ).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike, NDArray

from evenly.arguments import explained
from evenly.errors import InputError

__all__ = ["Resonance", "resonances"]

Array = NDArray[Any]
_MOST_BASIS = 300
_FEWEST_BASIS = 4
_RANK = 1e-12


@dataclass(frozen=True)
class Resonance:
    """One decaying wave, amplitude · exp(-2πi frequency t - decay t).

    Attributes
    ----------
    frequency : float
        In c/a.
    decay : float
        Decay rate of the amplitude in c/a; the energy decays twice as fast. Negative for a wave that grows.
    amplitude : complex
        At time 0, which is the time of the first sample unless `start` is given.
    error : float
        Estimated relative error of the complex frequency.
    """

    frequency: float
    decay: float
    amplitude: complex
    error: float

    @property
    def quality(self) -> float:
        """Quality factor Q = π frequency / decay; infinite without decay."""
        return math.pi * self.frequency / self.decay if self.decay else math.inf


@explained
def resonances(
    signal: ArrayLike,
    dt: float,
    band: Sequence[float],
    *,
    density: float = 1.1,
    weakest: float = 1e-7,
    worst: float = 0.1,
    start: float = 0.0,
) -> list[Resonance]:
    """Return the resonances of a signal in a band, the strongest first.

    Parameters
    ----------
    signal : array of shape (n,)
        Real or complex, after the sources have ended.
    dt : float
        Time between samples, in a/c.
    band : (lowest, highest) frequency
        In c/a. Choose it a little wider than the range of interest; waves outside have little influence.
    density : float
        Number of basis functions per frequency interval 1/(n dt); more than 1 to find all waves.
    weakest : float
        Waves weaker than this times the strongest are left out. Noise appears as weak waves with large errors.
    worst : float
        Waves with a larger estimated error are left out.
    start : float
        Time of the first sample: amplitudes are those at time 0.

    Returns
    -------
    list of Resonance

    Raises
    ------
    InputError
        If the band is empty or above 1/(2 dt), or the signal is too short or not finite.

    Examples
    --------
    >>> t = 0.1 * np.arange(2000)
    >>> signal = np.exp(-0.002 * t) * np.cos(2 * np.pi * 0.250 * t) + 0.5 * np.cos(2 * np.pi * 0.251 * t)
    >>> found = resonances(signal, 0.1, (0.2, 0.3))
    >>> [(round(r.frequency, 6), round(abs(r.decay), 6), round(abs(r.amplitude), 4)) for r in found]
    [(0.25, 0.002, 0.5), (0.251, 0.0, 0.25)]
    """
    values = _checked(signal, dt, band)
    scale = float(np.abs(values).max())
    if scale == 0:
        return []
    low, high = (float(f) * dt for f in band)
    size = int(np.clip(density * (high - low) * len(values), _FEWEST_BASIS, min(_MOST_BASIS, len(values) // 4)))
    basis = np.exp(-2j * np.pi * (low + (high - low) * (np.arange(size) + 0.5) / size))
    roots, amplitudes, errors = _diagonalise(values / scale, basis)
    inside = np.flatnonzero((np.abs(roots) > 0) & _between(roots, low, high) & (errors < worst))
    found = [_resonance(roots[i], scale * amplitudes[i], errors[i], dt, start) for i in inside]
    found = sorted(found, key=lambda r: -abs(r.amplitude))
    return [r for r in found if abs(r.amplitude) > weakest * abs(found[0].amplitude)]


def _checked(signal: ArrayLike, dt: float, band: Sequence[float]) -> Array:
    values = np.asarray(signal)
    values = values.astype(np.complex128 if np.iscomplexobj(values) else np.float64)
    if values.ndim != 1 or len(values) < 4 * _FEWEST_BASIS or not np.isfinite(values).all():
        raise InputError(
            f"A signal to look for resonances in must hold at least {4 * _FEWEST_BASIS} finite samples in one "
            f"dimension, but got shape {values.shape}: record it for longer."
        )
    if not 0 < dt < math.inf:
        raise InputError(f"`dt` must be positive and finite, but got {dt!r}.")
    if len(band) != 2 or not -math.inf < band[0] < band[1] < math.inf:
        raise InputError(f"`band` must be a lowest and a higher highest frequency, in c/a, but got {band!r}.")
    limit = 0.5 / dt
    if max(abs(band[0]), abs(band[1])) > limit * (1 + 1e-9):
        raise InputError(
            f"Samples {dt:g} apart tell frequencies up to 1/(2 dt) = {limit:g} only, but `band` is {tuple(band)}: "
            "record more often, or lower the band."
        )
    return values


def _diagonalise(values: Array, basis: Array) -> tuple[Array, Array, Array]:
    """Return eigenvalues u of the pencil (U1, U0), their amplitudes, and their errors from U2."""
    from scipy import linalg

    half = (len(values) - 3) // 2
    waves = _powers(1 / basis, half + 1)
    u0, u1, u2 = (_projected(values[p : p + 2 * half + 1], waves) for p in range(3))
    # U0 has nearly dependent columns. So the pencil is solved only where the singular values of U0 exceed round-off.
    left, weights, right = linalg.svd(u0)
    rank = int(np.count_nonzero(weights > _RANK * weights[0]))
    root = 1 / np.sqrt(weights[:rank])
    p, q = root[:, None] * left[:, :rank].conj().T, right[:rank].conj().T * root
    roots, vectors = linalg.eig(p @ u1 @ q)
    vectors = q @ vectors
    # The matrices are complex symmetric: eigenvectors are orthogonal without conjugation.
    norms, squares = (np.einsum("ik,ij,jk->k", vectors, u, vectors) for u in (u0, u2))
    # Amplitudes follow from the overlap of each eigenvector with the signal. Errors follow from U2, whose eigenvalues
    # should be the squares.
    with np.errstate(divide="ignore", invalid="ignore"):
        amplitudes = (vectors.T @ (waves.T @ values[: half + 1])) ** 2 / norms
        errors = np.abs(np.log(squares / norms / roots**2) / np.log(roots))
    return roots, np.nan_to_num(amplitudes), np.nan_to_num(errors, nan=np.inf)


def _projected(values: Array, waves: Array) -> Array:
    """Return waves^T H waves with the Hankel matrix H[n, m] = values[n + m], from sums over the signal alone.

    With waves x^n and y^m for n, m = 0 … M, the powers of x and y along each antidiagonal of H are a geometric series
    (V. A. Mandelshtam and H. S. Taylor, J. Chem. Phys. 107, 6756 (1997), eq. 16).
    """
    m, x = len(waves) - 1, waves[1]
    lower, upper = waves.T @ values[: m + 1], waves[1:].T @ values[m + 1 :]
    # x Σ c_s x^s up to M, and x^(M + 1) Σ c_s y^(s - M) beyond: what belongs to x and y minus what belongs to y and x.
    first = (x * lower)[:, None] + (x * waves[m])[:, None] * upper[None, :]
    apart = x[:, None] - x[None, :]
    np.fill_diagonal(apart, 1)
    found = (first - first.T) / apart
    diagonal = waves.T @ (np.arange(1, m + 2) * values[: m + 1])
    diagonal += waves[m] * (waves[1:].T @ (np.arange(m, 0, -1) * values[m + 1 :]))
    np.fill_diagonal(found, diagonal)
    return np.asarray(found)


def _powers(base: Array, count: int) -> Array:
    """Return base^n for n = 0 … count - 1, (count, n_bases), as products of powers that are known."""
    fine = math.isqrt(count) + 1
    small, large = (base[None, :] ** (step * np.arange(fine))[:, None] for step in (1, fine))
    return np.asarray((large[:, None, :] * small[None, :, :]).reshape(-1, len(base))[:count])


def _between(roots: Array, low: float, high: float) -> Array:
    frequency = -np.angle(roots) / (2 * np.pi)
    return np.asarray((frequency >= low) & (frequency <= high))


def _resonance(root: complex, amplitude: complex, error: float, dt: float, start: float) -> Resonance:
    rate = np.log(root) / dt
    back = amplitude * np.exp(-rate * start)
    return Resonance(float(-rate.imag / (2 * np.pi)), float(-rate.real), complex(back), float(error))
