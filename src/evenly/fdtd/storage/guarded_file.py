"""A file for HDF5 whose failures are told as what they are.

HDF5 doesn't survive a disk that is full: its files can't be closed any more, and the process crashes at its end. Here
the first failure is kept and everything after it is dropped, so that HDF5 closes the file in peace; `guarded` raises
the failure then.
"""

from __future__ import annotations

import os
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path
from typing import Any

__all__ = ["GuardedFile", "guarded"]


@contextmanager
def guarded(path: Path) -> Iterator[GuardedFile]:
    """Open a new file for HDF5; what failed is raised at the end.

    Raises
    ------
    OSError
        The first failure to write, as the system told it.

    Examples
    --------
    >>> import h5py, tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     path = Path(folder, "a.h5")
    ...     with guarded(path) as raw, h5py.File(raw, "w") as file:
    ...         file["x"] = [1, 2]
    ...     with h5py.File(path) as file:
    ...         file["x"][:].tolist()
    [1, 2]
    """
    descriptor = os.open(path, os.O_RDWR | os.O_CREAT | os.O_TRUNC, 0o666)
    file = GuardedFile(descriptor)
    try:
        yield file
    finally:
        # Some file systems tell only here that they are full.
        try:
            os.fsync(descriptor)
        except OSError as error:
            file.failure = file.failure or error
        os.close(descriptor)
    if file.failure is not None:
        raise file.failure


class GuardedFile:
    """What h5py's ``fileobj`` driver asks for, over a file descriptor.

    Parameters
    ----------
    descriptor : int
        Open for reading and writing.

    Attributes
    ----------
    failure : OSError or None
        The first thing that went wrong.
    """

    def __init__(self, descriptor: int) -> None:
        self._descriptor = descriptor
        self._at = 0
        self.failure: OSError | None = None

    def seek(self, offset: int, whence: int = os.SEEK_SET) -> int:
        """Go to an offset; beyond the end is allowed."""
        end = os.fstat(self._descriptor).st_size
        self._at = offset + {os.SEEK_SET: 0, os.SEEK_CUR: self._at, os.SEEK_END: end}[whence]
        return self._at

    def tell(self) -> int:
        """Return the offset."""
        return self._at

    def readinto(self, buffer: Any) -> int:
        """Fill `buffer`, with zeros where nothing was written (or could be)."""
        view = memoryview(buffer).cast("B")
        data = os.pread(self._descriptor, len(view), self._at)
        view[: len(data)] = data
        view[len(data) :] = bytes(len(view) - len(data))
        self._at += len(view)
        return len(view)

    def read(self, size: int) -> bytes:
        """Return `size` bytes, zeros where nothing was written."""
        data = bytearray(size)
        self.readinto(data)
        return bytes(data)

    def write(self, buffer: Any) -> int:
        """Write all of `buffer`, unless something failed before."""
        view = memoryview(buffer).cast("B")
        done = 0
        while done < len(view) and self.failure is None:
            try:
                done += os.pwrite(self._descriptor, view[done:], self._at + done)
            except OSError as error:
                self.failure = error
        self._at += len(view)
        return len(view)

    def truncate(self, size: int) -> int:
        """Set the length of the file."""
        if self.failure is None:
            try:
                os.ftruncate(self._descriptor, size)
            except OSError as error:
                self.failure = error
        return size

    def flush(self) -> None:
        """Do nothing: nothing is kept back."""
