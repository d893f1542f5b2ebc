"""Numbers that say how sure they are, and tables among other text."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers.tables.table import TableReader


def read(path: Path, text: str) -> tuple[list[float], list[str]]:
    path.write_text(text, encoding="utf-8")
    reader = TableReader()
    (runs,) = reader.read(path).values()
    return runs.values.tolist(), reader.notes


@pytest.mark.parametrize(
    ("cells", "seconds"),
    [
        (("812 ± 12", "420 ±8", "219±5.5"), [812, 420, 219]),
        (("812 +/- 12", "420 +- 8", "219 +/- 1e1"), [812, 420, 219]),
        (("13.5 ± 0.2 min", "7 ± 0.1 min", "3.65 min"), [810, 420, 219]),
        (("~812", "≈ 420", "ca. 219"), [812, 420, 219]),
        (("~812s", "~7 min", "219 s"), [812, 420, 219]),
        (("812 s ± 12 s", "7min ± 8 s", "219 s"), [812, 420, 219]),
        (("812 ± 3%", "~420 ± 2 %", "219 ± 1%"), [812, 420, 219]),
    ],
)
def test_numbers_with_deviations_or_about_are_read_and_that_is_said(
    tmp_path: Path, cells: tuple[str, ...], seconds: list[float]
) -> None:
    rows = "".join(f"{2**i};{cell}\n" for i, cell in enumerate(cells))
    found, notes = read(tmp_path / "a.csv", f"cores;time\n{rows}")
    assert found == pytest.approx(seconds)
    assert any("±" in note or "~" in note for note in notes)


@pytest.mark.parametrize("cell", ["812 ±", "± 12", "812(12)", "~", "812 ± twelve"])
def test_other_signs_are_refused_with_their_line(tmp_path: Path, cell: str) -> None:
    with pytest.raises(ReadError, match="line 3"):
        read(tmp_path / "a.csv", f"cores;time\n1;900\n2;{cell}\n4;230\n8;120\n")


def test_labels_with_such_signs_stay_as_they_are(tmp_path: Path) -> None:
    path = tmp_path / "a.csv"
    path.write_text("kind;cores;time\nv ± 3;1;9\nw ± 3;2;5\nC+-1;1;8\nC+-2;2;4\n", encoding="utf-8")
    reader = TableReader()
    (runs,) = reader.read(path).values()
    assert runs.configurations["kind"].tolist() == ["v ± 3", "w ± 3", "C+-1", "C+-2"]
    assert not any("±" in note for note in reader.notes)


def test_the_table_of_a_text_is_read_without_the_text(tmp_path: Path) -> None:
    table = "| cores | time (s) |\n|---:|---:|\n| 1 | **812** |\n| 2 | 420 |\n"
    found, _ = read(tmp_path / "a.md", f"# Scaling\n\nWe measured | twice.\n\n{table}\nOn the `old` machine.\n")
    assert found == [812, 420]
    with pytest.raises(ReadError, match=r"2 tables: 1, line 1 .*; 2, line 6 "):
        read(tmp_path / "b.md", f"{table}\n{table}")
