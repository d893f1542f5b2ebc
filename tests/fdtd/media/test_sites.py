"""Sites are there just at slanted surfaces of dispersive media, and respond to slow fields as the means do."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest

from evenly.fdtd import Absorber, Block, Cylinder, DrudePole, LorentzPole, Medium, Sphere
from evenly.fdtd.cell.boundaries import resolve
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.media.geometry import GeometricObject
from evenly.fdtd.media.sites import Sites
from evenly.fdtd.media.structure import Structure

METAL = Medium(epsilon=2.0, electric_poles=[DrudePole(1.0, 0.1)])
GLASS = Medium(epsilon=2.25)
ROD = Cylinder(radius=0.6, height=np.inf, material=METAL)
FLAT = Grid((2.0, 2.0, 0.0), 10)


def sites(things: list[GeometricObject], grid: Grid = FLAT, material: Medium = GLASS, **keywords: Any) -> Sites | None:
    return Structure(grid, things, material, **keywords).sample(grid.box).electric.sites


@pytest.mark.parametrize(
    ("things", "keywords"),
    [
        ([Cylinder(radius=0.6, height=np.inf, material=Medium(epsilon=4))], {}),
        ([Block(size=(1, 1.2, 9), material=METAL)], {}),
        ([ROD], {"subpixel": False}),
        ([ROD], {"sharp_strengths": True}),
        ([Cylinder(radius=0.6, height=np.inf, material=Medium(electric_conductivity=1.0))], {}),
        ([Cylinder(radius=0.6, height=np.inf, material=Medium(electric_poles=[LorentzPole(1.0, 0.1, (1, 2, 1))]))], {}),
    ],
)
def test_other_media_and_surfaces_have_no_sites(things: list[GeometricObject], keywords: dict[str, Any]) -> None:
    assert sites(things, **keywords) is None


def test_absorbers_have_no_sites() -> None:
    layers = resolve([Absorber(0.6, "x")], FLAT)
    found = Structure(FLAT, [ROD], layers=layers).sample(FLAT.box).electric.sites
    assert found is not None
    # Points 6 … 13 are outside of the absorbers, and the edges of nodes 7 … 13 have them at both ends.
    along = found.place[~found.halves, 0]
    assert (along.min(), along.max()) == (7, 13)


@pytest.mark.parametrize("grid", [FLAT, Grid((2.0, 2.0, 2.0), 10)])
def test_directions_at_a_node_are_complete_and_respond_as_the_means(grid: Grid) -> None:
    found = sites([ROD if grid.thin[2] else Sphere(radius=0.6, material=METAL)], grid)
    assert found is not None
    nodes = found.chosen(~found.halves)
    keys = [tuple(place) for place in nodes.place]
    for node in list(dict.fromkeys(keys))[::20]:
        here = nodes.chosen(np.array([key == node for key in keys]))
        inverse = here.scale * here.inverse + here.rest
        normal = int(np.argmax(here.kind))
        matrix = np.einsum("s,si,sj->ij", np.ones(len(inverse)), here.direction, here.direction)
        np.testing.assert_allclose(matrix, np.diag(1.0 - np.array(grid.thin)), atol=1e-12)
        # Along the normal, 1/ε is averaged, and along the surface ε: the same share of the metal, f, in both.
        share = here.scale[normal]
        assert inverse[normal] == pytest.approx(share / 2 + (1 - share) / 2.25)
        tangents = np.delete(inverse, normal)
        np.testing.assert_allclose(tangents, 1 / (share * 2 + (1 - share) * 2.25))
        (strengths,) = here.strengths.values()
        np.testing.assert_allclose(np.delete(strengths, normal), share)
        assert strengths[normal] == 1


def test_edges_with_one_such_node_keep_half_of_their_poles() -> None:
    found = sites([ROD])
    assert found is not None
    halves = found.chosen(found.halves)
    at = tuple(halves.place[halves.direction[:, 0] == 1].T)
    metal = np.zeros(FLAT.shape, bool)
    metal[at] = True
    # Half sites are those inside the metal; there the pole has its full strength.
    assert 0 < metal.sum() < np.count_nonzero(found.ends[0] == 1)
    assert np.all(found.ends[0][metal] == 1)
    np.testing.assert_array_equal(next(iter(halves.strengths.values())), 1.0)
    np.testing.assert_allclose(0.5 * halves.inverse + halves.rest, 0.0)


@pytest.mark.parametrize("resolution", [10, 20])
def test_sites_of_a_ball_that_touches_boxes_are_the_same_on_both_sides(resolution: int) -> None:
    grid = Grid((2.4, 2.4, 2.4), resolution)
    found = sites([Sphere(radius=0.5, material=METAL)], grid)
    assert found is not None
    places = found.place[~found.halves]
    images = places * (-1, 1, 1) + (grid.shape[0], 0, 0)
    assert {tuple(place) for place in places.tolist()} == {tuple(place) for place in images.tolist()}
