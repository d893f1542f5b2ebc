"""``evenly fdtd``: small cells, run here and on two ranks; what goes wrong is said once."""

from __future__ import annotations

import os
import subprocess
import sys
from pathlib import Path

import pytest

from evenly.fdtd.cell.partition import BinaryPartition
from evenly.fdtd.measurement.measurement import Measurement
from tests.cli.conftest import Evenly

SMALL = ("--resolution", "20", "--size", "0.4", "--set", "absorber=0.2", "--set", "pml=0.2", "--set", "glass=0.5")
SCRIPT = """
from evenly.fdtd import PML, Flux, GaussianPulse, Simulation, Source

until = 12

def simulation(resolution=8, width=2.0, **keywords):
    source = Source(GaussianPulse(1.0, fwidth=2.0), "Ez", (0, 0, 0))
    return Simulation(cell=(width, 2, 0), resolution=resolution, sources=[source], boundaries=[PML(0.5)], **keywords)

def monitors():
    return {"out": Flux((0, 0), (0.5, 0.5), [0.9, 1.1])}

def broken(**keywords):
    raise RuntimeError("the script has a mistake")
"""


@pytest.fixture
def script(evenly: Evenly) -> str:
    Path("mine.py").write_text(SCRIPT)
    return "mine.py"


def test_list_shows_structures_and_defaults(evenly: Evenly) -> None:
    shown = evenly("fdtd", "list")
    assert shown.code == 0
    assert "organic light-emitting diode" in shown.out
    assert evenly("fdtd", "list", "--json").json["tandem"]["resolution"] == 40.0


def test_counts_tell_kinds_chunks_and_memory(evenly: Evenly) -> None:
    told = evenly("fdtd", "counts", "oled", "--ranks", "4", *SMALL, "--json").json
    assert told["points"] == 16 * 16 * 22
    assert sum(chunk["volume"] for chunk in told["chunks"]) == told["points"]
    assert {chunk["rank"] for chunk in told["chunks"]} == {0, 1, 2, 3}
    assert told["kinds"]["pml_1d"] == 16 * 16 * 4
    assert len(told["bytes_per_rank"]) == 4
    shown = evenly("fdtd", "counts", "oled", *SMALL)
    assert shown.code == 0
    assert "absorber" in shown.out
    assert "memory:" in shown.out


def test_run_leaves_a_measurement_and_says_why_there_is_no_spectrum(evenly: Evenly) -> None:
    shown = evenly("fdtd", "run", "oled", *SMALL, "--steps", "12", "--save", "out")
    assert shown.code == 0, shown.err
    assert "5632 points on 1 rank" in shown.out
    assert "no spectra" in shown.err
    kept = Measurement.load("out/oled.fdtd.json")
    assert (kept.points, kept.size, kept.parameters["size"]) == (5632, 1, 0.4)
    # The first steps, which compile, are not measured.
    assert kept.steps == 9
    assert not list(Path("out").glob("*.csv"))


def test_a_script_runs_to_its_end_with_its_parameters(evenly: Evenly, script: str) -> None:
    told = evenly("fdtd", "run", script, "--set", "width=3", "--json").json
    assert told["points"] == 24 * 16
    (spectrum,) = told["spectra"]
    assert spectrum["frequencies"] == [0.9, 1.1]
    assert min(spectrum["curves"]["out"]) > 0
    assert not list(Path().glob("*-run"))


def test_transforms_may_take_more_steps_than_they_must(evenly: Evenly, script: str) -> None:
    few, every_one = (
        evenly("fdtd", "run", script, *often, "--json").json["spectra"][0]["curves"]["out"]
        for often in ([], ["--decimation", "1"])
    )
    assert few == pytest.approx(every_one, rel=1e-3)
    assert few != every_one


@pytest.mark.slow
def test_two_ranks_give_what_one_gives(evenly: Evenly, script: str) -> None:
    assert evenly("fdtd", "layout", script, "--ranks", "2", "--save", "cut.json").code == 0
    assert BinaryPartition.load("cut.json").owners == [0, 1]
    assert evenly("fdtd", "run", script, "--save", "one").code == 0
    shown = evenly("fdtd", "run", script, "--ranks", "2", "--chunks", "cut.json", "--save", "two", "--draw")
    assert shown.code == 0, shown.err
    assert Measurement.load("two/mine.fdtd.json").size == 2
    one, two = (Path(folder, "mine-spectrum.csv").read_text() for folder in ("one", "two"))
    assert one == two
    for picture in ("geometry", "field", "ranks", "spectrum"):
        assert Path(f"two/mine-{picture}.png").stat().st_size > 10_000


def test_a_layout_for_other_ranks_or_another_cell_is_told(evenly: Evenly, script: str) -> None:
    assert evenly("fdtd", "layout", script, "--ranks", "3", "--save", "cut.json").code == 0
    shown = evenly("fdtd", "counts", script, "--ranks", "2", "--chunks", "cut.json")
    assert shown.code == 0
    assert "made for 3 ranks: on 2" in " ".join(shown.err.split())
    alone = evenly("fdtd", "run", script, "--ranks", "1", "--chunks", "cut.json", "--steps", "5")
    assert alone.code == 0
    assert "made for 3 ranks: on 1" in " ".join(alone.err.split())
    # Left out, ranks are those of the layout.
    counts = evenly("fdtd", "counts", script, "--chunks", "cut.json", "--json")
    assert len(counts.json["bytes_per_rank"]) == 3
    assert "made for" not in counts.err
    other = evenly("fdtd", "counts", script, "--set", "width=5", "--chunks", "cut.json")
    assert other.code == 2
    assert "was made for a cell of" in " ".join(other.err.split())


@pytest.mark.slow
def test_a_scaling_study_measures_and_draws(evenly: Evenly, script: str) -> None:
    shown = evenly(
        "fdtd", "scaling", script, "--ranks", "1,2", "--repeats", "1", "--steps", "10", "-o", "study", "--draw",
        "--plot-format", "svg", "--json",
    )  # fmt: skip
    assert shown.code == 0, shown.err
    assert [row["ranks"] for row in shown.json["rows"]] == [1, 2]
    assert len(list(Path("study").glob("*.fdtd.json"))) == 2
    assert len(list(Path("study").glob("*.svg"))) == 4
    again = evenly("fdtd", "scaling", "study")
    assert again.code == 0
    assert "communication" in again.out


@pytest.mark.slow
def test_a_failing_rank_is_heard_once(evenly: Evenly, script: str) -> None:
    """In a process of its own, since the ranks write to its error output, not to Python's."""
    command = [sys.executable, "-c", "from evenly.cli import main; main()", "fdtd", "run", f"{script}:broken"]
    ended = subprocess.run([*command, "--ranks", "2", "--steps", "3"], capture_output=True, text=True, check=False)
    assert ended.returncode == 1
    assert ended.stderr.count("the script has a mistake") == 2  # the line of the script, and the error
    wrong = subprocess.run(
        [*command[:-1], "oled", "--ranks", "2", "--set", "size=-1"], capture_output=True, check=False
    )
    assert wrong.returncode == 2
    assert wrong.stderr.count(b"`size`") == 1


BAD_INPUT = [
    ["run", "castle"],
    ["run", "missing.py"],
    ["run", "oled", "--resolution", "3"],
    ["run", "oled", "--set", "colour=blue"],
    ["run", "oled", "--size", "1", "--set", "size=2"],
    ["run", "oled", "--steps", "3", "--until", "2"],
    ["run", "oled", "--until", "-1"],
    ["run", "oled", "--chunks", "missing.json"],
    ["run", "oled", "--chunks", "outside.json"],
    ["run", "oled", "--slice", "w=1"],
    ["run", "oled", "--save", "outside.json"],
    ["run", "oled", "--ranks", "0"],
    ["run", "oled", "--decimation", "0"],
    ["counts", "oled", "--set", "pml"],
    ["layout", "oled", "--save", "nowhere/cut.json"],
    ["scaling", "oled", "--ranks", "none"],
    ["scaling", "oled", "--set", "glass=-1"],
]


@pytest.mark.parametrize("arguments", BAD_INPUT, ids=" ".join)
def test_bad_input_exits_with_2_and_one_message(evenly: Evenly, arguments: list[str]) -> None:
    BinaryPartition([("x", 77.0), 0, 1]).save("outside.json")
    shown = evenly("fdtd", *arguments)
    assert shown.code == 2, shown.out + shown.err
    assert shown.err.strip()
    assert "Traceback" not in shown.err


@pytest.mark.parametrize("command", [["run"], ["run", "--ranks", "2"], ["scaling"], ["counts"]])
def test_a_script_of_meep_is_refused_before_anything_starts(evenly: Evenly, tmp_path: Path, command: list[str]) -> None:
    script = tmp_path / "slab.py"
    script.write_text("import meep as mp\n\nraise SystemExit('it ran')\n")
    shown = evenly("fdtd", command[0], str(script), *command[1:])
    assert shown.code == 2
    assert shown.err.count("is a script of Meep") == 1


def test_a_launcher_that_fails_is_quoted(evenly: Evenly, script: str, monkeypatch: pytest.MonkeyPatch) -> None:
    Path("mpiexec").write_text("#!/bin/sh\necho '[mpiexec@here] no process manager' >&2\nexit 255\n")
    Path("mpiexec").chmod(0o755)
    monkeypatch.setenv("EVENLY_MPIEXEC", str(Path("mpiexec").resolve()))
    shown = evenly("fdtd", "run", script, "--ranks", "2", "--steps", "2")
    assert shown.code == 2
    assert "error: MPI failed with status 255 before any rank began" in shown.err
    assert "[mpiexec@here] no process manager" in shown.err


PLAIN = """
from evenly import fdtd

def simulation():
    source = fdtd.Source(fdtd.GaussianPulse(0.6, fwidth=0.4), "Ez", center=(0.3, 0.1, 0))
    return fdtd.Simulation(cell=(4, 3, 0), resolution=10, sources=[source])
"""


def test_the_results_shown_are_those_of_this_run(evenly: Evenly, tmp_path: Path) -> None:
    for name in ("a", "b"):
        (tmp_path / f"{name}.py").write_text(PLAIN)
    assert evenly("fdtd", "run", "b.py", "--steps", "40", "--save", "m").code == 0
    os.utime(tmp_path / "m" / "b.fdtd.json", (4e9, 4e9))
    shown = evenly("fdtd", "run", "a.py", "--steps", "20", "--save", "m", "--json")
    assert shown.json["name"] == "a"
    (tmp_path / "m" / "z.fdtd.json").write_text('{"mine": true}')
    assert evenly("fdtd", "run", "a.py", "--steps", "20", "--save", "m", "--json").json["name"] == "a"


@pytest.mark.parametrize("command", [["partition"], ["fdtd", "layout"]], ids=" ".join)
def test_a_layout_is_not_saved_over_the_script(evenly: Evenly, tmp_path: Path, command: list[str]) -> None:
    path = tmp_path / "a.py"
    path.write_text(PLAIN)
    shown = evenly(*command, "a.py", "--ranks", "2", "-o", "a.py")
    assert shown.code == 2
    assert "that was read, and would be lost" in shown.err
    assert path.read_text() == PLAIN
