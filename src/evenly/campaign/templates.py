"""Templates: text with placeholders for values, such as ``solve --cells {size} --ranks {ranks * threads}``."""

from __future__ import annotations

import math
import re
from collections.abc import Mapping
from typing import Any

import numpy as np

from evenly.errors import InputError
from evenly.space.expressions import Expression

__all__ = ["Template"]

_PLACES = re.compile(r"\{\{|\}\}|\{([^{}]*)\}|[{}]")
_WORDS = re.compile(r"[^\W\d]\w*( \w+)+")


class Template:
    """Text with placeholders: names or arithmetic expressions in braces; ``{{`` and ``}}`` are literal braces.

    Parameters
    ----------
    text : str

    Attributes
    ----------
    names : frozenset of str
        Names of the values that `fill` needs.

    Raises
    ------
    InputError
        If a brace isn't closed, or holds no expression.

    Examples
    --------
    >>> Template("solve -n {size} -t {ranks * threads} {{}}").fill({"size": 8, "ranks": 2, "threads": 4})
    'solve -n 8 -t 8 {}'
    """

    def __init__(self, text: str) -> None:
        self.text = text
        names: set[str] = set()
        for match in _PLACES.finditer(text):
            if match[0] in ("{", "}"):
                raise InputError(f"{text!r} has a {match[0]!r} without a partner: write it twice for a literal brace")
            if match[1] is not None:
                names |= _names(match[1])
        self.names = frozenset(names)

    def fill(self, values: Mapping[str, Any]) -> str:
        """Return the text with values in place of the placeholders; whole numbers have no decimal point."""
        return _PLACES.sub(lambda match: _filled(match, values), self.text)


def _names(inside: str) -> frozenset[str]:
    try:
        return Expression(inside).names
    except InputError:
        # A name of several words, as columns of tables have: {cores per node}.
        if not _WORDS.fullmatch(inside):
            raise
        return frozenset({inside})


def _filled(match: re.Match[str], values: Mapping[str, Any]) -> str:
    if match[1] is None:
        return match[0][0]
    if match[1] in values:
        return _written(values[match[1]])
    value = Expression(match[1])(values).item()
    if isinstance(value, float) and not math.isfinite(value):
        given = ", ".join(f"{name}={values[name]}" for name in sorted(Expression(match[1]).names))
        raise InputError(f"{match[0]} has no value where {given}: rule that out by a constraint")
    return _written(value)


def _written(value: Any) -> str:
    if isinstance(value, bool | np.bool_):
        return str(value).lower()
    if isinstance(value, float | np.floating):
        number = float(value)
        return str(int(number)) if number.is_integer() and abs(number) < 2**53 else repr(number)
    return str(value)
