"""Where a run's seconds come from."""

from __future__ import annotations

import os
from pathlib import Path

import pytest

from evenly.campaign.timing import Pattern, Timing
from evenly.errors import InputError, RunFailed
from evenly.launch import Outcome


def outcome(output: str = "", errors: str = "") -> Outcome:
    return Outcome("ok", 0, output, errors, seconds=3.0, cpu_seconds=5.0)


def test_clocks(tmp_path: Path) -> None:
    assert Timing().of(outcome(), tmp_path, {}) == {"seconds": 3.0}
    assert Timing(clock="cpu").of(outcome(), tmp_path, {}) == {"seconds": 5.0}
    assert Timing().of(outcome(), tmp_path, {"seconds": 2.0}) == {"seconds": 2.0}


def test_numbers_are_in_their_units(tmp_path: Path) -> None:
    timing = Timing(time=Pattern(r"step (\S+) ms", "ms"), more={"memory": Pattern(r"^peak (\d+)", "KiB")})
    told = timing.of(outcome("step 8 ms\n", "peak 2\n"), tmp_path, {})
    assert told == {"seconds": 0.008, "memory": 2048.0}


@pytest.mark.parametrize(
    ("timing", "output", "told"),
    [
        (Timing(time=Pattern(r"step (\S+)")), "", "nothing in the output matches"),
        (Timing(time=Pattern(r"step (\S+)")), "step many", "is not a number"),
        (Timing(time=Pattern(r"step (\S+)")), "step 0 s", "must be above zero"),
        (Timing(time=Pattern(r"step (\S+)")), "step nan", "is not a number"),
        (Timing(time=Pattern(r"(\d)", file="log.txt")), "", "the run wrote no log.txt"),
        (Timing(reader="any", path="times.csv"), "", "the run wrote no times.csv"),
    ],
)
def test_a_run_that_tells_no_time_failed(timing: Timing, output: str, told: str, tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=told):
        timing.of(outcome(output), tmp_path, {})


def test_a_printed_time_is_no_longer_than_the_run(tmp_path: Path) -> None:
    with pytest.raises(RunFailed, match=r'gives 400 s, but the run took 3 s: .*unit = "ms"'):
        Timing(time=Pattern(r"time (\S+)")).of(outcome("time 400 s"), tmp_path, {})
    assert Timing(time=Pattern(r"time (\S+)", "s")).of(outcome("time 400"), tmp_path, {})["seconds"] == 400
    assert Timing(time=Pattern(r"time (\S+)")).of(outcome("time 4 s"), tmp_path, {})["seconds"] == 4


def test_files_of_earlier_runs_are_not_taken(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    timing = Timing(time=Pattern(r"took (\d)", "s", "log.txt"))
    before = timing.files_before(tmp_path)
    log.write_text("took 4")
    # The clock of a file server may be hours behind or ahead.
    os.utime(log, (1.0, 1.0))
    assert timing.of(outcome(), tmp_path, {}, before=before)["seconds"] == 4
    before = timing.files_before(tmp_path)
    with pytest.raises(RunFailed, match="of an earlier run"):
        timing.of(outcome(), tmp_path, {}, before=before)
    log.write_text("took 4")
    assert timing.of(outcome(), tmp_path, {}, before=before)["seconds"] == 4


def test_of_a_file_that_a_run_appends_to_its_own_lines_count(tmp_path: Path) -> None:
    log = tmp_path / "log.txt"
    log.write_text("began\ntook 4\n")
    timing = Timing(time=Pattern(r"took (\d)", "s", "log.txt"))
    before = timing.files_before(tmp_path)
    with log.open("a") as file:
        file.write("began\n")
    with pytest.raises(RunFailed, match=r"nothing in log.txt matches"):
        timing.of(outcome(), tmp_path, {}, before=before)
    with log.open("a") as file:
        file.write("took 5\n")
    assert timing.of(outcome(), tmp_path, {}, before=before)["seconds"] == 5
    log.write_text("took 3\n and many more lines\n")  # anew
    assert timing.of(outcome(), tmp_path, {}, before=before)["seconds"] == 3
    log.write_text("began\ntook 4\n")  # as before
    assert timing.of(outcome(), tmp_path, {}, before=before)["seconds"] == 4


def test_a_clock_beside_a_pattern_is_refused() -> None:
    with pytest.raises(InputError, match="takes a clock or a pattern, not both"):
        Timing.from_dict({"clock": "cpu", "pattern": r"took (\S+)"})


def test_readers(tmp_path: Path) -> None:
    (tmp_path / "times.csv").write_text("cores,ms\n1,2000\n1,4000\n1,9000\n")
    timing = Timing(reader="table", path="times.csv", options={"time": "ms", "unit": "ms"})
    assert timing.of(outcome(), tmp_path, {})["seconds"] == 4.0
    (tmp_path / "times.csv").write_text("nothing\n")
    with pytest.raises(RunFailed, match="no time can be read"):
        timing.of(outcome(), tmp_path, {})
