r"""Programs on this machine, one at a time.

>>> import sys
>>> Local().run(Task((sys.executable, "-c", "print(6 * 7)"), "answer")).output
'42\n'
"""

from __future__ import annotations

import signal
from collections.abc import Sequence
from typing import ClassVar, final

from evenly.fdtd.ranks.watching import end_job, follow
from evenly.launch.base import Launcher, Outcome, Task
from evenly.runs.columns import Status

__all__ = ["Local", "watched"]


@final
class Local(Launcher):
    """Starts the command unchanged, on this machine."""

    name: ClassVar[str] = "local"
    summary: ClassVar[str] = "the unchanged command, on this machine"

    def run(self, task: Task) -> Outcome:
        return watched(task, task.command)

    def end(self, mark: str) -> int:
        return end_job(mark)


def watched(task: Task, command: Sequence[str]) -> Outcome:
    """Run `command` for a task, end all its processes, and return the outcome as `Launcher.run` requires."""
    job = follow(
        command, timeout_s=task.timeout_s, environment=task.environment, folder=task.folder, echo=False, mark=task.mark
    )
    if job.signal is not None:
        raise KeyboardInterrupt if job.signal == signal.SIGINT else SystemExit(128 + job.signal)
    status: Status = "timed out" if job.timed_out else "ok" if job.status == 0 else "failed"
    return Outcome(status, job.status, job.output, job.errors, job.seconds, job.cpu_seconds)
