"""The contract of launchers: a task goes in, how it ended comes out."""

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
    """A command to be run.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.
    mark : str
        Names the task; what is left of it is found by it, even if whoever started it is gone.
    ranks : int
        Number of MPI ranks, for launchers that start several.
    folder : Path, optional
        Where it runs; this process' folder when left out.
    environment : mapping of str to str
        Variables to set besides this process' own.
    timeout_s : float, optional
        Seconds after which the task and all processes that it started are ended.
    """

    command: tuple[str, ...]
    mark: str
    ranks: int = 1
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None


@dataclass(frozen=True)
class Outcome:
    """How a task ended.

    Parameters
    ----------
    status : {"ok", "failed", "timed out"}
    exit_code : int
        As in a shell: 0 is success, 128 + n the signal n.
    output, errors : str
        Its standard output and error; the beginning of very long texts is dropped.
    seconds, cpu_seconds : float
        Wall time, and CPU time of all its processes.
    """

    status: Status
    exit_code: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float


class Launcher(ABC):
    """Runs tasks.

    Laws: `run` returns only once no process of the task is left; a program that ends with another status than 0 is an
    outcome, not an exception; a time-out takes no longer than a few seconds more than it says.
    """

    name: ClassVar[str]
    #: One line for help texts.
    summary: ClassVar[str]

    @abstractmethod
    def run(self, task: Task) -> Outcome:
        """Run a task to its end.

        Raises
        ------
        OSError
            If the program can't be started: it doesn't exist, or may not be run.
        InputError
            If this launcher can't run it.
        KeyboardInterrupt, SystemExit
            If this process was asked to end meanwhile; the task is ended first.
        """

    @abstractmethod
    def end(self, mark: str) -> int:
        """Kill what an earlier process left of a task, and return how many processes that were."""
