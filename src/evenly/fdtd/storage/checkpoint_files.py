"""The files of a checkpoint: a folder with a manifest and, per rank, one archive of arrays.

    folder/manifest.json            what there is and where; written last, replaced in one go
    folder/data-…/part-00000.npz    arrays of rank 0, without pickled objects

A new checkpoint goes to a new data folder, and the old one is removed when the new manifest is in place: whatever
happens, the folder holds a whole checkpoint.
"""

from __future__ import annotations

import json
import os
import shutil
import zipfile
from collections.abc import Callable
from pathlib import Path
from types import TracebackType
from typing import TYPE_CHECKING, Any, Self

import numpy as np
from numpy.typing import NDArray

from evenly.errors import InputError, ReadError

if TYPE_CHECKING:
    from evenly.fdtd.ranks.communicators import Communicator

__all__ = [
    "FORMAT",
    "VERSION",
    "PartReader",
    "PartWriter",
    "check_place",
    "part_name",
    "read_manifest",
    "together",
    "write_manifest",
]

Array = NDArray[Any]
FORMAT, VERSION = "evenly checkpoint", 1
_MANIFEST = "manifest.json"
_BROKEN = "it is damaged or not complete: use another checkpoint"
# Of the space that a checkpoint takes; file systems need some for themselves.
_ROOM = 1.05


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
        self._path = path
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
        with self._archive.open(name) as entry:
            values: Array = np.lib.format.read_array(entry, allow_pickle=False)
            # Only the end of an entry tells whether its checksum is right.
            entry.read()
        return values

    def _try(self, work: Callable[[], Any]) -> Any:
        try:
            return work()
        except (OSError, KeyError, ValueError, EOFError, zipfile.BadZipFile) as error:
            raise ReadError(self._path, f"{_BROKEN} ({error})") from error


def read_manifest(folder: Path) -> dict[str, Any]:
    """Return the manifest of a checkpoint.

    Raises
    ------
    ReadError
        There is none, or it is damaged or of another format or version.
    """
    path = folder / _MANIFEST
    try:
        found = json.loads(path.read_text(encoding="utf-8"))
    except OSError as error:
        raise ReadError(folder, f"there is no checkpoint here ({error.strerror}): check the path") from error
    except ValueError as error:
        raise ReadError(path, _BROKEN) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ReadError(path, "it is not that of a checkpoint: check the path")
    if found.get("version") != VERSION:
        raise ReadError(
            path,
            f"it has version {found.get('version')!r}, but this evenly reads version {VERSION}: use the evenly of it",
        )
    return found


def write_manifest(folder: Path, manifest: dict[str, Any]) -> None:
    """Put a manifest in place of an older one, and remove the data that no manifest knows any more.

    Raises
    ------
    OSError
        The folder can't be written to; the older checkpoint is still there.
    """
    partial = folder / f"{_MANIFEST}.partial"
    with partial.open("w", encoding="utf-8") as file:
        json.dump(manifest, file)
        file.flush()
        os.fsync(file.fileno())
    partial.replace(folder / _MANIFEST)
    for old in folder.glob("data-*"):
        if old.name != manifest["data"]:
            shutil.rmtree(old, ignore_errors=True)


def check_place(folder: Path, needed: float) -> None:
    """Check that a checkpoint of so many bytes can be written to a folder, which is made.

    Raises
    ------
    InputError
        The place is something else, can't be written to, or is too full.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"A checkpoint is a folder, but {folder} is a file: give another path.")
    if folder.is_dir() and not all(p.name.startswith(("data-", _MANIFEST)) for p in folder.iterdir()):
        raise InputError(f"{folder} is no checkpoint and not empty: give a new folder, so that nothing is lost.")
    try:
        folder.mkdir(parents=True, exist_ok=True)
        probe = folder / f"data-probe-{os.getpid()}"
        probe.write_bytes(b"?")
        probe.unlink()
        free = shutil.disk_usage(folder).free
    except OSError as error:
        raise InputError(
            f"The checkpoint {folder} can't be written ({error.strerror}): give a folder that can be written to."
        ) from error
    if free < _ROOM * needed:
        raise InputError(
            f"The checkpoint {folder} needs {needed / 1e9:.3g} GB (an older one is kept until the new one is "
            f"complete), but only {free / 1e9:.3g} GB are free there: make room, or give another folder."
        )


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
