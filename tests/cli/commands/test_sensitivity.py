"""`evenly sensitivity`: what matters, as a table, as pictures, and what users are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Evenly


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    table = pd.DataFrame([{"ranks": r, "n": n, "b": b} for r in (1, 4) for n in range(6) for b in range(4)])
    # More ranks make b matter more than n.
    table["seconds"] = np.exp(np.where(table["ranks"] == 1, 0.8 * table["n"], 0.1 * table["n"] + 0.9 * table["b"]))
    path = tmp_path / "runs.csv"
    table.to_csv(path, index=False)
    return path


def test_each_task_has_its_own_parameters(evenly: Evenly, runs: Path) -> None:
    told = evenly("sensitivity", runs, "--task", "ranks", "--repeats", "2", "--json")
    assert told.code == 0, told.err
    total = {(row["task"], row["parameter"]): row["total"] for row in told.json}
    assert total[1, "n"] > 0.9 > 0.1 > total[1, "b"]
    assert total[4, "b"] > 0.8 > 0.2 > total[4, "n"]


def test_pictures_one_for_each_task_and_one_over_all(evenly: Evenly, runs: Path) -> None:
    folder = runs.parent / "pictures"
    shown = evenly("sensitivity", runs, "--task", "ranks", "--repeats", "2", "--plot", folder)
    assert shown.code == 0, shown.err
    names = ["sensitivity-over-tasks.svg", "sensitivity-ranks-1.svg", "sensitivity-ranks-4.svg"]
    assert sorted(file.name for file in folder.iterdir()) == names
    assert "what matters" in shown.out
    one = evenly("sensitivity", runs, "--repeats", "1", "--plot", folder)
    assert one.code == 0, one.err
    assert (folder / "sensitivity.svg").stat().st_size > 1000


def test_a_task_that_is_no_parameter(evenly: Evenly, runs: Path) -> None:
    shown = evenly("sensitivity", runs, "--task", "cores")
    assert shown.code == 2
    assert "task must be one of" in shown.err


def test_a_parameter_called_solver(evenly: Evenly, runs: Path) -> None:
    table = (
        pd.read_csv(runs)
        .rename(columns={"b": "solver"})
        .replace({"solver": dict(enumerate(["cg", "amg", "lu", "qr"]))})
    )
    table.to_csv(runs, index=False)
    refused = evenly("sensitivity", runs)
    assert refused.code == 2
    assert "--parameters" in refused.err
    told = evenly("sensitivity", runs, "--parameters", "ranks,n,solver", "--repeats", "1", "--json")
    assert told.code == 0, told.err
    assert {row["parameter"] for row in told.json} == {"ranks", "n", "solver"}


def test_few_runs_are_told(evenly: Evenly, runs: Path) -> None:
    pd.read_csv(runs).query("ranks == 4 and b < 3").to_csv(runs, index=False)
    told = evenly("sensitivity", runs, "--repeats", "1")
    assert told.code == 0, told.err
    assert "18 configurations are few" in told.err
    assert "±" not in told.out


def test_a_small_task_is_left_out(evenly: Evenly, runs: Path) -> None:
    pd.read_csv(runs).query("ranks == 4 or b == 0").to_csv(runs, index=False)
    told = evenly("sensitivity", runs, "--task", "ranks", "--repeats", "1", "--json")
    assert told.code == 0, told.err
    assert {row["task"] for row in told.json} == {4}
    assert "left out: ranks = 1: 6 configurations, varying in n; at least 8" in " ".join(told.err.split())
