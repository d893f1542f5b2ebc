"""Runs from the rows of a table: what became of each and how long it took, and the runs of one solver."""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.tables.columns import NO_TIME
from evenly.readers.tables.repetitions import are_whole
from evenly.readers.tables.states import state_of
from evenly.readers.tables.values import Values
from evenly.runs.runs import Runs
from evenly.space.expressions import quoted

__all__ = ["runs_of", "status_and_seconds"]


def status_and_seconds(
    values: Values,
    column: str,
    seconds: NDArray[np.float64],
    states: NDArray[np.object_] | None,
    stopped: NDArray[np.bool_],
) -> tuple[pd.Series[Any], pd.Series[Any], str]:
    """Return the status and the seconds of each row, NaN for a failed run, and a note on rows without a time.

    Parameters
    ----------
    values : Values
    column : str
        The column of the time.
    seconds : array (n_rows,)
        Its times.
    states : array (n_rows,), optional
        What another column says of each row.
    stopped : bool array (n_rows,)
        The runs that took as long as their limit.

    Raises
    ------
    ReadError
        If a run that went well has no time above 0.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = Values(TableOptions(), Path("a.csv"), pd.DataFrame({"s": ["9", "-"]}), np.array([2, 3]))
    >>> status, seconds, note = status_and_seconds(cells, "s", np.array([9.0, np.nan]), None, np.zeros(2, bool))
    >>> status.tolist(), seconds.tolist(), note
    (['ok', 'failed'], [9.0, nan], '1 row without a time: kept as failed, and not learned from')
    """
    cells, note = values.cells[column], ""
    status = np.full(len(cells), "ok", dtype=object) if states is None else states.copy()
    unmeasured = np.array(
        [cell.lower() in NO_TIME or (cell != "" and state_of(cell) is not None) for cell in cells], dtype=np.bool_
    )
    longer = values.longer_than(column) | stopped
    status[longer & (status == "ok")] = "timed out"
    if states is None and unmeasured.any():
        late = np.array([state_of(cell) == "timed out" for cell in cells], dtype=np.bool_)
        status[unmeasured] = np.where(late[unmeasured], "timed out", "failed")
        count = int(unmeasured.sum())
        kind = "timed out, after an unknown time" if late[unmeasured].all() else "failed"
        note = f"{count} row{'s' * (count > 1)} without a time: kept as {kind}, and not learned from"
    bad = (status == "ok") & ~((seconds > 0) & np.isfinite(seconds))
    if bad.any():
        row = int(np.flatnonzero(bad)[0])
        way = f", or leave such rows out with {values.options.with_where(f'{quoted(column)} > 0')}"
        raise values.at(
            row,
            f"the time in column {column!r} must be a number above 0, but got {cells.iloc[row]!r}: correct it, or mark "
            f"the run as failed in a column 'status'{way if np.isfinite(seconds[bad]).all() else ''}",
        )
    kept = (status == "ok") | ((status == "timed out") & (seconds > 0))
    times = pd.Series(np.where(kept, seconds, np.nan), index=cells.index)
    return pd.Series(status, index=cells.index), times, note


def runs_of(
    rows: pd.DataFrame,
    parameters: Sequence[str],
    units: Mapping[str, str],
    wrong: Callable[[int, str], ReadError],
    labels: Collection[str] = (),
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
    labels : collection of str
        Parameters of which an empty label is one.

    Raises
    ------
    ReadError
        If another parameter is blank in some rows only.

    Examples
    --------
    >>> rows = pd.DataFrame({"cores": [2.0, 4.0], "mesh": ["", ""], "seconds": [3.0, 1.5]})
    >>> runs_of(rows, ["cores", "mesh"], {}, lambda row, reason: ReadError("runs.csv", reason))
    Runs(2 rows, 2 configurations of cores; seconds 1.5 to 3 s)
    """
    own = [name for name in parameters if not _blank(rows[name]).all()]
    for name in (name for name in own if name not in labels):
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
