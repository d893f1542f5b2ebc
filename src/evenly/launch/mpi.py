"""Programs on several MPI ranks, on this machine or in this process's scheduler allocation."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import ClassVar, final

from evenly.fdtd.ranks.launching import find_launcher
from evenly.fdtd.ranks.watching import end_job
from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.local import watched

__all__ = ["MPI"]


@final
class MPI(Launcher):
    r"""Starts the command with ``mpiexec``, ``mpirun`` or ``srun``; `evenly.fdtd.ranks.launching` finds the launcher.

    Examples
    --------
    >>> MPI().run(Task(("echo", "rank"), "two", ranks=2)).output
    'rank\nrank\n'
    """

    name: ClassVar[str] = "mpi"
    summary: ClassVar[str] = "on MPI ranks, by mpiexec, mpirun or srun"

    def run(self, task: Task) -> Outcome:
        # Each MPI launcher reports a missing program in its own way, so the program is looked up first.
        program = task.command[0]
        here = program if "/" not in program else str((task.folder or Path()) / program)
        if shutil.which(here) is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such program", program)
        return watched(task, find_launcher().command(task.ranks, task.command))

    def end(self, mark: str) -> int:
        return end_job(mark)
