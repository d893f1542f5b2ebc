"""Runs of one solver from its rows of a table."""

from __future__ import annotations

from collections.abc import Callable, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.tables.repetitions import are_whole
from evenly.runs.runs import Runs

__all__ = ["runs_of"]


def runs_of(
    rows: pd.DataFrame, parameters: Sequence[str], units: Mapping[str, str], wrong: Callable[[int, str], ReadError]
) -> Runs:
    """Return the runs in the rows of one solver.

    Parameters
    ----------
    rows : DataFrame (n_rows, …)
        Parameters, quantities in base units, bookkeeping.
    parameters : sequence of str
        Those of all solvers; one that is blank in all rows concerns others only.
    units : mapping of str to str
        Base units of the quantities beside the time.
    wrong : callable
        Builds the error from a row's label and a reason.

    Raises
    ------
    ReadError
        If a parameter is blank in some rows only.

    Examples
    --------
    >>> rows = pd.DataFrame({"cores": [2.0, 4.0], "mesh": ["", ""], "seconds": [3.0, 1.5]})
    >>> runs_of(rows, ["cores", "mesh"], {}, lambda row, reason: ReadError("runs.csv", reason))
    Runs(2 rows, 2 configurations of cores; seconds 1.5 to 3 s)
    """
    own = [name for name in parameters if not _blank(rows[name]).all()]
    for name in own:
        blank = np.flatnonzero(_blank(rows[name]))
        if len(blank):
            raise wrong(
                int(rows.index[int(blank[0])]),
                f"the parameter {name!r} has no value in this row: fill it in, leave the row out with where= "
                "(--where), or name the parameters without it in parameters= (--parameters)",
            )
    present = {name: unit for name, unit in units.items() if rows[name].notna().any()}
    table = rows.astype({name: np.int64 for name in own if _whole(rows[name])})
    return Runs.from_frame(table, own, "seconds", quantities=present)


def _blank(column: pd.Series[Any]) -> NDArray[np.bool_]:
    return np.asarray(column.isna() | (column.astype(str) == ""), dtype=np.bool_)


def _whole(column: pd.Series[Any]) -> bool:
    """Tell whether a numeric column holds only whole numbers (a blank of another solver had made it a float)."""
    return column.dtype == np.float64 and are_whole(column.to_numpy())
