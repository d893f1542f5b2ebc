r"""Supervises a program until it ends: its output, signals to this process, a time limit, and leftover processes.

Nothing of a job is left when it has ended, nor when this process is killed (`evenly.fdtd.ranks.supervised`). Every
process of a job has the job's mark in its environment, so that those that a killed supervisor left can be found.

>>> follow(["echo", "done"], echo=False).output
'done\n'
"""

from __future__ import annotations

import os
import selectors
import signal
import sys
import threading
import time
import uuid
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import dataclass, field
from pathlib import Path
from types import FrameType
from typing import IO

from evenly.fdtd.ranks.launch_output import MARK, Death, Stream
from evenly.fdtd.ranks.launchers import without_launcher
from evenly.fdtd.ranks.supervised import Supervised

__all__ = ["Job", "end_job", "follow", "job_processes"]

# Seconds that ranks have to end by themselves after a signal; then they are killed.
GRACE_S = 5.0
# How often, in seconds, it is looked whether a rank has gone, and for how long the launcher may take to see it.
LOOK_S, SEE_S = 0.5, 2.0


@dataclass(frozen=True)
class Job:
    """The result of a job.

    Parameters
    ----------
    status : int
        0 if all ranks succeeded; 1 if one left before its script's end; else the launcher's status, 124 if time ran
        out, 128 + number after a signal.
    output, errors : str
        Standard output and error output of the ranks; the beginning of very long texts is dropped.
    seconds : float
        Duration from start to end.
    cpu_seconds : float
        CPU time of all its processes.
    peak_memory : int
        Largest memory of one of its processes, in bytes.
    timed_out : bool
        Whether the job was ended because of the time limit.
    signal : int or None
        The signal that was passed on to the job.
    remarks : str
        What the launcher said of its own troubles, which isn't among the errors.
    began : bool
        Whether a rank that uses evenly has begun.
    left : mapping of str to str
        Names of processes that it left: "work" in its own session, even if they ended soon; "daemons" in others, which
        were killed.
    """

    status: int
    output: str
    errors: str
    seconds: float
    cpu_seconds: float = 0.0
    timed_out: bool = False
    signal: int | None = None
    remarks: str = ""
    began: bool = False
    peak_memory: int = 0
    left: Mapping[str, str] = field(default_factory=dict)


def follow(
    command: Sequence[str],
    *,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | str | None = None,
    echo: bool = True,
    mark: str | None = None,
) -> Job:
    r"""Run a command on this machine, and supervise it and all processes that it starts until it ends.

    Parameters
    ----------
    command : sequence of str
        A program and its arguments.
    timeout_s, environment, folder, echo
        See `launch`.
    mark : str, optional
        The mark by which `job_processes` finds the processes; default: a new one.

    Raises
    ------
    OSError
        If the program can't be started.

    Examples
    --------
    >>> follow(["echo", "done"], echo=False).output
    'done\n'
    """
    mark = mark or uuid.uuid4().hex
    variables = {**without_launcher(os.environ), **(environment or {}), MARK: mark}
    return _Watch(Supervised(list(command), variables, folder), mark, timeout_s).follow(echo=echo)


def end_job(mark: str) -> int:
    """Kill all remaining processes of a job, and return their number.

    Parameters
    ----------
    mark : str
        See `job_processes`.

    Examples
    --------
    >>> end_job("no such job")
    0
    """
    ended: set[int] = set()
    limit = time.monotonic() + GRACE_S
    # A killed process may still exist for a moment, and may just have started another one.
    while (left := job_processes(mark)) and time.monotonic() < limit:
        for pid in left:
            with suppress(ProcessLookupError):
                os.kill(pid, signal.SIGKILL)
        ended.update(left)
        time.sleep(0.005)
    return len(ended)


class _Watch:
    """A running job: passes on its output and the signals that this process gets."""

    def __init__(self, process: Supervised, mark: str, timeout_s: float | None) -> None:
        self.process, self.mark = process, mark
        self.limit = None if timeout_s is None else process.begin + timeout_s
        self.kill_at: float | None = None
        self.timed_out = False
        self.signal: int | None = None
        self.death = Death()
        # The processes of ranks that have gone without a word, and since when.
        self.gone: set[int] = set()
        self.look_at = self.gone_at = 0.0
        self.deserted = False

    def follow(self, *, echo: bool) -> Job:
        output = Stream(sys.stdout if echo else None, self.death.keep)
        errors = Stream(sys.stderr if echo else None, self.death.keep)
        try:
            with self._signals():
                self._pump({self.process.stdout: output, self.process.stderr: errors})
        finally:
            if not self.process.close():
                end_job(self.mark)
        status = self._status()
        deserted = status == 0 or self.deserted
        reason = self.death.message() or (self.death.desertion(self.gone) if deserted else None)
        if reason and self.signal is None and not self.timed_out:
            start = "" if errors.text()[-1:] in ("", "\n") else "\n"
            errors.feed(f"{start}{reason}\n".encode())
            status = 1 if deserted else status
        seconds = self.process.end - self.process.begin
        return Job(
            status, output.text(), errors.text(), seconds, self.process.cpu_seconds, self.timed_out, self.signal,
            remarks="\n".join(self.death.remarks), began=self.death.began,
            peak_memory=self.process.peak_memory, left=self.process.left,
        )  # fmt: skip

    def _status(self) -> int:
        if self.timed_out:
            return 124
        if self.signal is not None:
            return 128 + self.signal
        status = self.process.wait()
        return 128 - status if status < 0 else status

    def _pump(self, streams: Mapping[IO[bytes], Stream]) -> None:
        with selectors.DefaultSelector() as selector:
            selector.register(self.process.report, selectors.EVENT_READ)
            for pipe, stream in streams.items():
                selector.register(pipe, selectors.EVENT_READ, stream)
            while selector.get_map():
                for key, _ in selector.select(0.1):
                    if key.data is None:
                        continue
                    data = os.read(key.fd, 65536)
                    key.data.feed(data)
                    if not data:
                        selector.unregister(key.fileobj)
                self._check_time()
                if self.process.poll() is None:
                    continue
                if self.process.report in selector.get_map():
                    selector.unregister(self.process.report)
                    # What it left may print without end.
                    self.kill_at = time.monotonic() + GRACE_S if self.kill_at is None else self.kill_at
                elif selector.get_map() and not selector.select(0.5):
                    # The program has ended, but an orphaned process still holds the pipe open.
                    break
        for stream in streams.values():
            stream.close()

    def _check_time(self) -> None:
        now = time.monotonic()
        if self.limit is not None and min(now, self.process.end) > self.limit and not self.timed_out:
            self.timed_out = True
            self._pass_on(signal.SIGTERM)
        if now > self.look_at:
            self._check_ranks(now)
        if self.kill_at is not None and now > self.kill_at:
            self.process.kill()

    def _check_ranks(self, now: float) -> None:
        """End a job of which a rank has gone without a word: MPICH's launcher may wait for it for ever."""
        self.look_at = now + LOOK_S
        gone = {pid for pid in self.death.unended() if not self._runs(pid)}
        if self.kill_at is not None or not gone:
            self.gone_at = now
        elif now > self.gone_at + SEE_S:
            self.deserted, self.gone = True, gone
            self._pass_on(signal.SIGTERM)

    def _runs(self, pid: int) -> bool:
        # A process that has ended, and wasn't waited for yet, has no environment.
        return f"{MARK}={self.mark}".encode() in _environment(Path("/proc", str(pid)))

    def _pass_on(self, number: int) -> None:
        self.kill_at = time.monotonic() + GRACE_S if self.kill_at is None else self.kill_at
        self.process.send_signal(number)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def handle(number: int, _frame: FrameType | None) -> None:
            # At the second signal, don't wait for the ranks to clean up.
            self.kill_at = None if self.signal is None else time.monotonic()
            self.signal = number
            self._pass_on(number)

        if threading.current_thread() is not threading.main_thread():
            yield
            return
        before = {n: signal.signal(n, handle) for n in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP)}
        try:
            yield
        finally:
            for number, handler in before.items():
                signal.signal(number, handler)


def job_processes(mark: str) -> list[int]:
    """Return the pids of the processes with a job's mark in their environment (on Linux; elsewhere none is found).

    Parameters
    ----------
    mark : str
        The value of the environment variable ``EVENLY_JOB`` in every process of the job.

    Examples
    --------
    >>> job_processes("no such job")
    []
    """
    wanted = f"{MARK}={mark}".encode()
    return [int(entry.name) for entry in Path("/proc").glob("[0-9]*") if wanted in _environment(entry)]


def _environment(entry: Path) -> list[bytes]:
    try:
        return (entry / "environ").read_bytes().split(b"\0")
    except OSError:
        return []
