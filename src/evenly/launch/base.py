"""The interface of launchers: a launcher runs a `Task` and returns its `Outcome`."""

from __future__ import annotations

from abc import ABC, abstractmethod
from collections.abc import Mapping
from dataclasses import dataclass, field
from pathlib import Path
from typing import ClassVar

from evenly.runs.columns import Status

__all__ = ["Launcher", "Outcome", "Task"]


@dataclass(frozen=True)
class Task:
    """A command to run, with its environment and limits.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.
    mark : str
        Identifier of the task. Its processes can be found by the mark, even after the process that started them ended.
    ranks : int
        Number of MPI ranks, for launchers that start several.
    folder : Path, optional
        Working folder; by default that of this process.
    environment : mapping of str to str
        Environment variables to set in addition to those of this process.
    timeout_s : float, optional
        Wall seconds after which the task and all processes that it started are ended.
    """

    command: tuple[str, ...]
    mark: str
    ranks: int = 1
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None


@dataclass(frozen=True)
class Outcome:
    """The result of a task: its status, output and times.

    Parameters
    ----------
    status : {"ok", "failed", "timed out"}
    exit_code : int
        As in a shell: 0 is success, 128 + n means that signal n ended the task.
    output, errors : str
        Standard output and standard error; very long texts lose their beginning.
    seconds, cpu_seconds : float
        Wall time of the task, and CPU time of all its processes together.
    """

    status: Status
    exit_code: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float


class Launcher(ABC):
    """Runs tasks.

    Rules for every launcher:

    * `run` returns only when no process of the task is left;
    * a program that ends with a status other than 0 gives an outcome, not an exception;
    * after a time-out, the task ends within a few seconds.
    """

    name: ClassVar[str]
    #: One line for help texts.
    summary: ClassVar[str]

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Run a task to its end and return its outcome.

        Raises
        ------
        OSError
            If the program can't be started: it doesn't exist, or this process has no permission to run it.
        InputError
            If this launcher can't run the task.
        KeyboardInterrupt, SystemExit
            If a signal asks this process to end meanwhile; the task is ended first.
        """

    @abstractmethod
    def end(self, mark: str) -> int:
        """Kill the processes of a task that are still running, and return their number."""
