"""`evenly tune`: what is run, kept and shown, and what users are told."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import Runs
from tests.cli.conftest import Evenly

STUDY = """
[program]
command = ["bash", "-c", "test {n} != 3 || exit 4; echo took $(( ({n} - 7) * ({n} - 7) + 10 ))"]
[parameters]
n = { low = 1, high = 20 }
[time]
pattern = 'took (.*)'
unit = "ms"
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "bowl.toml"
    path.write_text(STUDY)
    return path


def test_the_fastest_is_found_and_all_runs_are_kept(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--runs", "12")
    assert shown.code == 0, shown.err
    assert "fastest: n = 7: 10 ms" in shown.out
    assert "the runs that were asked for are made" in shown.err
    runs = Runs.load(study.with_name("bowl.tune.runs.csv"))
    assert runs.ok.to_frame()["seconds"].min() == pytest.approx(0.010)
    assert len(runs) == 12


def test_it_goes_on_from_where_it_was(evenly: Evenly, study: Path) -> None:
    evenly("tune", study, "--runs", "6")
    more = evenly("tune", study, "--runs", "9", "--json")
    assert "6 runs are kept" in more.err
    other = study.with_name("whole.db")
    whole = evenly("tune", study, "--runs", "9", "--json", "--store", other)
    asked = [[one["configuration"]["n"] for one in told.json["history"]] for told in (more, whole)]
    assert asked[0] == asked[1]
    assert len(set(asked[0])) == 9


def test_all_configurations_end_a_search(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--runs", "50", "--strategy", "all", "--json")
    assert shown.json["stopped"] == "all configurations have been run"
    assert [one["status"] for one in shown.json["history"]].count("failed") == 1
    assert len(shown.json["history"]) == 20


def test_known_runs_are_not_made_again(evenly: Evenly, study: Path) -> None:
    known = study.with_name("known.csv")
    known.write_text("n,seconds\n7,0.01\n6,0.011\n8,0.011\n")
    shown = evenly("tune", study, "--runs", "5", "--known", known, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["best"] == {"n": 7}
    made = Runs.load(study.with_name("bowl.tune.runs.csv")).configurations["n"].tolist()
    assert not {6, 7, 8} & set(made)


def test_users_are_told_what_is_wrong(evenly: Evenly, study: Path) -> None:
    wrong = evenly("tune", study, "--surrogate", "gp")
    assert wrong.code == 2
    assert "belongs to strategy = 'greedy'" in wrong.err
    missing = evenly("tune", study.with_name("no.toml"))
    assert missing.code == 2
    study.write_text(STUDY.replace("test {n} != 3 || ", ""))
    nothing = evenly("tune", study, "--runs", "3")
    assert nothing.code == 2
    assert "none of 3 runs went well" in nothing.err
