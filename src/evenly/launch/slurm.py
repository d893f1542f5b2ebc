"""Programs as jobs of Slurm: one job for each task (`evenly.launch.batch`)."""

from __future__ import annotations

import math
import re
import shutil
from collections.abc import Sequence
from pathlib import Path
from typing import ClassVar, final

from evenly.launch.base import Task
from evenly.launch.batch import BatchLauncher, Ended, Waiting, call, limit_minutes, options_text
from evenly.runs.durations import parse

__all__ = ["Slurm", "options_of"]

#: Reasons of waiting jobs that time alone may not change.
_STUCK = re.compile(r"Partition|BadConstraints|Assoc|QOS|Invalid|ReqNodeNotAvail|JobHeld|Licenses|AccountNotAllowed")
#: Slurm's states of jobs that ended.
_ENDS = {
    "OUT_OF_MEMORY": "out of memory", "CANCELLED": "cancelled", "FAILED": "failed", "COMPLETED": "completed",
    "DEADLINE": "deadline", "TIMEOUT": "time limit", "NODE_FAIL": "node failed", "BOOT_FAIL": "no boot",
    "PREEMPTED": "preempted", "REVOKED": "revoked", "": "vanished",
}  # fmt: skip


@final
class Slurm(BatchLauncher):
    """Submits a job for each task with ``sbatch``, and waits for its outcome."""

    name: ClassVar[str] = "slurm"
    summary: ClassVar[str] = "as jobs of Slurm, one for each run"
    title: ClassVar[str] = "Slurm"
    accepted: ClassVar[re.Pattern[str]] = re.compile(r"(?m)^(\d+)")
    later: ClassVar[re.Pattern[str]] = re.compile(
        r"unable to contact|timed out|temporar|try again|MaxSubmitJob|slurm_receive|connection refused|"
        r"zero bytes|backup controller",
        re.IGNORECASE,
    )
    elsewhere: ClassVar[re.Pattern[str]] = re.compile(r"configuration source|resolve_ctls|Unknown host", re.IGNORECASE)
    hint: ClassVar[str] = ", or set SLURM_CONF"

    def submission(self, task: Task) -> list[str]:
        return ["sbatch", *options_of(task)]

    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:
        # With a backslash, nothing is filled in, and backslashes stand for what follows.
        told = str(output).replace("\\", "\\\\") if "\\" in str(output) else str(output).replace("%", "%%")
        return ["--parsable", f"--job-name={name}", f"--output={told}", f"--chdir={folder}", str(script)], ""

    def queue(self, name: str = "") -> list[Waiting] | None:
        only = [f"--name={name}"] if name else []
        done = call(["squeue", "--me", "--noheader", *only, "--format=%i %T %r"])
        if done.returncode != 0:
            return None
        jobs = [(*line.split(maxsplit=2), "", "")[:3] for line in done.stdout.splitlines() if line.strip()]
        return [Waiting(job, why if state == "PENDING" and _STUCK.match(why) else "") for job, state, why in jobs]

    def ended(self, number: str) -> Ended:
        told = call(["scontrol", "--oneliner", "show", "job", number]).stdout
        state, code = re.search(r"\bJobState=(\w+)", told), re.search(r"\bExitCode=(\d+):(\d+)", told)
        lasted = re.search(r"\bRunTime=(\S+)", told)
        if state is None and shutil.which("sacct"):
            told = call(
                ["sacct", "--noheader", "--parsable2", "-X", "-j", number, "--format=State,ExitCode,Elapsed"]
            ).stdout
            state, code = re.match(r"(\w+)", told), re.search(r"\|(\d+):(\d+)", told)
            lasted = re.search(r"\|([\d:-]+)$", told, re.MULTILINE)
        status = 1 if code is None else int(code[1]) or (128 + int(code[2]) if code[2] != "0" else 0)
        seconds = 0.0 if lasted is None else parse(lasted[1])
        word = "" if state is None else state[1]
        return Ended(_ENDS.get(word, word), status, seconds if math.isfinite(seconds) else 0.0)

    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        return ["scancel", *numbers]


def options_of(task: Task) -> list[str]:
    """Return the options of ``sbatch`` for a task.

    Examples
    --------
    >>> from evenly.launch.base import Resources
    >>> options_of(Task(("solve",), "m", ranks=64, resources=Resources(nodes=2, options={"constraint": "fast"})))
    ['--no-requeue', '--ntasks=64', '--nodes=2', '--constraint=fast']
    """
    asked = task.resources
    given = {
        "no-requeue": "",
        "ntasks": task.places,
        "nodes": asked.nodes,
        "ntasks-per-node": asked.ranks_per_node,
        "cpus-per-task": asked.cores_per_rank,
        "mem": asked.memory or None,
        "time": limit_minutes(task),
        "partition": asked.partition or None,
        "account": asked.account or None,
        "exclusive": "" if asked.exclusive else None,
    }
    return options_text([*given.items(), *asked.options.items()])
