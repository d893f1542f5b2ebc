"""The fields of every linear medium are those of the same scheme written independently, to round-off."""

from __future__ import annotations

import numpy as np
import pytest

from evenly.fdtd import (
    Bloch,
    Block,
    DrudePole,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Simulation,
    Sphere,
    vacuum,
)
from evenly.fdtd.cell.boundaries import Boundary
from evenly.fdtd.media.geometry import GeometricObject
from tests.fdtd.physics.reference import Reference, fields, random_fields

SLANTED = Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.3, 0.2, -0.4))
MAGNETIC = Medium(mu=(2, 1.5, 1.7), mu_off_diagonal=(0.3, 0.2, -0.1))
POLES = (LorentzPole(0.5, 0.1, 2.0), DrudePole(0.7, 0.05, (1.0, 2.0, 0.0)))
MEDIA = {
    "electric": SLANTED,
    "magnetic": MAGNETIC,
    "lossy": Medium(
        epsilon=(2, 3, 4),
        epsilon_off_diagonal=(0.3, 0.2, -0.4),
        mu=2,
        electric_conductivity=(0.5, 1, 50),
        magnetic_conductivity=0.7,
    ),
    "dispersive": Medium(epsilon=2, electric_poles=POLES, magnetic_poles=[LorentzPole(0.6, 0.1, 1.5)]),
    "all at once": Medium(
        epsilon=(2, 3, 4),
        epsilon_off_diagonal=(0.3, 0.2, -0.4),
        mu=(2, 1.5, 1.7),
        mu_off_diagonal=(0.3, 0.2, -0.1),
        electric_poles=POLES,
        magnetic_poles=[LorentzPole(0.6, 0.1, 1.5)],
        electric_conductivity=0.3,
        magnetic_conductivity=(0.1, 0.2, 0.3),
    ),
}
CELLS = [(0.8, 0.7, 0.6), (0.8, 0, 0.6), (0.8, 0.7, 0), (0, 0.7, 0.6), (0, 0, 0.8), (0.8, 0, 0)]
WALLS = ("metal", "periodic", "bloch", "mixed")


def boundaries(kind: str, cell: tuple[float, float, float]) -> list[Boundary]:
    k = [c and v for c, v in zip(cell, (0.3, 0.2, -0.4), strict=True)]
    if kind == "mixed":
        return [Bloch("x", k=(k[0], 0, 0)), Periodic("y")]
    if kind == "bloch":
        return [Bloch("xyz", k=(k[0], k[1], k[2]))]
    return [Periodic("xyz")] if kind == "periodic" else []


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("name", MEDIA)
def test_steps_equal_those_of_sparse_matrices(name: str, walls: str) -> None:
    for cell in CELLS:
        for uniform in (True, False):
            compare(MEDIA[name], cell, walls, uniform=uniform)


@pytest.mark.parametrize("cell", CELLS)
def test_poles_of_media_that_touch_see_the_same_field(cell: tuple[float, float, float]) -> None:
    """Where an interface passes through a point's box the poles of both media act there."""
    media = [
        Medium(epsilon=2, electric_poles=[LorentzPole(f, 0.0, s)], magnetic_poles=[LorentzPole(f, 0.1, 2 * s)])
        for f, s in ((0.5, 1.0), (0.8, 2.0), (0.6, 0.5))
    ]
    things: list[GeometricObject] = [
        Sphere(radius=0.3, center=(0.05, 0.02, -0.03), material=media[0]),
        Sphere(radius=0.21, center=(0.12, 0.1, -0.1), material=media[1]),
        Block(
            size=(0.3, 0.25, 0.2),
            center=(-0.15, -0.1, 0.12),
            axes=((1, 1, 0), (-1, 1, 0), (0, 0, 1)),
            material=media[2],
        ),
    ]
    check(Simulation(cell=cell, resolution=10, geometry=things, options=Options(courant=0.3)))


def compare(medium: Medium, cell: tuple[float, float, float], walls: str, *, uniform: bool) -> None:
    things = [
        Sphere(radius=0.28, center=(0.05, 0.02, -0.03), material=medium),
        Block(size=(0.3, 0.25, 0.2), center=(-0.25, -0.2, 0.2), material=Medium(index=3.5)),
    ]
    sim = Simulation(
        cell=cell,
        resolution=10,
        geometry=[] if uniform else things,
        material=medium if uniform else vacuum,
        boundaries=boundaries(walls, cell),
        options=Options(courant=0.3),
    )
    check(sim)


def check(sim: Simulation) -> None:
    reference = Reference(sim)
    e, h = random_fields(sim, 1, reference)
    for _ in range(12):
        e, h = reference.step(e, h)
        sim.step()
    # 12 steps of some 20 operations each, round-off 1.1e-16 of the largest value each time.
    for kind, values in (("E", e), ("H", h)):
        wrong = np.abs(fields(sim, kind) - values)
        assert wrong.max() < 12 * 20 * 1.1e-16 * np.abs(values).max(), (kind, sim.grid.size)
