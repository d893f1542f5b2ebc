"""`evenly measure`: what is shown and saved, and what users are told."""

from __future__ import annotations

from pathlib import Path

import pytest
from rich.console import Console

from evenly import Runs
from evenly.campaign.lock import FileLock
from evenly.cli import console
from tests.cli.conftest import Evenly

STUDY = """
[program]
command = ["bash", "-c", "test {n} != 3 || { echo too many; exit 4; }; echo took {n}"]
[parameters]
n = [1, 2, 3]
[time]
pattern = 'took (.*)'
unit = "ms"
[repetitions]
least = 2
"""


@pytest.fixture
def study(tmp_path: Path) -> Path:
    path = tmp_path / "study.toml"
    path.write_text(STUDY.replace("{ echo", "{{ echo").replace("; }", "; }}"))
    return path


def test_runs_are_shown_and_saved(evenly: Evenly, study: Path) -> None:
    shown = evenly("measure", study)
    assert shown.code == 0, shown.err
    assert "failed: it ended with status 4" in shown.out
    assert "too many" in shown.out
    assert "run 5 of about 5" in shown.err
    assert "evenly fit" in shown.err
    runs = Runs.load(study.with_name("study.runs.csv"))
    assert runs.aggregate()["seconds"].tolist() == pytest.approx([0.001, 0.002])
    assert len(runs.failed) == 1


def test_a_second_call_makes_no_run_and_a_retry_only_failed_ones(evenly: Evenly, study: Path) -> None:
    evenly("measure", study)
    again = evenly("measure", study, "--json")
    assert len(again.json["runs"]) == 5
    assert "5 runs are kept" in again.err
    assert "of about" not in again.err
    retried = evenly("measure", study, "--retry")
    assert "runs that failed or were marked as bad: 1 deleted, 2 made in their place" in retried.err
    assert "run 5 of about 5" in retried.err


def test_a_plan_is_shown_while_a_campaign_is_at_work(evenly: Evenly, study: Path) -> None:
    evenly("measure", study)
    with FileLock(study.with_suffix(".db")):
        shown = evenly("measure", study, "--plan")
        assert evenly("measure", study).code == 2
    assert (shown.code, shown.out) == (0, "nothing: all has been run\n")
    assert "its runs under way count as left" in shown.err


def test_a_retry_without_bad_runs_says_so(evenly: Evenly, study: Path) -> None:
    study.write_text(study.read_text().replace("test {n} != 3", "true"))
    evenly("measure", study)
    assert "no run failed or is marked as bad, so none is made again" in evenly("measure", study, "--retry").err


def test_a_retry_tells_how_many_runs_it_makes(evenly: Evenly, study: Path) -> None:
    text = study.read_text().replace("test {n} != 3", "true")
    study.write_text(text.replace("least = 2", "least = 3") + "most = 3\n")
    evenly("measure", study)
    study.write_text(text + "most = 2\n")
    evenly("runs", "mark", "study.db", "--where", "n == 1 and repetition > 0", "--bad", "slow disk")
    retried = evenly("measure", study, "--retry").err
    assert "2 deleted, 1 made in their place: there are enough others of the same configurations" in retried


def test_a_table_that_evenly_did_not_write_is_not_replaced(evenly: Evenly, study: Path) -> None:
    table = study.with_name("study.runs.csv")
    table.write_text("my,own\n")
    shown = evenly("measure", study)
    assert shown.code == 2
    assert "evenly would write its table of runs here, but did not write this file" in shown.err
    assert table.read_text() == "my,own\n"
    table.unlink()
    evenly("measure", study)
    first, names, *rows = table.read_text().splitlines()
    changed = "\n".join([first, f"{names},comment", *(f"{row},mine" for row in rows), ""])
    table.write_text(changed)
    assert "somebody added the column 'comment'" in evenly("measure", study).err
    assert table.read_text() == changed
    assert evenly("measure", study, "--save", table).code == 0  # now it is named


@pytest.mark.parametrize("command", ["measure", "tune"])
def test_the_table_is_not_the_store(evenly: Evenly, study: Path, command: str) -> None:
    shown = evenly(command, study, "--store", "q.csv", "--save", "q.csv")
    assert shown.code == 2
    assert "--save and the store are the same file" in shown.err
    assert not study.with_name("q.csv").exists()


def test_the_plan_runs_nothing(evenly: Evenly, study: Path) -> None:
    shown = evenly("measure", study, "--plan")
    assert "3 configurations, each 2 to 8 times" in shown.out
    assert "echo took 2" in shown.out
    assert sorted(one["configuration"]["n"] for one in evenly("measure", study, "--plan", "--json").json) == [1, 2, 3]
    assert list(study.parent.iterdir()) == [study]
    evenly("measure", study)
    assert "nothing: all has been run" in evenly("measure", study, "--plan").out


def test_the_plan_of_a_retry_has_the_runs_that_failed(evenly: Evenly, study: Path) -> None:
    evenly("measure", study)
    assert "failed or are marked as bad: 1; --retry" in evenly("measure", study, "--plan").err
    shown = evenly("measure", study, "--plan", "--retry")
    assert "left: 2 to 8 runs of 1 configuration" in shown.out
    assert evenly("measure", study, "--plan", "--json").json == []
    (left,) = evenly("measure", study, "--plan", "--retry", "--json").json
    assert (left["configuration"], left["runs"]) == ({"n": 3}, 2)
    assert "5 runs: " in evenly("runs", "list", "study.db").out  # it deletes none


def test_the_plan_counts_only_runs_that_are_left(evenly: Evenly, study: Path) -> None:
    text = study.read_text().replace("test {n} != 3", "true").replace("[parameters]", "timeout_s = 3600\n[parameters]")
    study.write_text(text + "most = 2\n")
    evenly("measure", study)
    study.write_text(text.replace("least = 2", "least = 3") + "most = 3\n")
    shown = evenly("measure", study, "--plan").out
    assert "left: 3 runs of 3 configurations" in shown
    assert "at most 3 for all runs, by timeout_s" in shown


def test_the_plan_tells_that_the_limit_of_jobs_ends_runs(evenly: Evenly, study: Path) -> None:
    text = study.read_text().replace("[parameters]", "timeout_s = 200\n[parameters]")
    for limit, told in (("2min", True), ("5min", False)):
        study.write_text(f"{text}[launcher]\nname = 'slurm'\ntime_limit = '{limit}'\n")
        shown = evenly("measure", study, "--plan").err
        assert ("time_limit ends runs after 60 s, before timeout_s = 200" in shown) is told


@pytest.mark.parametrize(
    ("timeout", "limit", "told"),
    [("3600", "1min", "time_limit"), ("", "1min", "time_limit"), ("30", "5min", "timeout_s")],
)
def test_the_bound_of_a_plan_is_when_runs_are_ended(
    evenly: Evenly, study: Path, timeout: str, limit: str, told: str
) -> None:
    own = f"timeout_s = {timeout}\n" if timeout else ""
    text = study.read_text().replace("[parameters]", f"{own}[parameters]")
    study.write_text(f"{text}[launcher]\nname = 'slurm'\ntime_limit = '{limit}'\n[plan]\nanchor_every = 0\n")
    assert f"at most 0.2 for all runs, by {told}" in evenly("measure", study, "--plan").out


def test_what_others_call_by_another_name_is_told(evenly: Evenly, study: Path) -> None:
    for option, told in (
        ("--dry-run", "--plan shows what is still to be run"),
        ("--status", "`evenly runs list STORE`"),
    ):
        refused = evenly("measure", study, option)
        assert (refused.code, told in refused.err) == (2, True)


def test_another_store_has_a_table_of_its_own(evenly: Evenly, study: Path) -> None:
    evenly("measure", study)
    before = study.with_name("study.runs.csv").read_text()
    assert evenly("measure", study, "--store", "other.db").code == 0
    assert study.with_name("study.runs.csv").read_text() == before
    assert len(Runs.load(study.with_name("other.runs.csv"))) == 5


def test_a_spent_budget_is_told(evenly: Evenly, study: Path) -> None:
    study.write_text(study.read_text() + "[plan]\nbudget_s = 1e-9\n")
    evenly("measure", study)
    shown = evenly("measure", study)
    assert "budget_s is used up, about" in shown.err


def test_labels_that_are_true_or_false_can_be_asked_for(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "flags.toml"
    path.write_text(
        "[program]\ncommand = 'echo {n} {fast}'\n[parameters]\nn = [1, 2, 4]\nfast = [true, false]\n"
        "[time]\npattern = '(.+) [tf]'\nunit = 'ms'\n"
    )
    assert evenly("measure", path).code == 0
    evenly("fit", "flags.runs.csv", "--method", "log-quadratic", "--save", "flags.evenly")
    shown = evenly("predict", "flags.evenly", "--at", "n=2", "--at", "fast=true", "--json")
    assert shown.code == 0, shown.err


def test_saved_runs_are_fitted(evenly: Evenly, study: Path) -> None:
    assert evenly("measure", study, "--save", "mine.csv").code == 0
    shown = evenly("fit", "mine.csv", "--method", "power-law")
    assert shown.code == 0, shown.err


def test_an_advisor_draws_the_runs(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "advised.toml"
    path.write_text(
        "[program]\ncommand = 'echo {n}'\n[parameters]\nn = { low = 1, high = 500, scale = 'log' }\n"
        "[time]\npattern = '(.+)'\nunit = 'ms'\n[repetitions]\nleast = 1\nmost = 1\n"
        "[plan]\nruns = 7\nfirst = 5\ndesign = 'advisor'\n"
    )
    assert "as the advisor proposes" in evenly("measure", path, "--plan").out
    shown = evenly("measure", path, "--json")
    assert shown.code == 0, shown.err
    assert len({run["configuration"]["n"] for run in shown.json["runs"]}) == 7


def test_mistakes_are_named(evenly: Evenly, study: Path) -> None:
    assert evenly("measure", "nothing.toml").code == 2
    assert "there is no such file" in evenly("measure", "nothing.toml").err
    study.write_text(study.read_text().replace("bash", "no-such-shell"))
    shown = evenly("measure", study)
    assert shown.code == 2
    assert "'no-such-shell' can't be started" in shown.err
    assert "Traceback" not in shown.err
    study.write_text(study.read_text().replace("{n}", "{m}"))
    assert "needs 'm'" in evenly("measure", study).err


def test_nothing_went_well(evenly: Evenly, study: Path) -> None:
    study.write_text(study.read_text().replace("[1, 2, 3]", "[3]"))
    shown = evenly("measure", study)
    assert shown.code == 2
    assert "none of 1 runs went well" in shown.err
    assert "too many" in shown.err


def test_on_a_terminal_a_table_changes(evenly: Evenly, study: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    terminal = Console(force_terminal=True, width=100, record=True, stderr=True)
    monkeypatch.setattr(console, "_notes", terminal)
    assert evenly("measure", study).code == 0
    seen = terminal.export_text()
    assert "of about 5" in seen
    assert "left" in seen


def test_a_table_of_another_kind_is_refused_before_any_run(evenly: Evenly, tmp_path: Path) -> None:
    Path("s.toml").write_text('[program]\ncommand = "touch ran{n}"\n[parameters]\nn = [1, 2]\n')
    shown = evenly("measure", "s.toml", "--save", "table.toml")
    assert shown.code == 2
    assert "saved as .csv or .parquet" in shown.err
    assert not list(tmp_path.glob("ran*"))
