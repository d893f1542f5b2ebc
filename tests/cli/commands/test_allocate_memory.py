"""``evenly allocate``: memory as Slurm writes it, memory of shared nodes, solvers in a column of another name, nets."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")
COUNTS = (1, 2, 4, 8, 16)


def _table(header: str, memory: str = "") -> None:
    rows = [
        f"{name},{p},{work / p + 0.2:.3f}{memory.format(800_000 // p + 200_000)}"
        for name, work in (("fluid", 64.0), ("solid", 24.0))
        for p in COUNTS
    ]
    Path("runs.csv").write_text("\n".join([header, *rows, ""]))


def test_max_rss_as_slurm_writes_it_is_memory(evenly: Evenly) -> None:
    _table("solver,ranks,seconds,MaxRSS", ",{}K")
    read = evenly("read", "runs.csv", "--json")
    columns = {one["name"]: one for one in read.json["columns"]}
    assert (columns["MaxRSS"]["role"], columns["MaxRSS"]["unit"]) == ("quantity", "B")
    # On one core, fluid needs 1,000,000 KiB, more than a node has.
    asked = ("allocate", "runs.csv", "--cores", "3", *LAW, "--cores-per-node", "1", "--json")
    assert evenly(*asked, "--memory", "1GiB").code == 0
    none = evenly(*asked, "--memory", "500000KiB")
    assert none.code == 1
    assert "memory" in none.err


def test_max_rss_without_a_letter_is_no_memory(evenly: Evenly) -> None:
    _table("solver,ranks,seconds,MaxRSS", ",{}")
    columns = {one["name"]: one["role"] for one in evenly("read", "runs.csv", "--json").json["columns"]}
    assert columns["MaxRSS"] == "outcome"


def test_a_shared_node_that_is_too_small_is_told(evenly: Evenly) -> None:
    _table("solver,ranks,seconds,MaxRSS", ",{}K")
    asked = ("allocate", "runs.csv", "--cores", "8", *LAW, "--cores-per-node", "4")
    # Eight cores are two nodes; fluid has more than four, so the second is shared by two ranks of each or so.
    tight = evenly(*asked, "--memory", "1.6GiB")
    assert tight.code == 0
    assert "share a node, and need" in tight.err
    assert "--multiple 4" in tight.err
    assert "share a node, and need" not in evenly(*asked, "--memory", "16GiB").err
    assert "share a node, and need" not in evenly(*asked, "--memory", "1.6GiB", "--multiple", "4").err


def test_a_column_of_labels_is_proposed_as_that_of_the_solvers(evenly: Evenly) -> None:
    _table("code,ranks,seconds")
    Path("runs.csv").write_text(Path("runs.csv").read_text().replace("fluid", "edge").replace("solid", "core"))
    asked = evenly("allocate", "runs.csv", "--cores", "8", *LAW)
    assert asked.code == 2
    assert "if code names the coupled solvers: --solver code" in asked.err
    assert evenly("allocate", "runs.csv", "--cores", "8", *LAW, "--solver", "code").code == 0


@pytest.mark.parametrize("name", ["model", "Model", "model component", "Solver name"])
def test_a_column_called_model_names_the_solvers_of_coupled_runs(evenly: Evenly, name: str) -> None:
    _table(f"{name},ranks,seconds")
    Path("runs.csv").write_text(Path("runs.csv").read_text().replace("fluid", "edge").replace("solid", "core"))
    plan = evenly("allocate", "runs.csv", "--cores", "8", *LAW)
    assert plan.code == 0
    assert f"'{name}' is taken for the names of the solvers; if it is a parameter: --parameters" in plan.err
    settled = evenly(
        "allocate", "runs.csv", "--cores", "8", *LAW, "--parameters", f"{name},ranks", "--at", f"{name}=core"
    )
    assert "taken for the names" not in settled.err
    assert "taken for the names" not in evenly("predict", "runs.csv", "--at", "ranks=8", *LAW).err


def test_a_network_is_built_by_hand(evenly: Evenly) -> None:
    _table("solver,ranks,seconds")
    net = ("--method", "mlp", "--layers", "8", "--activation", "tanh", "--epochs", "20", "--batch", "4")
    assert evenly("allocate", "runs.csv", "--cores", "8", *net, "--optimiser", "adagrad", "--json").code == 0
    wrong = evenly("fit", "runs.csv", *net, "--loss", "mlogq")
    assert (wrong.code, "loss must be one of mse, mae, mape, smape, but got 'mlogq'" in wrong.err) == (2, True)
    other = evenly("allocate", "runs.csv", "--cores", "8", *LAW, "--layers", "8")
    assert (
        other.code,
        "--method power-law has no --layers: leave it out, or take a method that has it, as mlp" in other.err,
    ) == (2, True)
