"""Which run a row of a table belongs to: its name, repetition, step, machine and date."""

from __future__ import annotations

import re
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import ReadError
from evenly.readers.tables.repetitions import NUMBERS, are_whole, name_runs, number_steps
from evenly.readers.tables.values import Values

__all__ = ["is_unnamed", "keep_books", "with_labels_named"]

_UNNAMED = re.compile(r"(unnamed: ?\d+|__index_level_\d+__)?", re.IGNORECASE)


def is_unnamed(column: str) -> bool:
    """Tell whether a column has no name, as the index that pandas writes.

    Examples
    --------
    >>> is_unnamed(""), is_unnamed("Unnamed: 0"), is_unnamed("cores")
    (True, True, False)
    """
    return _UNNAMED.fullmatch(column) is not None


def with_labels_named(cells: pd.DataFrame) -> tuple[pd.DataFrame, list[str]]:
    """Return a table whose column without a name is called ``label``, if it holds words that repeat, and a note.

    Examples
    --------
    >>> cells, notes = with_labels_named(pd.DataFrame({"": ["fine", "fine", "coarse"], "cores": ["1", "2", "1"]}))
    >>> list(cells), notes
    (['label', 'cores'], ["the column without a name is called 'label'"])
    """
    for column in map(str, cells.columns):
        found = cells[column]
        if is_unnamed(column) and 1 < found.nunique() < len(found) and not any(found.str.match(r"\d|$")):
            name = "label" if "label" not in cells else "label_"
            return cells.rename(columns={column: name}), [f"the column without a name is called {name!r}"]
    return cells, []


def keep_books(
    values: Values, frame: pd.DataFrame, book: Mapping[str, str], parameters: list[str], solver: str | None
) -> str:
    """Add to `frame` in place which run each row belongs to; return what an unnamed index was taken for, if any.

    Parameters
    ----------
    values : Values
        The table's cells.
    frame : DataFrame (n_rows, …)
        The parameters of each row.
    book : mapping of str to str
        The columns of ``run``, ``repetition``, ``step``, ``machine`` and ``when``.
    parameters : list of str
        Names of columns of `frame`.
    solver : str, optional
        The column that names the solver.

    Examples
    --------
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"": ["10", "20", "30"], "cores": ["4", "4", "4"]})
    >>> frame = pd.DataFrame({"cores": [4, 4, 4]})
    >>> keep_books(Values(TableOptions(), Path("a.csv"), cells, np.array([2, 3, 4])), frame, {}, ["cores"], None)
    'the unnamed first column numbers the repetitions (steps of one run)'
    >>> frame["repetition"].tolist()
    [10, 20, 30]
    """
    for role in ("run", "machine", "when"):
        if role in book:
            frame[role] = values.cells[book[role]]
    frame["source"] = str(values.path)
    repetition = _repetition(values, book.get("repetition"))
    steps, note = _steps(values, book.get("step"))
    number = repetition if steps is None else steps
    if number is not None:
        frame["repetition"] = number
    if "run" not in book:
        keys = frame[[*parameters, *(role for role in ("machine",) if role in book)]].copy()
        for extra in (solver, book.get("repetition")):
            if extra is not None:
                keys[f"{extra} of the file"] = values.cells[extra]
        frame["run"] = name_runs(values.path.stem, values.lines, keys, steps)
    elif repetition is not None and steps is not None:
        frame["run"] = [f"{run}:{again}" for run, again in zip(frame["run"], repetition, strict=True)]
    return note


def _repetition(values: Values, column: str | None) -> NDArray[np.int64] | None:
    if column is None:
        return None
    found = values.numbers(column)
    if not are_whole(found, below=NUMBERS):
        raise ReadError(values.path, f"the column {column!r} must hold the number of the repetition")
    return found.astype(np.int64)


def _steps(values: Values, column: str | None) -> tuple[NDArray[np.int64] | None, str]:
    """Return the number of the step of each row, from its column or an unnamed index."""
    if column is not None:
        return values.numbers(column).astype(np.int64), ""
    chosen: tuple[Any, ...] = values.options.parameters
    unnamed = [c for c in values.cells.columns if is_unnamed(c) and c not in chosen]
    if not unnamed:
        return None, ""
    found = values.numbers(unnamed[0])
    if not number_steps(found):
        return None, "the unnamed first column is an index and left out"
    return found.astype(np.int64), "the unnamed first column numbers the repetitions (steps of one run)"
