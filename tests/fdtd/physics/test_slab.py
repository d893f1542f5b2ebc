"""Light on a slab: reflected and transmitted power against the analytic transfer matrix.

For one layer of thickness d between half spaces of vacuum, with the normal wave numbers q = sqrt(ω² - k²) outside and
p = sqrt(ε μ ω² - k²) inside and the ratio of admittances y = p/(μ q) (E along the layer) or p/(ε q) (H along it),

    t = 1/(cos pd - ½ i (y + 1/y) sin pd),   r = ½ i (1/y - y) t sin pd,   R = |r|², T = |t|²

(M. Born and E. Wolf, Principles of Optics, section 1.6). At 40 points per a the grid's waves are slow by the fraction
(k dx)²/24, at most 0.2 % here, which over a phase pd of up to 2π/0.6 changes R and T by less than 0.3 %.
"""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    PML,
    Bloch,
    Block,
    DrudePole,
    Flux,
    GaussianPulse,
    LorentzPole,
    Medium,
    Simulation,
    Source,
)
from evenly.fdtd.media.geometry import GeometricObject

Array = NDArray[Any]
RESOLUTION, LENGTH = 40, 5.0
FREQUENCIES = np.linspace(0.42, 0.58, 9)
INF = math.inf


def analytic(medium: Medium, d: float, frequencies: Array, k: float, *, electric: bool) -> tuple[Array, Array]:
    """Return R and T of a layer; `electric` when E lies along it, else H does."""
    found = []
    for f in frequencies:
        epsilon, mu = complex(medium.epsilon_at(f)[0, 0]), complex(medium.mu_at(f)[0, 0])
        q, p = (2 * math.pi * cmath.sqrt(s * f * f - k * k) for s in (1, epsilon * mu))
        y = p / ((mu if electric else epsilon) * q)
        t = 1 / (cmath.cos(p * d) - 0.5j * (y + 1 / y) * cmath.sin(p * d))
        r = 0.5j * (1 / y - y) * cmath.sin(p * d) * t
        found.append((abs(r) ** 2, abs(t) ** 2))
    reflected, transmitted = np.array(found).T
    return reflected, transmitted


def measured(
    cell: tuple[float, float, float], things: list[GeometricObject], sources: list[Source], k: Any, until: float
) -> tuple[Array, Array]:
    """Return R and T of things between z = ±0.7 by a run without and a run with them."""
    size = (cell[0], cell[1], 0.0)
    runs, incident = [], None
    for geometry in ([], things):
        sim = Simulation(
            cell=cell,
            resolution=RESOLUTION,
            geometry=geometry,
            sources=sources,
            boundaries=[PML(1.2, axis="z"), *([Bloch("xy"[: sum(s > 0 for s in size)], k=k)] if max(size) else [])],
        )
        back = sim.add(Flux((0, 0, -0.8), size, FREQUENCIES, direction="-z"))
        onward = sim.add(Flux((0, 0, 0.8), size, FREQUENCIES))
        if incident is not None:
            back.add(incident, -1.0)
        sim.run(until=until)
        incident = back.data()
        runs.append((back.flux(), onward.flux()))
    (_, free), (reflected, transmitted) = runs
    return reflected / free, transmitted / free


def sheets(cell: tuple[float, float, float], k: Any, *, electric: bool) -> list[Source]:
    """Return currents that send a plane wave of transverse k, E (or else H) along the layer."""
    kx, ky = k[0], k[1]
    length = math.hypot(kx, ky)
    # Across the plane of incidence, horizontally.
    along = (-ky / length, kx / length) if length else (1.0, 0.0)
    pulse = GaussianPulse(0.5, fwidth=0.25)

    def profile(x: Any, y: Any, z: Any) -> Any:
        return np.exp(2j * math.pi * (kx * x + ky * y)) * (1 + 0 * z)

    return [
        Source(
            pulse,
            ("E" if electric else "H") + "xy"[axis],
            (0, 0, -1.1),
            (cell[0], cell[1], 0),
            amplitude=part,
            amplitude_function=profile if length else None,
        )
        for axis, part in enumerate(along)
        if part
    ]


SLOW = pytest.mark.slow


@pytest.mark.parametrize(
    ("angles", "electric"),
    [
        ((0, 0), True),
        pytest.param((25, 0), True, marks=SLOW),
        pytest.param((45, 0), False, marks=SLOW),
        pytest.param((60, 0), True, marks=SLOW),
        pytest.param((60, 0), False, marks=SLOW),
        pytest.param((50, 35), True, marks=SLOW),
        pytest.param((50, 35), False, marks=SLOW),
    ],
    ids=str,
)
def test_glass_at_an_angle(angles: tuple[float, float], electric: bool) -> None:
    theta, turn = (math.radians(a) for a in angles)
    # The angle is meant at the lowest frequency.
    k = FREQUENCIES[0] * math.sin(theta)
    vector = (k * math.cos(turn), k * math.sin(turn), 0.0)
    dx = 1 / RESOLUTION
    cell = (dx if k else 0.0, dx if turn else 0.0, LENGTH)
    # Neither face lies on the grid.
    medium, low, high = Medium(epsilon=4), -0.243, 0.271
    slab = Block(size=(INF, INF, high - low), center=(0, 0, (high + low) / 2), material=medium)
    found = measured(cell, [slab], sheets(cell, vector, electric=electric), vector, until=60)
    wanted = analytic(medium, high - low, FREQUENCIES, k, electric=electric)
    np.testing.assert_allclose(found, wanted, atol=0.005)


MEDIA = {
    "lorentz": (Medium(epsilon=1.5, electric_poles=[LorentzPole(0.5, 0.05, 1.0)]), 0.5),
    "two poles": (Medium(epsilon=2, electric_poles=[LorentzPole(0.45, 0.02, 0.3), LorentzPole(0.7, 0.1, 1.0)]), 0.52),
    "drude": (Medium(epsilon=2, electric_poles=[DrudePole(1.0, 0.05)]), 0.13),
    "conductor": (Medium(epsilon=3, electric_conductivity=1.0), 0.4),
    "magnetic": (Medium(epsilon=1.5, mu=2.5), 0.47),
    "magnetic lorentz": (Medium(epsilon=1.5, magnetic_poles=[LorentzPole(0.5, 0.1, 1.0)]), 0.5),
}


@pytest.mark.parametrize("name", MEDIA)
def test_media_of_all_kinds_at_normal_incidence(name: str) -> None:
    medium, d = MEDIA[name]
    slab = Block(size=(INF, INF, d), center=(0, 0, 0.013), material=medium)
    cell = (0.0, 0.0, LENGTH)
    found = measured(cell, [slab], sheets(cell, (0, 0), electric=True), (0, 0, 0), until=80)
    wanted = analytic(medium, d, FREQUENCIES, 0.0, electric=True)
    np.testing.assert_allclose(found, wanted, atol=0.005)


@pytest.mark.slow
@pytest.mark.parametrize(("name", "electric"), [("lorentz", True), ("lorentz", False), ("drude", False)])
def test_dispersive_media_at_an_angle(name: str, electric: bool) -> None:
    medium = MEDIA[name][0]
    # Poles are averaged to second order for fields along a face, to first for those across: faces on the grid.
    d = {"lorentz": 0.5, "drude": 0.15}[name]
    k = FREQUENCIES[0] * math.sin(math.radians(40))
    cell = (1 / RESOLUTION, 0.0, LENGTH)
    slab = Block(size=(INF, INF, d), center=(0, 0, 0.0), material=medium)
    found = measured(cell, [slab], sheets(cell, (k, 0), electric=electric), (k, 0, 0), until=80)
    wanted = analytic(medium, d, FREQUENCIES, k, electric=electric)
    np.testing.assert_allclose(found, wanted, atol=0.005)
