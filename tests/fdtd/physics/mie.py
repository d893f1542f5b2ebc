"""Scattering of a plane wave by a sphere and a cylinder: Mie's series (C. F. Bohren and D. R. Huffman, Absorption and
Scattering of Light by Small Particles, ch. 4 and sect. 8.4), with exp(-iωt)."""

from __future__ import annotations

import math
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import NDArray
from scipy.special import h1vp, hankel1, jv, jvp, spherical_jn, spherical_yn

__all__ = ["Mie", "cylinder"]

Array = NDArray[Any]


@dataclass(frozen=True)
class Mie:
    """A sphere of relative index m and size parameter x = 2π radius/wavelength outside."""

    m: complex
    x: float

    @property
    def orders(self) -> Array:
        """1 … as many as matter (W. J. Wiscombe, Appl. Opt. 19, 1505 (1980))."""
        return np.arange(1, math.ceil(self.x + 4 * self.x ** (1 / 3) + 2) + 1)

    @property
    def coefficients(self) -> tuple[Array, Array]:
        """a_n and b_n (their eq. 4.53)."""
        n = self.orders
        inside, slope_inside = _riccati(n, self.m * self.x)
        psi, slope_psi = _riccati(n, self.x)
        y, slope_y = spherical_yn(n, self.x), spherical_yn(n, self.x, derivative=True)
        xi, slope_xi = psi + 1j * self.x * y, slope_psi + 1j * (y + self.x * slope_y)
        a = (self.m * inside * slope_psi - psi * slope_inside) / (self.m * inside * slope_xi - xi * slope_inside)
        b = (inside * slope_psi - self.m * psi * slope_inside) / (inside * slope_xi - self.m * xi * slope_inside)
        return a, b

    @property
    def scattering(self) -> float:
        """Scattering cross-section over the geometric one."""
        a, b = self.coefficients
        return float(2 / self.x**2 * np.sum((2 * self.orders + 1) * (abs(a) ** 2 + abs(b) ** 2)))

    @property
    def extinction(self) -> float:
        """Extinction cross-section over the geometric one."""
        a, b = self.coefficients
        return float(2 / self.x**2 * np.sum((2 * self.orders + 1) * (a + b).real))

    def differential(self, theta: Array, phi: Array) -> Array:
        """Return dσ/dΩ in units of 1/k²; the wave runs along z with E along x."""
        a, b = self.coefficients
        mu, n = np.cos(theta), self.orders
        pi, before = np.ones_like(mu), np.zeros_like(mu)
        s1, s2 = np.zeros_like(mu, np.complex128), np.zeros_like(mu, np.complex128)
        for k, an, bn in zip(n, a, b, strict=True):
            tau = k * mu * pi - (k + 1) * before
            weight = (2 * k + 1) / (k * (k + 1))
            s1, s2 = s1 + weight * (an * pi + bn * tau), s2 + weight * (an * tau + bn * pi)
            pi, before = ((2 * k + 1) * mu * pi - (k + 1) * before) / k, pi
        return np.asarray(np.abs(s2) ** 2 * np.cos(phi) ** 2 + np.abs(s1) ** 2 * np.sin(phi) ** 2)


def cylinder(m: complex, x: float, *, along: bool) -> tuple[float, float]:
    """Return the absorption and scattering cross-sections over the diameter (their eqs. 8.30 to 8.38).

    E is along the cylinder, or the wave has E across it. x is 2π radius/wavelength.
    """
    n = np.arange(-math.ceil(x + 4 * x ** (1 / 3) + 10), math.ceil(x + 4 * x ** (1 / 3) + 10) + 1)
    first, second = (m, 1.0) if along else (1.0, m)
    inside, slope = second * jv(n, m * x), first * jvp(n, m * x)
    b = (slope * jv(n, x) - inside * jvp(n, x)) / (slope * hankel1(n, x) - inside * h1vp(n, x))
    scattered = 2 / x * float(np.sum(np.abs(b) ** 2))
    return 2 / x * float(np.sum(b.real)) - scattered, scattered


def _riccati(n: Array, z: complex) -> tuple[Array, Array]:
    """Return z j_n(z) and its derivative."""
    j, slope = spherical_jn(n, z), spherical_jn(n, z, derivative=True)
    return z * j, j + z * slope
