"""A small program that starts a job, and kills all processes of it as soon as its driver is gone or asks for it.

`evenly.fdtd.ranks.supervised` starts it by its path. It imports only a few modules of the standard library, so it
starts fast. On Linux it becomes the parent of every process of the job that has lost its own parent, even of
one in a session of its own and with an empty environment. So it finds all of them among its descendants. On other
systems it kills the job's process group.

Standard input: the order (8 bytes of length, then what to run, by `marshal`), then one byte for each signal that the
job's first process gets. A byte 0 means that nothing is to be left; so does the end of standard input, since the driver
is gone then. A byte 255 means the same, a moment later: what the job started may end by itself.

The file descriptor in the first argument takes lines: ``started TIME`` or ``refused ERRNO WHERE TEXT``, then
``ended STATUS TIME``, then ``left work NAMES`` if processes of the job's own session went on after its first one, or
had to be killed, and ``left daemons NAMES`` if others had to be, then ``gone CPU_SECONDS CERTAIN PEAK``, with 1 where
certainly nothing is left, and the largest memory of one process (bytes). Times are those of the monotonic clock.
"""

import marshal
import os
import select
import signal
import sys
import time
from collections.abc import Callable, Iterator, Mapping

# Seconds after which processes that can't be killed are given up.
GIVE_UP_S = 5.0
# The byte that asks for the end of all processes. The end of standard input alone doesn't do: if the driver forked, the
# new process holds a copy of its other side.
NOTHING_LEFT = 0
# The byte that asks for the same, but lets processes end by themselves for so many seconds, as daemons of MPI do.
NOTHING_LEFT_SOON, _SOON_S = 255, 1.0
# Processes that live on for so many seconds, and for this share of the job's time, do work that its time lacks.
_BRIEFLY_S, _SHARE = 0.05, 0.01
# Seconds between two checks that the driver is still the parent. The end of standard input may be missed: another
# process may hold a copy of its other side, if the driver forked without a new program.
_CHECK_S = 1.0
_SET_PARENT_DEATH_SIGNAL, _SET_CHILD_SUBREAPER = 1, 36
_ON_LINUX = sys.platform == "linux"
# Bytes of the unit in which the system tells how large a process was.
_MEMORY_UNIT = 1 if sys.platform == "darwin" else 1024


class _Job:
    """The job's processes, and the pipe that wakes this process when one of them ends."""

    def __init__(self, report: int) -> None:
        self.report, self.child, self.ended, self.cpu_s, self.peak = report, 0, False, 0.0, 0
        self.patience_s = 0.0
        self.began, self.look_at = 0.0, float("inf")
        self.left: dict[str, set[str]] = {"work": set(), "daemons": set()}
        os.set_inheritable(report, False)
        self.wake, woken = os.pipe()
        os.set_blocking(woken, False)
        signal.set_wakeup_fd(woken, warn_on_full_buffer=False)
        # Handlers that do nothing: an ignored signal would be ignored in the job, too. This process outlives them.
        for number in (signal.SIGINT, signal.SIGTERM, signal.SIGHUP):
            if signal.getsignal(number) is not signal.SIG_IGN:
                signal.signal(number, lambda *_: None)
        # Where the driver ignores the ends of its children, the system would take those of this one away.
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def tell(self, text: str) -> None:
        try:
            os.write(self.report, f"{text}\n".encode())
        except OSError:
            return  # the driver is gone

    def start(self) -> bool:
        """Start the job's first process; return False if it can't be started."""
        length = int.from_bytes(_read(8), "little")
        command, environment, folder = marshal.loads(_read(length))  # noqa: S302 - from evenly's own process
        control = _control()
        control(_SET_CHILD_SUBREAPER, 1)
        answered, answer = os.pipe()
        self.child = os.fork()
        if self.child == 0:
            _become(command, environment, folder, control, answer)
        os.close(answer)
        with os.fdopen(answered, encoding="utf-8") as pipe:
            begin, _, refusal = pipe.read().replace("\n", " ").partition("!")
        if begin:
            begin, used = begin.split()
            self.began = float(begin)
            self.cpu_s -= float(used)
        self.tell(f"refused {refusal}" if refusal else f"started {begin}")
        # The job's output ends when the job's processes have closed it.
        nowhere = os.open(os.devnull, os.O_RDWR)
        os.dup2(nowhere, 1)
        os.dup2(nowhere, 2)
        return not refusal

    def watch(self) -> None:
        """Return when the driver is gone, or wants nothing to be left."""
        driver, poll = os.getppid(), select.poll()
        poll.register(0, select.POLLIN)
        poll.register(self.wake, select.POLLIN)
        while os.getppid() == driver:
            wait_s = min(_CHECK_S, max(0.0, self.look_at - time.monotonic()))
            ready = [number for number, _ in poll.poll(wait_s * 1000)]
            self.reap()
            self.look()
            if 0 in ready:
                signals = os.read(0, 64)
                if not signals:
                    return
                for number in signals:
                    self.patience_s = _SOON_S if number == NOTHING_LEFT_SOON else 0.0
                    if number in (NOTHING_LEFT, NOTHING_LEFT_SOON):
                        return
                    self.pass_on(number)

    def pass_on(self, number: int) -> None:
        # After it is reaped, its pid may belong to another process.
        if not self.ended:
            _send(os.kill, self.child, number)

    def reap(self) -> bool:
        """Note which children have ended, and how; return whether there are others."""
        now = time.monotonic()
        if select.select([self.wake], [], [], 0)[0]:
            os.read(self.wake, 4096)
        while True:
            try:
                pid, status, used = os.wait4(-1, os.WNOHANG)
            except ChildProcessError:
                return False
            if pid == 0:
                return True
            self.cpu_s += used.ru_utime + used.ru_stime
            self.peak = max(self.peak, used.ru_maxrss * _MEMORY_UNIT)
            if pid == self.child:
                self.ended = True
                # At most as long as processes may take to end by themselves.
                self.look_at = now + min(_SOON_S, max(_BRIEFLY_S, _SHARE * (now - self.began)))
                self.tell(f"ended {os.waitstatus_to_exitcode(status)} {now!r}")

    def kill(self) -> None:
        """Kill what is left. A killed process's children become children of this one, so that none can escape."""
        patient, poll = time.monotonic() + self.patience_s, select.poll()
        poll.register(self.wake, select.POLLIN)
        while self.reap() and time.monotonic() < patient:
            poll.poll(20)
            self.look()
        if self.reap() and _ON_LINUX:
            self.find_left("work", "daemons")
        for kind, names in self.left.items():
            if names:
                self.tell(f"left {kind} {','.join(sorted(names))}")
        limit = time.monotonic() + GIVE_UP_S
        if self.child and not _ON_LINUX:
            _send(os.killpg, self.child, signal.SIGKILL)  # the first process may have ended before others
        while self.reap() and time.monotonic() < limit:
            for kill, pid in [(os.kill, pid) for pid in _descendants()] if _ON_LINUX else [(os.killpg, self.child)]:
                _send(kill, pid, signal.SIGKILL)
            poll.poll(20)
        self.tell(f"gone {self.cpu_s!r} {int(_ON_LINUX and not self.reap())} {self.peak}")

    def look(self) -> None:
        """Once, a moment after the first process ended, find those that work on, as they may end by themselves."""
        if time.monotonic() >= self.look_at:
            self.look_at = float("inf")
            if _ON_LINUX and self.reap():
                self.find_left("work")

    def find_left(self, *kinds: str) -> None:
        """Note the names of processes that are there still. Daemons are in sessions of their own."""
        own = set(_descendants())
        for number, name, (state, _, _, session, *_) in _processes():
            kind = "work" if session == str(self.child) else "daemons"
            if number in own and state != "Z" and kind in kinds:
                self.left[kind].add("_".join(name.split()))


def _read(length: int) -> bytes:
    data = b""
    while len(data) < length:
        new = os.read(0, length - len(data))
        if not new:
            sys.exit(1)
        data += new
    return data


def _send(kill: Callable[[int, int], None], pid: int, number: int) -> None:
    try:
        kill(pid, number)
    except (ProcessLookupError, PermissionError):
        return


def _control() -> Callable[[int, int], object]:
    """Return Linux's ``prctl``; where there is none, a function that does nothing."""
    try:
        import ctypes

        found = ctypes.CDLL(None).prctl if _ON_LINUX else None
    except (ImportError, OSError, AttributeError):
        found = None
    return lambda option, value: found(option, value, 0, 0, 0) if found else None


def _become(
    command: list[bytes],
    environment: Mapping[bytes, bytes],
    folder: bytes | None,
    control: Callable[[int, int], object],
    answer: int,
) -> None:
    """In the new process: run the job's program instead of this one."""
    where = 0
    try:
        os.setsid()
        # If the supervisor itself is killed, the first process ends with it at least.
        control(_SET_PARENT_DEATH_SIGNAL, int(signal.SIGKILL))
        # Python ignores these.
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        signal.signal(signal.SIGXFSZ, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        if folder is not None:
            where = 1
            os.chdir(folder)
            where = 0
        # What came before is no part of the job's time: neither is what Python imports at the first such call.
        os.get_exec_path()
        os.write(answer, f"{time.monotonic()!r} {time.process_time()!r}".encode())
        os.execvpe(command[0], command, environment)  # noqa: S606 - no shell is wanted
    except (OSError, ValueError) as error:
        os.write(answer, f"!{getattr(error, 'errno', None) or 0} {where} {error}".encode("utf-8", "replace"))
    finally:
        os._exit(127)


def _processes() -> Iterator[tuple[int, str, list[str]]]:
    """Yield the number, the name and the other fields (state, parent, group, session, …) of all processes."""
    for name in os.listdir("/proc"):  # noqa: PTH208 - importing pathlib takes too long
        if name.isdigit():
            try:
                with open(f"/proc/{name}/stat", encoding="utf-8", errors="replace") as file:  # noqa: PTH123
                    # The second field, the program's name in parentheses, may hold spaces.
                    told, _, fields = file.read().rpartition(")")
            except OSError:
                continue
            yield int(name), told.partition("(")[2], fields.split()


def _descendants() -> list[int]:
    children: dict[int, list[int]] = {}
    for number, _, fields in _processes():
        children.setdefault(int(fields[1]), []).append(number)
    found: list[int] = []
    new = [os.getpid()]
    while new:
        new = [child for parent in new for child in children.get(parent, ())]
        found += new
    return found


def main() -> None:
    """Start the job, watch it, and kill what is left of it."""
    job = _Job(int(sys.argv[1]))
    try:
        if job.start():
            job.watch()
    finally:
        job.kill()
        # At once: the driver waits.
        os._exit(0)


if __name__ == "__main__":
    main()
