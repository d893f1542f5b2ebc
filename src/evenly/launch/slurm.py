"""Programs as jobs of Slurm: one job for each task.

A task's folder lies beside the study, where compute nodes must see it. The job writes its outcome there
(`evenly.launch.job`), so an outcome never depends on what Slurm still remembers. Jobs go on if evenly ends: `run` with
the same mark finds the job again, in its folder or by its name. Slurm is asked for jobs without an outcome only: were
they cancelled, out of memory, or on a node that failed?
"""

from __future__ import annotations

import math
import os
import re
import shutil
import signal
import subprocess
import sys
import threading
import time
import warnings
from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar, final

from evenly.errors import EvenlyWarning, InputError
from evenly.launch.base import Launcher, Outcome, Resources, Task
from evenly.launch.job import claimed_by, outcome_in, write_task
from evenly.runs.durations import parse

if TYPE_CHECKING:
    from evenly.runs.columns import Status

__all__ = ["Slurm", "options_of"]

#: The names of the folders of tasks.
_MARKED = re.compile(r"\d+-\d+-\w+-[0-9a-f]{32}")
_ID, _OUTPUT, _SCRIPT = "job-id", "job.out", "job.sh"
#: How often a job is submitted whose node failed, or which Slurm lost.
_ATTEMPTS = 3
#: Seconds between two looks into the queue, and at a job's folder: a tenth of the time that nothing happened.
_QUEUE_S, _FOLDER_S = (2.0, 30.0), (0.1, 5.0)
#: Seconds that an outcome may take to be seen from another host, after its job left the queue.
_SEEN_S = 15.0
#: Seconds until Slurm is asked again, if it is too busy or doesn't take more jobs now.
_AGAIN_S = 10.0
#: Seconds of a job's limit that are kept for evenly to tell that the program ran out of time.
_SPARE_S = 60.0
_ANSWERS_S = 60.0
#: What `sbatch` says if it may take the job later.
_LATER = re.compile(
    r"unable to contact|timed out|temporar|try again|MaxSubmitJob|slurm_receive|connection refused|"
    r"zero bytes|backup controller",
    re.IGNORECASE,
)
#: What it says where there is no cluster.
_ELSEWHERE = re.compile(r"configuration source|resolve_ctls|Unknown host", re.IGNORECASE)
#: What Slurm prints where a job takes more memory than it asked for.
_OOM = re.compile(r"exceeded (?:job |step )?memory limit|oom[-_ ]kill", re.IGNORECASE)
#: Reasons of waiting jobs that time alone may not change.
_STUCK = re.compile(r"Partition|BadConstraints|Assoc|QOS|Invalid|ReqNodeNotAvail|JobHeld|Licenses|AccountNotAllowed")
_KILLED = 128 + signal.SIGKILL
_FAULTS = {
    "OUT_OF_MEMORY": "it ran out of memory",
    "CANCELLED": "its job was cancelled",
    "FAILED": "its job failed",
    "COMPLETED": "its job ended without an outcome",
    "DEADLINE": "its job reached the deadline",
    "TIMEOUT": "Slurm ended it at its time limit",
}
#: States that aren't the task's fault.
_LOST = {
    "NODE_FAIL": "its node failed",
    "BOOT_FAIL": "its node didn't boot",
    "PREEMPTED": "its job was preempted",
    "REVOKED": "its job was revoked",
    "": "its job vanished from the queue",
}


@final
class Slurm(Launcher):
    """Submits a job for each task with ``sbatch``, and waits for its outcome."""

    name: ClassVar[str] = "slurm"
    summary: ClassVar[str] = "as jobs of Slurm, one for each run"
    needs_ranks: ClassVar[bool] = False
    outlives: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset(Resources.__dataclass_fields__)

    def __init__(self) -> None:
        self._queue = _Queue()

    @contextmanager
    def workspace(self, mark: str, near: Path) -> Iterator[Path]:
        folder = near / mark
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        yield folder

    def clean(self, near: Path, keep: Collection[str] = ()) -> None:
        for folder in near.iterdir() if near.is_dir() else ():
            if _MARKED.fullmatch(folder.name) and folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)
            if folder.is_symlink() and not folder.exists():  # its job was another store's
                folder.unlink(missing_ok=True)
        with suppress(OSError):
            near.rmdir()

    def shown(self, task: Task) -> list[str]:
        return ["sbatch", *options_of(task)]

    def run(self, task: Task) -> Outcome:
        if task.workspace is None:
            raise InputError("a task of Slurm needs a folder that compute nodes see: give `workspace`")
        attempt = 1
        while True:
            folder = task.workspace / str(attempt)
            folder.mkdir(exist_ok=True)
            outcome = self._made(task, folder)
            if attempt == _ATTEMPTS or outcome.reason not in _LOST.values():
                return outcome
            attempt += 1

    def _made(self, task: Task, folder: Path) -> Outcome:
        """Make a task in a folder: submit its job, unless there is one, and wait for its outcome."""
        job = self._job_of(task, folder)
        began, missing_since = time.monotonic(), math.inf
        while (outcome := outcome_in(folder)) is None:
            # If it was submitted twice, the first to begin counts.
            if self._queue.lacks(job := claimed_by(folder) or job, began):
                now = time.monotonic()
                missing_since = min(missing_since, now)
                state, code, seconds = _state(job)
                # What a job wrote before it ended well may be seen late here.
                if state not in ("COMPLETED", "") or now - missing_since > _SEEN_S:
                    outcome = outcome_in(folder) or _without_outcome(state, code, seconds, folder)
                    break
            time.sleep(float(min(max(0.1 * (time.monotonic() - began), _FOLDER_S[0]), _FOLDER_S[1])))
        self._queue.changed()
        if outcome.exit_code == _KILLED and not outcome.reason and _OOM.search(_said(folder)):
            return replace(outcome, reason=_FAULTS["OUT_OF_MEMORY"])
        return outcome

    def _job_of(self, task: Task, folder: Path) -> str:
        """Return the number of the task's job, which is submitted if there is none."""
        noted, name = folder / _ID, _name(task.mark)
        if noted.exists() and (number := noted.read_text(encoding="ascii").strip()):
            return number
        if (folder / _SCRIPT).exists() and (found := claimed_by(folder) or next(iter(_numbers(name)), None)):
            return found  # an earlier evenly submitted it, and was killed before it noted the number
        write_task(_within_limit(task), folder)
        (folder / _SCRIPT).write_text(_script(task, folder), encoding="utf-8")
        number = self._submitted(task, name, folder)
        noted.write_text(number, encoding="ascii")
        self._queue.changed()
        return number

    def _submitted(self, task: Task, name: str, folder: Path) -> str:
        command = ["sbatch", "--parsable", f"--job-name={name}", f"--output={folder / _OUTPUT}", f"--chdir={folder}",
                   *options_of(task), str(folder / _SCRIPT)]  # fmt: skip
        while True:
            done = _call(command)
            if done.returncode == 0:
                self._queue.submitted("; ".join(done.stderr.split("\n")).strip("; "))
                return done.stdout.strip().partition(";")[0]
            said = "; ".join((done.stderr.strip() or done.stdout.strip()).splitlines())
            if _ELSEWHERE.search(said):
                raise InputError(
                    f"Slurm can't be reached from here ({said}): start evenly on a login node of the cluster, or set "
                    "SLURM_CONF; --launcher local runs here"
                )
            if not _LATER.search(said):
                raise InputError(f"Slurm doesn't take the job: {said}; the command was {' '.join(command[:-1])}")
            _say(f"Slurm takes no job now ({said}): it is asked again")
            time.sleep(_AGAIN_S)
            # After a time-out, it may have been taken.
            if found := _numbers(name):
                return found[0]

    def end(self, *marks: str) -> int:
        names = ",".join(map(_name, marks))
        found = _numbers(names) if marks else []
        if not found:
            return 0
        _call(["scancel", *found])
        until = time.monotonic() + _ANSWERS_S
        while _numbers(names) and time.monotonic() < until:
            time.sleep(0.2)
        return len(found)


class _Queue:
    """The numbers of this user's jobs in the queue; Slurm is asked once for all that want to know."""

    def __init__(self) -> None:
        self._lock = threading.Lock()
        self._numbers: frozenset[str] = frozenset()
        self._asked = self._changed = -math.inf
        self._told: set[str] = set()

    def changed(self) -> None:
        """Note that a job was submitted, or has ended."""
        self._changed = time.monotonic()

    def lacks(self, number: str, since: float) -> bool:
        """Return whether a job that was in the queue at a time is certainly not in it any more."""
        with self._lock:
            now = time.monotonic()
            pause = min(max(0.1 * (now - self._changed), _QUEUE_S[0]), _QUEUE_S[1])
            if now - self._asked >= pause:
                done = _call(["squeue", "--me", "--noheader", "--format=%i %T %r"])
                if done.returncode != 0:
                    return False  # nobody answers now
                jobs = [line.split(maxsplit=2) for line in done.stdout.splitlines()]
                self._numbers, self._asked = frozenset(job for job, *_ in jobs), now
                self._tell(jobs)
            # What it said before the job was submitted doesn't count.
            return number not in self._numbers and self._asked > since

    def _tell(self, jobs: Sequence[Sequence[str]]) -> None:
        """Say once why jobs wait, if that may not pass by itself."""
        for job, state, reason in (one for one in jobs if len(one) == 3):
            if state == "PENDING" and _STUCK.match(reason) and reason not in self._told:
                self._told.add(reason)
                _say(
                    f"Slurm says of job {job}: {reason}. It may never start: `scontrol show job {job}` tells more, "
                    "[launcher] says what jobs ask for, and Ctrl-C twice cancels all"
                )

    def submitted(self, said: str) -> None:
        """Say once what Slurm remarked when it took a job."""
        with self._lock:
            if said and said not in self._told:
                self._told.add(said)
                _say(f"Slurm took the job, and said: {said}")

    def __repr__(self) -> str:
        return f"<queue of {len(self._numbers)} jobs>"


def options_of(task: Task) -> list[str]:
    """Return the options of ``sbatch`` for a task.

    Examples
    --------
    >>> options_of(Task(("solve",), "m", ranks=64, resources=Resources(nodes=2, options={"constraint": "fast"})))
    ['--no-requeue', '--ntasks=64', '--nodes=2', '--constraint=fast']
    """
    asked, limit = task.resources, _limit_minutes(task)
    given: Mapping[str, object] = {
        "ntasks": task.ranks or 1,
        "nodes": asked.nodes,
        "ntasks-per-node": asked.ranks_per_node,
        "cpus-per-task": asked.cores_per_rank,
        "mem": asked.memory,
        "time": limit,
        "partition": asked.partition,
        "account": asked.account,
    }
    named = [f"--{name}={value}" for name, value in given.items() if value]
    others = [f"--{name}={value}" if value else f"--{name}" for name, value in asked.options.items()]
    return ["--no-requeue", *named, *(["--exclusive"] if asked.exclusive else []), *others]


def _limit_minutes(task: Task) -> int | None:
    """Return the limit to ask for: the one that is given, else the task's own and a minute more."""
    if task.resources.time_limit_s is not None:
        return math.ceil(task.resources.time_limit_s / 60)
    return None if task.timeout_s is None else math.ceil((task.timeout_s + _SPARE_S) / 60)


def _within_limit(task: Task) -> Task:
    """Return the task with a time-out that comes before the job's limit, so that the job can tell of it."""
    minutes = _limit_minutes(task)
    if minutes is None:
        return task
    own = max(60 * minutes - _SPARE_S, 30 * minutes)
    return replace(task, timeout_s=own if task.timeout_s is None else min(own, task.timeout_s))


def _script(task: Task, folder: Path) -> str:
    """Return the job's script: the user's lines, each of which must succeed, and evenly's part of the job."""
    lines = ["#!/bin/bash"]
    for line in task.resources.setup:
        told = _quoted(f"setup failed: {line}")
        lines += [line, f"[ $? -eq 0 ] || {{ echo {told} >&2; exit 97; }}"]
    return "\n".join([*lines, f"exec {_quoted(sys.executable)} -m evenly.launch.job {_quoted(str(folder))}", ""])


def _say(text: str) -> None:
    warnings.warn(EvenlyWarning(text), stacklevel=3)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _name(mark: str) -> str:
    return f"evenly-{mark}"


def _numbers(name: str) -> list[str]:
    """Return the numbers of the jobs with a name that are in the queue."""
    return _call(["squeue", "--me", "--noheader", f"--name={name}", "--format=%i"]).stdout.split()


def _state(number: str) -> tuple[str, int, float]:
    """Return a job's state, exit code and seconds, as Slurm or its accounts remember them; else "" for the state."""
    told = _call(["scontrol", "--oneliner", "show", "job", number]).stdout
    state, code = re.search(r"\bJobState=(\w+)", told), re.search(r"\bExitCode=(\d+):(\d+)", told)
    lasted = re.search(r"\bRunTime=(\S+)", told)
    if state is None and shutil.which("sacct"):
        told = _call(
            ["sacct", "--noheader", "--parsable2", "-X", "-j", number, "--format=State,ExitCode,Elapsed"]
        ).stdout
        state, code = re.match(r"(\w+)", told), re.search(r"\|(\d+):(\d+)", told)
        lasted = re.search(r"\|([\d:-]+)$", told, re.MULTILINE)
    status = 1 if code is None else int(code[1]) or (128 + int(code[2]) if code[2] != "0" else 0)
    seconds = 0.0 if lasted is None else parse(lasted[1])
    return ("" if state is None else state[1]), status, seconds if math.isfinite(seconds) else 0.0


def _without_outcome(state: str, code: int, seconds: float, folder: Path) -> Outcome:
    """Return the outcome of a job that wrote none: its state tells why."""
    said = _said(folder)
    reason = {**_FAULTS, **_LOST}.get("OUT_OF_MEMORY" if _OOM.search(said) else state, f"its job ended as {state}")
    status: Status = "timed out" if state == "TIMEOUT" else "failed"
    return Outcome(status, code or 1, "", said, seconds, 0.0, (folder / _SCRIPT).stat().st_mtime, reason=reason)


def _said(folder: Path) -> str:
    """Return what the job printed outside the program: lines of its setup, and of Slurm."""
    try:
        return (folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def _call(command: Sequence[str]) -> subprocess.CompletedProcess[str]:
    """Call one of Slurm's commands, in a session of its own: Ctrl-C isn't meant for it."""
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWERS_S, check=False,
            stdin=subprocess.DEVNULL, start_new_session=True, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except FileNotFoundError:
        raise InputError(f"the launcher slurm needs Slurm's commands, but there is no {command[0]} here") from None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "timed out")
