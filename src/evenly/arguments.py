"""Errors that name the wrong argument, for evenly's public functions and classes.

Python fails deep inside evenly when it gets, say, a list for a number: `explained` then names the first argument that
doesn't fit its annotation. Other wrong arguments would be believed, or ignored: "no" for False, a machine's name for
a machine. Those of functions are refused before the call. A class is asked first, since its own message says more.
"""

from __future__ import annotations

import builtins
import inspect
import itertools
import numbers
import pathlib
import sys
import types
import typing
from collections import abc
from collections.abc import Callable, Collection, Iterable, Mapping, Sequence
from functools import cached_property, wraps
from typing import Any, TypeVar

from evenly.errors import CallError, EvenlyError, InputError, did_you_mean

__all__ = ["check_seed", "explained"]

T = TypeVar("T", bound=Callable[..., Any])

#: What Python and NumPy raise where a value has the wrong type. Missing files, interruptions and the like pass.
_SUSPICIOUS = (TypeError, ValueError, AttributeError, LookupError, ArithmeticError, RecursionError)

#: How many entries of a sequence are compared with what its annotation says of them.
_MOST_ENTRIES = 1000


def explained(target: T) -> T:
    """Return a function, or a class, whose errors name the argument that doesn't fit its annotation.

    Examples
    --------
    >>> @explained
    ... def wave(frequency: float) -> float:
    ...     return 1.0 / frequency
    >>> wave(2)
    0.5
    >>> wave("2")
    Traceback (most recent call last):
    evenly.errors.InputError: wave: frequency must be float, but got '2' (str)
    """
    if not isinstance(target, type):
        return typing.cast("T", _explaining(target, target.__name__))
    # A class keeps its identity: only its __init__ is replaced.
    target.__init__ = _explaining(target.__init__, target.__name__, is_class=True)  # type: ignore[misc]
    return target


def check_seed(seed: int) -> None:
    """Raise `InputError` for a seed of random numbers that is below zero.

    Examples
    --------
    >>> check_seed(-1)
    Traceback (most recent call last):
    evenly.errors.InputError: seed must be a whole number of at least 0, but got -1
    """
    if seed < 0:
        raise InputError(f"seed must be a whole number of at least 0, but got {seed}")


def _explaining(function: Callable[..., Any], name: str, *, is_class: bool = False) -> Callable[..., Any]:
    stated = _Stated(function, is_class=is_class)

    @wraps(function)
    def call(*args: Any, **named: Any) -> Any:
        order, early, hints = stated.arguments
        given = [*zip(order, args, strict=False), *named.items()]
        wrong = [] if is_class else [one for one, value in given if one in early and not _may_be(value, early[one])]
        if wrong:
            raise InputError(f"{name}: {stated.complaint(wrong[0], dict(given)[wrong[0]])}")
        try:
            result = function(*args, **named)
        except EvenlyError:
            raise
        except _SUSPICIOUS as error:
            if (unfit := stated.unfit(args, named)) is not None:
                raise CallError(f"{name}: {unfit}") from None
            for one, value in given:
                if not _may_be(value, hints.get(one, Any)):
                    raise InputError(f"{name}: {stated.complaint(one, value)}") from error
            raise
        for one, value in given if is_class else ():
            if one in early and not _may_be(value, early[one]):
                raise InputError(f"{name}: {stated.complaint(one, value)}")
        return result

    return call


class _Stated:
    """What the annotations of a function's arguments say; they are looked at when it is called first."""

    def __init__(self, function: Callable[..., Any], *, is_class: bool) -> None:
        self.function = function
        self.is_class = is_class

    @cached_property
    def arguments(self) -> tuple[list[str], dict[str, Any], dict[str, Any]]:
        """The names of positional arguments in order, the hints to look at in any call, and all hints.

        Of a function, arguments are looked at early if they are texts, true or false, or objects that may be left
        out; of a class, numbers, mappings and functions too.
        """
        parameters = inspect.signature(self.function).parameters.values()
        order = [one.name for one in parameters if one.kind is one.POSITIONAL_OR_KEYWORD]
        names = _Names(getattr(inspect.unwrap(self.function), "__globals__", {}))
        named = [one for one in parameters if one.kind not in (one.VAR_POSITIONAL, one.VAR_KEYWORD)]
        hints = {one.name: names.meaning(_text(one)) for one in named}
        early = {}
        for name, hint in hints.items():
            is_union = typing.get_origin(hint) in (typing.Union, types.UnionType)
            parts = typing.get_args(hint) if is_union else (hint,)
            may_be_left_out = not {type(None), str, bool}.isdisjoint(parts)
            if (self.is_class or may_be_left_out) and all(_is_simple(part, self.is_class) for part in parts):
                early[name] = hint
        return order, early, hints

    def unfit(self, args: tuple[Any, ...], named: dict[str, Any]) -> str | None:
        """Say which argument is missing, unknown or too many; None if the call has those that it must have."""
        signature = inspect.signature(self.function)
        try:
            signature.bind(*args, **named)
        except TypeError as error:
            names = [one for one in signature.parameters if one != "self"]
            unknown = next((one for one in named if one not in names), None)
            if unknown is None:
                return f"{error}; its arguments are {', '.join(names)}"
            hint = did_you_mean(unknown, names)
            return f"there is no argument {unknown!r}{hint or ': there are ' + ', '.join(names)}"
        return None

    def complaint(self, name: str, value: Any) -> str:
        try:
            text = " ".join(repr(value).split())
        except Exception:  # the repr of a user's class may fail
            text = "a value"
        shown = text if len(text) <= 60 else text[:57] + "…"
        stated = _text(inspect.signature(self.function).parameters[name])
        return f"{name} must be {stated}, but got {shown} ({type(value).__name__})"


def _text(parameter: inspect.Parameter) -> str:
    return str(parameter.annotation).strip("'\"")


class _Names(dict[str, Any]):
    """The names in annotations: those of the function's module, then Python's, then evenly's public ones."""

    def __missing__(self, name: str) -> Any:
        # Modules import some names for type checkers only.
        known = [sys.modules[one] for one in ("evenly", "evenly.fdtd") if one in sys.modules]
        if name in ("np", "pd"):
            return __import__({"np": "numpy", "pd": "pandas"}[name])
        for home in (builtins, abc, pathlib, *known):
            if hasattr(home, name):
                return getattr(home, name)
        return Any

    def meaning(self, annotation: str) -> Any:
        self["ArrayLike"] = _Array  # numpy's is a union of protocols, which tells little
        try:
            return eval(annotation, {}, self)  # noqa: S307 - evenly's own annotation
        except Exception:  # what can't be told excludes nothing
            return Any


class _Array:
    """Stands for anything that NumPy takes for numbers."""


def _is_simple(hint: Any, is_class: bool) -> bool:
    plain = (None, type(None), str, bool, int, float, complex) if is_class else (None, type(None), str, bool)
    if hint in plain or (is_class and typing.get_origin(hint) in (Mapping, Callable)):
        return True
    return isinstance(hint, type) and hint is not _Array and hint.__module__.startswith("evenly.")


def _may_be(value: Any, hint: Any) -> bool:
    try:
        return _fits(value, hint)
    except Exception:  # an argument's own operators failed
        return True


def _fits(value: Any, hint: Any) -> bool:
    """Tell whether a value can be what `hint` says. A hint that says nothing that can be checked excludes nothing."""
    origin, inner = typing.get_origin(hint), typing.get_args(hint)
    if hint is Any or type(value) is hint:
        return True
    if origin in (typing.Union, types.UnionType):
        if pathlib.Path in inner and isinstance(value, str):  # a path, which no null character can be part of
            return "\0" not in value
        return any(_fits(value, one) for one in inner)
    if origin is typing.Literal:
        return isinstance(value, str | int) and value in inner
    if hint is None or hint is type(None):
        return value is None
    if hint is bool:
        return type(value).__name__ in ("bool", "bool_")
    if hint in (int, float, complex):
        return _is_number(value, hint)
    if hint is _Array:
        return _is_numeric(value)
    if origin is Callable:
        return callable(value)
    if isinstance(origin, type) and issubclass(origin, Iterable):
        return _entries_fit(value, origin, inner)
    if hint is pathlib.Path:
        return isinstance(value, str | pathlib.PurePath) and "\0" not in str(value)
    try:
        return not isinstance(hint, type) or isinstance(value, hint)
    except TypeError:  # a protocol that can't be checked
        return True


def _is_number(value: Any, hint: type) -> bool:
    # Zero-dimensional arrays of any library count; true, false and decimal.Decimal don't.
    if isinstance(value, bool | str | bytes | type) or bool(getattr(value, "ndim", False)):
        return False
    if isinstance(value, numbers.Number) and not isinstance(
        value, numbers.Complex if hint is complex else numbers.Real
    ):
        return False
    if hint is int:
        return hasattr(value, "__float__") and float(value).is_integer()
    return hasattr(value, "__float__") or hasattr(value, "__complex__")


def _entries_fit(value: Any, origin: type, inner: tuple[Any, ...]) -> bool:
    if issubclass(origin, Mapping):
        if not isinstance(value, Mapping):
            return False
        return all(_fits(key, inner[0]) and _fits(one, inner[1]) for key, one in value.items())
    if isinstance(value, str | bytes | Mapping) or not hasattr(value, "__iter__"):
        return False
    if not isinstance(value, Collection):  # an iterator, which looking at would use up
        return not issubclass(origin, Sequence | tuple)
    try:
        entries = list(itertools.islice(value, _MOST_ENTRIES))
    except Exception:  # such as an array without dimensions
        return False
    if issubclass(origin, tuple) and inner[-1] is not Ellipsis:
        return len(value) == len(inner) and all(map(_fits, entries, inner))
    return all(_fits(one, inner[0]) for one in entries)


def _is_numeric(value: Any) -> bool:
    import numpy as np

    try:
        return np.asarray(value).dtype.kind in "biuf" or np.asarray(value, dtype=np.float64).dtype.kind == "f"
    except (TypeError, ValueError):
        return False
