"""A plane wave on a sphere against Mie's series: 2 % at 20 points per a, 13 per wavelength inside at the shortest."""

from __future__ import annotations

from dataclasses import dataclass
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    PML,
    Absorption,
    DftFields,
    Flux,
    GaussianPulse,
    LorentzPole,
    Medium,
    NearToFar,
    Periodic,
    Simulation,
    Source,
    Sphere,
    directions,
)
from tests.fdtd.physics.mie import Mie

Array = NDArray[Any]
RADIUS = 0.5
FREQUENCIES = np.array([0.4, 0.55, 0.7, 0.85, 1.0])
PULSE = GaussianPulse(0.7, fwidth=2.0)
GLASS = Medium(index=1.5)
LOSSY = Medium(epsilon=2.0, electric_poles=[LorentzPole(0.9, 0.2, 0.5)])
CROSS_SECTION = np.pi * RADIUS**2
COSINES, SHARES = np.polynomial.legendre.leggauss(12)
THETA, PHI = np.meshgrid(np.arccos(COSINES), np.arange(12) * np.pi / 6, indexing="ij")


@dataclass(frozen=True)
class Scattered:
    """Powers over the incident intensity and the sphere's cross-section, shape (n_frequencies,)."""

    scattered: Array
    absorbed: Array
    absorbed_by_flux: Array
    far: Array
    forward: Array
    pattern: Array


def monitors(resolution: int, sphere: Medium | None) -> tuple[Flux, NearToFar, Absorption, Flux, DftFields]:
    """Return monitors after a pulse Ex along z has passed."""
    size, layer = 2.6, 0.6
    sim = Simulation(
        cell=(size, size, size),
        resolution=resolution,
        geometry=[Sphere(radius=RADIUS, material=sphere)] if sphere else [],
        # Nothing varies along x and y in the incident wave, so it does not see the layers there.
        sources=[Source(PULSE, "Ex", (0, 0, layer + 0.05 - size / 2), size=(size, size, 0))],
        boundaries=[PML(layer), Periodic("xy")],
    )
    box = (1.15, 1.15, 1.15)
    found = (
        sim.add(Flux((0, 0, 0), box, FREQUENCIES)),
        sim.add(NearToFar((0, 0, 0), box, FREQUENCIES)),
        sim.add(Absorption((0, 0, 0), box, FREQUENCIES)),
        sim.add(Flux((0, 0, 0), (0.2, 0.2, 0), FREQUENCIES)),
        sim.add(DftFields("Ex", (0, 0, 0), (0, 0, 0), FREQUENCIES)),
    )
    sim.run(until=PULSE.last_time + 12)
    return found


def scattering(medium: Medium, resolution: int, folder: Path) -> Scattered:
    """Return what a sphere scatters: fields with it less those without it."""
    around, far, _, plane, middle = monitors(resolution, None)
    around.save(folder / "around.npz")
    far.save(folder / "far.npz")
    intensity = plane.flux() / 0.2**2
    incident = np.asarray(middle.field("Ex").values[:, 0, 0, 0], np.complex128)
    around, far, inside, _, _ = monitors(resolution, medium)
    unit = intensity * CROSS_SECTION
    absorbed = -around.flux() / unit
    around.load_minus(folder / "around.npz")
    far.load_minus(folder / "far.npz")
    pattern = far.pattern(directions(THETA.ravel(), PHI.ravel())).reshape(-1, *THETA.shape)
    ahead = far.far_amplitudes([[0, 0, 1]])[:, 0, 0] / incident
    return Scattered(
        around.flux() / unit,
        inside.power() / unit,
        absorbed,
        (pattern * SHARES[:, None]).sum(axis=(1, 2)) * np.pi / 6 / unit,
        # Optical theorem: 4π/k times the imaginary part of the amplitude straight ahead.
        2 / FREQUENCIES * ahead.imag / CROSS_SECTION,
        pattern / intensity[:, None, None],
    )


def series(medium: Medium) -> list[Mie]:
    """Return the theory at each frequency."""
    indices = [complex(medium.index_at(float(f))) for f in FREQUENCIES]
    return [Mie(m, 2 * np.pi * f * RADIUS) for m, f in zip(indices, FREQUENCIES, strict=True)]


def test_the_series_conserves_energy_and_has_its_limits() -> None:
    for x in (0.3, 1.0, 4.0):
        lossless = Mie(1.5, x)
        assert lossless.scattering == pytest.approx(lossless.extinction, rel=1e-12)
        total = (lossless.differential(THETA, PHI) * SHARES[:, None]).sum() * np.pi / 6
        assert total == pytest.approx(lossless.scattering * np.pi * x**2, rel=1e-6)
    # Rayleigh's small sphere.
    assert Mie(1.5, 0.01).scattering == pytest.approx(8 / 3 * 1e-8 * (1.25 / 4.25) ** 2, rel=1e-3)


@pytest.mark.slow
def test_a_glass_sphere_scatters_as_mie_says(tmp_path: Path) -> None:
    theory = series(GLASS)
    expected = np.array([mie.scattering for mie in theory])
    fine, coarse = (scattering(GLASS, resolution, tmp_path) for resolution in (20, 15))
    np.testing.assert_allclose(fine.scattered, expected, rtol=0.02)
    np.testing.assert_allclose(fine.far, expected, rtol=0.02)
    np.testing.assert_allclose(fine.forward, expected, rtol=0.03)
    np.testing.assert_allclose(fine.absorbed_by_flux, 0, atol=2e-3 * expected.max())
    np.testing.assert_array_equal(fine.absorbed, 0)
    # Second order would be (3/4)² = 0.56.
    wrong, less = (np.abs(found.scattered / expected - 1).max() for found in (coarse, fine))
    assert less < 0.7 * wrong
    for n, mie in enumerate(theory):
        pattern = mie.differential(THETA, PHI) / (2 * np.pi * FREQUENCIES[n]) ** 2
        assert np.abs(fine.pattern[n] - pattern).max() < 0.03 * pattern.max()


@pytest.mark.slow
def test_a_lossy_dispersive_sphere_scatters_and_absorbs_as_mie_says(tmp_path: Path) -> None:
    theory = series(LOSSY)
    found = scattering(LOSSY, 20, tmp_path)
    expected = np.array([mie.scattering for mie in theory])
    extinct = np.array([mie.extinction for mie in theory])
    np.testing.assert_allclose(found.scattered, expected, rtol=0.02)
    np.testing.assert_allclose(found.far, expected, rtol=0.02)
    np.testing.assert_allclose(found.absorbed_by_flux, extinct - expected, rtol=0.025)
    np.testing.assert_allclose(found.absorbed, found.absorbed_by_flux, rtol=0.01)
    np.testing.assert_allclose(found.forward, extinct, rtol=0.02)
