"""Tables: columns of several solvers side by side, units in names, counts."""

from __future__ import annotations

from pathlib import Path
from typing import Any

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs


def write(folder: Path, content: str) -> Path:
    path = folder / "runs.csv"
    path.write_text(content)
    return path


def read_one(path: Path, **options: Any) -> Runs:
    found = TableReader(**options).read(path)
    assert list(found) == [""]
    return found[""]


@pytest.mark.parametrize(
    "header",
    [
        "inner_cores,inner_time_ms,outer_cores,outer_time_ms,level",
        "cores_inner,time_inner_ms,cores_outer,time_outer_ms,level",
        "ranks inner,wall inner [ms],ranks outer,wall outer [ms],level",
        "inner.np,inner.ms,outer.np,outer.ms,level",
    ],
)
def test_columns_of_each_solver_are_told_apart(tmp_path: Path, header: str) -> None:
    reader = TableReader()
    found = reader.read(write(tmp_path, f"{header}\n2,900,4,500,1\n4,480,8,260,1\n,,16,140,2\n"))
    assert list(found) == ["inner", "outer"]
    inner, outer = (found[name].to_frame() for name in ("inner", "outer"))
    assert inner["seconds"].tolist() == [0.9, 0.48]
    assert outer["seconds"].tolist() == [0.5, 0.26, 0.14]
    assert found["outer"].parameters[1:] == found["inner"].parameters[1:] == ["level"]
    assert outer[found["outer"].parameters[0]].tolist() == [4, 8, 16]
    assert outer["level"].tolist() == [1, 1, 2]
    assert "each solver has columns of its own (inner: " in reader.notes[0]


def test_a_wide_table_may_hold_more(tmp_path: Path) -> None:
    path = write(
        tmp_path,
        "ocn_cores,ocn_time_s,ocn_mem_gb,sea ice_cores,sea ice_time_s,sea ice_mem_gb,total_time_s,run\n"
        "8,1.5,2,4,0.5,1,1.6,r1\n16,0.8,1,8,x,1,0.9,r2\n",
    )
    with pytest.raises(ReadError, match="line 3: the time in column 'time_s'"):
        TableReader().read(path)
    path = write(tmp_path, path.read_text().replace(",x,", ",0.3,"))
    reader = TableReader()
    found = reader.read(path)
    assert list(found) == ["ocn", "sea ice"]
    assert found["ocn"].quantities == {"seconds": "s", "mem": "B"}
    assert found["sea ice"].to_frame()["mem"].tolist() == [1e9, 1e9]
    assert found["ocn"].to_frame()["run"].tolist() == ["r1", "r2"]
    assert any(note.startswith("left out: 'total_time_s', which may be the time of the whole") for note in reader.notes)


@pytest.mark.parametrize(
    "header",
    [
        "a_cores,a_time_ms,a_wall_ms,b_cores,b_time_ms",  # which is the time of a?
        "a_cores,b_cores,x_time_ms,y_time_ms,level",  # no solver has both
    ],
)
def test_a_table_that_is_not_plainly_wide_is_a_question(tmp_path: Path, header: str) -> None:
    with pytest.raises(ReadError, match=r"may each be the time: pass time= .*a_cores, a_time_ms"):
        TableReader().read(write(tmp_path, f"{header}\n1,2,3,4,5\n2,3,4,5,6\n"))


def test_one_pair_of_columns_is_no_wide_table(tmp_path: Path) -> None:
    runs = read_one(write(tmp_path, "n_cores,n_time_s\n1,2\n2,1\n"))
    assert runs.parameters == ["n_cores"]


@pytest.mark.parametrize(("header", "unit"), [("Laufzeit (s)", 1.0), ("X [ms]", 1e-3), ("Dauer [Min]", 60.0)])
def test_a_unit_in_brackets_tells_the_only_time(tmp_path: Path, header: str, unit: float) -> None:
    runs = read_one(write(tmp_path, f"Kerne,{header}\n1,8\n2,4\n"))
    assert runs.parameters == ["Kerne"]
    np.testing.assert_allclose(runs.values, [8 * unit, 4 * unit])


def test_a_time_step_is_not_the_time(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match="no column's name says"):
        TableReader().read(write(tmp_path, "cores,dt [s]\n1,8\n2,4\n"))
    with pytest.raises(ReadError, match="no column's name says"):
        TableReader().read(write(tmp_path, "cores,a [s],b [s]\n1,8,1\n2,4,1\n"))


def test_a_named_time_keeps_the_unit_of_its_name(tmp_path: Path) -> None:
    runs = read_one(write(tmp_path, "cores,a [ms],b [ms]\n1,8,1\n2,4,1\n"), time="a [ms]", parameters="cores")
    np.testing.assert_allclose(runs.values, [8e-3, 4e-3])


@pytest.mark.parametrize("column", ["mem_gb", "mem (Gb)", "memory [GB]", "peak mem gb"])
def test_units_of_memory_in_any_case(tmp_path: Path, column: str) -> None:
    runs = read_one(write(tmp_path, f"cores,seconds,{column}\n1,8,2\n2,4,1\n"))
    assert runs.parameters == ["cores"]
    (name,) = set(runs.quantities) - {"seconds"}
    assert runs.to_frame()[name].tolist() == [2e9, 1e9]
    given = read_one(write(tmp_path, "cores,seconds,rest\n1,8,2\n2,4,1\n"), quantities={"rest": "gib"})
    assert given.to_frame()["rest"].tolist() == [2.0**31, 2.0**30]


@pytest.mark.parametrize(
    "name", ["cores", "ranks", "np", "nproc", "nprocs", "procs", "tasks", "pes", "nodes", "Threads"]
)
@pytest.mark.parametrize("value", ["0", "-4", "2.5", "inf", "many"])
def test_counts_are_whole_numbers_above_zero(tmp_path: Path, name: str, value: str) -> None:
    with pytest.raises(ReadError, match=f"line 3: '{name}' must be a whole number above zero, but got '{value}'"):
        TableReader().read(write(tmp_path, f"{name},seconds\n1,8\n{value},4\n4,2\n"))


def test_labels_in_a_column_named_like_a_count_stay_labels(tmp_path: Path) -> None:
    assert read_one(write(tmp_path, "tasks,cores,seconds\npack,1,8\nsort,1,4\n")).parameters == ["tasks", "cores"]
