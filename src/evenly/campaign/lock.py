"""A lock beside a file. Only one process at a time can write to the file, also on file systems of clusters.

The lock is a small file with its holder's host and process. Its creation is atomic on local and on shared file systems.
`flock` is not used, because many shared file systems refuse it or don't tell other hosts about it.

A lock is stale if its holder ended without removing it: on this machine, if that process is gone; elsewhere, if nobody
has touched the lock for some minutes. The holder touches it twice a minute. Ages are differences of two times of the
file system, whose clock may differ from this machine's.
"""

from __future__ import annotations

import json
import os
import secrets
import tempfile
import threading
import warnings
import weakref
from pathlib import Path
from typing import Any, Self

from evenly.errors import EvenlyWarning, InputError
from evenly.processes import is_gone, this_process
from evenly.writing import new_beside

__all__ = ["FileLock", "file_system_time", "is_in_use"]

_TOUCH_S, _STALE_S = 30.0, 300.0
#: Seconds within which a stale lock is replaced, with much to spare.
_REPLACE_S = 60.0


class FileLock:
    """The right to write to a file.

    Parameters
    ----------
    path : Path
        The file. Symbolic links are followed, so that all its names share one lock.

    Raises
    ------
    InputError
        If another process holds the lock, the folder can't be written to, or the file has several hard links.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder, FileLock(Path(folder, "runs.db")) as lock:
    ...     lock.is_held()
    True
    """

    def __init__(self, path: Path) -> None:
        self.path = path.resolve()
        self._place = self.path.with_name(self.path.name + ".lock")
        self._holder = {**this_process(), "token": secrets.token_hex(8)}
        try:
            if self.path.exists() and self.path.stat().st_nlink > 1:
                raise InputError(
                    f"{path} has several hard links, so two campaigns could write to it at once: give a copy of it"
                )
            while not self._created():
                if self._take_over(path):
                    break
        except OSError as error:
            raise InputError(f"{path} can't be written: {error.strerror}") from None
        ended = threading.Event()
        # A process that forgets to release the lock does so when the lock isn't used any more, or at its end.
        self.release = weakref.finalize(self, _release, self._place, self._holder, ended)
        thread = threading.Thread(target=_touch, args=(self._place, self._holder, ended), daemon=True)
        thread.start()

    def __enter__(self) -> Self:
        return self

    def __exit__(self, *_: object) -> None:
        self.release()

    def is_held(self) -> bool:
        """Return whether the lock is still this one's: somebody may have deleted or replaced it."""
        try:
            return _read(self._place) == self._holder
        except OSError:  # a file server that doesn't answer now may answer later
            return True

    def _created(self) -> bool:
        try:
            number = os.open(self._place, os.O_WRONLY | os.O_CREAT | os.O_EXCL, 0o644)
        except FileExistsError:
            return False
        try:
            with os.fdopen(number, "w", encoding="utf-8") as file:
                json.dump(self._holder, file)
        except OSError:
            self._place.unlink(missing_ok=True)
            raise
        return True

    def _take_over(self, named: Path) -> bool:
        """Replace a stale lock; return False if there is none any more. Only one process at a time may do so."""
        guard = self._place.with_name(self._place.name + ".taking-over")
        if _age(guard) > _REPLACE_S:
            guard.unlink(missing_ok=True)
        try:
            os.close(os.open(guard, os.O_WRONLY | os.O_CREAT | os.O_EXCL))
        except FileExistsError:
            raise self._busy(named, _read(self._place)) from None
        try:
            holder = _read(self._place)
            if not self._place.exists():
                return False
            # Of a lock that was being written when its process was killed, the beginning is there.
            if self._place.read_bytes()[:1] not in (b"", b"{"):
                raise InputError(
                    f"{self._place} lies where the lock of {named} is made, but evenly did not write it: move it away"
                )
            if _is_alive(holder, self._place):
                raise self._busy(named, holder)
            # Its folder decides who may replace it: it may be another user's.
            new = new_beside(self._place.with_name(self._place.name + ".new"))
            new.write_text(json.dumps(self._holder), encoding="utf-8")
            new.replace(self._place)
        finally:
            guard.unlink(missing_ok=True)
        if holder:
            said = f"{named} was in use by {_told(holder)}, which ended without closing it: this process continues"
            warnings.warn(EvenlyWarning(said), stacklevel=5)
        return True

    def _busy(self, named: Path, holder: dict[str, Any]) -> InputError:
        return InputError(
            f"another campaign is writing to {named}: {_told(holder)}. Wait for its end, or give another file; if it "
            f"ended long ago, delete {self._place}"
        )


def is_in_use(path: Path) -> bool:
    """Return whether a process holds the lock of a file, as far as can be told."""
    place = path.resolve().with_name(path.resolve().name + ".lock")
    try:
        return place.exists() and _is_alive(_read(place), place)
    except OSError:
        return True


def _touch(place: Path, holder: dict[str, Any], ended: threading.Event) -> None:
    while not ended.wait(_TOUCH_S):
        try:
            if _read(place) == holder:
                os.utime(place)
        except OSError:
            # A file server that doesn't answer now may answer later.
            continue


def _release(place: Path, holder: dict[str, Any], ended: threading.Event) -> None:
    ended.set()
    # A child process that this one forked doesn't hold the lock.
    if os.getpid() == holder["pid"] and _read(place) == holder:
        place.unlink(missing_ok=True)


def file_system_time(folder: Path) -> float:
    """Return the time (seconds since the epoch) by the clock of the file system that a folder is on.

    Raises
    ------
    OSError
        If the folder can't be written to.

    Examples
    --------
    >>> import tempfile, time
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     abs(file_system_time(Path(folder)) - time.time()) < 5
    True
    """
    # Without a name where the system can: nothing is left if the process is killed now.
    with tempfile.TemporaryFile(dir=folder) as probe:
        return os.fstat(probe.fileno()).st_mtime


def _read(place: Path) -> dict[str, Any]:
    """Return the holder; nothing if there is no lock, or its holder is just writing it."""
    try:
        found = json.loads(place.read_text(encoding="utf-8"))
    except (FileNotFoundError, ValueError):
        return {}
    return found if isinstance(found, dict) else {}


def _age(place: Path) -> float:
    """Return for how many seconds a file hasn't been touched; 0 if there is none."""
    try:
        return file_system_time(place.parent) - place.stat().st_mtime
    except FileNotFoundError:
        return 0.0


def _is_alive(holder: dict[str, Any], place: Path) -> bool:
    gone = is_gone(holder)
    return _age(place) < _STALE_S if gone is None else not gone


def _told(holder: dict[str, Any]) -> str:
    return f"process {holder['pid']} on {holder['host']}" if {"pid", "host"} <= holder.keys() else "another process"
