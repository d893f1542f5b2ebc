"""How evenly writes files: a new file takes the place of an older one only when it is complete and on the disk.

So nothing that was there before is lost if the disk is full, or if the process or the machine ends meanwhile.

>>> import tempfile
>>> with tempfile.TemporaryDirectory() as folder:
...     path = Path(folder, "model.json")
...     with replacing(path) as new:
...         _ = new.write_text("{}")
...     path.read_text()
'{}'

Commands replace only what evenly wrote (`check_replaceable`), which a mark inside each file tells. From Python, a file
that the caller named is replaced.

This module needs only the standard library, so that every part of evenly may use it.
"""

from __future__ import annotations

import errno
import os
import stat
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

from evenly.errors import EvenlyWarning, InputError
from evenly.processes import left_in, marked_name

__all__ = ["MARK", "check_replaceable", "is_own", "new_beside", "put", "replacing"]

#: What pictures and packed arrays hold, so that evenly knows its files; text files begin with their format's name.
MARK = "made by evenly"
_MARKS = (
    MARK.encode(), b"Made by evenly", b"# evenly ", b'"format": "evenly', b'format = "evenly', b'content="evenly"',
    b"evenly fdtd fields ",
    b"model.jsonPK\x01\x02",  # saved models: the files in their archive
)  # fmt: skip
#: In the first line of tables, which have no room for a mark: predictions, counts of cores, proposals, listed runs.
_HEADS = (
    b"value,lower,upper,extrapolated", b"run_s,run_lower_s,run_upper_s", b"error_before,error_after",
    b"exit_code,message,last_words,took", b"exit_code,message,took",
)  # fmt: skip
# Where marks are: so many bytes at the beginning or at the end.
_NEAR = 1 << 16


@contextmanager
def replacing(path: Path | str) -> Iterator[Path]:
    r"""Give the path of a new file to write; it replaces `path` if nothing was raised meanwhile.

    Devices and pipes, such as ``/dev/null`` or ``/dev/stdout``, are written to directly. A symbolic link stays what it
    is: the file that it leads to is replaced.

    Parameters
    ----------
    path : Path or str

    Raises
    ------
    OSError
        If `path` can't be written: it is a folder or may not be changed, or the disk is full. An older file at `path`
        is then as it was.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with replacing(Path(folder, "runs.csv")) as new:
    ...         _ = new.write_text("cores\n8\n")
    ...     Path(folder, "runs.csv").read_text()
    'cores\n8\n'
    """
    part = new_beside(path)
    try:
        yield part
        put(part, path)
    except BaseException:
        if _is_file(Path(path)):
            with suppress(OSError):
                part.unlink(missing_ok=True)
        raise


def check_replaceable(paths: Iterable[Path]) -> None:
    """Refuse to replace files that evenly did not write.

    Raises
    ------
    InputError
        If there is such a file; nothing has been written then.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     _ = Path(folder, "ocean.csv").write_text("my notes")
    ...     check_replaceable([Path(folder, "atmosphere.csv"), Path(folder, "ocean.csv")])
    Traceback (most recent call last):
        ...
    evenly.errors.InputError: ...ocean.csv is there already and would be lost, since evenly did not write it: ...
    """
    for path in paths:
        if os.path.lexists(path) and not is_own(path):
            raise InputError(
                f"{path} is there already and would be lost, since evenly did not write it: move it, or name another "
                "file or folder"
            )


def is_own(path: Path) -> bool:
    """Return whether evenly wrote a file: whether it holds one of evenly's marks near its beginning or end.

    Examples
    --------
    >>> is_own(Path(os.devnull)), is_own(Path("no/such/file"))
    (False, False)
    """
    if not path.is_file():
        return False
    try:
        with path.open("rb") as file:
            begin = file.read(_NEAR)
            file.seek(max(0, path.stat().st_size - _NEAR))
            end = file.read(_NEAR)
    except OSError:
        return False
    first = begin.partition(b"\n")[0]
    return any(mark in part for mark in _MARKS for part in (begin, end)) or any(head in first for head in _HEADS)


def new_beside(path: Path | str) -> Path:
    """Return a path for the new file that `put` puts in place of `path`: a name beside it that no file has.

    What killed processes left there is removed. It is `path` itself for devices and pipes.

    Raises
    ------
    OSError
        If `path` is a folder, or a file that may not be written to.
    """
    path = Path(path)
    if not _is_file(path):
        return path
    target = path.resolve()
    if target.exists() and not os.access(target, os.W_OK):
        # To put another file in its place only takes the right to write to its folder.
        raise PermissionError(errno.EACCES, os.strerror(errno.EACCES), str(path))
    for left in left_in(target.parent):
        if left.suffix == ".part":
            left.unlink(missing_ok=True)
    # Short, whatever the target's name: both must have a length that the file system allows.
    return target.with_name(f".{marked_name()}.part")


def put(part: Path, path: Path | str) -> None:
    """Put a complete new file, at a path from `new_beside`, in place of `path`, with the permissions of the older one.

    A file that is a mount of its own, as in containers, is written in place, with a warning.

    Raises
    ------
    OSError
        If that fails; `path` is then as it was.
    """
    path = Path(path)
    if not _is_file(path):
        return
    target = path.resolve()
    _flush(part)
    with suppress(FileNotFoundError):
        part.chmod(stat.S_IMODE(target.stat().st_mode))
    try:
        part.replace(target)
    except OSError as error:
        if error.errno != errno.EBUSY:
            raise
        _write_in_place(part, target)
    # The data are safe already; not every file system lets the folder's own entry be flushed.
    with suppress(OSError):
        _flush(target.parent)


def _write_in_place(part: Path, target: Path) -> None:
    """Copy a complete file into one that can't be replaced: a file that is a mount of its own, as in containers."""
    import shutil
    import warnings

    try:
        shutil.copyfile(part, target)
        _flush(target)
    except OSError as error:
        kept = target.with_name(f"{target.name}.new-{part.name.rpartition('-')[2]}")
        part.rename(kept)
        raise InputError(
            f"{target} is a mount of its own, so it was written in place, which failed ({error.strerror or error}): it "
            f"is damaged; the complete file is {kept}"
        ) from None
    part.unlink()
    said = f"{target} is a mount of its own, so it was written in place: an end meanwhile would have damaged it"
    warnings.warn(EvenlyWarning(said), stacklevel=2)


def _is_file(path: Path) -> bool:
    """Return whether `path` is a file or nothing yet; a device or a pipe is neither.

    Raises
    ------
    IsADirectoryError
        If it is a folder.
    """
    if path.is_dir():
        raise IsADirectoryError(errno.EISDIR, os.strerror(errno.EISDIR), str(path))
    return path.is_file() or not path.exists()


def _flush(path: Path) -> None:
    number = os.open(path, os.O_RDONLY)
    try:
        os.fsync(number)
    finally:
        os.close(number)
