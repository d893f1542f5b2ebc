"""Times that count on from the start of a job."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan

GROWING = "8,1549.9\n16,2328.5\n32,2736.4\n64,2970.5\n"
FALLING = "8,1549.9\n16,778.6\n32,407.9\n64,234.1\n"
CLOCKS = [
    ("cores,clock_s\n", "clock_s"),
    ("# seconds since the start of the job\ncores,time_s\n", "time_s"),
    ("# Zeiten kumuliert\ncores,time_s\n", "time_s"),
    ("cores,cumulative time [s]\n", "cumulative time [s]"),
]


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize(("head", "name"), CLOCKS)
def test_times_since_the_start_of_a_job_are_asked_about(tmp_path: Path, head: str, name: str) -> None:
    with pytest.raises(ReadError, match=r"may count on from the start of the job.*difference.*--time"):
        _read(tmp_path, head + GROWING)
    assert len(_read(tmp_path, head + GROWING, time=name).runs[""]) == 4


@pytest.mark.parametrize(
    "head", [CLOCKS[1][0], CLOCKS[2][0], "# wall clock since the start of each run\ncores,time_s\n"]
)
def test_times_that_fall_are_read(tmp_path: Path, head: str) -> None:
    assert len(_read(tmp_path, head + FALLING).runs[""]) == 4


def test_times_that_grow_and_are_no_clock_by_any_word_are_read(tmp_path: Path) -> None:
    assert len(_read(tmp_path, f"cores,wall clock [s]\n{GROWING}").runs[""]) == 4
