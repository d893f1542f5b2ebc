"""Enumeration of all combinations of values that obey some rules, in blocks of bounded memory.

Combinations grow by one parameter at a time. Each rule prunes them as soon as all its parameters have values.
"""

from __future__ import annotations

import math
from collections.abc import Iterator, Mapping, Sequence
from typing import Any

import numpy as np
from numpy.typing import NDArray

from evenly.space.constraints import Constraint

__all__ = ["Columns", "count", "iterate"]

Columns = dict[str, NDArray[Any]]

#: The largest number of rows of a block. Memory holds at most one block per parameter at a time.
_BLOCK = 65_536


def iterate(values: Mapping[str, NDArray[Any]], constraints: Sequence[Constraint] = ()) -> Iterator[Columns]:
    """Yield all combinations of values that satisfy the rules, in lexicographic order, as blocks of columns.

    Parameters
    ----------
    values : mapping of str to array (n_values,)
        All values of each parameter.
    constraints : sequence of Constraint
        Rules over these parameters.

    Yields
    ------
    dict of str to array (n,)
        One column per parameter, with n between 1 and 65,536.

    Examples
    --------
    >>> list(iterate({"a": np.array([1, 2]), "b": np.array([3, 4])}, [Constraint("a + b == 5")]))
    [{'a': array([1, 2]), 'b': array([4, 3])}]
    """
    names = list(values)
    due = _due(names, constraints)
    if names:
        yield from _extend({}, 1, values, names, due)


def count(values: Mapping[str, NDArray[Any]], constraints: Sequence[Constraint] = ()) -> int:
    """Return the number of combinations that satisfy the rules.

    Only parameters that occur in a rule are enumerated; each other parameter multiplies the result by its number of
    values.

    Examples
    --------
    >>> count({"a": np.arange(1000), "b": np.arange(1000), "c": np.arange(10**6)}, [Constraint("a == b")])
    1000000000
    """
    if not values:
        return 0
    bound: set[str] = set()
    for constraint in constraints:
        bound |= set(values) if constraint.needs is None else constraint.needs
    free = math.prod(len(values[name]) for name in values if name not in bound)
    first = next(iter(values))
    listed = {name: values[name] for name in values if name in bound}
    if not listed:
        # Rules without parameters, such as "1 < 2", hold for all combinations or for none.
        holds = all(rule.holds({first: values[first][:1]}).all() for rule in constraints)
        return free if holds else 0
    return free * sum(len(next(iter(block.values()))) for block in iterate(listed, constraints))


def _due(names: Sequence[str], constraints: Sequence[Constraint]) -> list[list[Constraint]]:
    """Return for each parameter the rules that can be checked once it and all parameters before it have values."""
    due: list[list[Constraint]] = [[] for _ in names]
    for constraint in constraints:
        needs = names if constraint.needs is None else constraint.needs
        due[max((names.index(name) for name in needs), default=0)].append(constraint)
    return due


def _extend(
    prefix: Columns, n: int, values: Mapping[str, NDArray[Any]], names: Sequence[str], due: Sequence[list[Constraint]]
) -> Iterator[Columns]:
    """Combine the `n` rows of `prefix` with all values of the next parameter, prune, and recurse until the last."""
    depth = len(prefix)
    if depth == len(names):
        yield prefix
        return
    options = values[names[depth]]
    rows = max(1, _BLOCK // len(options))
    for start in range(0, n, rows):
        stop = min(start + rows, n)
        for first in range(0, len(options), _BLOCK):
            part = options[first : first + _BLOCK]
            grown = {name: np.repeat(column[start:stop], len(part)) for name, column in prefix.items()}
            grown[names[depth]] = np.tile(part, stop - start)
            size, grown = _prune(grown, due[depth])
            if size:
                yield from _extend(grown, size, values, names, due)


def _prune(block: Columns, rules: Sequence[Constraint]) -> tuple[int, Columns]:
    for rule in rules:
        holds = rule.holds(block)
        if not holds.all():
            block = {name: column[holds] for name, column in block.items()}
    return len(next(iter(block.values()))), block
