"""``evenly runs list``: what is in a store, also while a campaign writes to it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from evenly import Runs, read
from evenly.campaign.record import Record
from evenly.campaign.store import Store
from tests.cli.commands.test_runs import STUDY
from tests.cli.conftest import Evenly


@pytest.fixture
def store(evenly: Evenly) -> str:
    with Store(Path("s.db")) as store:
        one, two = store.add_configurations([{"n": 8, "kind": "a"}, {"n": 16, "kind": "b"}])
        store.add(Record(one, 0, "ok", {"seconds": 2.5}, took=3.0, machine="host"))
        store.add(Record(two, 0, "failed", {}, message="it ended with status 3", output="a\nbad\n\n"))
        store.add(Record(one, 1, "ok", {"seconds": 2.7}, took=3.1, machine="host"))
    return "s.db"


def test_how_many_ended_how(evenly: Evenly, store: str) -> None:
    shown = evenly("runs", "list", store)
    assert "3 runs: 2 ok, 1 failed" in shown.out
    assert "it ended with status 3: bad" in " ".join(shown.out.split())
    assert "why" not in shown.out  # no search chose these runs
    found = evenly("runs", "list", store, "--json").json
    assert found["counts"] == {"ok": 2, "failed": 1}
    assert [run.get("seconds") for run in found["runs"]] == [2.5, None, 2.7]


def test_some_are_chosen_and_saved(evenly: Evenly, store: str) -> None:
    assert evenly("runs", "list", store, "--where", "status == 'ok' and n < 10", "--save", "x.csv").code == 0
    assert pd.read_csv("x.csv")["seconds"].tolist() == [2.5, 2.7]
    assert evenly("runs", "list", store, "-o", "x.parquet").code == 0
    assert len(pd.read_parquet("x.parquet")) == 3
    assert evenly("runs", "list", store, "--where", "n > 99").out.startswith("0 runs")


def test_a_campaign_at_work_is_not_disturbed(evenly: Evenly, store: str) -> None:
    with Store(Path(store)) as busy:
        busy.begin("mark", "local", 2)
        before = Path(store).read_bytes()
        found = evenly("runs", "list", store, "--json").json
        assert found["under_way"] == [{"kind": "b", "n": 16}]
        assert "under way: 1" in evenly("runs", "list", store).out
        assert Path(store).read_bytes() == before
        busy.add(Record(2, 1, "ok", {"seconds": 1.0}), "mark")
    assert evenly("runs", "list", store, "--json").json["under_way"] == []


def test_runs_of_a_campaign_that_was_killed_are_not_called_under_way(evenly: Evenly, store: str) -> None:
    with Store(Path(store)) as killed:
        killed.begin("mark", "slurm", 2)
    shown = evenly("runs", "list", store)
    assert "under way when the campaign was killed: 1 (kind = b, n = 16)" in shown.out
    assert evenly("runs", "list", store, "--json").json["in_use"] is False


def test_bad_runs_stay_and_teach_nothing(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY)
    assert evenly("measure", "s.toml").code == 0
    shown = evenly(
        "runs", "mark", "s.db", "--where", "n == 2 and repetition == 0", "--bad", "the disk was full", "--json"
    )
    told = shown.json
    assert ["still has these runs as good" in one for one in told.pop("notes")] == [True]
    assert told == {"marked": 1, "reason": "the disk was full"}
    found = evenly("runs", "list", "s.db", "--json").json
    assert found["counts"] == {"ok": 5, "failed": 1}
    assert [run["message"] for run in found["runs"] if run["status"] == "failed"] == [
        "marked as bad: the disk was full"
    ]
    assert evenly("runs", "check", "s.db").code == 0
    # The campaign makes it again, if it is told to.
    assert evenly("measure", "s.toml", "--retry").code == 0
    assert evenly("runs", "list", "s.db", "--json").json["counts"] == {"ok": 6}
    for words, reason in (
        (("s.db", "--where", "n == 99", "--bad", "x"), "no run of s.db has n == 99"),
        (("s.db", "--where", "n == 2", "--bad", " "), "a reason is needed"),
        (("none.db", "--where", "n == 2", "--bad", "x"), "there is no such file"),
        (("s.toml", "--where", "n == 2", "--bad", "x"), "it is a study"),
    ):
        refused = evenly("runs", "mark", *words)
        assert (refused.code, reason in refused.err) == (2, True)
    assert not Path("none.db").exists()


def test_stores_of_one_study_are_put_together(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY)
    for name in ("a.db", "b.db"):
        assert evenly("measure", "s.toml", "--store", name).code == 0
    before = Path("a.db").read_bytes()
    assert evenly("runs", "merge", "a.db", "b.db", "-o", "all.db", "--json").json == {"runs": 12, "store": "all.db"}
    found = evenly("runs", "list", "all.db", "--json").json
    assert found["counts"] == {"ok": 12}
    assert sorted((run["n"], run["repetition"]) for run in found["runs"]) == [
        (n, r) for n in (1, 2, 3) for r in range(4)
    ]
    assert Path("a.db").read_bytes() == before
    # The study goes on with it, and has all that it needs.
    assert evenly("measure", "s.toml", "--store", "all.db").code == 0
    assert evenly("runs", "list", "all.db", "--json").json["counts"] == {"ok": 12}
    Path("t.toml").write_text(STUDY.replace("echo took", "echo it took"))
    assert evenly("measure", "t.toml", "--store", "t.db").code == 0
    for words, reason in (
        (("a.db", "t.db", "-o", "x.db"), "different studies: command"),
        (("a.db", "b.db", "-o", "all.db"), "is there already"),
        (("a.db", "-o", "x.db"), "name at least two"),
    ):
        refused = evenly("runs", "merge", *words)
        assert (refused.code, reason in refused.err) == (2, True)
    assert not Path("x.db").exists()
    # What is in both stores counts once.
    told = evenly("runs", "merge", "a.db", "all.db", "-o", "again.db")
    assert "12 runs are in again.db" in told.err
    assert "6 runs are in several of the stores" in told.err
    # A run that is marked as bad in one of them stays bad.
    marked = evenly("runs", "mark", "a.db", "--where", "n == 2", "--bad", "a neighbour")
    assert marked.code == 0
    assert "a.runs.csv is older than the mark, and still has these runs as good" in marked.err
    for first, second in (("a.db", "all.db"), ("all.db", "a.db")):
        new = f"bad-{first}"
        assert evenly("runs", "merge", first, second, "-o", new).code == 0
        assert evenly("runs", "list", new, "--json").json["counts"] == {"ok": 10, "failed": 2}
    # Once --retry made it again, the older copy doesn't bring it back as good.
    assert evenly("measure", "s.toml", "--store", "a.db", "--retry").code == 0
    for first, second in (("a.db", "all.db"), ("all.db", "a.db")):
        new = f"retried-{first}"
        told = evenly("runs", "merge", first, second, "-o", new)
        assert "2 runs are left out, since --retry made them again in one of the stores" in told.err
        assert evenly("runs", "list", new, "--json").json["counts"] == {"ok": 12}
        assert evenly("runs", "merge", new, "all.db", "-o", f"again-{new}").code == 0
        assert evenly("runs", "list", f"again-{new}", "--json").json["counts"] == {"ok": 12}


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("s.toml",), "it is a study"),
        (("none.db",), "there is no such file"),
        (("s.db", "--where", "m > 3"), "needs 'm'"),
        (("s.db", "--save", "s.db"), "s.db"),
        (("notes.txt",), "evenly read notes.txt"),
    ],
)
def test_mistakes_are_refused(evenly: Evenly, store: str, words: tuple[str, ...], reason: str) -> None:
    Path("notes.txt").write_text("notes")
    Path("s.toml").write_text(STUDY)
    before = Path(store).read_bytes()
    shown = evenly("runs", "list", *words)
    assert shown.code != 0
    assert reason in shown.err
    assert Path(store).read_bytes() == before


def test_json_is_plain(evenly: Evenly, store: str) -> None:
    json.dumps(evenly("runs", "list", store, "--json").json, allow_nan=False)


def test_stores_of_two_machines_are_said(evenly: Evenly, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("s.toml").write_text(STUDY)
    for name in ("a", "b"):
        monkeypatch.setattr("platform.node", lambda name=name: f"host-{name}")
        assert evenly("measure", "s.toml", "--store", f"{name}.db").code == 0
    told = evenly("runs", "merge", "a.db", "b.db", "-o", "all.db").err
    assert "hold runs with another machine: host-a and host-b" in " ".join(told.split())


def test_a_plan_does_not_alter_the_store_of_a_search(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY.replace("[1, 2, 3]", "[1, 2, 3, 4, 5, 6]"))
    assert evenly("tune", "s.toml", "--runs", "3", "--store", "q.db").code == 0
    before = evenly("runs", "list", "q.db", "--json").json["counts"]
    for words in (("--plan",), ()):
        refused = evenly("measure", "s.toml", "--store", "q.db", *words)
        assert (refused.code, "holds runs of a search: `evenly tune` goes on" in refused.err) == (2, True)
    assert evenly("tune", "s.toml", "--runs", "4", "--store", "q.db").code == 0
    after = evenly("runs", "list", "q.db", "--json").json["counts"]
    assert (before["ok"], after["ok"]) == (3, 4)
    # Why the search chose each run is told, and kept when stores are put together.
    assert evenly("tune", "s.toml", "--runs", "2", "--store", "r.db").code == 0
    assert evenly("runs", "merge", "q.db", "r.db", "-o", "all.db").code == 0
    for store, runs in (("q.db", 4), ("all.db", 6)):
        found = evenly("runs", "list", store, "--json").json["runs"]
        assert [run["why"] for run in found].count("tells most of all others") >= runs - 2
        assert all(run["why"] for run in found)
    shown = evenly("runs", "list", "q.db").out
    assert "tells most of all others" in shown
    assert "…" not in shown.replace(" … ", " ")


@pytest.mark.parametrize("label", ["", "#c", "%j", "!x", "two\nlines", "-n", "=1", " blank"])
def test_a_saved_list_is_read_with_its_labels(evenly: Evenly, tmp_path: Path, label: str) -> None:
    with Store(tmp_path / "odd.db") as store:
        for seconds, one in enumerate((label, "plain", "third"), start=1):
            (number,) = store.add_configurations([{"flag": one}])
            store.add(Record(number, 0, "ok", {"seconds": float(seconds)}, machine="m", started=1.0))
    assert evenly("runs", "list", "odd.db", "--save", "odd.csv").code == 0
    found = read(tmp_path / "odd.csv")
    assert isinstance(found, Runs)
    assert found.parameters == ["flag"]
    assert found.to_frame()["flag"].tolist() == [label, "plain", "third"]
