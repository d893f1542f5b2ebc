"""From made-up timings to cost models and files, and back."""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Literal

import numpy as np
import pytest

from evenly.decomposition.calibration.designs import Design, Purpose, Timed
from evenly.decomposition.calibration.fitting import held_out, learn, share_errors
from evenly.decomposition.costs.cost_model import Coefficient, CostModel
from evenly.decomposition.costs.locations import Found, cost_file, find_cost, shipped_file, store_file
from evenly.errors import InputError, ReadError

NAMES = ("points", "chunks", "faces sent")
PLANTED = np.array([3e-9, 2e-5, 1e-8])


def _timed(group: str, amounts: list[list[float]], *, purpose: Purpose = "feature", factor: float = 1.0) -> Timed:
    rows = tuple(dict(zip(NAMES, rank, strict=True)) for rank in amounts)
    seconds = tuple(factor * float(np.dot(rank, PLANTED)) for rank in amounts)
    return Timed(Design(group, f"{len(amounts)} ranks", {}, purpose), rows, (seconds,) * 3)


def _campaign(*, last: float = 1.0) -> list[Timed]:
    features = [_timed(f"f{n}", [[10.0**n, 1.0, 10.0 * n]]) for n in (3, 4, 5)]
    cells = [_timed(f"cell {n}", [[1e4 * n, 2.0, 50.0], [3e4, 5.0, 80.0 * n]], purpose="cell") for n in (1, 2, 3)]
    return [*features, *cells, _timed("cell 4", [[5e4, 1.0, 10.0], [9e4, 1.0, 10.0]], purpose="cell", factor=last)]


def test_planted_costs_are_learned() -> None:
    model = learn("fdtd", _campaign(), machine="this one")
    assert set(model.coefficients) == set(NAMES)
    assert [model.coefficients[name].seconds for name in NAMES] == pytest.approx(PLANTED, rel=1e-6)
    assert model.share_error == pytest.approx(0, abs=1e-6)
    assert model.time_error == pytest.approx(0, abs=1e-6)


def test_a_cell_is_predicted_without_having_been_seen() -> None:
    # The last cell is twice as slow as anything else tells: its time is predicted half as long, its shares right.
    found = held_out(_campaign(last=2.0), [*NAMES])
    last = found[-1]
    assert [one.group for one in found] == ["cell 1", "cell 2", "cell 3", "cell 4"]
    assert last.time_error == pytest.approx(0.5, rel=1e-6)
    assert last.share_errors == pytest.approx([0, 0], abs=1e-6)
    model = learn("fdtd", _campaign(last=2.0))
    assert model.time_error > 0.125
    row = next(row for row in model.measured if row["group"] == "cell 4")
    assert row["held_out"] == pytest.approx(row["seconds"] / 2)


def test_share_errors_are_of_shares() -> None:
    assert share_errors(np.array([1.0, 3.0]), np.array([20.0, 60.0])).tolist() == [0, 0]
    assert share_errors(np.array([1.0, 3.0]), np.array([2.0, 2.0])) == pytest.approx([1.0, 1 / 3])


def test_terms_that_were_not_timed_come_from_the_prior_at_this_machines_speed() -> None:
    prior = CostModel("fdtd", {"points": Coefficient(1.5e-9), "chunks": Coefficient(1e-5), "rows": Coefficient(4e-8)})
    timed = [_timed(f"f{n}", [[10.0**n, 1.0, 0.0]]) for n in (3, 4, 5)]
    model = learn("fdtd", timed, prior=prior)
    # This machine takes twice as long as the prior's for the same.
    assert model.coefficients["rows"].seconds == pytest.approx(8e-8)
    assert model.coefficients["points"].seconds == pytest.approx(3e-9)
    assert np.isnan(model.share_error)


def _noisy(amounts: list[list[float]], seed: int = 0) -> list[Timed]:
    random = np.random.default_rng(seed)
    return [_timed(f"f{n}", [one], factor=float(np.exp(random.normal(0, 0.05)))) for n, one in enumerate(amounts)]


def test_what_timings_leave_open_the_prior_decides() -> None:
    # Points and faces always come in the same proportion: nothing tells what each of them takes.
    amounts = [[10.0**n, 1.0, 10.0 ** (n - 1)] for n in (3, 3.5, 4, 4.5, 5)]
    given = {"points": Coefficient(1.5e-9, 1e-11), "chunks": Coefficient(1e-5, 1e-7), "faces sent": Coefficient(5e-9)}
    alone = learn("fdtd", _noisy(amounts))
    drawn = learn("fdtd", _noisy(amounts), prior=CostModel("fdtd", given))
    ratio = drawn.coefficients["faces sent"].seconds / drawn.coefficients["points"].seconds
    assert ratio == pytest.approx(1e-8 / 3e-9, rel=0.3)
    assert drawn.coefficients["points"].seconds == pytest.approx(3e-9, rel=0.3)
    assert alone.coefficients["points"].seconds != pytest.approx(3e-9, rel=0.3)


def test_what_timings_tell_no_prior_changes() -> None:
    random = np.random.default_rng(1)
    amounts = [[float(p), float(c), float(f)] for p, c, f in np.exp(random.uniform([5, 0, 3], [12, 3, 9], (300, 3)))]
    wrong = CostModel(
        "fdtd", {"points": Coefficient(3e-9), "chunks": Coefficient(8e-5), "faces sent": Coefficient(2e-9)}
    )
    alone, drawn = learn("fdtd", _noisy(amounts)), learn("fdtd", _noisy(amounts), prior=wrong)
    for name in NAMES:
        one, other = alone.coefficients[name], drawn.coefficients[name]
        assert abs(one.seconds - other.seconds) < one.error
        assert abs(other.seconds - dict(zip(NAMES, PLANTED, strict=True))[name]) < 3 * other.error


def test_nothing_timed_is_refused() -> None:
    with pytest.raises(InputError, match="give more time"):
        learn("fdtd", [])


def test_models_survive_files(tmp_path: Path) -> None:
    model = learn("fdtd", _campaign(last=1.3), machine="this one", versions={"numpy": "2"})
    model.save(tmp_path / "cost.json")
    again = CostModel.load(tmp_path / "cost.json")
    assert list(again.measured) == json.loads(json.dumps(model.measured))
    # Files hold nanoseconds.
    assert again.vector == pytest.approx(model.vector, rel=1e-12)
    assert (again.machine, again.versions, again.when) == (model.machine, model.versions, model.when)
    assert again.share_error_p90 == pytest.approx(model.share_error_p90)
    assert again.measured[0]["repeats"] == model.measured[0]["repeats"]
    assert json.loads((tmp_path / "cost.json").read_text())["coefficients"]["points"]["unit"] == "ns per point and step"


def test_damaged_files_are_named(tmp_path: Path) -> None:
    path = tmp_path / "cost.json"
    learn("fdtd", _campaign()).save(path)
    whole = path.read_text()
    for text in (whole[: len(whole) // 2], "", "[]", "{}", whole.replace('"version": 1', '"version": 99'),
                 whole.replace('"points": {', '"pints": {', 1)):  # fmt: skip
        path.write_text(text)
        with pytest.raises(ReadError, match=r"cost\.json: no cost model can be read from it"):
            CostModel.load(path)


@pytest.mark.parametrize(
    ("name", "value"),
    [("share_error", "small"), ("share_error", -1), ("time_error", [1]), ("latency_s", None), ("bytes_per_s", "fast")],
)
def test_numbers_of_files_are_numbers(tmp_path: Path, name: str, value: object) -> None:
    path = tmp_path / "cost.json"
    given = CostModel("fdtd", {"points": Coefficient(5e-9)}).to_dict()
    path.write_text(json.dumps(given | {name: value}))
    with pytest.raises(ReadError, match=f"read from it: `{name}` of a cost model must be a number"):
        CostModel.load(path)


@pytest.mark.parametrize("ns", [math.nan, math.inf, -1.0])
def test_coefficients_are_finite_and_not_negative(ns: float) -> None:
    with pytest.raises(InputError, match="the coefficient of 'points' must be finite and at least 0 s"):
        CostModel("fdtd", {"points": Coefficient(ns)})


def test_what_was_calibrated_here_goes_before_what_was_shipped(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setenv("EVENLY_HOME", str(tmp_path / "mine"))
    assert cost_file("fdtd").is_relative_to(tmp_path / "mine")
    assert store_file("fdtd").parent == cost_file("fdtd").parent
    shipped = find_cost("fdtd")
    assert (shipped.source, shipped.path) == ("shipped", shipped_file("fdtd"))
    assert "came with evenly" in shipped.note
    assert shipped.cost.machine in shipped.note
    own = CostModel("fdtd", {"points": Coefficient(5e-9)}, machine="mine")
    cost_file("fdtd").parent.mkdir(parents=True)
    own.save(cost_file("fdtd"))
    assert find_cost("fdtd").source == "calibrated"
    assert find_cost("fdtd").cost.coefficients["points"].seconds == pytest.approx(5e-9)
    assert "terms of newer versions of evenly are missing (rows, chunks, factors and" in find_cost("fdtd").note
    own.save(tmp_path / "other.json")
    named = find_cost("fdtd", tmp_path / "other.json")
    assert (named.source, named.cost.machine) == ("file", "mine")


@pytest.mark.parametrize(("source", "asked"), [("calibrated", "--program meep"), ("file", "--cost 'my costs.json'")])
def test_the_note_on_terms_that_came_with_evenly_names_the_command_that_shows_these_costs(
    source: Literal["calibrated", "file"], asked: str
) -> None:
    row = {"amounts": {"points": 1000.0}, "seconds": 3e-6}
    cost = CostModel("meep", {"points": Coefficient(3e-9), "rows": Coefficient(4e-8)}, measured=(row,))
    said = Found(cost, source, Path("my costs.json")).note
    assert "1 of 2 terms came with evenly" in said
    assert f"`evenly cost show {asked}` says which, and a longer `evenly calibrate meep` measures them" in said


def test_the_data_folder_is_the_users(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.delenv("EVENLY_HOME", raising=False)
    monkeypatch.setenv("XDG_DATA_HOME", str(tmp_path))
    assert cost_file("fdtd").parent == tmp_path / "evenly" / "costs"
    monkeypatch.delenv("XDG_DATA_HOME")
    monkeypatch.setenv("HOME", str(tmp_path))
    assert cost_file("fdtd").parent == tmp_path / ".local" / "share" / "evenly" / "costs"


def test_the_shipped_costs_of_the_simulation_hold_their_runs() -> None:
    cost = CostModel.load(shipped_file("fdtd"))
    assert cost.machine != "unknown"
    assert cost.coefficients["points"].seconds > 0
    assert cost.share_error < 0.1
    assert {row["purpose"] for row in cost.measured} == {"feature", "cell"}
