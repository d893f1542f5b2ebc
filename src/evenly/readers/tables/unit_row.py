"""A second header row with the units of the columns: ``cores,time`` and below it ``-,ms``."""

from __future__ import annotations

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.tables.columns import canonical_unit, measured
from evenly.runs.units import SECONDS_PER, base_unit

__all__ = ["with_units"]

_NONE = frozenset({"", "-", "--", "1", "none", "n/a"})


def with_units(cells: pd.DataFrame, lines: NDArray[np.int64]) -> tuple[pd.DataFrame, NDArray[np.int64]]:
    """Return a table with the units of its first row in the names of its columns, if that row holds units.

    Examples
    --------
    >>> cells, lines = with_units(pd.DataFrame({"cores": ["-", "8"], "time": ["[ms]", "640"]}), np.array([2, 3]))
    >>> cells.to_dict("list"), lines.tolist()
    ({'cores': ['8'], 'time [ms]': ['640']}, [3])
    """
    if len(cells) < 2:
        return cells, lines
    row = [str(cell).strip("[]() ") for cell in cells.iloc[0]]
    units = [canonical_unit(text) for text in row]
    told = [unit for unit, text in zip(units, row, strict=True) if text.lower() not in _NONE]
    times = [unit for unit in told if unit in SECONDS_PER or unit.lower() in ("sypd", "sdpd")]
    if not times or not all(_is_unit(unit) for unit in told):
        return cells, lines
    names = {
        name: f"{name} [{unit}]"
        for name, unit, text in zip(cells.columns, units, row, strict=True)
        if text.lower() not in _NONE and unit not in str(name) and measured(f"{name} [{unit}]") is not None
    }
    return cells.iloc[1:].rename(columns=names).reset_index(drop=True), lines[1:]


def _is_unit(text: str) -> bool:
    """Tell whether a text is a unit that evenly knows, or one of a few others that a table may have."""
    try:
        base_unit(text)
    except ValueError:
        return text.lower() in ("#", "%", "count", "cores", "nodes", "gflop/s", "gflops", "gb/s", "mb/s", "x", "ranks")
    return True
