"""Programs as steps of the Slurm job that this process runs in: `evenly measure` is started by ``sbatch``.

Slurm gives each step nodes and cores of its own. Steps end with the job.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time
from typing import ClassVar, final

from evenly.errors import InputError
from evenly.fdtd.ranks.watching import end_job
from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.local import watched
from evenly.runs.durations import parse as seconds_of

__all__ = ["Srun", "cores_of_job"]


@final
class Srun(Launcher):
    """Starts each task as a step of this job, with ``srun``."""

    name: ClassVar[str] = "srun"
    summary: ClassVar[str] = "as steps of the Slurm job that evenly runs in, side by side"
    needs_ranks: ClassVar[bool] = False
    uses: ClassVar[frozenset[str]] = frozenset({"cores_per_rank", "options"})

    def cores(self) -> frozenset[int]:
        told = os.environ.get("SLURM_JOB_CPUS_PER_NODE")
        if told is None or shutil.which("srun") is None:
            raise InputError(
                "the launcher srun starts runs within a job of Slurm, but this is none: start evenly with sbatch, or "
                "use the launcher slurm, which submits a job for each run"
            )
        return frozenset(range(cores_of_job(told)))

    def ends_at(self) -> float | None:
        job, told = os.environ.get("SLURM_JOB_ID"), os.environ.get("SLURM_JOB_END_TIME", "")
        if told.isdecimal():  # Slurm 23 and later
            return float(told)
        if job is None or shutil.which("squeue") is None:
            return None
        asked = ["squeue", "--noheader", f"--jobs={job}", "--format=%L"]
        done = subprocess.run(asked, capture_output=True, text=True, check=False)
        told = done.stdout.strip()
        left = math.inf if told == "UNLIMITED" else seconds_of(told, "mm:ss")
        return None if math.isnan(left) else time.time() + left

    def shown(self, task: Task) -> list[str]:
        asked = task.resources
        others = [f"--{name}={value}" if value else f"--{name}" for name, value in asked.options.items()]
        # Without --mem=0 the first step takes all memory of the job, and the others wait for it.
        count = [f"--ntasks={task.ranks or 1}", f"--cpus-per-task={asked.cores_per_rank or 1}"]
        return ["srun", "--exact", "--mem=0", "--kill-on-bad-exit=1", *count, *others]

    def run(self, task: Task) -> Outcome:
        return watched(task, [*self.shown(task), *task.command])

    def end(self, *marks: str) -> int:
        return sum(map(end_job, marks))


def cores_of_job(told: str) -> int:
    """Return how many cores a job has, from what Slurm says of its nodes.

    Examples
    --------
    >>> cores_of_job("8"), cores_of_job("72(x2),36")
    (8, 180)
    """
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", told)
    return sum(int(cores) * int(nodes or 1) for cores, nodes in found)
