"""Files of which some tell the time of a simulated year, and others that of a day."""

from __future__ import annotations

from pathlib import Path

import pytest

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
