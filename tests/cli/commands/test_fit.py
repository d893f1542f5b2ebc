"""`evenly fit` where no method is named: what was tried, and one small model in its place."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from tests.cli.conftest import Evenly


@pytest.fixture
def table(tmp_path: Path) -> Path:
    rng = np.random.default_rng(0)
    rows = ["cores,size,solver,seconds"]
    for _ in range(50):
        cores, size, solver = 2 ** rng.integers(6), int(rng.integers(50, 900)), rng.choice(["cg", "lu"])
        seconds = size**1.5 / cores * (1 if solver == "cg" else 2) * np.exp(0.02 * rng.normal())
        rows.append(f"{cores},{size},{solver},{seconds:.6g}")
    path = tmp_path / "solver.csv"
    path.write_text("\n".join(rows) + "\n")
    return path


READ = ("--time", "seconds", "--parameters", "cores,size,solver")


def test_what_was_tried_is_shown(evenly: Evenly, table: Path) -> None:
    shown = evenly("fit", table, *READ, "--effort", "quick")
    assert shown.code == 0, shown.err
    for word in ("blend", "log-quadratic", "gp", "beyond the measured range", "with more runs, at best"):
        assert word in shown.out
    told = evenly("fit", table, *READ, "--effort", "quick", "--json").json
    assert {row["method"] for row in told["solver"]["choice"]["tried"]} >= {"gp", "log-quadratic", "power-law"}


def test_a_small_model_is_saved_and_says_what_it_loses(evenly: Evenly, table: Path) -> None:
    shown = evenly("fit", table, *READ, "--effort", "quick", "--compact", "--save", "small.evenly")
    assert shown.code == 0, shown.err
    assert "KiB, which differs from it by" in shown.err
    assert Path("small.evenly").stat().st_size <= 100_000
    assert "cpr" in shown.out
    asked = evenly("predict", "small.evenly", "--at", "cores=4", "--at", "size=400", "--at", "solver=cg", "--json")
    assert asked.json["predictions"][0]["value"] == pytest.approx(2000, rel=0.1)


def test_a_run_that_the_model_misses_by_far_is_said(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "odd.csv"
    path.write_text("cores,seconds\n1,3.5\n12,0.345\n24,0.346\n48,3.5\n")
    assert "the runs follow none of the laws closely" in evenly("fit", path, "--parameters", "cores").err
    path.write_text("cores,seconds\n1,3.5\n12,0.345\n24,0.2\n48,0.13\n")
    assert "none of the laws" not in evenly("fit", path, "--parameters", "cores").err


def test_what_is_one_model_is_left_as_it_is(evenly: Evenly, table: Path) -> None:
    shown = evenly("fit", table, *READ, "--method", "power-law", "--compact")
    assert shown.code == 0
    assert "one model already (power-law)" in shown.err


def write_runs(counts: list[int]) -> None:
    noise = np.random.default_rng(1).normal(0, 0.02, len(counts))
    rows = [f"{p},{50 / p**0.8 * np.exp(e):.5f}" for p, e in zip(counts, noise, strict=True)]
    Path("runs.csv").write_text("\n".join(["cores,seconds", *rows, ""]))


@pytest.mark.parametrize("option", [("--ridge", "1"), ("--loss", "se"), ("--validation", "5"), ("--terms", "1")])
def test_an_option_of_the_search_that_changes_nothing_says_so(evenly: Evenly, option: tuple[str, str]) -> None:
    write_runs([1, 2, 4, 8, 16, 32])
    asked = ("fit", "runs.csv", "--method", "pmnf")
    told = f"{option[0]}: without effect on predictions for runs, since no searched candidate has weight in the blend"
    plain, said = evenly(*asked), evenly(*asked, *option)
    assert (said.code, told in said.err) == (0, True), said.err
    assert "runs: 50.32 · cores^-0.8007" in plain.out
    assert "runs: 50.32 · cores^-0.8007" in said.out
    assert "with --one, the best candidate predicts alone" in said.err
    assert "without effect" not in evenly(*asked, *option, "--one").err
    assert "without effect" not in plain.err


def test_options_of_the_search_need_runs_to_search_in(evenly: Evenly) -> None:
    write_runs([1, 2, 4, 8])
    found = evenly("fit", "runs.csv", "--method", "pmnf", "--one", "--ridge", "1")
    assert (found.code, "--ridge, --one: no candidate could be searched for runs (sums of no" in found.err) == (
        0,
        True,
    ), found.err
    assert "so simple laws predict" in found.err


def test_an_option_that_a_method_lacks_is_called_as_it_is_typed(evenly: Evenly) -> None:
    write_runs([1, 2, 4, 8])
    refused = evenly("fit", "runs.csv", "--method", "power-law", "--one")
    assert (refused.code, "--method power-law has no --one: leave it out" in refused.err) == (2, True)
