"""Maxwell's equations are the same with E and H exchanged, and so is the program, to round-off.

With H' = E, E' = -H, ε' = μ, μ' = ε, K' = J, J' = -K the equations are unchanged. On the grid the dual lives half a
spacing further along each axis and half a time step later, so objects, sources and pulses are moved by as much.
"""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import (
    Bloch,
    Block,
    DrudePole,
    GaussianPulse,
    LorentzPole,
    Medium,
    Periodic,
    Simulation,
    Source,
    Sphere,
)
from evenly.fdtd.cell.boundaries import Boundary
from evenly.fdtd.cell.grid import ELECTRIC, MAGNETIC

Array = NDArray[Any]
RESOLUTION = 10
POLES = (LorentzPole(0.8, 0.1, (1.0, 0.5, 2.0)), DrudePole(0.5, 0.05, 0.7))
MEDIA = {
    "scalar": Medium(epsilon=4, mu=1.5),
    "anisotropic": Medium(
        epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5), mu=(1, 1.5, 1.2), mu_off_diagonal=(0.1, 0.2, -0.3)
    ),
    "conducting": Medium(epsilon=(2, 3, 2), electric_conductivity=(0.5, 1.0, 2.0), magnetic_conductivity=0.2),
    "dispersive": Medium(epsilon=2, electric_poles=POLES, magnetic_poles=[LorentzPole(0.6, 0.2, 0.8)]),
    "all at once": Medium(
        epsilon=(2, 3, 4),
        epsilon_off_diagonal=(0.6, -0.4, 0.5),
        electric_poles=POLES,
        electric_conductivity=0.3,
        mu=1.4,
    ),
}
WALLS: dict[str, list[Boundary]] = {"periodic": [Periodic("xyz")], "bloch": [Bloch("xyz", k=(0.3, -0.2, 0.4))]}


def dual(medium: Medium) -> Medium:
    return Medium(
        epsilon=medium.mu,
        epsilon_off_diagonal=medium.mu_off_diagonal,
        mu=medium.epsilon,
        mu_off_diagonal=medium.epsilon_off_diagonal,
        electric_poles=medium.magnetic_poles,
        magnetic_poles=medium.electric_poles,
        electric_conductivity=medium.magnetic_conductivity,
        magnetic_conductivity=medium.electric_conductivity,
    )


def build(medium: Medium, walls: list[Boundary], *, dually: bool) -> Simulation:
    half = 0.5 / RESOLUTION if dually else 0.0
    # A few steps late: the pulse begins with a jump of 4e-6, which must not fall between the two's first steps.
    later = (3.1 + (0.5 if dually else 0.0)) * 0.5 / RESOLUTION
    turned = dual if dually else (lambda m: m)
    pulse = GaussianPulse(1.0, fwidth=0.8, start=later)
    things = [
        Sphere(radius=0.213, center=(0.05 + half, 0.021 + half, -0.032 + half), material=turned(medium)),
        Block(
            size=(0.217, 0.223, 0.187),
            center=(-0.211 + half, -0.182 + half, 0.147 + half),
            material=turned(Medium(epsilon=6)),
        ),
    ]
    sources = []
    for component, place, amplitude in (("Ex", (0.11, -0.17, 0.05), 1.0), ("Hy", (-0.13, 0.12, 0.02), 0.7j)):
        if dually:
            amplitude = amplitude if component[0] == "E" else -amplitude
            component = ("H" if component[0] == "E" else "E") + component[1]
        x, y, z = (p + half for p in place)
        sources.append(Source(pulse, component, (x, y, z), amplitude=amplitude))
    return Simulation(cell=(0.9, 0.8, 0.7), resolution=RESOLUTION, geometry=things, sources=sources, boundaries=walls)


def turn(sim: Simulation, axis: int) -> complex:
    return sim.layers.phases[axis] or 1.0


def shifted(sim: Simulation, values: Array, axes: list[int]) -> Array:
    """Return what sits one point further along some axes, around the end."""
    for axis in axes:
        first = np.take(values, [0], axis) * (turn(sim, axis) if sim.parts == 2 else turn(sim, axis).real)
        values = np.concatenate([np.take(values, range(1, values.shape[axis]), axis), first], axis)
    return values


@pytest.mark.parametrize("walls", WALLS)
@pytest.mark.parametrize("name", MEDIA)
def test_a_dual_problem_has_dual_fields(name: str, walls: str) -> None:
    plain, other = (build(MEDIA[name], WALLS[walls], dually=d) for d in (False, True))
    for _ in range(120):
        plain.step()
        other.step()
    later = {name: other.field(name) for name in MAGNETIC}
    other.step()
    largest = max(np.abs(plain.field(name)).max() for name in ELECTRIC)
    assert largest > 0.1
    for axis, (e, h) in enumerate(zip(ELECTRIC, MAGNETIC, strict=True)):
        across = [a for a in range(3) if a != axis]
        # 120 steps of some 30 operations; interfaces moved by half a spacing change ε by a few times 1e-13.
        tolerance = {"rtol": 0, "atol": 1e-11 * largest}
        # E of the plain one is half a spacing before H of the other along its axis: the same index less one.
        np.testing.assert_allclose(shifted(other, later[h], [axis]), plain.field(e), **tolerance)
        np.testing.assert_allclose(shifted(other, other.field(e), across), -plain.field(h), **tolerance)
