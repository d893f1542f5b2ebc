"""Fields of currents in a homogeneous medium, in one, two and three dimensions.

With fields exp(-iωt), k = ω sqrt(εμ) and the scalar Green's function g of (∇² + k²) g = -δ,

    1d  g = i exp(ik r) / (2k)      2d  g = (i/4) H0(k r)      3d  g = exp(ik r) / (4π r)

an electric current J and a magnetic current K give (J. D. Jackson, Classical Electrodynamics, ch. 9; A. Taflove and
S. C. Hagness, Computational Electrodynamics, ch. 8)

    E = iωμ (J + ∇∇·J / k²) g - ∇g x K,      H = iωε (K + ∇∇·K / k²) g + ∇g x J.
"""

from __future__ import annotations

import math

import numpy as np
from numpy.typing import NDArray

__all__ = ["far_factor", "near_fields"]

_PAIRS = 400_000
Complex = NDArray[np.complex128]


def near_fields(
    points: NDArray[np.float64],
    places: NDArray[np.float64],
    electric: Complex,
    magnetic: Complex,
    frequency: float,
    medium: tuple[float, float],
    axes: tuple[int, ...],
) -> Complex:
    """Return the exact E and H at given points, radiated by currents at given places.

    Parameters
    ----------
    points : array of shape (n_points, 3)
        Positions of the fields, in a.
    places : array of shape (n_places, 3)
        Positions of the currents, in a; none may coincide with a point.
    electric, magnetic : arrays of shape (n_places, 3)
        Currents times the area of each place (length in 2d, 1 in 1d).
    frequency : float
        In c/a.
    medium : tuple of two floats
        ε and μ.
    axes : tuple of ints
        Axes along which anything varies: three in 3d, two in 2d, one in 1d.

    Returns
    -------
    array of shape (n_points, 6)
        Ex, Ey, Ez, Hx, Hy, Hz.

    Examples
    --------
    In one dimension a sheet of current J sends out waves E = -J/2:

    >>> sheet, nothing = np.array([[1.0, 0, 0]]), np.zeros((1, 3))
    >>> complex(near_fields(np.array([[0, 0, 1.0]]), 0 * sheet.real, sheet, nothing, 1.0, (1, 1), (2,))[0, 0].round(12))
    (-0.5+0j)
    """
    step = max(1, _PAIRS // max(1, len(places)))
    if len(points) > step:
        # Split the points, so that arrays over all pairs don't fill the memory.
        parts = [points[start : start + step] for start in range(0, len(points), step)]
        return np.concatenate([near_fields(p, places, electric, magnetic, frequency, medium, axes) for p in parts])
    omega, (epsilon, mu) = 2 * math.pi * frequency, medium
    k = omega * math.sqrt(epsilon * mu)
    apart = np.zeros((3, len(points), len(places)))
    for axis in axes:
        apart[axis] = points[:, axis, None] - places[None, :, axis]
    distance = np.sqrt((apart**2).sum(axis=0))
    apart /= distance
    g, slope, transverse, radial = _derivatives(k, distance, len(axes))
    weights = (g, transverse / k**2, (radial - transverse) / k**2, slope)
    of_electric, curl_electric = _terms(apart, electric, weights, axes)
    of_magnetic, curl_magnetic = _terms(apart, magnetic, weights, axes)
    e = 1j * omega * mu * of_electric - curl_magnetic
    h = 1j * omega * epsilon * of_magnetic + curl_electric
    return np.concatenate([e, h], axis=1)


def far_factor(dimensions: int, wavenumber: float) -> complex:
    """Return the constant factor of g at a great distance: g = factor · exp(ikr) / r^((dimensions-1)/2).

    Examples
    --------
    >>> round(abs(far_factor(3, 2.0)) * 4 * np.pi, 12)
    1.0
    """
    if dimensions == 3:
        return complex(1 / (4 * math.pi))
    if dimensions == 2:
        return complex(0.25j * math.sqrt(2 / (math.pi * wavenumber)) * np.exp(-0.25j * math.pi))
    return 0.5j / wavenumber


def _derivatives(k: float, r: NDArray[np.float64], dimensions: int) -> tuple[Complex, Complex, Complex, Complex]:
    """Return g, g', g'/r and g''; in 1d there is no direction normal to r, and g'/r is set to 0."""
    if dimensions == 3:
        g = np.asarray(np.exp(1j * k * r) / (4 * math.pi * r), dtype=np.complex128)
        rate = 1j * k - 1 / r
        first = np.asarray(rate * g, dtype=np.complex128)
        return g, first, first / r, np.asarray((rate**2 + 1 / r**2) * g, dtype=np.complex128)
    if dimensions == 2:
        from scipy.special import hankel1

        g = np.asarray(0.25j * hankel1(0, k * r), dtype=np.complex128)
        first = np.asarray(-0.25j * k * hankel1(1, k * r), dtype=np.complex128)
        return g, first, first / r, -(k**2) * g - first / r
    g = np.asarray(0.5j / k * np.exp(1j * k * r), dtype=np.complex128)
    return g, 1j * k * g, np.zeros_like(g), -(k**2) * g


def _terms(
    unit: NDArray[np.float64], current: Complex, weights: tuple[Complex, ...], axes: tuple[int, ...]
) -> tuple[Complex, Complex]:
    """Return (J + ∇∇·J / k²) g and ∇g x J, summed over the places; shapes (n_points, 3)."""
    g, transverse, radial, slope = weights
    inside = np.array([1.0 if axis in axes else 0.0 for axis in range(3)])
    along = np.einsum("cpq,qc->pq", unit, current) * radial
    dyadic = g @ current + transverse @ (current * inside) + np.einsum("cpq,pq->pc", unit, along)
    pushed = unit * slope
    curl = [pushed[a - 2] @ current[:, a - 1] - pushed[a - 1] @ current[:, a - 2] for a in range(3)]
    return dyadic, np.stack(curl, axis=1)
