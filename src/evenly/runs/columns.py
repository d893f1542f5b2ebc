"""The columns of a table of runs: their names, checks of their values, and aggregation over repetitions."""

from __future__ import annotations

import datetime
from collections.abc import Iterable, Sequence
from typing import Any, Literal, get_args

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.runs.durations import parse
from evenly.runs.units import to_base
from evenly.space.configurations import label_order, plain, to_floats

__all__ = [
    "BOOKKEEPING", "Status", "add_bookkeeping", "as_text", "bounds_as_seconds", "check_columns", "group_ids",
    "measured", "series_of_runs", "stacked", "status_of", "summarised", "with_bounds",
]  # fmt: skip

Status = Literal["ok", "failed", "timed out"]

#: Columns that every table has besides its parameters and quantities.
BOOKKEEPING = ("run", "repetition", "status", "machine", "when", "source")


def check_columns(frame: pd.DataFrame, parameters: Sequence[str], time: str, quantities: Iterable[str]) -> None:
    """Raise `InputError` if a named column is missing, is named twice, or has a name that evenly reserves.

    Examples
    --------
    >>> check_columns(pd.DataFrame({"cores": [1], "s": [2.0]}), ["cores"], "t", [])
    Traceback (most recent call last):
    evenly.errors.InputError: there is no column 't': the table has 'cores', 's'
    """
    extra = list(quantities)
    missing = [name for name in [*parameters, time, *extra] if name not in frame.columns]
    if missing:
        raise InputError(f"there is no column {missing[0]!r}: the table has {', '.join(map(repr, frame.columns))}")
    if not len(parameters):
        raise InputError("at least one column must be a parameter (what was varied between runs)")
    twice = sorted({name for name in parameters if list(parameters).count(name) > 1 or name in (time, *extra)})
    if twice:
        raise InputError(f"{twice[0]!r} is named twice: a column is either one parameter or one measured quantity")
    reserved = (*BOOKKEEPING, "count", "spread")
    taken = [("a parameter", name) for name in parameters if name in (*reserved, "seconds")]
    taken += [("a quantity", name) for name in extra if name in reserved or (name == "seconds" and time != "seconds")]
    if taken:
        what, name = taken[0]
        raise InputError(f"{what} may not be called {name!r}, which evenly uses itself: rename the column")


def status_of(source: pd.DataFrame) -> pd.Series[Any]:
    """Return the status of each row, shape (n,); ``"ok"`` everywhere if there is no such column.

    Examples
    --------
    >>> status_of(pd.DataFrame({"cores": [1, 2]})).tolist()
    ['ok', 'ok']
    """
    if "status" not in source:
        return pd.Series(["ok"] * len(source), index=source.index, dtype=object)
    status = as_text(source["status"])
    strange = np.flatnonzero(~status.isin(get_args(Status)).to_numpy(dtype=np.bool_))
    if len(strange):
        raise InputError(
            f"status must be one of {', '.join(get_args(Status))}, but row {strange[0]} holds "
            f"{status.iloc[int(strange[0])]!r}"
        )
    return status


def measured(
    column: pd.Series[Any], unit: str, ok: NDArray[np.bool_], *, must_be_positive: bool
) -> NDArray[np.float64]:
    """Return a measured column in its base unit, shape (n,); NaN where there is no finite number.

    Parameters
    ----------
    column : Series (n,)
        Measured values in `unit`.
    unit : str
        A unit that `evenly.runs.units.to_base` knows.
    ok : array (n,)
        Whether each run succeeded (status ``"ok"``).
    must_be_positive : bool
        True for the time. Any other quantity may be zero, or missing where it was not measured.

    Raises
    ------
    InputError
        If the value of a successful run is not allowed; the message names the row.

    Examples
    --------
    >>> measured(pd.Series(["01:02:03", 80.5]), "s", np.array([True, True]), must_be_positive=True).tolist()
    [3723.0, 80.5]
    >>> measured(pd.Series([80, "lost"]), "ms", np.array([True, False]), must_be_positive=True)
    array([0.08,  nan])
    """
    values = to_base(_seconds(column) if must_be_positive and unit == "s" else to_floats(column), unit)
    allowed = np.isfinite(values) & ((values > 0) if must_be_positive else (values >= 0))
    if not must_be_positive:
        allowed |= column.isna().to_numpy(dtype=np.bool_)
    bad = np.flatnonzero(ok & ~allowed)
    if len(bad):
        rule = "above zero" if must_be_positive else "zero or more"
        raise InputError(
            f"{column.name!r} must be a finite number, {rule}, for a run that went well, but row {bad[0]} holds "
            f"{plain(column.iloc[int(bad[0])])}: correct it, or mark the run in a 'status' column"
        )
    return np.where(np.isfinite(values), values, np.nan)


def _seconds(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return seconds, shape (n,), from numbers, from time differences, or from texts as ``01:02:03``."""
    if pd.api.types.is_timedelta64_dtype(column.dtype):
        return np.asarray(column.dt.total_seconds(), dtype=np.float64)
    seconds = to_floats(column)
    if column.dtype == object:
        for row in np.flatnonzero(np.isnan(seconds)):
            value = column.iloc[int(row)]
            if isinstance(value, datetime.timedelta):
                seconds[row] = value.total_seconds()
            elif isinstance(value, str):
                seconds[row] = parse(value)
    return seconds


def add_bookkeeping(table: pd.DataFrame, source: pd.DataFrame, parameters: Sequence[str]) -> None:
    """Add the columns of `BOOKKEEPING` to `table` in place: from `source` where it has them, else defaults.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [1, 1, 2]})
    >>> add_bookkeeping(table, table.copy(), ["cores"])
    >>> table["repetition"].tolist()
    [0, 1, 0]
    """
    numbers = pd.Series([str(i) for i in range(len(source))], dtype=object)
    table["run"] = as_text(source["run"]) if "run" in source else numbers
    table["repetition"] = _repetition(source, table, parameters)
    table["status"] = status_of(source)
    for name in ("machine", "when", "source"):
        table[name] = as_text(source[name]) if name in source else pd.Series("", index=table.index, dtype=object)


def _repetition(source: pd.DataFrame, table: pd.DataFrame, parameters: Sequence[str]) -> pd.Series[Any]:
    if "repetition" not in source:
        ids = group_ids(table, parameters)
        return ids.groupby(ids).cumcount().astype(np.int64)
    numbers = to_floats(source["repetition"])
    bad = np.flatnonzero(~(np.isfinite(numbers) & (numbers == np.round(numbers))))
    if len(bad):
        raise InputError(
            f"'repetition' must be a whole number, but row {bad[0]} holds "
            f"{plain(source['repetition'].iloc[int(bad[0])])}: rename the column if it means something else"
        )
    return pd.Series(numbers.astype(np.int64), index=table.index)


def as_text(column: pd.Series[Any]) -> pd.Series[Any]:
    """Return a column as Python text, shape (n,); a missing value becomes "".

    Examples
    --------
    >>> as_text(pd.Series([7, None, "x"], dtype=object)).tolist()
    ['7', '', 'x']
    """
    missing = column.isna().to_numpy(dtype=np.bool_)
    texts = ["" if lost else str(value) for value, lost in zip(column.tolist(), missing, strict=True)]
    return pd.Series(texts, index=column.index, dtype=object)


def group_ids(table: pd.DataFrame, names: Sequence[str]) -> pd.Series[int]:
    """Return for each row the number of its group, shape (n,); rows with equal values in `names` form one group.

    Groups are numbered from 0 in sort order: numbers, then text, then None.

    Examples
    --------
    >>> group_ids(pd.DataFrame({"a": ["x", None, "x", 3]}, dtype=object), ["a"]).tolist()
    [1, 2, 1, 0]
    """
    keys = [_ranks(table[name]) if table[name].dtype == object else table[name].to_numpy() for name in names]
    return pd.DataFrame(dict(enumerate(keys)), index=table.index).groupby(list(range(len(keys)))).ngroup()


def _ranks(column: pd.Series[Any]) -> NDArray[np.int64]:
    labels = dict.fromkeys(column)
    order = {label: rank for rank, label in enumerate(sorted(labels, key=label_order))}
    return np.array([order[label] for label in column], dtype=np.int64)


def summarised(
    table: pd.DataFrame, parameters: Sequence[str], quantities: Sequence[str], response: str, statistic: str
) -> pd.DataFrame:
    """Return one row per configuration that summarises its repetitions; `Runs.aggregate` calls this.

    Parameters
    ----------
    table : DataFrame (n_rows, …)
        The successful runs.
    parameters, quantities : sequence of str
        Column names.
    response : str
        The quantity whose repetitions are counted and whose standard deviation is computed.
    statistic : {"median", "min", "mean"}
        The statistic of each quantity over the repetitions.

    Returns
    -------
    DataFrame (n_configurations, …)
        The parameters, the quantities, ``count`` and ``spread``; see `Runs.aggregate`.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [2, 1, 2], "s": [3.0, 9.0, 5.0]})
    >>> summarised(table, ["cores"], ["s"], "s", "mean")
       cores    s  count    spread
    0      1  9.0      1  0.000000
    1      2  4.0      2  1.414214
    """
    good = table.reset_index(drop=True)
    ids = group_ids(good, parameters)
    groups = good.groupby(ids)
    first = ids.drop_duplicates().sort_values().index
    result = good.loc[first, list(parameters)].reset_index(drop=True)
    condensed = getattr(groups[list(quantities)], statistic)()
    for name in quantities:
        result[name] = condensed[name].to_numpy(dtype=np.float64)
    result["count"] = groups[response].count().to_numpy(dtype=np.int64)
    result["spread"] = groups[response].std(ddof=1).fillna(0.0).to_numpy(dtype=np.float64)
    return result


def with_bounds(
    measured: pd.DataFrame, rows: pd.DataFrame, bounds: NDArray[np.float64], parameters: Sequence[str], response: str,
    statistic: str,
) -> pd.DataFrame:  # fmt: skip
    """Return the summary of configurations whose repetitions partly hit their limit; `Runs.evidence` calls this.

    Parameters
    ----------
    measured : DataFrame (n_configurations, …)
        The summary of the successful repetitions, with a column ``censored``.
    rows : DataFrame (n_rows, …)
        The successful runs, and those that hit their limit.
    bounds : array (n_rows,)
        The limit of each of the latter; NaN for the former.
    parameters, response, statistic
        See `summarised`.
    """
    rows = rows.reset_index(drop=True)
    ids = group_ids(rows, parameters)
    first = rows.loc[ids.drop_duplicates().sort_values().index, list(parameters)].reset_index(drop=True)
    late, seconds = pd.Series(np.isfinite(bounds)), rows[response].astype(np.float64)
    usual = getattr(seconds.where(~late).groupby(ids), statistic)()
    counted = (seconds.notna() & ~(late & (seconds <= ids.map(usual)))).to_numpy()
    low, high = (
        getattr(values[counted].groupby(ids[counted]), statistic)() for values in (seconds, seconds.mask(late, np.inf))
    )
    found = first.assign(**{response: low.reindex(range(len(first))), "censored": (low < high)})
    found["count"] = pd.Series(counted).groupby(ids).sum()
    found = found[found[response].notna()]
    # The summary of the successful repetitions stays, but for what limits change.
    table = found.merge(measured.drop(columns=[response, "censored", "count"]), on=list(parameters), how="left")
    table = table[list(measured.columns)].fillna({"spread": 0.0}).astype({"count": np.int64})
    return pd.concat([table[~table["censored"]], table[table["censored"]]], ignore_index=True)


def bounds_as_seconds(table: pd.DataFrame) -> None:
    """Write into ``seconds``, in place, what earlier versions kept in ``at_least``: when runs were ended.

    Examples
    --------
    >>> table = pd.DataFrame({"status": ["ok", "timed out"], "seconds": [2.0, np.nan], "at_least": [np.nan, 9.0]})
    >>> bounds_as_seconds(table)
    >>> table["seconds"].tolist()
    [2.0, 9.0]
    """
    if "at_least" in table and "seconds" in table:
        late = (table["status"] == "timed out") & table["at_least"].notna()
        table["seconds"] = table["seconds"].mask(late, table["at_least"])


def series_of_runs(table: pd.DataFrame, parameters: Sequence[str], response: str) -> list[NDArray[np.float64]]:
    """Return the response of each step of each run, (n_steps,), ordered by repetition; runs with most steps first.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": 4, "run": ["b", "a", "a"], "repetition": [0, 1, 0], "s": [9.0, 3.0, 2.0]})
    >>> series_of_runs(table, ["cores"], "s")
    [array([2., 3.]), array([9.])]
    """
    if not len(table):
        return []
    ids = group_ids(table, [*parameters, "run"])
    ordered = table.sort_values("repetition", kind="stable")
    found = [np.asarray(run[response], dtype=np.float64) for _, run in ordered.groupby(ids)]
    return sorted(found, key=len, reverse=True)


def stacked(tables: Sequence[pd.DataFrame], name: str) -> pd.Series[Any]:
    """Concatenate one column of several tables; NaN for the rows of a table without this column.

    Examples
    --------
    >>> stacked([pd.DataFrame({"a": [1.0]}), pd.DataFrame({"b": [2.0]})], "a").tolist()
    [1.0, nan]
    """
    parts = [t[name].to_numpy() if name in t else np.full(len(t), np.nan) for t in tables]
    if any(part.dtype == object for part in parts):
        return pd.Series(np.concatenate([part.astype(object) for part in parts]), dtype=object)
    return pd.Series(np.concatenate(parts))
