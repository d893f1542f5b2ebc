"""``evenly init --pattern``: a pattern proposed from an example, shown or asked for, and never written over a file."""

from __future__ import annotations

import io
import tomllib
from pathlib import Path

import pytest

from evenly.cli.commands import init
from tests.cli.conftest import Evenly
from tests.cli.conftest import evenly as evenly  # the fixture

LOG = """\
OurSolver 1.2 of 2026-03-04
Started on 8 processes with 4 threads each
Grid of 1000 cells
Setup time: 0.5 s
CPU time: 90.5 s
Total wall time: 12.5 s
Bye.
"""


@pytest.fixture
def example(tmp_path: Path) -> Path:
    path = tmp_path / "run.log"
    path.write_text(LOG)
    return path


def test_a_proposal_is_shown_with_its_alternatives(evenly: Evenly, example: Path) -> None:
    done = evenly("init", "--pattern", "run.log")
    assert done.code == 0
    data = tomllib.loads(done.out)
    assert data["recognise"] == "OurSolver {:word} of {:word}"
    assert data["row"] == "Total wall time: {seconds} s"
    assert data["parameters"] == ["ranks", "threads", "cells"]
    assert data["end"] == "Bye."
    assert '# recognise = "Started on' in done.out
    assert "ranks 8, threads 4, cells 1000: 12.5 s" in done.err
    assert sorted(path.name for path in example.parent.iterdir()) == ["run.log"]


def test_a_saved_proposal_reads_the_example(evenly: Evenly, example: Path) -> None:
    assert evenly("init", "--pattern", "run.log", "ours.toml").code == 0
    done = evenly("read", "run.log", "--pattern", "ours.toml", "--json")
    assert done.code == 0
    assert list(done.json["solvers"]) == ["ours"]
    again = evenly("init", "--pattern", "run.log", "ours.toml")
    assert again.code == 2
    assert "writes over nothing" in again.err


def test_as_json(evenly: Evenly, example: Path) -> None:
    told = evenly("init", "--pattern", "run.log", "--json").json
    assert tomllib.loads(told["pattern"])["row"] == "Total wall time: {seconds} s"
    assert told["reads"] == "ranks 8, threads 4, cells 1000: 12.5 s"
    assert told["saved"] is None


def test_a_terminal_is_asked(evenly: Evenly, example: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(init, "_is_terminal", lambda: True)
    # the recognised line, the time (an answer that is none of them first), ranks, no threads, the cells, the end
    monkeypatch.setattr("sys.stdin", io.StringIO("1\n9\n1\n1\n0\n1\n1\n"))
    done = evenly("init", "--pattern", "run.log", "ours.toml")
    assert done.code == 0, done.err
    assert "Which line says the time?" in done.out
    data = tomllib.loads((example.parent / "ours.toml").read_text())
    assert data["row"] == "Total wall time: {seconds} s"
    assert data["parameters"] == ["ranks", "cells"]
    assert "#" not in (example.parent / "ours.toml").read_text()


def test_what_has_no_time_is_refused(evenly: Evenly, tmp_path: Path) -> None:
    (tmp_path / "notes.txt").write_text("a page of text\nwithout any number\n")
    done = evenly("init", "--pattern", "notes.txt", "ours.toml")
    assert done.code == 2
    assert "no line looks like a time" in done.err
    assert not (tmp_path / "ours.toml").exists()
    assert evenly("init", "--pattern", "none.log").code == 2


def test_steps_and_clocks_are_told_apart(evenly: Evenly, tmp_path: Path) -> None:
    clock = "".join(f"step {i}: elapsed time {1.5 * i} s\n" for i in range(1, 5))
    (tmp_path / "clock.log").write_text(f"Solver version 2\nRunning on 4 ranks\n{clock}done\n")
    told = evenly("init", "--pattern", "clock.log", "--json").json
    assert tomllib.loads(told["pattern"])["take"] == "last"
    assert told["reads"] == "ranks 4: 6 s"
    steps = "".join(f"step {i}: elapsed time {1.5 - 0.1 * i:.1f} s\n" for i in range(1, 5))
    (tmp_path / "steps.log").write_text(f"Solver version 2\nRunning on 4 ranks\n{steps}done\n")
    assert tomllib.loads(evenly("init", "--pattern", "steps.log", "--json").json["pattern"])["take"] == "steps"


def test_dots_that_lead_residuals_and_no_parameters(evenly: Evenly, tmp_path: Path) -> None:
    """The time is behind the dots, a residual is none, and the line of the time doesn't tell the program."""
    log = tmp_path / "a.log"
    log.write_text(
        "SuperSim v2.1\nresidual at 3.5: 1.2e-5\nfinal residual time 1e-7\nTotal wall time.........12.5 s\nDone.\n"
    )
    done = evenly("init", "--pattern", log, "a.toml")
    assert done.code == 0
    assert "no parameter is found" in done.err
    text = Path("a.toml").read_text()
    assert 'row = "Total wall time...{seconds} s"' in text
    assert "wall time" not in "".join(line for line in text.splitlines() if "recognise" in line)
    asked = evenly("read", log, "--pattern", "a.toml")
    assert (asked.code, "tell it with --constant" in asked.err) == (2, True)
    read = evenly("read", log, "--pattern", "a.toml", "--constant", "ranks=4")
    assert "12.5" in read.out


def test_what_cannot_be_read_is_not_saved(evenly: Evenly, tmp_path: Path) -> None:
    log = tmp_path / "b.log"
    log.write_text("SuperSim v2.1\nnothing here\n")
    assert evenly("init", "--pattern", log, "b.toml").code == 2
    assert not Path("b.toml").exists()


def test_a_study_is_proposed_and_measured(evenly: Evenly) -> None:
    made = evenly("init", "study.toml", "--command", "echo --size 32")
    assert made.code == 0
    assert "size varies: 8, 16, 32" in made.err
    again = evenly("init", "study.toml", "--command", "echo --size 32")
    assert again.code == 2
    assert "writes over nothing" in again.err
    assert "3 configurations" in evenly("measure", "study.toml", "--plan").out
    Path("runs.csv").write_text("cores,seconds\n1,4\n2,2\n")
    assert "cores = [1, 2]" in evenly("init", "--table", "runs.csv", "--json").json["study"]
    for given in ((), ("--command", "echo 64", "--table", "runs.csv")):
        refused = evenly("init", *given)
        assert refused.code == 2
        assert "--command" in refused.err


def test_questions_about_a_table_can_be_answered(evenly: Evenly) -> None:
    Path("runs.csv").write_text("solver,cores,seconds\nice,1,4\nice,2,2\nocn,1,8\nocn,2,5\n")
    assert "choose one with --only" in evenly("init", "--table", "runs.csv").err
    assert "cores = [1, 2]" in evenly("init", "--table", "runs.csv", "--only", "ice").out
    both = evenly("init", "--table", "runs.csv", "--parameters", "solver,cores").out
    assert 'solver = ["ice", "ocn"]' in both
    assert "belong to --table" in evenly("init", "--command", "echo 64", "--only", "ice").err
