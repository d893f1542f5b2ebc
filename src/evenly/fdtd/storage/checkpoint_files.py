"""The archives of a checkpoint, one per rank, and how ranks write and read them together."""

from __future__ import annotations

import os
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError
from evenly.memory import DAMAGE, check_file, read_array

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator

__all__ = ["BROKEN", "PartReader", "PartWriter", "part_name", "together"]

Array = NDArray[Any]
BROKEN = "it is damaged or not complete: use another checkpoint"


def part_name(rank: int) -> str:
    """Return the name of a rank's archive.

    Examples
    --------
    >>> part_name(3)
    'part-00003.npz'
    """
    return f"part-{rank:05d}.npz"


class PartWriter:
    """Writes arrays, one at a time, to an archive that `numpy.load` reads.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     with PartWriter(Path(folder) / "part.npz") as part:
    ...         part.write("a", np.arange(3))
    ...     PartReader(Path(folder) / "part.npz").read("a").tolist()
    [0, 1, 2]
    """

    def __init__(self, path: Path) -> None:
        self._file = path.open("wb")
        self._archive = zipfile.ZipFile(self._file, "w", zipfile.ZIP_STORED, allowZip64=True)

    def __enter__(self) -> Self:
        return self

    def __exit__(
        self, kind: type[BaseException] | None, error: BaseException | None, trace: TracebackType | None
    ) -> None:
        try:
            self._archive.close()
            self._file.flush()
            os.fsync(self._file.fileno())
        finally:
            self._file.close()

    def write(self, name: str, values: Array) -> None:
        """Add an array."""
        with self._archive.open(f"{name}.npy", "w", force_zip64=True) as entry:
            np.lib.format.write_array(entry, np.asarray(values), allow_pickle=False)


class PartReader:
    """Reads arrays of an archive, one at a time; each is checked against its checksum.

    Parameters
    ----------
    path : Path

    Raises
    ------
    ReadError
        It can't be read, now or later.
    """

    def __init__(self, path: Path) -> None:
        self._path = check_file(path)
        self._archive: zipfile.ZipFile = self._try(lambda: zipfile.ZipFile(path))

    def read(self, name: str) -> Array:
        """Return an array.

        Raises
        ------
        ReadError
            It isn't there or is damaged.
        """
        return np.asarray(self._try(lambda: self._read(f"{name}.npy")))

    def close(self) -> None:
        """Close the file."""
        self._archive.close()

    def _read(self, name: str) -> Array:
        return read_array(self._archive, name)

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (OSError, ValueError, *DAMAGE) as error:
            raise ReadError(self._path, f"{BROKEN} ({error})") from error


def together(communicator: Communicator, work: Callable[[], Any], what: str) -> Any:
    """Do this rank's part of something; if it fails on any rank, all raise the same error.

    Raises
    ------
    InputError
        With the ranks' own messages (a ReadError's stays one).

    Examples
    --------
    >>> from evenly.fdtd.ranks.communicators import SerialCommunicator
    >>> together(SerialCommunicator(), lambda: 3, "counting")
    3
    """
    result, problem = None, None
    try:
        result = work()
    except (OSError, InputError) as error:
        problem = error
    problems = [one for one in communicator.allgather(problem) if one is not None]
    for one in problems:
        if isinstance(one, InputError):
            raise one
    if problems:
        raise InputError(f"{what} failed: {problems[0]}. Make room or check the path, and try again.") from problems[0]
    return result
