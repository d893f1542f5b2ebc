"""The reader of logs: what it takes from them, from their names and from the user, and what it refuses."""

from __future__ import annotations

import gzip
from pathlib import Path
from typing import Any

import pytest
from hypothesis import HealthCheck, given, settings

from evenly.errors import InputError, ReadError
from evenly.readers import read, scan
from evenly.readers.logs.extraction import extract
from evenly.readers.logs.log import LogReader
from evenly.readers.logs.pattern import Pattern
from evenly.runs.runs import Runs
from tests.cli.conftest import Evenly
from tests.cli.conftest import evenly as evenly  # the fixture
from tests.readers.damage import check_reads_or_refuses, damaged

OURS = """\
about = "the solver of our group"
recognise = "OurSolver {:word}"
read = ["Started on {ranks:int} processes", "Grid of {cells:int} cells"]
row = "Total time: {seconds} s"
parameters = ["ranks", "cells"]
end = "Bye."

[[refuse]]
line = "ERROR: ..."
why = "the run ended by an error"
"""
LOG = "OurSolver 1.2\nStarted on {} processes\nGrid of {} cells\nTotal time: {} s\nBye.\n"


@pytest.fixture
def ours(tmp_path: Path) -> Path:
    path = tmp_path / "patterns" / "ours.toml"
    path.parent.mkdir()
    path.write_text(OURS)
    return path


@pytest.fixture
def logs(tmp_path: Path) -> Path:
    folder = tmp_path / "logs"
    folder.mkdir()
    return folder


def test_a_log_that_nothing_ends_may_be_cut_off(tmp_path: Path) -> None:
    start = "# OSU MPI Allreduce Latency Test v5.3\nI am 0 of 8: a\n# Size       Avg Latency(us)\n4     49.64\n"
    for cut, words in [
        ("8     49.60\n", []),
        ("8    ", ["if the file was cut off"]),
        ("8  49.6", ["cut off: left out"]),
    ]:
        path = tmp_path / "osu.txt"
        path.write_text(start + cut)
        found = scan(path)
        said = [*found.notes, *map(str, found.skipped)]
        assert [word in text for word in words for text in said if "line end" in text] == [True] * len(words)


def test_a_pattern_of_ones_own_reads_a_folder(ours: Path, logs: Path) -> None:
    for ranks in (2, 4, 8):
        (logs / f"run{ranks}.log").write_text(LOG.format(ranks, 1000, 16 / ranks + 0.123456))
    (logs / "other.log").write_text("nothing that anybody knows\n")
    found = scan(logs, pattern=ours)
    assert list(found.runs) == ["ours"]
    assert sorted(found.runs["ours"].to_frame()["ranks"]) == [2, 4, 8]
    assert [path.name for path in found.unknown] == ["other.log"]
    assert not found.skipped
    with pytest.raises(ReadError, match="no measurement found"):
        scan(logs)


@pytest.mark.parametrize(
    ("text", "line", "reason"),
    [
        ("OurSolver 1\nStarted on 2 processes\n", None, "there is no time in this log: a line as 'Total time:"),
        (LOG.format(2, 10, 1.5).removesuffix("Bye.\n"), 4, "cut off, or the run didn't end well: 'Bye.' should"),
        (
            LOG.format(2, 10, 1.5).replace("Grid of 10 cells\n", ""),
            3,
            "the log doesn't say 'cells': a line as 'Grid of",
        ),
        (LOG.format(2, 10, 0.0), 4, "the time is 0 s"),
        (LOG.format(2, 10, 1.5).replace("Bye", "Total time: 2.5 s\nBye"), None, "lines 4 and 5 both say a time"),
        (LOG.format(2, 10, 1.5).replace("Bye", "Started on 4 processes\nBye"), None, "line 2 says ranks 2, but line 5"),
        (LOG.format(2, 10, 1.5).replace("Bye.", "ERROR: boom"), 5, "the run ended by an error"),
        ("OurSolver 1\nERROR: boom\n", 2, "the run ended by an error"),
    ],
)
def test_a_log_without_a_sure_time_is_refused(ours: Path, logs: Path, text: str, line: int | None, reason: str) -> None:
    path = logs / "run.log"
    path.write_text(text)
    with pytest.raises(ReadError) as raised:
        LogReader(pattern=ours).read(path)
    assert reason in raised.value.reason
    assert raised.value.line == line


def test_several_runs_in_one_log(ours: Path, logs: Path) -> None:
    path = logs / "slurm-1.out"
    path.write_text(LOG.format(2, 10, 8.5) + "srun: next\n" + LOG.format(4, 10, 4.5) + LOG.format(8, 10, 2.5)[:-5])
    reader = LogReader(pattern=ours)
    table = reader.read(path)["ours"].to_frame()
    assert table[["ranks", "seconds"]].to_numpy().tolist() == [[2, 8.5], [4, 4.5]]
    assert ["cut off" in skipped.reason for skipped in reader.skipped] == [True]


def test_the_log_and_the_output_of_one_run_count_once(ours: Path, logs: Path) -> None:
    (logs / "a.log").write_text(LOG.format(2, 10, 8.51234))
    (logs / "b.out").write_text("srun: started\n" + LOG.format(2, 10, 8.51234))
    (logs / "c.log").write_text(LOG.format(4, 10, 4.5))
    (logs / "d.log").write_text(LOG.format(4, 10, 4.5))  # two digits prove nothing: a repetition
    found = scan(logs, pattern=ours)
    assert sorted(found.runs["ours"].to_frame()["seconds"]) == [4.5, 4.5, 8.51234]
    assert [(skipped.path.name, skipped.benign) for skipped in found.skipped] == [("b.out", True)]


def test_equal_parameters_with_unequal_times_are_said(ours: Path, logs: Path) -> None:
    (logs / "coarse.log").write_text(LOG.format(2, 10, 1.5))
    (logs / "fine.log").write_text(LOG.format(2, 10, 15.0))
    assert any("differ by a factor of 10" in note for note in scan(logs, pattern=ours).notes)
    names = scan(logs, pattern=ours, name="{mesh:word}.log")
    assert not any("factor" in note for note in names.notes)
    assert set(names.runs["ours"].to_frame()["mesh"]) == {"coarse", "fine"}


def test_weak_scaling_is_said(ours: Path, logs: Path) -> None:
    for ranks in (1, 2, 4):
        (logs / f"{ranks}.log").write_text(LOG.format(ranks, 1000 * ranks, 5 + 0.1 * ranks))
    found = scan(logs, pattern=ours)
    assert any("cells grows with ranks in all runs (weak scaling)" in note for note in found.notes)
    (logs / "5.log").write_text(LOG.format(4, 1000, 1.3))
    assert not any("weak" in note for note in scan(logs, pattern=ours).notes)


def test_constants_and_folder_names(ours: Path, logs: Path) -> None:
    for nodes in (1, 2):
        (logs / f"{nodes}nodes").mkdir()
        (logs / f"{nodes}nodes" / "run.log").write_text(LOG.format(2 + 2 * nodes, 10, 3.5 / nodes))
    runs = read(logs, pattern=ours, name="{nodes:int}nodes", constants={"machine_kind": "thin"})
    assert isinstance(runs, Runs)
    assert runs.parameters == ["ranks", "cells", "machine_kind", "nodes"]
    assert runs.to_frame()[["nodes", "ranks"]].to_numpy().tolist() == [[1, 4], [2, 6]]
    assert set(runs.to_frame()["machine_kind"]) == {"thin"}


def test_a_log_of_two_programs_is_asked_about(ours: Path, logs: Path) -> None:
    path = logs / "job.out"
    path.write_text(LOG.format(2, 10, 1.5))
    other = ours.parent / "other.toml"
    other.write_text(OURS)
    with pytest.raises(ReadError, match="logs of ours and other: say which to read, as -O program=ours"):
        LogReader(pattern=[ours, other]).read(path)
    assert list(LogReader(pattern=[ours, other], program="other").read(path)) == ["other"]
    with pytest.raises(InputError, match=r"but got 'othe' \(did you mean 'other'\?\)"):
        LogReader(pattern=other, program="othe")


def test_compressed_logs_and_line_ends_of_other_systems(ours: Path, logs: Path) -> None:
    packed = logs / "run.log.gz"
    packed.write_bytes(gzip.compress(LOG.format(2, 10, 1.5).encode()))
    assert LogReader(pattern=ours).read(packed)["ours"].to_frame()["seconds"].tolist() == [1.5]
    packed.write_bytes(packed.read_bytes()[:-12])
    with pytest.raises(ReadError):
        LogReader(pattern=ours).read(packed)
    windows = logs / "run.log"
    windows.write_bytes(LOG.format(2, 10, 1.5).replace("\n", "\r\n").encode())
    assert LogReader(pattern=ours).read(windows)["ours"].to_frame()["seconds"].tolist() == [1.5]


def test_what_is_no_text_is_no_log(ours: Path, logs: Path) -> None:
    path = logs / "core"
    path.write_bytes(b"OurSolver 1\n\x00\x01" + LOG.encode())
    assert not LogReader(pattern=ours).recognises(path)
    assert not LogReader(pattern=ours).recognises(logs)
    assert not LogReader(pattern=ours).recognises(logs / "none")


def test_a_log_is_recognised_behind_what_ranks_print(ours: Path, logs: Path) -> None:
    path = logs / "run.log"
    noise = "".join(f"I am {i} of 900: on node{i}\n" for i in range(900))
    path.write_text(noise + LOG.format(2, 10, 1.5))
    assert LogReader(pattern=ours).recognises(path)


def extracted(data: dict[str, Any], *lines: str) -> list[tuple[dict[str, Any], list[float]]]:
    pattern = Pattern.from_dict("ours", {"about": "x", "recognise": "Ours", "parameters": ["ranks"], **data})
    runs, problems = extract(pattern, [f"{line}\n" for line in ("Ours", "2 ranks", *lines)])
    assert bool(runs) != bool(problems), problems
    return [(run.parameters, run.seconds.tolist()) for run in runs]


@pytest.mark.parametrize(
    ("data", "lines", "expected"),
    [
        ({"row": "rate {r}", "time": "r", "unit": "SDPD"}, ["rate 864"], [100.0]),
        ({"row": "took {s} min", "time": "s", "unit": "min"}, ["took 1.5 min"], [90.0]),
        ({"row": "t {a} {b}", "time": "b - a"}, ["t 1 3.5"], [2.5]),
        ({"row": "t {seconds}", "take": "last"}, ["t 1", "t 2"], [2.0]),
        ({"row": "t {seconds}", "take": "steps"}, ["t 1", "t 2"], [1.0, 2.0]),
        ({"row": "t {seconds}"}, ["t 1", "t 1"], [1.0]),
        ({"row": "t {seconds}", "time": "seconds / n", "otherwise": {"n": 4}}, ["t 2"], [0.5]),
        ({"row": "t {seconds}", "time": "seconds / rows", "take": "last"}, ["t 1", "t 3"], [1.5]),
        (
            {"table": [{"header": "size t", "columns": "{:int} {seconds}"}]},
            ["1 9", "size t", "--", "1 2", "", "1 9"],
            [2],
        ),
    ],
)
def test_words_of_patterns(data: dict[str, Any], lines: list[str], expected: list[float]) -> None:
    assert extracted({"read": "{ranks:int} ranks", **data}, *lines) == [({"ranks": 2}, expected)]


def test_parameters_by_rows_and_optional_ones() -> None:
    data: dict[str, Any] = {"row": "{bytes:int} {seconds}", "take": "each"}
    data |= {"parameters": ["ranks", "bytes", "nodes?"], "read": ["{ranks:int} ranks", "{nodes:int} nodes"]}
    ((parameters, seconds),) = extracted(data, "8 0.5", "16 0.75")
    assert parameters["ranks"] == 2
    assert parameters["bytes"].tolist() == [8, 16]
    assert seconds == [0.5, 0.75]
    assert "nodes" not in parameters


def test_a_time_below_the_clock_takes_no_other_row_with_it() -> None:
    data = {"about": "x", "recognise": "Ours", "parameters": ["bytes"], "row": "{bytes:int} {seconds}", "take": "each"}
    runs, problems = extract(Pattern.from_dict("ours", data), ["Ours\n", "0 0.00\n", "8 0.5\n", "16 0.75\n"])
    assert runs[0].seconds.tolist() == [0.5, 0.75]
    assert runs[0].parameters["bytes"].tolist() == [8, 16]
    assert [(problem.line, problem.reason[:9]) for problem in problems] == [(2, "1 of 3 ro")]


def test_a_huge_log_needs_little_memory(ours: Path, logs: Path) -> None:
    import tracemalloc

    path = logs / "run.log"
    with path.open("w") as opened:
        opened.write(LOG.format(2, 10, 1.5).removesuffix("Total time: 1.5 s\nBye.\n"))
        for _ in range(200_000):
            opened.write("step 12345: residual 1.2345e-06, 12 iterations of the pressure\n")
        opened.write("Total time: 1.5 s\nBye.\n")
    LogReader(pattern=ours).read(path)
    tracemalloc.start()
    LogReader(pattern=ours).read(path)
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert path.stat().st_size > 12_000_000
    assert peak < 2_000_000


@settings(max_examples=100, suppress_health_check=[HealthCheck.function_scoped_fixture], deadline=None)
@given(content=damaged((LOG.format(2, 10, 1.5) + LOG.format(4, 10, 0.75)).encode(), "0123456789.:-\n{}"))
def test_damaged_logs_are_read_or_refused(ours: Path, logs: Path, content: bytes) -> None:
    check_reads_or_refuses(LogReader(pattern=ours), logs / "run.log", content)


def test_the_command_line_names_what_it_can_read_and_what_it_cannot(evenly: Evenly, ours: Path, logs: Path) -> None:
    listed = evenly("read", "--formats", "--json").json
    assert listed["log: gromacs"] == "GROMACS: the log of mdrun"
    (logs / "run.log").write_text(LOG.format(2, 10, 1.5))
    (logs / "notes").write_text("nothing that anybody knows\n")
    done = evenly("read", logs, "--pattern", ours, "--constant", "mesh=7")
    assert done.code == 0
    assert "mesh 7" in done.out
    assert "in no known format" in done.err
    assert "notes" in done.err
    wrong = logs / "wrong.toml"
    wrong.write_text(OURS.replace("row =", "rows ="))
    failed = evenly("fit", logs, "--pattern", wrong)
    assert failed.code == 2
    assert "'rows' (did you mean 'row'?)" in failed.err


def test_a_line_of_something_else_does_not_end_a_table(tmp_path: Path) -> None:
    path = tmp_path / "osu.txt"
    path.write_text(
        "# OSU MPI Allreduce Latency Test v5.3\n# Size          Avg Latency(us)\n2    1.50\n"
        "[warn] Epoll ADD(4) on fd 30 failed\n4    1.60\n8    1.75\n"
    )
    runs = next(iter(LogReader().read(path).values()))
    assert runs.to_frame()["bytes"].tolist() == [2, 4, 8]


def test_a_run_that_the_scheduler_ended_is_refused(tmp_path: Path) -> None:
    pattern = tmp_path / "ours.toml"
    pattern.write_text(
        'about = "ours"\nrecognise = "Turb {:word}"\nread = ["{ranks:int} ranks"]\n'
        'row = "Step {:number} of 500, wallclock {seconds} s"\ntake = "last"\nparameters = ["ranks"]\n'
    )
    path = tmp_path / "run.log"
    text = "Turb 1.0\n8 ranks\nStep 100 of 500, wallclock 20.1 s\nStep 200 of 500, wallclock 40.1 s\n"
    path.write_text(text)
    assert len(LogReader(pattern=pattern).read(path)) == 1
    path.write_text(text + "slurmstepd: error: *** STEP 4711.0 ON n001 CANCELLED AT 2026-11-26 DUE TO TIME LIMIT ***\n")
    with pytest.raises(ReadError, match="the scheduler ended this run"):
        LogReader(pattern=pattern).read(path)


def test_a_log_beside_tables_in_one_text_is_asked_about(tmp_path: Path, ours: Path) -> None:
    path = tmp_path / "README.md"
    log = LOG.format(8, 1000, 9.5)
    path.write_text(f"# Scaling\n\n| cores | time [s] |\n|---|---|\n| 2 | 31.5 |\n| 4 | 17.5 |\n\n```\n{log}```\n")
    with pytest.raises(ReadError, match=r"1 table, at the line 3, beside .*--format log\) or .*--format table\)"):
        scan(path, pattern=[ours])
    assert scan(path, pattern=[ours], format="log").runs["ours"].values.tolist() == [9.5]
    assert scan(path, format="table").runs[""].values.tolist() == [31.5, 17.5]
    path.write_text(f"# Scaling\n\n```\n{log}```\n")
    assert len(scan(path, pattern=[ours]).runs["ours"]) == 1
