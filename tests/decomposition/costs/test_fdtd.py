"""What the simulation is charged for is what its chunks hold: counted beside the chunks themselves."""

from __future__ import annotations

from typing import Any, ClassVar

import numpy as np
import pytest

from evenly import fdtd
from evenly.decomposition.calibration.fdtd_designs import fdtd_designs
from evenly.decomposition.calibration.fdtd_runs import amounts_of, built, lone_ranks, run_design
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.cells.pieces import pieces_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.fdtd import Fdtd, memory_order
from evenly.decomposition.costs.terms import Program
from evenly.decomposition.partitioning.predict import corners, predict
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.simulation import Simulation
from evenly.fdtd.stepping.chunk import Chunk
from evenly.fdtd.stepping.coefficients import FieldCoefficients
from evenly.fdtd.stepping.kernels.arguments import LOSSY, SCALAR
from tests.decomposition.costs.cells import everything, some_cells
from tests.decomposition.costs.contract import ProgramContract

EIGHTHS = [["z", -2.0], *[[["y", 1.0], *[[["x", 3.0], 0, 0]] * 2]] * 2]


class TestFdtd(ProgramContract):
    program: ClassVar[Program] = Fdtd()
    cells: ClassVar[dict[str, Cell]] = some_cells()


def _amounts(sim: Simulation) -> tuple[list[Chunk], dict[str, Any]]:
    """Return a simulation's chunks and, by term, the amounts of the piece that each of them is."""
    cell = cell_of(sim)
    pieces = pieces_of(cell, *corners(cell, sim.layout))
    by_box = {tuple(low): n for n, low in enumerate(pieces.low.tolist())}
    order = [by_box[chunk.box.lo] for chunk in sim.chunks]
    amounts = Fdtd().amounts(pieces)[order]
    return sim.chunks, {term.name: amounts[:, n] for n, term in enumerate(Fdtd().terms)}


def _media(chunk: Chunk) -> list[FieldCoefficients]:
    return list(chunk.media.values())


@pytest.fixture(scope="module")
def uneven() -> tuple[list[Chunk], dict[str, Any]]:
    sim = everything()
    sim.layout = BinaryPartition(EIGHTHS)
    return _amounts(sim)


def test_chunks_and_pieces_are_the_same(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    assert len(chunks) > 30
    assert amounts["chunks"].tolist() == [1.0] * len(chunks)


def test_factors_and_losses_are_those_of_the_chunks(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    factors = [c.box.volume * sum(m.mode != SCALAR for m in _media(c)) for c in chunks]
    losses = [c.box.volume * sum(m.mode == LOSSY for m in _media(c)) for c in chunks]
    assert amounts["factors"].tolist() == factors
    assert amounts["losses"].tolist() == losses
    assert len(set(factors)) > 3


def test_polarisations_are_those_of_the_chunks(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    groups = [[group for m in _media(c) for group in m.poles] for c in chunks]
    assert amounts["polarised values"].tolist() == [sum(g.points for g in of) for of in groups]
    assert amounts["polarisations"].tolist() == [sum(g.points * len(g.factors) for g in of) for of in groups]
    assert max(amounts["polarisations"]) > 100


def test_runs_of_poles_are_those_of_the_chunks(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    runs = [sum(len(g.runs) for m in _media(c) for g in m.poles) for c in chunks]
    assert amounts["pole runs"].tolist() == runs


def test_separate_sweeps_are_those_of_the_chunks(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    assert amounts["separate points"].tolist() == [c.box.volume * c.separate for c in chunks]
    assert any(c.separate for c in chunks)
    assert not all(c.separate for c in chunks)


def test_increments_are_kept_where_there_are_nodes(uneven: tuple[list[Chunk], dict[str, Any]]) -> None:
    chunks, amounts = uneven
    there = np.array([c.media["E"].nodes is not None for c in chunks])
    kept = np.array([sum(box.volume for box in c.increment_boxes["E"]) for c in chunks])
    # Nodes on the border of two chunks are counted by one of them and touched by both.
    assert np.all(there[amounts["fed chunks"] > 0])
    counted = there & (amounts["fed chunks"] > 0)
    assert counted.sum() >= 4
    assert amounts["increments"][counted].sum() == pytest.approx(kept[counted].sum(), rel=0.35)


def test_round_dispersive_media_have_sites_and_increments() -> None:
    metal = fdtd.Medium(electric_poles=[fdtd.DrudePole(0.05), fdtd.LorentzPole(0.02)])
    ball = fdtd.Sphere(radius=6.0, center=(1.2, 0.1, 0.2), material=metal)
    layout = BinaryPartition([("x", -8.0), 0, 0])
    (beside, chunk), amounts = _amounts(
        fdtd.Simulation(cell=(40, 30, 20), resolution=1, geometry=[ball], layout=layout)
    )
    sites = chunk.media["E"].sites
    assert sites is not None
    assert beside.media["E"].sites is None
    assert amounts["sites"].tolist() == [0, len(sites.kind)]
    assert amounts["site polarisations"][1] == 2 * len(sites.kind)
    assert amounts["nodes"].tolist() == [0, 0]
    assert amounts["fed chunks"].tolist() == [0, 1]
    assert amounts["polarised values"][1] == sum(group.points for group in chunk.media["E"].poles)
    assert amounts["increments"][1] == pytest.approx(sum(b.volume for b in chunk.increment_boxes["E"]), rel=0.05)


def test_rows_lie_along_the_axis_that_chunks_choose() -> None:
    sim = everything()
    sim.layout = BinaryPartition(EIGHTHS)
    cell = cell_of(sim)
    pieces = pieces_of(cell, *corners(cell, sim.layout))
    orders = dict(zip(map(tuple, pieces.low.tolist()), memory_order(pieces).tolist(), strict=True))
    assert [tuple(orders[c.box.lo]) for c in sim.chunks] == [c.frame.order for c in sim.chunks]
    assert len({c.frame.order for c in sim.chunks}) > 1


def test_complex_fields_cost_twice() -> None:
    def amounts(boundary: Any) -> dict[str, float]:
        sim = Simulation(cell=(8, 8, 8), resolution=1, boundaries=[boundary])
        return amounts_of(sim, 1, [])[0]

    real, complex_ = amounts(fdtd.Periodic("xyz")), amounts(fdtd.Bloch("xyz", (0.01, 0.02, 0.03)))
    assert complex_["points"] == 2 * real["points"]
    assert "turned sides" not in real
    assert complex_["turned sides"] == 12


def test_transforms_count_values_frequencies_and_patches() -> None:
    sim = Simulation(cell=(10, 10, 10), resolution=1)
    monitor = fdtd.DftFields(["Ex", "Hy"], (0, 0, 0), (4, 4, 4), [0.01, 0.02, 0.03])
    found = amounts_of(sim, 1, [monitor])[0]
    patches = sim.add(monitor).patches
    values = sum(patch.box.volume for patch in patches)
    assert (found["transformed values"], found["transforms"], found["patches"]) == (values, 3 * values, len(patches))


def test_lone_ranks_do_what_ranks_of_a_job_do() -> None:
    keywords: dict[str, Any] = {"cell": (20, 10, 10), "resolution": 1, "layout": BinaryPartition([("x", 2.0), 0, 1])}
    one, other = lone_ranks(keywords, 2, list)
    assert [sum(c.box.volume for c in sim.chunks) for sim in (one, other)] == [1200, 800]
    assert [sim.stepper.halos["E"].neighbours for sim in (one, other)] == [1, 1]
    # Two components of E on 100 faces, 8 bytes each: the rank above sends them to the one below.
    assert [sim.stepper.halos["E"].bytes_sent for sim in (one, other)] == [0, 1600]
    assert [sim.stepper.halos["H"].bytes_sent for sim in (one, other)] == [1600, 0]
    one.step()


def test_amounts_at_their_costs_are_the_prediction() -> None:
    sim = everything()
    sim.layout = BinaryPartition(EIGHTHS[:2] + [[["y", 1.0], 1, 2]])
    terms = Fdtd().all_terms
    cost = CostModel("fdtd", {term.name: Coefficient(1e-9 * n) for n, term in enumerate(terms, start=1)})
    amounts = [[rank.get(term.name, 0.0) for term in terms] for rank in amounts_of(sim, 3, [])]
    predicted = predict(cell_of(sim), sim.layout, 3, cost)
    np.testing.assert_allclose(np.array(amounts) @ cost.vector, predicted.work_s + predicted.border_s, rtol=1e-12)


def test_lone_ranks_know_each_others_increments() -> None:
    sphere = fdtd.Sphere(radius=4.0, material=fdtd.Medium(epsilon=3.0))
    keywords: dict[str, Any] = {"cell": (12, 12, 12), "resolution": 1, "geometry": [sphere]}
    keywords["layout"] = BinaryPartition([("x", 0.0), 0, 1])
    sims = lone_ranks(keywords, 2, list)
    assert all(sim.stepper.halos["G"].neighbours == 1 for sim in sims)
    for sim in sims:
        sim.step()


@pytest.mark.parametrize("group", sorted({design.group for design in fdtd_designs()}))
def test_designs_can_be_built(group: str) -> None:
    of = [design for design in fdtd_designs() if design.group == group]
    for design in (of[0], of[-1]):
        keywords, monitors = built(design.settings)
        sim = Simulation(**keywords)
        found = amounts_of(sim, int(design.settings.get("ranks", 1)), monitors())
        assert len(found) == design.settings.get("ranks", 1)
        assert all(rank["points"] > 0 and rank["ranks"] == 1 for rank in found)


def test_every_term_is_in_some_design() -> None:
    seen: set[str] = set()
    of_group = {design.group: design for design in fdtd_designs()}
    for design in of_group.values():
        keywords, monitors = built(design.settings)
        for rank in amounts_of(Simulation(**keywords), int(design.settings.get("ranks", 1)), monitors()):
            seen |= set(rank)
    assert seen == {term.name for term in Fdtd().all_terms}


def test_a_design_runs() -> None:
    design = next(d for d in fdtd_designs() if d.group == "ranks" and d.name == "24^3 on 2")
    timing = run_design(design)
    assert len(timing.seconds) == len(timing.amounts) == 2
    assert min(timing.seconds) > 0
    assert timing.pace is not None
    assert timing.pace > 0


def test_the_chunks_of_a_rank_share_its_caches() -> None:
    def amounts(layout: Any, ranks: int = 1) -> dict[str, float]:
        sim = Simulation(cell=(80, 80, 80), resolution=1, layout=layout)
        return amounts_of(sim, ranks, [])[0]

    alone = amounts(BinaryPartition(0))
    eighths = amounts(BinaryPartition([["z", 0.0], *[[["y", 0.0], *[[["x", 0.0], 0, 0]] * 2]] * 2]))
    # Each of the eight would lie in the last cache by itself, all together don't, cut or not.
    assert alone["memory bytes"] > 0.3 * alone["uncached bytes"]
    for name in ("memory bytes", "uncached bytes"):
        assert eighths[name] == pytest.approx(alone[name], rel=0.1)
    halves = amounts(BinaryPartition([["x", 0.0], 0, 1]), 2)
    assert halves["memory bytes"] < 0.1 * alone["memory bytes"]
    assert halves["uncached bytes"] == pytest.approx(alone["uncached bytes"] / 2, rel=0.2)


def test_rows_of_nodes_cost_where_the_caches_don_t_hold_them() -> None:
    def amounts(edge: int) -> dict[str, float]:
        ball = fdtd.Sphere(radius=edge / 3, material=fdtd.Medium(epsilon=3.0))
        return amounts_of(Simulation(cell=(edge,) * 3, resolution=1, geometry=[ball]), 1, [])[0]

    small, large = amounts(20), amounts(60)
    assert small["node runs"] > 100
    assert "far node runs" not in small
    assert large["far node runs"] > 0.8 * large["node runs"] > 1000
