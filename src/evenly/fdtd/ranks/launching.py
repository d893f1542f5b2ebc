"""Starts a Python program on several MPI ranks and looks after it to its end.

The launcher is the ``mpiexec`` beside this Python (the ``mpich`` wheel's), else ``mpiexec``, ``mpirun`` or ``srun`` of
the PATH, or the one in the environment variable ``EVENLY_MPIEXEC``. Ctrl-C, SIGTERM and SIGHUP are passed on to the
ranks; whatever is left of a job that failed, ran out of time or was interrupted is killed. The launcher's own remarks
about a failing rank are dropped, so that the rank's text is seen, and once.

>>> Launcher("/usr/bin/mpirun", "openmpi").command(8, ["python", "run.py"], cores=2)
['/usr/bin/mpirun', '--oversubscribe', '-n', '8', 'python', 'run.py']
"""

from __future__ import annotations

import importlib.util
import os
import selectors
import shutil
import signal
import subprocess
import sys
import sysconfig
import threading
import time
import uuid
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import lru_cache
from pathlib import Path
from types import FrameType
from typing import IO, Any

from evenly.errors import InputError, MissingExtraError
from evenly.fdtd.ranks.launch_output import Stream, killed, without_remarks
from evenly.fdtd.ranks.launchers import without_launcher

__all__ = ["Job", "Launcher", "find_launcher", "job_processes", "launch", "launch_python"]

# How long ranks may take to end by themselves after a signal before they are killed.
GRACE_S = 5.0
MARK = "EVENLY_JOB"


@dataclass(frozen=True)
class Launcher:
    """A program that starts MPI ranks.

    Parameters
    ----------
    path : str
        Where it is.
    kind : str
        ``"hydra"`` (MPICH, Intel MPI), ``"openmpi"``, ``"srun"`` or ``"other"``.
    """

    path: str
    kind: str

    def command(self, ranks: int, program: Sequence[str], *, cores: int | None = None) -> list[str]:
        """Return the command line that starts `program` on `ranks` ranks.

        Parameters
        ----------
        ranks : int
            How many.
        program : sequence of str
            The program and its arguments.
        cores : int, optional
            Cores of this machine; those that this process may use when left out. Open MPI is told to start more ranks
            than that where it is necessary.
        """
        cores = _cores() if cores is None else cores
        crowded = ["--oversubscribe"] if self.kind == "openmpi" and ranks > cores else []
        return [self.path, *crowded, "-n", str(ranks), *program]


@dataclass(frozen=True)
class Job:
    """How a job ended.

    Parameters
    ----------
    status : int
        0 if all ranks succeeded; else the launcher's status, 124 if time ran out, 128 + number after a signal.
    output, errors : str
        What the ranks wrote to their standard output and error output; the beginning of very long texts is dropped.
    seconds : float
        From start to end.
    timed_out : bool
        Whether it was ended because time ran out.
    signal : int or None
        The signal that was passed on to it.
    """

    status: int
    output: str
    errors: str
    seconds: float
    timed_out: bool = False
    signal: int | None = None


def find_launcher() -> Launcher:
    """Return the launcher to use.

    Raises
    ------
    MissingExtraError
        If there is none; the message holds the command that installs one.
    InputError
        If ``EVENLY_MPIEXEC`` names a program that doesn't exist.

    Examples
    --------
    >>> find_launcher().kind
    'hydra'
    """
    named = os.environ.get("EVENLY_MPIEXEC")
    if named:
        path = shutil.which(named)
        if path is None:
            raise InputError(
                f"The environment variable EVENLY_MPIEXEC must name a launcher that exists, got {named!r}."
            )
        return Launcher(path, _kind(path))
    beside = os.pathsep.join([str(Path(sys.executable).parent), sysconfig.get_path("scripts")])
    candidates = [("mpiexec", beside), *((name, None) for name in ("mpiexec", "mpirun", "srun"))]
    for name, folders in candidates:
        path = shutil.which(name, path=folders)
        if path is not None:
            return Launcher(path, _kind(path))
    raise MissingExtraError("Starting several ranks", extra="mpi")


@lru_cache(maxsize=8)
def _kind(path: str) -> str:
    if Path(path).name == "srun":
        return "srun"
    try:
        run = subprocess.run([path, "--version"], capture_output=True, text=True, timeout=20, check=False)
    except (OSError, subprocess.TimeoutExpired):
        return "other"
    text = run.stdout + run.stderr
    if any(name in text for name in ("Open MPI", "OpenRTE", "PRRTE", "PRTE")):
        return "openmpi"
    return "hydra" if "HYDRA" in text or "Intel(R) MPI" in text else "other"


def _cores() -> int:
    affinity: Callable[[int], set[int]] | None = getattr(os, "sched_getaffinity", None)
    return len(affinity(0)) if affinity is not None else os.cpu_count() or 1


def launch_python(arguments: Sequence[str], ranks: int, **options: Any) -> Job:
    r"""Run a Python script, or a module after ``-m``, on `ranks` ranks; see `launch` for `options`.

    Parameters
    ----------
    arguments : sequence of str
        What would follow ``python`` on a command line: the script, or ``-m`` and the module, and their arguments.
    ranks : int
        How many.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     script = Path(folder, "hello.py")
    ...     _ = script.write_text("from evenly.fdtd import count_processors as n, master_print; master_print(n())")
    ...     launch_python([str(script)], 2, echo=False).output
    '2\n'
    """
    if importlib.util.find_spec("mpi4py") is None:
        raise MissingExtraError("Starting several ranks", extra="mpi")
    return launch([sys.executable, "-m", "evenly.fdtd.rank", *arguments], ranks, **options)


def launch(
    program: Sequence[str],
    ranks: int,
    *,
    timeout_s: float | None = None,
    environment: Mapping[str, str] | None = None,
    folder: Path | str | None = None,
    echo: bool = True,
) -> Job:
    """Run a program on `ranks` MPI ranks of this machine (or of the scheduler's allocation) and wait for its end.

    Parameters
    ----------
    program : sequence of str
        The program and its arguments.
    ranks : int
        How many; more than there are cores is allowed.
    timeout_s : float, optional
        End the job after so many seconds, with status 124.
    environment : mapping, optional
        Variables to set for the ranks besides this process' own.
    folder : Path or str, optional
        Working folder of the ranks.
    echo : bool
        Pass on to this process' output what the ranks write, as it comes; it is also collected in any case.

    Raises
    ------
    InputError
        If `ranks` is not an integer of at least 1.
    MissingExtraError
        If no launcher is installed.

    Examples
    --------
    >>> launch([sys.executable, "-c", "import sys; sys.exit(3)"], 2, echo=False).status
    3
    """
    if type(ranks) is not int or ranks < 1:
        raise InputError(f"`ranks` must be an integer of at least 1, but got {ranks!r}.")
    command = find_launcher().command(ranks, program)
    mark = uuid.uuid4().hex
    variables = {**without_launcher(os.environ), **(environment or {}), MARK: mark}
    process = subprocess.Popen(
        command,
        env=variables,
        cwd=folder,
        stdin=subprocess.DEVNULL,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        # Ctrl-C at the terminal must reach the ranks once, by the way of this process.
        start_new_session=True,
    )
    return _Watch(process, mark, timeout_s).follow(echo=echo)


class _Watch:
    """A running job: passes on its output and the signals that this process gets."""

    def __init__(self, process: subprocess.Popen[bytes], mark: str, timeout_s: float | None) -> None:
        self.process, self.mark = process, mark
        self.begin = time.monotonic()
        self.limit = None if timeout_s is None else self.begin + timeout_s
        self.kill_at: float | None = None
        self.timed_out = False
        self.signal: int | None = None
        self.killed: str | None = None

    def follow(self, *, echo: bool) -> Job:
        output = Stream(sys.stdout if echo else None, self._keep)
        errors = Stream(sys.stderr if echo else None, self._keep)
        finished = False
        try:
            with self._signals():
                self._pump({self.process.stdout: output, self.process.stderr: errors})
                self.process.wait()
            finished = self.process.returncode == 0
        finally:
            if not finished:
                _kill(self.process, self.mark)
            self._reap()
        if self.killed and self.signal is None and not self.timed_out:
            errors.feed(f"{self.killed}\n".encode())
        seconds = time.monotonic() - self.begin
        return Job(self._status(), output.text(), errors.text(), seconds, self.timed_out, self.signal)

    def _keep(self, line: str) -> str:
        self.killed = killed(line) or self.killed
        return without_remarks(line)

    def _reap(self) -> None:
        self.process.wait()
        for pipe in (self.process.stdout, self.process.stderr):
            if pipe is not None:
                pipe.close()

    def _status(self) -> int:
        if self.timed_out:
            return 124
        if self.signal is not None:
            return 128 + self.signal
        status = self.process.returncode
        return 128 - status if status < 0 else status

    def _pump(self, streams: Mapping[IO[bytes] | None, Stream]) -> None:
        with selectors.DefaultSelector() as selector:
            for pipe, stream in streams.items():
                if pipe is not None:
                    selector.register(pipe, selectors.EVENT_READ, stream)
            while selector.get_map():
                for key, _ in selector.select(0.1):
                    data = os.read(key.fd, 65536)
                    key.data.feed(data)
                    if not data:
                        selector.unregister(key.fileobj)
                self._check_time()
                if self.process.poll() is not None and not selector.select(0.5):
                    # An orphan holds the pipe open though the launcher is gone.
                    break
        for stream in streams.values():
            stream.close()

    def _check_time(self) -> None:
        now = time.monotonic()
        if self.limit is not None and now > self.limit and not self.timed_out:
            self.timed_out = True
            self._pass_on(signal.SIGTERM)
        if self.kill_at is not None and now > self.kill_at:
            _kill(self.process, self.mark)

    def _pass_on(self, number: int) -> None:
        self.kill_at = time.monotonic() + GRACE_S if self.kill_at is None else self.kill_at
        if self.process.poll() is None:
            self.process.send_signal(number)

    @contextmanager
    def _signals(self) -> Iterator[None]:
        def handle(number: int, _frame: FrameType | None) -> None:
            # Asked twice, it doesn't wait for the ranks to clean up.
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


def _kill(process: subprocess.Popen[bytes], mark: str) -> None:
    for pid in [process.pid, *job_processes(mark)]:
        # The launcher itself is only killed as long as it isn't reaped: its number may be someone else's then.
        if pid != process.pid or process.poll() is None:
            try:
                os.kill(pid, signal.SIGKILL)
            except ProcessLookupError:
                continue


def job_processes(mark: str) -> list[int]:
    """Return the processes that carry a job's mark in their environment (Linux; elsewhere none is found).

    Parameters
    ----------
    mark : str
        The value of the environment variable ``EVENLY_JOB`` that every process of a job has.

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
