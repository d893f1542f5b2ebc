"""``evenly runs list``: what is in a store, also while a campaign writes to it."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from evenly.campaign.store import Record, Store
from tests.cli.conftest import Evenly


@pytest.fixture
def store(evenly: Evenly) -> str:
    with Store(Path("s.db")) as store:
        one, two = store.add_configurations([{"n": 8, "kind": "a"}, {"n": 16, "kind": "b"}])
        store.add(Record(one, 0, "ok", {"seconds": 2.5}, took=3.0, machine="host"))
        store.add(Record(two, 0, "failed", {}, message="it ended with status 3", exit_code=3, took=1.0))
        store.add(Record(one, 1, "ok", {"seconds": 2.7}, took=3.1, machine="host"))
    return "s.db"


def test_how_many_ended_how(evenly: Evenly, store: str) -> None:
    shown = evenly("runs", "list", store)
    assert "3 runs: 2 ok, 1 failed" in shown.out
    assert "it ended with status 3" in " ".join(shown.out.split())
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


@pytest.mark.parametrize(
    ("words", "reason"),
    [
        (("none.db",), "there is no such file"),
        (("s.db", "--where", "m > 3"), "needs 'm'"),
        (("s.db", "--save", "s.db"), "s.db"),
        (("notes.txt",), "runs check"),
    ],
)
def test_mistakes_are_refused(evenly: Evenly, store: str, words: tuple[str, ...], reason: str) -> None:
    Path("notes.txt").write_text("notes")
    before = Path(store).read_bytes()
    shown = evenly("runs", "list", *words)
    assert shown.code != 0
    assert reason in shown.err
    assert Path(store).read_bytes() == before


def test_json_is_plain(evenly: Evenly, store: str) -> None:
    json.dumps(evenly("runs", "list", store, "--json").json, allow_nan=False)
