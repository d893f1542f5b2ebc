"""A text with several tables: one is chosen by its number or its heading."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.errors import ReadError
from evenly.readers import scan

STRONG = "| Cores | Time (s) |\n|---|---|\n| 1 | 8 |\n| 2 | 4 |\n| 4 | 2 |\n"
WEAK = "| Cores | Work | Time (ms) |\n|---|---|---|\n| 1 | 100 | 3000 |\n| 2 | 200 | 3100 |\n| 4 | 400 | 3300 |\n"


@pytest.fixture
def readme(tmp_path: Path) -> Path:
    path = tmp_path / "README.md"
    path.write_text(
        f"# Code\n\nRun it.\n\n## Strong scaling\n\nMeasured in May.\n\n{STRONG}\n## Weak scaling\n{WEAK}\n"
    )
    return path


def test_the_refusal_lists_them(readme: Path) -> None:
    with pytest.raises(ReadError) as refused:
        scan(readme)
    said = str(refused.value)
    assert "2 tables: 1, line 9, below 'Strong scaling' (Cores, Time (s)); " in said
    assert "2, line 16, below 'Weak scaling' (Cores, Work, Time (ms))" in said
    assert "(-O table=1 or -O 'table=Strong scaling')" in said


@pytest.mark.parametrize("table", [2, "2", "Weak scaling", "weak"])
def test_one_is_chosen(readme: Path, table: int | str) -> None:
    found = scan(readme, table=table)
    assert found.runs[""].values == pytest.approx([3.0, 3.1, 3.3])
    assert "table 2 of 2, at line 16" in " ".join(found.notes)
    assert list(scan(readme, table="strong").runs[""].values) == [8, 4, 2]


@pytest.mark.parametrize("table", [3, 0, "scaling", "Speedup"])
def test_another_one_is_asked_about(readme: Path, table: int | str) -> None:
    with pytest.raises(ReadError, match="names none, or several, of them: choose one by its number or its heading"):
        scan(readme, table=table)


def test_words_above_all_tables_count_and_names_in_another_table_dont(tmp_path: Path) -> None:
    path, plain = tmp_path / "notes.md", STRONG.replace("Time (s)", "Time")
    path.write_text(f"Times in ms.\n\n{plain}\nAgain:\n\n{plain}\n")
    with pytest.raises(ReadError, match="--unit ms"):
        scan(path, table=2)
    path.write_text(f"{WEAK}\nAgain:\n\n{plain}\n")
    assert list(scan(path, table=2).runs[""].values) == [8, 4, 2]


def test_tables_that_blanks_part(tmp_path: Path) -> None:
    path = tmp_path / "runs.md"
    rows = "1       90.1\n2       46.2\n4       24.0\n"
    path.write_text(f"On A:\n\ncores   time [s]\n{rows}\nOn B:\n\ncores   time [s]\n{rows.replace('90.1', '80.1')}\n")
    with pytest.raises(ReadError, match=r"below 'On A' \(cores, time \[s\]\)"):
        scan(path)
    assert scan(path, table="On B").runs[""].values[0] == 80.1
