"""Sources: what lies between grid points, at the cell's ends, in parts."""

from __future__ import annotations

import cmath
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import Bloch, Phases, resolve
from evenly.fdtd.cell.box import Box
from evenly.fdtd.cell.extents import hat_weights
from evenly.fdtd.cell.grid import COMPONENTS, Grid
from evenly.fdtd.sources.pulses import GaussianPulse
from evenly.fdtd.sources.source import Source
from tests.fdtd.fake_fields import cut

PULSE = GaussianPulse(1.0, fwidth=0.3)
GRID = Grid((1.2, 0.8, 1.0), 10)
WALLS: Phases = (None, None, None)


def total(source: Source, grid: Grid, boxes: list[Box], sides: Phases = (1, 1, 1)) -> Any:
    """All patches as one array of the cell."""
    field = np.zeros(grid.shape, dtype=complex)
    for box in boxes:
        for patch in source.patches(grid, box, sides):
            assert box.covers(patch.box)
            assert patch.weights.shape == patch.box.shape
            field[patch.box.slices((0, 0, 0))] += patch.weights
    return field


@given(st.floats(-40, 40), st.floats(0, 30))
def test_weights_keep_length_and_centre(low: float, length: float) -> None:
    start, weights = hat_weights(low, low + length)
    points = start + np.arange(len(weights))
    # Ends within 1e-7 of a point or the middle between two are moved there; 1 for a point.
    wanted = length if length > 4e-7 else max(length, weights.sum())
    assert abs(weights.sum() - wanted) < 3e-7
    assert weights.min() >= 0
    if length > 1e-3:
        assert abs(weights @ points - weights.sum() * (low + length / 2)) < 1e-5 * (1 + weights.sum())


def test_a_short_extent_divided_by_its_length_tends_to_a_point() -> None:
    start, extent = hat_weights(2.3 - 5e-5, 2.3 + 5e-5)
    same, point = hat_weights(2.3, 2.3)
    assert start == same
    np.testing.assert_allclose(extent / 1e-4, point, rtol=1e-9)


@settings(max_examples=40, deadline=None)
@given(
    component=st.sampled_from(COMPONENTS),
    center=st.tuples(st.floats(-0.3, 0.3), st.floats(-0.14, 0.14), st.floats(-0.2, 0.2)),
    size=st.tuples(st.floats(0.01, 0.4), st.floats(0.01, 0.3), st.floats(0.01, 0.4)),
    flat=st.tuples(st.booleans(), st.booleans(), st.booleans()),
    seed=st.integers(0, 1000),
)
def test_total_current_and_its_place_do_not_depend_on_the_grid(
    component: str, center: Any, size: Any, flat: Any, seed: int
) -> None:
    size = tuple(0.0 if zero else s for zero, s in zip(flat, size, strict=True))
    source = Source(PULSE, component, center, size, amplitude=2.0)
    boxes = cut(GRID.box, np.random.default_rng(seed), 5)
    current = total(source, GRID, boxes).real
    np.testing.assert_array_equal(current, total(source, GRID, [GRID.box]).real)
    # ∫ J dV: the amplitude times the lengths of the extents, a delta function across the others; moves of the ends by
    # 1e-7 of a spacing towards grid points allowed for.
    wanted = 2.0 * np.prod([s for s in size if s > 0])
    assert current.sum() * GRID.dx**3 == pytest.approx(wanted, rel=1e-5)
    for axis, coordinate in enumerate(GRID.points(component, GRID.box)):
        assert (current * coordinate).sum() / current.sum() == pytest.approx(center[axis], abs=1e-6)


@pytest.mark.parametrize("component", COMPONENTS)
@pytest.mark.parametrize("sides", [(1, 1, 1), WALLS], ids=["periodic", "walls"])
def test_a_plane_across_the_whole_cell_is_uniform(component: str, sides: Phases) -> None:
    source = Source(PULSE, component, (0, 0, 0.0), (1.2, 0.8, 0))
    plane = total(source, GRID, [GRID.box], sides).real.sum(axis=2)
    inside = plane[1:, 1:] if sides == WALLS else plane
    # At a wall the component along it is 0 whatever drives it.
    np.testing.assert_allclose(inside, 10.0, rtol=1e-12)
    if sides != WALLS:
        assert len(source.patches(GRID, GRID.box)) == 1


def test_a_plane_across_a_bloch_cell_follows_the_wave() -> None:
    layers = resolve([Bloch("x", k=(0.3, 0, 0))], GRID)
    turn = 2 * np.pi * 0.3
    source = Source(PULSE, "Ey", (0, 0, 0), (1.2, 0.8, 0), amplitude_function=lambda x, y, z: np.exp(1j * turn * x))
    found = total(source, GRID, [GRID.box], layers.phases).sum(axis=2)
    x = GRID.coordinates("Ey", 0, 0, 12)
    np.testing.assert_allclose(found[:, 3], 10 * np.exp(1j * turn * x), rtol=1e-12)
    assert layers.phases[0] == pytest.approx(cmath.exp(1j * turn * 1.2))


def test_a_point_at_the_end_of_a_periodic_cell_is_the_point_at_its_beginning() -> None:
    end, beginning = (total(Source(PULSE, "Ez", (s * 0.6, 0, 0.05)), GRID, [GRID.box]) for s in (1, -1))
    np.testing.assert_array_equal(end, beginning)
    between = total(Source(PULSE, "Ex", (0.6, 0, 0)), GRID, [GRID.box])
    assert between[0, 4, 5] == between[11, 4, 5] == 500.0


def test_an_amplitude_function_sees_places_relative_to_the_centre() -> None:
    source = Source(
        PULSE, "Ez", (0.1, -0.1, 0), (0.4, 0.4, 0.4), amplitude=2j, amplitude_function=lambda x, y, z: x + y
    )
    flat = Source(PULSE, "Ez", (0.1, -0.1, 0), (0.4, 0.4, 0.4))
    x, y, _ = GRID.points("Ez", GRID.box)
    wanted = total(flat, GRID, [GRID.box]) * 2j * (x - 0.1 + y + 0.1)
    np.testing.assert_allclose(total(source, GRID, [GRID.box]), wanted, atol=1e-12)


def test_thin_axes_have_weight_one() -> None:
    flat = Grid((1.0, 0.0, 0.0), 10)
    patches = Source(PULSE, "Hy", (0.05, 0, 0), (0, 1.0, 0)).patches(flat, flat.box)
    assert [(p.box.lo, p.weights.tolist()) for p in patches] == [((5, 0, 0), [[[10.0]]])]


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Source(PULSE, "Ew", (0, 0, 0)), "Ew source"),
        (lambda: Source(PULSE, "Ez", (0, 0, 0), (-1, 0, 0), name="laser"), "'laser' must not be negative"),
        (lambda: Source("no", "Ez", (0, 0, 0)), "pulse of the Ez source"),  # type: ignore[arg-type]
        (lambda: Source(PULSE, "Ez", (0, 0, 0), amplitude=complex("nan")), "finite number"),
        (lambda: total(Source(PULSE, "Ez", (0.7, 0, 0), name="a"), GRID, [GRID.box]), "'a' must lie inside the cell"),
        (lambda: total(Source(PULSE, "Ez", (0, 0, 0), (0, 1, 0)), GRID, [GRID.box]), "y from -0.4 to 0.4"),
        (
            lambda: total(Source(PULSE, "Ez", (0, 0, 1)), Grid((1, 1, 0), 10), [Box((0, 0, 0), (9, 9, 1))]),
            "thin along z",
        ),
        (
            lambda: total(
                Source(PULSE, "Ez", (0, 0, 0), (0.5, 0, 0), amplitude_function=lambda x, y, z: np.log(x - 9)),
                GRID,
                [GRID.box],
            ),
            "finite numbers",
        ),
        (
            lambda: total(
                Source(PULSE, "Ez", (0, 0, 0), (0.5, 0, 0), amplitude_function=lambda x, y, z: np.ones(77)),
                GRID,
                [GRID.box],
            ),
            "broadcasts",
        ),
    ],
)
@pytest.mark.filterwarnings("ignore:invalid value")
def test_what_is_wrong_is_said(make: Any, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()
