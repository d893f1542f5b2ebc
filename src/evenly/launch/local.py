r"""Programs on this machine, started as they are.

>>> import sys
>>> Local().run(Task((sys.executable, "-c", "print(6 * 7)"), "answer")).output
'42\n'
"""

from __future__ import annotations

import functools
import os
import platform
import signal
import time
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from evenly.fdtd.ranks.watching import Job, end_job, follow
from evenly.launch.base import Launcher, Outcome, Task
from evenly.launch.job_numbers import job_number
from evenly.launch.submissions import left_job

if TYPE_CHECKING:
    from evenly.runs.columns import Status

__all__ = ["Local", "busy_elsewhere", "own_cores", "watched"]


@final
class Local(Launcher):
    """Starts the command unchanged, on this machine."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "the unchanged command, on this machine"
    needs_ranks: ClassVar[bool] = False
    pins: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset({"cores_per_rank"})

    def cores(self) -> frozenset[int]:
        return own_cores()

    def run(self, task: Task) -> Outcome:
        return watched(task, task.command)

    def end(self, *marks: str) -> int:
        return sum(map(end_job, marks))


def watched(task: Task, command: Sequence[str], more: Mapping[str, str] | None = None) -> Outcome:
    """Run `command` for a task, end all its processes, and return the outcome as `Launcher.run` requires."""
    began, clock, busy = time.time(), time.monotonic(), busy_elsewhere()
    with _on_cores(task.cores):
        job = follow(
            command, timeout_s=task.timeout_s, environment={**(more or {}), **task.environment}, folder=task.folder,
            echo=False, mark=task.mark,
        )  # fmt: skip
    if job.signal is not None:
        raise KeyboardInterrupt if job.signal == signal.SIGINT else SystemExit(128 + job.signal)
    status: Status = "timed out" if job.timed_out else "ok" if job.status == 0 else "failed"
    reason = ""
    if status == "ok" and (left := job.left.get("work")):
        status = "failed"
        reason = (
            f"processes of the run were still at work after its command had ended ({left}), so that its time lacks "
            "their work: let the command wait for them, as a shell does with `wait`"
        )
    elif status == "ok" and (reason := left_job(job.output + job.errors)):
        status = "failed"
    # Beside tasks on other cores, these tasks would count as others.
    others = None if task.cores else _others(busy, time.monotonic() - clock)
    return Outcome(
        status, job.status, job.output, job.errors, job.seconds, job.cpu_seconds, began, platform.node(), others,
        reason, details=_details(job),
    )  # fmt: skip


def _details(job: Job) -> dict[str, str | float]:
    """Return what else is known of a job: its memory, the processor, and the scheduler's job that it was a part of."""
    found: dict[str, str | float] = {
        "peak_memory": job.peak_memory, "cpu": _cpu_model(), "job": job_number(),
        "daemons": job.left.get("daemons", "") if job.status == 0 else "",
    }  # fmt: skip
    return {name: value for name, value in found.items() if value}


@functools.cache
def _cpu_model() -> str:
    """Return the model of this machine's processor; "" if it isn't known."""
    try:
        lines = Path("/proc/cpuinfo").read_text(encoding="utf-8", errors="replace").splitlines()
    except OSError:
        return platform.processor()
    told = (line.partition(":")[2].strip() for line in lines if line.startswith(("model name", "cpu model", "cpu\t")))
    return " ".join(next(told, "").split())


def own_cores() -> frozenset[int]:
    """Return the cores that this process may use."""
    known = getattr(os, "sched_getaffinity", None)
    return frozenset(known(0) if known else range(os.cpu_count() or 1))


@contextmanager
def _on_cores(cores: Sequence[int]) -> Iterator[None]:
    """Let what this thread starts use these cores only; a process has the cores of the thread that starts it."""
    if not cores or not hasattr(os, "sched_setaffinity"):
        yield
        return
    before = os.sched_getaffinity(0)
    os.sched_setaffinity(0, cores)
    try:
        yield
    finally:
        os.sched_setaffinity(0, before)


def busy_elsewhere() -> float | None:
    """Return the CPU seconds of all processes but this one and its ended children; None if they aren't reported.

    Only the difference of two values has a meaning.
    """
    try:
        first = Path("/proc/stat").read_text(encoding="ascii").split("\n", 1)[0].split()
    except OSError:
        return None
    # Fields: user, nice, system, idle, iowait, irq, softirq. All count as busy except idle and iowait.
    ticks = [int(x) for x in first[1:8]]
    return (sum(ticks) - ticks[3] - ticks[4]) / os.sysconf("SC_CLK_TCK") - sum(os.times()[:4])


def _others(before: float | None, seconds: float) -> float | None:
    """Return the mean number of cores that other processes have kept busy in the last seconds."""
    after = busy_elsewhere()
    return None if before is None or after is None else max(0.0, (after - before) / seconds)
