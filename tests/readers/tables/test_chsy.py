"""Core-hours for a simulated year, whose time follows from the cores."""

from __future__ import annotations

from pathlib import Path

import pandas as pd
import pytest

from evenly.errors import ReadError
from evenly.readers import scan

YEAR = 21600.0  # seconds on 64 cores


def _table(folder: Path, name: str = "CHSY", cores: str = "cores") -> Path:
    rows = [
        (solver, n, part * YEAR * 64 / n * n / 3600)
        for solver, part in (("atm", 1.0), ("ocn", 0.5))
        for n in (64, 128, 256)
    ]
    path = folder / "cost.csv"
    pd.DataFrame(rows, columns=["component", cores, name]).to_csv(path, index=False)
    return path


@pytest.mark.parametrize("name", ["CHSY", "chpsy", "cost (core-h/SY)", "core_hours_per_simulated_year"])
def test_the_time_is_the_core_hours_over_the_cores(tmp_path: Path, name: str) -> None:
    found = scan(_table(tmp_path, name))
    assert found.runs["atm"].values == pytest.approx([YEAR, YEAR / 2, YEAR / 4])
    assert found.runs["ocn"].values == pytest.approx([YEAR / 2, YEAR / 4, YEAR / 8])
    assert f"{name!r} is taken for the core-hours of a simulated year on the 'cores' of its row" in found.notes[0]
    assert {one.name: one.role for one in found.columns}["cores"] == "parameter"


def test_its_name_or_its_unit_may_be_given(tmp_path: Path) -> None:
    expected = scan(_table(tmp_path)).runs["ocn"].values
    assert scan(_table(tmp_path), time="CHSY").runs["ocn"].values == pytest.approx(expected)
    assert scan(_table(tmp_path), time="CHSY", unit="CHSY").runs["ocn"].values == pytest.approx(expected)
    assert scan(_table(tmp_path, "spent"), time="spent", unit="chpsy").runs["ocn"].values == pytest.approx(expected)


def test_it_is_no_time_of_its_own(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"no time in h: leave out unit= \(--unit\)"):
        scan(_table(tmp_path), time="CHSY", unit="h")
    with pytest.raises(ReadError, match="but no column tells the cores: give the cores"):
        scan(_table(tmp_path, cores="nodes"))
    path = _table(tmp_path)
    path.write_text(path.read_text().replace("component,cores", "cores of node,cores"))
    pd.read_csv(path).assign(total_cores=512).to_csv(path, index=False)
    with pytest.raises(ReadError, match="'cores', 'total_cores' may each be the cores"):
        scan(path)


def test_a_rate_or_a_time_beside_it_is_learned(tmp_path: Path) -> None:
    path = _table(tmp_path)
    table = pd.read_csv(path)
    table["CHSY"] *= 1 + table["cores"] / 1000
    table.assign(SYPD=24 * table["cores"] / table["CHSY"]).to_csv(path, index=False)
    found = scan(path)
    assert found.runs["atm"].values[0] == pytest.approx(YEAR * 1.064)
    assert {one.name: one.role for one in found.columns}["SYPD"] == "time"


def test_a_row_without_it_failed(tmp_path: Path) -> None:
    path = _table(tmp_path)
    path.write_text(path.read_text() + "atm,512,failed\n")
    found = scan(path)
    assert found.runs["atm"].to_frame()["status"].tolist() == ["ok", "ok", "ok", "failed"]


@pytest.mark.parametrize(
    ("nodes", "each"), [("nodes", "cores per node"), ("knoten", "Kerne pro Knoten"), ("n_nodes", "cpus/node")]
)
def test_nodes_and_the_cores_of_each_are_the_cores(tmp_path: Path, nodes: str, each: str) -> None:
    path = _table(tmp_path)
    table = pd.read_csv(path)
    table.insert(1, nodes, table.pop("cores") // 32)
    table.assign(**{each: 32}).to_csv(path, index=False)
    found = scan(path)
    assert found.runs["atm"].values == pytest.approx([YEAR, YEAR / 2, YEAR / 4])
    assert f"on the '({nodes} * {each})' of its row" in found.notes[0]


def test_the_ranks_of_each_node_are_not_its_cores(tmp_path: Path) -> None:
    path = _table(tmp_path, cores="nodes")
    pd.read_csv(path).assign(**{"ranks per node": 16}).to_csv(path, index=False)
    with pytest.raises(ReadError, match=r"or those of a node in one called cores per node \(--constant"):
        scan(path)


def test_the_cores_of_a_node_may_be_told(tmp_path: Path) -> None:
    path = _table(tmp_path)
    table = pd.read_csv(path)
    table.insert(1, "nodes", table.pop("cores") // 32)
    table.to_csv(path, index=False)
    found = scan(path, constants={"cores per node": 32})
    assert found.runs["atm"].values == pytest.approx([YEAR, YEAR / 2, YEAR / 4])


def test_node_hours_are_divided_by_the_nodes(tmp_path: Path) -> None:
    path = _table(tmp_path)
    table = pd.read_csv(path)
    nodes, cost = table["cores"] // 32, table.pop(table.columns[-1]) / 32
    table.assign(**{"node-hours per simulated year": cost}).to_csv(path, index=False)
    with pytest.raises(ReadError, match=r"is node-hours .* not one column tells the nodes: .* \(--constant"):
        scan(path)
    found = scan(path, constants={"cores per node": 32})
    assert found.runs["atm"].values == pytest.approx([YEAR, YEAR / 2, YEAR / 4])
    table.pop("cores")
    table.assign(nodes=nodes, **{"node-hours per simulated year": cost}).to_csv(path, index=False)
    found = scan(path)
    assert found.runs["atm"].values == pytest.approx([YEAR, YEAR / 2, YEAR / 4])
    assert "taken for the node-hours of a simulated year on the 'nodes' of its row" in found.notes[0]
    with pytest.raises(ReadError, match="is node-hours for a simulated year by its name, and no time in CHSY"):
        scan(path, unit="CHSY")


@pytest.mark.parametrize(
    "header",
    ["simulated years per day", "simulated_years/day", "model years per wallclock day", "throughput (sim. years/day)"],
)
def test_the_words_for_sypd_are_its_unit(tmp_path: Path, header: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"component,cores,{header}\n" + "".join(f"{s},{p},{p / 24}\n" for s in "ab" for p in (24, 48, 96)))
    found = scan(path)
    assert found.runs["a"].values == pytest.approx([86_400, 43_200, 21_600])
    assert found.runs["a"].days == 365
