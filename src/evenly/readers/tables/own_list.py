"""Tables that evenly wrote: what the user chooses of stored runs, and the columns of ``evenly runs list --save``."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass, replace
from pathlib import Path

from evenly.errors import ReadError
from evenly.readers.tables.options import TableOptions
from evenly.readers.tables.roles import only
from evenly.runs.runs import Runs

__all__ = ["OWN", "OwnList", "chosen", "own_list"]

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


def chosen(runs: Runs, options: TableOptions, path: Path) -> Runs:
    """Return the rows, parameters and response that the user chose of stored runs, which say themselves what they are.

    Raises
    ------
    ReadError
        If no row is left, a parameter isn't there, or another option was given.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"cores": [1, 2, 4], "mesh": ["a", "a", "b"], "seconds": [8.0, 4.0, 2.0]})
    >>> runs = Runs.from_frame(table, ["cores", "mesh"])
    >>> kept = chosen(runs, TableOptions(where="cores < 4", parameters=("cores",)), Path("a.runs.csv"))
    >>> len(kept), kept.space.parameters
    (2, {'cores': Integer(low=1, high=2, scale='log', step=1, unit='')})
    """
    if replace(options, where=None, parameters=(), time=None) != TableOptions():
        raise ReadError(
            path,
            "evenly wrote these runs, which say themselves what they are: of the options of a table, only where= "
            "(--where), parameters= (--parameters) and time= (--time) act on them",
        )
    if options.where is not None:
        runs = runs.where(options.where)
        if not len(runs):
            raise ReadError(path, f"no row satisfies where= (--where) {options.where!r}")
        others = {name: unit for name, unit in runs.quantities.items() if name != "seconds"}
        kept = Runs.from_frame(runs.to_frame(), runs.parameters, quantities=others, response=runs.response)
        runs = kept.of_days(runs.days)
    if missing := [name for name in options.parameters if name not in runs.parameters]:
        raise ReadError(path, f"{missing[0]!r} is no parameter of these runs: they have {', '.join(runs.parameters)}")
    return only(runs.learning(options.time or runs.response), options.parameters or runs.parameters)
