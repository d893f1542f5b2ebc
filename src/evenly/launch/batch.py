"""Programs as jobs of a batch system: one job for each task, whichever system it is.

A task's folder lies beside the study, where compute nodes must see it. The job writes its outcome there
(`evenly.launch.job`), so an outcome never depends on what the scheduler still remembers. Jobs go on if evenly ends:
`run` with the same mark finds the job again, in its folder or by its name. The scheduler is asked for jobs without an
outcome only: were they cancelled, out of memory, or on a node that failed?
"""

from __future__ import annotations

import getpass
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
from abc import abstractmethod
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, replace
from pathlib import Path
from typing import TYPE_CHECKING, ClassVar

from evenly.errors import EvenlyWarning, InputError
from evenly.launch.base import SETUP_FAILED, Launcher, Outcome, Resources, Task, UnansweredError
from evenly.launch.job import claimed_by, outcome_in, queued_s, write_task
from evenly.launch.job_folders import JOB_ID, SCRIPT, noted_numbers
from evenly.launch.job_numbers import plain

if TYPE_CHECKING:
    from evenly.runs.columns import Status

__all__ = ["BatchLauncher", "Ended", "Waiting", "call", "limit_minutes", "options_text", "plain", "user"]

#: The names of the folders of tasks.
_MARKED = re.compile(r"\d+-\d+-\w+-[0-9a-f]{32}")
_OUTPUT, _STARTED = "job.out", "started"
#: How often a job is submitted whose node failed, or which the scheduler lost.
_ATTEMPTS = 3
#: How many commands submit jobs at the same time: a scheduler that is asked by hundreds at once answers none in time.
_SUBMISSIONS = 8
#: Seconds between two looks into the queue, and at a job's folder: a tenth of the time that nothing happened.
_QUEUE_S, _FOLDER_S = (2.0, 30.0), (0.1, 5.0)
#: Seconds that an outcome may take to be seen from another host, after its job left the queue.
_SEEN_S = 15.0
#: Seconds until the scheduler is asked again, if it is too busy or doesn't take more jobs now.
_AGAIN_S = 10.0
#: Seconds of a job's limit that are kept for evenly to tell that the program ran out of time.
_SPARE_S = 60.0
_ANSWERS_S = 60.0
#: What a job's output says where it took more memory than it asked for.
_OOM = re.compile(r"exceeded (?:job |step )?memory limit|oom[-_ ]kill|TERM_MEMLIMIT|job killed: v?mem", re.IGNORECASE)
#: And where it took longer.
_OVER_TIME = re.compile(r"job killed: walltime|TERM_RUNLIMIT")
#: And where a line of the user's setup failed, as `_script` says it; the exit status of its job.
_SETUP = re.compile(r"(?m)^setup failed: ")
_SETUP_STATUS = 97
_KILLED = 128 + signal.SIGKILL
#: How jobs end that wrote no outcome.
_FAULTS = {
    "out of memory": "it ran out of memory",
    "cancelled": "its job was cancelled",
    "failed": "its job failed",
    "setup failed": SETUP_FAILED,
    "completed": "its job ended without an outcome",
    "deadline": "its job reached the deadline",
    "time limit": "its job was ended at its time limit",
}
#: Ends that aren't the task's fault.
_LOST = {
    "node failed": "its node failed",
    "no boot": "its node didn't boot",
    "preempted": "its job was preempted",
    "revoked": "its job was revoked",
    "vanished": "its job vanished from the queue",
}


@dataclass(frozen=True)
class Waiting:
    """A job in the queue: its number, and why it may never start; "" if it may."""

    number: str
    stuck: str = ""


@dataclass(frozen=True)
class Ended:
    """How a job ended, as the scheduler remembers it.

    Parameters
    ----------
    how : str
        A key of the table of faults: "out of memory", "cancelled", "failed", "completed", "deadline", "time limit"; or
        of that of losses, after which the job is submitted again: "node failed", "no boot", "preempted", "revoked",
        "vanished"; or the scheduler's own word.
    exit_code : int
    seconds : float
    """

    how: str = "vanished"
    exit_code: int = 1
    seconds: float = 0.0


class BatchLauncher(Launcher):
    """Submits a job for each task, and waits for its outcome. A scheduler's own part is the five methods below."""

    needs_ranks: ClassVar[bool] = False
    outlives: ClassVar[bool] = True
    uses: ClassVar[frozenset[str]] = frozenset(Resources.__dataclass_fields__)
    #: What users call the scheduler.
    title: ClassVar[str]
    #: What the scheduler prints when it took a job: the first group is its number.
    accepted: ClassVar[re.Pattern[str]]
    #: What it prints if it may take the job later, and where there is no cluster.
    later: ClassVar[re.Pattern[str]]
    elsewhere: ClassVar[re.Pattern[str]]
    #: What else may help where the scheduler can't be reached.
    hint: ClassVar[str] = ""

    def __init__(self) -> None:
        self._queue = _Queue(self.queue, self.title)
        self._workspaces: dict[str, Path] = {}
        self._submitting = threading.Semaphore(_SUBMISSIONS)

    @abstractmethod
    def submission(self, task: Task) -> list[str]:
        """Return the command that submits a task's script, with all that is asked for."""

    @abstractmethod
    def named(self, name: str, folder: Path, output: Path, script: Path) -> tuple[list[str], str]:
        """Return what the submission takes besides: the job's name, folder, output and script; and its input."""

    @abstractmethod
    def queue(self, name: str = "") -> list[Waiting] | None:
        """Return this user's jobs in the queue, only those of a name if it is given; None if nobody answers."""

    @abstractmethod
    def ended(self, number: str) -> Ended:
        """Return how a job ended that isn't in the queue any more."""

    @abstractmethod
    def cancellation(self, numbers: Sequence[str]) -> list[str]:
        """Return the command that cancels jobs."""

    @contextmanager
    def workspace(self, mark: str, near: Path) -> Iterator[Path]:
        folder = near / mark
        folder.mkdir(parents=True, exist_ok=True, mode=0o700)
        self._workspaces[mark] = folder
        yield folder

    def clean(self, near: Path, keep: Collection[str] = ()) -> None:
        for folder in near.iterdir() if near.is_dir() else ():
            if _MARKED.fullmatch(folder.name) and folder.name not in keep:
                shutil.rmtree(folder, ignore_errors=True)
            if folder.is_symlink() and not folder.exists():  # its job was another store's
                folder.unlink(missing_ok=True)
        with suppress(OSError):
            near.rmdir()

    def forget(self, near: Path, mark: str) -> None:
        self._workspaces.pop(mark, None)
        shutil.rmtree(near / mark, ignore_errors=True)
        with suppress(OSError):  # others are there
            near.rmdir()

    def shown(self, task: Task) -> list[str]:
        return self.submission(task)

    def ends_after_s(self, task: Task) -> float | None:
        return _within_limit(task).timeout_s

    def run(self, task: Task) -> Outcome:
        if task.workspace is None:
            raise InputError(f"a task of {self.title} needs a folder that compute nodes see: give `workspace`")
        attempt = 1
        while True:
            folder = task.workspace / str(attempt)
            folder.mkdir(exist_ok=True, parents=True)
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
                end = self.ended(job)
                # What a job wrote before it ended well may be seen late here.
                if end.how not in ("completed", "vanished") or now - missing_since > _SEEN_S:
                    outcome = outcome_in(folder) or _without_outcome(end, folder)
                    break
            time.sleep(float(min(max(0.1 * (time.monotonic() - began), _FOLDER_S[0]), _FOLDER_S[1])))
        self._queue.changed()
        waited = queued_s(folder / SCRIPT, folder / _STARTED)
        details = {"job": job, **outcome.details, **({} if waited is None else {"queued_s": waited})}
        outcome = replace(outcome, details=details)
        if outcome.exit_code == _KILLED and not outcome.reason and _OOM.search(_said(folder)):
            return replace(outcome, reason=_FAULTS["out of memory"])
        return outcome

    def _job_of(self, task: Task, folder: Path) -> str:
        """Return the number of the task's job, which is submitted if there is none."""
        noted, name = folder / JOB_ID, _name(task.mark)
        if noted.exists() and (number := noted.read_text(encoding="utf-8").strip()):
            return number
        if (folder / SCRIPT).exists() and (found := claimed_by(folder) or next(iter(self._numbers(name)), None)):
            return found  # an earlier evenly submitted it, and was killed before it noted the number
        write_task(_within_limit(task), folder, self.name)
        (folder / SCRIPT).write_text(_script(task, folder), encoding="utf-8")
        number = self._submitted(task, name, folder)
        noted.write_text(number, encoding="utf-8")
        self._queue.changed()
        return number

    def _submitted(self, task: Task, name: str, folder: Path) -> str:
        more, given = self.named(name, folder, folder / _OUTPUT, folder / SCRIPT)
        command = [*self.submission(task), *more]
        while True:
            with self._submitting:
                done = call(command, given)
            if done.returncode == 0 and (found := self.accepted.search(done.stdout)):
                self._queue.submitted("; ".join(done.stderr.split("\n")).strip("; "))
                return plain(found[1])
            said = "; ".join((done.stderr.strip() or done.stdout.strip()).splitlines())
            if self.elsewhere.search(said) and not self._queue.has_answered:
                raise InputError(
                    f"{self.title} can't be reached from here ({said}): start evenly on a login node of the cluster"
                    f"{self.hint}; --launcher local runs here"
                )
            if not self.later.search(said) and not self.elsewhere.search(said):
                raise InputError(f"{self.title} doesn't take the job: {said}; the command was {' '.join(command)}")
            if re.search(r"exceed|limit reached", said, re.IGNORECASE) and self.queue() == []:
                raise InputError(f"{self.title} doesn't take the job, though you have no other: {said}")
            _say(f"{self.title} takes no job now ({said}): it is asked again")
            time.sleep(_AGAIN_S)
            # After a time-out, it may have been taken.
            if numbers := self._numbers(name):
                return numbers[0]

    def _numbers(self, name: str) -> list[str]:
        return [job.number for job in self.queue(name) or ()]

    def end(self, *marks: str) -> int:
        jobs = self.queue() if marks else []
        found = [number for mark in marks for number in self._numbers_of(mark)]
        if jobs is not None:
            there = {job.number for job in jobs}
            found = [number for number in found if number in there]
        if found:
            call(self.cancellation(found))
        until = time.monotonic() + _ANSWERS_S
        while jobs is None or {*found} & {job.number for job in jobs}:
            if time.monotonic() > until:
                raise UnansweredError(
                    f"{self.title} doesn't say that {len(marks)} runs have ended: their jobs may go on"
                )
            time.sleep(0.2)
            jobs = self.queue()
        return len(found)

    def _numbers_of(self, mark: str) -> list[str]:
        """Return the numbers of a task's jobs: those noted in its folder, else those that the scheduler knows."""
        folder = self._workspaces.get(mark)
        noted = None if folder is None else noted_numbers(folder)
        if noted is not None:
            return noted
        jobs = self.queue(_name(mark))
        if jobs is None:
            raise UnansweredError(f"{self.title} doesn't answer: the job of the run {mark} may go on")
        return [job.number for job in jobs]


class _Queue:
    """The numbers of this user's jobs in the queue; the scheduler is asked once for all that want to know."""

    def __init__(self, ask: Callable[[], list[Waiting] | None], title: str) -> None:
        self._ask, self._title = ask, title
        self._lock = threading.Lock()
        self._jobs: dict[str, str] = {}
        self._asked = self._changed = -math.inf
        self._told: set[str] = set()
        #: Whether the scheduler took a job or told the queue, so that one who doesn't answer now may do so later.
        self.has_answered = False

    def changed(self) -> None:
        """Note that a job was submitted, or has ended."""
        self._changed = time.monotonic()

    def lacks(self, number: str, since: float) -> bool:
        """Return whether a job that was in the queue at a time is certainly not in it any more."""
        with self._lock:
            now = time.monotonic()
            pause = min(max(0.1 * (now - self._changed), _QUEUE_S[0]), _QUEUE_S[1])
            if now - self._asked >= pause:
                jobs = self._ask()
                if jobs is None:
                    return False  # nobody answers now
                self._jobs, self._asked = {job.number: job.stuck for job in jobs}, now
                self.has_answered = True
            self._tell(number)
            # What it said before the job was submitted doesn't count.
            return number not in self._jobs and self._asked > since

    def _tell(self, number: str) -> None:
        """Say once why one of this campaign's jobs waits, if that may not pass by itself; the user may have others."""
        if (stuck := self._jobs.get(number)) and stuck not in self._told:
            self._told.add(stuck)
            _say(
                f"{self._title} says of job {number}: {stuck}. It may never start: [launcher] says what jobs ask for, "
                "and Ctrl-C twice cancels all"
            )

    def submitted(self, said: str) -> None:
        """Say once what the scheduler remarked when it took a job."""
        with self._lock:
            self.has_answered = True
            if said and said not in self._told:
                self._told.add(said)
                _say(f"{self._title} took the job, and said: {said}")

    def __repr__(self) -> str:
        return f"<queue of {len(self._jobs)} jobs>"


def limit_minutes(task: Task) -> int | None:
    """Return the limit to ask for: the one that is given, else the task's own and a minute more."""
    if task.resources.time_limit_s is not None:
        return math.ceil(task.resources.time_limit_s / 60)
    return None if task.timeout_s is None else math.ceil((task.timeout_s + _SPARE_S) / 60)


def options_text(given: Iterable[tuple[str, object]], dash: str = "--", between: str = "=") -> list[str]:
    """Return options as words of a command; those without a value, None, are left out, and "" is an option alone.

    Examples
    --------
    >>> options_text([("nodes", 2), ("mem", None)]), options_text([("q", "fast"), ("x", "")], "-", " ")
    (['--nodes=2'], ['-q', 'fast', '-x'])
    """
    words: list[str] = []
    for name, value in given:
        if value is None:
            continue
        if value == "":
            words.append(f"{dash}{name}")
        else:
            words += [f"{dash}{name}", str(value)] if between == " " else [f"{dash}{name}{between}{value}"]
    return words


def user() -> str:
    """Return the name of this user, whose jobs are looked for."""
    return getpass.getuser()


def _within_limit(task: Task) -> Task:
    """Return the task with a time-out that comes before the job's limit, so that the job can tell of it."""
    minutes = limit_minutes(task)
    if minutes is None:
        return task
    own = max(60 * minutes - _SPARE_S, 30 * minutes)
    return replace(task, timeout_s=own if task.timeout_s is None else min(own, task.timeout_s))


def _script(task: Task, folder: Path) -> str:
    """Return the job's script: the user's lines, each of which must succeed, and evenly's part of the job."""
    lines = ["#!/bin/bash", f": > {_quoted(str(folder / _STARTED))}"]
    for line in task.resources.setup:
        told = _quoted(f"setup failed: {line}")
        lines += [line, f"[ $? -eq 0 ] || {{ echo {told} >&2; exit {_SETUP_STATUS}; }}"]
    return "\n".join([*lines, f"exec {_quoted(sys.executable)} -m evenly.launch.job {_quoted(str(folder))}", ""])


def _say(text: str) -> None:
    warnings.warn(EvenlyWarning(text), stacklevel=3)


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "'\\''") + "'"


def _name(mark: str) -> str:
    return f"evenly-{mark}"


def _without_outcome(end: Ended, folder: Path) -> Outcome:
    """Return the outcome of a job that wrote none: the scheduler tells why."""
    said = _said(folder)
    told = {"out of memory": _OOM, "time limit": _OVER_TIME, "setup failed": _SETUP}
    # Some schedulers forget jobs at once, and then only the output tells.
    how = next((name for name, words in told.items() if words.search(said)), end.how)
    reason = {**_FAULTS, **_LOST}.get(how, f"its job ended as {how}")
    status: Status = "timed out" if how == "time limit" else "failed"
    began = (folder / SCRIPT).stat().st_mtime
    code = _SETUP_STATUS if how == "setup failed" else end.exit_code or 1
    return Outcome(status, code, "", said, end.seconds, 0.0, began, reason=reason)


def _said(folder: Path) -> str:
    """Return what the job printed outside the program: lines of its setup, and of the scheduler."""
    try:
        return (folder / _OUTPUT).read_text(encoding="utf-8", errors="replace")
    except OSError:
        return ""


def call(command: Sequence[str], given: str = "") -> subprocess.CompletedProcess[str]:
    """Call one of the scheduler's commands, in a session of its own: Ctrl-C isn't meant for it.

    Raises
    ------
    InputError
        If there is no such command.
    """
    try:
        return subprocess.run(
            command, capture_output=True, text=True, errors="replace", timeout=_ANSWERS_S, check=False,
            input=given, start_new_session=True, env={**os.environ, "LC_ALL": "C"},
        )  # fmt: skip
    except FileNotFoundError:
        raise InputError(f"the launcher needs the scheduler's commands, but there is no {command[0]} here") from None
    except subprocess.TimeoutExpired:
        return subprocess.CompletedProcess(command, 1, "", "timed out")
