"""What killed processes left is found by its name and removed; nothing else is."""

from __future__ import annotations

import signal
import subprocess
import sys
import tempfile
from pathlib import Path

import pytest

from evenly.errors import InputError
from evenly.processes import is_gone, left_in, marked_name, scratch_folder, this_process
from evenly.writing import replacing

on_linux = pytest.mark.skipif(sys.platform != "linux", reason="processes are told apart by /proc, which Linux has")

LEAVE = """
import os, signal
from pathlib import Path
from evenly.processes import scratch_folder
from evenly.writing import replacing
with scratch_folder() as folder, replacing("table.csv") as new:
    (folder / "result.json").write_text("{}")
    (folder / "there").symlink_to(os.getcwd())
    new.write_text("half")
    os.kill(os.getpid(), signal.SIGKILL)
"""


@pytest.fixture
def here(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    monkeypatch.setattr(tempfile, "tempdir", str(tmp_path / "temporary"))
    (tmp_path / "temporary").mkdir()
    return tmp_path


def killed(here: Path) -> None:
    code = f"import tempfile; tempfile.tempdir = {str(here / 'temporary')!r}\n{LEAVE}"
    assert subprocess.run([sys.executable, "-c", code], cwd=here, check=False).returncode == -signal.SIGKILL


@on_linux
def test_the_next_start_removes_what_a_killed_process_left_and_nothing_else(here: Path) -> None:
    mine = [here / "temporary" / "evenly-mine", here / ".evenly-mine.part", here / marked_name()]
    for path in mine:
        path.touch()
    killed(here)
    assert len(list(here.glob(".evenly-*.part"))) == 2
    assert len(list((here / "temporary").iterdir())) == 2
    with scratch_folder() as folder, replacing(here / "table.csv") as new:
        assert set((here / "temporary").iterdir()) == {mine[0], folder}
        new.write_text("whole")
        assert set(here.glob(".evenly-*.part")) == {mine[1], new}
    assert all(path.exists() for path in mine)
    assert (here / "table.csv").read_text() == "whole"


@on_linux
def test_what_other_machines_and_living_processes_left_stays(here: Path) -> None:
    killed(here)
    (left,) = left_in(here / "temporary")
    _, machine, *rest = left.name.split("-")
    elsewhere = left.with_name("-".join(["evenly", "0" * 8 if machine != "0" * 8 else "1" * 8, *rest]))
    left.rename(elsewhere)
    assert list(left_in(here / "temporary")) == []
    assert is_gone({**this_process(), "machine": "another"}) is None
    assert is_gone(this_process()) is False
    assert is_gone({**this_process(), "started": "1"}) is True


def test_without_a_temporary_folder_the_remedy_is_told(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(tempfile, "tempdir", "/proc")
    with pytest.raises(InputError, match="set TMPDIR"), scratch_folder():
        pass
