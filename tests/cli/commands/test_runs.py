"""`evenly runs check`: what is said of whole and of damaged files, and by which exit code."""

from __future__ import annotations

import sqlite3
from contextlib import closing
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly

STUDY = """
[program]
command = "echo took {n}"
[parameters]
n = [1, 2, 3]
[time]
pattern = 'took (.*)'
unit = 's'
[repetitions]
least = 2
most = 2
"""


@pytest.fixture
def store(evenly: Evenly, tmp_path: Path) -> Path:
    """The file of a campaign of six runs."""
    (tmp_path / "study.toml").write_text(STUDY)
    assert evenly("measure", "study.toml").code == 0
    return tmp_path / "study.db"


@pytest.fixture
def damaged(store: Path) -> Path:
    with closing(sqlite3.connect(store)) as database, database:
        database.execute("UPDATE records SET quantities = replace(quantities, '2.0', '1.0') WHERE repetition = 1")
    return store


def test_a_whole_file(evenly: Evenly, store: Path) -> None:
    shown = evenly("runs", "check", store)
    assert shown.code == 0
    assert shown.out == f"{store} is whole: 6 runs\n"
    found = evenly("runs", "check", store, "--json")
    assert found.code == 0
    assert found.json == {
        "file": str(store), "whole": True, "runs": 6, "stored": 6, "checksums": True, "damages": [], "salvage": None,
    }  # fmt: skip


def test_a_damaged_file(evenly: Evenly, damaged: Path) -> None:
    shown = evenly("runs", "check", damaged)
    assert shown.code == 1
    assert "is damaged; 5 of 6 runs are good" in " ".join(shown.out.split())
    assert "--salvage NEW" in shown.err
    found = evenly("runs", "check", damaged, "--json")
    assert found.code == 1
    assert (found.json["whole"], found.json["runs"], found.json["stored"]) == (False, 5, 6)
    assert "(n = 2), repetition 1" in found.json["damages"][0]["what"]


def test_salvaged_runs_are_continued(evenly: Evenly, damaged: Path) -> None:
    shown = evenly("runs", "check", damaged, "--salvage", "new.db")
    assert shown.code == 1
    assert "5 of 6 runs are in new.db: `evenly measure … --store new.db`" in shown.err
    assert evenly("runs", "check", "new.db").code == 0
    again = evenly("measure", "study.toml", "--store", "new.db", "--json")
    assert again.code == 0
    assert "5 runs are kept" in again.err
    assert sorted(run["seconds"] for run in again.json["runs"]) == [1, 1, 2, 2, 3, 3]
    refused = evenly("runs", "check", damaged, "--salvage", "new.db")
    assert refused.code == 2
    assert "new.db is there already" in refused.err


@pytest.mark.parametrize(
    "command", ["measure study.toml", "measure study.toml --plan", "tune study.toml --runs 2 --store study.db"]
)
def test_no_command_uses_a_damaged_file(command: str, evenly: Evenly, damaged: Path) -> None:
    shown = evenly(*command.split(), "--json")
    assert shown.code == 2
    assert "Traceback" not in shown.err
    assert f"evenly runs check {damaged.name}" in shown.err.replace(f"{damaged.parent}/", "")


def test_not_a_file_of_a_campaign(evenly: Evenly, tmp_path: Path) -> None:
    (tmp_path / "notes.db").write_text("notes\n")
    for name in ("notes.db", "nothing.db", "."):
        shown = evenly("runs", "check", name)
        assert shown.code == 2
        assert shown.err.startswith(f"error: {name}: ")
