"""Surveys object by object: exact for films and boxes on the grid, close for everything else."""

from __future__ import annotations

from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.cells.fdtd.object_survey import object_survey
from evenly.fdtd import (
    PML,
    Absorber,
    Block,
    Cylinder,
    DrudePole,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Prism,
    Simulation,
    Sphere,
)
from evenly.fdtd.structures import build

METAL = Medium(electric_poles=[DrudePole(1.0, 0.1), LorentzPole(0.4, 0.1, (0.0, 1.0, 1.0))])
METAL_OF_ONE = Medium(electric_poles=[DrudePole(1.0, 0.1)])
MEDIUM_OF_THREE = Medium(epsilon=2, electric_poles=[LorentzPole(1.1, 0.2), LorentzPole(0.7, 0.1), DrudePole(0.3, 0.1)])
MEDIA = (
    METAL,
    Medium(index=1.5),
    Medium(epsilon=4, chi3=0.01, electric_conductivity=0.1),
    Medium(epsilon=2, mu=2, magnetic_poles=[LorentzPole(0.5, 0.1, 0.3)], magnetic_conductivity=0.1),
    Medium(),
)


def both(sim: Simulation) -> tuple[Cell, Cell]:
    return cell_of(sim), cell_of(sim, points=0)


def boxes(shape: Any, number: int = 200, smallest: float = 1e-3) -> tuple[Any, Any]:
    """Return boxes of 1/8 to `smallest` of a cell."""
    random = np.random.default_rng(0)
    edges = np.exp(random.normal(0, 0.5, (number, 3)))
    points = np.prod(shape) * np.exp(random.uniform(np.log(smallest), np.log(1 / 8), number))
    edges *= ((points / edges.prod(axis=1)) ** (1 / 3))[:, None]
    edges = np.clip(np.round(edges), 1, shape).astype(int)
    low = (random.random((number, 3)) * (np.array(shape) - edges + 1)).astype(int)
    return low, low + edges


def differences(exact: Cell, found: Cell, smallest: float = 1e-3) -> dict[str, Any]:
    """Return by kind how far counts of boxes are apart, as a share of the box's points."""
    low, high = boxes(exact.grid.shape, smallest=smallest)
    volume = np.prod(high - low, axis=1)
    one, other = exact.survey.counts(low, high), found.survey.counts(low, high)
    return {
        kind: np.abs(exact.column(one, kind) - found.column(other, kind)) / volume
        for kind in {*exact.survey.kinds, *found.survey.kinds}
    }


@given(st.lists(st.tuples(st.floats(-0.9, 0.9), st.floats(0.12, 0.6), st.integers(0, 4)), max_size=4), st.booleans())
@settings(max_examples=60, deadline=None)
def test_films_are_exact(films: list[tuple[float, float, int]], subpixel: bool) -> None:
    # Two points apart at least: what two faces bring to one point is added up.
    at, geometry = -1.0, []
    for place, thick, medium in sorted(films):
        # Not just off a point by less than any structure's faces are: what round-off is depends on who asks.
        low, thick = round(max(place, at + 0.25), 3), round(thick, 3)
        at = low + thick
        if at > 1.9:
            # A face within half a point of the cell's side has no plane of points beyond it to be found by.
            break
        geometry.append(Block(size=(np.inf, np.inf, thick), center=(0, 0, low + thick / 2), material=MEDIA[medium]))
    options = Options(courant=0.3, subpixel=subpixel)
    sim = Simulation(
        cell=(0.4, 0.4, 4),
        resolution=10,
        geometry=geometry,
        boundaries=[PML(0.5, "z"), Periodic("xy")],
        options=options,
    )
    exact, found = both(sim)
    kinds = [k for k in {*exact.survey.kinds, *found.survey.kinds} if "label" not in k]
    for z in range(sim.grid.shape[2]):
        one, other = (c.survey.counts([[0, 0, z]], [[4, 4, z + 1]]) for c in (exact, found))
        for kind in kinds:
            whole = kind not in ("polarised", "polarisations", "nonlinear values")
            if whole:
                assert exact.column(one, kind)[0] == pytest.approx(found.column(other, kind)[0], abs=1e-6), (kind, z)
    for kind in kinds:
        # Components at a face may be told wrong, where it lies halfway between points or H is concerned: at most the
        # three (of up to two poles) on each of the two planes of 16 points of a film.
        off = abs(exact.survey.totals.get(kind, 0) - found.survey.totals.get(kind, 0))
        assert off <= 16 * 2 * 6 * len(films), kind


@pytest.mark.parametrize("shift", [0.0, 0.013, 0.05, 0.08])
def test_boxes_on_the_grid(shift: float) -> None:
    geometry = [
        Block(size=(1.0, 1.2, 0.8), center=(shift, 0.3, -shift), material=MEDIA[1]),
        Block(size=(0.6, 0.5, 1.5), center=(-0.3, shift, 0.2), material=METAL),
        Block(size=(0.5, 0.4, 0.5), center=(0.2, 0.3, shift), material=MEDIA[4]),
    ]
    sim = Simulation(cell=(3, 3, 3), resolution=20, geometry=geometry, options=Options(courant=0.3))
    exact, found = both(sim)
    for kind, off in differences(exact, found).items():
        if kind in ("dielectric", "interface") or kind.startswith("pole "):
            # Edges and corners of boxes are counted only roughly: lines of points.
            assert off.mean() < 0.002, kind
            assert exact.survey.totals[kind] == pytest.approx(found.survey.totals[kind], rel=0.04), kind


ROUND: dict[str, Any] = {
    "ball": {"geometry": [Sphere(radius=0.7, center=(0.013, 0.02, -0.03), material=METAL_OF_ONE)]},
    "two media": {
        "geometry": [Block(size=(3, 3, 3), material=MEDIUM_OF_THREE), Sphere(radius=0.7, material=METAL_OF_ONE)],
    },
    "rod": {"cell": (2, 2, 0), "geometry": [Cylinder(radius=0.7, height=np.inf, material=MEDIUM_OF_THREE)]},
    "rod in an absorber": {
        "geometry": [Cylinder(radius=0.5, height=np.inf, material=MEDIUM_OF_THREE)],
        "boundaries": [Absorber(0.4, "z")],
    },
}


@pytest.mark.parametrize("case", ROUND)
def test_round_dispersive_media_have_sites(case: str) -> None:
    settings = {"cell": (2, 2, 2), "resolution": 24, **ROUND[case]}
    exact, found = (one.survey.totals for one in both(Simulation(**settings)))
    for kind in ("electric_sites", "electric site polarisations", "polarised", "polarisations"):
        # A rod whose surface only touches boxes has fewer sites; the survey knows no such chance.
        assert found[kind] == pytest.approx(exact[kind], rel=0.09), kind
    assert found.get("electric_anisotropic", 0) == pytest.approx(exact.get("electric_anisotropic", 0), rel=0.06)
    assert ("electric_anisotropic" in exact) == ("absorber" in case)


def crowd(seed: int) -> Simulation:
    random = np.random.default_rng(seed)
    geometry: list[Any] = []
    for i in range(12):
        center, r = random.uniform(-1.2, 1.2, 3), float(random.uniform(0.2, 0.5))
        x, y, z = (float(c) for c in center)
        medium = MEDIA[i % 5]
        axes = np.linalg.qr(random.normal(size=(3, 3)))[0].T
        geometry.append(
            (
                Block(size=random.uniform(0.3, 0.9, 3), center=center, material=medium),
                Sphere(radius=r, center=center, material=medium),
                Cylinder(radius=r, height=r, axis="y", center=center, material=medium),
                Block(size=random.uniform(0.3, 0.9, 3), center=center, axes=axes, material=medium),
                Prism(vertices=[(x, y), (x + r, y), (x + 0.3 * r, y + r)], height=r, base=z, material=medium),
            )[int(random.integers(5))]
        )
    boundaries: list[Any] = [PML(0.3, "x"), Absorber(0.3, "y"), Periodic("z")]
    return Simulation(
        cell=(3, 3, 3), resolution=32, geometry=geometry, boundaries=boundaries, options=Options(courant=0.3)
    )


@pytest.mark.parametrize("seed", [0, 1])
def test_objects_of_all_kinds(seed: int) -> None:
    exact, found = both(crowd(seed))
    off = differences(exact, found, smallest=1e-2)
    for kind in exact.survey.kinds:
        if "label" not in kind:
            # Junctions of three media and thin wedges of prisms are counted only roughly at this resolution.
            assert off[kind].mean() < (0.02 if kind in ("interface", "electric_anisotropic") else 0.01), kind
    for kind in found.survey.kinds:
        assert kind in exact.survey.kinds or found.survey.totals[kind] < 1e-3 * np.prod(exact.grid.shape)


def test_structures() -> None:
    for name in ("oled", "tandem", "random"):
        sim = Simulation(**build(name).simulation)
        for kind, off in differences(cell_of(sim, points=10**7), cell_of(sim, points=0)).items():
            if "label" not in kind and kind != "polarisations":
                assert off.mean() < 0.002, (name, kind)


def test_materials_given_point_by_point() -> None:
    ramp = Block(size=(1, 1, 1), material=lambda x, y, z: 1 + np.maximum(0, x))
    sim = Simulation(cell=(2, 2, 2), resolution=20, geometry=[ramp])
    exact, found = both(sim)
    # The half in which ε is 1 isn't dielectric.
    assert exact.survey.totals["dielectric"] == pytest.approx(found.survey.totals["dielectric"], rel=0.1)
    assert {"electric label", "electric label squared"} <= {*found.survey.kinds}


def test_fewer_blocks_keep_the_sums() -> None:
    sim = crowd(2)
    fine, coarse = (object_survey(sim.structure, blocks=n) for n in (10**6, 500))
    assert np.prod([len(e) - 1 for e in coarse.edges]) <= 500
    for kind, n in fine.totals.items():
        # Apart from planes of points that two faces share, which are told in fine blocks alone.
        assert coarse.totals[kind] == pytest.approx(n, rel=0.03), kind


def test_no_conductivity_of_media_in_absorbers() -> None:
    lossy = Medium(epsilon=2, electric_conductivity=0.5)
    sim = Simulation(cell=(2, 2, 2), resolution=10, material=lossy, boundaries=[Absorber(0.5, "x"), PML(0.3, "y")])
    exact, found = both(sim)
    assert found.survey.totals["electric_conductivity"] == exact.survey.totals["electric_conductivity"] == 10 * 20 * 20


@pytest.mark.parametrize("cell", [(4, 3, 0), (0, 0, 4)])
def test_thin_axes(cell: tuple[float, float, float]) -> None:
    geometry = [
        Sphere(radius=0.8, center=(0.1, 0.2, 0), material=MEDIA[2]),
        Block(size=(1, 1, 1), center=(0.5, 0, 1), material=METAL),
    ]
    exact, found = both(Simulation(cell=cell, resolution=40, geometry=geometry, options=Options(courant=0.3)))
    for kind, off in differences(exact, found, smallest=1e-2).items():
        if "label" not in kind:
            # Boxes are down to 2 (in two dimensions 200) points: one plane more or less is that much.
            assert off.mean() < (0.02 if cell[0] else 0.05), kind


def test_a_huge_cell_of_nothing() -> None:
    found = cell_of(Simulation(cell=(200, 200, 200), resolution=20))
    assert found.survey.kinds == ()
    assert found.survey.shape == (4000, 4000, 4000)
