"""Layouts: short expressions that say how coupled solvers wait for each other and share cores.

=================  =====================================================  ============  =================
expression         meaning                                                time          cores
=================  =====================================================  ============  =================
``max(a, b)``      side by side, each part on its own cores               the slowest   split
``sum(a, b)``      one after the other, each part on its own cores        added         split
``a + b``          one after the other on the same cores                  added         shared
``3 * a``          three times (iterations of an implicit scheme)         times 3       as `a`
=================  =====================================================  ============  =================

Expressions may be nested: ``max(max(ice, lnd) + atm, ocn)`` is the layout of CESM. Names are written without quotes
(letters, digits, ``_``, ``.``, ``-``; a letter or ``_`` first) or in quotes. A solver that occurs several times is one
solver with one set of cores, as in the coupling graph ``max(sum(a, b), sum(a, c))``. The words ``parallel`` and
``serial`` mean ``max`` and ``sum`` over all solvers (Table 1.1 of the source). Implicit schemes (equations 1.4 and 1.5)
are multiples of these.

Source: "Optimal core assignment for coupled simulations" (thesis), section 1.1.1, equations 1.1-1.5.
"""

from __future__ import annotations

import functools
import itertools
import re
from abc import ABC, abstractmethod
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from typing import Any, final

import numpy as np

from evenly.arguments import explained
from evenly.errors import InputError

__all__ = [
    "InTurn", "Layout", "Repeated", "Shared", "SideBySide", "Solver", "multiplied", "parse_layout", "same_layout",
]  # fmt: skip

_BARE = re.compile(r"[^\W\d][\w.-]*")
_TOKEN = re.compile(
    r"""(?P<name>[^\W\d][\w.-]*)|(?P<quoted>"(?:[^"\\]|\\.)*"|'(?:[^'\\]|\\.)*')"""
    r"""|(?P<number>[0-9]+(?:\.[0-9]*)?(?:[eE][+-]?[0-9]+)?|\.[0-9]+)|(?P<mark>[(),+*])""",
    re.DOTALL,
)


class Layout(ABC):
    """A node of the expression tree: a solver or a group. Nodes are immutable and compare by value."""

    @abstractmethod
    def seconds(self, times: Mapping[str, Any]) -> Any:
        """Return the time of one step from the times of the solvers (numbers, or arrays of one shape)."""

    @abstractmethod
    def children(self) -> tuple[Layout, ...]:
        """Return the nodes directly below."""

    def occurrences(self) -> tuple[str, ...]:
        """Return the solvers' names from left to right, each as often as it occurs."""
        return tuple(itertools.chain.from_iterable(part.occurrences() for part in self.children()))

    @functools.cached_property
    def names(self) -> tuple[str, ...]:
        """The solvers, each once, in order of first occurrence."""
        return tuple(dict.fromkeys(self.occurrences()))

    @functools.cached_property
    def repeats(self) -> bool:
        """Whether some solver occurs more than once."""
        return len(self.occurrences()) > len(self.names)


@dataclass(frozen=True)
class Solver(Layout):
    """One solver."""

    name: str

    def seconds(self, times: Mapping[str, Any]) -> Any:
        return times[self.name]

    def children(self) -> tuple[Layout, ...]:
        return ()

    def occurrences(self) -> tuple[str, ...]:
        return (self.name,)

    def __str__(self) -> str:
        plain = _BARE.fullmatch(self.name) and self.name not in ("max", "sum", "parallel", "serial")
        escaped = self.name.replace("\\", "\\\\").replace('"', '\\"')
        return self.name if plain else f'"{escaped}"'


@dataclass(frozen=True)
class _Group(Layout):
    """A group of several parts."""

    parts: tuple[Layout, ...]

    def __post_init__(self) -> None:
        # Layouts are compared and kept by value: a list of parts can't be.
        object.__setattr__(self, "parts", tuple(self.parts))

    def children(self) -> tuple[Layout, ...]:
        return self.parts


@final
class SideBySide(_Group):
    """Parts that run at the same time, each on its own cores: the slowest part sets the time."""

    def seconds(self, times: Mapping[str, Any]) -> Any:
        return functools.reduce(np.maximum, (part.seconds(times) for part in self.parts))

    def __str__(self) -> str:
        return f"max({', '.join(map(str, self.parts))})"


class _OneAfterTheOther(_Group):
    """Parts that run one after the other: their times are added."""

    def seconds(self, times: Mapping[str, Any]) -> Any:
        return functools.reduce(np.add, (part.seconds(times) for part in self.parts))


@final
class InTurn(_OneAfterTheOther):
    """Parts that run one after the other, each on its own cores; these idle while the other parts run."""

    def __str__(self) -> str:
        return f"sum({', '.join(map(str, self.parts))})"


@final
class Shared(_OneAfterTheOther):
    """Parts that run one after the other on the same cores."""

    def __str__(self) -> str:
        return " + ".join(f"({part})" if isinstance(part, Shared) else str(part) for part in self.parts)


@dataclass(frozen=True)
class Repeated(Layout):
    """A part that runs `count` times per step: the iterations of an implicit scheme."""

    count: float
    part: Layout

    def children(self) -> tuple[Layout, ...]:
        return (self.part,)

    def seconds(self, times: Mapping[str, Any]) -> Any:
        return self.count * self.part.seconds(times)

    def __str__(self) -> str:
        count = f"{self.count:.0f}" if float(self.count).is_integer() and self.count < 1e15 else repr(self.count)
        return f"{count} * ({self.part})" if isinstance(self.part, Shared) else f"{count} * {self.part}"


@explained
def parse_layout(text: str, solvers: Iterable[str] | None = None) -> Layout:
    """Read a layout expression.

    Parameters
    ----------
    text : str
        The expression, or one of the words ``"parallel"`` (max over all solvers) and ``"serial"`` (sum over all).
    solvers : iterable of str, optional
        The names of all solvers. Each must occur in the expression, and no other name may occur.

    Returns
    -------
    Layout
        The expression tree. Parsing ``str(layout)`` again gives an equal layout.

    Raises
    ------
    InputError
        If the expression breaks the grammar, or if it has an unknown solver or lacks one. The message marks the place
        of the error.

    Examples
    --------
    >>> layout = parse_layout("max(max(ice, lnd) + atm, ocn)")
    >>> layout.names
    ('ice', 'lnd', 'atm', 'ocn')
    >>> float(layout.seconds({"ice": 2.0, "lnd": 1.0, "atm": 5.0, "ocn": 6.5}))
    7.0
    >>> print(parse_layout("serial", ["fluid", "solid"]))
    sum(fluid, solid)
    >>> parse_layout("max(a, b - c)")
    Traceback (most recent call last):
    evenly.errors.InputError: the layout can't be read at character 10: '-' is not part of the grammar ...
      max(a, b - c)
               ^
    """
    known = None if solvers is None else tuple(solvers)
    word = text.strip()
    if word in ("parallel", "serial") and known is not None and word not in known:
        return _over_all(word, known)
    layout = _Parser(text, known).layout()
    missing = [name for name in known or () if name not in layout.names]
    if missing:
        raise InputError(
            f"every solver must occur in the layout, but {', '.join(map(repr, missing))} doesn't in {text!r}: "
            "add it there, or leave the solver out"
        )
    return layout


def same_layout(one: Layout, other: Layout) -> bool:
    """Tell whether two layouts say the same, but for the order of parts, and groups in groups of their kind.

    Examples
    --------
    >>> same_layout(parse_layout("max(b + a, c)"), parse_layout("max(c, (a + b))"))
    True
    >>> same_layout(parse_layout("max(a, b)"), parse_layout("sum(a, b)"))
    False
    """
    return _sorted(one) == _sorted(other)


def multiplied(layout: Layout, factors: Mapping[str, float]) -> Layout:
    """Return a layout in which each solver runs so many times as often.

    Examples
    --------
    >>> print(multiplied(parse_layout("max(2 * a, 3 * (b + c))"), {"a": 2, "c": 1 / 3}))
    max(4 * a, 3 * (b + 0.333333 * c))
    """
    if isinstance(layout, _Group):
        return type(layout)(tuple(multiplied(part, factors) for part in layout.parts))
    if isinstance(layout, Repeated) and not isinstance(layout.part, Solver):
        return Repeated(layout.count, multiplied(layout.part, factors))
    solver = layout.part if isinstance(layout, Repeated) else layout
    count = layout.count if isinstance(layout, Repeated) else 1.0
    count = float(f"{count * factors.get(solver.names[0], 1.0):.6g}")
    return solver if count == 1 else Repeated(count, solver)


def _sorted(node: Layout) -> str:
    """Return a text that is the same for layouts that say the same."""
    if not isinstance(node, _Group):
        return f"{node.count!r} * {_sorted(node.part)}" if isinstance(node, Repeated) else repr(str(node))

    def parts(group: Layout) -> Iterable[str]:
        for part in group.children():
            yield from parts(part) if type(part) is type(node) else [_sorted(part)]

    return f"{type(node).__name__}({', '.join(sorted(parts(node)))})"


def _over_all(word: str, names: Sequence[str]) -> Layout:
    parts = tuple(Solver(name) for name in names)
    if not parts:
        raise InputError("a layout needs at least one solver, but got none")
    if len(parts) == 1:
        return parts[0]
    return SideBySide(parts) if word == "parallel" else InTurn(parts)


#: Levels of parentheses, groups and factors; layouts of real couplings have a handful.
_DEEPEST = 100


@dataclass(frozen=True)
class _Token:
    kind: str
    text: str
    start: int


class _Parser:
    """Recursive-descent parser: ``shared := repeated ('+' repeated)*; repeated := NUMBER '*' repeated | atom``.

    An atom is a solver, a group ``max(…, …)`` or ``sum(…, …)``, or a layout in parentheses.
    """

    def __init__(self, text: str, known: tuple[str, ...] | None) -> None:
        self.text = text
        self.known = known
        self.tokens = self._tokens()
        self.at = self.depth = 0

    def layout(self) -> Layout:
        node = self._shared()
        if self._next().kind != "end":
            raise self._error(self._next(), f"expected '+' or the end, but got {self._next().text!r}")
        return node

    def _tokens(self) -> list[_Token]:
        tokens, at = [], 0
        while at < len(self.text):
            if self.text[at].isspace():
                at += 1
                continue
            found = _TOKEN.match(self.text, at)
            if found is None:
                symbol = _Token("?", self.text[at], at)
                unclosed = symbol.text in "\"'"
                reason = "this quote is never closed" if unclosed else f"{symbol.text!r} is not part of the grammar"
                raise self._error(symbol, reason)
            tokens.append(_Token(str(found.lastgroup), found.group(), at))
            at = found.end()
        return [*tokens, _Token("end", "the end", len(self.text))]

    def _next(self, ahead: int = 0) -> _Token:
        return self.tokens[min(self.at + ahead, len(self.tokens) - 1)]

    def _take(self) -> _Token:
        token = self._next()
        self.at += 1
        return token

    def _shared(self) -> Layout:
        parts = [self._repeated()]
        while self._next().text == "+":
            self._take()
            parts.append(self._repeated())
        return parts[0] if len(parts) == 1 else Shared(tuple(parts))

    def _repeated(self) -> Layout:
        self.depth += 1
        if self.depth > _DEEPEST:
            raise self._error(self._next(), f"more than {_DEEPEST} levels are nested here")
        node = self._times() if self._next().kind == "number" else self._atom()
        self.depth -= 1
        return node

    def _times(self) -> Layout:
        number = self._take()
        if not 0 < float(number.text) < float("inf"):
            raise self._error(number, "a number of iterations must be above zero")
        if self._next().text != "*":
            raise self._error(self._next(), f"expected '*' after a number, but got {self._next().text!r}")
        self._take()
        return Repeated(float(number.text), self._repeated())

    def _atom(self) -> Layout:
        token = self._take()
        if token.text == "(":
            inside = self._shared()
            self._close()
            return inside
        if token.kind == "name" and self._next().text == "(":
            return self._group(token)
        if token.kind in ("name", "quoted"):
            return self._solver(token)
        raise self._error(token, f"expected a solver, a number, 'max(', 'sum(' or '(', but got {token.text!r}")

    def _group(self, word: _Token) -> Layout:
        if word.text not in ("max", "sum"):
            raise self._error(word, f"groups are max(…) and sum(…), but got {word.text + '(…)'!r}")
        self._take()
        parts = [self._shared()]
        while self._next().text == ",":
            self._take()
            parts.append(self._shared())
        self._close()
        return SideBySide(tuple(parts)) if word.text == "max" else InTurn(tuple(parts))

    def _solver(self, token: _Token) -> Solver:
        quoted = token.kind == "quoted"
        name = re.sub(r"(?s)\\(.)", r"\1", token.text[1:-1]) if quoted else token.text
        if not name:
            raise self._error(token, "a solver's name can't be empty")
        if self.known is not None and name not in self.known:
            raise self._error(token, f"there is no solver {name!r}; the solvers are {', '.join(self.known)}")
        if self._next().text == "*":
            raise self._error(self._next(), f"the number comes first: write 'N * {name}'")
        return Solver(name)

    def _close(self) -> None:
        token = self._take()
        if token.text != ")":
            raise self._error(token, f"expected ',' or '+' or ')', but got {token.text!r}")

    def _error(self, token: _Token, reason: str) -> InputError:
        marked = f"  {self.text}\n  {' ' * token.start}^"
        return InputError(
            f"the layout can't be read at character {token.start + 1}: {reason} "
            f"(allowed: names, max(…, …), sum(…, …), a + b, 3 * a, parentheses)\n{marked}"
        )
