"""Paths on the command line: what their runs are called, why nothing was read from one, and which hold models."""

from __future__ import annotations

import zipfile
from collections.abc import Sequence
from pathlib import Path
from typing import TYPE_CHECKING

from evenly.readers.files import stem_of

if TYPE_CHECKING:
    from evenly.readers import Measurements

__all__ = ["holds_models", "name_of", "own_name", "why_unread"]


def why_unread(path: Path, found: Measurements) -> str:
    """Return why nothing was read from a given file or folder: the first error in it, or that its format isn't known.

    Examples
    --------
    >>> from evenly.readers import Measurements
    >>> why_unread(Path("nemo.log"), Measurements({}))
    'it is in no format that evenly reads'
    """
    lost = next((one for one in found.lost if one.path.is_relative_to(path)), None)
    unknown = f"{'no file in it is in a' if path.is_dir() else 'it is in no'} format that evenly reads"
    return unknown if lost is None else str(lost)


def own_name(paths: Sequence[Path], found: Measurements) -> str:
    """Return what the runs are called that no file names: as the first path that was read.

    Examples
    --------
    >>> from evenly.readers import Measurements
    >>> own_name([Path("nemo.log"), Path("ifs.csv")], Measurements({}, unread=(Path("nemo.log"),)))
    'ifs'
    """
    return name_of(next((path for path in paths if path not in found.unread), paths[0]))


def holds_models(path: Path) -> bool:
    """Tell whether a file holds models that evenly saved, by its name or by what is in it."""
    if path.suffix == ".evenly":
        return True
    if not path.is_file():  # to open a pipe would wait for its writer
        return False
    try:
        with zipfile.ZipFile(path) as packed:
            return {"model.json", "arrays.npz"} <= set(packed.namelist())
    except (OSError, zipfile.BadZipFile, NotImplementedError, ValueError):  # a damaged archive; its reader says more
        return False


def name_of(path: Path) -> str:
    """Return what a solver is called that only a file or folder names.

    Examples
    --------
    >>> name_of(Path("runs/ocean.csv.gz")), name_of(Path("models.evenly"))
    ('ocean', 'models')
    """
    name = path.resolve().name
    return (name if path.is_dir() else stem_of(path.resolve())) or name or "runs"
