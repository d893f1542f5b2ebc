"""Surveys point by point hold what `count` counts and what chunks allocate, in every box."""

from __future__ import annotations

import itertools
from functools import cache
from typing import Any

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.cells.fdtd.point_kinds import MASKS, pole_kind, varied
from evenly.decomposition.cells.pieces import pieces_of
from evenly.fdtd import (
    PML,
    Absorber,
    Bloch,
    Block,
    DftFields,
    DrudePole,
    FieldRecorder,
    Flux,
    GaussianPulse,
    LorentzPole,
    Medium,
    Options,
    Periodic,
    Simulation,
    Source,
    Sphere,
)
from evenly.fdtd.cell.box import Box
from evenly.fdtd.counting.counts import Counts, count
from evenly.fdtd.stepping.chunk import Chunk
from tests.fdtd.scenes import scene

METAL = Medium(electric_poles=[DrudePole(0.5), DrudePole(0.4, 0.1)])
SITES = ("electric_sites", "magnetic_sites")
LOSSY = Medium(epsilon=3, electric_conductivity=0.3, mu=1.5, magnetic_poles=[LorentzPole(0.7, 0.1, 0.2)])
CASES: dict[str, dict[str, Any]] = {
    "everything": {"boundaries": [PML(0.25, "x"), Absorber(0.2, "z", "low"), Periodic("y")], "geometry": scene(1)},
    "no averaging": {"geometry": scene(2), "options": Options(courant=0.3, subpixel=False)},
    "conductive absorber": {"geometry": [], "material": LOSSY, "boundaries": [Absorber(0.4, "x"), Absorber(0.3, "z")]},
    "two dimensions": {"cell": (1.4, 0, 1.4), "geometry": scene(4)},
    "one dimension": {"cell": (0, 0, 3), "geometry": [Block(size=(9, 9, 0.55), material=LOSSY)]},
    "complex": {
        "boundaries": [Bloch("x", k=(0.1, 0, 0))],
        "geometry": [Block(size=(0.7, 0.7, 0.7), material=Medium(electric_poles=[DrudePole(0.5), LorentzPole(1.0)]))],
    },
    "round": {
        "geometry": [
            Sphere(radius=0.4, center=(0.1, 0, 0), material=Medium(epsilon=2, electric_poles=[LorentzPole(0.5, 0.1)])),
            Sphere(
                radius=0.3, center=(-0.1, 0.1, 0), material=Medium(electric_poles=[DrudePole(0.5), DrudePole(0.4, 0.1)])
            ),
            Sphere(radius=0.2, center=(-0.3, -0.3, 0), material=Medium(index=1.5)),
        ],
    },
    "empty": {"geometry": []},
}


@cache
def simulation(case: str) -> Simulation:
    return Simulation(**{"cell": (1.4, 1.2, 1.0), "resolution": 12, "options": Options(courant=0.3), **CASES[case]})


@cache
def cell(case: str) -> Cell:
    return cell_of(simulation(case))


def expected(found: Counts) -> dict[str, int]:
    poles = {pole_kind(pole, "electric"): n for pole, n in found.electric_poles.items()}
    poles |= {pole_kind(pole, "magnetic"): n for pole, n in found.magnetic_poles.items()}
    return {name: getattr(found, name) for name in MASKS} | poles


@st.composite
def boxes(draw: st.DrawFn) -> tuple[str, Box]:
    case = draw(st.sampled_from(sorted(CASES)))
    ends = []
    for n in simulation(case).grid.shape:
        low = draw(st.integers(0, n - 1))
        ends.append((low, draw(st.integers(low + 1, n))))
    (a, b), (c, d), (e, f) = ends
    return case, Box((a, c, e), (b, d, f))


@given(boxes())
@settings(max_examples=120, deadline=None)
def test_every_box_holds_what_is_counted(drawn: tuple[str, Box]) -> None:
    case, box = drawn
    found = cell(case).survey.counts([box.lo], [box.hi])
    # Sums of at most 8 corners below 1e5 each.
    for kind, n in expected(count(simulation(case).structure, box)).items():
        assert cell(case).column(found, kind)[0] == pytest.approx(n, abs=1e-8), kind


def test_only_what_is_there_is_a_kind() -> None:
    assert cell("empty").survey.kinds == ()
    assert cell("empty").survey.counts([[0, 0, 0]], [[3, 3, 3]]).shape == (1, 0)
    kinds = cell("everything").survey.kinds
    assert {*MASKS, "polarised", "polarisations", "nonlinear values"} - {*SITES} <= {*kinds}
    assert [kind for kind in SITES if kind in cell("round").survey.kinds] == ["electric_sites"]
    assert all(n > 0 for n in cell("everything").survey.totals.values())
    assert "interface" not in cell("no averaging").survey.kinds


def test_layers_sides_and_fields() -> None:
    sim, found = simulation("everything"), cell("everything")
    assert (found.pml, found.absorber) == (sim.layers.pml, sim.layers.absorber)
    assert found.periodic == (False, True, False)
    assert (found.parts, cell("complex").parts) == (1, 2)
    assert cell("complex").periodic == (True, False, False)
    assert found.program == "fdtd"


def test_nothing_is_allocated() -> None:
    sim = Simulation(cell=(2, 2, 2), resolution=10, geometry=scene(1), options=Options(courant=0.3))
    cell_of(sim)
    cell_of(sim, points=0)
    assert not {"chunks", "stepper"} & set(vars(sim))


def chunk_of(sim: Simulation, box: Box) -> Chunk:
    return Chunk(0, box, sim.structure, sim.layers, (False, False, False))


@pytest.mark.parametrize("case", ["everything", "no averaging", "complex", "two dimensions", "round"])
def test_what_chunks_hold(case: str) -> None:
    sim, several = simulation(case), 0
    x, y, z = sim.grid.shape
    for low, high in itertools.pairwise(np.linspace(0, x, 4).astype(int).tolist()):
        box = Box((low, 0, z // 4), (high, y, z))
        chunk, found = chunk_of(sim, box), cell(case).survey.counts([box.lo], [box.hi])
        groups = [group for medium in chunk.media.values() for group in medium.poles]
        bent = [points for medium in chunk.media.values() for points in medium.nonlinear]
        for kind, held in (
            ("polarised", sum(group.points for group in groups)),
            ("polarisations", sum(group.points * len(group.names) for group in groups)),
            ("nonlinear values", sum(int(points.runs[:, 1].sum()) for points in bent)),
        ):
            several += held
            assert cell(case).column(found, kind)[0] == pytest.approx(held, abs=1e-8), kind
    assert several > 0


def test_sites_are_those_of_the_chunk() -> None:
    sim = simulation("round")
    sites = chunk_of(sim, sim.grid.box).media["E"].sites
    totals = cell("round").survey.totals
    assert sites is not None
    assert totals["electric_sites"] == len(sites.kind) > 1000
    assert totals["electric site polarisations"] == sum(group.points * len(group.names) for group in sites.poles)
    assert totals["electric site polarisations"] > totals["electric_sites"]


@given(boxes())
@settings(max_examples=60, deadline=None)
def test_chunks_are_varied_where_the_survey_says_so(drawn: tuple[str, Box]) -> None:
    case, box = drawn
    sim = simulation(case)
    pieces = pieces_of(cell(case), [box.lo], [box.hi])
    sample = sim.structure.sample(box)
    for side, response in (("electric", sample.electric), ("magnetic", sample.magnetic)):
        differ = any(isinstance(v, np.ndarray) and np.ptp(v) > 0 for v in response.inverse)
        said = bool(pieces.sums(varied(pieces, side).astype(float), 1)[0])
        # Only of materials given point by point, and of nothing but interfaces, it may be wrong: on the safe side.
        custom = any(not isinstance(thing.material, Medium) for thing in sim.structure.objects)
        # So it may for a single point, in which nothing can differ.
        if len(pieces.low) == 1 and not np.all(sample.interface) and np.prod(np.subtract(box.hi, box.lo)) > 1:
            assert said == differ or (custom and said)


@pytest.mark.parametrize("blocks", [1, 50, 2000])
def test_merged_blocks_keep_sums(blocks: int) -> None:
    sim = simulation("everything")
    merged, whole = cell_of(sim, blocks=blocks), cell("everything")
    x, y, z = (np.array(e) for e in merged.survey.edges)
    assert (len(x) - 1) * (len(y) - 1) * (len(z) - 1) <= blocks
    low = np.array([(a, b, c) for a in x[:-1] for b in y[:-1] for c in z[:-1]])
    high = np.array([(a, b, c) for a in x[1:] for b in y[1:] for c in z[1:]])
    assert merged.survey.kinds == whole.survey.kinds
    assert np.allclose(merged.survey.counts(low, high), whole.survey.counts(low, high), rtol=0, atol=1e-6)


def test_a_stack_of_films_needs_few_blocks() -> None:
    films = [Block(size=(np.inf, np.inf, 0.3), center=(0, 0, z), material=Medium(index=2)) for z in (-0.5, 0.4)]
    found = cell_of(Simulation(cell=(3, 3, 3), resolution=20, geometry=films))
    x, y, z = found.survey.edges
    assert (len(x), len(y)) == (2, 2)
    assert len(z) < 15


def test_transforms() -> None:
    pulse = GaussianPulse(1.0, 0.2)
    sim = Simulation(cell=(2, 2, 2), resolution=10, sources=[Source(pulse, "Ez", (0, 0, 0))])
    fields = DftFields(["Ex", "Ez"], (0, 0, 0), (0.5, 0.5, 0.5), [0.5, 0.6])
    often = DftFields(["Ey"], (0, 0, 0), (0.5, 0.5, 0), [0.5], every=1)
    flux = sim.add(Flux((0, 0, 0.5), (1, 1, 0), np.linspace(0.8, 1.2, 5), direction="+z"))
    sim.add(FieldRecorder("Ez", (0, 0, 0)))
    found = cell_of(sim, [fields, often])
    every = fields.sampling(sim)
    assert every > 1
    assert often.sampling(sim) == 1
    # An option asks for more samples, never for fewer than bands allow, and not of monitors that say it themselves.
    for option, sampled in ((every - 1, every - 1), (every + 1, every)):
        asked = Simulation(cell=(2, 2, 2), resolution=10, sources=sim.sources, options=Options(decimation=option))
        assert fields.sampling(asked) == sampled
        assert often.sampling(asked) == 1
    wanted = [
        (region.box.volume / monitor.sampling(sim), len(monitor.frequencies))
        for monitor in (flux, fields, often)
        for region in monitor.regions(sim.grid)
    ]
    values, products = pieces_of(found, [[0, 0, 0]], [sim.grid.shape]).transforms
    assert values[0] == pytest.approx(sum(v for v, _ in wanted))
    assert products[0] == pytest.approx(sum(v * n for v, n in wanted))
    assert {t.frequencies for t in found.transforms} == {1, 2, 5}
