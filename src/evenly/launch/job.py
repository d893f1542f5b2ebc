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

from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.job_numbers import job_number
from evenly.launch.local import Local
from evenly.launch.mpi import MPI
from evenly.writing import replacing

__all__ = ["claimed_by", "has_begun", "main", "outcome_in", "queued_s", "write_task"]

_TASK, _CLAIM, _OUTCOME = "task.json", "began.json", "outcome.json"


def write_task(task: Task, folder: Path, launcher: str) -> None:
    """Write what the job needs, and who submits it: nothing of the environment but what the task asks for."""
    told = {
        "launcher": launcher,
        "command": task.command, "mark": task.mark, "ranks": task.ranks, "environment": dict(task.environment),
        "folder": None if task.folder is None else str(task.folder.resolve()), "timeout_s": task.timeout_s,
    }  # fmt: skip
    (folder / _TASK).write_text(json.dumps(told), encoding="utf-8")


def claimed_by(folder: Path) -> str | None:
    """Return the number of the job that has begun; None if none has."""
    try:
        return str(json.loads((folder / _CLAIM).read_text(encoding="utf-8"))["job"]) or None
    except (FileNotFoundError, ValueError):
        return None


def has_begun(workspace: Path) -> bool:
    """Return whether a job of a task has begun, whose folders lie in its workspace."""
    return any(workspace.glob(f"**/{_CLAIM}"))


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


def queued_s(submitted: Path, started: Path) -> float | None:
    """Return how long a job waited, by the times of two files, both of the file system's clock; None if unknown."""
    try:
        return max(0.0, started.stat().st_mtime - submitted.stat().st_mtime)
    except OSError:
        return None


def main(folder: Path) -> int:
    """Run the task in a folder, unless another job has begun with it."""
    told = json.loads((folder / _TASK).read_text(encoding="utf-8"))
    number = job_number(told.get("launcher", ""))
    if not _claimed(folder / _CLAIM, number):
        return 0
    place = None if told["folder"] is None else Path(told["folder"])
    task = Task(
        tuple(told["command"]), told["mark"], told["ranks"], place, told["environment"], told["timeout_s"], folder
    )
    # By name, a launcher would be looked for among the plug-ins of all packages, which takes long.
    launcher: Launcher = Local() if task.ranks is None else MPI()
    found: dict[str, Any]
    try:
        found = dataclasses.asdict(launcher.run(task))
        found["details"] = {**found["details"], **({"job": number} if number else {})}
    except OSError as error:
        found = {"error": [error.errno, error.strerror, error.filename or task.command[0]]}
    with replacing(folder / _OUTCOME) as new:
        new.write_text(json.dumps(found), encoding="utf-8")
    return 0


def _claimed(path: Path, job: str) -> bool:
    """Make a file, which only one process can; return whether this one did."""
    try:
        number = os.open(path, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o600)
    except FileExistsError:
        return False
    with os.fdopen(number, "w", encoding="utf-8") as file:
        json.dump({"host": platform.node(), "pid": os.getpid(), "job": job}, file)
    return True


if __name__ == "__main__":
    sys.exit(main(Path(sys.argv[1])))
