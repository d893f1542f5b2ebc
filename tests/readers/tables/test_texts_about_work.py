"""Lines beside a table that tell that its times are of several runs, or of different amounts of work."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, line: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(f"# {line}\ncores,time_s\n8,1460.5\n16,773.2\n32,401.5\n64,225.8\n")
    return scan(path, **options)


@pytest.mark.parametrize(
    "line",
    ["Each time below is the sum of 10 identical runs.", "Zeit: Summe von drei Läufen", "total time of 5 repetitions"],
)
def test_a_sum_of_several_runs_is_asked_about(tmp_path: Path, line: str) -> None:
    with pytest.raises(ReadError, match=r"is the time of several runs together is open: .*--time time_s"):
        _read(tmp_path, line)
    assert len(_read(tmp_path, line, time="time_s").runs[""]) == 4


@pytest.mark.parametrize(
    "line",
    ["1000 steps each, except 64 cores: 2000 steps", "5 Tage, außer 64 Kerne: 10 Tage", "500 steps, others 10 steps"],
)
def test_an_exception_from_the_amount_of_work_is_asked_about(tmp_path: Path, line: str) -> None:
    with pytest.raises(ReadError, match=r"another amount of work: .*--where.*--time time_s"):
        _read(tmp_path, line)
    assert len(_read(tmp_path, line, where="cores != 64").runs[""]) == 3
    assert len(_read(tmp_path, line, time="time_s").runs[""]) == 4


@pytest.mark.parametrize("line", ["mean of 10 runs", "median of 5 repetitions", "1000 steps each, but only on hawk"])
def test_other_lines_are_left_alone(tmp_path: Path, line: str) -> None:
    assert len(_read(tmp_path, line).runs[""]) == 4
