"""Ends the whole job when a rank fails, with the rank's error message and a non-zero status.

Otherwise there would be a deadlock: the failed rank would wait for the others in MPI's finalisation, while they wait
for its messages. Hooks are set when a job with several ranks is detected (`parallel.world`): for uncaught exceptions in
any thread, for SIGTERM, and for ``sys.exit`` with a status other than 0. An error that evenly raises is shown by its
message, any other error with its traceback. If several ranks fail with the same message, only one of them reports it.
"""

from __future__ import annotations

import atexit
import os
import signal
import sys
import threading
import time
import traceback
from collections.abc import Callable
from pathlib import Path
from types import FrameType, TracebackType
from typing import Any, NoReturn, TextIO

from evenly.errors import EvenlyError, InputError
from evenly.fdtd.ranks.launch_output import tell_supervisor

__all__ = ["abort", "describe", "exit_status", "install", "record_exit"]

# Seconds that a failing rank waits for the same message from another rank, which then reports for both.
GRACE_S = 1.5
# Seconds that a rank waits to be ended by the rank that reports the same error.
PATIENCE_S = 3.0
# Seconds that a rank which exits with a failure waits for the others to end by themselves.
FAREWELL_S = 1.0
# Seconds that the launcher has to read the message of a failing rank.
READ_S = 2.0
_FAILED_TAG = 32_766
# Where evenly's own files are.
_PACKAGE = str(Path(__file__).parents[2])


class _Job:
    """The shared state of the hooks of this process."""

    comm: Any = None
    farewell: Callable[[], None]
    exit_status: int | None = None
    # Held while a failure is reported. A reentrant lock, because a signal may interrupt the report in the same thread.
    lock = threading.RLock()


def install(comm: Any, farewell: Callable[[], None]) -> None:
    """Set the hooks of this process; further calls do nothing.

    Parameters
    ----------
    comm : mpi4py.MPI.Intracomm
        All ranks of the job.
    farewell : callable
        Called when all ranks end their programs, or this one does without a failure; it may wait for the others.
    """
    if _Job.comm is not None:
        return
    _Job.comm, _Job.farewell = comm, farewell
    sys.excepthook = _uncaught
    threading.excepthook = _uncaught_in_thread
    _watch_exit()
    atexit.register(_at_exit)
    on_main = threading.current_thread() is threading.main_thread()
    if on_main and signal.getsignal(signal.SIGTERM) is signal.SIG_DFL:
        signal.signal(signal.SIGTERM, _terminated)


def abort(error: BaseException) -> NoReturn:
    """End all ranks of the job because of `error`; the status is that of `exit_status`.

    In a program that runs alone, `error` is raised.
    """
    if _Job.comm is None:
        raise error
    _end(describe(error), exit_status(error))


def describe(error: BaseException) -> str:
    """Return the text to print: the message of an error that evenly raises, the traceback of any other error.

    Examples
    --------
    >>> describe(InputError("`n` must be positive.")), describe(KeyboardInterrupt())
    ('`n` must be positive.', 'interrupted')
    """
    if isinstance(error, EvenlyError):
        return str(error)
    if isinstance(error, KeyboardInterrupt):
        return "interrupted"
    return "".join(traceback.format_exception(_from_the_program(error))).rstrip("\n")


def _from_the_program(error: BaseException) -> BaseException:
    """Return the error with a traceback that begins in the user's program, not in what started it."""
    trace = error.__traceback__
    while trace is not None and _is_ours(trace.tb_frame.f_code.co_filename):
        trace = trace.tb_next
    return error if trace is None else error.with_traceback(trace)


def _is_ours(file: str) -> bool:
    return file.startswith((_PACKAGE, "<frozen"))


def exit_status(error: BaseException) -> int:
    """Return the status for the shell: 2 for wrong input, 130 for Ctrl-C, 1 for anything else.

    Examples
    --------
    >>> exit_status(InputError("...")), exit_status(KeyboardInterrupt()), exit_status(ValueError())
    (2, 130, 1)
    """
    if isinstance(error, KeyboardInterrupt):
        return 128 + signal.SIGINT
    return 2 if isinstance(error, InputError) else 1


def record_exit(status: object) -> None:
    """Record the `status` that was passed to ``sys.exit``, with which the program is about to exit.

    Examples
    --------
    >>> record_exit(None)
    """
    _Job.exit_status = 0 if status is None else status if isinstance(status, int) else 1


def _uncaught(kind: type[BaseException], error: BaseException, trace: TracebackType | None) -> None:
    if _alive():
        abort(error if error.__traceback__ else error.with_traceback(trace))
    sys.__excepthook__(kind, error, trace)


def _uncaught_in_thread(arguments: threading.ExceptHookArgs) -> None:
    if arguments.exc_value is not None and arguments.exc_type is not SystemExit and _alive():
        abort(arguments.exc_value)
    threading.__excepthook__(arguments)


def _terminated(number: int, _frame: FrameType | None) -> None:
    if _alive():
        _end(f"ended by {signal.Signals(number).name}", 128 + number)
    os._exit(128 + number)


def _watch_exit() -> None:
    plain_exit = sys.exit

    def recording_exit(status: Any = None, /) -> NoReturn:
        record_exit(status)
        plain_exit(status)

    sys.exit = recording_exit


def _at_exit() -> None:
    with _Job.lock:
        # Another thread that failed holds this lock and ends the process before it releases it.
        status = _Job.exit_status
    if not _alive():
        return
    # The SystemExit may have been caught. If all ranks reach this point, no abort is needed.
    if status and not _all_end():
        _end("", status & 0xFF or 1)
    _Job.farewell()
    # Alone in the pipe, so that no launcher divides it.
    _flush()
    _until_read(sys.stderr)
    tell_supervisor(ended=_Job.comm.Get_rank())


def _all_end() -> bool:
    from mpi4py import MPI

    begin, together = time.perf_counter(), False
    try:
        everyone = _Job.comm.Ibarrier()
        while not (together := everyone.Test()) and time.perf_counter() - begin < FAREWELL_S:
            time.sleep(0.005)
    except MPI.Exception:  # another rank is in another collective operation, so it doesn't end
        return False
    return bool(together)


def _alive() -> bool:
    from mpi4py import MPI

    return _Job.comm is not None and not MPI.Is_finalized()


def _end(text: str, status: int) -> NoReturn:
    with _Job.lock:
        _flush()
        if text and not _reported_by_another(text):
            sys.stderr.write(f"rank {_Job.comm.Get_rank()} of {_Job.comm.Get_size()}: {text}\n")
            _flush()
            _until_read(sys.stderr)
        _Job.comm.Abort(status)
        os._exit(status)


def _reported_by_another(text: str) -> bool:
    """Return whether a lower rank is about to report the same text, or a higher one has; else notify the others."""
    comm, rank = _Job.comm, _Job.comm.Get_rank()
    for higher in range(rank + 1, comm.Get_size()):
        comm.isend(text, dest=higher, tag=_FAILED_TAG)
    begin = time.perf_counter()
    while not (told := _told(text)) and rank > 0 and time.perf_counter() - begin < GRACE_S:
        time.sleep(0.005)
    if told:
        # The other rank prints the text and ends the job; this rank only waits for that.
        time.sleep(PATIENCE_S)
        return True
    for lower in range(rank):
        comm.isend(text, dest=lower, tag=_FAILED_TAG)
    return False


def _told(text: str) -> bool:
    while _Job.comm.iprobe(tag=_FAILED_TAG):
        if _Job.comm.recv(tag=_FAILED_TAG) == text:
            return True
    return False


def _flush() -> None:
    for stream in (sys.stdout, sys.stderr):
        try:
            stream.flush()
        except (AttributeError, OSError, ValueError):  # it is closed, or None
            continue


def _until_read(stream: TextIO) -> None:
    """Wait until the launcher has read the text, because it drops unread text in the pipe of a rank that has ended."""
    limit = time.perf_counter() + READ_S
    while time.perf_counter() < limit and _unread(stream):
        time.sleep(0.002)
    time.sleep(0.02)


def _unread(stream: TextIO) -> bool:
    try:
        import fcntl
        import termios

        return int.from_bytes(fcntl.ioctl(stream.fileno(), termios.FIONREAD, bytes(4)), sys.byteorder) > 0
    except (AttributeError, ImportError, OSError, ValueError):
        # Not a pipe, so there is no reader to wait for.
        return False
