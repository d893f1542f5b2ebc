"""Repeated runs side by side: ``run1_s, run2_s``."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, text: str) -> Measurements:
    path = folder / "runs.csv"
    path.write_text(text)
    return scan(path)


@pytest.mark.parametrize(
    "names",
    [
        "run1_s,run2_s",
        "attempt 1 (s),attempt 2 (s)",
        "run 1 (s),run 2 (s)",
        "time1,time2",
        "trial_0_s,trial_1_s",
        "t1_s,t2_s",
    ],
)
def test_numbered_times_of_a_configuration_are_its_runs(tmp_path: Path, names: str) -> None:
    found = _read(tmp_path, f"cores,{names}\n1,100,101\n2,52,51\n4,26,\n")
    runs = found.runs[""]
    assert runs.parameters == ["cores"]
    assert sorted(runs.values) == [26, 51, 52, 100, 101]
    assert any("are taken for repeated runs of each row's configuration" in note for note in found.notes)
    assert [column.why for column in found.columns if column.role == "time"] == ["repeated runs side by side"]


@pytest.mark.parametrize(
    "text",
    [
        "cores,time1_s,time2_s\n1,100,10\n2,52,5\n4,26,3\n",  # two parts of a run
        "cores,run1,run3\n1,100,101\n2,52,51\n",
        "cores,t1,t2\n1,300,310\n2,300,310\n",  # temperatures
        "cores,run1_s,run2_s\n1,100,broken\n2,52,51\n",
    ],
)
def test_other_numbered_columns_are_asked_for(tmp_path: Path, text: str) -> None:
    with pytest.raises(ReadError, match="pass time="):
        _read(tmp_path, text)


def test_a_total_beside_them_is_the_time(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,run1_s,run2_s,time_s\n1,100,101,201\n2,52,51,103\n4,26,27,53\n").runs[""]
    assert sorted(runs.values) == [53, 103, 201]


def test_a_mean_with_a_unit_is_a_time(tmp_path: Path) -> None:
    runs = _read(tmp_path, "cores,mean_s,std_s,min_s,max_s\n1,100,1,99,102\n2,52,1,50.5,54\n4,26,.5,25.7,27\n").runs[""]
    assert runs.parameters == ["cores"]
    assert list(runs.values) == [100, 52, 26]
