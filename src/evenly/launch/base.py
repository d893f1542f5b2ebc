"""The interface of launchers: a launcher runs a `Task` and returns its `Outcome`."""

from __future__ import annotations

import re
from abc import ABC, abstractmethod
from collections.abc import Collection, Mapping
from contextlib import AbstractContextManager
from dataclasses import dataclass, field
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from evenly.errors import EvenlyError, InputError
from evenly.processes import scratch_folder

if TYPE_CHECKING:
    from evenly.runs.columns import Status

__all__ = ["SETUP_FAILED", "Launcher", "Outcome", "Resources", "Task", "UnansweredError", "check_mark"]

#: The reason of a task that a line of the user's setup kept from running: "setup failed: " and the line are in its
#: errors.
SETUP_FAILED = "its setup failed"

#: Configuration, repetition, purpose, and a token that no other run has.
_MARK = re.compile(r"\d+-\d+-\w+-[0-9a-f]{32}")


class UnansweredError(EvenlyError):
    """A scheduler doesn't answer, so jobs that should be ended may go on."""


def check_mark(mark: str) -> None:
    """Raise `InputError` unless a mark is one that evenly writes: marks become names of folders, jobs and processes.

    Examples
    --------
    >>> check_mark("3-0-plan-" + 32 * "f")
    """
    if not _MARK.fullmatch(mark):
        raise InputError(
            f"a run that is under way is called {mark!r}, which evenly would not write: give a file that evenly wrote"
        )


@dataclass(frozen=True)
class Resources:
    """What a task asks a scheduler for; what isn't given is the scheduler's own choice.

    Parameters
    ----------
    nodes, ranks_per_node, cores_per_rank : int, optional
    memory : str
        Memory of a node, as the scheduler writes it: ``"4G"``.
    time_limit_s : float, optional
        Wall seconds after which the scheduler ends the job.
    partition, account : str
    exclusive : bool
        Whether other jobs are kept away from the nodes.
    setup : tuple of str
        Lines of a shell that run before the program, as ``module load``.
    options : mapping of str to str
        Further options of the scheduler by their long names: ``{"constraint": "skylake"}``.
    """

    nodes: int | None = None
    ranks_per_node: int | None = None
    cores_per_rank: int | None = None
    memory: str = ""
    time_limit_s: float | None = None
    partition: str = ""
    account: str = ""
    exclusive: bool = False
    setup: tuple[str, ...] = ()
    options: Mapping[str, str] = field(default_factory=dict)


@dataclass(frozen=True)
class Task:
    """A command to run, with its environment and limits.

    Parameters
    ----------
    command : tuple of str
        The program and its arguments.
    mark : str
        Identifier of the task. Its processes can be found by the mark, even after the process that started them ended.
    ranks : int, optional
        Number of MPI ranks, for launchers that start several.
    folder : Path, optional
        Working folder; by default that of this process.
    environment : mapping of str to str
        Environment variables to set in addition to those of this process.
    timeout_s : float, optional
        Wall seconds after which the task and all processes that it started are ended.
    workspace : Path, optional
        A private folder for the launcher and the task, from `Launcher.workspace`.
    cores : tuple of int
        The cores of this machine that the task may use; all if there are none.
    resources : Resources
        What a scheduler is asked for.
    """

    command: tuple[str, ...]
    mark: str
    ranks: int | None = None
    folder: Path | None = None
    environment: Mapping[str, str] = field(default_factory=dict)
    timeout_s: float | None = None
    workspace: Path | None = None
    cores: tuple[int, ...] = ()
    resources: Resources = field(default_factory=Resources)

    @property
    def places(self) -> int:
        """How many ranks a job needs room for. A program that starts its own gets all nodes that were asked for.

        Examples
        --------
        >>> Task(("srun", "solve"), "m", resources=Resources(nodes=2, ranks_per_node=8)).places
        16
        """
        return self.ranks or (self.resources.nodes or 1) * (self.resources.ranks_per_node or 1)


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
    began : float
        When it began, in seconds since the epoch.
    host : str
        The machine that it ran on.
    other_load : float or None
        Mean number of cores that other processes kept busy meanwhile; None where that isn't known.
    reason : str
        Why it ended, if the program itself didn't end it.
    details : mapping of str to str or float
        What else is known, as far as it is: `evenly.campaign.record.DETAILS` lists the names. "daemons"
        are processes in sessions of their own that a run left, and that were ended.
    """

    status: Status
    exit_code: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float
    began: float = 0.0
    host: str = ""
    other_load: float | None = None
    reason: str = ""
    details: Mapping[str, str | float] = field(default_factory=dict)


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
    #: Whether the number of ranks must be given.
    needs_ranks: ClassVar[bool] = True
    #: Whether tasks run on this machine, and can be given cores of their own.
    pins: ClassVar[bool] = False
    #: Whether tasks go on if the process that started them ends. `run` with the same mark then waits for such a task.
    outlives: ClassVar[bool] = False
    #: The fields of `Resources` that it uses.
    uses: ClassVar[frozenset[str]] = frozenset()
    #: Options that can't be given, and the setting that stands for each; "" where evenly itself sees to it.
    taken: ClassVar[Mapping[str, str]] = {}

    def workspace(self, mark: str, near: Path) -> AbstractContextManager[Path]:  # noqa: ARG002 - needed elsewhere
        """Return a private folder for a task; in `near`, until `clean`, if its task goes on without this process."""
        return scratch_folder()

    def clean(self, near: Path, keep: Collection[str] = ()) -> None:  # noqa: B027 - most have nothing to remove
        """Remove what is left in `near` of the workspaces of tasks that have ended: all but those with these marks."""

    def forget(self, near: Path, mark: str) -> None:  # noqa: B027
        """Remove what is left in `near` of the workspace of one task, whose outcome isn't needed any more."""

    def cores(self) -> frozenset[int] | None:
        """Return the cores that all tasks together may use; None if a scheduler sees to that."""
        return None

    def ends_at(self) -> float | None:
        """Return when the job ends in which tasks run, in seconds since the epoch; infinite without a limit.

        None if they run in no job.
        """
        return None

    def ends_after_s(self, task: Task) -> float | None:
        """Return after how many wall seconds a task is ended; None if it has no limit."""
        return task.timeout_s

    def uses_other_machines(self) -> bool:
        """Return whether tasks may run on machines beside this one, so that their cores aren't known."""
        return False

    def shown(self, task: Task) -> list[str]:  # noqa: ARG002 - needed elsewhere
        """Return the words that stand before a task's command, where a user is shown what will be started."""
        return []

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
    def end(self, *marks: str) -> int:
        """Kill the processes of tasks that are still running, and return their number.

        Raises
        ------
        UnansweredError
            If a scheduler doesn't answer, so that its jobs may go on.
        """
