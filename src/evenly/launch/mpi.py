"""Programs on several MPI ranks, on this machine or in this process's scheduler allocation."""

from __future__ import annotations

import errno
import shutil
from pathlib import Path
from typing import ClassVar, final

from evenly.fdtd.ranks.launching import find_launcher, in_allocation
from evenly.fdtd.ranks.watching import end_job
from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.local import own_cores, watched

__all__ = ["MPI"]

#: Open MPI counts cores from the machine's first, whatever cores a task may use, so it shall not bind ranks.
_UNBOUND = {"OMPI_MCA_hwloc_base_binding_policy": "none", "PRTE_MCA_hwloc_default_binding_policy": "none"}


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
    pins: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset({"cores_per_rank"})

    def cores(self) -> frozenset[int]:
        return own_cores()

    def uses_other_machines(self) -> bool:
        return in_allocation()

    def run(self, task: Task) -> Outcome:
        # Each MPI launcher reports a missing program in its own way, so the program is looked up first.
        program = task.command[0]
        here = program if "/" not in program else str((task.folder or Path()) / program)
        if shutil.which(here) is None:
            raise FileNotFoundError(errno.ENOENT, "there is no such program", program)
        launcher = find_launcher()
        command = launcher.command(task.ranks or 1, task.command, cores=len(task.cores) or None)
        return watched(task, command, _UNBOUND if task.cores else {})

    def end(self, *marks: str) -> int:
        return sum(map(end_job, marks))
