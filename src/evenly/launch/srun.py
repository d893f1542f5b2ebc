"""Programs as steps of the Slurm job that this process runs in: `evenly measure` is started by ``sbatch``.

Slurm gives each step nodes and cores of its own. Steps end with the job. A step may have to wait, so a few lines of
shell around the program tell when it began and ended on its node. They also end it at its limit, counted from then.
"""

from __future__ import annotations

import math
import os
import re
import shutil
import subprocess
import time
from dataclasses import replace
from typing import ClassVar, final

from evenly.errors import InputError
from evenly.fdtd.ranks.watching import end_job
from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.local import watched
from evenly.runs.durations import parse as seconds_of

__all__ = ["NOT_BEGUN", "Srun", "cores_of_job", "of_step"]

#: The reason of a task whose step Slurm didn't start.
NOT_BEGUN = "Slurm did not start its step"
#: A step that Slurm refuses to start is tried so often, after so many seconds. It may wait so long for its start.
_ATTEMPTS, _PAUSE_S, _WAIT_S = 3, 5.0, 60.0
#: After its first rank ended, a step is ended within so many seconds, or other ranks went on.
_TEARDOWN_S = 3.0
#: Run by each rank: a mark, the limit in seconds or nothing, the program. All tell a failure, the first its times.
_STEP = """
first() { [ "${SLURM_PROCID:-0}" = 0 ]; }
mark=$1 limit=$2; shift 2
began=$(date +%s.%N)
first && echo "evenly $mark began $began" >&2
if [ -n "$limit" ]; then timeout -k 5 "$limit" "$@"; else "$@"; fi
status=$?
first && echo "evenly $mark ended $began $(date +%s.%N)" >&2
[ $status = 0 ] || echo "evenly $mark status $status" >&2
exit $status
"""
#: What `timeout` ends with if it ended the program.
_AT_LIMIT = 124
#: What other ranks of a step end with if Slurm ends them since one failed.
_TERMINATED = 143


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
        limit = task.timeout_s
        command = [*self.shown(task), "sh", "-c", _STEP, "sh", task.mark, "" if limit is None else f"{limit:.3f}"]
        patient = replace(task, timeout_s=None if limit is None else limit + _WAIT_S)
        for attempt in range(1, _ATTEMPTS + 1):
            outcome = of_step(watched(patient, [*command, *task.command]), task.mark, limit)
            if outcome.reason != NOT_BEGUN or attempt == _ATTEMPTS:
                break
            time.sleep(_PAUSE_S)
        return outcome

    def end(self, *marks: str) -> int:
        return sum(map(end_job, marks))


def of_step(outcome: Outcome, mark: str, limit_s: float | None) -> Outcome:
    r"""Return the outcome of a step from that of ``srun``: with the times that its first rank told, on its own node.

    Parameters
    ----------
    outcome : Outcome
        That of ``srun``, which may have waited for the step.
    mark : str
        That of the task.
    limit_s : float, optional
        After how many seconds the program was to be ended.

    Examples
    --------
    >>> told = "evenly m began 100.5\nno memory\nevenly m ended 100.5 102.0\nevenly m status 3\n"
    >>> found = of_step(Outcome("failed", 143, "", told, 9.0, 0.1, began=95.0), "m", 60.0)
    >>> found.seconds, found.exit_code, found.errors
    (1.5, 3, 'no memory\n')
    >>> of_step(Outcome("failed", 1, "", "srun: error: Unable to create step", 2.0, 0.1), "m", 60.0).reason
    'Slurm did not start its step'
    """
    lines = re.compile(rf"(?m)^evenly {re.escape(mark)} (began|ended|status) ([\d. ]+)\n?")
    told = lines.findall(outcome.errors)
    errors = lines.sub("", outcome.errors)
    times = {word: [float(one) for one in numbers.split()] for word, numbers in told if word != "status"}
    codes = [int(number) for word, number in told if word == "status"]
    if not times:
        if outcome.status == "ok":
            return replace(outcome, errors=errors)
        waited = outcome.status == "timed out"
        reason = f"{NOT_BEGUN} within {outcome.seconds:.0f} s: its cores may be in use" if waited else NOT_BEGUN
        return replace(outcome, status="failed", errors=errors, reason=reason)
    began = min(map(min, times.values()))
    ended = outcome.began + outcome.seconds
    if "ended" in times and ended - times["ended"][1] < _TEARDOWN_S:
        ended = times["ended"][1]
    seconds = max(ended - began, 0.0)
    code = next((code for code in codes if code != _TERMINATED), outcome.exit_code)
    late = limit_s is not None and seconds >= limit_s and (code in (_AT_LIMIT, 137, _TERMINATED))
    status = "timed out" if late else outcome.status
    return replace(outcome, status=status, exit_code=code, errors=errors, seconds=seconds, began=began)


def cores_of_job(told: str) -> int:
    """Return how many cores a job has, from what Slurm says of its nodes.

    Examples
    --------
    >>> cores_of_job("8"), cores_of_job("72(x2),36")
    (8, 180)
    """
    found = re.findall(r"(\d+)(?:\(x(\d+)\))?", told)
    return sum(int(cores) * int(nodes or 1) for cores, nodes in found)
