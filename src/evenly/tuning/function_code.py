"""Whether a Python function is still the one that earlier runs were made with."""

from __future__ import annotations

import dis
import hashlib
import sys
from collections.abc import Callable
from functools import partial
from pathlib import Path
from types import CodeType, FunctionType, ModuleType
from typing import Any

__all__ = ["code_of"]

_PLAIN = (int, float, complex, str, bytes, bool, type(None))


def code_of(run: Callable[..., Any]) -> dict[str, str]:
    """Return what tells a function from a changed one: a hash of its code, and Python's version, which changes it.

    Numbers and texts that it takes from its module or from around it count, and so do functions of its own module, and
    modules in the same folder. Lists, dictionaries and objects don't, as a run may change them.

    Examples
    --------
    >>> def made(speed):
    ...     return lambda n: n / speed
    >>> code_of(made(1.0)) == code_of(made(1.0)), code_of(made(1.0)) == code_of(made(1.5))
    (True, False)
    """
    found: list[str] = []
    _add(run, found, set())
    version = f"{sys.version_info.major}.{sys.version_info.minor}"
    return {"python": version, "code": hashlib.sha256("\n".join(found).encode()).hexdigest()}


def _add(thing: Any, found: list[str], seen: set[int]) -> None:
    if id(thing) in seen:
        return
    seen.add(id(thing))
    if isinstance(thing, partial):
        given = [*thing.args, *(pair for pair in sorted(thing.keywords.items()))]
        found.append(_text([one for one in given if _is_plain(one)]))
        _add(thing.func, found, seen)
        return
    function = getattr(thing, "__func__", thing)
    function = function if isinstance(function, FunctionType) else getattr(type(thing), "__call__", None)  # noqa: B004
    if not isinstance(function, FunctionType):
        return
    code = function.__code__
    _add_code(code, found)
    usual = [*(function.__defaults__ or ()), *sorted((function.__kwdefaults__ or {}).items())]
    found.append(_text([one for one in usual if _is_plain(one)]))
    around = dict(zip(code.co_freevars, function.__closure__ or (), strict=False))
    values = {name: cell.cell_contents for name, cell in around.items() if _is_filled(cell)}
    values |= {name: function.__globals__[name] for name in _names(code) if name in function.__globals__}
    for name, value in sorted(values.items()):
        if isinstance(value, FunctionType) and value.__module__ == function.__module__:
            _add(value, found, seen)
        elif isinstance(value, ModuleType | FunctionType) and (path := _beside(value, function)) is not None:
            found.append(path.read_text(encoding="utf-8", errors="replace"))
        elif _is_plain(value) and name not in _assigned(code):
            found.append(f"{name} = {_text(value)}")


def _beside(thing: ModuleType | FunctionType, function: FunctionType) -> Path | None:
    """Return the file of a module, or of a function's module, if it lies in the folder of another function's file."""
    name = thing.__name__ if isinstance(thing, ModuleType) else thing.__module__
    files = [getattr(sys.modules.get(one), "__file__", None) for one in (name, function.__module__)]
    paths = [Path(file) for file in files if file is not None]
    return paths[0] if len(paths) == 2 and paths[0].parent == paths[1].parent and paths[0].is_file() else None


def _is_plain(value: Any) -> bool:
    """Return whether a value can't be changed in place, as what a run counts or collects can."""
    return all(map(_is_plain, value)) if isinstance(value, tuple | frozenset) else isinstance(value, _PLAIN)


def _text(value: Any) -> str:
    """Return a value as text that is the same in each process: the order of a set isn't."""
    if isinstance(value, frozenset):
        return f"{{{', '.join(sorted(map(_text, value)))}}}"
    return f"({', '.join(map(_text, value))})" if isinstance(value, tuple | list) else repr(value)


def _is_filled(cell: Any) -> bool:
    try:
        return cell.cell_contents is not cell
    except ValueError:
        return False


def _add_code(code: CodeType, found: list[str]) -> None:
    found += [code.co_code.hex(), repr(code.co_names)]
    for one in code.co_consts:
        if isinstance(one, CodeType):
            _add_code(one, found)
        else:
            found.append(_text(one))


def _inside(code: CodeType) -> list[CodeType]:
    """Return the code of a function, and that of the functions inside it."""
    inner = [one for one in code.co_consts if isinstance(one, CodeType)]
    return [code, *(deeper for one in inner for deeper in _inside(one))]


def _names(code: CodeType) -> set[str]:
    """Return the names of what a function takes from elsewhere."""
    return set[str]().union(*(one.co_names for one in _inside(code)))


def _assigned(code: CodeType) -> set[str]:
    """Return the names of its module, or of the function around it, that a function assigns to, as a counter."""
    stored = ("STORE_GLOBAL", "STORE_DEREF")
    every = (one for part in _inside(code) for one in dis.get_instructions(part))
    return {str(one.argval) for one in every if one.opname in stored}
