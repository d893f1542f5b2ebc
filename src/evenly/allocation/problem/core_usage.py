"""The number of cores that an assignment uses in total.

Two solvers can't share cores if they belong to different parts of any ``max`` or ``sum`` group. All other pairs can.
Where each solver occurs once, the total follows from the expression: ``max`` and ``sum`` add the cores of their parts,
``+`` takes the largest. Where solvers occur several times, the graph of pairs that can't share cores is decomposed into
sums and maxima. This is possible if the graph is a cograph. For any other graph it is ambiguous which solvers share
cores, so the layout is refused.

Source: D. G. Corneil, H. Lerchs and L. Stewart Burlingham, "Complement reducible graphs", Discrete Applied Mathematics
3 (1981) 163-174.
"""

from __future__ import annotations

import itertools
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from functools import lru_cache, reduce
from typing import Any

import numpy as np

from evenly.allocation.problem.layout import InTurn, Layout, SideBySide
from evenly.errors import InputError

__all__ = ["Footprint", "footprint_of"]


@dataclass(frozen=True)
class Footprint:
    """A tree that says which solvers share cores.

    Parameters
    ----------
    kind : {"solver", "split", "share"}
        The node's kind: a solver, parts on separate cores, or parts on the same cores.
    name : str
        The solver's name, for a solver.
    parts : tuple of Footprint
        The parts, for the others.
    """

    kind: str
    name: str = ""
    parts: tuple[Footprint, ...] = ()

    def cores(self, cores: Mapping[str, Any]) -> Any:
        """Return the cores used in total by an assignment (numbers, or integer arrays of one shape)."""
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
        """Return the names of all solvers in this subtree."""
        return (self.name,) if self.kind == "solver" else tuple(n for part in self.parts for n in part.names())


@lru_cache(maxsize=32)
def footprint_of(layout: Layout) -> Footprint:
    """Return the tree that says which solvers of a layout share cores.

    Raises
    ------
    InputError
        If this is ambiguous, since solvers occur several times. If solvers would run beside themselves.

    Examples
    --------
    >>> from evenly.allocation.problem.layout import parse_layout
    >>> int(footprint_of(parse_layout("max(max(ice, lnd) + atm, ocn)")).cores({"ice": 3, "lnd": 4, "atm": 6, "ocn": 2}))
    9
    >>> int(footprint_of(parse_layout("max(sum(a, b), sum(a, c))")).cores({"a": 3, "b": 4, "c": 6}))
    13
    """
    _check_no_twins(layout, layout)
    return _take_apart(layout.names, _excluding(layout), layout)


def _check_no_twins(node: Layout, layout: Layout) -> None:
    """Refuse a part of ``max`` whose solvers are all in another part, too.

    Parts that go on with other solvers, as in ``max(sum(a, b), sum(a, c))``, tell of one run of a, before b and c.
    """
    if isinstance(node, SideBySide):
        flat = [one for part in node.parts for one in (part.parts if isinstance(part, SideBySide) else (part,))]
        for one, other in itertools.permutations(flat, 2):
            if set(one.names) <= set(other.names):
                raise InputError(
                    f"the layout {str(layout)!r} has {' and '.join(one.names)} in two parts of max(…), which run at "
                    f"the same time, {one} and {other}: take one of them out"
                )
    for part in node.children():
        _check_no_twins(part, layout)


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
    # Cograph decomposition: a cograph of two or more nodes is disconnected, or its complement is. Solvers of different
    # components of the graph may share cores. Solvers of different components of the complement can't.
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
