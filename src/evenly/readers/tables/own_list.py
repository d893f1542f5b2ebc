"""Tables that ``evenly runs list --save`` wrote: the order of their columns tells which are the parameters."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

__all__ = ["OWN", "OwnList", "own_list"]

#: Why a column of such a table is a parameter, or none.
OWN = "evenly's own list of runs says so"
#: Columns that follow each other in it: behind the parameters, and behind the quantities.
_FIRST = ("repetition", "purpose", "status")
_LATER = ("exit_code", "message", "last_words", "took", "machine")
#: What else it tells of a run that is no parameter.
_TOLD = frozenset({*_FIRST[1:2], *_LATER[:-1], "cpu", "peak_memory", "queued_s", "limit_s", "cut_s", "why"})


@dataclass(frozen=True)
class OwnList:
    """The columns of such a table: its parameters, the measured quantities, and what else is told of each run."""

    parameters: tuple[str, ...]
    quantities: tuple[str, ...]
    told: tuple[str, ...]


def own_list(columns: Sequence[str]) -> OwnList | None:
    """Return what evenly's own columns are; None if evenly didn't write them in this order.

    Examples
    --------
    >>> own = ["repetition", "purpose", "status", "seconds", "exit_code", "message", "last_words", "took", "machine"]
    >>> own_list(["ranks", "name", *own])
    OwnList(parameters=('ranks', 'name'), quantities=('seconds',),
        told=('purpose', 'exit_code', 'message', 'last_words', 'took'))
    >>> own_list(["ranks", "seconds"]) is None
    True
    """
    plain = [re.sub("^(run_)+", "", name) for name in columns]
    first, later = _place(plain, _FIRST), _place(plain, _LATER)
    if first is None or later is None or later < first:
        return None
    behind = (first + 1, *range(later, len(columns)))
    told = tuple(columns[at] for at in behind if plain[at] in _TOLD)
    return OwnList(tuple(columns[:first]), tuple(columns[first + len(_FIRST) : later]), told)


def _place(names: Sequence[str], those: tuple[str, ...]) -> int | None:
    """Return where these names follow each other for the last time."""
    return next((at for at in range(len(names), -1, -1) if tuple(names[at : at + len(those)]) == those), None)
