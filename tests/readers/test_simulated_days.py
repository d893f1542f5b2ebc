"""Files of which some tell the time of a simulated year, and others that of a day."""

from __future__ import annotations

from pathlib import Path

import pytest

import evenly
from evenly.errors import EvenlyWarning
from evenly.readers import scan


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
