"""Files of which some tell the time of a simulated year, and others that of a day."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenly
from evenly.errors import EvenlyWarning, InputError
from evenly.readers import scan
from evenly.readers.days_of_a_step import of_so_many_days


def test_times_of_a_year_and_of_a_day_are_made_alike(tmp_path: Path) -> None:
    (tmp_path / "atm.csv").write_text("cores,SYPD\n8,1\n16,2\n")
    (tmp_path / "ocn.csv").write_text("cores,seconds per simulated day\n8,300\n16,160\n")
    found = scan(tmp_path)
    assert found.runs["atm"].values == pytest.approx([86400 / 365, 43200 / 365])
    assert found.runs["ocn"].values.tolist() == [300, 160]
    assert any("'SYPD' is of 365 simulated days" in note for note in found.notes)


def test_a_time_of_nothing_that_is_told_stays(tmp_path: Path) -> None:
    (tmp_path / "atm.csv").write_text("cores,SYPD\n8,1\n16,2\n")
    (tmp_path / "ocn.csv").write_text("cores,seconds\n8,300\n16,160\n")
    assert scan(tmp_path).runs["atm"].values.tolist() == [86400, 43200]


def test_files_of_one_program_that_do_not_all_tell_their_days_are_said(tmp_path: Path) -> None:
    (tmp_path / "runs1.csv").write_text("cores,SYPD\n8,1\n16,1.9\n32,3.6\n")
    (tmp_path / "runs2.csv").write_text("cores,seconds\n64,44\n128,22\n256,12\n")
    files = [tmp_path / "runs1.csv", tmp_path / "runs2.csv"]
    said = "the times of runs1.csv are of 365 simulated days, and runs2.csv doesn't tell of how many"
    assert said in scan(files).notes[0]
    with pytest.warns(EvenlyWarning, match=said):
        evenly.read(files)
    (tmp_path / "runs2.csv").write_text("cores,s/day\n64,44\n128,22\n256,12\n")
    assert not any("doesn't tell of how many" in note for note in scan(files).notes)


@pytest.mark.parametrize("name", ["days", "simulated_days", "sim_days", "n_days"])
def test_days_that_a_column_counts_are_those_of_the_times(tmp_path: Path, name: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(
        f"component,cores,wall_s,{name}\n" + "".join(f"{s},{p},{900 / p},30\n" for s in "ab" for p in (8, 9))
    )
    found = scan(path)
    assert [(one.days, one.parameters) for one in found.runs.values()] == [(30.0, ["cores"])] * 2
    assert any(f"{name}: 30 in all rows: each time is taken to be of 30 simulated days" in n for n in found.notes)
    models = {name: evenly.fit(one, method="power-law") for name, one in found.runs.items()}
    with pytest.raises(InputError, match="whose times are of 30 simulated days"):
        evenly.allocate(models, cores=16, step_days=1)
    assert [one.days for one in scan(path, parameters=["cores"]).runs.values()] == [None, None]


@pytest.mark.parametrize("time", ["s/day", "s/step"])
def test_days_that_a_column_counts_are_not_those_of_a_day_or_step(tmp_path: Path, time: str) -> None:
    path = tmp_path / "runs.csv"
    path.write_text(f"component,cores,{time},days\n" + "".join(f"{s},{p},{9 / p},30\n" for s in "ab" for p in (8, 9)))
    assert {one.days for one in scan(path).runs.values()} == ({1.0} if time == "s/day" else {None})


def test_solvers_whose_days_are_counted_in_a_column_are_made_alike_if_asked(tmp_path: Path) -> None:
    path = tmp_path / "runs.csv"
    rows = "".join(f"{s},{p},{900 / p},{days}\n" for s, days in (("a", 30), ("b", 5)) for p in (8, 9))
    path.write_text(f"component,cores,wall_s,days\n{rows}")
    found = scan(path)
    assert {name: (one.days, one.parameters) for name, one in found.runs.items()} == {
        "a": (30.0, ["cores"]),
        "b": (5.0, ["cores"]),
    }
    assert of_so_many_days(found, 30).runs["b"].values.max() == pytest.approx(6 * 900 / 8)
