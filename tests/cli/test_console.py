"""What files hold is shown as it is: no markup, no commands for the terminal, no formulas for spreadsheets."""

from __future__ import annotations

import json
import subprocess
import sys
from pathlib import Path

import pandas as pd
import pytest

from evenly import read
from evenly.cli.console import save_table
from evenly.runs.runs import Runs
from tests.cli.conftest import Evenly

STRANGE = ["[/red]", "[bold]x", "\x1b[2Jclear", "\x1b]0;title\x07", "\u202egnp.exe", "\x9b31m", "a\x08b"]
FORMULAS = ["=1+1", "+cmd", "-O3", "@sum"]
OBEYED = "\x1b\x07\x08\x9b\u202e"


def table(labels: list[str]) -> str:
    rows = (f"{label},{cores},{8 / cores + 0.1}\n" for label in labels for cores in (4, 8, 16, 32))
    return "domain,cores,seconds\n" + "".join(rows)


def test_names_in_files_command_no_terminal(tmp_path: Path, evenly: Evenly) -> None:
    Path("runs.csv").write_text(table(STRANGE))
    for command in (
        ["read", "runs.csv"],
        ["fit", "runs.csv", "--method", "power-law"],
        ["predict", "runs.csv", "--method", "power-law", "--at", "cores=4"],
    ):
        told = evenly(*command)
        assert told.code == 0
        assert "[/red]" in told.out
        assert not set(OBEYED) & set(told.out + told.err)
    refused = evenly("read", "\x1b[2Jno.csv")
    assert (refused.code, set(OBEYED) & set(refused.err)) == (2, set())


def test_a_message_with_all_of_a_file_is_cut(tmp_path: Path, evenly: Evenly) -> None:
    Path("runs.csv").write_text("cores,seconds\n8," + "x" * 100_000 + "\n")
    told = evenly("read", "runs.csv")
    assert (told.code, len(told.err) < 6000) == (2, True)


@pytest.mark.parametrize("label", FORMULAS)
def test_labels_are_no_formulas_and_come_back(tmp_path: Path, label: str) -> None:
    frame = pd.DataFrame({"flags": [label, "cg"], "cores": [4, 8], "seconds": [2.5, 1.5], "change": [-1.5, 2.0]})
    save_table(frame, tmp_path / "saved.csv", "runs")
    lines = (tmp_path / "saved.csv").read_text().splitlines()
    assert lines[1] == f"'{label},4,2.5,-1.5"
    again = read(tmp_path / "saved.csv", parameters="flags,cores")
    assert isinstance(again, Runs)
    assert again.to_frame()["flags"].tolist() == [label, "cg"]
    again.save(tmp_path / "runs.csv")
    stored = (tmp_path / "runs.csv").read_text().splitlines()
    assert not any(line.startswith(("=", "+", "-", "@", f'"{label}')) for line in stored)
    assert Runs.load(tmp_path / "runs.csv") == again


PRINTING = """
import os, sys
print("while it is loaded")
from evenly.fdtd import Simulation

def simulation(**keywords):
    print("as it is made")
    os.system("echo of another process")
    return Simulation(cell=(1, 0, 0), resolution=10, **keywords)
"""


@pytest.mark.parametrize("arguments", [["run", "--steps", "3"], ["run", "--steps", "3", "--ranks", "2"], ["counts"]])
def test_json_is_all_of_the_output_whatever_a_script_prints(arguments: list[str], tmp_path: Path) -> None:
    (tmp_path / "mine.py").write_text(PRINTING)
    command, *options = arguments
    done = subprocess.run(
        [sys.executable, "-m", "evenly", "fdtd", command, "mine.py", *options, "--json"], cwd=tmp_path, text=True,
        capture_output=True, check=False,
    )  # fmt: skip
    assert done.returncode == 0, done.stderr
    assert json.loads(done.stdout)["name"] == "mine"
    for text in ("while it is loaded", "as it is made", "of another process"):
        assert text in done.stderr


def test_json_tells_notes_and_what_was_left_out_even_where_nothing_else_does(evenly: Evenly) -> None:
    rows = "".join(f"{cores},{8 / cores + 0.1}\n" for cores in (4, 8, 16, 32))
    Path("case").mkdir()
    for name in ("a", "b"):
        Path("case", f"{name}.csv").write_text("cores,seconds\n" + rows)
    Path("case", "cut.csv").write_text("cores,seconds\n8,x")
    law = ("--method", "power-law")
    for command in (
        ["read", "case"],
        ["fit", "case", *law],
        ["predict", "case", *law, "--at", "cores=4"],
    ):
        told = evenly(*command, "--json", "--quiet")
        assert (told.code, told.err) == (0, "")
        assert any("cut.csv" in note for note in told.json["notes"]), command
