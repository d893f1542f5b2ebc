"""One table of runs for each value of a column: of each region of a program, of each machine, of each solver."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from evenly.errors import InputError
from evenly.runs.runs import Runs
from evenly.space.configurations import label_order
from evenly.space.space import Space

__all__ = ["by_value", "constants"]


def constants(runs: Runs) -> dict[str, Any]:
    """Return the parameters that have one value in all runs, with it.

    Examples
    --------
    >>> import pandas as pd
    >>> constants(Runs.from_frame(pd.DataFrame({"p": [1, 2], "n": [9, 9], "seconds": [2.0, 1.0]}), ["p", "n"]))
    {'n': 9}
    """
    table = runs.configurations
    return {name: table[name].tolist()[0] for name in runs.parameters if len(table) and table[name].nunique() == 1}


def by_value(runs: Runs | Mapping[str, Runs], column: str) -> dict[str, Runs]:
    """Split runs by a parameter; the parameter, and those that never vary, are no parameters of the parts.

    Parameters
    ----------
    runs : Runs or mapping of str to Runs
        The runs, or those of several solvers; the names of parts then start with the solver's.
    column : str
        A parameter of the runs.

    Returns
    -------
    dict of str to Runs
        The runs of each value, in the order in which values first appear.

    Raises
    ------
    InputError
        If the runs have no such parameter, or no other one that varies.

    Examples
    --------
    >>> import pandas as pd
    >>> table = pd.DataFrame({"region": ["a", "b"] * 2, "p": [1, 1, 2, 2], "n": 9, "seconds": [2.0, 9.0, 1.0, 8.0]})
    >>> by_value(Runs.from_frame(table, ["region", "p", "n"]), "region")["b"]
    Runs(2 rows, 2 configurations of p; seconds 8 to 9 s)
    """
    if not isinstance(runs, Runs):
        return {
            f"{solver}: {value}" if len(runs) > 1 else value: part
            for solver, one in runs.items()
            for value, part in by_value(one, column).items()
        }
    if column not in runs.parameters:
        raise InputError(f"there is no parameter {column!r} to split runs by: there are {', '.join(runs.parameters)}")
    kept = [name for name in runs.parameters if name != column and name not in constants(runs)]
    if not kept:
        raise InputError(f"no parameter beside {column!r} varies, so there is nothing to learn: measure several scales")
    space = Space.of({name: runs.space.parameters[name] for name in kept})
    table = runs.to_frame()
    rows: dict[Any, list[int]] = {}
    for row, value in enumerate(table[column].tolist()):
        rows.setdefault(value, []).append(row)
    order = list(rows) if table[column].dtype == object else sorted(rows, key=label_order)
    return {
        str(value): Runs(
            table.iloc[rows[value]], space=space, quantities=runs.quantities, response=runs.response, days=runs.days
        )
        for value in order
    }
