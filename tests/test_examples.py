"""The examples that come along."""

from __future__ import annotations

from pathlib import Path

import pytest

from evenly import examples
from evenly.errors import InputError


def test_copies_are_whole_and_not_overwritten_by_accident(tmp_path: Path) -> None:
    for name in examples.names():
        target = examples.copy(name, tmp_path / "new")
        assert target == tmp_path / "new" / name
        assert (target / "README.md").read_text(encoding="utf-8").strip()
        (target / "README.md").write_text("mine", encoding="utf-8")
        with pytest.raises(InputError, match="is there already"):
            examples.copy(name, tmp_path / "new")
        examples.copy(name, tmp_path / "new", force=True)
        assert (target / "README.md").read_text(encoding="utf-8") != "mine"


def test_unknown_example_and_unwritable_place(tmp_path: Path) -> None:
    with pytest.raises(InputError, match="must be one of gaussian-pulse"):
        examples.copy("nothing", tmp_path)
    (tmp_path / "file").write_text("", encoding="utf-8")
    with pytest.raises(InputError, match="can't be written"):
        examples.copy("gaussian-pulse", tmp_path / "file")


def test_an_empty_folder_is_filled(tmp_path: Path) -> None:
    (tmp_path / "gaussian-pulse").mkdir()
    assert (examples.copy("gaussian-pulse", tmp_path, force=True) / "inner.csv").is_file()


def test_a_folder_with_foreign_files_is_no_earlier_copy(tmp_path: Path) -> None:
    target = examples.copy("gaussian-pulse", tmp_path)
    (target / "inner.csv").write_text("damaged")
    examples.copy("gaussian-pulse", tmp_path, force=True)
    assert (target / "inner.csv").read_text() != "damaged"
    (target / "mine.txt").write_text("mine")
    with pytest.raises(InputError, match=r"holds mine\.txt, which may be yours"):
        examples.copy("gaussian-pulse", tmp_path, force=True)
    (target / "mine.txt").unlink()
    for path in target.iterdir():
        path.write_text("my notes")
    with pytest.raises(InputError, match="is no copy of the example, which may be yours"):
        examples.copy("gaussian-pulse", tmp_path, force=True)
    assert (target / "README.md").read_text() == "my notes"
