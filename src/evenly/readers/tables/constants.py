"""What is the same in all rows of a table: it isn't learned from, but may tell what the times are of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence

import pandas as pd

from evenly.readers.tables.identifiers import USERS, is_of_remarks, is_prose
from evenly.readers.tables.lone_work import days_in
from evenly.readers.tables.roles import NAMED, Column, words_of
from evenly.runs.count_names import kind_of, letters
from evenly.runs.runs import Runs
from evenly.runs.weak_scaling import is_per_worker

__all__ = ["SETTINGS", "constants_said", "texts_of_all_rows"]

#: Words of settings that nobody takes for a factor of the times.
SETTINGS = frozenset({
    "mesh", "grid", "gitter", "maillage", "malla", "resolution", "res", "points", "cells", "elements", "dofs", "size",
    "level", "levels", "order", "threads", "version", "code", "model", "compiler", "machine", "system", "cluster",
    "program", "name",
})  # fmt: skip
#: So many are named.
_MOST = 8


def texts_of_all_rows(cells: pd.DataFrame) -> list[str]:
    """Return the sentences and remarks that are the same in all rows, behind the names of their columns.

    They tell as much as lines beside the table do.

    Parameters
    ----------
    cells : DataFrame (n_rows, n_columns)
        Stripped text.

    Examples
    --------
    >>> rows = {"cores": ["8", "16"], "how": ["sum of five runs"] * 2, "remark": ["added"] * 2, "user": ["Ada L."] * 2}
    >>> texts_of_all_rows(pd.DataFrame(rows))
    ['how: sum of five runs', 'remark: added']
    """
    same = {str(name): str(its.iloc[0]) for name, its in cells.items() if len(its) > 1 == its.nunique()}
    return [f"{name}: {text}" for name, text in same.items() if text and _tells(name, text)]


def constants_said(columns: Sequence[Column], runs: Mapping[str, Runs]) -> str:
    """Return a note on the columns that are the same in all rows, and are no counts or usual settings; "" without any.

    Parameters
    ----------
    columns : sequence of Column
        Those of all files.
    runs : mapping of str to Runs
        Those of each solver, with these columns: what not all solvers have is named with those that have it.

    Examples
    --------
    >>> told = [Column("members", "constant", "one value: 10"), Column("grid", "constant", "one value: 512")]
    >>> constants_said(told, {})
    'the same in all rows, not used: members = 10'
    """
    if any(one.why == NAMED for one in columns):
        return ""
    told = []
    for one in columns:
        value, name = one.only_value, one.name
        usual = kind_of(name) or is_per_worker(name) or words_of(name) & SETTINGS
        if one.role != "constant" or not value or usual or _tells(name, value) or days_in(name, value) is not None:
            continue
        having = [solver for solver, its in runs.items() if name in its.parameters]
        whose = f" ({', '.join(having)})" if 0 < len(having) < len(runs) else ""
        told.append(f"{name} = {value}{whose}")
    more = f" and {len(told) - _MOST} more" if len(told) > _MOST else ""
    return f"the same in all rows, not used: {', '.join(told[:_MOST])}{more}" if told else ""


def _tells(name: str, text: str) -> bool:
    """Tell whether a text may say something of the times: it is a remark, or a sentence of no usual setting."""
    usual = words_of(name) & SETTINGS or letters(name) in USERS
    return is_of_remarks(name) or (is_prose(text) and not usual)
