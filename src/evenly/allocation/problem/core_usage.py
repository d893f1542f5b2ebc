"""How many cores an assignment uses in total.

Two solvers that ever run side by side, or hold cores of their own in one group, can't share cores; all others can.
Where each solver occurs once, this follows the expression: groups of ``max`` and ``sum`` add their parts' cores, ``+``
takes the larger. Where solvers occur several times, the graph of pairs that exclude each other is taken apart into
sums and maxima. This works where it is a cograph; any other graph leaves open who shares with whom, and is refused.

Source: D. G. Corneil, H. Lerchs and L. Stewart Burlingham, "Complement reducible graphs", Discrete Applied Mathematics
3 (1981) 163-174.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import reduce
from typing import Any

import numpy as np

from evenly.allocation.problem.layout import InTurn, Layout, SideBySide
from evenly.errors import InputError

__all__ = ["Footprint", "footprint_of"]


@dataclass(frozen=True)
class Footprint:
    """A tree of who shares cores with whom.

    Parameters
    ----------
    kind : {"solver", "split", "share"}
        A solver, parts with cores of their own, or parts on the same cores.
    name : str
        The solver's name, for a solver.
    parts : tuple of Footprint
        The parts, for the others.
    """

    kind: str
    name: str = ""
    parts: tuple[Footprint, ...] = ()

    def cores(self, cores: Mapping[str, Any]) -> Any:
        """Return the total for an assignment (numbers, or integer arrays of one shape)."""
        if self.kind == "solver":
            return cores[self.name]
        totals = [part.cores(cores) for part in self.parts]
        return sum(totals[1:], totals[0]) if self.kind == "split" else reduce(np.maximum, totals)

    def places(self, cores: Mapping[str, int], base: int = 0) -> dict[str, int]:
        """Return the first core of each solver, counted from `base`; parts that share cores start at the same one.

        Examples
        --------
        >>> from evenly.allocation.problem.layout import parse_layout
        >>> footprint_of(parse_layout("max(a + b, c)")).places({"a": 4, "b": 6, "c": 2})
        {'a': 0, 'b': 0, 'c': 6}
        """
        if self.kind == "solver":
            return {self.name: base}
        found: dict[str, int] = {}
        for part in self.parts:
            found |= part.places(cores, base)
            base += int(part.cores(cores)) if self.kind == "split" else 0
        return found

    def names(self) -> tuple[str, ...]:
        """Return the solvers below."""
        return (self.name,) if self.kind == "solver" else tuple(n for part in self.parts for n in part.names())


def footprint_of(layout: Layout) -> Footprint:
    """Return who shares cores with whom.

    Raises
    ------
    InputError
        If solvers that occur several times leave it open.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> int(footprint_of(parse_layout("max(max(ice, lnd) + atm, ocn)")).cores({"ice": 3, "lnd": 4, "atm": 6, "ocn": 2}))
    9
    >>> int(footprint_of(parse_layout("max(sum(a, b), sum(a, c))")).cores({"a": 3, "b": 4, "c": 6}))
    13
    """
    return _take_apart(layout.names, _excluding(layout), layout)


def _excluding(layout: Layout) -> set[frozenset[str]]:
    pairs: set[frozenset[str]] = set()
    for part in layout.children():
        pairs |= _excluding(part)
    if isinstance(layout, SideBySide | InTurn):
        for one, other in itertools.combinations(layout.parts, 2):
            pairs |= {frozenset((a, b)) for a in one.names for b in other.names if a != b}
    return pairs


def _take_apart(names: tuple[str, ...], pairs: set[frozenset[str]], layout: Layout) -> Footprint:
    if len(names) == 1:
        return Footprint("solver", names[0])
    # A cograph or its complement is disconnected: components of the graph of pairs that exclude each other may share
    # cores; components of its complement all exclude each other, and need cores of their own.
    for kind, linked in (
        ("share", lambda a, b: frozenset((a, b)) in pairs),
        ("split", lambda a, b: frozenset((a, b)) not in pairs),
    ):
        groups = _components(names, linked)
        if len(groups) > 1:
            return Footprint(kind, parts=tuple(_take_apart(group, pairs, layout) for group in groups))
    raise InputError(
        f"the layout {str(layout)!r} leaves open which of {', '.join(names)} share cores: let solvers that occur "
        "several times have their own cores (sum instead of +)"
    )


def _components(names: tuple[str, ...], linked: Callable[[str, str], bool]) -> list[tuple[str, ...]]:
    left, groups = list(names), []
    while left:
        reached, queue = {left[0]}, [left[0]]
        while queue:
            here = queue.pop()
            new = [name for name in left if name not in reached and linked(here, name)]
            reached.update(new)
            queue.extend(new)
        groups.append(tuple(name for name in left if name in reached))
        left = [name for name in left if name not in reached]
    return groups
