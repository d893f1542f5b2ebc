"""Exceptions and warnings of evenly; each class calls for another reaction of the caller.

Every error that evenly raises on purpose is an `EvenlyError`, so one ``except`` catches them all. A message states the
broken rule, the value received, the allowed values, and the remedy. Subclasses have attributes for programs that react
to an error: the file and line, the constraint that can't be met, the extra that is missing.
"""

from __future__ import annotations

import shlex
from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

__all__ = [
    "CallError",
    "EvenlyError",
    "EvenlyWarning",
    "ExtrapolationWarning",
    "InfeasibleError",
    "InputError",
    "MissingExtraError",
    "ReadError",
    "RunFailed",
    "SkippedFilesWarning",
    "check_keys",
    "did_you_mean",
    "option_text",
]


class EvenlyError(Exception):
    """Base class of every error that evenly raises on purpose.

    Copying or pickling an error keeps its attributes.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, dict(self.__dict__))


def _restore(kind: type[EvenlyError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> EvenlyError:
    # `args` holds only the finished message, but the __init__ of a subclass takes other arguments: don't call it.
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class InputError(EvenlyError, ValueError):
    """An input of the user breaks a rule (the command line then exits with status 2)."""


class CallError(InputError, TypeError):
    """A call lacks an argument, or has one that the function doesn't know."""


class ReadError(InputError):
    """A measurement file can't be read.

    Parameters
    ----------
    path : Path or str
        The file.
    reason : str
        What is wrong with it, and what to do.
    line : int, optional
        The number of the line with the error, counted from 1.

    Examples
    --------
    >>> print(ReadError("run.log", "a number was expected, got 'abc'", line=3))
    run.log, line 3: a number was expected, got 'abc'
    """

    def __init__(self, path: Path | str, reason: str, *, line: int | None = None) -> None:
        self.path = Path(path)
        self.reason = reason
        self.line = line
        place = f"{self.path}" if line is None else f"{self.path}, line {line}"
        super().__init__(f"{place}: {reason}")


class InfeasibleError(EvenlyError):
    """The input is valid, but the problem has no solution (the command line then exits with status 1).

    Parameters
    ----------
    message : str
        The problem, and why no solution satisfies it.
    constraint : str
        The name of the constraint that can't be met.

    Examples
    --------
    >>> InfeasibleError("8 cores are too few for 9 solvers: give more", constraint="cores").constraint
    'cores'
    """

    def __init__(self, message: str, *, constraint: str) -> None:
        self.constraint = constraint
        super().__init__(message)


class RunFailed(EvenlyError):  # noqa: N818 - the public name of DESIGN.md
    """A run of the measured program failed; raised by the ``run`` callable that the caller passes to a search.

    Parameters
    ----------
    message : str
        What happened.
    exit_code : int, optional
        The program's exit status.
    output : str
        The last part of the program's output.
    at_least : float, optional
        Only after a timeout: the seconds after which the program was stopped, a lower bound of its run time.

    Examples
    --------
    >>> RunFailed("the program ran out of memory", exit_code=137).exit_code
    137
    """

    def __init__(
        self, message: str, *, exit_code: int | None = None, output: str = "", at_least: float | None = None
    ) -> None:
        self.exit_code = exit_code
        self.output = output
        self.at_least = at_least
        super().__init__(message)


class MissingExtraError(EvenlyError, ImportError):
    """The packages of an optional feature are not installed; the message holds the command that installs them.

    Examples
    --------
    >>> print(MissingExtraError("reading Parquet", extra="parquet"))
    reading Parquet needs packages that are not installed: pip install 'evenly[parquet]'
    """

    def __init__(self, purpose: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs packages that are not installed: pip install 'evenly[{extra}]'")


class EvenlyWarning(UserWarning):
    """Base class of evenly's warnings."""


class ExtrapolationWarning(EvenlyWarning):
    """A model predicts for configurations outside the range of its training data."""


class SkippedFilesWarning(EvenlyWarning):
    """Some files could not be read and were skipped."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return the hint `` (did you mean …?)`` with the most similar known name, or "" if no name is similar.

    Examples
    --------
    >>> did_you_mean("pmfn", ["pmnf", "power-law"])
    " (did you mean 'pmnf'?)"
    >>> did_you_mean("colour", ["pmnf", "power-law"])
    ''
    """
    lowered = {one.lower(): one for one in known}
    near = get_close_matches(name.lower(), list(lowered), n=1, cutoff=0.65)
    return f" (did you mean {lowered[near[0]]!r}?)" if near else ""


def option_text(option: str, value: str) -> str:
    """Return an option and its value as a shell takes them.

    Examples
    --------
    >>> print(option_text("--parameters", "cores,mesh size"), option_text("-O", "sheet=runs"))
    --parameters 'cores,mesh size' -O sheet=runs
    """
    return f"{option} {shlex.quote(value)}"


def check_keys(what: str, values: Iterable[str], known: Sequence[str]) -> None:
    """Raise `InputError` for the first key in `values` that is not in `known`; `what` names the object with the keys.

    Examples
    --------
    >>> check_keys("a machine", ["core"], ["cores", "name"])
    Traceback (most recent call last):
    evenly.errors.InputError: a machine has no 'core' (did you mean 'cores'?); allowed are cores, name
    """
    unknown = [key for key in values if key not in known]
    if unknown:
        hint = did_you_mean(unknown[0], known)
        raise InputError(f"{what} has no {unknown[0]!r}{hint}; allowed are {', '.join(known)}")
