"""The program of a scheduler's job: ``python -m evenly.launch.job FOLDER`` runs a task and writes its outcome there.

Time is taken here, on the machine where the program runs. If a job was submitted twice, only the first to begin runs
the task.
"""

from __future__ import annotations

import dataclasses
import json
import os
import platform
import sys
from pathlib import Path
from typing import Any

from evenly.launch.base import Outcome, Task
from evenly.launch.registry import launcher_class
from evenly.writing import replacing

__all__ = ["claimed_by", "main", "outcome_in", "write_task"]

_TASK, _CLAIM, _OUTCOME = "task.json", "began.json", "outcome.json"


def write_task(task: Task, folder: Path) -> None:
    """Write what the job needs: nothing of the environment but what the task asks for."""
    told = {
        "command": task.command, "mark": task.mark, "ranks": task.ranks, "environment": dict(task.environment),
        "folder": None if task.folder is None else str(task.folder.resolve()), "timeout_s": task.timeout_s,
    }  # fmt: skip
    (folder / _TASK).write_text(json.dumps(told), encoding="utf-8")


def claimed_by(folder: Path) -> str | None:
    """Return the number of the job that has begun; None if none has."""
    try:
        return str(json.loads((folder / _CLAIM).read_text(encoding="utf-8"))["job"])
    except (FileNotFoundError, ValueError):
        return None


def outcome_in(folder: Path) -> Outcome | None:
    """Return the outcome of a job; None if there is none.

    Raises
    ------
    OSError
        If its program couldn't be started.
    """
    try:
        told = json.loads((folder / _OUTCOME).read_text(encoding="utf-8"))
    except FileNotFoundError:
        return None
    if "error" in told:
        raise OSError(*told["error"])
    return Outcome(**told)


def main(folder: Path) -> int:
    """Run the task in a folder, unless another job has begun with it."""
    told = json.loads((folder / _TASK).read_text(encoding="utf-8"))
    if not _claimed(folder / _CLAIM):
        return 0
    place = None if told["folder"] is None else Path(told["folder"])
    task = Task(
        tuple(told["command"]), told["mark"], told["ranks"], place, told["environment"], told["timeout_s"], folder
    )
    launcher = launcher_class("local" if task.ranks is None else "mpi")()
    found: dict[str, Any]
    try:
        found = dataclasses.asdict(launcher.run(task))
    except OSError as error:
        found = {"error": [error.errno, error.strerror, error.filename or task.command[0]]}
    with replacing(folder / _OUTCOME) as new:
        new.write_text(json.dumps(found), encoding="utf-8")
    return 0


def _claimed(path: Path) -> bool:
    """Make a file, which only one process can; return whether this one did."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(number, "w", encoding="utf-8") as file:
        json.dump({"host": platform.node(), "pid": os.getpid(), "job": os.environ.get("SLURM_JOB_ID")}, file)
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
