"""Random cells for Meep, and their rehearsals on real ranks."""

from __future__ import annotations

import itertools
from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.adapters.meep.timing.random_cells import MOST_POLES, design_of, random_settings
from evenly.adapters.meep.timing.ranks import MeepRun, cell_of_run, time_ranks
from evenly.adapters.meep.timing.rehearsals import pace_of, random_run, rehearse
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.survey import Survey
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.locations import find_cost
from evenly.decomposition.forecasting.lone_rank_timing import rank_loads_of
from evenly.decomposition.forecasting.rehearsal import RehearsalStore
from evenly.fdtd.cell.grid import Grid
from evenly.fdtd.cell.partition import BinaryPartition
from tests.adapters.meep.conftest import Inside

DESIGNS = [design_of(setting.parameters) for setting in random_settings(20, seed=5)]


def test_draws_go_on_where_others_ended() -> None:
    assert random_settings(3, seed=1, first=2) == random_settings(5, seed=1)[2:]
    assert random_settings(3, seed=1) != random_settings(3, seed=2)
    asked = random_settings(10, points=(5e4, 6e4), ranks=[3])
    assert all(one.ranks == 3 and 5e4 <= one.parameters["points"] <= 6e4 for one in asked)


@pytest.mark.parametrize("design", DESIGNS)
def test_regions_lie_apart_from_each_other_and_from_layers(design: dict[str, Any]) -> None:
    regions = [*design["objects"], *design["monitors"]]
    ends = [
        (np.array(r["center"]) - np.array(r["size"]) / 2, np.array(r["center"]) + np.array(r["size"]) / 2)
        for r in regions
    ]
    for (a, b), (c, d) in itertools.combinations(ends, 2):
        assert np.any((b <= c + 1e-9) | (d <= a + 1e-9))
    inside = np.array(design["points"]) / 2
    for layer in design["layers"]:
        inside["xyz".index(layer["axis"])] -= layer["points"] / 2
    assert all(np.all(low >= -inside) and np.all(high <= inside) for low, high in ends)


def test_media_have_poles_of_their_own() -> None:
    # Two media with the same pole would be one pole to Meep.
    for design in DESIGNS:
        silicon, dielectric = (one["medium"] for one in design["objects"])
        assert 1 <= silicon["poles"] <= MOST_POLES
        assert dielectric["first_pole"] >= silicon["poles"]
    assert {design["objects"][1]["medium"]["poles"] > 0 for design in DESIGNS} == {True, False}


def test_bytes_of_meep_that_go_to_memory_are_told() -> None:
    empty = Survey.of_blocks([(0, 100)] * 3, (), np.zeros((1, 1, 1, 0)))
    cell = Cell("meep", Grid((100.0, 100.0, 100.0), 1), empty, layers_apart=("pml",))
    load = rank_loads_of(cell, BinaryPartition(0), 1, CostModel("meep", {"points": Coefficient(1e-9)}))
    # 101³ points in arrays hold 12 numbers each, and a step moves 36. The last cache holds 40 MB, nothing of 120 MB.
    held, moved = 12 * 8 * 101**3, 36 * 8 * 101**3
    assert load.memory_bytes[0] == pytest.approx(moved * (held / 40e6 - 1) / 2)


def test_a_random_cell_of_meep_is_the_one_that_was_drawn(meep_python: Path) -> None:
    setting = random_settings(1, seed=4, points=(2e4, 3e4))[0]
    design = design_of(setting.parameters)
    cell = cell_of_run(random_run(setting), meep_python)
    assert cell.grid.shape == tuple(design["points"])
    silicon, dielectric = design["objects"]
    assert cell.traits["electric poles"] == silicon["medium"]["poles"] + dielectric["medium"]["poles"]
    # Without averaging, a block that ends between grid points holds as many as its size says.
    wanted = silicon["medium"]["poles"] * np.prod(silicon["size"])
    wanted += dielectric["medium"]["poles"] * np.prod(dielectric["size"])
    assert cell.survey.totals["polarisations"] == pytest.approx(3 * wanted, rel=1e-9)
    every = design["monitors"][0]["every"]
    # The Poynting vector along z takes two components of E and two of H, all at the middle of cells.
    assert sum(one.values for one in cell.transforms) * every == pytest.approx(4)


def test_a_rehearsal_holds_what_ranks_took_and_what_they_had_to_do(meep_python: Path, tmp_path: Path) -> None:
    setting = random_settings(1, seed=4, points=(2e4, 3e4), ranks=[2])[0]
    cost = find_cost("meep").cost
    found = rehearse(setting, random_run(setting), cost, python=meep_python, batch_s=0.001)
    assert found.timed.tolist() == [0, 1]
    # Both have some thousand points, which take some microseconds each and by no means seconds.
    assert np.all((found.seconds > 1e-6) & (found.seconds < 1))
    assert found.load.profile.sum(axis=1) == pytest.approx([1, 1])
    assert set(found.messages.sender.tolist()) == {0, 1}
    with RehearsalStore(tmp_path / "kept.db", cost) as store:
        store.add(found)
        assert next(iter(store)).seconds.tolist() == found.seconds.tolist()


def test_every_rank_has_a_pace_beside_it(meep_python: Path) -> None:
    run = MeepRun(Path(__file__).parents[1] / "structures.py", "tandem", {"resolution": 20, "frequencies": 2})
    for ranks in (1, 2):
        times = time_ranks(run, ranks, "even", beside_pace=True, python=meep_python, batches=2, batch_s=0.001)
        assert times.paces is not None
        assert times.paces.shape == times.seconds.shape == (ranks,)
        assert np.all(times.paces > 0)


def test_the_pace_takes_what_its_points_take() -> None:
    assert pace_of(CostModel("meep", {"points": Coefficient(2e-9)})) == pytest.approx(2e-9 * 24**3)


def test_monitors_take_turns_in_a_common_period(inside: Inside) -> None:
    assert inside("periods", [[4, 6], [5], []]) == [12, 5, 1]
