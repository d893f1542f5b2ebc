"""Commands replace what they wrote, and nothing that evenly didn't write."""

from __future__ import annotations

from pathlib import Path

import pytest

from tests.cli.conftest import Evenly

RUNS = "cores,size,seconds\n" + "".join(f"{n},{s},{8 * s / n + 0.1}\n" for n in (1, 2, 4, 8) for s in (1, 2))
LAW = ("--method", "power-law")
CELL = ("cmos", "--resolution", "10")
SAVED = [
    ("predict", "runs.csv", *LAW, "--at", "cores=4", "--at", "size=1", "--save", "saved.csv"),
    ("predict", "runs.csv", *LAW, "--cores", "1..8", "--at", "size=1", "--save", "saved.csv"),
    ("predict", "--simulation", *CELL, "--ranks", "1,2", "--machine", "two-cores", "--save", "saved.csv"),
    ("advise", "runs.csv", "--save", "saved.csv"),
    ("fit", "runs.csv", *LAW, "--save", "saved.evenly"),
    ("read", "runs.csv", "--save", "saved.csv"),
    ("read", "runs.csv", "--save", "saved.parquet"),
    *[("report", "runs.csv", *LAW, "--next", "0", "--save", f"saved.{kind}") for kind in ("html", "md", "json")],
    ("partition", *CELL, "--ranks", "2", "--save", "saved.json"),
    ("fdtd", "layout", *CELL, "--ranks", "2", "--save", "saved.json"),
    ("machine", "measure", "--seconds", "0.01", "--save", "saved.toml"),
    ("measure", "study.toml", "--save", "saved.csv"),
    ("runs", "list", "study.db", "--save", "saved.csv"),
    ("runs", "list", "study.db", "--save", "saved.parquet"),
]


@pytest.mark.parametrize("command", SAVED, ids=lambda command: f"{' '.join(command[:2])} {command[-1]}")
def test_what_was_saved_is_saved_again_and_what_was_not_is_kept(
    evenly: Evenly, tmp_path: Path, monkeypatch: pytest.MonkeyPatch, command: tuple[str, ...]
) -> None:
    monkeypatch.chdir(tmp_path)
    Path("runs.csv").write_text(RUNS)
    Path("study.toml").write_text('[program]\ncommand = ["true", "{n}"]\n[parameters]\nn = [1, 2]\n')
    if "study.db" in command:
        assert evenly("measure", "study.toml").code == 0
    for _ in range(2):
        shown = evenly(*command)
        assert shown.code == 0, shown.err
    saved = Path(command[-1])
    saved.write_text("cores,seconds\n1,2\n")
    shown = evenly(*command)
    assert shown.code == 2
    assert "evenly did not write it" in shown.err
    assert saved.read_text() == "cores,seconds\n1,2\n"
    saved.write_text("")
    assert evenly(*command).code == 0
