from __future__ import annotations

import math

import numpy as np
import pytest

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import PML, Absorber, Bloch, Boundary, Metal, Periodic, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.grid import Grid
from tests.fdtd.line import reflection

GRID = Grid((4, 2, 0), 10)


@pytest.mark.parametrize(("resolution", "limit"), [(15, 1e-6), (20, 1e-7), (40, 1e-8)])
def test_a_pml_of_one_wavelength_reflects_less_than_a_millionth(resolution: float, limit: float) -> None:
    assert reflection([PML(1.0)], resolution) < limit


def test_metal_sends_everything_back() -> None:
    # Without layers both ends return the whole amplitude, once within the record: |seen - free| / |free| / 2 = 1.
    assert reflection([], 20, length=12.0) == pytest.approx(1.0, abs=1e-6)


def test_an_absorber_reflects_less_the_thicker_it_is() -> None:
    thin, thick = (reflection([Absorber(t)], 20, length=12.0) for t in (1.0, 3.0))
    assert thick < 1e-7 < thin < 1e-5


def test_a_weaker_pml_lets_the_stated_amplitude_return() -> None:
    # The recursion is of first order in the time step (it absorbs a little more): extrapolate to step 0.
    coarse, fine = (reflection([PML(1.0, order=2, reflection=1e-3)], n) for n in (40, 80))
    assert 2 * fine - coarse == pytest.approx(1e-3, rel=0.02)


def test_coefficients_are_those_of_the_papers_recursion() -> None:
    layer = PML(1.0, "x", "low", order=3, reflection=1e-6, kappa=2.0, alpha=0.05)
    layers = resolve([layer], GRID)
    on = layers.coefficients(0, "H", 0, 12)
    depth = (10 - 2.5) / 10
    sigma = 4 * math.log(1e6) / 2 * depth**3
    kappa, alpha = 1 + depth**3, 2 * math.pi * 0.05 * (1 - depth)
    assert on.b[2] == pytest.approx(math.exp(-(sigma / kappa + alpha) * GRID.dt), rel=1e-12)
    assert on.a[2] == pytest.approx(sigma * (on.b[2] - 1) / (sigma * kappa + kappa**2 * alpha), rel=1e-12)
    assert on.inverse_kappa[2] == pytest.approx(1 / kappa, rel=1e-12)
    assert (on.b[10:].tolist(), on.a[10:].tolist(), on.inverse_kappa[10:].tolist()) == ([0, 0], [0, 0], [1, 1])


@pytest.mark.parametrize("field", ["E", "H"])
def test_any_range_of_coefficients_is_a_piece_of_the_whole(field: str) -> None:
    layers = resolve([PML(0.7, kappa=3.0, alpha=0.1)], GRID)
    whole, part = layers.coefficients(0, field, 0, 40), layers.coefficients(0, field, 31, 38)
    for name in ("a", "b", "inverse_kappa"):
        assert np.array_equal(getattr(part, name), getattr(whole, name)[31:38])


def test_both_sides_of_a_layer_mirror_each_other() -> None:
    layers = resolve([PML(1.0)], GRID)
    e, h = layers.coefficients(0, "E", 0, 41), layers.coefficients(0, "H", 0, 40)
    assert np.allclose(e.b, e.b[::-1], rtol=1e-12)
    assert np.allclose(h.a, h.a[::-1], rtol=1e-12)


def test_an_absorbers_conductivity_follows_each_components_position() -> None:
    layers = resolve([Absorber(1.0, "x", order=2)], GRID)
    at_node, half_way = layers.conductivity("Ey", 0, 0, 40), layers.conductivity("Ex", 0, 0, 40)
    largest = 3 * math.log(1e8) / 2
    assert at_node[0] == pytest.approx(largest)
    assert half_way[0] == pytest.approx(largest * 0.95**2)
    assert not at_node[10:31].any()
    assert layers.inner("absorber") == Box((10, 0, 0), (30, 20, 1))


def test_layers_on_single_sides() -> None:
    layers = resolve([PML(0.5, "x", "low"), Absorber(1.0, "x", "high"), PML(0.2, "y")], GRID)
    assert layers.pml == ((5, 0), (2, 2), (0, 0))
    assert layers.absorber == ((0, 10), (0, 0), (0, 0))
    assert layers.ranges(0) == ((0, 5), (40, 40))


def test_bloch_phases() -> None:
    layers = resolve([Bloch("x", k=(0.05, 0, 0)), Metal("y")], GRID)
    assert layers.kinds == ("periodic", "metal", "periodic")
    assert layers.phases[0] == pytest.approx(np.exp(2j * np.pi * 0.05 * 4))
    assert layers.complex_fields
    assert not resolve([Periodic("x")], GRID).complex_fields


def test_half_a_turn_keeps_the_fields_real() -> None:
    layers = resolve([Bloch("x", k=(0.125, 0, 0))], GRID)
    assert layers.phases[0] == -1
    assert not layers.complex_fields


@pytest.mark.parametrize(
    ("boundaries", "message"),
    [
        ([PML(1.1, "y")], r"PML\(thickness=1.1.*together thicker than the cell \(2.2 > 2\)"),
        ([PML(1.5, "y", "low"), Absorber(1.0, "y", "high")], r"PML\(thickness=1.5.* and Absorber\(thickness=1.0"),
        ([PML(0.5, "z")], "no size along it"),
        ([PML(0.01)], "at least one point thick"),
        ([PML(0.5), PML(0.5, "x")], "has two layers"),
        ([Periodic("x"), Metal("xy")], "along x are given twice"),
        ([Bloch("xz", k=(0, 0, 1))], "thin along it"),
        (["PML"], "A boundary is a PML"),
    ],
)
def test_what_cannot_be_is_refused_by_name(boundaries: list[Boundary], message: str) -> None:
    with pytest.raises(InputError, match=message):
        resolve(boundaries, GRID)


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: PML(-1.0), "`thickness` of PML must be positive"),
        (lambda: Absorber(math.inf), "`thickness` of Absorber"),
        (
            lambda: PML(1.0, side="top"),  # type: ignore[arg-type]
            "`side` of PML",
        ),
        (lambda: PML(1.0, axis="w"), "An axis is one of"),
        (lambda: PML(1.0, order=0), "`order` of PML"),
        (lambda: PML(1.0, reflection=2.0), "`reflection` of PML"),
        (lambda: PML(1.0, kappa=0.5), "`kappa` of a PML"),
        (lambda: Periodic("xx"), "`axes` of Periodic"),
        (lambda: Bloch("x", k=(0, 1, 0)), "may not be along y"),
    ],
)
def test_wrong_values_are_refused_where_they_are_given(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
