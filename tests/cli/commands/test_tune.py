"""`evenly tune`: what is run, kept and shown, and what users are told."""

from __future__ import annotations

import os
import sys
import time
from pathlib import Path

import pytest

from evenly import Runs
from tests.cli.conftest import Evenly

STUDY = """
[program]
command = ["bash", "-c", "test {n} != 3 || exit 4; echo took $(( ({n} - 7) * ({n} - 7) + 10 )).001"]  # not rounded
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
    assert runs.ok.to_frame()["seconds"].min() == pytest.approx(0.010001)
    assert len(runs) == 12


def test_it_goes_on_from_where_it_was(evenly: Evenly, study: Path) -> None:
    first = evenly("tune", study, "--runs", "6", "--json")
    more = evenly("tune", study, "--runs", "9", "--json")
    assert "6 runs are kept" in more.err
    # What a terminal shows counts the runs from before, and no line says that more are left than there are.
    assert "run 7 of about 9" in more.err
    assert "run 9 of about 9" in more.err
    assert more.json["made"][:6] == first.json["made"]
    assert len(more.json["made"]) == 9
    whys = [one["why"] for one in more.json["made"]]
    assert not any(why in ("", "told") for why in whys), whys
    assert whys[5] == "the fastest so far, run again to confirm it"


def test_all_configurations_end_a_search(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--runs", "50", "--strategy", "all", "--json")
    assert shown.json["stopped"] == "all configurations have been run"
    assert [one["status"] for one in shown.json["history"]].count("failed") == 1
    assert len(shown.json["history"]) == 20
    # The best is confirmed once: the program always takes the same time.
    assert len(shown.json["made"]) == 21


def test_known_runs_are_not_made_again(evenly: Evenly, study: Path) -> None:
    known = study.with_name("known.csv")
    known.write_text("n,seconds\n7,0.01\n6,0.011\n8,0.011\n")
    shown = evenly("tune", study, "--runs", "5", "--known", known, "--json")
    assert shown.code == 0, shown.err
    assert shown.json["best"] == {"n": 7}
    made = Runs.load(study.with_name("bowl.tune.runs.csv")).configurations["n"].tolist()
    # The best of them is confirmed, and the others aren't run.
    assert not {6, 8} & set(made)


def test_users_are_told_what_is_wrong(evenly: Evenly, study: Path) -> None:
    wrong = evenly("tune", study, "--surrogate", "gp")
    assert wrong.code == 2
    assert "belongs to strategy = 'greedy'" in wrong.err
    missing = evenly("tune", study.with_name("no.toml"))
    assert missing.code == 2
    study.write_text(STUDY.replace("test {n} != 3 || ", ""))
    asked = evenly("tune", study, "--runs", "3")
    assert asked.code == 2
    assert "2 runs failed and none went well" in asked.err
    nothing = evenly("tune", study, "--runs", "3", "--keep-going")
    assert nothing.code == 2
    assert "none of 3 runs went well" in nothing.err


TASKS = """
[program]
command = ["bash", "-c", "echo took $(( (({n} - {cores}) * ({n} - {cores}) + 10) * 8 / {cores} ))"]
[parameters]
n = { low = 1, high = 12 }
cores = [2, 4, 8]
[time]
pattern = 'took (.*)'
unit = "ms"
"""


@pytest.mark.parametrize("where", ["study", "option"])
def test_each_task_has_a_fastest_configuration_of_its_own(evenly: Evenly, tmp_path: Path, where: str) -> None:
    study = tmp_path / "tasks.toml"
    study.write_text(TASKS + ('[plan]\ntasks = ["cores"]\n' if where == "study" else ""))
    told = evenly("tune", study, "--runs", "24", "--json", *(["--tasks", "cores"] if where == "option" else []))
    found = {one["cores"]: one["n"] for one in told.json["tasks"]}
    assert found == {2: 2, 4: 4, 8: 8}, told.err
    shown = evenly("tune", study, "--runs", "24", *(["--tasks", "cores"] if where == "option" else []))
    assert "the fastest of each task" in shown.out
    assert "24 runs of" in shown.out
    assert "that it is the fastest of all that were run of its task" in shown.out


def test_a_task_that_is_no_parameter(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--tasks", "cores")
    assert shown.code == 2
    assert "tasks must be parameters (n), but got 'cores'" in shown.err


def test_runs_that_can_t_win_are_ended(evenly: Evenly, tmp_path: Path) -> None:
    study = tmp_path / "slow.toml"
    study.write_text(
        '[program]\ncommand = ["bash", "-c", "sleep {s}; echo took {s}"]\n'
        "[parameters]\ns = [0.2, 0.3, 0.4, 30, 31, 32]\n[time]\npattern = 'took (.*)'\nunit = 's'\n[plan]\nlimit = 4\n"
    )
    told = evenly("tune", study, "--runs", "6", "--strategy", "all", "--json")
    statuses = {one["configuration"]["s"]: one["status"] for one in told.json["history"]}
    assert statuses == {0.2: "ok", 0.3: "ok", 0.4: "ok", 30: "timed out", 31: "timed out", 32: "timed out"}, told.err
    bounds = [one["at_least"] for one in told.json["history"] if one["status"] == "timed out"]
    # Seconds are those that the program tells; it takes a little longer itself.
    assert all(0.5 < bound <= 1.5 for bound in bounds), bounds
    again = evenly("tune", study, "--runs", "6", "--strategy", "all", "--json")
    assert [one["at_least"] for one in again.json["history"]][3:] == bounds


def test_a_search_ends_when_runs_save_less_than_they_take(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--runs", "20", "--production", "3")
    assert "is expected to save" in shown.err
    assert "more --runs" not in shown.err
    assert len(Runs.load(study.with_name("bowl.tune.runs.csv"))) < 20


@pytest.mark.parametrize(
    ("option", "value", "told"),
    [("--give-up", "1", "limit must be a number above 1"), ("--production", "0", "production must be")],
)
def test_limits_that_make_no_sense(evenly: Evenly, study: Path, option: str, value: str, told: str) -> None:
    shown = evenly("tune", study, option, value)
    assert shown.code == 2
    assert told in shown.err


def test_a_picture_of_the_search(evenly: Evenly, study: Path) -> None:
    folder = study.parent / "pictures"
    shown = evenly("tune", study, "--runs", "6", "--plot", folder)
    assert shown.code == 0, shown.err
    assert (folder / "bowl-search.svg").stat().st_size > 1000


def test_known_runs_of_a_parameter_called_solver(evenly: Evenly, study: Path) -> None:
    study.write_text(
        STUDY.replace("[time]", 'solver = ["cg", "amg"]\n[time]').replace("exit 4;", "exit 4; : {solver};")
    )
    known = study.with_name("known.csv")
    known.write_text("n,solver,seconds\n7,cg,0.01\n6,amg,0.011\n8,amg,0.011\n")
    shown = evenly("tune", study, "--runs", "3", "--known", known, "--json")
    assert shown.code == 0, shown.err
    asked = [(one["configuration"]["n"], one["configuration"]["solver"]) for one in shown.json["history"]]
    assert not {(7, "cg"), (6, "amg"), (8, "amg")} & set(asked[-3:])


def test_known_runs_of_several_programs_are_refused(evenly: Evenly, study: Path) -> None:
    known = study.with_name("known.csv")
    known.write_text("n,solver,seconds\n7,fluid,0.01\n6,solid,0.011\n8,solid,0.011\n")
    shown = evenly("tune", study, "--runs", "3", "--known", known)
    assert shown.code == 2
    assert "--known takes runs of one program" in shown.err


def test_values_taken_out_of_a_study_end_no_search(evenly: Evenly, study: Path) -> None:
    evenly("tune", study, "--runs", "13", "--strategy", "all")
    study.write_text(STUDY.replace("low = 1, high = 20", "low = 5, high = 40"))
    shown = evenly("tune", study, "--runs", "11", "--json")
    # Runs of n = 1 to 4 don't count among the 11.
    assert len(shown.json["made"]) == 11
    assert shown.code == 0, shown.err
    assert "aren't in the study any more" in shown.err or "isn't in the study any more" in shown.err
    assert "the search doesn't use them, and they stay in the table" in shown.err
    assert all(one["configuration"]["n"] >= 5 for one in shown.json["history"])


def test_failed_and_bad_runs_are_made_again(evenly: Evenly, study: Path) -> None:
    evenly("tune", study, "--runs", "9", "--strategy", "all")
    store = study.with_name("bowl.tune.db")
    assert evenly("runs", "mark", store, "--where", "n == 7", "--bad", "a neighbour").code == 0
    left_out = evenly("tune", study, "--runs", "9", "--json")
    assert left_out.json["best"] != {"n": 7}
    assert "marked as bad (n = 7: a neighbour" in left_out.err
    assert "the search doesn't learn from such runs; --retry makes them again" in left_out.err
    assert {one["configuration"]["n"]: one["status"] for one in left_out.json["history"]}[7] == "left out"
    again = evenly("tune", study, "--runs", "9", "--retry", "--json")
    assert again.json["best"] == {"n": 7}
    assert "failed or were marked as bad: 2 deleted" in again.err


def test_todays_configuration_is_run_first_and_gains_are_those_over_it(evenly: Evenly, study: Path) -> None:
    shown = evenly("tune", study, "--runs", "12", "--baseline", "n=12", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["made"][0]["configuration"] == {"n": 12}
    assert shown.json["made"][0]["why"] == "in use today: the reference of all gains"
    # 12 takes 35 ms and 7 takes 10 ms.
    assert shown.json["gain"]["saved"] == pytest.approx(1 - 10.001 / 35.001)
    study.write_text(STUDY + "[plan]\nbaseline = { n = 12 }\n")
    again = evenly("tune", study, "--runs", "12")
    assert "it saves 71.4 % of the time of today's configuration (n = 12: 35 ms)" in again.out
    for given, told in (
        ("m=12", "it has 'm', which is no parameter"),
        ("n=90", "n must be a whole number from 1 to 20, but got 90"),
    ):
        wrong = evenly("tune", study, "--baseline", given)
        assert wrong.code == 2
        assert told in wrong.err


def test_a_baseline_with_commas_as_help_shows_it(evenly: Evenly, tmp_path: Path) -> None:
    command = "import sys; print('took', int(sys.argv[1]) + int(sys.argv[2]))"
    path = tmp_path / "two.toml"
    path.write_text(
        f'[program]\ncommand = """{sys.executable} -c "{command}" {{a}} {{b}}"""\n'
        "[parameters]\na = [1, 2, 3]\nb = [1, 2]\n[time]\npattern = 'took (\\S+)'\nunit = 's'\n"
    )
    shown = evenly("tune", path, "--runs", "5", "--baseline", "a=3,b=2", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["gain"]["baseline"] == {"a": 3, "b": 2}


def test_strategies_are_compared_on_a_table(evenly: Evenly, tmp_path: Path) -> None:
    rows = [f"{block},{kind},{abs(block - 6) + 1 + kind}" for block in range(1, 11) for kind in (0, 1)]
    table = tmp_path / "measured.csv"
    table.write_text("\n".join(["block,kind,seconds", *rows]) + "\n")
    words = ("tune", "--replay", table, "--strategies", "random,greedy:forest", "--seeds", "2", "--runs", "7")
    shown = evenly(*words, "--plot", tmp_path / "pictures")
    assert shown.code == 0, shown.err
    assert "20 configurations; the fastest takes 1 s" in shown.out
    assert (tmp_path / "pictures" / "measured-strategies.svg").exists()
    found = evenly(*words, "--json").json
    assert {name: (len(above), len(above[0])) for name, above in found["above"].items()} == {
        "random": (2, 7), "greedy:forest": (2, 7)
    }  # fmt: skip
    assert {test["after"] for test in found["t_tests"]} == {5, 7}
    for wrong in (("tune",), ("tune", "s.toml", "--replay", table)):
        refused = evenly(*wrong)
        assert (refused.code, "one of them" in refused.err) == (2, True)
    assert "belong to --known or --replay" in evenly("tune", "s.toml", "--unit", "ms").err


def test_a_program_that_was_changed_is_said_also_where_no_run_is_left(evenly: Evenly, tmp_path: Path) -> None:
    study, script = tmp_path / "s.toml", tmp_path / "solve.sh"
    script.write_text("echo took $(($1 * $1 + 100))\n")
    study.write_text(
        "[program]\ncommand = 'sh solve.sh {n}'\n[parameters]\nn = [1, 2, 3, 4]\n[time]\n"
        "pattern = 'took (.*)'\nunit = 'ms'\n"
    )
    evenly("tune", study, "--runs", "2")
    assert "was changed" not in evenly("tune", study, "--runs", "2").err
    os.utime(script, (time.time() + 5, time.time() + 5))
    for runs in ("2", "3"):
        assert "runs that were made before solve.sh was changed" in evenly("tune", study, "--runs", runs).err


def test_failures_of_a_broken_program_are_told_with_what_makes_them_again(evenly: Evenly, tmp_path: Path) -> None:
    study, script = tmp_path / "s.toml", tmp_path / "solve.sh"
    script.write_text("exit 3\n")
    study.write_text(
        "[program]\ncommand = 'sh solve.sh {n}'\n[parameters]\nn = [1, 2, 3, 4]\n[time]\n"
        "pattern = 'took (.*)'\nunit = 'ms'\n"
    )
    broken = evenly("tune", study, "--runs", "6", "--baseline", "n=4")
    assert "start again with --retry, which makes failed runs again" in broken.err
    script.write_text("echo took $(($1 * $1 + 100))\n")
    kept = evenly("tune", study, "--runs", "6", "--baseline", "n=4")
    assert "of them failed: --retry makes them again" in kept.err
    again = evenly("tune", study, "--runs", "6", "--baseline", "n=4", "--retry")
    assert "today's configuration (n = 4" in again.out
