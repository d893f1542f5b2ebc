"""``evenly report``: one page about runs, models, studies, and what to do."""

from __future__ import annotations

import json
from pathlib import Path

import pandas as pd
import pytest

from evenly.campaign import Study
from evenly.campaign.store import Store
from evenly.cli.commands.report import _as_made
from evenly.errors import InputError
from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")
STUDY = """
[program]
command = "echo {n}"
[parameters]
n = [1, 2, 4]
[repetitions]
least = 1
most = 1
[time]
pattern = '(\\d+)'
unit = 's'
"""


@pytest.fixture
def scaling(evenly: Evenly) -> str:
    pd.DataFrame([(p, 400 / p + 3) for p in (1, 2, 4, 8, 16)], columns=["cores", "seconds"]).to_csv(
        "a.csv", index=False
    )
    return "a.csv"


def test_one_page_in_three_formats(evenly: Evenly, scaling: str) -> None:
    asked = (scaling, *LAW, "--cores", "1..32", "--deadline", "2min", "--limit", "95%", "--price", "0.1", "--next", "0")
    for name in ("page.html", "page.md", "page.json"):
        assert evenly("report", *asked, "-o", name).code == 0
    html, text = Path("page.html").read_text(), Path("page.md").read_text()
    assert "data-explorer" in html
    assert '"price":0.1' in html
    assert "a.csv: parameters: cores" in text
    assert "the fewest core-hours that meet the deadline" in text
    assert "time limit, enough in 95 %" in text
    assert json.loads(Path("page.json").read_text())["cores"]["recommended"]["cores"] == 4
    shown = evenly("report", *asked, "--json", "-o", "page.html").json
    assert shown["page"] == "page.html"
    assert shown["models"]["a"]["method"] == "power-law"


def test_a_saved_model_is_taken_with_its_runs(evenly: Evenly, scaling: str) -> None:
    assert evenly("fit", scaling, *LAW, "--save", "m.evenly").code == 0
    both = evenly("report", "m.evenly", scaling, "--json", "--next", "0", "-o", "page.html").json
    assert both["models"]["m"]["left_out_errors"] is not None
    alone = evenly("report", "m.evenly", "--json", "-o", "page.html").json
    assert alone["models"]["m"]["left_out_errors"] is None
    assert "runs" not in alone
    twice = evenly("report", "m.evenly", "m.evenly", "-o", "page.html")
    assert twice.code == 2
    assert "as another file has" in twice.err


def test_coupled_solvers_share_cores(evenly: Evenly, scaling: str) -> None:
    Path("b.csv").write_text(Path(scaling).read_text())
    twins = evenly("report", scaling, "b.csv", *LAW, "--cores", "8", "-o", "page.html")
    assert (twins.code, "--without b" in twins.err) == (2, True)
    (head, *rows) = Path(scaling).read_text().splitlines()
    alike = [f"{row.rpartition(',')[0]},{float(row.rpartition(',')[2]) * 1.0001}" for row in rows]
    Path("b.csv").write_text("\n".join([head, *alike]) + "\n")
    shown = evenly("report", scaling, "b.csv", *LAW, "--cores", "8", "--json", "--next", "0", "-o", "page.html")
    assert shown.json["plan"]["cores"] == {"a": 4, "b": 4}
    assert "side by side" in shown.err or "side by side" in str(shown.json)
    in_turn = ("--layout", "a + b", "--cores", "8", "--next", "0", "-o", "page.md")
    assert evenly("report", scaling, "b.csv", *LAW, *in_turn).code == 0
    text = Path("page.md").read_text()
    assert "How many cores for each solver" in text
    assert "They wait for each other as `a + b`" in text


@pytest.mark.parametrize(
    "asked", [("--deadline", "2min"), ("--budget", "5"), ("--efficiency", "70%"), ("--steps", "3"), ("--limit", "95%")]
)
def test_questions_on_one_program_are_refused_for_several(evenly: Evenly, scaling: str, asked: tuple[str, str]) -> None:
    Path("b.csv").write_text(Path(scaling).read_text())
    shown = evenly("report", scaling, "b.csv", *LAW, *asked, "--cores", "8", "-o", "page.html")
    assert shown.code == 2
    assert f"{asked[0]} asks for one program, but there are a, b" in shown.err
    assert ("n steps take n times as long" in shown.err) == (asked[0] == "--steps")


def test_options_that_cannot_change_a_saved_model_are_refused(evenly: Evenly, scaling: str) -> None:
    assert evenly("fit", scaling, *LAW, "--save", "m.evenly").code == 0
    for given in (("--method", "gp"), ("--train", "cores < 8")):
        shown = evenly("report", "m.evenly", scaling, *given, "-o", "page.html")
        assert shown.code == 2
        assert f"{given[0]} can't change them" in shown.err


def test_a_goal_that_cannot_be_answered_is_no_page_without_it(evenly: Evenly) -> None:
    pd.DataFrame({"n": [1, 2, 4, 8], "seconds": [1.0, 2.0, 4.0, 8.0]}).to_csv("n.csv", index=False)
    shown = evenly("report", "n.csv", *LAW, "--deadline", "2min", "-o", "page.html")
    assert shown.code == 2
    assert "--cores-are" in shown.err
    assert not Path("page.html").exists()


def test_a_goal_without_steps_says_what_was_assumed(evenly: Evenly, scaling: str) -> None:
    for steps, said in ((), True), (("--steps", "10"), False):
        asked = (*steps, "--deadline", "20min", "--next", "0", "-o", "page.md")
        assert evenly("report", scaling, *LAW, *asked).code == 0
        assert ("the job is one run or step as measured" in Path("page.md").read_text()) is said


def test_training_conditions_hold_for_studies_too(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY.replace("[1, 2, 4]", "[1, 2, 4, 8, 16]"))
    assert evenly("measure", "s.toml").code == 0
    shown = evenly("report", "s.toml", *LAW, "--train", "n < 10", "--json", "--next", "0", "-o", "page.md")
    assert shown.json["models"]["s"]["held_out_errors"] is not None
    assert max(shown.json["models"]["s"]["parameters"]["n"]["values"]) == 8
    assert evenly("report", "s.toml", *LAW, "--train", "n < 0", "-o", "page.md").code == 2


def test_a_study_with_its_failures(evenly: Evenly) -> None:
    Path("s.toml").write_text(STUDY)
    none = evenly("report", "s.toml", "-o", "page.html")
    assert none.code == 2
    assert "evenly measure s.toml" in none.err
    assert evenly("measure", "s.toml").code == 0
    shown = evenly("report", "s.toml", *LAW, "--json", "--next", "0", "-o", "page.md")
    assert sorted(run["seconds"] for run in shown.json["campaign"]) == [1, 2, 4]
    assert "The campaign s" in Path("page.md").read_text()


def test_a_study_that_was_measured_and_searched(evenly: Evenly) -> None:
    Path("s.toml").write_text('constraints = ["n % 4 == 0"]\n' + STUDY.replace("[1, 2, 4]", "{ low = 4, high = 60 }"))
    with Path("s.toml").open("a") as file:
        file.write("[plan]\nruns = 6\n")
    assert evenly("measure", "s.toml").code == 0
    assert evenly("tune", "s.toml", "--runs", "5").code == 0
    shown = evenly("report", "s.toml", *LAW, "--json", "--next", "3", "-o", "page.md")
    assert shown.code == 0, shown.err
    text = Path("page.md").read_text()
    # One section each, and the search asks for no further runs.
    assert (text.count("## The campaign s"), text.count("## The fastest configuration")) == (1, 1)
    assert "still to be made" not in text
    assert "- runs: " in text
    assert "runs 2" not in text
    best = min(run["seconds"] for run in shown.json["search"]["history"] if run["seconds"] is not None)
    assert shown.json["search"]["seconds"] == pytest.approx(best)
    assert shown.json["next"]["s"]
    assert all(row["n"] % 4 == 0 for row in shown.json["next"]["s"])


@pytest.mark.parametrize(
    ("given", "reason"),
    [
        (("-o", "page.pdf"), "a name that ends in .html, .md, .json"),
        (("-o", "a.csv.html", "--layout", "max(a, b)"), "--layout is for coupled solvers"),
        (("-o", "page.html", "--at", "nodes=3"), "nodes"),
        (("-o", "page.html", "--deadline", "soon"), "--deadline"),
        (
            (
                "-o",
                "no/folder/page.html",
            ),
            "make it first",
        ),
    ],
)
def test_mistakes_are_refused(evenly: Evenly, scaling: str, given: tuple[str, ...], reason: str) -> None:
    shown = evenly("report", scaling, *LAW, *given)
    assert shown.code == 2
    assert reason in shown.err
    assert not list(Path().glob("*.html"))


def test_a_file_that_nobody_named_and_evenly_did_not_write_stays(evenly: Evenly, scaling: str) -> None:
    Path("report.html").write_text("mine")
    shown = evenly("report", scaling, *LAW, "--next", "0")
    assert shown.code == 2
    assert Path("report.html").read_text() == "mine"
    Path("report.html").unlink()
    assert evenly("report", scaling, *LAW, "--next", "0").code == 0
    assert evenly("report", scaling, *LAW, "--next", "0").code == 0  # its own page is replaced


def test_a_page_says_what_was_asked(evenly: Evenly) -> None:
    rows = [(p, n, n / p + 1) for p in (1, 2, 4, 8, 16) for n in (10, 20, 40)]
    pd.DataFrame(rows, columns=["cores", "size", "seconds"]).to_csv("t.csv", index=False)
    asked = ("--at", "size=20", "--steps", "1000", "--deadline", "2h", "--next", "2", "-o", "page.md")
    assert evenly("report", "t.csv", "--method", "log-quadratic", *asked).code == 0
    text = Path("page.md").read_text()
    assert "Asked: 1000 steps, size = 20, within 120 min." in text
    assert "| core-hours |" in text
    assert "outside what was measured" in text


def test_a_goal_that_nothing_meets_is_exit_status_1(evenly: Evenly, scaling: str) -> None:
    shown = evenly("report", scaling, *LAW, "--cores", "1..64", "--deadline", "1s", "--next", "0", "-o", "page.md")
    assert shown.code == 1
    assert "no number of cores meets the goal" in shown.err
    assert "ends within" in Path("page.md").read_text()


@pytest.mark.parametrize("machine", [None, "cluster.toml", "other.toml"])
def test_a_study_whose_runs_were_made_on_a_cluster(tmp_path: Path, machine: str | None) -> None:
    study, place = tmp_path / "s.toml", tmp_path / "s.db"
    study.write_text("[program]\ncommand = 'echo {n}'\n[parameters]\nn = [1, 2]\n")
    for name, launcher in (("cluster.toml", "slurm"), ("other.toml", "pbs")):
        (tmp_path / name).write_text(f"name = 'x'\n[launcher]\nname = '{launcher}'\n")
    with Store(place) as store:
        store.note("measured_as", {"launcher": "slurm"})
    given = None if machine is None else str(tmp_path / machine)
    if machine == "other.toml":
        with pytest.raises(InputError, match=r"the launcher 'slurm' made.*give --machine"):
            _as_made(Study.load(study), study, place, given)
    else:  # a page starts nothing, so the launcher's name is enough
        assert _as_made(Study.load(study), study, place, given).program.launcher == "slurm"


def test_settings_that_only_a_machine_file_had_are_asked_for(tmp_path: Path) -> None:
    study, place = tmp_path / "s.toml", tmp_path / "s.db"
    study.write_text("[program]\ncommand = 'echo {n}'\n[parameters]\nn = [1, 2]\n")
    with Store(place) as store:
        store.note("measured_as", {"launcher": "slurm", "setup": ["module load gcc"]})
    with pytest.raises(InputError, match=r"'slurm' made with setup = \['module load gcc'\].*give --machine"):
        _as_made(Study.load(study), study, place, None)


def test_what_is_open_is_asked_before_anything_is_learned(
    evenly: Evenly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    rows = "".join(f"{p},{n},{n / p}\n" for p in (1, 2, 4, 8) for n in (10, 20, 40))
    (tmp_path / "two.csv").write_text(f"cores,cells,seconds\n{rows}")
    monkeypatch.setattr("evenly.cli.run_input._fit", lambda *_: pytest.fail("something was learned"))
    asked = evenly("report", tmp_path / "two.csv", "--cores", "1..8", "-o", tmp_path / "page.html")
    assert asked.code == 2
    assert "depends on cells: give a value" in asked.err
