"""Memory: what is free, checked before large arrays are made, and limits on what packed files unpack to.

Without these checks a wrong number (a resolution, a count of cores) or a small file that unpacks to gigabytes fills
the memory, and the system ends the process or others.
"""

from __future__ import annotations

import gc
import math
import os
import stat
import zipfile
import zlib
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import IO, TYPE_CHECKING, Any

from evenly.errors import InputError, ReadError

if TYPE_CHECKING:
    from numpy.typing import NDArray

__all__ = [
    "ARRAYS_MIB", "DAMAGE", "TEXT_MIB", "check_file", "check_room", "check_unpacked", "free_bytes", "many_objects",
    "read_array", "read_arrays", "unpacked_limit",
]  # fmt: skip

_VARIABLE = "EVENLY_UNPACK_MIB"
#: What a packed file may unpack to by default, in MiB. Text takes many times its size once it is a table.
TEXT_MIB, ARRAYS_MIB = 64, 512
#: What a damaged archive may raise beside OSError and ValueError.
DAMAGE = (EOFError, LookupError, TypeError, SyntaxError, RuntimeError, zipfile.BadZipFile, zlib.error)
#: Bytes that are there always.
_LITTLE = 16 << 20
_UNITS = ("B", "KiB", "MiB", "GiB", "TiB", "PiB")


def free_bytes() -> float:
    """Return the memory that this process may still take, in bytes; infinite where the system doesn't tell.

    Examples
    --------
    >>> free_bytes() > 0
    True
    """
    found = [math.inf]
    with suppress(OSError, ValueError, IndexError):
        lines = Path("/proc/meminfo").read_text(encoding="ascii").splitlines()
        found += [1024.0 * int(line.split()[1]) for line in lines if line.startswith("MemAvailable:")]
    with suppress(OSError, ValueError):  # a container's
        group = Path("/sys/fs/cgroup")
        used, most = (int((group / f"memory.{name}").read_text()) for name in ("current", "max"))
        # What the system keeps of files that were read is given back as soon as it is needed.
        told = dict(line.split() for line in (group / "memory.stat").read_text().splitlines())
        kept = sum(int(told.get(name, 0)) for name in ("inactive_file", "active_file"))
        found.append(float(most - used + kept))
    with suppress(ImportError, OSError, ValueError, IndexError):
        import resource

        most = resource.getrlimit(resource.RLIMIT_AS)[0]
        pages = int(Path("/proc/self/statm").read_text(encoding="ascii").split()[0])
        found += [float(most - pages * resource.getpagesize())] if most != resource.RLIM_INFINITY else []
    return max(0.0, min(found))


@contextmanager
def many_objects() -> Iterator[None]:
    """Pause Python's search for circles of garbage while many objects are made that stay.

    It would look at all of them again and again.

    Examples
    --------
    >>> with many_objects():
    ...     gc.isenabled()
    False
    >>> gc.isenabled()
    True
    """
    was_at_work = gc.isenabled()
    gc.disable()
    try:
        yield
    finally:
        if was_at_work:
            gc.enable()


def check_room(what: str, n_bytes: float, remedy: str) -> None:
    """Raise `InputError` if something needs more memory than is free.

    Parameters
    ----------
    what : str
        What needs the memory, with the numbers that the user gave.
    n_bytes : float
        How much at least, in bytes.
    remedy : str
        What to do.

    Examples
    --------
    >>> check_room("a table of counts", 8e18, "ask for fewer")  # doctest: +ELLIPSIS
    Traceback (most recent call last):
    evenly.errors.InputError: a table of counts would take at least 6.94 EiB of memory, but ... are free: ask for fewer
    """
    if n_bytes < _LITTLE:  # asking what is free takes longer than most of what is made
        return
    if n_bytes > (free := free_bytes()):
        told = f"would take at least {_readable(n_bytes)} of memory, but {_readable(free)} are free"
        raise InputError(f"{what} {told}: {remedy}")


def check_file(path: Path | str) -> Path:
    """Return the path of a file; a pipe or a device, on which reading may wait or last forever, is a `ReadError`.

    A missing file is left to those that open it.

    Examples
    --------
    >>> check_file("/dev/zero")
    Traceback (most recent call last):
    evenly.errors.ReadError: /dev/zero: a file was expected, but it is a pipe or a device: save its contents as a file
    """
    if "\0" in str(path):
        raise ReadError(repr(str(path)), "no file can have a null character in its name")
    with suppress(OSError):
        mode = Path(path).stat().st_mode
        if not (stat.S_ISREG(mode) or stat.S_ISDIR(mode)):
            raise ReadError(path, "a file was expected, but it is a pipe or a device: save its contents as a file")
    return Path(path)


def unpacked_limit(path: Path, mib: int) -> int:
    """Return how many bytes a file may unpack to: `mib` by default, and always twice its own size.

    Raises
    ------
    InputError
        If the user's limit is no number.

    Examples
    --------
    >>> unpacked_limit(Path("."), 64) >= 64 << 20
    True
    """
    told = os.environ.get(_VARIABLE, "").strip()
    if told and not (told.isascii() and told.isdecimal()):
        raise InputError(f"{_VARIABLE} must be a whole number of MiB, but is {told!r}")
    return max((int(told) if told else mib) << 20, 2 * path.stat().st_size)


def check_unpacked(path: Path, n_bytes: int, mib: int) -> None:
    """Raise `ReadError` if `n_bytes` are more than a file may unpack to; see `unpacked_limit`."""
    limit = unpacked_limit(path, mib)
    if n_bytes > limit:
        raise ReadError(
            path,
            f"it unpacks to more than {_readable(limit)}, which a damaged or malicious file may do: if it should be so "
            f"large, allow more MiB with the environment variable {_VARIABLE} (now {os.environ.get(_VARIABLE) or mib})",
        )


def read_arrays(path: Path | str, file: IO[bytes] | None = None) -> dict[str, NDArray[Any]]:
    """Return the arrays of a ``.npz`` file, or of one that is open, within the limits; no array of objects is read.

    Raises
    ------
    ReadError
        If it unpacks to more than is allowed.
    OSError, ValueError
        If it can't be read or is damaged.

    Examples
    --------
    >>> import io, numpy as np
    >>> file = io.BytesIO()
    >>> np.savez(file, x=np.arange(3))
    >>> read_arrays(".", file)
    {'x': array([0, 1, 2])}
    """
    check_file(path)
    try:
        with zipfile.ZipFile(file or path) as archive:
            entries = [entry for entry in archive.infolist() if entry.filename.endswith(".npy")]
            check_unpacked(Path(path), sum(entry.file_size for entry in entries), ARRAYS_MIB)
            return {entry.filename.removesuffix(".npy"): read_array(archive, entry.filename) for entry in entries}
    except DAMAGE as error:
        raise ValueError(str(error) or type(error).__name__) from error


def read_array(archive: zipfile.ZipFile, name: str) -> NDArray[Any]:
    """Return the array of a ``.npy`` file in an archive; its header may not promise more than there is."""
    from numpy.lib import format as npy

    entry = archive.getinfo(name)
    with archive.open(entry) as stream:  # what the header promises is allocated before anything is read
        version = npy.read_magic(stream)
        shape, _, dtype = (npy.read_array_header_1_0 if version == (1, 0) else npy.read_array_header_2_0)(stream)
        promised = math.prod(shape) * dtype.itemsize
        if promised > entry.file_size:
            raise ValueError(f"{name} promises {promised} bytes, but holds {entry.file_size}")
    with archive.open(entry) as stream:
        values: NDArray[Any] = npy.read_array(stream, allow_pickle=False)
        stream.read()  # only the end of an entry tells whether its checksum is right
        return values


def _readable(n_bytes: float) -> str:
    """Return bytes with a unit.

    Examples
    --------
    >>> _readable(1536), _readable(3 * 2**30), _readable(math.inf)
    ('1.5 KiB', '3 GiB', 'inf EiB')
    """
    for unit in _UNITS:
        if n_bytes < 1024:
            return f"{n_bytes:.3g} {unit}"
        n_bytes /= 1024
    return f"{n_bytes:.3g} EiB"
