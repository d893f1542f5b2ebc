"""Jobs of a campaign are ended: with few calls of the scheduler, and not forgotten if it doesn't answer."""

from __future__ import annotations

import subprocess
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

from evenly.launch import batch
from evenly.launch.base import Task, UnansweredError
from evenly.launch.batch import BatchLauncher, Ended, Waiting

MARKS = [f"{n}-0-plan-{32 * 'a'}" for n in range(1, 31)]


class Asked(BatchLauncher):
    """A scheduler whose calls are noted."""

    name = "asked"
    title = "Asked"

    def __init__(self, numbers: Sequence[str] | None) -> None:
        super().__init__()
        self.numbers = None if numbers is None else list(numbers)
        self.calls: list[str] = []

    def submission(self, task: Task) -> list[str]:
        raise NotImplementedError

    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:
        raise NotImplementedError

    def queue(self, name: str = "") -> list[Waiting] | None:
        self.calls.append(name)
        return None if self.numbers is None else [Waiting(n) for n in self.numbers if not name or name.endswith(n)]

    def ended(self, number: str) -> Ended:
        raise NotImplementedError

    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        return ["cancel", *numbers]


@pytest.fixture
def cancelled(monkeypatch: pytest.MonkeyPatch) -> list[str]:
    found: list[str] = []
    monkeypatch.setattr(batch, "_ANSWERS_S", 0.3)

    def call(command: Sequence[str], _: str = "") -> Any:
        found.extend(command[1:])
        return subprocess.CompletedProcess(command, 0, "", "")

    monkeypatch.setattr(batch, "call", call)
    return found


def begun(launcher: Asked, near: Path) -> None:
    """Make the folders of submitted jobs, whose numbers are noted."""
    for number, mark in enumerate(MARKS):
        with launcher.workspace(mark, near) as folder:
            (folder / "1").mkdir()
            (folder / "1" / "job.sh").touch()
            (folder / "1" / "job-id").write_text(str(number))


def test_many_jobs_are_ended_with_few_calls(tmp_path: Path, cancelled: list[str]) -> None:
    launcher = Asked([str(number) for number in range(len(MARKS))])
    begun(launcher, tmp_path)
    assert launcher.numbers is not None
    launcher.numbers.remove("3")  # it has ended
    launcher.numbers.append("99")  # another job of this user
    with pytest.raises(UnansweredError, match="Asked doesn't say"):  # it never takes them from its queue
        launcher.end(*MARKS)
    assert "3" not in cancelled
    assert "99" not in cancelled
    assert len(cancelled) == len(MARKS) - 1
    assert set(launcher.calls) == {""}
    assert len(launcher.calls) < 5


def test_a_job_whose_number_is_not_noted_is_looked_for_by_its_name(tmp_path: Path, cancelled: list[str]) -> None:
    launcher = Asked([])
    begun(launcher, tmp_path)
    (tmp_path / MARKS[0] / "1" / "job-id").unlink()
    assert launcher.end(*MARKS) == 0
    assert not cancelled
    assert launcher.calls.count(f"evenly-{MARKS[0]}") == 1
    assert len(launcher.calls) == 2


def test_a_scheduler_that_does_not_answer_is_told(tmp_path: Path, cancelled: list[str]) -> None:
    launcher = Asked(None)
    begun(launcher, tmp_path)
    with pytest.raises(UnansweredError, match="their jobs may go on"):
        launcher.end(*MARKS)
    assert len(cancelled) == len(MARKS)  # they are cancelled, if it hears that
    with pytest.raises(UnansweredError):
        Asked(None).end("5-0-plan-" + 32 * "b")
