"""Patterns: their keys, and what is wrong with a file."""

from __future__ import annotations

import re
from dataclasses import fields
from pathlib import Path
from typing import Any

import pytest

from evenly.errors import ReadError
from evenly.readers.logs.pattern import Pattern, shipped_patterns
from evenly.readers.logs.proposal import propose
from evenly.readers.scanning import scan

OURS: dict[str, Any] = {
    "about": "ours",
    "recognise": "OurSolver {:word}",
    "read": ["{ranks:int} ranks"],
    "row": "Time: {seconds}",
    "parameters": ["ranks"],
}


@pytest.mark.parametrize(
    ("changed", "message"),
    [
        ({"recogniser": "x"}, r"has no 'recogniser' \(did you mean 'recognise'"),
        ({"about": None}, "the key 'about' is missing"),
        ({"recognise": None}, "the key 'recognise' is missing"),
        ({"parameters": None}, "the key 'parameters' is missing"),
        ({"row": None}, "the key 'row' is missing"),
        ({"row": "Time: {second}"}, r"time needs 'seconds', but no line of the pattern has \{seconds\}"),
        ({"row": 5}, "row must be text, or a list of texts, but got 5"),
        ({"read": ["{ranks:int"]}, "read: a brace in '{ranks:int' has no partner"),
        ({"read": ["{ranks:whole} ranks"]}, "read: {ranks:whole}"),
        ({"parameters": ["nodes"]}, "parameters: nodes needs 'nodes'"),
        ({"parameters": ["ranks = 2 *"]}, "parameters: .* is not an expression"),
        ({"parameters": ["ranks +"]}, "parameters must be written as 'ranks', 'nodes\\?' or 'ranks = P \\* Q'"),
        ({"parameters": ["run = ranks"]}, "'run' is a name that evenly uses itself"),
        ({"take": "all"}, "take must be one of only, last, each, steps, but got 'all'"),
        ({"unit": "GiB"}, "unit must be that of a time or a rate"),
        ({"unit": "fortnight"}, "unit: the unit must be one of"),
        ({"quantities": {"ranks": "apples"}}, "quantities.ranks: the unit must be one of"),
        ({"quantities": {"memory": "GiB"}}, "quantities.memory needs 'memory'"),
        ({"otherwise": {"ranks": "P * Q"}}, "otherwise.ranks needs 'P'"),
        ({"otherwise": 3}, "otherwise must be a table"),
        ({"solver": "{benchmark}"}, "solver needs 'benchmark'"),
        ({"refuse": [{"why": "x"}]}, "refuse needs the key 'line' or the key 'when'"),
        ({"refuse": [{"line": "x"}]}, "refuse.why must be text"),
        ({"refuse": {"line": "x"}}, r"refuse must be written as \[\[refuse\]\]"),
        ({"table": [{"header": "x"}]}, "table.columns"),
        ({"table": [{"header": "x", "rows": "y"}]}, r"a \[\[table\]\] of a pattern has no 'rows'"),
    ],
)
def test_an_error_names_the_key(changed: dict[str, Any], message: str) -> None:
    data = {key: value for key, value in (OURS | changed).items() if value is not None}
    with pytest.raises(ValueError, match=message):
        Pattern.from_dict("ours", data)


def test_an_error_names_the_file(tmp_path: Path) -> None:
    path = tmp_path / "ours.toml"
    for content in (b"about = ", b"\xff\xfe\x00", b'about = "x"'):
        path.write_bytes(content)
        with pytest.raises(ReadError, match=r"ours\.toml"):
            Pattern.load(path)
    with pytest.raises(ReadError, match="No such file"):
        Pattern.load(tmp_path / "none.toml")


def test_shipped_patterns_are_small_and_tell_what_ends_a_log() -> None:
    folder = Path(__file__).parents[3] / "src" / "evenly" / "readers" / "logs" / "patterns"
    files = list(folder.rglob("*.toml"))
    assert len(files) == len(shipped_patterns())
    for file in files:
        assert len(file.read_text("utf-8").splitlines()) <= 50, file
    for pattern in shipped_patterns().values():
        assert pattern.end or pattern.take == "only" or pattern.program == "osu", pattern.program


def test_the_page_lists_the_programs_and_the_keys() -> None:
    page = (Path(__file__).parents[3] / "docs" / "logs.md").read_text("utf-8")
    programs, _, rest = page.partition("## What is taken")
    listed = re.findall(r"^\| `(\w+)` \| (.+) \|$", programs, re.MULTILINE)
    assert listed == [(pattern.program, pattern.about) for pattern in shipped_patterns().values()]
    keys = re.findall(r"^\| `\[*(\w+)\]*`(?: \*)? \| ", rest.partition("These are the keys")[2], re.MULTILINE)
    assert set(keys) == {*(f.name for f in fields(Pattern)), "row", "table"} - {"program", "tables"}


@pytest.mark.parametrize(
    "line",
    [
        "Figure Of Merit 1.2e+05 [Num Mega Segments / Cycle Tracking Time]",
        "runtime throughput: 812.5 cells/s",
        "Elapsed at Tue Jun  4 12:01:33 2024",
        "run time stamp 2024-06-04 12:01:33",
        "elapsed time=1.0000000000000000e+00 cycle=512",
    ],
)
def test_a_rate_and_a_date_are_no_time(tmp_path: Path, line: str) -> None:
    path = tmp_path / "run.log"
    path.write_text(f"Solver 1.2\nRunning on 8 processes\nTotal time: 12.5 s\n{line}\n")
    assert propose(path).check() == "ranks 8: 12.5 s"
    path.write_text(f"Solver 1.2\nRunning on 8 processes\n{line}\n")
    with pytest.raises(ReadError, match="no line looks like a time"):
        propose(path)


def test_a_time_is_known_by_its_unit_in_brackets(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("Time [ms]: 12.5\n")
    assert propose(path).check().endswith(": 0.0125 s")


def test_times_of_several_units_are_read_whole(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("Solver 1.2\nRunning on 8 processes\nSOLVER : 2m13.50s CPU  1m17.20s WALL\n")
    assert propose(path).check() == "ranks 8: 77.2 s"
    path.write_text("Solver 1.2\nRunning on 8 processes\n> Elapsed time   0d:0h:12m:3s\n")
    with pytest.raises(ReadError, match="no line looks like a time"):
        propose(path)


@pytest.mark.parametrize(
    ("lines", "reads"),
    [
        ("MPI processes: 8   OpenMP threads: 2   process grid: 4 x 2\nTotal time: 9.5 s", "ranks 8, threads 2: 9.5 s"),
        ("8 ranks\nelapsed_ms=10570.5", "ranks 8: 10.5705 s"),
        ("8 ranks\nTotal runtime [ms]    : 53210.4", "ranks 8: 53.2104 s"),
        ("8 ranks\nElapsed time (hours): 0.42", "ranks 8: 1512 s"),
        ("Nodes: 4\nTasks per node: 16\nThreads per task: 2\nTotal time: 33 s", "threads 2, nodes 4: 33 s"),
        ("8 ranks\nMesh: 512 x 512 x 64  (16,777,216 cells)\nTotal time: 33 s", "ranks 8, nx 512, ny 512, nz 64: 33 s"),
        ("8 ranks\nTOTAL TIME =   0.12345D+03 SEC\nTotal wall time: 124 s", "ranks 8: 124 s"),
        ("MPI size 128\nLattice sites: 2097152\nTotal time: 9.5 s", "ranks 128, sites 2097152: 9.5 s"),
        ("np = 8\nDomain: 360 x 180 x 50\nTotal time: 9.5 s", "ranks 8, nx 360, ny 180, nz 50: 9.5 s"),
        ("World size: 4\nnx=256 ny=128\nTotal time: 9.5 s", "ranks 4, nx 256, ny 128: 9.5 s"),
        ("ranks 16  bodies 1000000\nTotal time: 9.5 s", "ranks 16, bodies 1000000: 9.5 s"),
        ("MPI tasks ............ 96\nElements ... 1.25e6\nTotal time: 9.5 s", "ranks 96, elements 1250000.0: 9.5 s"),
        ("processes:        64 (8x8x1)\nTotal time: 9.5 s", "ranks 64: 9.5 s"),
        ("8 ranks\ntotal time for 50 trajectories: 1234.5 s (24.69 s/trajectory)", "ranks 8: 1234.5 s"),
        ("8 ranks\nTotal runtime for 200 steps = 88.5 s", "ranks 8, steps 200: 88.5 s"),
        ("8 ranks\n    min avg max\nTotal time (s)  101.20  103.40  105.90", "ranks 8: 105.9 s"),
        ("numPes 8\nCells: 10 X 15 X 10 .... created\nTotal time: 9.5 s", "ranks 8: 9.5 s"),
        (
            "process grid: 4 x 2\n1000 atoms\nTotal time: 9.5 s",
            "atoms 1000 (no line is found that tells the ranks or cores): 9.5 s",
        ),
    ],
)
def test_labels_units_and_numbers_as_programs_write_them(tmp_path: Path, lines: str, reads: str) -> None:
    path = tmp_path / "run.log"
    path.write_text(f"Solver 1.2\n{lines}\n")
    assert propose(path).check() == reads


def test_a_setting_may_differ_between_the_runs_of_one_log(tmp_path: Path) -> None:
    path = tmp_path / "runs.log"
    runs = [f"Loop 1.0\nranks: {n}\niteration 1\niteration 2\nTotal time: {100 // n}.5 s\nbye\n" for n in (4, 8, 5)]
    path.write_text("".join(runs))
    found = propose(path)
    assert found.check() == "ranks 4: 25.5 s (and 2 more)"
    (tmp_path / "loop.toml").write_text(found.text())
    (runs_read,) = scan(path, pattern=tmp_path / "loop.toml").runs.values()
    frame = runs_read.to_frame()
    assert frame[["ranks", "seconds"]].to_numpy().tolist() == [[4, 25.5], [8, 12.5], [5, 20.5]]


def test_a_line_that_comes_again_begins_no_run(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("Plasma 2.1\n8 ranks\nTotal time: 12.5 s\nPeak RSS 2.5 GB\nPlasma ended\n")
    found = propose(path)
    assert found.check() == "ranks 8: 12.5 s"
    assert found.choices["recognise"][0].template == "{:word} ranks"


@pytest.mark.parametrize(
    ("lines", "reads"),
    [
        (
            [
                "[2025-04-01 12:03:00] INFO Starting on 16 ranks",
                "[2025-04-01 12:05:00] INFO Elapsed wall time: 103.4 s",
            ],
            "ranks 16: 103.4 s",
        ),
        (
            ["2025-04-01T12:03:00.250Z Running on 4 processes", "2025-04-01T12:03:09Z Total time: 9.5 s"],
            "ranks 4: 9.5 s",
        ),
        (["ranks 8", "real\t3m21.500s", "user\t1m0.1s", "sys\t0m0.2s"], "ranks 8: 201.5 s"),
    ],
)
def test_lines_that_begin_with_when_they_were_written(tmp_path: Path, lines: list[str], reads: str) -> None:
    path = tmp_path / "run.log"
    path.write_text("\n".join([*lines, ""]))
    assert propose(path).check() == reads


def test_a_line_that_tells_how_the_run_ended_is_kept_as_it_is(tmp_path: Path) -> None:
    path = tmp_path / "run.log"
    path.write_text("Solver on 4 ranks\nElapsed (wall clock) time (h:mm:ss or m:ss): 0:03.20\nExit status: 0\n")
    assert propose(path).choices["end"][0].template == "Exit status: 0"
