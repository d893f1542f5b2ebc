"""`evenly advise`: what is proposed, within which budget, and what users are told."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pandas as pd
import pytest

from tests.cli.conftest import Evenly


@pytest.fixture
def runs(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    rows = [f"{n},{p},{n / p * 1e-3 + 0.05}" for n in (1000, 8000, 64000) for p in (1, 4) if n * 4 != 256000 * p]
    path.write_text("\n".join(["cells,cores,seconds", *rows]))
    return path


def test_proposals_lower_the_error_within_the_budget(evenly: Evenly, runs: Path) -> None:
    shown = evenly("advise", runs, "--runs", "3", "--cores-are", "cores", "--budget", "0.01", "--json")
    assert shown.code == 0, shown.err
    proposals = shown.json
    assert proposals
    assert sum(one["core_hours"] for one in proposals) <= 0.01
    assert all(one["error_after"] < one["error_before"] for one in proposals)
    for one in proposals:
        assert one["core_hours"] == pytest.approx(one["seconds"] * one["cores"] / 3600)


def test_the_table_and_the_file(evenly: Evenly, runs: Path) -> None:
    target = runs.with_name("next.csv")
    shown = evenly("advise", runs, "--runs", "2", "--save", target)
    assert shown.code == 0, shown.err
    assert "worth running next" in shown.out
    assert len(target.read_text().splitlines()) == 3


def test_a_study_says_what_may_be_run(evenly: Evenly, runs: Path) -> None:
    study = runs.with_name("study.toml")
    study.write_text('[program]\ncommand = "x {cells} {cores}"\n[parameters]\ncells = [64000]\ncores = [16, 32]\n')
    runs.write_text("cells,cores,seconds\n64000,16,4.0\n")
    shown = evenly("advise", runs, "--study", study, "--json")
    assert [(one["cells"], one["cores"]) for one in shown.json] == [(64000, 32)]


def test_users_are_told_what_is_wrong(evenly: Evenly, runs: Path) -> None:
    for arguments, told in (
        (("--cores-are", "nodes"), "mentions 'nodes'"),
        (("--cores-are", "cores - 1"), "must be above 0 everywhere"),
        (("--budget", "1e-9"), "nothing that is left takes less than"),
    ):
        wrong = evenly("advise", runs, *arguments)
        assert wrong.code == 2
        assert told in wrong.err


def test_a_budget_asks_what_the_cores_are(evenly: Evenly, runs: Path) -> None:
    Path("nodes.csv").write_text(runs.read_text().replace("cores", "nodes"))
    shown = evenly("advise", "nodes.csv", "--budget", "1")
    assert shown.code == 2
    assert "--cores-are 'nodes * 48'" in shown.err
    assert evenly("advise", "nodes.csv", "--budget", "1", "--cores-are", "nodes * 4").code == 0


def test_expected_times_are_those_of_a_model_that_knows_the_law(evenly: Evenly) -> None:
    rows = [(n, s, 0.02 * s / n + 0.01 * n) for n, s in ((1, 10), (2, 10), (4, 20), (8, 40), (1, 40), (2, 20))]
    pd.DataFrame(rows, columns=["threads", "size", "seconds"]).to_csv("law.csv", index=False)
    found = evenly("advise", "law.csv", "--json").json
    assert len(found) == 5
    for row in found:
        assert row["seconds"] == pytest.approx(0.02 * row["size"] / row["threads"] + 0.01 * row["threads"], rel=0.1)


def test_what_is_to_be_known_beyond_the_range(evenly: Evenly, runs: Path) -> None:
    rng = np.random.default_rng(5)
    ranks, cells = 2 ** rng.integers(2, 7, 40), rng.integers(1000, 30000, 40)
    seconds = (cells / ranks * 1e-2 + 0.5 * np.log2(ranks)) * np.exp(0.05 * rng.normal(size=40))
    pd.DataFrame({"ranks": ranks, "cells": cells, "seconds": seconds}).to_csv(runs, index=False)
    shown = evenly("advise", runs, "--runs", "2", "--at", "ranks=1024", "--at", "cells=2000", "--json")
    assert shown.code == 0, shown.err
    assert shown.json[0]["ranks"] > 64
    assert shown.json[0]["why"].startswith("tells the laws apart beyond ranks = 64")
    assert "ranks = 1024 is beyond what was measured (4 … 64), by a factor of 16" in shown.err
    lacking = evenly("advise", runs, "--at", "ranks=1024")
    assert lacking.code == 2
    assert "the time also depends on cells" in lacking.err


def test_hours_are_core_hours_where_the_cores_are_certain(evenly: Evenly, runs: Path) -> None:
    shown = evenly("advise", runs)
    assert (shown.code, "core-hours" in shown.out) == (0, True), shown.err
    assert shown.out == evenly("advise", runs, "--cores-are", "cores").out
    for one in evenly("advise", runs, "--json").json:
        assert one["core_hours"] == pytest.approx(one["seconds"] * one["cores"] / 3600)
    Path("nodes.csv").write_text(runs.read_text().replace("cores", "nodes"))
    open_ = evenly("advise", "nodes.csv")
    assert (open_.code, "core-hours" in open_.out) == (0, False)
    assert "runs are compared by their time: --cores-are says it" in open_.err


def test_what_is_asked_where_all_runs_failed_is_refused_or_said(evenly: Evenly, runs: Path) -> None:
    rows = [f"{label},{p},{100 / p if label != 'amg' else 1},{'COMPLETED' if label != 'amg' else 'FAILED'}"
            for label in ("ilu", "amg", "cg") for p in (4, 8, 16, 32)]  # fmt: skip
    runs.write_text("\n".join(["precond,cores,seconds,state", *rows, "ilu,64,1,FAILED"]))
    lost = evenly("advise", runs, "--at", "precond=amg", "--at", "cores=16")
    assert (lost.code, "no run with precond = amg ended well" in lost.err) == (2, True)
    beyond = evenly("advise", runs, "--at", "precond=ilu", "--at", "cores=128")
    assert beyond.code == 0, beyond.err
    assert "precond = ilu, cores = 128, or nearest to it, all runs failed" in beyond.err
