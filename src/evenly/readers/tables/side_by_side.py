"""Repeated runs side by side: ``run1_s, run2_s, run3_s`` beside one configuration become one row for each run."""

from __future__ import annotations

import re
from collections import defaultdict

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.tables.columns import measured
from evenly.readers.tables.wide import Narrowed

__all__ = ["stacked"]

#: What people call a run that they repeat.
_RUNS = frozenset(
    {"run", "runs", "rep", "repeat", "repetition", "trial", "try", "sample", "measurement", "meas", "attempt"}
)
_NUMBERED = re.compile(r"(?P<before>.*?[A-Za-z])[\s_\-.#]*(?P<number>\d{1,3})(?P<after>(?:[\s_\-.\[(/][^\d]*)?)")
#: Times of one configuration differ by less than this factor; those of two parts of a run may not.
_ALIKE = 1.5


def stacked(cells: pd.DataFrame, lines: NDArray[np.int64]) -> Narrowed | None:
    """Return a table whose repeated runs stand side by side with one row for each; None if they plainly don't.

    Examples
    --------
    >>> cells = pd.DataFrame({"cores": ["2", "4"], "run1_s": ["9.1", "5.0"], "run2_s": ["9.0", ""]})
    >>> stacked(cells, np.array([2, 3])).cells.to_dict("list")
    {'cores': ['2', '2', '4'], 'run_s': ['9.1', '9.0', '5.0']}
    >>> stacked(cells[["cores", "run1_s"]], np.array([2, 3])) is None
    True
    """
    groups: defaultdict[tuple[str, str], dict[int, str]] = defaultdict(dict)
    for column in map(str, cells.columns):
        if match := _NUMBERED.fullmatch(column.strip()):
            groups[match["before"], match["after"]][int(match["number"])] = column
    found = [(name, by_number) for name, by_number in groups.items() if _are_runs(cells, name, by_number)]
    if len(found) != 1:
        return None
    (before, after), by_number = found[0]
    columns = [by_number[number] for number in sorted(by_number)]
    time = f"{before}{after}"
    others = [column for column in cells.columns if column not in columns]
    if time in others or any((told := measured(column)) and told.certainty == 2 for column in map(str, others)):
        return None
    whole = pd.concat([cells[[*others, column]].rename(columns={column: time}) for column in columns])
    whole = whole.sort_index(kind="stable")
    whole = whole[(whole[time].str.strip() != "").to_numpy()]
    told_columns = f"{columns[0]!r} to {columns[-1]!r}" if len(columns) > 2 else " and ".join(map(repr, columns))
    note = f"{told_columns} are taken for repeated runs of each row's configuration"
    order = whole.index.to_numpy(dtype=np.int64)
    return Narrowed(whole.reset_index(drop=True), lines[order], None, time, (note,))


def _are_runs(cells: pd.DataFrame, name: tuple[str, str], by_number: dict[int, str]) -> bool:
    """Tell whether numbered columns are runs: by their names, or because they are times and alike in each row."""
    numbers = sorted(by_number)
    if len(numbers) < 2 or numbers[0] > 1 or numbers != list(range(numbers[0], numbers[-1] + 1)):
        return False
    values = cells[list(by_number.values())].replace("", np.nan).apply(pd.to_numeric, errors="coerce")
    if (values.isna() & (cells[values.columns] != "")).any(axis=None) or values.isna().all(axis=None):
        return False
    before, after = name
    plain = re.sub(r"[\s\-.]+", "_", before.strip()).lower()
    timed = measured(f"time{after}")
    if plain in _RUNS:
        return timed is not None and timed.certainty > 0
    told = measured(f"{before}{after}")
    alone = plain == "t" and timed is not None and (bool(timed.unit) or len(numbers) > 2)
    if not alone and (told is None or told.certainty == 0):
        return False
    with np.errstate(invalid="ignore", divide="ignore"):
        return bool((values.max(axis=1) / values.min(axis=1) < _ALIKE).all())
