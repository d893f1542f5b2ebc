"""Field maps, energy and absorbed power of analytic fields."""

from __future__ import annotations

import math
from typing import Any

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import COMPONENTS, Grid
from evenly.fdtd.media.geometry import Block
from evenly.fdtd.media.materials import DrudePole, LorentzPole, Medium
from evenly.fdtd.media.structure import Structure
from evenly.fdtd.monitors.energy import Absorption, Energy
from evenly.fdtd.monitors.fields import DftFields
from tests.fdtd.fake_fields import FakeSimulation, cut
from tests.fdtd.physics.waves import angular, permittivity

GRID = Grid((1.2, 1.0, 1.4), 10)
TONE = 0.4
SCALE = GRID.dt / math.sqrt(2 * math.pi)  # of the transform of a complex field after one step


def linear(component: str, x: Any, y: Any, z: Any) -> Any:
    return COMPONENTS.index(component) + 1 + 2 * x - 3j * y + 4 * z


def simulation(boxes: list[Box] | None = None, field: Any = linear, **options: Any) -> FakeSimulation:
    return FakeSimulation(GRID, boxes or cut(GRID.box, np.random.default_rng(2), 5), field, TONE, parts=2, **options)


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize(
    ("center", "size"),
    [((0.123, 0.04, -0.31), (0, 0, 0)), ((0.05, 0.02, 0.033), (0.5, 0.31, 0)), ((0, 0, 0), (1.2, 1.0, 1.4))],
)
def test_maps_of_a_linear_field_are_exact(component: str, center: Any, size: Any) -> None:
    found = simulation()
    monitor = found.add(DftFields(COMPONENTS, center, size, [TONE]))
    found.run(1)
    field = monitor.field(component)
    x, y, z = field.x[:, None, None], field.y[:, None], field.z
    np.testing.assert_allclose(field.values[0], SCALE * linear(component, x, y, z), rtol=1e-12)
    for axis, places in enumerate((field.x, field.y, field.z)):
        if size[axis] == 0:
            assert places == [center[axis]]
        else:
            low, high = center[axis] - size[axis] / 2, center[axis] + size[axis] / 2
            wanted = GRID.coordinates(component, axis, 0, GRID.shape[axis])
            np.testing.assert_allclose(places, wanted[(wanted > low - 1e-9) & (wanted < high + 1e-9)])


def test_places_past_the_last_point_take_its_value() -> None:
    found = simulation()
    monitor = found.add(DftFields("Ez", (0.6, 0, 0), (0, 0, 0), [TONE]))
    found.run(1)
    np.testing.assert_allclose(monitor.field("Ez").values.item(), SCALE * linear("Ez", 0.5, 0, 0), rtol=1e-12)


METAL = Medium(
    epsilon=2.0, electric_poles=[LorentzPole(0.6, 0.1, 1.5), DrudePole(0.3, 0.05)], electric_conductivity=0.7
)


def material() -> Structure:
    block = Block(size=(0.4, 2, 2), center=(0.0, 0, 0), material=METAL)
    return Structure(GRID, [block], Medium(epsilon=3.0), subpixel=False)


def test_energy_of_a_uniform_field_is_that_of_the_volume() -> None:
    found = simulation(field=lambda c, x, y, z: 2.0 + 0 * x * y * z, structure=material())
    inside = found.add(Energy((0.0, 0.01, 0.02), (0.17, 0.35, 0.43), [TONE]))
    outside = found.add(Energy((0.43, 0, 0), (0.1, 0.3, 0.3), [TONE]))
    found.run(1)
    square = (2 * SCALE) ** 2
    volume = 0.17 * 0.35 * 0.43
    np.testing.assert_allclose(inside.magnetic(), 3 * 0.5 * square * volume, rtol=1e-12)
    np.testing.assert_allclose(inside.electric(), 2.0 * 3 * 0.5 * square * volume, rtol=1e-12)
    np.testing.assert_allclose(outside.electric(), 3.0 * 3 * 0.5 * square * 0.1 * 0.3**2, rtol=1e-12)
    np.testing.assert_allclose(outside.total(), outside.electric() + outside.magnetic(), rtol=1e-14)


def test_absorbed_power_is_that_of_the_scheme_and_of_the_medium_in_the_limit() -> None:
    found = simulation(field=lambda c, x, y, z: 1.0 + 0 * x * y * z, structure=material())
    inside = found.add(Absorption((0, 0, 0), (0.17, 0.35, 0.43), [TONE, 0.9]))
    nothing = found.add(Absorption((0.43, 0, 0), (0.1, 0.3, 0.3), [TONE], magnetic=True))
    found.run(1)
    for n, frequency in enumerate([TONE, 0.9]):
        loss = 3 * angular(frequency, GRID) * permittivity(METAL, frequency, GRID).imag
        np.testing.assert_allclose(inside.power()[n], loss * SCALE**2 * 0.17 * 0.35 * 0.43, rtol=1e-12)
        fine = Grid((0.2, 0.2, 0.2), 2000)
        limit = 2 * math.pi * frequency * METAL.epsilon_at(frequency)[0, 0].imag
        assert angular(frequency, fine) * permittivity(METAL, frequency, fine).imag == pytest.approx(limit, rel=1e-5)
    assert nothing.power() == [0.0]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: DftFields("Ew", (0, 0, 0), (1, 1, 1), [1.0]), "one or more of Ex"),
        (lambda: DftFields(["Ex", "Ex"], (0, 0, 0), (1, 1, 1), [1.0]), "each once"),
        (lambda: DftFields("Ex", (0, 0, 0), (-1, 1, 1), [1.0]), "must not be negative"),
        (lambda: DftFields("Ex", (0, 0, 0), (3, 1, 1), [1.0], name="map"), "field monitor 'map' must lie inside"),
        (lambda: Energy((0, 0, 0), (3, 1, 1), [1.0]), "energy monitor must lie inside"),
        (lambda: Energy((0, 0, 0), (-3, 1, 1), [1.0]), "must not be negative"),
    ],
)
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        simulation().add(make())


def test_a_component_that_is_not_held_is_refused() -> None:
    monitor = simulation().add(DftFields("Ex", (0, 0, 0), (1, 1, 1), [1.0]))
    with pytest.raises(InputError, match="holds Ex, but got 'Hy'"):
        monitor.field("Hy")
