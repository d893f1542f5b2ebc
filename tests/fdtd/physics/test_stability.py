"""Runs of thousands of steps don't blow up, lossy media decay as they should, and float32 keeps its digits."""

from __future__ import annotations

import math
from dataclasses import replace
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.fdtd import (
    PML,
    Absorber,
    Bloch,
    Block,
    DrudePole,
    GaussianPulse,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Simulation,
    Source,
    Sphere,
)
from evenly.fdtd.cell.boundaries import Boundary
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.media.geometry import GeometricObject
from evenly.fdtd.media.stability import largest_courant
from tests.fdtd.physics.reference import fields, give

Array = NDArray[Any]


def random_medium(rng: np.random.Generator) -> Medium:
    """Any linear medium whose matrices are positive definite."""

    def matrix() -> tuple[tuple[float, float, float], tuple[float, float, float]]:
        turn = np.linalg.qr(rng.normal(size=(3, 3)))[0]
        m = turn @ np.diag(rng.uniform(1, 6, 3)) @ turn.T
        return (m[0, 0], m[1, 1], m[2, 2]), (m[0, 1], m[0, 2], m[1, 2])

    def poles() -> list[LorentzPole | DrudePole]:
        lorentz = LorentzPole(rng.uniform(0.3, 1), rng.choice([0.0, 0.05]), tuple(rng.uniform(0, 2, 3)))
        drude = DrudePole(rng.uniform(0.2, 0.8), rng.choice([0.0, 0.1]), rng.uniform(0.1, 1))
        return [p for p in (lorentz, drude) if rng.random() < 0.6]

    (epsilon, epsilon_off), (mu, mu_off) = matrix(), matrix()
    magnetic = rng.random() < 0.5
    return Medium(
        epsilon=epsilon,
        epsilon_off_diagonal=epsilon_off,
        mu=mu if magnetic else 1.0,
        mu_off_diagonal=mu_off if magnetic else (0.0, 0.0, 0.0),
        electric_poles=poles(),
        magnetic_poles=poles() if magnetic else (),
        electric_conductivity=rng.choice([0.0, 0.3]),
        magnetic_conductivity=rng.choice([0.0, 0.2]),
    )


def random_scene(seed: int) -> list[GeometricObject]:
    """Objects that overlap each other and reach into the layers."""
    rng = np.random.default_rng(seed)
    things: list[GeometricObject] = []
    for i in range(6):
        center = rng.uniform(-0.5, 0.5, 3)
        if i % 2:
            axes = np.linalg.qr(rng.normal(size=(3, 3)))[0].T
            things.append(Block(size=rng.uniform(0.2, 0.8, 3), center=center, axes=axes, material=random_medium(rng)))
        else:
            things.append(Sphere(radius=rng.uniform(0.1, 0.3), center=center, material=random_medium(rng)))
    return things


def size(sim: Simulation) -> float:
    return max(float(np.abs(sim.field(name)).max()) for name in COMPONENTS)


def excite(sim: Simulation, seed: int) -> None:
    """Give noise of all wavelengths the grid has, which finds anything that grows."""
    rng = np.random.default_rng(seed)
    for kind in "EH":
        give(sim, kind, rng.normal(size=3 * math.prod(sim.grid.shape)))


SIDES: dict[str, list[Boundary]] = {
    "layers": [PML(0.3)],
    "layer and absorber": [PML(0.3, axis="x"), Absorber(0.3, axis="y"), Periodic("z")],
    "absorbers": [Absorber(0.3)],
    "walls": [],
}


def damped(medium: Medium) -> Medium:
    """Return a medium without the waves that any PML amplifies.

    These are waves whose phase runs against their energy, as on surfaces of lossless metals and between a pole's
    frequency and that where ε is 0 (E. Bécache, P. Joly, V. Vinoles, Math. Comp. 87, 1775 (2018)).
    """
    poles = [replace(p, gamma=0.2) for p in medium.electric_poles if isinstance(p, LorentzPole)]
    return replace(medium, electric_poles=poles, magnetic_poles=())


@pytest.mark.slow
@pytest.mark.parametrize(("cell", "seed"), [((1.2, 1.1, 0), 1), ((1.0, 0.9, 0.8), 2)], ids=["2d", "3d"])
@pytest.mark.parametrize("sides", SIDES)
def test_nothing_grows(sides: str, cell: Any, seed: int) -> None:
    layers = [layer for layer in SIDES[sides] if not (isinstance(layer, Periodic) and not cell[2])]
    things = random_scene(seed)
    if "layer" in sides:
        things = [replace(thing, material=damped(thing.material)) for thing in things]  # type: ignore[arg-type]
    steps = 2000 if cell[2] else 5000
    sim = Simulation(cell=cell, resolution=10, geometry=things, boundaries=layers)
    excite(sim, seed)
    for _ in range(200):
        sim.step()
    early = size(sim)
    for _ in range(steps - 200):
        sim.step()
    # What noise leaves behind for ever, such as charges, may gather at one of 1000 points by chance; an instability
    # multiplies again and again.
    assert size(sim) < 5 * early


def test_the_largest_allowed_time_step_is_stable() -> None:
    """Just below the limit that the check allows, in a dispersive medium, for the shortest waves."""
    medium = Medium(epsilon=1, electric_poles=[LorentzPole(1.0, 0.0, 2.0), DrudePole(1.5)])
    cell = (0.8, 0.8, 0.8)
    limit = largest_courant(medium, Simulation(cell=cell, resolution=10).grid)
    with pytest.raises(InputError, match="courant"):
        Simulation(cell=cell, resolution=10, material=medium, options=Options(courant=1.001 * limit))
    sim = Simulation(
        cell=cell,
        resolution=10,
        material=medium,
        boundaries=[Periodic("xyz")],
        options=Options(courant=0.9999 * limit),
    )
    excite(sim, 0)
    for _ in range(2000):
        sim.step()
    # Near the limit the energy's smallest eigenvalue is 1 - 0.9999² of the usual one: amplitudes of up to 70 times.
    assert size(sim) < 70 * 6


def test_above_the_limit_fields_do_grow() -> None:
    """The limit is sharp: 0.1 % more, by a grid that knows nothing of the medium, is too much."""
    medium = Medium(epsilon=1, electric_poles=[LorentzPole(1.0, 0.0, 2.0), DrudePole(1.5)])
    grid = Simulation(cell=(0.8, 0.8, 0.8), resolution=10).grid
    dt = 1.001 * largest_courant(medium, grid) * grid.dx
    # One wave of the shortest length in all directions: curl curl = 12/dx².
    e, h, p = 1.0, 0.0, dict.fromkeys(medium.electric_poles, (0.0, 0.0))
    for _ in range(2000):
        gained = 0.0
        for pole, (now, before) in p.items():
            spring = (2 * math.pi * pole.frequency * dt) ** 2
            new = 2 * now - before + spring * pole.strength[0] * e
            new -= spring * now if isinstance(pole, LorentzPole) else 0.0
            gained += new - now
            p[pole] = (new, now)
        e = e + dt * math.sqrt(12) / grid.dx * h - gained
        h = h - dt * math.sqrt(12) / grid.dx * e
    assert abs(e) > 1e6


def test_a_conductor_forgets_its_field_as_it_should() -> None:
    """A uniform E in a periodic cell has no curl: E(n) = ((1 - s)/(1 + s))ⁿ E(0), s = σ dt/2; exp(-σt) in the limit."""
    sigma = (0.3, 1.0, 25.0)
    medium = Medium(epsilon=(2, 3, 4), electric_conductivity=sigma, mu=1.5, magnetic_conductivity=(2.0, 0.1, 0.5))
    sim = Simulation(cell=(0.4, 0.3, 0.2), resolution=10, material=medium, boundaries=[Periodic("xyz")])
    for kind in "EH":
        give(sim, kind, np.ones(3 * 24))
    for _ in range(100):
        sim.step()
    dt = sim.grid.dt
    for kind, rates in (("E", sigma), ("H", (2.0, 0.1, 0.5))):
        s = np.repeat(rates, 24) * dt / 2
        np.testing.assert_allclose(fields(sim, kind), ((1 - s) / (1 + s)) ** 100, rtol=1e-12, atol=1e-200)
    # (1 - s)/(1 + s) = exp(-σ dt) (1 - (σ dt)³/12 …)
    assert sim.field("Ex")[0, 0, 0] == pytest.approx(math.exp(-0.3 * 100 * dt), rel=100 * (0.3 * dt) ** 3 / 10)


def test_a_wave_in_a_conductor_decays_at_the_rate_of_its_wave_number() -> None:
    """Standing waves of one k: ω² + iσω = k²/ε, so E decays as exp(-σt/2) and oscillates at sqrt(k²/ε - σ²/4)."""
    epsilon, sigma = 2.0, 0.4
    sim = Simulation(
        cell=(0, 0, 1.0),
        resolution=40,
        material=Medium(epsilon=epsilon, electric_conductivity=sigma),
        boundaries=[Periodic("xyz")],
    )
    z = sim.grid.coordinates("Ex", 2, 0, 40)
    shape = np.cos(2 * math.pi * z)
    give(sim, "E", np.concatenate([shape, 0 * z, 0 * z]))
    sim.run(until=5.0)
    amplitude = sim.field("Ex")[0, 0] @ shape / (shape @ shape)
    k = 2 * sim.grid.resolution * math.sin(math.pi / sim.grid.resolution)
    omega = math.sqrt(k**2 / epsilon - sigma**2 / 4)
    # H is 0 at dt/2, not at 0: E(0) = 1 and Ė(0) = -σ - k² dt/2ε to first order.
    start, slope = 1.0, -sigma + k**2 * sim.grid.dt / 2 / epsilon
    wanted = math.exp(-sigma * 2.5) * (
        start * math.cos(omega * 5) + (slope + start * sigma / 2) / omega * math.sin(omega * 5)
    )
    assert amplitude == pytest.approx(wanted, abs=math.exp(-sigma * 2.5) * 5 * omega**3 * sim.grid.dt**2 / 12)


@pytest.mark.parametrize("sides", ["layer and absorber", "walls"])
def test_single_precision_keeps_six_digits(sides: str) -> None:
    """Round-off of 6e-8 of the largest field, at random in each of some 20 operations of 400 steps."""
    found = []
    for precision in ("float64", "float32"):
        source = Source(GaussianPulse(1.0, fwidth=1.0), "Ez", (0.05, 0.02, 0.01))
        sim = Simulation(
            cell=(1.0, 0.9, 0.8),
            resolution=10,
            geometry=random_scene(5),
            sources=[source],
            boundaries=SIDES[sides],
            options=Options(precision=precision),
        )
        largest = 0.0
        for _ in range(300):
            sim.step()
            if sim.step_count % 20 == 0:
                largest = max(largest, size(sim))
        found.append(np.concatenate([sim.field(name).ravel() for name in COMPONENTS]).astype(float))
    assert largest > 0.01
    assert np.abs(found[1] - found[0]).max() < 6e-8 * math.sqrt(20 * 400) * largest


def test_single_precision_of_complex_fields() -> None:
    found = []
    for precision in ("float64", "float32"):
        source = Source(GaussianPulse(1.0, fwidth=1.0), "Ez", (0.05, 0.02, 0))
        sim = Simulation(
            cell=(1.0, 0.9, 0),
            resolution=10,
            geometry=random_scene(5),
            sources=[source],
            boundaries=[Bloch("xy", k=(0.3, 0.2, 0))],
            options=Options(precision=precision),
        )
        sim.run(until=20)
        found.append(np.stack([sim.field(name) for name in COMPONENTS]))
    assert np.abs(found[1] - found[0]).max() < 6e-8 * math.sqrt(20 * 400) * np.abs(found[0]).max()
