"""Minutes and seconds that are written as a decimal number."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.scanning import Measurements, scan


def _read(folder: Path, name: str, cells: str, beside: str = "", **options: str) -> Measurements:
    path = folder / "runs.csv"
    rows = "".join(f"{2**n};{cell}\n" for n, cell in enumerate(cells.split()))
    path.write_text(f"{beside}cores;{name}\n{rows}")
    return scan(path, **options)


@pytest.mark.parametrize("name", ["time [min:sec]", "walltime (m:s)", "time (mm.ss)", "Zeit [Min.Sek]"])
@pytest.mark.parametrize("cells", ["27.51 13.41 7.08", "27,51 13,41 7,08"])
def test_a_clock_in_the_heading_of_decimal_numbers_is_asked_about(tmp_path: Path, name: str, cells: str) -> None:
    with pytest.raises(ReadError, match=r"names a clock.*--unit mm:ss\) if this is 27 min 51 s.*--unit min"):
        _read(tmp_path, name, cells)
    read = _read(tmp_path, name, cells, unit="mm:ss")
    assert read.runs[""].values.tolist() == [1671, 821, 428]
    assert any("is 27 min 51 s" in note for note in read.notes)
    assert _read(tmp_path, name, cells, unit="min").runs[""].values.tolist() == pytest.approx([1650.6, 804.6, 424.8])


def test_hours_and_minutes_are_asked_about_in_the_same_way(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"--unit hh:mm\) if this is 25 h 52 min"):
        _read(tmp_path, "walltime [h:min]", "25.52 13.16")
    assert _read(tmp_path, "walltime [h:min]", "25.52 13.16", unit="hh:mm").runs[""].values.tolist() == [93120, 47760]


@pytest.mark.parametrize(
    "line",
    ["Zeiten als Min.Sek (1.30 = 1 Minute 30)", "# 25.30 means 25 min 30 s", "# 3,45 = 3 Minuten 45 Sekunden"],
)
def test_a_line_that_explains_the_notation_is_asked_about(tmp_path: Path, line: str) -> None:
    with pytest.raises(ReadError, match=r"stands beside the table.*--unit mm:ss"):
        _read(tmp_path, "time", "26.06 13.45 7.06", f"{line}\n")
    assert _read(tmp_path, "time", "26.06 13.45 7.06", f"{line}\n", unit="mm:ss").runs[""].values.tolist()[0] == 1566


def test_a_dropped_zero_is_put_back(tmp_path: Path) -> None:
    assert _read(tmp_path, "time", "27.51 16.4 7", unit="mm:ss").runs[""].values.tolist() == [1671, 1000, 420]


@pytest.mark.parametrize(("cells", "wrong"), [("27.51 13.75", "13.75"), ("27.51 13.8", "13.8"), ("7.5 3.125", "3.125")])
def test_what_can_be_no_clock_is_refused(tmp_path: Path, cells: str, wrong: str) -> None:
    with pytest.raises(ReadError, match=rf"line 3: '{wrong}' .* is no mm:ss.*--unit min"):
        _read(tmp_path, "time", cells, unit="mm:ss")
    with pytest.raises(ReadError, match="names a clock"):
        _read(tmp_path, "time [min:sec]", cells)


def test_a_clock_over_whole_numbers_is_asked_about(tmp_path: Path) -> None:
    with pytest.raises(ReadError, match=r"names a clock.*--unit min.*--unit s"):
        _read(tmp_path, "time [min:sec]", "27 14")
    with pytest.raises(ReadError, match="says nothing"):
        _read(tmp_path, "time", "27 14", unit="mm:ss")


def test_durations_under_such_a_name_are_read(tmp_path: Path) -> None:
    assert _read(tmp_path, "time [mm:ss]", "27:51 13:41").runs[""].values.tolist() == [1671, 821]
    assert _read(tmp_path, "wall time [h:mm:ss]", "0:27:51 0:13:41").runs[""].values.tolist() == [1671, 821]
