"""Energy of closed lossless cells: the discrete one, which leapfrog keeps exactly, for thousands of steps.

With ∂E = dt ξ curl H and ∂H = -dt ζ curl E, ξ and ζ symmetric, the scheme keeps

    W = ½ <E(n), ξ⁻¹ E(n)> + ½ <H(n-½), ζ⁻¹ H(n+½)>

for the two steps exchange <E(n), curl H(n+½)> and <curl E(n), H(n+½)>, which are equal. With a lossless pole,
J(n+½) = (P(n+1) - P(n))/dt obeys J(n+½) - J(n-½) = dt ω0² (σ E(n) - P(n)), and ½ <P, P/σ> + ½ <J(n-½), J(n+½)/(ω0² σ)>
is added (the first term for a Lorentz pole alone).
"""

from __future__ import annotations

import math
from collections.abc import Sequence
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    Bloch,
    Block,
    Cylinder,
    DrudePole,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Simulation,
    Sphere,
)
from evenly.fdtd.cell.boundaries import Boundary
from evenly.fdtd.media.geometry import GeometricObject
from evenly.fdtd.media.materials import Pole
from tests.fdtd.physics.reference import Reference, fields, random_fields

Array = NDArray[Any]
CRYSTAL = Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5))
FERRITE = Medium(epsilon=2.5, mu=(2, 1.5, 1.7), mu_off_diagonal=(0.3, 0.4, -0.2))
BOTH = Medium(
    epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5), mu=(2, 1.5, 1.7), mu_off_diagonal=(0.3, 0.4, -0.2)
)
GLASS = Medium(epsilon=12)
SHAPES: list[GeometricObject] = [
    Sphere(radius=0.31, center=(0.05, 0.02, -0.03), material=CRYSTAL),
    Cylinder(radius=0.15, height=0.5, axis=(1, 2, 3), center=(0.2, 0.1, 0.1), material=FERRITE),
    Block(size=(0.3, 0.25, 0.2), center=(-0.25, -0.2, 0.2), material=GLASS),
    Sphere(radius=0.12, center=(-0.2, 0.2, -0.1), material=BOTH),
]


class Pool:
    """One kind of pole, driven by the field it is given: what it holds and what moves in it."""

    def __init__(self, pole: Pole, strength: Array, dt: float) -> None:
        self.there = strength > 0
        self.bound = isinstance(pole, LorentzPole)
        self.square, self.strength, self.dt = (2 * math.pi * pole.frequency) ** 2, strength, dt
        self.p, self.slow, self.fast = (np.zeros(strength.shape, complex) for _ in range(3))

    def drive(self, field: Array) -> None:
        """Go on by one step: P follows J, then J follows the field."""
        self.p = self.p + self.dt * self.fast
        pull = self.p if self.bound else 0.0
        self.slow, self.fast = self.fast, self.fast + self.dt * self.square * (self.strength * field - pull)

    def energy(self) -> float:
        """What is stored at the field's time."""
        s = self.strength[self.there]
        moving = np.vdot(self.slow[self.there], self.fast[self.there] / s).real / self.square
        held = np.vdot(self.p[self.there], self.p[self.there] / s).real if self.bound else 0.0
        return float(moving + held) / 2


def energies(sim: Simulation, steps: int, seed: int = 0) -> Array:
    """Return the energy after each step (the first one only starts the leapfrog)."""
    reference = Reference(sim)
    e, h = random_fields(sim, seed, reference)
    to_d, to_b = reference.stored("E"), reference.stored("H")
    pools = [Pool(pole, s, sim.grid.dt) for pole, s in reference.e.strengths.items()]
    for pool in pools:
        # Before the first step P is 0 at n and n - 1: J(-½) = 0, and the pull at n = 0 is E's alone.
        pool.fast = sim.grid.dt * pool.square * pool.strength * e
    found = []
    for _ in range(steps):
        sim.step()
        e, before, h = fields(sim, "E"), h, fields(sim, "H")
        for pool in pools:
            pool.drive(e)
        found.append((np.vdot(e, to_d(e)) + np.vdot(before, to_b(h))).real / 2 + sum(pool.energy() for pool in pools))
    return np.array(found)


def check(sim: Simulation, steps: int) -> None:
    found = energies(sim, steps)
    assert found[0] > 1
    # Each step rounds some 50 numbers per point by 1.1e-16 at random; the walk of the sum over n points and `steps`
    # steps grows as their square root, relative to a sum of n: √steps · 10 · 1.1e-16, and a factor of 10 for luck.
    assert np.abs(found / found[0] - 1).max() < 10 * math.sqrt(steps) * 10 * 1.1e-16


WALLS: dict[str, Sequence[Boundary]] = {
    "metal": [],
    "periodic": [Periodic("xyz")],
    "mixed": [Periodic("x")],
    "bloch": [Bloch("xyz", k=(0.2, -0.3, 0.4))],
}


@pytest.mark.parametrize("walls", WALLS)
def test_curved_anisotropic_objects_keep_energy(walls: str) -> None:
    sim = Simulation(cell=(0.9, 0.8, 0.7), resolution=10, geometry=SHAPES, boundaries=WALLS[walls])
    check(sim, 1000)


@pytest.mark.parametrize("medium", [CRYSTAL, FERRITE, BOTH, GLASS], ids=["electric", "magnetic", "both", "scalar"])
@pytest.mark.parametrize("cell", [(0.7, 0.8, 0), (0.8, 0, 0), (0.6, 0.7, 0.5)])
def test_uniform_media_keep_energy(medium: Medium, cell: Any) -> None:
    check(Simulation(cell=cell, resolution=10, material=medium), 1000)


@pytest.mark.parametrize("subpixel", [True, False])
def test_energy_is_kept_with_and_without_averaging(subpixel: bool) -> None:
    sim = Simulation(cell=(0.9, 0.8, 0.7), resolution=10, geometry=SHAPES, options=Options(subpixel=subpixel))
    check(sim, 500)


def test_long_runs_keep_energy() -> None:
    sim = Simulation(cell=(0.9, 0.8, 0), resolution=10, geometry=SHAPES)
    check(sim, 5000)


POLED = Medium(
    epsilon=2,
    electric_poles=[LorentzPole(0.5, 0.0, 2.0), LorentzPole(0.9, 0.0, (1.0, 0.0, 2.0)), DrudePole(0.7, 0.0)],
)
POLED_CRYSTAL = Medium(
    epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5), electric_poles=[LorentzPole(0.5, 0.0, 1.5)]
)


@pytest.mark.parametrize("medium", [POLED, POLED_CRYSTAL], ids=["scalar", "crystal"])
@pytest.mark.parametrize("walls", ["metal", "bloch"])
def test_lossless_poles_keep_energy(medium: Medium, walls: str) -> None:
    ball = Sphere(radius=0.31, center=(0.05, 0.02, -0.03), material=medium)
    check(Simulation(cell=(0.9, 0.8, 0.7), resolution=10, geometry=[ball], boundaries=WALLS[walls]), 1000)
