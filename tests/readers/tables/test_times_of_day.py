"""A time of day behind a date is no time of a run."""

from __future__ import annotations

from pathlib import Path

from evenly.readers import scan


def test_a_time_of_day_behind_a_date_is_no_time_of_a_run(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("date,time,cores,wall_min\n2024-03-14,23:50,8,40\n2024-03-15,05:08,16,21\n2024-03-15,07:00,32,12\n")
    found = scan(path)
    assert found.runs[""].values.max() == 2400
    assert found.runs[""].parameters == ["cores"]
    assert any("'time' is the time of day, behind the date" in note for note in found.notes)


def test_a_time_beside_a_date_alone_is_that_of_the_runs(tmp_path: Path) -> None:
    path = tmp_path / "log.csv"
    path.write_text("date,time,cores\n2024-03-14,1:23:50,8\n2024-03-15,0:45:08,16\n2024-03-15,0:27:00,32\n")
    assert scan(path).runs[""].values.max() == 5030
