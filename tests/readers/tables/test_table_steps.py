"""Tables that hold the steps of runs, numbered by a column or an unnamed index."""

from __future__ import annotations

from pathlib import Path

import numpy as np
import pytest

from evenly.errors import ReadError
from evenly.readers.step_files import read_steps
from evenly.readers.tables.table import TableReader
from evenly.runs.runs import Runs


def table(folder: Path, content: str, name: str = "runs.csv", **options: object) -> Runs:
    (folder / name).write_text(content)
    return TableReader(**options).read(folder / name)[""]  # type: ignore[arg-type]


def test_an_index_of_times_tells_one_run(samples: Path) -> None:
    reader = TableReader(time="Component", constants={"cores": 128})
    runs = reader.read(samples / "ec-earth" / "ATMIFS_ts.csv")[""]
    assert runs.to_frame()["run"].nunique() == 1
    np.testing.assert_array_equal(runs.steps(), runs.values)
    assert len(runs.steps()) == 255


@pytest.mark.parametrize("name", ["step", "iteration", "Timestep", "time_step", "window"])
def test_a_column_numbers_the_steps_of_a_run(tmp_path: Path, name: str) -> None:
    rows = "4,a,1,2\n4,a,2,3\n8,b,1,1\n8,b,2,1.5\n4,c,2,5\n4,c,1,6\n4,c,3,7\n"
    runs = table(tmp_path, f"cores,run,{name},seconds\n{rows}")
    assert runs.parameters == ["cores"]
    assert runs.steps().tolist() == [6, 5, 7]
    varied = table(tmp_path, f"cores,run,{name},seconds\n{rows}", parameters=["cores", name])
    assert varied.parameters == ["cores", name]


def test_time_stamps_in_nanoseconds_number_steps_and_repetitions(tmp_path: Path) -> None:
    stamps = [1_700_000_000_000_000_000 + 10**9 * step for step in range(3)]
    rows = "".join(f"{cores},{stamp},{8 / cores}\n" for cores in (4, 8) for stamp in stamps)
    for name in ("step", "repetition"):
        runs = table(tmp_path, f"cores,{name},seconds\n{rows}")
        assert runs.parameters == ["cores"]
        assert len(runs.aggregate()) == 2
    rows = "".join(f"{stamp},4,2\n" for stamp in stamps)
    assert table(tmp_path, f",cores,seconds\n{rows}").to_frame()["run"].nunique() == 1


def test_without_a_run_the_numbers_tell_where_one_ends(tmp_path: Path) -> None:
    runs = table(tmp_path, "cores,step,seconds\n4,1,2\n8,1,1\n4,2,3\n8,2,1\n4,1,4\n4,2,5\n4,3,6\n4,3,7\n")
    assert runs.to_frame()["run"].tolist() == [f"runs:{n}" for n in (2, 3, 2, 3, 6, 6, 6, 9)]
    assert runs.steps().tolist() == [4, 5, 6]


def test_repetitions_of_runs_with_steps(tmp_path: Path) -> None:
    rows = "4,0,1,2\n4,0,2,3\n4,1,1,4\n4,1,2,5\n4,1,3,6\n"
    assert table(tmp_path, f"cores,rep,step,seconds\n{rows}").steps().tolist() == [4, 5, 6]
    named = "cores,run,rep,step,seconds\n" + "".join(f"4,x{row[1:]}\n" for row in rows.split())
    assert table(tmp_path, named).steps().tolist() == [4, 5, 6]


def test_the_size_of_a_time_step_is_a_parameter(tmp_path: Path) -> None:
    assert table(tmp_path, "cores,time_step,seconds\n4,0.1,2\n4,0.2,1\n").parameters == ["cores", "time_step"]


def test_steps_need_no_parameter(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("step,seconds\n1,2\n2,3\n")
    (tmp_path / "b.csv").write_text("seconds\n4\n5\n6\n")
    (tmp_path / "c.csv").write_text("cores,seconds\n4\n")
    found, lost = read_steps([tmp_path])
    assert {solver: steps.tolist() for solver, steps in found.items()} == {"a": [2, 3], "b": [4, 5, 6]}
    assert [entry.path.name for entry in lost] == ["c.csv"]
    with pytest.raises(ReadError, match=r"c\.csv"):
        read_steps([tmp_path / "c.csv"])


def test_rows_of_several_configurations_are_no_steps(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("cores,seconds\n1,4\n2,2\n")
    assert len(read_steps([tmp_path / "a.csv"])[0][""]) == 1


def test_formats_of_programs_hold_the_configuration_of_their_steps(samples: Path) -> None:
    found, lost = read_steps([samples / "precice-v3" / "serial-implicit" / "2_2"])
    assert set(found) == {"Inner", "Outer"}
    assert all(len(steps) > 1 for steps in found.values())
    assert not lost
