"""Columns that hold something else that was measured beside the time: other timings, memory, energy."""

from __future__ import annotations

from collections.abc import Collection, Iterator

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.readers.slurm_texts import sizes
from evenly.readers.tables import columns as words
from evenly.readers.tables.bookkeeping import is_unnamed
from evenly.readers.tables.clock_times import tell_when
from evenly.readers.tables.roles import are_counted, is_limit, is_outcome, is_result, is_statistic
from evenly.readers.tables.states import name_key
from evenly.readers.tables.time_column import statistics_beside
from evenly.readers.tables.values import Values
from evenly.runs.columns import BOOKKEEPING
from evenly.runs.units import SECONDS_PER, base_unit, to_base

#: Slurm's largest memory of a task. Its sizes are as 830000K, and K is 1024.
_SLURM_MEMORY = frozenset({"maxrss", "max_rss"})

__all__ = ["find_quantities", "free_name", "measured_in"]

#: Names of columns of runs, which no other quantity may replace.
_TAKEN = frozenset({*BOOKKEEPING, "seconds", "count", "spread"})


def find_quantities(values: Values, unit: str, skip: Collection[str]) -> dict[str, tuple[str, str]]:
    """Return column → (quantity, unit): those that the user names, and those whose name or values tell.

    Parameters
    ----------
    values : Values
    unit : str
        That of the time: a timing without a unit has it, too.
    skip : collection of str
        Columns that are something else.

    Examples
    --------
    >>> import pandas as pd
    >>> from pathlib import Path
    >>> from evenly.readers.tables.options import TableOptions
    >>> cells = pd.DataFrame({"cores": ["1"], "time_s": ["9.5"], "peak_memory [GiB]": ["2"], "seconds": ["1"]})
    >>> find_quantities(Values(TableOptions(), Path("a.csv"), cells, np.array([2])), "s", ["cores", "time_s"])
    {'peak_memory [GiB]': ('peak_memory', 'GiB'), 'seconds': ('seconds_', 's')}
    """
    given = values.options.quantities
    found = {column: (free_name(column), words.canonical_unit(its)) for column, its in given.items()}
    for column, known in _told(values, {*skip, *found}):
        taken = {*values.cells.columns, "seconds", *words.ALIASES, *(name for name, _ in found.values())}
        name = column if known.base in taken else known.base
        found[column] = free_name(name), known.unit or (unit if unit in SECONDS_PER else "s")
    return found


def measured_in(values: Values, column: str, unit: str) -> NDArray[np.float64]:
    """Return the values of a quantity in the base unit of its unit, (n_rows,)."""
    if _are_slurm_sizes(values, column):
        one = np.ones(len(values.cells))
        return sizes(pd.Series(values.texts(column)), one, one)
    return values.seconds(column, unit) if base_unit(unit) == "s" else to_base(values.numbers(column), unit)


def _are_slurm_sizes(values: Values, column: str) -> bool:
    """Tell whether a column holds memory as Slurm writes it; a number without a letter may be bytes or KiB."""
    if name_key(column) not in _SLURM_MEMORY:
        return False
    texts = [text.strip() for text in values.texts(column) if text.strip() not in ("", "0")]
    return bool(texts) and all(text[-1:] in "KMGT" and text[:1].isdigit() for text in texts)


def _told(values: Values, skip: Collection[str]) -> Iterator[tuple[str, words.Measured]]:
    """Yield the columns of quantities, and what their names say."""
    columns = list(map(str, values.cells.columns))
    for column in columns:
        if column in skip or is_limit(column) or is_statistic(column) or statistics_beside(column, columns):
            continue
        if tell_when(column, values.texts(column)) or (values.is_label(column) and not values.are_durations(column)):
            continue
        known = words.measured(column) or _timing(values, column)
        if _are_slurm_sizes(values, column):
            known = words.Measured(column, "peak_memory", "B", 0)
        if known is not None and known.unit not in ("SYPD", "SDPD"):
            yield column, known


def _timing(values: Values, column: str) -> words.Measured | None:
    """Return a column as another timing: its values are durations, or its unit is one of time and they differ."""
    if is_unnamed(column):
        return None
    if values.are_durations(column) and not values.are_suffixed(column):
        return words.Measured(column, column, "", 0)
    below = values.units.get(column, "")  # in a row of units
    known = words.timing_by_unit(f"{column} [{below}]" if below else column)
    if known is not None and words.is_part(known.base) and not is_result(column) and values.is_numeric(column):
        return known
    if known is None and all(name.lower().startswith("t_") for name in (column, values.options.time or "")):
        known = words.Measured(column, column, "", 0)  # t_comm beside --time t_total
    if known is None or not values.is_numeric(column):
        return None
    if is_result(known.base.rstrip(" ,")) and is_outcome(column, values.numbers(column)):  # speed-up, S
        return None
    numbers = values.numbers(column)
    numbers = numbers[np.isfinite(numbers)]
    measured = (numbers != np.round(numbers)).any() or are_counted(numbers)
    return known if measured and len(np.unique(numbers)) >= 0.7 * len(numbers) else None


def free_name(name: str) -> str:
    """Return the name of a quantity or a parameter, with a ``_`` behind it if runs have a column of that name.

    Examples
    --------
    >>> free_name("machine"), free_name("cores")
    ('machine_', 'cores')
    """
    return f"{name}_" if name in _TAKEN else name
