"""``evenly rebalance``: measurement files in, a layout and the reason out."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path
from typing import Any

import pytest

from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement, RankRecord
from evenly.fdtd.structures.programs import load
from tests.cli.conftest import Evenly

SMALL: dict[str, Any] = {"resolution": 20, "size": 0.4, "absorber": 0.2, "pml": 0.2, "glass": 0.5}


def saved(file: str, times: list[float], **changes: Any) -> Path:
    """Write a measurement of a small cell whose ranks took so long, and the costs of a machine."""
    grid = load("oled", SMALL).simulation.grid
    ranks = tuple(RankRecord(i, {"fused": t}, {"fused": t, "waiting": 9.0}) for i, t in enumerate(times))
    layout = BinaryPartition.equal(grid, len(times)).to_list()
    run = Measurement(
        "oled", SMALL, steps=100, size=len(times), ranks=ranks, shape=grid.shape, layout=layout, cell=grid.size,
        resolution=20.0, when="2026-01-01T00:00:00",
    )  # fmt: skip
    CostModel("fdtd", {"points": Coefficient(4e-9)}, share_error=0.03).save("costs.json")
    return replace(run, **changes).save(f"{file}.fdtd.json")


def test_a_better_layout_is_saved_and_explained(evenly: Evenly) -> None:
    path = saved("run", [3e-3, 1e-3])
    shown = evenly("rebalance", path, "--cost", "costs.json", "--save", "new.json", "--steps", "1e6")
    assert shown.code == 0, shown.err
    assert "slowest rank 1.5 × the mean" in shown.out
    assert "worth it: a step of the slowest rank takes 30 µs" in shown.out
    assert "saved new.json" in shown.err
    grid = load("oled", SMALL).simulation.grid
    points = [box.volume for box in BinaryPartition.load("new.json").boxes(grid)]
    assert points[0] < 0.7 * points[1]
    told = evenly("rebalance", path, "--cost", "costs.json", "--json").json
    assert told["adjust"] is True
    assert told["measured_seconds_per_rank"] == [3e-5, 1e-5]
    assert max(told["predicted_seconds_per_rank"]) == pytest.approx(told["predicted_seconds"])
    assert told["layout"] == json.loads(Path("new.json").read_text())["partition"]


def test_what_does_not_pay_is_said_and_the_old_layout_kept(evenly: Evenly) -> None:
    path = saved("run", [3e-3, 1e-3])
    costs = ("--cost", "costs.json")
    shown = evenly("rebalance", path, *costs, "--steps", "10", "--rebuild", "5", "--save", "new.json")
    assert shown.code == 0
    assert "not worth it" in shown.out
    assert "the layout of the run" in shown.err
    assert BinaryPartition.load("new.json") == BinaryPartition(Measurement.load(path).layout)
    even = saved("even", [1e-3, 1e-3])
    assert "worth it:" not in evenly("rebalance", even, *costs).out


def test_repetitions_tell_the_noise(evenly: Evenly) -> None:
    saved("a", [1.3e-3, 0.9e-3])
    saved("b", [0.8e-3, 1.3e-3], repetition=1)
    told = evenly("rebalance", ".", "--cost", "costs.json", "--json").json
    assert told["imbalance"] == pytest.approx(1.1 / 1.075)
    assert told["adjust"] is False


def test_a_layout_that_comes_back_is_judged_by_its_latest_runs(evenly: Evenly) -> None:
    grid = load("oled", SMALL).simulation.grid
    other = BinaryPartition([("x", 0.05), 0, 1])
    assert other.boxes(grid) != BinaryPartition.equal(grid, 2).boxes(grid)
    times = [("a", [1e-3, 1e-3], 0), ("b", [1.2e-3, 1e-3], 1), ("c", [1.9e-3, 1e-3], 2), ("d", [2.1e-3, 1e-3], 3)]
    for name, seconds, minute in times:
        moved = {"layout": other.to_list()} if name == "b" else {}
        saved(name, seconds, when=f"2026-01-01T00:0{minute}:00", **moved)
    # The first run, on the layout that came back, was made before a rank became slow.
    told = evenly("rebalance", ".", "--cost", "costs.json", "--json").json
    assert told["measured_seconds_per_rank"] == pytest.approx([2e-5, 1e-5])
    assert told["now_seconds"] == pytest.approx(2e-5)
    assert told["adjust"] is True


def test_what_the_next_run_gains_is_told(evenly: Evenly) -> None:
    path = saved("run", [3e-3, 1e-3])
    alone = evenly("rebalance", path, "--cost", "costs.json").out
    assert "what moving itself takes isn't known and isn't counted" in " ".join(alone.split())
    told = evenly("rebalance", path, "--cost", "costs.json", "--steps", "1e6").out
    assert "in the 1000000 steps to go" in " ".join(told.split())


def test_a_cell_file_may_be_named(evenly: Evenly) -> None:
    from evenly.decomposition.cells.fdtd.cell import cell_of

    path = saved("run", [3e-3, 1e-3], name="mine")
    cell_of(load("oled", SMALL).simulation).save("cell.npz")
    assert evenly("rebalance", path, "--of", "cell.npz", "--cost", "costs.json", "--json").json["adjust"] is True


def test_a_layout_in_place_of_a_measurement_is_told_whose_runs_are_read(evenly: Evenly) -> None:
    BinaryPartition([("x", 0.5), 0, 1]).save("layout.json")
    shown = evenly("rebalance", "layout.json")
    assert shown.code == 2
    for words in ("evenly binary partition", "measurements of evenly.fdtd", "ChunkBalancer (docs/meep.md)"):
        assert words in shown.err
    assert "ChunkBalancer" not in evenly("rebalance", "nowhere.fdtd.json").err
    assert "ChunkBalancer (docs/meep.md)" in " ".join(evenly("rebalance", "--help").out.replace("│", "").split())


@pytest.mark.parametrize(
    ("changes", "arguments", "message"),
    [
        ({"name": "mine"}, (), "say what was run, as --of script.py"),
        ({}, ("--resolution", "30"), "give the program the parameters of the run"),
        ({"layout": None}, (), "holds no layout"),
        ({"status": "failed", "message": "out of memory"}, (), "out of memory"),
    ],
)
def test_what_does_not_belong_together_is_refused(
    evenly: Evenly, changes: Any, arguments: tuple[str, ...], message: str
) -> None:
    path = saved("run", [3e-3, 1e-3], **changes)
    shown = evenly("rebalance", path, "--cost", "costs.json", *arguments)
    assert shown.code == 2
    assert message in shown.err
    assert evenly("rebalance", "nowhere.fdtd.json").code == 2
