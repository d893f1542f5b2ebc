"""Numba's compiler, with a place for compiled code that is always found.

Compiled code is kept between processes. Numba keeps it in the package's own folders or in the user's cache folder, and
ends with an error where it can write to neither: in containers, and in installations of a cluster. Then evenly keeps it
in a private folder of the machine's temporary ones, and says so once.

Import this module only where a loop is compiled: importing numba takes longer than solving a small problem.
"""

from __future__ import annotations

import importlib.util
import os
import stat
import tempfile
import warnings
from functools import partial
from pathlib import Path
from typing import Any

from evenly.errors import EvenlyWarning

__all__ = ["njit", "njit_leaf"]

_VARIABLE = "NUMBA_CACHE_DIR"


def _choose_cache() -> None:
    """If numba can write to none of its folders, name another to it and to the processes that are started from here."""
    given = os.environ.get(_VARIABLE)
    package = Path(__file__).parent
    home = Path(os.environ.get("XDG_CACHE_HOME") or Path("~/.cache").expanduser())
    if any(_can_be_written(place) for place in ([Path(given)] if given else [package, home])):
        return
    folder = _private_folder()
    os.environ[_VARIABLE] = str(folder)
    places = given or f"{package} or {home}"
    warnings.warn(
        EvenlyWarning(
            f"nothing can be written to {places}, so compiled code is kept in {folder}: set {_VARIABLE} to a folder "
            "that lasts"
        ),
        stacklevel=2,
    )


def _can_be_written(folder: Path) -> bool:
    """Return whether a folder can be written to, or made."""
    existing = next((place for place in (folder.absolute(), *folder.absolute().parents) if place.exists()), None)
    return existing is not None and existing.is_dir() and os.access(existing, os.W_OK | os.X_OK)


def _private_folder() -> Path:
    """Return a temporary folder of this user alone, the same for all processes where that can be.

    Numba loads what it finds there, so nobody else may be able to write to it.
    """
    folder = Path(tempfile.gettempdir(), f"evenly-compiled-{os.getuid()}")
    try:
        folder.mkdir(mode=0o700, exist_ok=True)
        found = folder.lstat()
    except OSError:
        return Path(tempfile.mkdtemp(prefix="evenly-compiled-"))
    if stat.S_ISDIR(found.st_mode) and found.st_uid == os.getuid() and not found.st_mode & 0o077:
        return folder
    return Path(tempfile.mkdtemp(prefix="evenly-compiled-"))


if importlib.util.find_spec("numba") is not None:
    _choose_cache()

from numba import config, njit  # noqa: E402 - numba reads the variable when it is imported
from numba.core import caching  # noqa: E402

# It may have been imported, by somebody else, before the variable was set.
if _VARIABLE in os.environ:
    config.CACHE_DIR = os.environ[_VARIABLE]  # type: ignore[attr-defined]

# For functions that make no arrays: those they are given aren't counted as used, which several threads would wait for.
njit_leaf = partial(njit, _nrt=False)

_CACHE: Any = caching.Cache
_save_overload = _CACHE.save_overload


def _save_if_possible(cache: Any, sig: Any, data: Any) -> None:
    """Keep compiled code; where the disk is full, say so once and go on without. Other packages' code is left alone."""
    try:
        _save_overload(cache, sig, data)
    except OSError as error:
        if not cache._py_func.__module__.startswith("evenly."):
            raise
        warnings.warn(
            EvenlyWarning(f"compiled code can't be kept in {cache.cache_path}: {error.strerror or error}"), stacklevel=2
        )


_CACHE.save_overload = _save_if_possible
