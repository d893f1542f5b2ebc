r"""A program whose processes all end with it, with its driver, or when the driver asks, however they were started.

Between this process, the driver, and the program stands a small supervisor (`evenly.fdtd.ranks.supervisor`).

>>> program = Supervised(["echo", "done"], {"PATH": "/usr/bin:/bin"})
>>> program.stdout.read(), program.wait(), program.close()
(b'done\n', 0, True)
"""

from __future__ import annotations

import errno
import marshal
import math
import os
import select
import signal
import subprocess
import sys
import time
from collections.abc import Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import IO, cast

from evenly.fdtd.ranks import supervisor

__all__ = ["Supervised"]


class Supervised:
    """A running program.

    Parameters
    ----------
    command : sequence of str
        The program and its arguments.
    environment : mapping of str to str
        All its environment variables.
    folder : Path or str, optional
        Its working folder; by default that of this process.

    Attributes
    ----------
    stdout, stderr : binary streams
        What the program prints.
    report : int
        A file descriptor that can be read when the program has ended.
    begin, end : float
        When the program was started and when it ended (infinite while it runs), in seconds of the monotonic clock.
    returncode : int or None
        Its status; -n after signal n; None while it runs.
    cpu_seconds : float
        CPU time of all its processes, known after `close`.
    left : dict of str to str
        Names of the processes that were killed, known after `close`: of its session ("work"), and others ("daemons").
    peak_memory : int
        Largest memory of one of its processes, in bytes, known after `close`; a program smaller than the supervisor
        (some 10 MB) counts as large as that.

    Raises
    ------
    OSError
        If the program can't be started.
    ValueError
        If the command or the environment contains a null character.
    """

    def __init__(
        self, command: Sequence[str], environment: Mapping[str, str], folder: Path | str | None = None
    ) -> None:
        self.returncode: int | None = None
        self.end = math.inf
        self.cpu_seconds, self.peak_memory = 0.0, 0
        self.left: dict[str, str] = {}
        self._told, self._is_certain = b"", False
        order = marshal.dumps((
            [os.fsencode(word) for word in command],
            {os.fsencode(name): os.fsencode(value) for name, value in environment.items()},
            None if folder is None else os.fsencode(folder),
        ))  # fmt: skip
        self.report, report = os.pipe()
        try:
            self._supervisor = _start(report)
        except BaseException:
            os.close(self.report)
            raise
        finally:
            os.close(report)
        pipes = self._supervisor.stdin, self._supervisor.stdout, self._supervisor.stderr
        self._orders, self.stdout, self.stderr = (cast("IO[bytes]", pipe) for pipe in pipes)
        try:
            self._order(len(order).to_bytes(8, "little") + order)
            self.begin = _begun(self._line(), command[0], folder)
        except BaseException:
            self.close()
            raise

    def _order(self, data: bytes) -> None:
        # Without a buffer: this may be called from a handler of a signal, while this is at work.
        while data:
            data = data[os.write(self._orders.fileno(), data) :]

    def _line(self) -> list[str]:
        """Return the words of the supervisor's next line; none if there is no further one."""
        while b"\n" not in self._told:
            new = os.read(self.report, 65536)
            if not new:
                return []
            self._told += new
        line, _, self._told = self._told.partition(b"\n")
        return line.decode("utf-8", "replace").split(" ", maxsplit=3)

    def _note(self, line: list[str]) -> None:
        match line:
            case ["ended", status, when]:
                self.returncode, self.end = int(status), float(when)
            case ["left", kind, names]:
                self.left[kind] = names
            case ["gone", seconds, certain, peak]:
                self.cpu_seconds, self._is_certain, self.peak_memory = float(seconds), certain == "1", int(peak)
            case [] if self.returncode is None:
                self.returncode, self.end = -signal.SIGKILL, time.monotonic()

    def poll(self) -> int | None:
        """Return the program's status; None if it is running."""
        if self.returncode is None and (self._told or select.select([self.report], [], [], 0)[0]):
            self._note(self._line())
        return self.returncode

    def wait(self) -> int:
        """Wait until the program has ended, and return its status."""
        while self.returncode is None:
            self._note(self._line())
        return self.returncode

    def send_signal(self, number: int) -> None:
        """Send a signal to the program's first process, if it is running."""
        with suppress(OSError, ValueError):
            self._order(bytes([number]))

    def kill(self, *, soon: bool = False) -> None:
        """Kill all processes that are left; or soon, so that they may end by themselves before."""
        with suppress(OSError, ValueError):
            self._order(bytes([supervisor.NOTHING_LEFT_SOON if soon else supervisor.NOTHING_LEFT]))
        with suppress(OSError):
            self._orders.close()

    def close(self) -> bool:
        """Kill all processes that are left, and wait for that. After a program that ended well, they get a moment.

        Returns
        -------
        bool
            False if processes may be left: the supervisor itself was killed, or the system isn't Linux.
        """
        self.kill(soon=self.returncode == 0)
        while line := self._line():
            self._note(line)
        self._note([])
        self._supervisor.wait()
        self.stdout.close()
        self.stderr.close()
        os.close(self.report)
        return self._is_certain


def _start(report: int) -> subprocess.Popen[bytes]:
    # Isolated and without site-packages: it starts sooner, and nothing of the user's changes it. In a session of its
    # own, Ctrl-C at the terminal doesn't reach it.
    return subprocess.Popen(
        [sys.executable, "-I", "-S", supervisor.__file__, str(report)],
        stdin=subprocess.PIPE,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        bufsize=0,
        pass_fds=[report],
        start_new_session=True,
    )


def _begun(line: list[str], program: str, folder: Path | str | None) -> float:
    """Return when the program began; raise what `subprocess` raises if it can't be started."""
    match line:
        case ["started", when]:
            return float(when)
        case ["refused", "0", _, text]:
            raise ValueError(text)
        case ["refused", number, where, _]:
            raise OSError(int(number), os.strerror(int(number)), str(folder) if where == "1" else program)
    raise OSError(errno.ECANCELED, "its supervisor was killed", program)
