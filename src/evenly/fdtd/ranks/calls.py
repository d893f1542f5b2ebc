"""What a rank is calling, and where in the user's script: to compare it with the other ranks' calls, and to name it.

>>> plain((0.1, 0, 0))
'(0.1, 0, 0)'
"""

from __future__ import annotations

import inspect
import itertools
import os
import sys
import sysconfig
from collections.abc import Callable, Iterator
from contextlib import suppress
from functools import wraps
from pathlib import Path
from types import FrameType
from typing import Any, ParamSpec, TypeVar

import numpy as np

__all__ = ["collective", "internal_place", "plain", "this_line", "this_wait"]

P = ParamSpec("P")
R = TypeVar("R")

_PACKAGE = str(Path(__file__).parents[2]) + os.sep
_LIBRARY = sysconfig.get_path("stdlib") + os.sep
# Frames that say nothing about which call it is.
_MACHINERY = (
    *(str(Path(__file__).with_name(name)) for name in ("calls.py", "communicators.py", "lookout.py")),
    _PACKAGE + "arguments.py",
)
# More elements than a point or a list of components has aren't compared.
_MOST = 64


def collective(*compared: str) -> Callable[[Callable[P, R]], Callable[P, R]]:
    """Make a method agree with the other ranks, before it begins, on its name and on the arguments of these names.

    The method's object must have a `communicator`.

    Examples
    --------
    >>> from evenly.fdtd.ranks.communicators import SerialCommunicator
    >>> class Cell:
    ...     communicator = SerialCommunicator()
    ...
    ...     @collective("until")
    ...     def run(self, until, progress):
    ...         return until
    >>> Cell().run(5.0, progress="off")
    5.0
    """

    def decorate(method: Callable[P, R]) -> Callable[P, R]:
        signature = inspect.signature(method)

        @wraps(method)
        def agreed(*args: P.args, **kwargs: P.kwargs) -> R:
            communicator = args[0].communicator  # type: ignore[attr-defined]
            if communicator.size > 1:
                given = signature.bind(*args, **kwargs)
                given.apply_defaults()
                listed = ", ".join(f"{name}={plain(given.arguments[name])}" for name in compared)
                communicator.agree(f"{method.__qualname__}({listed})")
            return method(*args, **kwargs)

        return agreed

    return decorate


def plain(value: Any) -> str:
    """Return a text that is the same on all ranks if the argument is; of unknown objects only their class.

    Examples
    --------
    >>> plain((0.1 + 0.2, "Ez", None)), plain(np.array([1.0, 2.0]))
    ("(0.3, 'Ez', None)", '[1, 2]')
    >>> plain(lambda: 0)
    'function'
    """
    if value is None or isinstance(value, bool | str):
        return repr(value)
    if isinstance(value, os.PathLike):
        return repr(os.fspath(value))
    if isinstance(value, int | float | complex | np.number):
        # Processors of different kinds may round differently.
        return f"{value:.12g}" if isinstance(value, float | complex | np.inexact) else str(value)
    if isinstance(value, np.ndarray) and value.size <= _MOST:
        return plain(value.tolist())
    if isinstance(value, list | tuple) and len(value) <= _MOST:
        listed = ", ".join(map(plain, value))
        return f"[{listed}]" if isinstance(value, list) else f"({listed})"
    if isinstance(value, dict) and len(value) <= _MOST:
        return "{" + ", ".join(f"{key}: {plain(one)}" for key, one in sorted(value.items())) + "}"
    # An object of the user's own may show its address in memory, or what one rank alone knows.
    own = type(value).__module__.startswith("evenly.") and " at 0x" not in repr(value)
    return repr(value) if own else type(value).__qualname__


def this_wait() -> str:
    """Return in which call of evenly the user's code waits, with file and line.

    Examples
    --------
    >>> this_wait().endswith(f"({this_line()})")
    True
    """
    own = [frame.f_code.co_qualname for frame in itertools.takewhile(_is_ours, _frames())]
    return f"waits in {own[-1] if own else 'a call of its own'} ({this_line()})"


def this_line() -> str:
    """Return file and line of the user's code that called evenly.

    Examples
    --------
    >>> "line" in this_line()
    True
    """
    frames = list(_frames())
    frame = next((frame for frame in frames if not _is_ours(frame)), frames[-1])
    file = frame.f_code.co_filename
    # The folder may have been deleted.
    with suppress(OSError):
        file = file.removeprefix(f"{Path.cwd()}{os.sep}")
    return f"{file}, line {frame.f_lineno}"


def internal_place() -> str:
    """Return which function of evenly communicates; empty where the user's own does.

    Examples
    --------
    >>> internal_place()
    ''
    """
    frame = next(_frames(), None)
    if frame is None or not _is_ours(frame):
        return ""
    return f"{frame.f_code.co_filename.removeprefix(_PACKAGE)}: {frame.f_code.co_qualname}"


def _frames() -> Iterator[FrameType]:
    """Yield the frames of evenly and the user, the innermost first."""
    frame: FrameType | None = sys._getframe(1)
    while frame is not None:
        name = frame.f_code.co_filename
        library = name.startswith("<frozen") or (name.startswith(_LIBRARY) and "-packages" not in name)
        if name not in _MACHINERY and not library:
            yield frame
        frame = frame.f_back


def _is_ours(frame: FrameType) -> bool:
    return frame.f_code.co_filename.startswith(_PACKAGE)
