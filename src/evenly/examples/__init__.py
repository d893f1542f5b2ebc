"""Examples that come with evenly, each a folder of small measurement files and a README."""

from __future__ import annotations

import shutil
from filecmp import cmp
from pathlib import Path

from evenly.errors import InputError
from evenly.writing import replacing

__all__ = ["copy", "names"]

_HERE = Path(__file__).parent


def names() -> list[str]:
    """Return what there is.

    Examples
    --------
    >>> names()
    ['gaussian-pulse']
    """
    return sorted(f.name.replace("_", "-") for f in _HERE.iterdir() if f.is_dir() and not f.name.startswith("__"))


def copy(name: str, folder: str | Path = ".", *, force: bool = False) -> Path:
    """Copy an example into `folder` and return where it is.

    Parameters
    ----------
    name : str
        One of `names`.
    folder : path
        Where to; made if it is missing.
    force : bool
        Write over files of an earlier copy; a folder that holds anything else is refused.

    Raises
    ------
    InputError
        If there is no such example, it is there already, or it can't be written.

    Examples
    --------
    >>> import tempfile
    >>> with tempfile.TemporaryDirectory() as folder:
    ...     sorted(path.name for path in copy("gaussian-pulse", folder).iterdir())
    ['README.md', 'inner.csv', 'outer.csv']
    """
    if name not in names():
        raise InputError(f"the example must be one of {', '.join(names())}, but got {name!r}")
    target = Path(folder) / name
    if target.exists() and not force:
        raise InputError(f"{target} is there already: remove it, or write over it with --force (force=True)")
    is_new = not target.exists()
    if not is_new:
        _check_own(target, _HERE / name.replace("-", "_"))
    try:
        shutil.copytree(_HERE / name.replace("-", "_"), target, copy_function=_copied, dirs_exist_ok=True)
    except (OSError, shutil.Error) as error:
        if is_new:
            shutil.rmtree(target, ignore_errors=True)
        raise InputError(f"the example can't be written to {target}: {error}") from None
    return target


def _check_own(target: Path, example: Path) -> None:
    """Refuse a folder that holds other files, or files of the same names none of which is the example's."""
    there = [path for path in example.iterdir() if (target / path.name).is_file()]
    is_copy = any(cmp(path, target / path.name, shallow=False) for path in there)
    foreign = sorted(path.name for path in target.iterdir() if not (example / path.name).exists())
    if foreign or (there and not is_copy):
        told = f"holds {foreign[0]}" if foreign else "is no copy of the example"
        raise InputError(f"{target} {told}, which may be yours: name another folder, or move it")


def _copied(source: str, target: str) -> str:
    with replacing(target) as new:
        shutil.copyfile(source, new)
    return target
