"""Texts beside measurements: which are read, and that they are quoted."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly.readers import scan
from evenly.readers.beside import lines_of_text
from tests.cli.conftest import Evenly
from tests.cli.conftest import evenly as evenly

TABLE = "cores,time_s\n8,80\n16,41\n32,22\n"


@pytest.fixture
def folder(tmp_path: Path) -> Path:
    (tmp_path / "a.csv").write_text(TABLE)
    (tmp_path / "README.md").write_text("# Runs\n\nEach adds up five runs.\n")
    return tmp_path


def test_a_readme_beside_the_only_table_is_read(folder: Path) -> None:
    assert scan(folder / "a.csv").beside == (folder / "README.md",)
    assert scan(folder).beside == (folder / "README.md",)


def test_of_several_tables_the_readme_must_name_the_one(folder: Path) -> None:
    (folder / "b.csv").write_text(TABLE)
    assert scan(folder / "a.csv").beside == ()
    assert scan([folder / "a.csv", folder / "b.csv"]).beside == (folder / "README.md",)
    (folder / "README.md").write_text("a.csv adds up five runs.\n")
    assert scan(folder / "a.csv").beside == (folder / "README.md",)
    assert scan(folder / "b.csv").beside == ()


def test_a_table_in_a_readme_is_no_text_beside_itself(folder: Path) -> None:
    (folder / "README.md").write_text("| cores | time_s |\n|---|---|\n| 8 | 80 |\n| 16 | 41 |\n")
    assert scan(folder / "README.md").beside == ()


@pytest.mark.parametrize("given", ["", "a.csv"])
def test_it_is_quoted(folder: Path, given: str, evenly: Evenly) -> None:
    told = " ".join(evenly("read", folder / given).err.split())
    assert "text beside the files, which was not used: 'Each adds up five runs.'" in told


def test_tables_in_a_text_are_no_lines_of_it(tmp_path: Path) -> None:
    (tmp_path / "README.md").write_text("# Runs\n\n| inner | 190 |\n|---|---|\nby Ada\n")
    assert lines_of_text(tmp_path / "README.md") == ["Runs", "by Ada"]
