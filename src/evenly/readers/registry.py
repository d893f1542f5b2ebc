"""The registry of readers: the formats that can be read, and the options of each.

Readers come from the entry-point group ``evenly.readers``, so that another package can bring its own. Classes are
loaded once, on first use. A reader whose package fails to import is left out, and `load_failures` says why.

Beyond the contract of `Reader`, an instance may have the attributes ``notes`` (list of str: what was guessed) and
``skipped`` (list of `Skipped`: parts that were left out); `evenly.read` reports both.
"""

from __future__ import annotations

import inspect
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from importlib.metadata import entry_points
from pathlib import Path
from typing import Any

from evenly.errors import EvenlyError, InputError, ReadError, did_you_mean
from evenly.readers.base import Reader

__all__ = [
    "Skipped",
    "build",
    "build_all",
    "check_options",
    "format_names",
    "listing",
    "load_failures",
    "name_list",
    "option_names",
    "reader_class",
    "readers",
]

GROUP = "evenly.readers"


@dataclass(frozen=True)
class Skipped:
    """A file, folder or part of one that was left out.

    Parameters
    ----------
    path : Path
        What was left out.
    reason : str
        Why.
    line : int, optional
        The line, counted from 1, where it goes wrong.
    benign : bool
        Whether nothing is lost by leaving it out (the same runs were read from another file).

    Examples
    --------
    >>> print(Skipped(Path("run.log"), "the file is empty"))
    run.log: the file is empty
    """

    path: Path
    reason: str
    line: int | None = None
    benign: bool = False

    @classmethod
    def of(cls, error: EvenlyError, path: Path) -> Skipped:
        """Say that `path` was left out for an error; a `ReadError` names the file and the line itself."""
        if isinstance(error, ReadError):
            return cls(error.path, error.reason, error.line)
        return cls(path, str(error))

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.reason}"


def listing(skipped: Sequence[Skipped], most: int = 8) -> str:
    """Return what was left out, one on each line, the first ones only where there are many.

    Examples
    --------
    >>> listing([Skipped(Path(name), "the file is empty") for name in ("a", "b", "c")], most=2).splitlines()
    ['', '  a: the file is empty', '  b: the file is empty', '  … and 1 more']
    """
    more = f"\n  … and {len(skipped) - most} more" if len(skipped) > most else ""
    return "".join(f"\n  {entry}" for entry in skipped[:most]) + more


@cache
def _load() -> tuple[dict[str, type[Reader]], dict[str, str]]:
    found: dict[str, type[Reader]] = {}
    failures: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            loaded = entry.load()
        except Exception as error:  # whatever another package raises must not stop the other readers
            failures[entry.name] = f"{type(error).__name__}: {error}"
            continue
        if isinstance(loaded, type) and issubclass(loaded, Reader):
            found[loaded.name] = loaded
        else:
            failures[entry.name] = f"{entry.value} is not a Reader"
    # A generic reader (any table) is asked last, so that a format that looks like a table keeps its own reader.
    ordered = sorted(found.values(), key=lambda c: (bool(getattr(c, "generic", False)), c.name))
    return {c.name: c for c in ordered}, failures


def readers() -> tuple[type[Reader], ...]:
    """Return the classes of all readers, in the order in which they are asked.

    Examples
    --------
    >>> readers()[-1].name
    'table'
    """
    return tuple(_load()[0].values())


def load_failures() -> dict[str, str]:
    """Return the readers that could not be loaded, by entry-point name, with the reason.

    Examples
    --------
    >>> "table" in load_failures()
    False
    """
    return dict(_load()[1])


def format_names() -> list[str]:
    """Return the names that ``format=`` takes.

    Examples
    --------
    >>> {"case-folder", "table"} <= set(format_names())
    True
    """
    return [reader.name for reader in readers()]


def reader_class(name: str) -> type[Reader]:
    """Return the reader of a format.

    Raises
    ------
    InputError
        If there is no such format; the message lists those there are.

    Examples
    --------
    >>> reader_class("table").name
    'table'
    """
    try:
        return _load()[0][name]
    except KeyError:
        failure = load_failures().get(name)
        hint = f" ({name!r} failed to load: {failure})" if failure else ""
        hint = hint or did_you_mean(name, format_names())
        raise InputError(f"format must be one of {', '.join(format_names())}, but got {name!r}{hint}") from None


def option_names(reader: type[Reader]) -> list[str]:
    """Return the names of a reader's options.

    Examples
    --------
    >>> option_names(reader_class("table"))[:3]
    ['parameters', 'time', 'unit']
    """
    parameters = inspect.signature(reader).parameters.values()
    return [p.name for p in parameters if p.kind is inspect.Parameter.KEYWORD_ONLY]


def check_options(classes: Iterable[type[Reader]], options: Mapping[str, Any]) -> None:
    """Raise `InputError` for an option that none of `classes` takes.

    Examples
    --------
    >>> check_options([reader_class("table")], {"unit": "ms"})
    """
    known = {c.name: option_names(c) for c in classes}
    unknown = sorted(set(options) - {name for names in known.values() for name in names})
    if unknown:
        listed = "; ".join(f"{name}: {', '.join(names)}" for name, names in known.items() if names)
        hint = did_you_mean(unknown[0], [name for names in known.values() for name in names])
        raise InputError(f"no reader takes the option {unknown[0]!r}{hint}: there are {listed or 'none'}")


def name_list(given: Iterable[str] | str | None) -> tuple[str, ...]:
    """Return names given as a sequence, or as one text with commas between them.

    Examples
    --------
    >>> name_list("m, n"), name_list(["m"]), name_list(None)
    (('m', 'n'), ('m',), ())
    """
    if isinstance(given, str):
        given = given.split(",")
    return tuple(name.strip() for name in given or ())


def build(reader: type[Reader], options: Mapping[str, Any]) -> Reader:
    """Return a reader with those of `options` that it takes; one that takes ``**options`` gets all.

    Examples
    --------
    >>> build(reader_class("table"), {"unit": "ms", "something": 1}).name
    'table'
    """
    if _passes_on(reader):
        return reader(**options)
    names = option_names(reader)
    return reader(**{name: value for name, value in options.items() if name in names})


def build_all(options: Mapping[str, Any], format: str | None = None) -> list[Reader]:  # noqa: A002 - the public name
    """Return one instance of every reader (of the one that reads `format`), with the options it takes.

    Raises
    ------
    InputError
        If the format is unknown or no reader takes an option.

    Examples
    --------
    >>> [reader.name for reader in build_all({}, format="table")]
    ['table']
    """
    classes = readers() if format is None else (reader_class(format),)
    check_options(readers() if any(map(_passes_on, classes)) else classes, options)
    return [build(c, options) for c in classes]


def _passes_on(reader: type[Reader]) -> bool:
    """Tell whether a reader takes any option, to pass it on to others."""
    kinds = inspect.signature(reader).parameters.values()
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in kinds)
