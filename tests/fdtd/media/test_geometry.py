from __future__ import annotations

import math
from typing import Any, cast

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.errors import InputError
from evenly.fdtd.cell.boundaries import resolve
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.fractions import mixtures, share_below
from evenly.fdtd.media.geometry import Block, Cylinder, GeometricObject, Prism, Sphere
from evenly.fdtd.media.materials import Medium
from evenly.fdtd.media.painting import paint
from evenly.fdtd.media.palette import palette
from tests.fdtd.scenes import scene

GLASS = Medium(epsilon=2)
GRID = Grid((4, 4, 4), 10)
PENTAGON = [(1.2 * math.cos(2 * math.pi * i / 5), 1.2 * math.sin(2 * math.pi * i / 5)) for i in range(5)]


def volume(thing: GeometricObject, grid: Grid = GRID) -> float:
    """Volume of the object's shares in all points' boxes."""
    everything = Block(size=(math.inf,) * 3)
    objects = [everything, thing]
    tables = palette([o.material for o in objects], "electric")
    lattice = paint(grid, resolve([], grid), objects, "centre", grid.box, tables, subpixel=True)
    filled = lattice.medium.astype(float)
    for mixture in lattice.mixtures:
        inside = tables.medium[mixture.owner] == 1
        filled.flat[lattice.where[mixture.rows]] = (mixture.share * inside).sum(axis=1)
    return float(filled.sum() * grid.dx**grid.dimensions)


# Tolerances: flat faces are exact and edges sampled at 4³ points; a curved surface's error after the correction
# for the mean sag is of order (dx/R)^4.
@pytest.mark.parametrize(
    ("thing", "exact", "tolerance"),
    [
        (Sphere(radius=1.3, center=(0.03, 0.02, 0.01), material=GLASS), 4 / 3 * math.pi * 1.3**3, 1e-4),
        (Cylinder(radius=1.0, height=2.03, axis=(1, 1, 0.5), material=GLASS), math.pi * 2.03, 2e-3),
        (Cylinder(radius=1.0, height=math.inf, axis="x", material=GLASS), math.pi * 4, 2e-4),
        (Block(size=(1.23, 1.11, math.inf), center=(0.1, 0.2, 0), material=GLASS), 1.23 * 1.11 * 4, 2e-3),
        (
            Block(size=(1.5, math.inf, math.inf), axes=((1, 0.2, 0), (-0.2, 1, 0), (0, 0, 1)), material=GLASS),
            None,
            1e-9,
        ),
        (Prism(vertices=PENTAGON, height=1.23, base=0.2, axis="y", material=GLASS), 1.23 * 3.4238, 2e-3),
    ],
)
def test_shares_add_up_to_the_volume(thing: GeometricObject, exact: float | None, tolerance: float) -> None:
    # A slab at an angle, cut by the cell's walls: a parallelogram of width 1.5 / cos(angle).
    exact = 1.5 * math.sqrt(1.04) * 16 if exact is None else exact
    assert volume(thing) == pytest.approx(exact, rel=tolerance)


@pytest.mark.parametrize("height", [0.003, 0.03, 0.17])
def test_a_film_thinner_than_a_point_keeps_its_volume(height: float) -> None:
    film = Block(size=(math.inf, math.inf, height), center=(0, 0, 0.0123), material=GLASS)
    assert volume(film) == pytest.approx(16 * height, rel=1e-9)


def test_a_disc_in_a_flat_cell_has_its_area() -> None:
    flat = Grid((4, 4, 0), 10)
    assert volume(Cylinder(radius=1.1, center=(0.01, 0.02, 0), material=GLASS), flat) == pytest.approx(
        math.pi * 1.21, rel=1e-4
    )
    # A ball above the plane shows its cross-section.
    assert volume(Sphere(radius=1.3, center=(0, 0, 0.5), material=GLASS), flat) == pytest.approx(
        math.pi * (1.69 - 0.25), rel=1e-3
    )


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6), st.floats(-0.6, 0.6))
def test_the_share_below_a_plane_is_that_of_many_points(seed: int, position: float) -> None:
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=3) * (rng.random(3) > 0.2)
    normal = normal / np.linalg.norm(normal) if normal.any() else np.array([1.0, 0, 0])
    cells = (np.arange(40) + 0.5) / 40 - 0.5
    points = np.stack(np.meshgrid(cells, cells, cells), axis=-1) @ normal
    # A lattice of m³ cells is wrong only in cells that the plane cuts: within √3/m.
    share = share_below(np.array([[position]]), normal[None], (0.5, 0.5, 0.5))[0, 0]
    assert share == pytest.approx(np.mean(points < position), abs=math.sqrt(3) / 40)


@settings(max_examples=60, deadline=None)
@given(st.integers(0, 10**6))
def test_shares_below_a_plane_and_above_it_make_a_whole(seed: int) -> None:
    rng = np.random.default_rng(seed)
    normal = rng.normal(size=(50, 3)) * 10.0 ** rng.integers(-9, 1, size=(50, 3))
    normal /= np.linalg.norm(normal, axis=1)[:, None]
    d = np.sort(rng.uniform(-0.9, 0.9, size=(50, 4)), axis=1)
    share = share_below(d, normal, (0.5, 0.5, 0.5))
    assert np.allclose(share + share_below(-d, normal, (0.5, 0.5, 0.5)), 1, atol=1e-9)
    assert (np.diff(share, axis=1) >= -1e-6).all()


@pytest.mark.parametrize("seed", range(6))
def test_distances_are_signed_and_never_steeper_than_one(seed: int) -> None:
    rng = np.random.default_rng(seed)
    a, step = rng.uniform(-1.5, 1.5, (2000, 3)), rng.normal(size=(2000, 3)) * 0.1
    for thing in scene(seed):
        low, high = thing.bounds()
        near, far = thing.distance(*a.T), thing.distance(*(a + step).T)
        assert (np.abs(near - far) <= np.linalg.norm(step, axis=1) * (1 + 1e-9)).all()
        inside = thing.contains(*a.T)
        assert np.array_equal(inside, near <= 0)
        assert ((a[inside] >= np.array(low)) & (a[inside] <= np.array(high))).all()


@pytest.mark.parametrize("seed", range(4))
def test_shares_agree_with_points_drawn_at_random(seed: int) -> None:
    """All kinds of surfaces, edges and junctions: against 3000 random points per box."""
    rng = np.random.default_rng(seed)
    objects = [Block(size=(math.inf,) * 3), *scene(seed)]
    medium = np.arange(len(objects))
    half = (0.02, 0.02, 0.02)
    points = rng.uniform(-0.7, 0.7, (3000, 3))
    worst, checked = [], 0
    for mixture in mixtures(objects, medium, np.arange(1.0, len(objects) + 1), points, half):
        assert np.allclose(mixture.share.sum(axis=1), 1)
        for row in range(0, len(mixture.rows), 7):
            spots = points[mixture.rows[row]] + rng.uniform(-0.02, 0.02, (3000, 3))
            owner = np.zeros(3000, dtype=int)
            for k, thing in enumerate(objects):
                owner[thing.contains(*spots.T)] = k
            got = np.bincount(mixture.owner[row], mixture.share[row], minlength=len(objects))
            worst.append(np.abs(got - np.bincount(owner, minlength=len(objects)) / 3000).max())
            checked += 1
    # Random points scatter by 0.01; junctions are known to one of 4 layers, and slices of curved faces to a few %.
    assert checked > 20
    assert np.median(worst) < 0.02
    assert max(worst) < 0.13


@pytest.mark.parametrize(
    ("make", "message"),
    [
        (lambda: Block(size=(1, -1, 1), name="mirror"), "`size` of Block 'mirror' must be a length, 0 or more.*-1"),
        (lambda: Block(size=(1, 1)), "`size` of a Block must be three lengths"),
        (lambda: Block(size=(1, 1, 1), axes=((1, 0, 0), (1, 1, 0), (0, 0, 1))), "`axes` of a Block.*right angles"),
        (lambda: Sphere(radius=-0.1), "`radius` of a Sphere"),
        (lambda: Cylinder(radius=math.nan, height=1), "`radius` of a Cylinder"),
        (lambda: Cylinder(radius=1, height=-2, name="rod"), "`height` of Cylinder 'rod'"),
        (lambda: Cylinder(radius=1, axis=(0, 0, 0)), "`axis` of a Cylinder"),
        (lambda: Prism(vertices=[(0, 0), (1, 1)]), "at least three corners"),
        (lambda: Prism(vertices=[(0, 0), (2, 2), (2, 0), (0, 1)], name="bow"), "edges of Prism 'bow' must not cross"),
        (lambda: Prism(vertices=[(0, 0), (1, 0), (0, 1)], height=-1), "`height` of a Prism"),
        (lambda: Sphere(radius=1, material=cast("Any", 3.5)), "`material` of a Sphere must be a Medium"),
    ],
)
def test_wrong_objects_are_refused_by_name(make: object, message: str) -> None:
    with pytest.raises(InputError, match=message):
        make()  # type: ignore[operator]
