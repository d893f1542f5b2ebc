"""`evenly limits` and `evenly predict --limit`."""

from __future__ import annotations

import re
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly


@pytest.fixture
def jobs(tmp_path: Path) -> Path:
    rows = ["JobID|User|JobName|State|Submit|End|Elapsed|Timelimit|AllocCPUS"]
    for day in range(1, 29):
        took = ("00:10:00", "00:20:30")[day % 2]
        rows.append(
            f"{day}|ada|wave|COMPLETED|2024-02-{day:02d}T00:00:00|2024-02-{day:02d}T01:00:00|{took}|1-00:00:00|4"
        )
    rows.append("40|bob|mesh|FAILED|2024-02-01T00:00:00|2024-02-01T01:00:00|01:00:00|1-00:00:00|4")
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([*rows, ""]))
    return path


def test_a_replay(evenly: Evenly, jobs: Path) -> None:
    shown = evenly("limits", jobs)
    assert shown.code == 0, shown.err
    assert "as asked" in shown.out
    assert "left out: 1 FAILED" in shown.err
    one, other = (evenly("limits", jobs, *given, "--json").json for given in (("--kill", "10%"), ("--limit", "90%")))
    assert one["outcomes"] == other["outcomes"]
    assert one["judged"] == 27


def test_the_next_job(evenly: Evenly, jobs: Path) -> None:
    shown = evenly("limits", jobs, "--user", "ada", "--name", "wave", "--cores", "4")
    assert shown.out.startswith("00:21:00  enough with a probability of 95 %"), shown.out + shown.err
    assert evenly("limits", jobs, "--user", "ada", "--json").json["limit"] == "00:21:00"


@pytest.mark.parametrize("users", [("ada", "ada"), None])
def test_a_table_of_one_person_needs_no_user(evenly: Evenly, tmp_path: Path, users: tuple[str, str] | None) -> None:
    rows = ["JobID|JobName|State|Submit|End|Elapsed|Timelimit|AllocCPUS" + ("|User" if users else "")]
    for day, name in ((1, "wave"), (2, "mesh")):
        date = f"2024-02-{day:02d}T"
        row = f"{day}|{name}|COMPLETED|{date}00:00:00|{date}01:00:00|00:{day}0:00|1-00:00:00|4"
        rows.append(row + (f"|{users[day - 1]}" if users else ""))
    path = tmp_path / "sacct.txt"
    path.write_text("\n".join([*rows, ""]))
    shown = evenly("limits", path, "--name", "wave")
    assert shown.code == 0, shown.err
    told = " ".join(shown.out.split())
    assert "a guess: 1 job can't show that it is enough with a probability of 95 % (19 can)" in told
    assert f"1 job of {'ada' if users else 'this table'} called wave on 4 cores" in told


@pytest.mark.parametrize(
    ("given", "message"),
    [
        (("--kill", "5%", "--limit", "95%"), "give one of them"),
        (("--name", "wave"), "the jobs are of 2 users: say whose next job it is with --user, as --user ada"),
        (("--user", "eve"), "no job that ended has the user 'eve'"),
        (("--kill", "100%"), "--kill takes a share between"),
    ],
)
def test_what_is_refused(evenly: Evenly, jobs: Path, given: tuple[str, ...], message: str) -> None:
    shown = evenly("limits", jobs, *given)
    assert shown.code == 2
    assert message in shown.err


def test_a_table_that_is_none_of_jobs(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,seconds\n1,2\n")
    shown = evenly("limits", path)
    assert shown.code == 2
    assert "no table of jobs" in shown.err


def test_limits_of_predictions(evenly: Evenly, tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    path.write_text("cores,seconds\n1,8000\n2,4100\n4,2050\n8,1100\n16,520\n")
    shown = evenly("predict", path, "--at", "cores=3", "--limit", "95%")
    assert shown.code == 0, shown.err
    assert re.search(r"time limit,\W+cores +prediction +90 % interval +enough in 95 %", shown.out)
    row = evenly("predict", path, "--at", "cores=3", "--limit", "95%", "--level", "90%", "--json").json["predictions"][
        0
    ]
    hours, minutes, seconds = map(int, row["limit"].split(":"))
    assert seconds == 0
    assert row["upper"] <= 3600 * hours + 60 * minutes < row["upper"] + 60
    refused = evenly("predict", path, "--at", "cores=3", "--limit", "40%")
    assert refused.code == 2
    assert "above 50 %" in refused.err


def test_the_time_limit_of_the_recommended_number_of_cores(evenly: Evenly) -> None:
    Path("a.csv").write_text("cores,seconds\n" + "".join(f"{p},{3600 / p + 300}\n" for p in (1, 2, 4, 8, 16)))
    shown = evenly("predict", "a.csv", "--cores", "1,4,16", "--limit", "95%", "--method", "pmnf")
    assert re.search(r"time limit, enough in 95 %: 00:\d\d:00 on \d+", shown.out)
    rows = evenly("predict", "a.csv", "--cores", "1,4,16", "--limit", "95%", "--method", "pmnf", "--json").json["rows"]
    assert all(row["limit_s"] >= row["run_s"] for row in rows)


def test_options_that_jobs_have_no_use_for_are_refused(evenly: Evenly) -> None:
    rows = "".join(
        f"{i}|{'ada' if i % 2 else 'bob'}|w|COMPLETED|2024-02-{i:02}T08:00:00|2024-02-{i:02}T08:00:00|"
        f"2024-02-{i:02}T09:00:00|01:00:00|1-00:00:00|16\n"
        for i in range(1, 25)
    )
    Path("j.txt").write_text(f"JobID|User|JobName|State|Submit|Start|End|Elapsed|Timelimit|AllocCPUS\n{rows}")
    for given in (("--only", "ada"), ("--without", "ada"), ("--unit", "h"), ("--time", "x"), ("--constant", "cores=5")):
        shown = evenly("limits", "j.txt", *given)
        assert shown.code == 2, given
    assert evenly("limits", "j.txt", "--where", "user == 'nobody'").code != 0
    own = evenly("limits", "j.txt", "--where", "user == 'ada'", "--json")
    assert own.code == 0
    assert own.json != evenly("limits", "j.txt", "--json").json
