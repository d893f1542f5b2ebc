"""Where results can be saved, what is said where they can't, and what JSON tells of files."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from tests.cli.conftest import Evenly

LAW = ("--method", "power-law")
RUNS = "cores,seconds\n1,8\n2,4\n4,2\n8,1\n"

PLACES = [
    (["fit", "runs.csv", *LAW, "--save", "."], "it is a folder"),
    (["fit", "runs.csv", *LAW, "--save", "missing/models.evenly"], "there is no folder missing"),
    (["fit", "runs.csv", *LAW, "--save", "runs.csv/models.evenly"], "is not a folder"),
    (["fit", "runs.csv", *LAW, "--save", "runs.csv"], "would be lost"),
    (["predict", "runs.csv", *LAW, "--at", "cores=3", "--save", "."], "it is a folder"),
    (["predict", "runs.csv", *LAW, "--at", "cores=3", "--save", "missing/p.csv"], "there is no folder missing"),
    (["predict", "runs.csv", *LAW, "--at", "cores=3", "--save", "runs.csv"], "would be lost"),
    (["read", "runs.csv", "--save", "."], "would be lost"),
    (["read", "runs.csv", "--save", "missing/all.csv"], "there is no folder missing"),
    (["read", "runs.csv", "--save", "runs.csv/all"], "is not a folder"),
    (["plot", "runs.csv", *LAW, "--into", "runs.csv"], "is not a folder"),
    (["example", "gaussian-pulse", "runs.csv"], "can't be written to"),
]


@pytest.mark.parametrize(("arguments", "message"), PLACES)
def test_places_where_nothing_can_be_saved(evenly: Evenly, arguments: list[str], message: str) -> None:
    Path("runs.csv").write_text(RUNS)
    shown = evenly(*arguments)
    assert shown.code == 2, shown.out + shown.err
    assert message in shown.err
    assert "None" not in shown.err
    assert not shown.out
    assert Path("runs.csv").read_text() == RUNS


@pytest.mark.parametrize(
    "arguments",
    [
        ("fit", "runs.csv", *LAW, "--save", "locked/models.evenly"),
        ("predict", "runs.csv", *LAW, "--at", "cores=3", "--save", "locked/p.csv"),
        ("read", "runs.csv", "--save", "locked"),
        ("read", "runs.csv", "--save", "locked/all.csv"),
        ("plot", "runs.csv", *LAW, "--into", "locked"),
    ],
)
def test_a_folder_that_may_not_be_written(
    evenly: Evenly, monkeypatch: pytest.MonkeyPatch, arguments: tuple[str, ...]
) -> None:
    Path("runs.csv").write_text(RUNS)
    Path("locked").mkdir()
    # Permissions don't hold for the superuser, as whom tests may run.
    monkeypatch.setattr(os, "access", lambda path, mode: mode != os.W_OK or Path(path).name != "locked")
    shown = evenly(*arguments)
    assert shown.code == 2, shown.out + shown.err
    assert "it may not be written" in shown.err
    assert not list(Path("locked").iterdir())


def test_a_case_that_cannot_be_written(evenly: Evenly) -> None:
    for solver, seconds in (("a", 2), ("b", 1)):
        Path(f"{solver}.csv").write_text(f"cores,seconds\n4,{seconds}\n")
    Path("taken").write_text("")
    shown = evenly("sort", "a.csv", "b.csv", "--into", "taken/case")
    assert shown.code == 2, shown.out + shown.err
    assert "the case can't be written to taken/case: Not a directory" in shown.err


def test_runs_are_saved_to_files_and_folders(evenly: Evenly, pulse: Path) -> None:
    Path("one.csv").write_text(RUNS)
    assert "saved all.csv" in evenly("read", "one.csv", "--save", "all.csv").err
    assert evenly("read", "all.csv", "--json").json["solvers"]["all"]["configurations"] == 4
    assert "saved 2 files in new/folder" in evenly("read", pulse, "--save", "new/folder").err
    assert sorted(path.name for path in Path("new/folder").iterdir()) == ["inner.csv", "outer.csv"]
    shown = evenly("read", pulse, "--save", "both.csv")
    assert shown.code == 2
    assert "give a folder to --save, not both.csv" in shown.err


def test_json_tells_the_files(evenly: Evenly) -> None:
    Path("runs.csv").write_text(RUNS)
    files = evenly("plot", "runs.csv", *LAW, "--into", "pictures", "--plot-format", "png", "--json").json["files"]
    assert files == ["pictures/runs.png", "pictures/runs-predicted.png"]
    assert all(Path(file).stat().st_size > 1000 for file in files)
    assert evenly("example", "--json").json == {"examples": ["gaussian-pulse"]}
    copied = evenly("example", "gaussian-pulse", "there", "--json").json
    assert copied["folder"] == "there/gaussian-pulse"
    assert "there/gaussian-pulse/inner.csv" in copied["files"]
    assert all(Path(file).is_file() for file in copied["files"])


@pytest.mark.parametrize(
    ("options", "named"),
    [
        (["--within", "10%"], "--within 10% picks"),
        (["--max-seconds", "2"], "--max-seconds 2 picks"),
        (["--minimise", "cost"], "--minimise cost picks"),
        (["--minimise", "cores", "--within", "5%"], "--minimise cores with --within 5% picks"),
    ],
)
def test_several_totals_name_what_was_typed(evenly: Evenly, pulse: Path, options: list[str], named: str) -> None:
    shown = evenly("allocate", pulse, "--cores", "280,560", *options)
    assert shown.code == 2
    assert named in shown.err
    assert shown.err.endswith("give --cores only the most there are, 560\n")


def test_no_cores_are_refused_by_name(evenly: Evenly, pulse: Path) -> None:
    for option, text in (("--cores", "0"), ("--min", "inner=0"), ("--current", "inner=1.5")):
        shown = evenly("allocate", pulse, *(("--cores", "8") if option != "--cores" else ()), option, text)
        assert shown.code == 2
        assert option in shown.err
        assert "whole numbers above zero" in shown.err


IN_FOLDERS = [
    ("read", ["read", "runs.csv", "--save", "out"]),
    ("fit", ["fit", "runs.csv", *LAW, "--plot", "out"]),
    ("fit, png", ["fit", "runs.csv", *LAW, "--plot", "out", "--plot-format", "png"]),
    ("fit, pdf", ["fit", "runs.csv", *LAW, "--plot", "out", "--plot-format", "pdf"]),
    ("allocate", ["allocate", "a.csv", "b.csv", *LAW, "--cores", "8", "--no-waiting", "--plot", "out"]),
    ("fdtd run", ["fdtd", "run", "oled", "--steps", "4", "--resolution", "20", "-o", "out", "--draw"]),
    ("fdtd scaling", ["fdtd", "scaling", "oled", "--ranks", "1", "--steps", "2", "--repeats", "1",
                      "--resolution", "20", "-o", "out"]),
]  # fmt: skip


@pytest.mark.parametrize("arguments", [one[1] for one in IN_FOLDERS], ids=[one[0] for one in IN_FOLDERS])
def test_only_files_of_evenly_are_replaced_in_a_named_folder(evenly: Evenly, arguments: list[str]) -> None:
    for name in ("runs", "a", "b"):
        Path(f"{name}.csv").write_text(RUNS)
    first = evenly(*arguments)
    assert first.code == 0, first.err
    files = [path for path in Path("out").iterdir() if path.is_file()]
    assert files
    again = evenly(*arguments)
    assert again.code == 0, again.err
    for path in files:
        old = path.read_bytes()
        path.write_text("mine")
        shown = evenly(*arguments)
        assert (shown.code, path.read_text()) == (2, "mine"), path
        assert f"{path.name} is there already and would be lost, since evenly did not write it" in shown.err
        path.write_bytes(old)
