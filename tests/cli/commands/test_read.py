"""evenly read and predict: roles of columns, and times as HH:MM:SS."""

from __future__ import annotations

import json
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly


@pytest.fixture
def table(tmp_path: Path) -> Path:
    path = tmp_path / "runs.csv"
    path.write_text(
        "cores,mesh,Elapsed,speedup,user\n1,fine,2:13:20,1.00,ann\n2,fine,1:06:40,2.00,bob\n4,fine,0:33:20,4.00,ann\n"
    )
    return path


def test_roles_are_shown_and_in_the_json(evenly: Evenly, table: Path) -> None:
    shown = evenly("read", table).out
    for role in ("parameter", "constant", "time", "outcome", "identifier"):
        assert role in shown
    found = json.loads(evenly("read", table, "--json").out)
    assert [(one["name"], one["role"]) for one in found["columns"]] == [
        ("cores", "parameter"), ("mesh", "constant"), ("Elapsed", "time"), ("speedup", "outcome"),
        ("user", "identifier"),
    ]  # fmt: skip
    assert list(found["solvers"]["runs"]["parameters"]) == ["cores"]


def test_times_in_hours_minutes_and_seconds(evenly: Evenly, table: Path) -> None:
    done = evenly("predict", table, "--at", "cores=2", "--method", "power-law", "--times", "hms")
    assert "01:06:40" in done.out
    assert evenly("predict", table, "--at", "cores=2", "--method", "power-law").out.count(" min") == 2


def test_what_cannot_be_known_ends_with_status_2(evenly: Evenly, table: Path) -> None:
    table.write_text("cores,walltime\n1,12:30\n2,06:41\n")
    done = evenly("read", table)
    assert done.code == 2
    assert "--unit mm:ss or --unit hh:mm" in " ".join(done.err.split())


def test_what_is_lost_is_told_with_quiet_too(evenly: Evenly) -> None:
    Path("runs.csv").write_text("ranks,seconds\n1,80.5\n2,40.5\n4,20.25\n8,")
    shown = evenly("read", "runs.csv", "-q")
    assert shown.code == 0
    assert "left out" in shown.err


def test_a_table_may_be_named_by_a_heading_with_commas(evenly: Evenly) -> None:
    tables = "".join(
        f"## {name}\n\n| cores | time (s) |\n|---|---|\n" + "".join(f"| {n} | {work / n} |\n" for n in (1, 2, 4)) + "\n"
        for name, work in (("96³ (884,736 points)", 90), ("48³", 9))
    )
    Path("README.md").write_text(tables)
    shown = evenly("read", "README.md", "-O", "table=96³ (884,736 points)", "--json")
    assert shown.code == 0
