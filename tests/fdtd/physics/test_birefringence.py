"""Waves of two polarisations in anisotropic media: their phases, and axes turned against the grid's."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray
from scipy.special import hankel1

from evenly.fdtd import (
    PML,
    Block,
    ContinuousWave,
    DftFields,
    GaussianPulse,
    LorentzPole,
    Medium,
    Simulation,
    Source,
)
from tests.fdtd.physics.waves import lock_in, permittivity, wave_number

Array = NDArray[Any]
RESOLUTION = 40
ORDINARY, EXTRAORDINARY = 2.25, 2.89
UNIAXIAL = Medium(epsilon=(ORDINARY, EXTRAORDINARY, ORDINARY))
DISPERSIVE = Medium(epsilon=1.5, electric_poles=[LorentzPole(1.6, 0.05, (0.4, 0.9, 0.0))])


def turned(diagonal: tuple[float, float, float], angle: float, plane: str) -> Medium:
    """Return a medium whose principal axes are turned by an angle from the first to the second axis of a plane."""
    i, j = ("xyz".index(axis) for axis in plane)
    turn = np.eye(3)
    turn[i, i] = turn[j, j] = math.cos(angle)
    turn[j, i], turn[i, j] = math.sin(angle), -math.sin(angle)
    m = turn @ np.diag(diagonal) @ turn.T
    return Medium(epsilon=(m[0, 0], m[1, 1], m[2, 2]), epsilon_off_diagonal=(m[0, 1], m[0, 2], m[1, 2]))


def along_z(
    medium: Medium, currents: dict[str, float], components: tuple[str, ...], thickness: float | None = None
) -> tuple[Array, Simulation]:
    """Return amplitudes along z of a wave of frequency 1 in a medium that fills the cell, or through a slab of it."""
    pulse = ContinuousWave(1.0, width=10)
    sim = Simulation(
        cell=(0, 0, 6),
        resolution=RESOLUTION,
        material=Medium() if thickness else medium,
        geometry=[Block(size=(1, 1, thickness), material=medium)] if thickness else [],
        sources=[Source(pulse, name, (0, 0, -1.75), amplitude=value) for name, value in currents.items()],
        boundaries=[PML(1.0)],
    )
    # On after 10, through after 10 more; a slab's echoes lose 9/10 of their amplitude per round trip of 2.
    return lock_in(sim, components, [1.0], 40.0 if thickness else 25.0)[:, 0], sim


@pytest.mark.parametrize("medium", [UNIAXIAL, DISPERSIVE])
def test_two_polarisations_run_with_their_own_index(medium: Medium) -> None:
    fields, sim = along_z(medium, {"Ex": 1.0, "Ey": 1.0}, ("Ex", "Ey"))
    first, last = 80, 160
    for axis in range(2):
        epsilon = permittivity(medium, 1.0, sim.grid, axis)
        expected = cmath.exp(1j * wave_number(epsilon, 1.0, sim.grid) * (last - first) * sim.grid.dx)
        # What is left is the layers' reflection and, of a pole, the tail of turning on.
        assert abs(fields[axis, last] / fields[axis, first] - expected) < 5e-5
    turned_by = np.angle(fields[1, last] / fields[1, first] * np.conj(fields[0, last] / fields[0, first]))
    indices = [np.sqrt(medium.epsilon_at(1.0)[axis, axis]).real for axis in range(2)]
    retarded = 2 * math.pi * (indices[1] - indices[0]) * (last - first) / RESOLUTION
    # The grid makes k larger by up to (k dx)²/24 of it: 0.3 %, of both polarisations nearly alike.
    assert math.remainder(turned_by - retarded, 2 * math.pi) == pytest.approx(0, abs=0.05)


def transmission(epsilon: float, thickness: float) -> complex:
    """Return the amplitude behind a slab in vacuum over that without it, at frequency 1."""
    index = math.sqrt(epsilon)
    r, turn = (1 - index) / (1 + index), cmath.exp(2j * math.pi * index * thickness)
    return (1 - r * r) * turn / (1 - (r * turn) ** 2) * cmath.exp(-2j * math.pi * thickness)


def test_a_uniaxial_slab_retards_one_polarisation() -> None:
    currents, components = {"Ex": 1.0, "Ey": 1.0}, ("Ex", "Ey")
    free, _ = along_z(Medium(), currents, components)
    fields, sim = along_z(UNIAXIAL, currents, components, 1.0)
    behind = 180
    for axis, epsilon in enumerate((ORDINARY, EXTRAORDINARY)):
        passed = fields[axis, behind] / free[axis, behind]
        # The grid's k inside is larger by (n² - 1/4) k0³ dx²/24 n: phases of 0.01 and 0.02 over the slab.
        assert abs(passed - transmission(epsilon, 1.0)) < 0.03
        grid_index = wave_number(epsilon, 1.0, sim.grid).real / wave_number(1.0, 1.0, sim.grid).real
        assert abs(passed - transmission(grid_index**2, 1.0)) < 0.005


@pytest.mark.parametrize("angle", [0.3, -1.1])
def test_an_axis_turned_across_the_wave_is_the_same_seen_from_a_turned_frame(angle: float) -> None:
    straight, _ = along_z(UNIAXIAL, {"Ex": 0.7, "Ey": -0.4}, ("Ex", "Ey"), 1.0)
    x, y = (
        math.cos(angle) * 0.7 + math.sin(angle) * 0.4,
        math.sin(angle) * 0.7 - math.cos(angle) * 0.4,
    )
    tilted = turned((ORDINARY, EXTRAORDINARY, ORDINARY), angle, "xy")
    fields, _ = along_z(tilted, {"Ex": x, "Ey": y}, ("Ex", "Ey"), 1.0)
    back = np.array([[math.cos(angle), math.sin(angle)], [-math.sin(angle), math.cos(angle)]]) @ fields
    # All components of one z lie at one point, so that a turned frame changes nothing: round-off.
    np.testing.assert_allclose(back, straight, rtol=0, atol=1e-12)


@pytest.mark.parametrize("angle", [0.5, 2.2])
def test_an_axis_turned_along_the_wave_gives_its_extraordinary_index_and_a_field_along_it(angle: float) -> None:
    tilted = turned((ORDINARY, ORDINARY, EXTRAORDINARY), angle, "xz")
    fields, sim = along_z(tilted, {"Ex": 1.0}, ("Ex", "Ez"))
    inverse = np.linalg.inv(tilted.epsilon_matrix)
    first, last = 80, 160
    k = wave_number(1 / inverse[0, 0], 1.0, sim.grid)
    extraordinary = math.cos(angle) ** 2 / ORDINARY + math.sin(angle) ** 2 / EXTRAORDINARY
    assert inverse[0, 0] == pytest.approx(extraordinary)
    assert abs(fields[0, last] / fields[0, first] - cmath.exp(1j * k * (last - first) * sim.grid.dx)) < 1e-6
    # D has no part along z, so E_z = (ε^-1)_zx D_x, taken as the mean of D_x half a spacing below and above.
    expected = inverse[2, 0] / inverse[0, 0] * cmath.exp(0.5j * k * sim.grid.dx) * cmath.cos(k * sim.grid.dx / 2)
    np.testing.assert_allclose(fields[1, first:last] / fields[0, first:last], expected, rtol=1e-6)


def ring_of_fields(medium: Medium, resolution: int) -> tuple[Array, Array]:
    """Return Hz around a magnetic line current, over the current, and the places; frequency 1, two dimensions."""
    pulse = GaussianPulse(1.0, fwidth=1.5)
    sim = Simulation(
        cell=(4, 4, 0),
        resolution=resolution,
        material=medium,
        sources=[Source(pulse, "Hz", (0.5 / resolution, 0.5 / resolution, 0))],
        boundaries=[PML(0.8)],
    )
    monitor = sim.add(DftFields(["Hz"], (0, 0, 0), (2.2, 2.2, 0), [1.0]))
    sim.run(until=pulse.last_time + 12)
    found = monitor.field("Hz")
    places = np.stack(np.meshgrid(found.x, found.y, indexing="ij")) - 0.5 / resolution
    away = np.hypot(*places)
    keep = (away > 0.6) & (away < 1.05)
    return found.values[0, :, :, 0][keep] / (pulse.spectrum([1.0])[0] / 2), places[:, keep]


def line_current(diagonal: tuple[float, float], angle: float, places: Array) -> Array:
    """Return the field of a magnetic line current 1 in a medium of axes turned by an angle.

    With u, v along the axes, ∂u(∂u Hz/ε_v) + ∂v(∂v Hz/ε_u) + ω² Hz = -iω K, which is Helmholtz's equation in
    (u sqrt(ε_v), v sqrt(ε_u)): Hz = -ω sqrt(ε_u ε_v)/4 · H0(ω sqrt(ε_v u² + ε_u v²)) K.
    """
    u = math.cos(angle) * places[0] + math.sin(angle) * places[1]
    v = -math.sin(angle) * places[0] + math.cos(angle) * places[1]
    omega = 2 * math.pi
    far = np.sqrt(diagonal[1] * u * u + diagonal[0] * v * v)
    return np.asarray(-omega * math.sqrt(diagonal[0] * diagonal[1]) / 4 * hankel1(0, omega * far))


@pytest.mark.parametrize("angle", [0.0, 0.4, math.pi / 4])
def test_waves_around_a_source_follow_the_turned_axes(angle: float) -> None:
    diagonal = (1.5, 2.5)
    errors = []
    for resolution in (20, 40):
        seen, places = ring_of_fields(turned((*diagonal, 1.0), angle, "xy"), resolution)
        expected = line_current(diagonal, angle, places)
        errors.append(float(np.linalg.norm(seen - expected) / np.linalg.norm(expected)))
    # The phase after a distance 1 is wrong by k (k dx)²/24 at most, 0.004 at 40 points (k = 10); then second order.
    assert errors[1] < 0.02
    assert errors[1] < 0.3 * errors[0]
