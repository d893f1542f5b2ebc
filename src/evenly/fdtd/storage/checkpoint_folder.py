"""The folder of a checkpoint, and the only code that removes something from it.

    folder/manifest.json                   what there is and where; replaced in one go, when the data are complete
    folder/data-000000040-1a2b3c4d/        one state of the simulation
        written-by-evenly.json             evenly's mark, written first: who writes here
        part-00000.npz                     arrays of rank 0, without pickled objects

A new checkpoint goes to a new data folder. When its manifest is in place, older data folders are removed. Whatever
happens, the folder holds a whole checkpoint.

Only what evenly wrote is removed: files with the names above, in a data folder that has evenly's mark. Anything else is
left where it is, and a folder that holds something else but no checkpoint is refused.
"""

from __future__ import annotations

import hashlib
import json
import re
import secrets
import shutil
import tempfile
from contextlib import suppress
from pathlib import Path
from typing import Any

from evenly.errors import InputError, ReadError
from evenly.fdtd.storage.checkpoint_files import BROKEN
from evenly.processes import is_gone, this_process
from evenly.writing import put

__all__ = ["FORMAT", "VERSION", "check_place", "commit", "discard_unnamed", "new_data", "read_manifest"]

FORMAT, VERSION = "evenly checkpoint", 2
_MANIFEST, _MARK = "manifest.json", "written-by-evenly.json"
_DATA = re.compile(r"data-[0-9]{9,}-[0-9a-f]{8}")
_PART = re.compile(r"part-[0-9]{5,}\.npz")
# Of the space that a checkpoint takes; file systems need some for themselves.
_ROOM = 1.05
# A data folder in which nobody has written for so many seconds was left by a process that was killed.
_LEFT_S = 3600.0


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
    except (ValueError, RecursionError) as error:
        raise ReadError(path, BROKEN) from error
    if not isinstance(found, dict) or found.get("format") != FORMAT:
        raise ReadError(path, "it is not that of a checkpoint: check the path")
    if found.get("version") != VERSION:
        raise ReadError(
            path,
            f"it has version {found.get('version')!r}, but this evenly reads version {VERSION}: use the evenly of it",
        )
    checksum = found.pop("checksum", None)
    if checksum != _checksum(found) or not _DATA.fullmatch(str(found.get("data"))):
        raise ReadError(path, BROKEN)
    return found


def _checksum(manifest: dict[str, Any]) -> str:
    return hashlib.sha256(json.dumps(manifest, sort_keys=True).encode()).hexdigest()


def check_place(folder: Path, needed: float, last: str | None = None) -> None:
    """Check that a checkpoint of so many bytes can be written to a folder, which is made.

    Parameters
    ----------
    folder : Path
    needed : float
        Bytes.
    last : str, optional
        The data folder that this simulation last wrote or read there: a checkpoint with another one is that of another
        job, which would be lost.

    Raises
    ------
    InputError
        The place is something else, can't be written to, is too full, or another job saves there.
    """
    if folder.exists() and not folder.is_dir():
        raise InputError(f"A checkpoint is a folder, but {folder} is a file: give another path.")
    try:
        _check_content(folder, last)
        folder.mkdir(parents=True, exist_ok=True)
        # Without a name where the system can: nothing is left if the process is killed now.
        with tempfile.TemporaryFile(dir=folder):
            pass
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


def _check_content(folder: Path, last: str | None) -> None:
    """Check that a folder holds a checkpoint, or nothing but what a killed process of evenly left."""
    entries = sorted(folder.iterdir()) if folder.is_dir() else []
    if folder / _MANIFEST in entries:
        try:
            data = read_manifest(folder)["data"]
        except ReadError as error:
            raise InputError(f"{error}. Nothing was written: give a new folder, so that nothing is lost.") from None
        if last not in (None, data):
            raise InputError(
                f"Another process saved a checkpoint to {folder} after this simulation did ({data}, not {last}): give "
                "each job a folder of its own."
            )
        return
    foreign = next((entry for entry in entries if not _is_own(entry)), None)
    if foreign is not None:
        raise InputError(
            f"{folder} is no checkpoint and not empty (it holds {foreign.name}): give a new folder, so that nothing "
            "is lost."
        )


def new_data(folder: Path, step: int) -> str:
    """Make a data folder for the state after a step; return its name.

    Raises
    ------
    OSError
        The folder can't be written to.
    """
    name = f"data-{step:09d}-{secrets.token_hex(4)}"
    (folder / name).mkdir()
    mark = {"format": FORMAT, **this_process()}
    try:
        (folder / name / _MARK).write_text(json.dumps(mark), encoding="utf-8")
    except OSError:
        _discard(folder / name)
        raise
    return name


def commit(folder: Path, manifest: dict[str, Any]) -> None:
    """Put a manifest in place of an older one, and remove the data that no manifest knows any more.

    Raises
    ------
    OSError
        The folder can't be written to; the older checkpoint is still there.
    """
    before = read_manifest(folder)["data"] if (folder / _MANIFEST).exists() else None
    # As JSON gives it back, so that the checksum is that of what is read.
    kept = json.loads(json.dumps(manifest))
    # It is made in the new data folder, where nothing can have its name.
    partial = folder / manifest["data"] / _MANIFEST
    partial.write_text(json.dumps({**kept, "checksum": _checksum(kept)}), encoding="utf-8")
    put(partial, folder / _MANIFEST)
    # The new checkpoint is complete: what can't be removed now stays until the next one.
    with suppress(OSError):
        # Times are those of the file system, whose clock need not be this machine's.
        now = (folder / _MANIFEST).stat().st_mtime
        for old in folder.glob("data-*"):
            if old.name != manifest["data"] and (old.name == before or _is_left(old, now)):
                _discard(old)


def discard_unnamed(folder: Path, data: str) -> bool:
    """Remove a new data folder after an error; return False where the manifest names it, so that it is complete."""
    try:
        named = read_manifest(folder)["data"] if (folder / _MANIFEST).exists() else None
    except (OSError, ReadError):
        return True  # nothing is certain, so nothing is removed
    if named != data:
        _discard(folder / data)
    return named != data


def _discard(data: Path) -> None:
    """Remove a data folder with evenly's mark: the files that evenly wrote, and the folder if nothing else is in it."""
    if not _is_own(data):
        return
    try:
        files = [file for file in data.iterdir() if _PART.fullmatch(file.name) or file.name == _MANIFEST]
        for file in [*files, data / _MARK]:
            file.unlink(missing_ok=True)
        data.rmdir()
    except OSError:
        # A file that can't be removed, or one of somebody else, stays.
        return


def _is_own(entry: Path) -> bool:
    """Return whether evenly made this data folder. A process that was killed may have left it without its mark."""
    if entry.is_symlink() or not entry.is_dir() or not _DATA.fullmatch(entry.name):
        return False
    try:
        if all(file.name == _MARK and file.stat().st_size == 0 for file in entry.iterdir()):
            return True
        mark = json.loads((entry / _MARK).read_text(encoding="utf-8"))
    except (OSError, ValueError):
        return False
    return isinstance(mark, dict) and mark.get("format") == FORMAT


def _is_left(data: Path, now: float) -> bool:
    """Return whether the process that made a data folder is gone, or has written nothing for long."""
    with suppress(OSError, ValueError, AttributeError):
        if is_gone(json.loads((data / _MARK).read_text(encoding="utf-8"))):
            return True
    return max((file.stat().st_mtime for file in (data, *data.glob("*")) if file.exists()), default=0.0) < now - _LEFT_S
