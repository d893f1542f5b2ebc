"""What can go wrong, one exception per kind of remedy.

Every error of evenly is an `EvenlyError`, so one ``except`` catches them all. Messages say the rule, what
was got, what is allowed, and what to do. The children carry what a program needs to react: the file and
line, the constraint that can't be met, the extra that is missing. `did_you_mean` ends a message on an unknown name.
"""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from difflib import get_close_matches
from pathlib import Path
from typing import Any

__all__ = [
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
]


class EvenlyError(Exception):
    """Base of every error that evenly raises on purpose.

    It keeps its attributes when it is copied or sent to another process.
    """

    def __reduce__(self) -> tuple[Any, ...]:
        return _restore, (type(self), self.args, dict(self.__dict__))


def _restore(kind: type[EvenlyError], arguments: tuple[Any, ...], attributes: dict[str, Any]) -> EvenlyError:
    # The children's __init__ builds the message from other arguments than those in `args`.
    error = kind.__new__(kind, *arguments)
    error.__dict__.update(attributes)
    return error


class InputError(EvenlyError, ValueError):
    """Something the user gave breaks a rule (the command line exits with 2)."""


class ReadError(InputError):
    """A measurement file can't be read.

    Parameters
    ----------
    path : Path or str
        The file.
    reason : str
        What is wrong with it, and what to do.
    line : int, optional
        The line, counted from 1, where it goes wrong.

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
    """The question is well put but has no answer (the command line exits with 1).

    Parameters
    ----------
    message : str
        What was asked and why nothing satisfies it.
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
    """A measured program failed; raised by the ``run`` callable that a search is given.

    Parameters
    ----------
    message : str
        What happened.
    exit_code : int, optional
        The program's exit status.
    output : str
        The end of what it printed.
    at_least : float, optional
        Where it was ended because it took too long: seconds after which it hadn't come to its end.

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
    """An optional capability isn't installed; the message holds the command that brings it.

    Examples
    --------
    >>> print(MissingExtraError("reading Parquet", extra="parquet"))
    reading Parquet needs packages that are not installed: pip install 'evenly[parquet]'
    """

    def __init__(self, purpose: str, *, extra: str) -> None:
        self.extra = extra
        super().__init__(f"{purpose} needs packages that are not installed: pip install 'evenly[{extra}]'")


class EvenlyWarning(UserWarning):
    """Base of evenly's warnings."""


class ExtrapolationWarning(EvenlyWarning):
    """A model was asked outside the range it was learned on."""


class SkippedFilesWarning(EvenlyWarning):
    """Some files could not be read and were left out."""


def did_you_mean(name: str, known: Iterable[str]) -> str:
    """Return `` (did you mean …?)`` with the nearest of the known names; nothing where none is near.

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


def check_keys(what: str, values: Iterable[str], known: Sequence[str]) -> None:
    """Raise an `InputError` for the first key that is not known.

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
