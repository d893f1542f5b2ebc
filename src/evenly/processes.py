"""Who made something: processes told apart on all hosts, so that what a killed process left can be found and removed.

>>> is_gone(this_process())
False
"""

from __future__ import annotations

import os
import re
import shutil
import zlib
from collections.abc import Iterator, Mapping
from contextlib import contextmanager
from functools import cache
from pathlib import Path
from typing import Any

from evenly.errors import InputError

__all__ = ["is_gone", "left_in", "marked_name", "scratch_folder", "this_process"]

_PROC = Path("/proc")
_MARKED = re.compile(r"\.?evenly-(?P<machine>[0-9a-f]{8})-(?P<pid>[0-9]+)-(?P<started>[0-9]+)-[0-9a-f]{16}(\.part)?")


def this_process() -> dict[str, Any]:
    """Return what tells this process from all others, on all hosts: host, pid, machine, and when it was started."""
    pid = os.getpid()
    return {"host": os.uname().nodename, "pid": pid, "machine": _machine(), "started": _started(pid)}


def is_gone(process: Mapping[str, Any]) -> bool | None:
    """Return whether a process (see `this_process`) has ended; None if it can't be told, as for other machines."""
    if not process.get("machine") or process["machine"] != _machine():
        return None
    began = _started(process.get("pid"))
    return not began or began != process.get("started")


def marked_name() -> str:
    """Return a new name for a temporary file or folder, by which `left_in` knows its process."""
    return f"evenly-{_short(_machine())}-{os.getpid()}-{_started(os.getpid()) or 0}-{os.urandom(8).hex()}"


def left_in(folder: Path) -> Iterator[Path]:
    """Yield what killed processes of this user and machine left in a folder, by names that `marked_name` gave.

    Examples
    --------
    >>> with scratch_folder() as folder:
    ...     (folder / marked_name()).touch()
    ...     list(left_in(folder))
    []
    """
    machine = _machine()
    try:
        entries = list(os.scandir(folder)) if machine else []
    except OSError:
        return
    for entry in entries:
        found = _MARKED.fullmatch(entry.name)
        if found is None or found["machine"] != _short(machine):
            continue
        try:
            is_own = entry.stat(follow_symlinks=False).st_uid == os.geteuid()
        except OSError:
            continue
        if is_own and is_gone({**found.groupdict(), "machine": machine}):
            yield Path(entry.path)


@contextmanager
def scratch_folder() -> Iterator[Path]:
    """Make a private temporary folder and remove it at the end, as well as those that killed processes left.

    Raises
    ------
    InputError
        If none can be made.

    Examples
    --------
    >>> with scratch_folder() as folder:
    ...     (folder / "result.json").touch()
    >>> folder.exists()
    False
    """
    import tempfile  # takes long to import

    try:
        root = Path(tempfile.gettempdir())
        for left in left_in(root):
            if left.is_dir() and not left.is_symlink():
                shutil.rmtree(left, ignore_errors=True)
        folder = root / marked_name()
        folder.mkdir(mode=0o700)
    except OSError as error:
        raise InputError(
            f"no temporary folder can be made: {error.strerror or error}; free some space, or set TMPDIR to a folder"
        ) from None
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)


def _machine() -> str:
    """Return an identifier of this boot and, in containers, of the process table; empty if the system has none."""
    try:
        boot = (_PROC / "sys/kernel/random/boot_id").read_text(encoding="ascii").strip()
        return f"{boot} {(_PROC / 'self/ns/pid').readlink()}"
    except OSError:
        return "" if _PROC.exists() else _hardware()


@cache
def _hardware() -> str:
    """Return an identifier of a machine without /proc, as macOS: its name and network address; empty without one."""
    import uuid  # needed on such systems only

    node = uuid.getnode()
    made_up = node >> 40 & 1
    return "" if made_up else f"{os.uname().nodename} {node:012x}"


def _short(machine: str) -> str:
    return f"{zlib.crc32(machine.encode()):08x}"


def _started(pid: object) -> str:
    """Return a number that tells when a process of this machine began; empty if it isn't there."""
    try:
        # Field 22; the second, the program's name in parentheses, may hold spaces. In clock ticks since boot.
        return (_PROC / f"{pid}/stat").read_text(encoding="utf-8", errors="replace").rpartition(")")[2].split()[19]
    except (OSError, IndexError):
        return "" if _PROC.exists() else _asked(pid)


def _asked(pid: object) -> str:
    """Return the same on a system without /proc: from `ps`, or 1 for a process that is there where that is missing."""
    import subprocess  # needed on such systems only

    try:
        os.kill(int(str(pid)), 0)
    except PermissionError:
        pass  # another user's
    except (OSError, ValueError, OverflowError):
        return ""
    plain = {**os.environ, "LC_ALL": "C", "TZ": "UTC0"}
    try:
        told = subprocess.run(
            ["ps", "-o", "lstart=", "-p", str(pid)], env=plain, capture_output=True, timeout=10, check=False
        )
    except (OSError, subprocess.TimeoutExpired):
        return "1"
    return str(zlib.crc32(told.stdout.strip())) if told.stdout.strip() else "1"
