"""``evenly demo``: the whole loop once, on real ranks."""

from __future__ import annotations

from pathlib import Path
from threading import Event

import pytest

from evenly.cli.commands import demo as command
from evenly.demo import loop
from evenly.demo.extent import QUICK
from evenly.demo.findings import BALANCED, EVEN, ONE
from tests.cli.conftest import Evenly


def test_a_folder_that_cannot_be_written_to_is_refused_at_once(evenly: Evenly, tmp_path: Path) -> None:
    (tmp_path / "file").write_text("", encoding="utf-8")
    assert evenly("demo", "file/shown").code == 2


@pytest.mark.slow
def test_the_whole_loop_on_real_ranks(evenly: Evenly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    home = tmp_path / "home"
    monkeypatch.setenv("EVENLY_HOME", str(home))
    monkeypatch.setattr(loop, "available_cores", lambda: 2)
    shown = evenly("demo", "shown", "--quick", "--json")
    assert shown.code == 0, shown.err
    assert shown.json["failures"] == {}
    assert [row["layout"] for row in shown.json["compared"]] == [ONE, EVEN, BALANCED]
    assert all(len(row["measured_s"]) == QUICK.repeats for row in shown.json["compared"])
    assert not home.exists()
    folder = tmp_path / "shown"
    assert (folder / "cmos-2.json").exists()
    counted = [path for path in (folder / "runs").iterdir() if not path.name.startswith("disturbed-")]
    assert len(counted) == 3 * QUICK.repeats
    html = (folder / "index.html").read_text(encoding="utf-8")
    assert html.count("<figure") >= 5
    # What the page tells to type is what evenly takes.
    assert (
        evenly("fdtd", "run", "cmos", *QUICK.typed.split(), "--steps", "2", "--chunks", folder / "cmos-2.json").code
        == 0
    )


def test_a_folder_with_other_files_is_refused(evenly: Evenly, tmp_path: Path) -> None:
    (tmp_path / "own").mkdir()
    (tmp_path / "own" / "other.txt").write_text("mine")
    shown = evenly("demo", "own", "--quick")
    assert shown.code == 2
    assert "own holds other.txt, which may be yours" in shown.err
    assert [path.name for path in (tmp_path / "own").iterdir()] == ["other.txt"]


def test_a_long_stage_says_in_a_pipe_how_far_it_is(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    spoken = Event()
    lines: list[str] = []

    def note(text: str) -> None:
        lines.append(text)
        if "50 %" in text:
            spoken.set()

    monkeypatch.setattr(command, "_SILENT_S", 0.001)
    monkeypatch.setattr(command, "note", note)
    with command._shown("measuring") as told:
        told(0.5)
        assert spoken.wait(60), lines
    assert lines[0] == "measuring …"
    assert lines[-1].startswith("measuring: ")
    assert capsys.readouterr().err == ""
