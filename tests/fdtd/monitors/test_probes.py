"""Probes see exact values of fields that are put in, whatever the layout, and closed cells keep their energy."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly import fdtd
from evenly.errors import InputError
from evenly.fdtd.cell.grid import COMPONENTS

CUTS = fdtd.BinaryPartition([("x", 0.1), [("y", 0.0), 0, 0], [("z", -0.2), 0, 0]])
SIZE = (1.2, 1.0, 1.4)


def filled(function: Any, **options: Any) -> fdtd.Simulation:
    """Return a simulation whose fields are a function of component and position."""
    sim = fdtd.Simulation(cell=SIZE, resolution=10, **{"layout": CUTS, **options})
    for chunk in sim.chunks:
        for component in COMPONENTS:
            values = function(component, *sim.grid.points(component, chunk.box))
            for part, some in enumerate((np.real(values), np.imag(values))[: sim.parts]):
                chunk.view(component, part, chunk.box)[...] = some
    sim.stepper.refresh()
    return sim


def linear(component: str, x: Any, y: Any, z: Any) -> Any:
    return COMPONENTS.index(component) + 1 + 2 * x - 3 * y + 4 * z + 1j * (x + y)


@pytest.mark.parametrize("component", COMPONENTS)
def test_a_linear_field_is_exact_between_points_and_across_chunks(component: str) -> None:
    real = filled(linear)
    rotated = filled(linear, boundaries=[fdtd.Bloch("y", k=(0, 0.1, 0))])
    for point in [(0.1, 0.0, -0.2), (0.0999, 0.013, -0.21), (-0.4321, 0.234, 0.6), (0.3, -0.3, 0.3)]:
        wanted = linear(component, *point)
        assert real.get_field_point(component, point) == pytest.approx(wanted.real, rel=1e-12)
        assert rotated.get_field_point(component, point) == pytest.approx(wanted, rel=1e-12)


def test_probes_at_the_ends_of_the_cell_know_what_is_behind() -> None:
    def wave(component: str, x: Any, y: Any, z: Any) -> Any:
        return np.exp(2j * np.pi * (0.25 * x + y / SIZE[1])) * (1 + 0 * z)

    bloch = filled(wave, boundaries=[fdtd.Bloch("x", k=(0.25, 0, 0)), fdtd.Periodic("y")])
    for point in [(-0.6, 0.03, 0), (0.6, 0.03, 0), (0.6, 0.5, 0.1), (0.6, -0.5, 0.1), (0.58, 0.49, -0.3)]:
        for component in ("Ex", "Ey", "Hz"):
            # Linear interpolation of a wave is wrong by at most (k dx)²/8 per axis.
            bound = 0.125 * (2 * math.pi * 0.1) ** 2 * (0.25**2 + 1)
            assert abs(bloch.get_field_point(component, point) - wave(component, *point)) < bound
    walls = filled(lambda component, x, y, z: np.where(x > -0.59, 1.0, 0.0) + 0 * (y + z))
    # Beyond the last points of E along a wall there is the wall, where it is 0; of E across it the mirror image.
    assert walls.get_field_point("Ey", (0.6, 0, 0)) == 0.0
    assert walls.get_field_point("Ey", (0.55, 0, 0)) == pytest.approx(0.5)
    assert walls.get_field_point("Ex", (0.6, 0, 0)) == 1.0


def test_integrals_of_linear_fields_are_exact() -> None:
    sim = filled(lambda c, x, y, z: np.real(linear(c, x, y, z)), boundaries=[])
    center, size = (0.0, 0.1, -0.1), (0.6, 0.4, 0.8)
    volume = math.prod(size)
    for names in (["Ex"], ["Hz"], ["Ey", "Hx"]):
        offsets = [linear(name, *center).real for name in names]
        wanted = sum(n * offset for n, offset in enumerate(offsets, 1)) * volume
        found = sim.integrate(lambda x, y, z, *f: sum(n * v for n, v in enumerate(f, 1)), names, center, size)
        assert found == pytest.approx(wanted, rel=1e-12)
    # A plane between centres, a line, a point; positions alone.
    plane = sim.integrate(lambda x, y, z, e: e, ["Ez"], (0.013, 0.1, -0.1), (0, 0.4, 0.8))
    assert plane == pytest.approx(linear("Ez", 0.013, 0.1, -0.1).real * 0.32, rel=1e-12)
    point = sim.integrate(lambda x, y, z, e: e + x, "Hy", (0.013, 0.12, -0.1), (0, 0, 0))
    assert point == pytest.approx(linear("Hy", 0.013, 0.12, -0.1).real + 0.013, rel=1e-12)
    assert sim.integrate(lambda x, y, z: 1j, []) == pytest.approx(1j * math.prod(SIZE), rel=1e-12)


def test_integrals_over_a_periodic_cell_wrap_with_the_phase() -> None:
    def wave(component: str, x: Any, y: Any, z: Any) -> Any:
        return np.exp(2j * np.pi * 0.25 * x) * (1 + 0 * (y + z))

    sim = filled(wave, boundaries=[fdtd.Bloch("x", k=(0.25, 0, 0)), fdtd.Periodic("yz")])
    # |averaged field|² is the same everywhere: cos²(k dx/2) for components with two points to average along x.
    square = sim.integrate(lambda x, y, z, e: np.abs(e) ** 2, ["Ey"])
    assert square == pytest.approx(math.cos(math.pi * 0.25 * 0.1) ** 2 * math.prod(SIZE), rel=1e-12)
    across = sim.integrate(lambda x, y, z, e: e, ["Ex"], (0.6, 0, 0), (0, 1.0, 1.4))
    # Between the centres on both sides of the border: the mean of two values half a spacing to each side.
    wanted = np.exp(2j * np.pi * 0.25 * 0.6) * math.cos(math.pi * 0.25 * 0.1) * 1.0 * 1.4
    assert across == pytest.approx(wanted, rel=1e-12)


def test_the_function_of_an_integral_gets_places_that_match() -> None:
    sim = filled(lambda c, x, y, z: x + 2 * y + 3 * z, boundaries=[fdtd.Periodic()])
    center, size = (0.05, 0.0, 0.1), (0.6, 0.5, 0.7)
    wrong = sim.integrate(lambda x, y, z, e: np.abs(e - x - 2 * y - 3 * z), ["Ex"], center, size)
    assert abs(wrong) < 1e-12
    with pytest.raises(InputError, match="must return an array that broadcasts"):
        sim.integrate(lambda x, y, z: np.ones((2, 2, 2, 2, 2)), [])


def test_the_largest_field_is_found_in_its_region() -> None:
    sim = filled(lambda c, x, y, z: np.real(linear(c, x, y, z)))
    every = sim.field("Ex")
    assert sim.max_abs_field("Ex") == np.abs(every).max()
    x, y, z = (p.ravel() for p in sim.grid.points("Ex", sim.grid.box))
    inside = np.ix_(np.abs(x - 0.1) < 0.201, np.abs(y) < 0.301, np.abs(z + 0.2) < 0.101)
    assert sim.max_abs_field("Ex", (0.1, 0, -0.2), (0.4, 0.6, 0.2)) == np.abs(every[inside]).max()
    assert sim.max_abs_field("Ez", (0, 0, 0.051), (0, 0, 0)) == abs(sim.get_field_point("Ez", (0, 0, 0.05)))
    turned = filled(lambda c, x, y, z: 3 + 4j + 0 * (x + y + z), boundaries=[fdtd.Bloch("x", k=(0.1, 0, 0))])
    assert turned.max_abs_field("Hy") == 5.0
    sim.chunks[1].view("Hx", 0, sim.chunks[1].box)[0, 0, 0] = np.nan
    assert math.isnan(sim.max_abs_field("Hx"))


@pytest.mark.parametrize(
    "ask",
    [
        lambda sim: sim.get_field_point("Bx", (0, 0, 0)),
        lambda sim: sim.get_field_point("Ex", (0, 0, 5)),
        lambda sim: sim.max_abs_field("Ex", (0, 0, 0), (5, 0, 0)),
        lambda sim: sim.max_abs_field("Jx"),
        lambda sim: sim.integrate(abs, ["Ex"], (0, 0, 0), (-1, 0, 0)),
        lambda sim: sim.integrate(abs, ["Ew"]),
        lambda sim: sim.stored_energy((0, 0, 0), (0, 3, 0)),
    ],
)
def test_what_cannot_be_is_refused(ask: Any) -> None:
    with pytest.raises(InputError):
        ask(fdtd.Simulation(cell=(1, 1, 1), resolution=5))


def test_energy_of_uniform_fields_is_that_of_the_volume() -> None:
    glass = fdtd.Medium(epsilon=(2, 3, 4), mu=1.5, electric_conductivity=0.3)
    sim = filled(lambda c, x, y, z: 2.0 + 0 * (x + y + z), material=glass, boundaries=[fdtd.Periodic()])
    size = (0.33, 0.41, 0.27)
    for center, edges in (((0.1, 0, -0.2), size), ((0.55, 0.45, 0.6), (0.1, 0.1, 0.2)), (None, None)):
        energy = sim.stored_energy(center, edges)
        volume = math.prod(edges or SIZE)
        assert energy.electric == pytest.approx(0.5 * (2 + 3 + 4) * 4.0 * volume, rel=1e-12)
        assert energy.magnetic == pytest.approx(0.5 * 3 * 1.5 * 4.0 * volume, rel=1e-12)
        assert energy.total == energy.electric + energy.magnetic


LOSSLESS = fdtd.Medium(
    epsilon=(2, 3, 2.5), electric_poles=[fdtd.LorentzPole(0.8, 0.0, 1.5), fdtd.DrudePole(0.5, 0.0, (1.0, 0.5, 0.0))]
)
MAGNETIC = fdtd.Medium(mu=(2, 1, 1.5), magnetic_poles=[fdtd.LorentzPole(0.7, 0.0, 1.5), fdtd.DrudePole(0.4, 0.0)])


@pytest.mark.parametrize("boundaries", [[], [fdtd.Periodic("xy")], [fdtd.Bloch("x", k=(0.2, 0, 0))]])
def test_a_closed_cell_without_losses_keeps_its_energy(boundaries: Any) -> None:
    pulse = fdtd.GaussianPulse(0.6, width=0.7)
    sim = fdtd.Simulation(
        cell=SIZE, resolution=10, boundaries=boundaries, layout=CUTS, options=fdtd.Options(subpixel=False),
        geometry=[
            fdtd.Sphere(radius=0.4, center=(0.1, 0, 0), material=LOSSLESS),
            fdtd.Block(size=(0.4, 0.4, 0.4), center=(-0.4, -0.3, 0.4), material=MAGNETIC),
        ],
        sources=[
            fdtd.Source(pulse, "Ez", center=(0.3, 0.2, 0.1)), fdtd.Source(pulse, "Hx", center=(-0.3, 0.2, 0.1)),
        ],
    )  # fmt: skip
    sim.run(after_sources=0.0)
    energies, electric = [], []
    for _ in range(40):
        sim.step()
        energy = sim.stored_energy()
        energies.append(energy.total)
        electric.append(energy.electric)
    # Exact but for rounding: 40 steps of a few thousand sums, each relative 1e-16.
    assert np.ptp(energies) < 1e-13 * energies[0]
    assert np.ptp(electric) > 1e-3 * energies[0]
    halves = [sim.stored_energy((sign * 0.3, 0, 0), (0.6, 1.0, 1.4)).total for sign in (-1, 1)]
    assert sum(halves) == pytest.approx(energies[-1], rel=1e-12)
