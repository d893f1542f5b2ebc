"""The registry of readers: the known formats, and the options of each reader.

Readers are entry points of the group ``evenly.readers``, so other packages can add their own. Their classes are loaded
once, on first use. A reader whose package fails to import is omitted; `load_failures` gives the reason.

Besides the interface of `Reader`, an instance may have three attributes: ``notes`` (list of str: the reader's guesses),
``skipped`` (list of `Skipped`: parts that it did not read) and ``columns`` (list of `Column`: what each column of its
file is). `evenly.read` reports them. Its class may have a static method ``kinds`` that returns what it reads within its
format, with a line about each, for the list of formats.
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
    "refuse_unused",
]

GROUP = "evenly.readers"


@dataclass(frozen=True)
class Skipped:
    """A file or folder that was skipped completely or in part, with the reason.

    Parameters
    ----------
    path : Path
        The skipped file or folder.
    reason : str
        Why it was skipped.
    line : int, optional
        The number of the line with the error, counted from 1.
    benign : bool
        Whether no data is lost (the same runs were read from another file).

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
        """Build the entry for `path` from an error; the file and line of a `ReadError` take precedence."""
        if isinstance(error, ReadError):
            return cls(error.path, error.reason, error.line)
        return cls(path, str(error))

    def __str__(self) -> str:
        place = f"{self.path}" if self.line is None else f"{self.path}, line {self.line}"
        return f"{place}: {self.reason}"


def listing(skipped: Sequence[Skipped], most: int = 8) -> str:
    """Return a text with one line per skipped file, for at most the first `most` of them.

    Examples
    --------
    >>> listing([Skipped(Path(name), "the file is empty") for name in ("a", "b", "c")], most=2).splitlines()
    ['', '  a: the file is empty', '  b: the file is empty', '  … and 1 more file']
    """
    left = len(skipped) - most
    more = f"\n  … and {left} more file{'s' * (left != 1)}" if left > 0 else ""
    return "".join(f"\n  {entry}" for entry in skipped[:most]) + more


@cache
def _load() -> tuple[dict[str, type[Reader]], dict[str, str]]:
    found: dict[str, type[Reader]] = {}
    failures: dict[str, str] = {}
    for entry in sorted(entry_points(group=GROUP), key=lambda e: e.name):
        try:
            loaded = entry.load()
        except Exception as error:  # an error in another package must not stop the other readers
            failures[entry.name] = f"{type(error).__name__}: {error}"
            continue
        if isinstance(loaded, type) and issubclass(loaded, Reader):
            found[loaded.name] = loaded
        else:
            failures[entry.name] = f"{entry.value} is not a Reader"
    # A generic reader (of any table) comes last, so that a format that looks like a table is read by its own reader.
    ordered = sorted(found.values(), key=lambda c: (bool(getattr(c, "generic", False)), c.name))
    return {c.name: c for c in ordered}, failures


def readers() -> tuple[type[Reader], ...]:
    """Return the classes of all readers, in the order in which files are offered to them.

    Examples
    --------
    >>> readers()[-1].name
    'table'
    """
    return tuple(_load()[0].values())


def load_failures() -> dict[str, str]:
    """Return the reason for each reader that could not be loaded, by entry-point name.

    Examples
    --------
    >>> "table" in load_failures()
    False
    """
    return dict(_load()[1])


def format_names() -> list[str]:
    """Return the names of all formats: the allowed values of ``format=``.

    Examples
    --------
    >>> {"case-folder", "table"} <= set(format_names())
    True
    """
    return [reader.name for reader in readers()]


def reader_class(name: str) -> type[Reader]:
    """Return the reader class of a format.

    Raises
    ------
    InputError
        If there is no such format; the message lists the known formats.

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


def check_taken(used: Mapping[str, Path], options: Mapping[str, Any]) -> None:
    """Raise `InputError` for an option that no reader in use takes: it would be without effect.

    Parameters
    ----------
    used : mapping of str to Path
        The formats of the files that were read, each with one of its files.
    options : mapping

    Examples
    --------
    >>> check_taken({"hyperfine": Path("a.json")}, {"unit": "ms"})
    Traceback (most recent call last):
    evenly.errors.InputError: a.json was read as hyperfine, which has no use for 'unit': ...
    """
    taken = {name: option_names(reader_class(name)) for name in used if not _passes_on(reader_class(name))}
    if len(taken) < len(used) or not used:
        return
    for option in options:
        if not any(option in names for names in taken.values()):
            name, path = next(iter(used.items()))
            refuse_unused(path, name, taken[name], {option: options[option]})


def refuse_unused(path: Path, name: str, taken: Sequence[str], options: Mapping[str, Any]) -> None:
    """Raise `InputError` for an option that isn't among those `taken` by the format in which a file was read.

    Examples
    --------
    >>> refuse_unused(Path("a.csv"), "table", ["unit"], {"unit": "ms"})
    """
    for option in options:
        if option not in taken:
            usable = f"it takes {', '.join(taken)}" if taken else "it takes no options"
            raise InputError(f"{path} was read as {name}, which has no use for {option!r}: leave it out ({usable})")


def name_list(given: Iterable[str] | str | None) -> tuple[str, ...]:
    """Return a tuple of names from a sequence, or from one text with commas between the names.

    Examples
    --------
    >>> name_list("m, n"), name_list(["m"]), name_list(None)
    (('m', 'n'), ('m',), ())
    """
    if isinstance(given, str):
        given = given.split(",")
    return tuple(name.strip() for name in given or ())


def build(reader: type[Reader], options: Mapping[str, Any]) -> Reader:
    """Build a reader with the options that it accepts; a reader with ``**options`` gets all of them.

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
    """Build every reader, or only the reader of `format`, each with the options that it accepts.

    Raises
    ------
    InputError
        If the format is unknown, or no reader accepts one of the options.

    Examples
    --------
    >>> [reader.name for reader in build_all({}, format="table")]
    ['table']
    """
    classes = readers() if format is None else (reader_class(format),)
    check_options(readers() if any(map(_passes_on, classes)) else classes, options)
    return [build(c, options) for c in classes]


def _passes_on(reader: type[Reader]) -> bool:
    """Return whether a reader accepts any option (``**options``), because it passes options on to other readers."""
    kinds = inspect.signature(reader).parameters.values()
    return any(p.kind is inspect.Parameter.VAR_KEYWORD for p in kinds)
