"""Plane waves keep to the scheme's own dispersion relation, and Bloch cells to their phases, to round-off.

On the Yee grid a wave exp(i k·r) has each derivative replaced by i k̃, k̃ = 2 sin(k dx/2)/dx, and ∂/∂t by -i ω̃,
ω̃ = 2 sin(ω dt/2)/dt (A. Taflove and S. C. Hagness, Computational Electrodynamics, 3rd ed., 2005, section 4.2). So with
K = k̃ × the fields obey ω̃ E = -ξ K H and ω̃ H = ζ K E. Off-diagonal elements, averaged between edges and nodes, are
ξ_ab cos(k_a dx/2) cos(k_b dx/2).
"""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest
from numpy.typing import NDArray

from evenly.fdtd import Bloch, Grid, Medium, Options, Simulation, vacuum
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS
from evenly.fdtd.stepping.chunk import Chunk
from tests.fdtd.physics.reference import fields, give

Array = NDArray[Any]
STEPS = 200
MEDIA = {
    "vacuum": vacuum,
    "glass": Medium(epsilon=2.25, mu=1.3),
    "uniaxial": Medium(epsilon=(2, 2, 4)),
    "crystal": Medium(epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5)),
    "ferrite": Medium(epsilon=2, mu=(2, 1.5, 1.7), mu_off_diagonal=(0.3, 0.4, -0.2)),
    "both": Medium(
        epsilon=(2, 3, 4), epsilon_off_diagonal=(0.6, -0.4, 0.5), mu=(2, 1.5, 1.7), mu_off_diagonal=(0.3, 0.4, -0.2)
    ),
}


def seen(inverse: Array, k: Array, dx: float) -> Array:
    """What a wave sees of ξ or ζ."""
    cos = np.cos(k * dx / 2)
    return np.where(np.eye(3) > 0, inverse, inverse * np.outer(cos, cos))


def mode(medium: Medium, k: Array, grid: Grid, which: int) -> tuple[float, Array, Array]:
    """Return ω dt and the amplitudes of E and H of one of the two waves."""
    kx, ky, kz = 2 * np.sin(k * grid.dx / 2) / grid.dx
    cross = np.array([[0, -kz, ky], [kz, 0, -kx], [-ky, kx, 0]])
    xi, zeta = (seen(np.linalg.inv(m), k, grid.dx) for m in (medium.epsilon_matrix, medium.mu_matrix))
    squares, vectors = np.linalg.eig(-xi @ cross @ zeta @ cross)
    chosen = np.argsort(squares.real)[1 + which]
    e, speed = vectors[:, chosen].real, math.sqrt(squares[chosen].real)
    return 2 * math.asin(speed * grid.dt / 2), e, zeta @ cross @ e / speed


def wave(grid: Grid, k: Array, names: tuple[str, ...], amplitudes: Array) -> Array:
    waves = []
    for name, amplitude in zip(names, amplitudes, strict=True):
        phase = sum(a * b for a, b in zip(k, grid.points(name, grid.box), strict=True))
        waves.append(amplitude * np.broadcast_to(np.exp(1j * np.asarray(phase)), grid.shape).ravel())
    return np.concatenate(waves)


@pytest.mark.parametrize("which", [0, 1])
@pytest.mark.parametrize("cell", [(0.5, 0.6, 0.4), (0.5, 0, 0.6), (0, 0.6, 0), (0.6, 0.5, 0)])
@pytest.mark.parametrize("name", MEDIA)
def test_plane_waves_follow_the_grids_dispersion(name: str, cell: Any, which: int) -> None:
    rng = np.random.default_rng(which)
    bloch = np.where(np.array(cell) > 0, rng.uniform(-0.8, 0.8, 3), 0.0)
    sim = Simulation(
        cell=cell,
        resolution=10,
        material=MEDIA[name],
        boundaries=[Bloch("xyz", k=tuple(bloch))],
        options=Options(courant=0.45),
    )
    # Any vector of the reciprocal lattice may be added to Bloch's.
    turns = np.divide(rng.integers(-1, 2, 3), cell, out=np.zeros(3), where=np.array(cell) > 0)
    k = 2 * np.pi * (bloch + turns)
    angle, e, h = mode(MEDIA[name], k, sim.grid, which)
    electric, magnetic = wave(sim.grid, k, COMPONENTS[:3], e), wave(sim.grid, k, COMPONENTS[3:], h)
    give(sim, "E", electric)
    give(sim, "H", magnetic * np.exp(-0.5j * angle))
    for _ in range(STEPS):
        sim.step()
    # Each step turns the wave by an angle with an error of about 1e-16, growing with the steps; 20 operations each.
    tolerance = STEPS * 20 * 1.1e-16
    np.testing.assert_allclose(fields(sim, "E"), electric * np.exp(-1j * angle * STEPS), atol=tolerance)
    np.testing.assert_allclose(fields(sim, "H"), magnetic * np.exp(-1j * angle * (STEPS + 0.5)), atol=tolerance * 2)


def test_vacuum_obeys_the_textbook_formula() -> None:
    grid = Grid((0.5, 0.6, 0.4), 10)
    k = np.array([3.0, -5.0, 7.0])
    angle, *_ = mode(vacuum, k, grid, 0)
    # (dx/dt)² sin²(ω dt/2) = Σ sin²(k_i dx/2)
    assert math.sin(angle / 2) ** 2 / grid.courant**2 == pytest.approx(np.sum(np.sin(k * grid.dx / 2) ** 2), rel=1e-14)


def whole(chunk: Chunk, name: str, box: Box) -> Array:
    return np.asarray(chunk.view(name, 0, box) + 1j * chunk.view(name, 1, box))


@pytest.mark.parametrize("k", [(0.3, -0.7, 0.2), (1.0, 0.5, 0.25), (7.3, 0.0, 0.0)])
def test_ghosts_carry_the_phase_of_one_period_exactly(k: Any) -> None:
    sim = Simulation(cell=(0.4, 0.5, 0.6), resolution=10, material=MEDIA["crystal"], boundaries=[Bloch("xyz", k=k)])
    rng = np.random.default_rng(3)
    for kind in "EH":
        give(sim, kind, rng.normal(size=360) + 1j * rng.normal(size=360))
    for _ in range(5):
        sim.step()
    sim.stepper.settle()
    chunk = sim.chunks[0]
    for name in COMPONENTS:
        for axis in range(3):
            if "xyz"[axis] == name[1]:
                continue
            end, n = chunk.box.hi[axis], sim.grid.shape[axis]
            # E is read one point past the end, H one point before the beginning.
            ghost = (end, end + 1) if name[0] == "E" else (-1, 0)
            back = -n if name[0] == "E" else n
            box = chunk.box.replace(axis, *ghost)
            shift = (back if axis == 0 else 0, back if axis == 1 else 0, back if axis == 2 else 0)
            outside, inside = (whole(chunk, name, b) for b in (box, box.shift(shift)))
            turn = np.exp(-2j * np.pi * k[axis] * sim.grid.size[axis] * np.sign(back))
            np.testing.assert_allclose(outside, inside * turn, rtol=0, atol=4e-15 * abs(inside).max())
