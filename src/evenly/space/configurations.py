"""Conversion of tables, columns, arrays, one configuration or a list of configurations to a table."""

from __future__ import annotations

import math
from collections.abc import Mapping, Sequence
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import ArrayLike, NDArray

from evenly.errors import InputError

__all__ = [
    "Configurations",
    "as_label",
    "as_labels",
    "as_number_column",
    "as_table",
    "is_numeric",
    "plain",
    "to_floats",
]

#: The types that functions accept as a table of configurations.
Configurations = pd.DataFrame | Mapping[str, Any] | Sequence[Mapping[str, Any]] | ArrayLike


def as_table(configurations: Configurations, names: Sequence[str] | None = None) -> pd.DataFrame:
    """Return a new table with text as column names and the rows numbered from 0; values stay as they are.

    Parameters
    ----------
    configurations : DataFrame, dict of columns, dict, list of dicts, or array (n, n_parameters)
        A scalar among the columns is repeated for every row.
    names : sequence of str, optional
        Names of an array's columns; ``x0``, ``x1``, … by default.

    Raises
    ------
    InputError
        If columns differ in length, two columns have the same name, or an array has the wrong shape.

    Examples
    --------
    >>> as_table({"cores": [8, 16], "solver": "cg"})
       cores solver
    0      8     cg
    1     16     cg
    """
    if isinstance(configurations, pd.DataFrame):
        table = configurations.reset_index(drop=True)
        table.columns = pd.Index([str(name) for name in table.columns], dtype=object)
        twice = table.columns[table.columns.duplicated()]
        if len(twice):
            raise InputError(f"column names must differ, but {twice[0]!r} is there twice: rename one")
        return table
    if isinstance(configurations, pd.Series):  # a row of a table, or one parameter's values
        a_row = len(configurations) > 0 and all(isinstance(name, str) for name in configurations.index)
        row = {str(name): value for name, value in configurations.items()}
        return _from_columns(row) if a_row else _from_array(configurations.to_numpy(), names)
    if isinstance(configurations, Mapping):
        return _from_columns({str(name): value for name, value in configurations.items()})
    if isinstance(configurations, Sequence) and len(configurations) and isinstance(configurations[0], Mapping):
        return as_table(pd.DataFrame(list(configurations)))
    return _from_array(configurations, names)


def _from_columns(values: Mapping[str, Any]) -> pd.DataFrame:
    scalars = {name for name, value in values.items() if np.ndim(_unlabelled(value)) == 0}
    columns = {name: [value] if name in scalars else _column(value) for name, value in values.items()}
    lengths = [len(column) for name, column in columns.items() if name not in scalars]
    length = 0 if 0 in lengths else max(lengths, default=1 if columns else 0)
    wrong = [name for name, column in columns.items() if len(column) not in (1, length)]
    if wrong:
        raise InputError(
            f"all columns must have as many values ({length}) or one, but {wrong[0]!r} has {len(columns[wrong[0]])}"
        )
    repeated = {
        name: pd.Series(column).repeat(length).reset_index(drop=True) if len(column) == 1 else pd.Series(column)
        for name, column in columns.items()
    }
    return pd.DataFrame(repeated, index=range(length))


def _unlabelled(value: Any) -> Any:
    return value.to_numpy() if isinstance(value, pd.Series | pd.Index) else value


def _column(value: Any) -> Any:
    """Return a flat column; items of a list keep their types (numpy would convert 1 and "a" both to text)."""
    if isinstance(value, pd.Series):
        return value.reset_index(drop=True)
    if isinstance(value, np.ndarray):
        return value.ravel()
    items = list(value)
    if any(np.ndim(item) for item in items):
        return np.ravel(np.asarray(value))
    return pd.Series(items) if items else np.empty(0)


def _from_array(values: Any, names: Sequence[str] | None) -> pd.DataFrame:
    try:
        array: NDArray[Any] = np.asarray(values)
    except ValueError as error:
        raise InputError("configurations must be a table, but their rows have different lengths") from error
    width = None if names is None else len(names)
    if array.ndim == 1 and (width == 1 or names is None):
        array = array[:, None]
    if array.shape == (0,) and width:
        array = np.empty((0, width))
    if array.ndim != 2 or width not in (None, array.shape[1]):
        wanted = "n_parameters" if names is None else f"{width}"
        shown = "" if names is None else f" for {', '.join(names)}"
        raise InputError(f"an array of configurations must have shape (n, {wanted}){shown}, but got {array.shape}")
    return pd.DataFrame(array, columns=list(names or [f"x{i}" for i in range(array.shape[1])]))


def is_numeric(column: pd.Series[Any]) -> bool:
    """Return whether a column holds numbers, whatever its dtype; truth values and text are not numbers.

    Examples
    --------
    >>> is_numeric(pd.Series([1, 2.5, None], dtype=object)), is_numeric(pd.Series([True])), is_numeric(pd.Series(["1"]))
    (True, False, False)
    """
    if column.dtype != object:
        dtype = column.dtype
        number = pd.api.types.is_numeric_dtype(dtype)
        return bool(number and not pd.api.types.is_bool_dtype(dtype) and not pd.api.types.is_complex_dtype(dtype))
    kinds = ("integer", "floating", "mixed-integer-float", "decimal", "integer-na")
    return pd.api.types.infer_dtype(column, skipna=True) in kinds


def as_number_column(column: pd.Series[Any], *, what: str = "") -> NDArray[np.float64]:
    """Return a column as finite numbers, shape (n,); text that spells a number counts as one.

    Raises
    ------
    InputError
        If an entry is missing or not a finite number; the message names the row.

    Examples
    --------
    >>> as_number_column(pd.Series(["8", "16"], name="cores"))
    array([ 8., 16.])
    """
    numbers = to_floats(column)
    bad = np.flatnonzero(~np.isfinite(numbers))
    if len(bad):
        raise InputError(
            f"{what}{column.name!r} must be a finite number, but row {bad[0]} holds {plain(column.iloc[int(bad[0])])}"
        )
    return numbers


def to_floats(column: pd.Series[Any]) -> NDArray[np.float64]:
    """Return a column as float64, shape (n,); an entry that is not a number becomes NaN.

    Examples
    --------
    >>> to_floats(pd.Series(["8", "many", None]))
    array([ 8., nan, nan])
    """
    if isinstance(column.dtype, np.dtype) and column.dtype.kind in "biuf":
        return column.to_numpy(dtype=np.float64)
    if pd.api.types.is_datetime64_any_dtype(column.dtype) or pd.api.types.is_timedelta64_dtype(column.dtype):
        return np.full(len(column), np.nan)  # pandas would convert dates to nanoseconds
    if pd.api.types.is_numeric_dtype(column.dtype) and not pd.api.types.is_complex_dtype(column.dtype):
        return column.to_numpy(dtype=np.float64, na_value=np.nan)  # pandas' own dtypes with NA
    return np.array([_to_float(value) for value in column], dtype=np.float64)


def _to_float(value: Any) -> float:
    # Not pandas.to_numeric: in some versions its result has a rounding error. Python would accept "1_000".
    if isinstance(value, str) and "_" in value:
        return math.nan
    try:
        return float(value)
    except (TypeError, ValueError, OverflowError):
        return math.nan


def plain(value: Any) -> str:
    """Return the repr of a value for messages, without numpy's type.

    Examples
    --------
    >>> plain(np.float64(0.5))
    '0.5'
    """
    return repr(value.item() if isinstance(value, np.generic) else value)


def as_label(value: Any) -> Any:
    """Return a value as a plain Python label; a missing value (None, NaN, NA) becomes None.

    Raises
    ------
    InputError
        If the value is neither text nor a finite number nor a truth value.

    Examples
    --------
    >>> as_label(np.str_("cg")), as_label(float("nan"))
    ('cg', None)
    """
    plain = value.item() if isinstance(value, np.generic) else value
    if plain is None or plain is pd.NA or (isinstance(plain, float) and math.isnan(plain)):
        return None
    if not isinstance(plain, str | bool | int | float) or plain in (math.inf, -math.inf):
        raise InputError(
            f"a label must be text, a finite number, true, false or None, but got {value!r}: turn it into text"
        )
    return plain


#: Types of values that need no conversion to labels.
_PLAIN = {str, int, bool}


def as_labels(column: pd.Series[Any]) -> NDArray[Any]:
    """Return a column as plain Python labels, shape (n,); a missing value (None, NaN, NA) becomes None.

    Raises
    ------
    InputError
        If an entry can't be a label.

    Examples
    --------
    >>> as_labels(pd.Series(["cg", None, 1], dtype=object))
    array(['cg', None, 1], dtype=object)
    """
    labels = np.empty(len(column), dtype=object)
    labels[:] = [value if type(value) in _PLAIN else as_label(value) for value in column.tolist()]
    return labels


def label_order(label: Any) -> tuple[bool, bool, float, str]:
    """Return a sort key for labels: numbers and truth values come first, then text, then None.

    Examples
    --------
    >>> sorted(["b", None, 2, "a", True], key=label_order)
    [True, 2, 'a', 'b', None]
    """
    text = isinstance(label, str)
    return label is None, text, 0.0 if text or label is None else float(label), str(label)
