"""Waves in media of second and third order, to the first order in the nonlinearity, on the grid's own dispersion.

All in one dimension, in a medium that fills the cell, so that nothing is reflected. A wave Re A exp(-iωt) makes the
nonlinear polarisation's parts (3/4) χ3 |A|² A at ω, ¼ χ3 A³ at 3ω and ½ χ2 A² at 2ω at each grid point exactly: D is a
function of E at the same point and time.
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import PML, Block, ContinuousWave, LorentzPole, Medium, Periodic, Simulation, Source
from tests.fdtd.physics.waves import lock_in, permittivity, response_to_sheet, wave_number

Array = NDArray[Any]
EPSILON = 2.25
RESOLUTION = 40
LENGTH = 8.0
# The wave is on after 10 and has crossed the cell another 8 · 1.5 later.
SETTLED = 25.0
FIRST, LAST = 100, 220


def wave(chi3: float, amplitude: float = 1.0, turn: complex | None = None) -> tuple[Array, Simulation]:
    """Return the amplitudes of Ex and Ey along z of a wave of frequency 1; Ey is `turn` times Ex."""
    pulse = ContinuousWave(1.0, width=10)
    currents = {"Ex": amplitude} | ({} if turn is None else {"Ey": amplitude * turn})
    sim = Simulation(
        cell=(0, 0, LENGTH),
        resolution=RESOLUTION,
        material=Medium(epsilon=EPSILON, chi3=chi3),
        sources=[Source(pulse, name, (0, 0, -2.5), amplitude=value) for name, value in currents.items()],
        boundaries=[PML(1.0)],
    )
    return lock_in(sim, ["Ex", "Ey"], [1.0], SETTLED)[:, 0], sim


def phase(fields: Array, reference: Array) -> float:
    """Return the phase that Ex gains from point FIRST to LAST, over that of a reference."""
    gained, usual = (f[0, LAST] / f[0, FIRST] for f in (fields, reference))
    return float(np.angle(gained / usual))


def shift(sim: Simulation, change: float) -> float:
    """Return the phase that a change of ε adds from FIRST to LAST, with the grid's dispersion."""
    more, usual = (wave_number(epsilon, 1.0, sim.grid).real for epsilon in (EPSILON + change, EPSILON))
    return (more - usual) * (LAST - FIRST) * sim.grid.dx


def test_phase_of_a_kerr_medium_grows_with_intensity() -> None:
    linear, sim = wave(0.0)
    square = abs(linear[0, FIRST]) ** 2
    chi3 = 1e-5 / square
    for amplitude in (1.0, 2.0, 4.0):
        strength = 1e-5 * amplitude**2
        fields, _ = wave(chi3, amplitude)
        # The third harmonic grows to about 5 χ3 A² of the wave over the 3 a between the points and acts back.
        expected = shift(sim, 0.75 * strength)
        assert phase(fields, linear) == pytest.approx(expected, rel=1e-4 + 5 * strength)


@pytest.mark.parametrize(("turn", "own", "other"), [(1.0, 1.25, 0.25), (1j, 1.25, -0.25)])
def test_both_polarisations_share_the_intensity(turn: complex, own: float, other: float) -> None:
    # |E|² Ex of Ex = A cos and Ey = A cos (A sin): the fundamental is (3/4 + 1/2 ± 1/4) A³, the last term from the
    # part of Ey² at 2ω. What two solutions leave of the first guess is (2 χ3 A²)² of it, far below the tolerance.
    linear, sim = wave(0.0, turn=turn)
    strength = 1e-4
    fields, _ = wave(strength / abs(linear[0, FIRST]) ** 2, turn=turn)
    assert phase(fields, linear) == pytest.approx(shift(sim, (own + other) * strength), rel=10 * strength)


@pytest.mark.slow
@pytest.mark.parametrize("turn", [1, 1j])
def test_waves_of_both_polarisations_keep_their_energy(turn: complex) -> None:
    # E is a function of D at the same time, so the scheme has a conserved energy near the true one. A memory of earlier
    # steps made circular waves grow 2·10⁴-fold in 400 a/c. What is left of it goes as (χ3 |E|²)² per step; the third
    # harmonic of the linear wave takes and gives back up to 1 %.
    sim = Simulation(
        cell=(0, 0, 2), resolution=20, material=Medium(epsilon=2.25, chi3=0.05), boundaries=[Periodic("z")]
    )
    grid, chunk, k = sim.grid, sim.chunks[0], 2 * math.pi
    omega = 2 * math.asin(grid.courant * math.sin(k * grid.dx / 2) / 1.5) / grid.dt
    electric = np.exp(1j * k * grid.coordinates("Ex", 2, 0, grid.shape[2]))
    magnetic = 1.5 * np.exp(1j * (k * grid.coordinates("Hy", 2, 0, grid.shape[2]) - omega * grid.dt / 2))
    for component, values in {"Ex": electric, "Hy": magnetic, "Ey": turn * electric, "Hx": -turn * magnetic}.items():
        chunk.view(component, 0, chunk.box)[...] = values.real
    sim.stepper.refresh()
    squares = []
    for begin in (5, 200):
        sim.run(until=begin, progress="off")
        mean = 0.0
        for _ in range(120):
            sim.step()
            mean += sum(float((sim.field(component) ** 2).mean()) for component in ("Ex", "Ey"))
        squares.append(mean)
    assert squares[1] == pytest.approx(squares[0], rel=0.015)


def harmonic(medium: Medium, frequency: float, order: int, length: float) -> tuple[Array, Array, Simulation]:
    """Return the harmonic of a wave along z, and what coupled modes make it, with a nonlinear slab in a linear medium.

    The slab is centred; its ends lie between grid points. What the linear medium has at the harmonic's frequency (the
    tail of the wave's turning on) is subtracted.
    """
    found = []
    linear = Medium(epsilon=medium.epsilon, electric_poles=medium.electric_poles)
    for inside in (linear, medium):
        sim = Simulation(
            cell=(0, 0, 10),
            resolution=RESOLUTION,
            material=linear,
            geometry=[Block(size=(1, 1, length), material=inside)],
            sources=[Source(ContinuousWave(frequency, width=20), "Ex", (0, 0, -3.75))],
            boundaries=[PML(1.0)],
        )
        found.append(lock_in(sim, ["Ex"], [frequency, order * frequency], 50.0)[0])
    grid = sim.grid
    z = grid.coordinates("Ex", 2, 0, grid.shape[2])
    driver = found[0][0] ** order * (np.abs(z) < length / 2)
    driver = driver * (medium.chi2[0] / 2 if order == 2 else medium.chi3[0] / 4)  # type: ignore[index]
    epsilon = permittivity(linear, order * frequency, grid)
    k = wave_number(epsilon, order * frequency, grid)
    spread = response_to_sheet(epsilon, order * frequency, grid) * np.exp(1j * k * np.abs(z[:, None] - z[None, :]))
    return found[1][1] - found[0][1], spread @ driver, sim


# Waves at 0.5 and 1 differ in index by 0.19: 2π/Δk, after which the second harmonic is gone again, is 5.3 long.
DISPERSIVE = Medium(epsilon=2.0, electric_poles=[LorentzPole(1.3, 0.0, 0.5)], chi2=1e-3)


@pytest.mark.parametrize("length", [1.325, 2.625, 5.325])
def test_second_harmonic_grows_and_dies_with_the_phase_mismatch(length: float) -> None:
    seen, expected, sim = harmonic(DISPERSIVE, 0.5, 2, length)
    grid = sim.grid
    behind, largest = slice(310, 350), np.abs(expected).max()
    # Second-order terms are of the size (k χ2 A L)² ~ (5 · 1e-3 · 0.3 · 5)² of the wave, far below.
    np.testing.assert_allclose(seen[60:340], expected[60:340], rtol=0, atol=1e-3 * largest)

    k1, k2 = (wave_number(permittivity(DISPERSIVE, f, grid), f, grid).real for f in (0.5, 1.0))
    points = round(length * RESOLUTION)
    # Σ exp(iΔk z) over the slab's points is the grid's sinc(Δk L/2).
    mismatch = (2 * k1 - k2) * grid.dx / 2
    coherence = abs(math.sin(points * mismatch) / math.sin(mismatch))
    linear = abs(response_to_sheet(permittivity(DISPERSIVE, 0.5, grid), 0.5, grid)) * RESOLUTION / math.pi
    growth = abs(response_to_sheet(permittivity(DISPERSIVE, 1.0, grid), 1.0, grid)) * coherence
    # A sheet current J is a polarisation J/(-iΩ) (Ω = π) over one spacing.
    amplitude = linear**2 * 1e-3 / 2 * growth
    assert np.abs(seen[behind]).mean() == pytest.approx(amplitude, rel=5e-3, abs=2e-3 * largest)


def test_third_harmonic_follows_coupled_modes() -> None:
    medium = Medium(epsilon=EPSILON, chi3=1e-3)
    seen, expected, _ = harmonic(medium, 0.5, 3, 3.025)
    # The strong wave adds 1.5 χ3 |A|² to the harmonic's ε (A² = 0.11), which turns its phase by k L/2ε of that: 1.6e-3.
    np.testing.assert_allclose(seen[60:340], expected[60:340], rtol=0, atol=2e-3 * np.abs(expected).max())


def test_no_harmonic_where_symmetry_forbids_it() -> None:
    """χ3 makes no even harmonic; what is left is round-off and the tail of turning on."""
    sim = Simulation(
        cell=(0, 0, LENGTH),
        resolution=RESOLUTION,
        material=Medium(epsilon=EPSILON, chi3=1e-2),
        sources=[Source(ContinuousWave(0.5, width=20), "Ex", (0, 0, -2.5))],
        boundaries=[PML(1.0)],
    )
    first, second, third = np.abs(lock_in(sim, ["Ex"], [0.5, 1.0, 1.5], 40.0)[0][:, LAST])
    assert second < 1e-6 * first
    assert third > 1e-3 * first
