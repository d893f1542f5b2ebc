"""Plane waves: at an angle by a Bloch phase, of a chirped pulse, and transformed with and without leaving out steps."""

from __future__ import annotations

import cmath
import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    PML,
    Absorption,
    Bloch,
    Block,
    CustomPulse,
    DftFields,
    DrudePole,
    Energy,
    Flux,
    GaussianPulse,
    LorentzPole,
    Medium,
    NearToFar,
    Simulation,
    Source,
    Sphere,
)
from tests.fdtd.physics.waves import angular

Array = NDArray[Any]


@pytest.mark.parametrize(("component", "index"), [("Ez", 1.0), ("Hz", 1.0), ("Ez", 1.5)])
@pytest.mark.parametrize("degrees", [20.0, -50.0])
def test_a_sheet_of_phases_sends_a_wave_at_its_angle(component: str, index: float, degrees: float) -> None:
    """Current exp(2πi kx x) on a line: E (H) = -ω/(2 ky) exp(i (kx x + ky |y|)) with the scheme's ω and k."""
    kx = index * math.sin(math.radians(degrees))
    pulse = GaussianPulse(1.0, fwidth=0.45)
    sim = Simulation(
        cell=(1, 4, 0),
        resolution=30,
        material=Medium(index=index),
        sources=[
            Source(
                pulse, component, (0, -0.6, 0), size=(1, 0, 0),
                amplitude_function=lambda x, y, z: np.exp(2j * np.pi * kx * x) + 0 * y * z,
            )
        ],
        boundaries=[Bloch("x", k=(kx, 0, 0)), PML(1.0, "y")],
    )  # fmt: skip
    monitor = sim.add(DftFields([component], (0, 0.2, 0), (1, 1.2, 0), [1.0]))
    # Waves of frequencies just above kx/n run along x and hardly leave, so the pulse has next to nothing there.
    sim.run(until=pulse.last_time + 40)
    found = monitor.field(component)
    grid = sim.grid
    across = 2 * math.sin(math.pi * kx * grid.dx) / grid.dx
    along = cmath.sqrt((index * angular(1.0, grid)) ** 2 - across**2)
    ky = 2 * cmath.asin(along * grid.dx / 2) / grid.dx
    # The sheet may lie between two rows of points: the mean of two waves.
    offset = (grid.index(-0.6, 1, component) % 1) * grid.dx
    sheet = cmath.cos(ky * offset) if offset else 1.0
    size = 1.0 if component[0] == "E" else index**2
    strength = -size * angular(1.0, grid) * grid.dx / (2 * cmath.sin(ky * grid.dx)) * sheet * pulse.spectrum([1.0])[0]
    expected = strength * np.exp(2j * np.pi * kx * found.x[:, None] + 1j * ky * (found.y + 0.6))
    error = np.abs(np.asarray(found.values)[0, :, :, 0] - expected).max() / np.abs(expected).max()
    # Left: how far the pulse has died away, and the layers' reflection at 50 degrees.
    assert error < 1e-3


def test_a_chirped_pulse_has_its_spectrum() -> None:
    """Frequency rising from 0.7 to 1.3 under a Gaussian envelope; a sheet J sends out E = -J/2."""

    def chirp(time: float) -> complex:
        since = time - 15.0
        return cmath.exp(-0.5 * (since / 3) ** 2 - 2j * math.pi * (since + 0.02 * since**2))

    frequencies = np.linspace(0.75, 1.25, 6)
    pulse = CustomPulse(chirp, end=30.0, frequency=1.0, fwidth=2.0)
    errors = []
    for resolution in (20, 40):
        sim = Simulation(
            cell=(0, 0, 5), resolution=resolution, sources=[Source(pulse, "Ex", (0, 0, -1))], boundaries=[PML(1.0)]
        )
        monitor = sim.add(DftFields("Ex", (0, 0, 1), (0, 0, 0), frequencies))
        sim.run(until=40)
        seen = np.asarray(monitor.field("Ex").values)[:, 0, 0, 0]
        expected = -pulse.spectrum(frequencies) / 4 * np.exp(2j * np.pi * frequencies * 2.0)
        errors.append(float(np.abs(seen / expected - 1).max()))
    # The grid delays the phase over the distance 2 by k (k dx)²/24 · (1 - ¼) · 2: 0.02 at 40 points and 1.25.
    assert errors[1] < 0.025
    assert errors[1] < 0.27 * errors[0]
    assert np.abs(pulse.spectrum(frequencies)).min() > 0.1 * np.abs(pulse.spectrum(frequencies)).max()


def test_leaving_out_steps_changes_nothing_within_the_band() -> None:
    pulse = GaussianPulse(1.0, fwidth=1.0)
    metal = Medium(epsilon=2, electric_poles=[DrudePole(1.5, 0.2), LorentzPole(1.2, 0.1, 0.5)])
    sim = Simulation(
        cell=(2, 2, 2),
        resolution=12,
        geometry=[Sphere(radius=0.25, material=metal), Block(size=(0.2, 0.2, 0.2), material=Medium(epsilon=3))],
        sources=[Source(pulse, "Ex", (0.1, 0.0, -0.45))],
        boundaries=[PML(0.4)],
    )
    frequencies, box = [0.9, 1.0, 1.1], (0.8, 0.8, 0.6)
    pairs = [
        (
            sim.add(Flux((0, 0, 0), box, frequencies, every=every)),
            sim.add(NearToFar((0, 0, 0), (1.1, 1.1, 1.1), frequencies, every=every)),
            sim.add(Energy((0, 0, 0), box, frequencies, every=every)),
            sim.add(Absorption((0, 0, 0), box, frequencies, every=every)),
        )
        for every in (None, 1)
    ]
    # An end before the metal's ringing has died would be a step, which has all frequencies.
    sim.run(until=pulse.last_time + 40)
    few, all_steps = ([m.flux(), m2.pattern([[0, 0, 1], [1, 1, 0]]), m3.total(), m4.power()] for m, m2, m3, m4 in pairs)
    for some, every_one in zip(few, all_steps, strict=True):
        # The source's band ends where it has 1e-6 of its peak, and its pulse is cut off at exp(-5²/2) = 4e-6 of it.
        np.testing.assert_allclose(some, every_one, rtol=0, atol=1e-5 * np.abs(every_one).max())
    assert pairs[0][0].patches[0].phases.every >= 6 > pairs[1][0].patches[0].phases.every == 1
