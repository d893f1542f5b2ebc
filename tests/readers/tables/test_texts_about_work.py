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
    with pytest.raises(ReadError, match=r"is the time of several runs or ranks together is open: .*--time time_s"):
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


@pytest.mark.parametrize(
    ("text", "words"),
    [
        ("each configuration was executed 10x; times below are the sum", "10x; times below are the sum"),
        ("Die Zeiten gelten für je 10 Läufe zusammen", "10 Läufe zusammen"),
        ("sum over all ranks", "sum over all ranks"),
        ("performance in seconds per 100 steps", "seconds per 100 steps"),
        ("Times relative to the first", "Times relative to the"),
        ("time = core-hours charged", "time = core-hours"),
    ],
)
def test_what_makes_the_time_another_is_asked_about(tmp_path: Path, text: str, words: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"# {text}\ncores,time\n8,100\n16,52\n32,28\n")
    with pytest.raises(ReadError, match=f"whether '{words}', beside the table, tells .*--time time says so"):
        scan(path)
    assert list(scan(path, time="time").runs[""].values) == [100, 52, 28]


@pytest.mark.parametrize(
    "text",
    [
        "mean of 10 runs", "executed 10x, the median is given", "memory is the sum over all ranks",
        "Times in s, for 20,000 core-hours in total", "efficiency relative to 8 cores", "seconds per step",
        "2 runs at a time", "five runs were added", "all 4 ranks together on one node",
    ],
)  # fmt: skip
def test_usual_remarks_are_quoted_only(tmp_path: Path, text: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"# {text}\ncores,time_s\n8,100\n16,52\n32,28\n")
    assert list(scan(path).runs[""].values) == [100, 52, 28]
