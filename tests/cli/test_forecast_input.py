"""``evenly predict --simulation`` and ``evenly train``: tiny cells with costs that the test wrote."""

from __future__ import annotations

import json
from dataclasses import replace
from pathlib import Path

import pandas as pd
import pytest

from evenly.cli.forecast_input import _assumed
from evenly.decomposition.forecasting.step_model import StepModel
from evenly.machine.link import Link
from evenly.machine.machine import Machine
from tests.cli.commands.test_partition import lopsided
from tests.cli.conftest import Evenly
from tests.decomposition.forecasting.planted import COST, learned

CELL = ("--simulation", "oled", "--resolution", "20", "--size", "0.4", "--set", "absorber=0.2", "--set", "pml=0.2")
ON = ("--machine", "small.toml")
MACHINE = Machine("small", nodes=4, cores_per_node=2, within_node=Link(1e-6, 1e10), between_nodes=Link(2e-5, 1e9))


@pytest.fixture
def here(evenly: Evenly, monkeypatch: pytest.MonkeyPatch) -> Evenly:
    """The command line in a folder with a machine and costs, away from what the user has."""
    monkeypatch.setenv("EVENLY_HOME", "home")
    MACHINE.save("small.toml")
    COST.save("cost.json")
    learned().save("steps.evenly")
    return evenly


def test_a_curve_with_cost_and_a_recommendation(here: Evenly) -> None:
    found = here(
        "predict", *CELL, "--machine", "small.toml", "--ranks", "1..8", "--model", "cost.json", "--price", "0.1"
    )
    assert found.code == 0
    assert "oled on small" in found.out
    assert "recommended: " in found.out
    assert "EUR" in found.out
    assert "…" not in found.out
    assert "replayed" in found.err


def test_json_csv_and_pictures_hold_the_same(here: Evenly) -> None:
    asked = (
        "predict",
        *CELL,
        "--machine",
        "small.toml",
        "--ranks",
        "1,2,4",
        "--model",
        "steps.evenly",
        "--steps",
        "50",
    )
    found = here(*asked, "--json", "--save", "curve.csv", "--plot", "pictures", "--plot-format", "png")
    assert found.code == 0
    told = found.json
    table = pd.read_csv("curve.csv")
    assert [row["ranks"] for row in told["rows"]] == table["ranks"].tolist() == [1, 2, 4]
    assert told["steps"] == 50
    assert told["source"] == "replay"
    assert told["recommended"]["ranks"] in (1, 2, 4)
    assert sorted(p.name for p in Path("pictures").iterdir()) == ["oled-forecast-cost.png", "oled-forecast-time.png"]


def test_a_deadline_that_cannot_be_met_ends_with_one(here: Evenly) -> None:
    found = here("predict", *CELL, "--machine", "small.toml", "--ranks", "1,2", "--model", "cost.json", "--deadline",
                 "0.000001s")  # fmt: skip
    assert found.code == 1
    assert "the fastest:" in found.err


@pytest.mark.parametrize(
    ("arguments", "said"),
    [
        (CELL, "--machine"),
        ((*CELL, "--machine", "nowhere"), "cloud-16-10g"),
        ((*CELL, "--machine", "small.toml", "--ranks", "16"), "8 cores (4 nodes of 2)"),
        ((*CELL, "--machine", "small.toml", "--ranks", "5..2"), "5..2"),
        ((*CELL, "--machine", "small.toml", "--deadline", "soon"), "--deadline"),
        ((*CELL, "--machine", "small.toml", "--budget", "3 apples"), "--budget"),
        ((*CELL, "--machine", "small.toml", "--budget", "3", "--efficiency", "0.5"), "--efficiency"),
        ((*CELL, "--machine", "small.toml", "--budget", "3EUR", "--ranks", "1"), "price_per_core_hour"),
        ((*CELL, "--machine", "small.toml", "--at", "n=3"), "--at"),
        ((*CELL, "--machine", "small.toml", "runs.csv"), "PATH"),
        ((*CELL, "--machine", "small.toml", "--model", "small.toml"), "small.toml"),
        (("--machine", "small.toml"), "--simulation"),
        (("--at", "n=3"), "PATH"),
    ],
)
def test_what_does_not_fit_is_said_in_a_line(here: Evenly, arguments: tuple[str, ...], said: str) -> None:
    found = here("predict", *arguments)
    assert found.code == 2
    assert said in found.err
    assert "Traceback" not in found.err


@pytest.mark.parametrize(
    ("steps", "which", "said"),
    [(4000, 1, "the first run of this simulation makes 4,000 steps"), (4000, 2, "the first run of simulation 2 makes"),
     (None, 1, "costs are those of 1000 steps")],
)  # fmt: skip
def test_the_note_on_steps_says_whose_run_and_what_they_are_in_meeps_time(
    steps: int | None, which: int, said: str
) -> None:
    cell = replace(lopsided(), program="meep")
    text = _assumed(steps, cell, which)
    assert said in text
    assert f"; {1 / cell.grid.dt:g} steps are 1 of Meep's time)" in text
    assert "Meep" not in _assumed(steps, lopsided(), which)


def test_a_deadline_needs_the_number_of_steps(here: Evenly) -> None:
    lopsided().save("cell.npz")
    asked = ("predict", "--simulation", "cell.npz", *ON, "--ranks", "1,2", "--model", "cost.json")
    for goal in (("--deadline", "90s"), ("--budget", "3")):
        found = here(*asked, *goal)
        assert found.code == 2
        assert "--steps" in found.err
    assert here(*asked, "--deadline", "90s", "--steps", "50").code == 0
    assert any("1000 steps" in note for note in here(*asked, "--json").json["notes"])


@pytest.mark.parametrize(("asked", "looked_at"), [("3..16", [3, 4, 6, 8]), ("4,8,16", [4, 8]), ("2,8", [2, 8])])
def test_numbers_of_ranks_that_the_machine_has_not_are_left_out_and_said(
    here: Evenly, asked: str, looked_at: list[int]
) -> None:
    found = here("predict", *CELL, *ON, "--ranks", asked, "--model", "cost.json", "--json").json
    assert [row["ranks"] for row in found["rows"]] == looked_at
    said = "small has 8 cores, so no more ranks than that are looked at" in found["notes"]
    assert said == ("16" in asked)


def test_a_machine_without_links_says_what_is_missing(here: Evenly) -> None:
    replace(MACHINE, within_node=None).save("bare.toml")
    found = here("predict", *CELL, "--machine", "bare.toml", "--ranks", "2", "--model", "cost.json")
    assert found.code == 2
    assert "[within_node]" in found.err


@pytest.mark.slow
def test_training_times_cells_and_goes_on(here: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.decomposition.forecasting import training_data
    from evenly.decomposition.forecasting.rehearsal import Setting

    small = [Setting("random", {"points": 1.2e4, "seed": seed}, 1 + seed % 2) for seed in range(12)]
    monkeypatch.setattr(training_data, "training_settings", lambda runs, **_: small[:runs])
    first = here("train", "--runs", "12", "--wall-time", "2m", "-o", "mine.evenly", "--json")
    assert first.code == 0, first.err
    told = json.loads(first.out)
    assert told["cells"] == 12
    assert 0 <= told["error"] <= told["error_90"]
    again = here("train", "--runs", "12", "--wall-time", "1s", "-o", "mine.evenly")
    assert again.code == 0
    assert "learned from 12 cells" in again.out


def test_training_that_was_too_short_goes_on_with_the_same_command(
    here: Evenly, monkeypatch: pytest.MonkeyPatch
) -> None:
    from evenly.decomposition.forecasting import training_data
    from evenly.decomposition.forecasting.rehearsal import Setting

    small = [Setting("random", {"points": 1.2e4, "seed": seed}, 1) for seed in range(10)]
    monkeypatch.setattr(training_data, "training_settings", lambda runs, **_: small[:runs])
    asked = ("train", "--runs", "10", "--wall-time")
    short = here(*asked, "0.001s")
    assert short.code == 2
    assert "of 10 cells were timed in 0.001 s, and a step model is learned from at least 10" in short.err
    assert "What was timed is kept: the same command goes on" in short.err
    assert "rehearsals" not in short.err
    assert not Path("home/costs/fdtd.evenly").exists()


@pytest.mark.slow
def test_a_step_model_of_meep_is_learned_from_real_ranks(here: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    from evenly.cli.commands import train

    monkeypatch.setattr(train, "POINTS_OF_MEEP", (1.5e4, 2e4))
    first = here("train", "meep", "--runs", "10", "--wall-time", "3m", "-o", "mine.evenly", "--json")
    assert first.code == 0, first.err
    assert json.loads(first.out)["cells"] == 10
    model = StepModel.load("mine.evenly")
    assert model.cost.program == "meep"
    assert model.half_width(0.9) < 1


def test_options_of_the_other_program_are_refused_by_train(here: Evenly) -> None:
    assert "run on real ranks" in here("train", "meep", "--real", "3").err
    assert "the Python that has Meep" in here("train", "--python", "python3").err
