"""Columns that follow from the time: functions of it, and its parts. They are outcomes, whatever their names."""

from __future__ import annotations

import itertools
from collections.abc import Mapping, Sequence

import numpy as np
from numpy.typing import NDArray

from evenly.readers.tables.roles import ENOUGH, are_round, is_count, is_statistic, look_measured, may_be_outcome
from evenly.readers.tables.states import name_key

__all__ = ["follows_response", "parts_of", "statistics_of_the_time"]

_STRAIGHT = 0.999
#: Names that count the runs of a statistic; bare names of statistics, and those of them that tell how runs scatter.
_NUMBERS_OF_RUNS = frozenset({"samples", "n_samples", "count"})
_DEVIATIONS = frozenset({
    "sd", "iqr", "cv", "var", "sigma", "std", "stddev", "std_dev", "stdev", "stderr", "sem", "variance", "spread",
})  # fmt: skip
_BARE = _DEVIATIONS | {
    "mean",
    "avg",
    "average",
    "median",
    "min",
    "max",
    "minimum",
    "maximum",
    "p50",
    "p90",
    "p95",
    "p99",
    "q1",
    "q3",
}
#: Statistics of times are the same share of them in all rows, but for noise (in logarithms), if there are some rows.
_FEWEST, _ALIKE = 4, 0.3
#: Values that were chosen are computed ones to their last digit with a smaller chance.
_BY_CHANCE = 5e-3
#: Nobody repeats a run more often without telling its mean.
_MOST_RUNS = 100
#: A sum of parts that are printed with a few digits is off by less, as a share.
_ROUNDED = 1e-5
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
    others = {name: count[known] for name, count in counts.items() if name != column}
    if not is_count(column) and (why := _computed(v, t, others)):
        return why
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


def _computed(v: NDArray[np.float64], t: NDArray[np.float64], counts: Mapping[str, NDArray[np.float64]]) -> str:
    """Return how few values were computed from the time, to their last digit; "" if they weren't.

    Costs and efficiencies differ less than the count, since a size that was varied with it may be proportional to both.

    Examples
    --------
    >>> time, cores = np.array([100.0, 52.1, 27.3, 15.0]), np.array([1.0, 2, 4, 8])
    >>> _computed(np.array([100.0, 96, 92, 83]), time, {"p": cores})
    "a share over time × 'p'"
    >>> _computed(np.array([1.0, 1.92, 3.66, 6.67]), time, {})
    'one of the times over each'
    >>> _computed(cores, time, {}), _computed(np.array([1000.0, 2000, 4000, 8000]), time, {"p": cores})
    ('', '')
    """
    # Values of which each stands in several rows were chosen, as sizes that ran on several counts each.
    if len(v) < 3 or 2 * len(np.unique(v)) <= len(v):
        return ""
    off = _half_a_digit(v) / v + _half_a_digit(t) / t
    by_chance = np.minimum(1, 2 * off / np.ptp(np.log(v)))
    if np.prod(np.delete(by_chance, np.argmin(by_chance))) > _BY_CHANCE:
        return ""

    def is_one(product: NDArray[np.float64]) -> bool:
        return bool((product * (1 - off)).max() <= (product * (1 + off)).min())

    for name, count in counts.items():
        if not (count > 0).all() or np.ptp(np.log(v)) > 0.5 * np.ptp(np.log(count)):
            continue
        if is_one(v / (t * count)):
            return f"the time times {name!r}"
        if is_one(v * t * count):
            return f"a share over time × {name!r}"
    is_relative = 1.0 in v and not are_round(v)
    return "one of the times over each" if is_relative and is_one(v * t) else ""


def _half_a_digit(values: NDArray[np.float64]) -> float:
    """Return half a unit of the last digit that numbers are written with."""
    return float(0.5 / 10.0 ** max(len(f"{value:.10g}".partition(".")[2]) for value in values.tolist()))


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


def statistics_of_the_time(columns: Mapping[str, NDArray[np.float64]], seconds: NDArray[np.float64]) -> set[str]:
    """Return the columns, of those that are named as statistics, that can be those of the time.

    A number of more than 100 samples is one only beside a mean or a deviation. Where bare names as ``mean`` and
    ``sigma`` hold numbers of which none is the same share of the time in all rows, they were chosen: the mean of a
    distribution, say.

    Examples
    --------
    >>> seconds = np.array([9.0, 5.1, 3.2, 2.1])
    >>> found = statistics_of_the_time({"samples": np.full(4, 5.0), "mean": seconds, "std": seconds / 50}, seconds)
    >>> sorted(found)
    ['mean', 'samples', 'std']
    >>> statistics_of_the_time({"samples": np.array([1000.0, 5000, 200, 80])}, seconds)
    set()
    """
    named = {column for column in columns if is_statistic(column)}
    numbers = {column for column in named if name_key(column) in _NUMBERS_OF_RUNS}
    bare = {column for column in named - numbers if name_key(column) in _BARE}
    known = np.isfinite(seconds) & (seconds > 0)
    located = [columns[column][known] for column in bare if name_key(column) not in _DEVIATIONS]
    if located and known.sum() >= _FEWEST and not any(_in_proportion(one, seconds[known]) for one in located):
        named -= bare
    if named <= numbers:
        return {column for column in named if not (columns[column] > _MOST_RUNS).any()}
    return named


def _in_proportion(values: NDArray[np.float64], seconds: NDArray[np.float64]) -> bool:
    if not (np.isfinite(values).all() and (values > 0).all()):
        return True  # nothing tells otherwise
    return bool(np.std(np.log(values / seconds)) < _ALIKE)


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
    subsets = (
        names
        for without in (0, 1, 2)
        for names in itertools.combinations(found, len(found) - without)
        if len(names) > 1
    )
    near = [names for names in subsets if _off(found, names, times, first) < _ROUNDED]
    off = {names: _off(found, names, times, slice(None)) for names in near}
    best = min(off, key=lambda names: off[names], default=())
    if best and off[best] < _ROUNDED:
        return list(best)
    rounded = [name for name, values in found.items() if look_measured(values) or np.ptp(values) == 0]
    sums = np.sum([found[name] for name in rounded], axis=0) if len(rounded) > 1 else np.zeros(len(times))
    return rounded if np.allclose(sums, times, rtol=2e-3) else []


def _off(
    columns: Mapping[str, NDArray[np.float64]], names: Sequence[str], times: NDArray[np.float64], rows: slice
) -> float:
    """Return how far the sum of some columns is off the time at most, as a share of it."""
    sums = np.sum([columns[name][rows] for name in names], axis=0)
    return float(np.max(np.abs(sums - times[rows]) / np.maximum(times[rows], 1e-300)))


def _line(x: NDArray[np.float64], y: NDArray[np.float64]) -> tuple[float, float]:
    dx, dy = x - x.mean(), y - y.mean()
    both = float(dx @ dy)
    across = float(dx @ dx) * float(dy @ dy)
    return (both * both / across, both / float(dx @ dx)) if across > 0 else (0.0, 0.0)
