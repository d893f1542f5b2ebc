"""R + T + A = 1: what a lossy object takes from a wave is what the fields inside it say.

The energy balance of the scheme is exact for fields of one frequency: fluxes are its discrete Poynting vector and
`Absorption` its loss. What is left is round-off, how far the fields have died away and, in R and T, what absorbing
layers reflect. So pulses begin and end smoothly here (exp(-7²/2) is 2e-11), and monitors take every step.
"""

from __future__ import annotations

import math
from pathlib import Path
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    PML,
    Absorption,
    Block,
    Cylinder,
    DrudePole,
    Flux,
    GaussianPulse,
    LorentzPole,
    Medium,
    Simulation,
    Source,
)
from evenly.fdtd.monitors.monitor import MonitorData

Array = NDArray[Any]
FREQUENCIES = np.linspace(0.8, 1.2, 5)
PULSE = GaussianPulse(1.0, fwidth=2.0, cutoff=7)
THICKNESS = 0.5
MEDIA = {
    "conductor": Medium(epsilon=2.25, electric_conductivity=1.5),
    "Lorentz": Medium(epsilon=1.5, electric_poles=[LorentzPole(1.1, 0.2, 0.6)]),
    "Drude": Medium(epsilon=3.0, electric_poles=[DrudePole(1.2, 0.1)]),
    "magnetic": Medium(epsilon=1.5, mu=1.2, magnetic_poles=[LorentzPole(1.1, 0.2, 0.4)], magnetic_conductivity=0.5),
    "all at once": Medium(
        epsilon=2.0, electric_poles=[LorentzPole(1.1, 0.2, 0.6), DrudePole(0.8, 0.1)], electric_conductivity=0.3
    ),
}


def line(medium: Medium | None, resolution: int) -> tuple[Flux, Flux, Absorption]:
    """Return reflected and transmitted flux, and absorption, of a pulse that meets a slab."""
    slab = [Block(size=(1, 1, THICKNESS), material=medium)] if medium else []
    sim = Simulation(
        cell=(0, 0, 4),
        resolution=resolution,
        geometry=slab,
        sources=[Source(PULSE, "Ex", (0, 0, -0.9))],
        boundaries=[PML(1.0)],
    )
    before = sim.add(Flux((0, 0, -0.6), (0, 0, 0), FREQUENCIES, every=1))
    behind = sim.add(Flux((0, 0, 0.6), (0, 0, 0), FREQUENCIES, every=1))
    inside = sim.add(Absorption((0, 0, 0), (0, 0, 1.0), FREQUENCIES, magnetic=True, every=1))
    # The slowest to die is a Lorentz pole's ringing, exp(-π γ t): 1e-9 after 33.
    sim.run(until=PULSE.last_time + 35)
    return before, behind, inside


def shares(medium: Medium, resolution: int) -> tuple[Array, Array, Array]:
    """Return R, T and A."""
    incident, _, _ = line(None, resolution)
    before, behind, inside = line(medium, resolution)
    sent = incident.flux()
    before.add(incident.data(), -1.0)
    return -before.flux() / sent, behind.flux() / sent, inside.power() / sent


def analytic(medium: Medium) -> tuple[Array, Array, Array]:
    """Return R, T and A of the slab (M. Born and E. Wolf, Principles of Optics, sect. 1.6 and 14.4)."""
    found = []
    for frequency in FREQUENCIES:
        epsilon, mu = medium.epsilon_at(float(frequency))[0, 0], medium.mu_at(float(frequency))[0, 0]
        index, impedance = np.sqrt(epsilon * mu), np.sqrt(mu / epsilon)
        r = (impedance - 1) / (impedance + 1)
        turn = np.exp(2j * math.pi * frequency * index * THICKNESS)
        below = 1 - (r * turn) ** 2
        reflected, passed = abs(r * (1 - turn**2) / below) ** 2, abs((1 - r**2) * turn / below) ** 2
        found.append((reflected, passed, 1 - reflected - passed))
    r_all, t_all, a_all = np.transpose(found)
    return r_all, t_all, a_all


@pytest.mark.parametrize("name", MEDIA)
def test_reflected_transmitted_and_absorbed_add_up_to_one(name: str) -> None:
    coarse, fine = shares(MEDIA[name], 20), shares(MEDIA[name], 40)
    for r, t, a in (coarse, fine):
        # The layers send back up to 1e-7 of an amplitude, which interferes with the incident wave.
        np.testing.assert_allclose(r + t + a, 1, rtol=0, atol=2e-7)
    theory = analytic(MEDIA[name])
    assert np.abs(np.array(theory[2])).min() > 0.1
    # Second order: a quarter of the error at twice the resolution, and the rest beside it.
    wrong, less = (np.abs(np.array(found) - theory).max() for found in (coarse, fine))
    assert less < 5e-3
    assert less < 0.3 * wrong


def lossy_rod(component: str, resolution: int = 20) -> tuple[float, float]:
    """Return the power that leaves a line source beside a lossy rod less what goes out, and what the rod absorbs."""
    rod = Cylinder(
        radius=0.4,
        center=(0.31, 0.05, 0),
        material=Medium(epsilon=2.5, electric_poles=[LorentzPole(1.1, 0.3, 0.8)], electric_conductivity=1.0),
    )
    source = Source(PULSE, component, (-0.6, 0.1, 0))
    sim = Simulation(cell=(4.4, 4, 0), resolution=resolution, geometry=[rod], sources=[source], boundaries=[PML(1.0)])
    around = sim.add(Flux((0.3, 0, 0), (1.2, 1.4, 0), [1.0], every=1))
    inside = sim.add(Absorption((0.3, 0, 0), (1.2, 1.4, 0), [1.0], every=1))
    sim.run(until=PULSE.last_time + 30)
    return float(-around.flux()[0]), float(inside.power()[0])


def test_a_rod_absorbs_what_flows_into_it() -> None:
    # Along the rod E sees no interface at an angle, and the balance is exact.
    into, absorbed = lossy_rod("Ez")
    assert absorbed == pytest.approx(into, rel=1e-8)


def test_a_rod_absorbs_what_flows_into_it_across_its_surface() -> None:
    # Loss is kept per component: in the layer of surface points, what couples components is left out.
    into, absorbed = lossy_rod("Hz")
    into_fine, absorbed_fine = lossy_rod("Hz", 40)
    assert absorbed == pytest.approx(into, rel=3e-3)
    assert abs(absorbed_fine / into_fine - 1) < 0.4 * abs(absorbed / into - 1)


def test_absorption_is_saved_and_subtracted_like_any_monitor(tmp_path: Path) -> None:
    before, behind, inside = line(MEDIA["conductor"], 20)
    power = inside.power()
    inside.save(tmp_path / "inside.npz")
    inside.load_minus(tmp_path / "inside.npz")
    np.testing.assert_allclose(inside.power(), 0, atol=1e-20)
    inside.load(tmp_path / "inside.npz")
    np.testing.assert_allclose(inside.power(), power, rtol=1e-13)
    data = before.data()
    assert isinstance(data, MonitorData)
    np.testing.assert_allclose(before.flux() - behind.flux(), power, rtol=1e-9)
