"""Columns that follow from the time: functions of it, and its parts. They are outcomes, whatever their names."""

from __future__ import annotations

import itertools
from collections.abc import Mapping

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.roles import ENOUGH, are_round, is_count, look_measured, may_be_outcome

__all__ = ["follows_response", "parts_of"]

_STRAIGHT = 0.999
#: Of more columns, not all sums are tried.
_MOST_PARTS = 30
#: So many rows are looked at first.
_FIRST = 100


def follows_response(
    column: str, values: NDArray[np.float64], seconds: NDArray[np.float64], counts: Mapping[str, NDArray[np.float64]]
) -> str:
    """Return why a column's values come from the time; empty if they don't.

    They do if a straight line through them, or through their reciprocals, against the time has R² > 0.999. So do those
    on such a line in logarithms, with a slope of ±1. Costs and efficiencies are the time times, or over, a count. Round
    numbers and names of counts are choices: perfect scaling makes no outcome of ``cores``. A name that results have, as
    ``cost``, needs no more than three values.

    Parameters
    ----------
    column : str
        Its name.
    values, seconds : arrays (n_rows,)
        Its numbers and the time.
    counts : mapping of str to array (n_rows,)
        Columns that count something, as ``cores``.

    Examples
    --------
    >>> cores = np.array([1.0, 2, 4, 8, 16, 32])
    >>> seconds = 100 / cores + 1.5
    >>> follows_response("q", 1234.5 / seconds, seconds, {})
    'a function of the time: R² = 1.0000 of a line through its reciprocal'
    >>> follows_response("cores", cores, 100 / cores, {})
    ''
    >>> follows_response("q", 3.7 * seconds * cores, seconds, {"p": cores})
    "the time times 'p'"
    """
    known = np.isfinite(values) & np.isfinite(seconds) & (values > 0) & (seconds > 0)
    v, t = values[known], seconds[known]
    named = may_be_outcome(column)
    enough = 3 if named else ENOUGH
    if is_count(column) or min(len(np.unique(v)), len(np.unique(t))) < enough or (are_round(v) and not named):
        return ""
    for x, what in ((v, "it"), (1 / v, "its reciprocal"), (np.log(v), "its logarithm")):
        logs = what == "its logarithm"
        r2, slope = _line(x, np.log(t) if logs else t)
        if r2 > _STRAIGHT and (not logs or abs(abs(slope) - 1) < 0.02):
            return f"a function of the time: R² = {r2:.4f} of a line through {what}"
    for name, count in counts.items():
        c = count[known]
        if name == column or not (c > 0).all() or len(np.unique(c)) < 2:
            continue
        for product, what in ((v / (t * c), f"the time times {name!r}"), (v * t * c, f"a share over time × {name!r}"),
                              (v * t / c, f"{name!r} over the time")):  # fmt: skip
            if np.ptp(product) < (0.05 if named else 0.01) * product.mean():  # a cost is rounded
                return what
    return ""


def parts_of(columns: Mapping[str, NDArray[np.float64]], times: NDArray[np.float64]) -> list[str]:
    """Return the columns that are parts of the time, as the phases of a program, in the time's own unit.

    Nearly all their values differ. In every row, they sum to at least half of the time, and to no more than the time.
    Columns that sum to the time itself in every row are its parts, whatever their values.

    Examples
    --------
    >>> total = np.array([100.3, 52.4, 28.8])
    >>> parts_of({"cores": np.array([1, 2, 4.0]), "fft": 0.4 * total, "forces": 0.5 * total}, total)
    ['fft', 'forces']
    """
    known = np.isfinite(times)
    if exact := _exact_parts(columns, times):
        return exact
    measured, times = {name: values[known] for name, values in columns.items()}, times[known]
    found = {
        name: values
        for name, values in measured.items()
        if not is_count(name)
        and len(np.unique(values)) >= max(3, 0.7 * len(values))
        and not np.array_equal(values, np.round(values))
        and bool(np.all((values >= 0) & (values <= times)))
    }
    if len(found) < 2:
        return []
    share = np.sum(list(found.values()), axis=0) / times
    return list(found) if bool(np.all((share > 0.5) & (share < 1.02))) else []


def _exact_parts(columns: Mapping[str, NDArray[np.float64]], times: NDArray[np.float64]) -> list[str]:
    """Return the columns, none of which counts, that sum to the time in every row; none if they don't.

    One or two of those that are no longer than the time may be no parts of it. Those that sum to it but for rounding
    must look measured, or be the same in all rows.
    """
    found = {
        name: values
        for name, values in columns.items()
        if not is_count(name) and bool(np.all((values >= 0) & (values <= times)))
    }
    if not 2 <= len(found) <= _MOST_PARTS or len(np.unique(times)) < 3:
        return []
    first = slice(_FIRST)  # in most tables, they show that a sum isn't the time
    for without in (0, 1, 2):
        for names in itertools.combinations(found, len(found) - without):
            if len(names) > 1 and all(
                np.allclose(np.sum([found[name][rows] for name in names], axis=0), times[rows], rtol=1e-9)
                for rows in (first, slice(None))
            ):
                return list(names)
    rounded = [name for name, values in found.items() if look_measured(values) or np.ptp(values) == 0]
    sums = np.sum([found[name] for name in rounded], axis=0) if len(rounded) > 1 else np.zeros(len(times))
    return rounded if np.allclose(sums, times, rtol=2e-3) else []


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    dx, dy = x - x.mean(), y - y.mean()
    both = float(dx @ dy)
    across = float(dx @ dx) * float(dy @ dy)
    return (both * both / across, both / float(dx @ dx)) if across > 0 else (0.0, 0.0)
