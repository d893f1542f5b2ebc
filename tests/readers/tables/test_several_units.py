"""Times that leap from one number of cores to the next."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, text: str, **options: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path, **options)


@pytest.mark.parametrize(
    ("rows", "line"),
    [
        ("8,1545\n16,782\n32,420\n64,222\n128,2.19\n256,1.54\n", 6),  # seconds, then minutes
        ("4,49.9\n8,25.7\n16,787\n32,416\n64,226\n", 4),  # minutes, then seconds
        ("8,1545\n8,1540\n16,12.8\n16,12.9\n32,7.1\n", 4),  # repeated
    ],
)
def test_times_in_several_units_are_asked_about(tmp_path: Path, rows: str, line: int) -> None:
    with pytest.raises(ReadError, match=rf"line {line}: .* may be in several units.*--time time"):
        _read(tmp_path, f"cores,time\n{rows}")
    assert len(_read(tmp_path, f"cores,time\n{rows}", time="time").runs[""]) == rows.count("\n")


@pytest.mark.parametrize(
    ("rows", "line", "odd"),
    [("8,1545\n16,782\n32,420\n64,2.1\n", 5, 64), ("8,2.1\n8,2.2\n16,782\n32,420\n", 2, 8)],
)
def test_a_run_that_ended_at_once_is_named_with_what_leaves_it_out(
    tmp_path: Path, rows: str, line: int, odd: int
) -> None:
    with pytest.raises(
        ReadError, match=rf"line {line}: .*'2.1' may have ended at once.*--where 'cores != {odd}'.*Or the"
    ):
        _read(tmp_path, f"cores,time\n{rows}")
    left = _read(tmp_path, f"cores,time\n{rows}", where=f"cores != {odd}").runs[""]
    assert left.values.min() == 420
    solvers = "".join(f"atm,{row}\nocn,{row.partition(',')[0]},7\n" for row in rows.split())
    with pytest.raises(ReadError, match=rf"""--where 'cores != {odd} or solver != "atm"'"""):
        _read(tmp_path, f"solver,cores,time\n{solvers}")


@pytest.mark.parametrize(
    "text",
    [
        "cores,time\n1,1000\n64,16\n128,9\n",  # as many times faster as there are cores
        "cores,time\n8,100\n16,9.5\n32,5\n",  # the cache holds all
        "cores,mesh,time\n8,1,1545\n16,1,782\n32,2,4\n64,2,2.2\n",  # another mesh
        "cores,time,state\n8,1545,ok\n16,2.1,failed\n32,420,ok\n",
        "cells,time\n8,1\n16,100\n32,20000\n",
    ],
)
def test_other_times_are_read(tmp_path: Path, text: str) -> None:
    assert _read(tmp_path, text).runs[""].parameters


def test_each_solver_is_looked_at_by_itself(tmp_path: Path) -> None:
    text = "solver,cores,time\natm,8,1000\natm,16,510\nocn,32,4.1\nocn,64,2.2\n"
    assert len(_read(tmp_path, text).runs) == 2
    with pytest.raises(ReadError, match=r"line 3: .* several units"):
        _read(tmp_path, text.replace("510", "8.5"))


def test_a_unit_for_all_files_contradicts_the_name_in_one_of_them(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("cores,time_s\n8,5\n16,3\n")
    (tmp_path / "b.csv").write_text("cores,time\n8,5000\n16,3000\n")
    with pytest.raises(ReadError, match=r"a\.csv: 'time_s' is in s by its name, .*rename 'time' as 'time \[ms\]'"):
        scan(tmp_path, unit="ms")
    assert len(scan(tmp_path, unit="s").runs) == 2
    assert len(scan(tmp_path / "a.csv", unit="ms").runs) == 1  # a user may correct a name
