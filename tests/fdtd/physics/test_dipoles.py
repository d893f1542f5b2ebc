"""Power and far fields of dipoles: in the open, in a medium, before a mirror; in three and two dimensions.

In the convention of the monitors (transforms of real fields, no factor ½) a current moment of spectrum j, half of the
pulse's, radiates n ω² |j|²/6π in a medium of index n (J. D. Jackson, Classical Electrodynamics, sect. 9.2), and a line
current ω |j|²/4 per length, ω |j|²/8 if it oscillates across the line.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import PML, DftFields, Flux, GaussianPulse, Medium, NearToFar, Simulation, Source, directions

Array = NDArray[Any]
FREQUENCIES = np.linspace(0.8, 1.2, 5)
PULSE = GaussianPulse(1.0, fwidth=2.0)
OMEGA = 2 * np.pi * FREQUENCIES
MOMENT = np.abs(PULSE.spectrum(FREQUENCIES) / 2) ** 2
FREE = OMEGA**2 * MOMENT / (6 * np.pi)
THETA, PHI = (angles.ravel() for angles in np.meshgrid(np.linspace(0, np.pi, 13), np.arange(8) * np.pi / 4))


def dipole(
    component: str, resolution: int, index: float = 1.0, center: tuple[float, float, float] = (0.0, 0.0, 0.0)
) -> tuple[Flux, NearToFar]:
    """Return monitors around a dipole in a box 0.8 wide."""
    sim = Simulation(
        cell=(2, 2, 2),
        resolution=resolution,
        material=Medium(index=index),
        sources=[Source(PULSE, component, center)],
        boundaries=[PML(0.5)],
    )
    around = sim.add(Flux((0, 0, 0), (0.8, 0.8, 0.8), FREQUENCIES))
    far = sim.add(NearToFar((0, 0, 0), (0.8, 0.8, 0.8), FREQUENCIES, epsilon=index**2))
    sim.run(until=PULSE.last_time + 4 * index)
    return around, far


def wrong_by(seen: Array, expected: Array) -> float:
    """Return the largest deviation over the largest value, over all frequencies."""
    return float((np.abs(seen - expected).max(axis=-1) / np.abs(expected).max(axis=-1)).max())


def test_dipole_radiates_its_power_as_the_square_of_the_sine() -> None:
    ideal = FREE[:, None] * 3 / (8 * np.pi) * np.sin(THETA) ** 2
    power, pattern = [], []
    for resolution in (12, 24):
        around, far = dipole("Ez", resolution)
        power.append(float(np.abs(around.flux() / FREE - 1).max()))
        pattern.append(wrong_by(far.pattern(directions(THETA, PHI)), ideal))
    # (k dx)² is 0.4 at 12 points per a at 1.2: the power is wrong by 1/20 of that, then by a quarter of it.
    # The pattern feels how far the wave's phase is wrong across the box, too: k (k dx)²/24 · 0.8.
    assert power[1] < 0.006
    assert pattern[1] < 0.012
    assert power[1] < 0.3 * power[0]
    assert pattern[1] < 0.3 * pattern[0]


@pytest.mark.parametrize("component", ["Ex", "Hy"])
def test_a_dipole_anywhere_in_the_box_has_the_same_pattern(component: str) -> None:
    # Between grid points: spread linearly, whose mean square width dx²/6 per axis takes (k dx)²/6 of what interferes.
    around, far = dipole(component, 20, center=(0.11, 0.05, -0.13))
    towards = directions(THETA, PHI)
    axis = "xyz".index(component[1])
    ideal = FREE[:, None] * 3 / (8 * np.pi) * (1 - towards[:, axis] ** 2)
    assert wrong_by(far.pattern(towards), ideal) < 0.03
    np.testing.assert_allclose(around.flux(), FREE, rtol=0.03)
    # A dipole off the centre: far amplitudes turn by exp(-i k·r) and point along the dipole's transverse part.
    moved = far.far_amplitudes(towards)
    steady = moved * np.exp(1j * OMEGA[:, None] * (towards @ np.array([0.11, 0.05, -0.13])))[:, :, None]
    unit = np.eye(3)[axis]
    shape = np.cross(towards, unit) if component[0] == "H" else unit - towards * towards[:, [axis]]
    strength = (steady * shape).sum(axis=-1) / np.maximum((shape * shape).sum(axis=-1), 1e-9)
    broad = (shape * shape).sum(axis=-1) > 0.1
    mean = strength[:, broad].mean(axis=1, keepdims=True)
    assert np.abs(strength[:, broad] / mean - 1).max() < 0.03


def test_a_medium_of_index_n_takes_n_times_the_power() -> None:
    around, far = dipole("Ez", 24, index=1.5)
    # As in vacuum with the wavelength in the medium: (1.5)² times the error.
    np.testing.assert_allclose(around.flux(), 1.5 * FREE, rtol=0.018)
    # The far field adds up waves of the exact k, which the grid's miss by k (k dx)²/24: 0.08 across the box at 1.2.
    ideal = 1.5 * FREE[:, None] * 3 / (8 * np.pi) * np.sin(THETA) ** 2
    pattern = far.pattern(directions(THETA, PHI))
    assert wrong_by(pattern, ideal) < 0.08
    assert wrong_by(pattern[:2], ideal[:2]) < 0.02


def enhancement(component: str, height: float) -> Array:
    """Return the power before a perfect mirror across z over that in the open (image dipole)."""
    x = 2 * OMEGA * height
    if component == "Ez":
        return 1 - 3 * (np.cos(x) / x**2 - np.sin(x) / x**3)
    return 1 - 1.5 * (np.sin(x) / x + np.cos(x) / x**2 - np.sin(x) / x**3)


@pytest.mark.parametrize(("component", "height"), [("Ex", 0.1), ("Ex", 0.3), ("Ez", 0.125), ("Ez", 0.325)])
def test_a_mirror_changes_the_power_of_a_dipole(component: str, height: float) -> None:
    sim = Simulation(
        cell=(2, 2, 1.2),
        resolution=20,
        sources=[Source(PULSE, component, (0.0, 0.0, height - 0.6))],
        boundaries=[PML(0.5, "x"), PML(0.5, "y"), PML(0.5, "z", "high")],
    )
    # Down to the wall, through which nothing flows.
    around = sim.add(Flux((0, 0, -0.35), (0.8, 0.8, 0.5), FREQUENCIES))
    sim.run(until=PULSE.last_time + 4)
    np.testing.assert_allclose(around.by_face()["-z"], 0, atol=1e-15)
    expected = enhancement(component, height)
    # (k dx)² is 0.14 at 1.2; 1/20 of that in the open (test above), and the image's phase k h (k dx)²/12.
    np.testing.assert_allclose(around.flux() / FREE, expected, rtol=0, atol=0.03)
    assert np.ptp(expected) > 0.1


@pytest.mark.parametrize(("component", "power"), [("Ez", 1 / 4), ("Hz", 1 / 4), ("Ex", 1 / 8), ("Hy", 1 / 8)])
def test_line_currents_in_two_dimensions(component: str, power: float) -> None:
    sim = Simulation(
        cell=(2.4, 2.4, 0),
        resolution=40,
        sources=[Source(PULSE, component, (0.0, 0.0, 0.0))],
        boundaries=[PML(0.6)],
    )
    around = sim.add(Flux((0, 0, 0), (1, 1, 0), FREQUENCIES))
    far = sim.add(NearToFar((0, 0, 0), (1, 1, 0), FREQUENCIES))
    outside = sim.add(DftFields([component], (0.45, 0.55, 0), (0, 0, 0), FREQUENCIES))
    sim.run(until=PULSE.last_time + 10)
    # (k dx)²/20 is 0.2 % at 40 points and 1.2; sources along x and y lie between two points of E or H, (k dx)²/8 off.
    np.testing.assert_allclose(around.flux(), power * OMEGA * MOMENT, rtol=0.006)
    phi = np.linspace(0, 2 * np.pi, 16, endpoint=False)
    shape = {"x": 2 * np.sin(phi) ** 2, "y": 2 * np.cos(phi) ** 2, "z": np.ones(16)}[component[1]]
    ideal = (power * OMEGA * MOMENT)[:, None] / (2 * np.pi) * shape
    assert wrong_by(far.pattern(directions(np.pi / 2, phi)), ideal) < 0.015
    # Just outside the surface the transformed fields are those of the simulation.
    near = far.fields([[0.45, 0.55, 0]])[:, 0, ["Ex", "Ey", "Ez", "Hx", "Hy", "Hz"].index(component)]
    seen = np.asarray(outside.field(component).values[:, 0, 0, 0], np.complex128)
    np.testing.assert_allclose(near, seen, rtol=0, atol=0.015 * np.abs(seen).max())


def test_two_line_currents_interfere() -> None:
    half = 0.25
    sim = Simulation(
        cell=(2.4, 2.4, 0),
        resolution=40,
        sources=[Source(PULSE, "Ez", (x, 0.0, 0.0), amplitude=sign) for x, sign in ((-half, 1.0), (half, -1.0))],
        boundaries=[PML(0.6)],
    )
    far = sim.add(NearToFar((0, 0, 0), (1, 1, 0), FREQUENCIES))
    sim.run(until=PULSE.last_time + 10)
    phi = np.linspace(0, 2 * np.pi, 24, endpoint=False)
    single = OMEGA[:, None] * MOMENT[:, None] / (8 * math.pi)
    ideal = 4 * single * np.sin(OMEGA[:, None] * half * np.cos(phi)) ** 2
    assert wrong_by(far.pattern(directions(np.pi / 2, phi)), ideal) < 0.015
