"""Forecasts: columns that follow from each other, notes, wrong questions, and which model is taken."""

from __future__ import annotations

import dataclasses
from pathlib import Path

import numpy as np
import pandas as pd
import pytest

import evenly
from evenly.decomposition.cells.cell import Cell
from evenly.decomposition.cells.fdtd.cell import cell_of
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.forecasting import locations
from evenly.decomposition.forecasting.forecast import _efficient
from evenly.decomposition.forecasting.lone_rank_timing import rank_loads_of
from evenly.errors import InfeasibleError, InputError
from evenly.fdtd import Simulation
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.structures import build
from evenly.machine.link import Link
from evenly.machine.machine import Machine
from tests.decomposition.forecasting.planted import COST, learned

MACHINE = Machine(
    "four", nodes=4, cores_per_node=4, price_per_core_hour=0.1, within_node=Link(1e-6, 1e10),
    between_nodes=Link(2e-5, 1e9), whole_nodes=True,
)  # fmt: skip
POINTS = CostModel("fdtd", {"points": Coefficient(1e-8)}, time_error=0.05, machine="a machine of tests")


@pytest.fixture(scope="module")
def cell() -> Cell:
    return cell_of(Simulation(cell=(3.2, 2, 2), resolution=20), name="box")


@pytest.mark.parametrize(("parts", "said"), [((1.0, 0.5), False), ((1.0, 0.46), False), ((1.0, 0.3), True)])
def test_an_efficiency_far_above_all_is_explained_with_its_interval(parts: tuple[float, float], said: bool) -> None:
    """Bounds of 2 % of one time and 3 % of the other allow √(2² + 3²) % = 3.6 % in their ratio."""
    curve = pd.DataFrame({"ranks": [1, 2], "step_s": parts, "efficiency": [1.0, 0.5 / parts[1]]})
    wide = np.array([1.02, 1.03])
    text = _efficient(curve.assign(lower_s=curve["step_s"] / wide, upper_s=curve["step_s"] * wide))
    assert bool(text) is said
    if said:
        assert "an efficiency of 167 % on 2 ranks" in text
        assert "allow 161 … 173 %" in text


def test_columns_follow_from_each_other(cell: Cell) -> None:
    found = evenly.forecast(cell, [8, 1, 2, 8], MACHINE, model=POINTS, steps=1000)
    curve = found.curve
    assert curve["ranks"].tolist() == [1, 2, 8]
    assert curve["nodes"].tolist() == [1, 1, 2]
    # A few ghosts beside the points themselves.
    assert curve["step_s"].iloc[0] == pytest.approx(64 * 40 * 40 * 1e-8, rel=0.05)
    np.testing.assert_allclose(curve["computation_s"] + curve["communication_s"], curve["step_s"])
    np.testing.assert_allclose(curve["run_s"], 1000 * curve["step_s"])
    np.testing.assert_allclose(curve["efficiency"], curve["step_s"].iloc[0] / curve["step_s"] / curve["ranks"])
    # Whole nodes are paid.
    np.testing.assert_allclose(curve["core_hours"], curve["run_s"] * [4, 4, 8] / 3600)
    np.testing.assert_allclose(curve["money"], 0.1 * curve["core_hours"])
    assert np.all((curve["lower_s"] < curve["step_s"]) & (curve["step_s"] < curve["upper_s"]))
    assert found.best["ranks"] == found.ranks
    assert found.to_dict()["source"] == "replay"
    product = curve["run_s"] * curve["core_hours"]
    assert found.ranks == found.knee.count == found.to_dict()["knee"]["count"] == curve["ranks"].iloc[product.argmin()]
    assert any("replayed" in note for note in found.notes)
    assert any("linear cost model alone" in note for note in found.notes)


def test_a_higher_level_is_wider(cell: Cell) -> None:
    wide, narrow = (evenly.forecast(cell, [2], MACHINE, model=POINTS, level=level).curve for level in (0.99, 0.5))
    assert wide["upper_s"].iloc[0] > narrow["upper_s"].iloc[0]


def test_intervals_know_how_the_pace_varied(cell: Cell) -> None:
    varied = dataclasses.replace(POINTS, time_error=0.0, pace_spread=0.2)
    curve = evenly.forecast(cell, [1], MACHINE, model=varied, level=0.9).curve
    # 1.645 standard deviations of a logarithm of 0.2 hold 90 %.
    assert curve["upper_s"].iloc[0] / curve["step_s"].iloc[0] == pytest.approx(np.exp(0.329), rel=1e-3)
    model = learned()
    tight, loose = (
        dataclasses.replace(model, cost=dataclasses.replace(model.cost, pace_spread=spread)) for spread in (0.05, 0.2)
    )
    sure, unsure = (evenly.forecast(cell, [1], MACHINE, model=one).curve for one in (tight, loose))
    assert unsure["upper_s"].iloc[0] > 1.05 * sure["upper_s"].iloc[0]


def test_what_was_learned_corrects_the_costs_and_outside_is_said() -> None:
    example = build("random", points=2e4, seed=1)
    sim = Simulation(**{**example.simulation, "sources": ()})
    found = evenly.forecast(cell_of(sim), [2], MACHINE, model=learned())
    assert any(note.startswith("unlike the cells learned from: points") for note in found.notes)
    assert not any("linear cost model alone" in note for note in found.notes)


def test_wrong_questions_are_refused(cell: Cell) -> None:
    for arguments, said in (
        ({"ranks": []}, "ranks"),
        ({"ranks": [0]}, "ranks"),
        ({"ranks": [1], "steps": 0}, "steps"),
        ({"ranks": [1], "level": 1.0}, "level"),
        ({"ranks": [32]}, "16 cores"),
    ):
        with pytest.raises(InputError, match=said):
            evenly.forecast(cell, machine=MACHINE, model=POINTS, **arguments)
    with pytest.raises(InfeasibleError, match="the fastest:"):
        evenly.forecast(cell, [1, 2], MACHINE, model=POINTS, goal=evenly.Goal(deadline_s=1e-9))


def test_the_users_own_model_counts_more_than_the_shipped_one(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path))
    shipped = locations.find_step_model("fdtd")
    assert shipped is None or shipped.cost.program == "fdtd"
    own = locations.step_model_file("fdtd")
    own.parent.mkdir(parents=True)
    learned().save(own)
    found = locations.find_step_model("fdtd")
    assert found is not None
    assert len(found.errors) == len(learned().errors) == 30
    own.unlink()
    COST.save(own.with_name(own.name.replace(".steps.evenly", ".json")))
    assert locations.find_step_model("fdtd") is None


def test_bytes_that_caches_hold_arent_traffic_of_the_memory() -> None:
    # 48³ points hold 5.3 MB: more than a core's own caches, less than the last cache.
    small = cell_of(Simulation(cell=(2.4, 2.4, 2.4), resolution=20), name="small")
    large = cell_of(Simulation(cell=(6, 6, 6), resolution=20), name="large")
    loads = [rank_loads_of(cell, BinaryPartition(0), 1, COST) for cell in (small, large)]
    assert loads[0].memory_bytes[0] == 0 < loads[0].far_bytes[0]
    # 120³ points: E and H are read and written, and lie in memory.
    moved = 2 * 6 * 8 * 120**3
    assert moved < loads[1].memory_bytes[0] < 1.2 * moved
