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
    for word in ("blend", "log-quadratic", "gp", "beyond the measured range", "more runs would bring"):
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


def test_what_is_one_model_is_left_as_it_is(evenly: Evenly, table: Path) -> None:
    shown = evenly("fit", table, *READ, "--method", "power-law", "--compact")
    assert shown.code == 0
    assert "one model already (power-law)" in shown.err
