"""Data for plots of a model along one parameter: the grid, the model's line, and the measurements."""

from __future__ import annotations

import copy
from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np
import pandas as pd
from numpy.typing import NDArray

from evenly.errors import InputError
from evenly.models.base import Model
from evenly.runs.count_names import kind_of
from evenly.runs.runs import Runs
from evenly.runs.weak_scaling import WORKERS
from evenly.space.parameters import Categorical, Integer, Ordinal, Parameter, Real

__all__ = [
    "Line",
    "Points",
    "bounds",
    "choose_parameter",
    "fixed_at",
    "formula_of",
    "leading_of",
    "line_along",
    "measured_by_configuration",
    "never_ended",
    "of_response",
    "points_along",
    "quietly",
]

Floats = NDArray[np.float64]
_GRID = 201
_ENOUGH = 3


@dataclass(frozen=True)
class Line:
    """A model along one parameter.

    `x` (n,) is the grid (labels for a categorical parameter). `value` (n,) is the prediction in its base unit, `lower`
    and `upper` (n,) its interval. `inside` (n,) is whether a point lies in the range of the training data.
    """

    x: NDArray[Any]
    value: Floats
    lower: Floats
    upper: Floats
    inside: NDArray[np.bool_]


@dataclass(frozen=True)
class Points:
    """Measurements to plot with a line.

    `x`, `value` and `spread` (n,) have one entry per configuration, `raw_x` and `raw` (m,) one per repetition.
    `carried` is True if they were measured outside the slice, and then scaled to it by a ratio of predictions.
    """

    x: NDArray[Any]
    value: Floats
    spread: Floats
    raw_x: NDArray[Any]
    raw: Floats
    carried: bool = False


def quietly(model: Model) -> Model:
    """Return a shallow copy of a model that does not warn about extrapolation. The model itself can still warn."""
    silent = copy.copy(model)
    silent._warned = True
    return silent


def bounds(kind: Parameter) -> tuple[float, float] | None:
    """Return the range (low, high) of a numeric parameter; None for a categorical one."""
    match kind:
        case Integer() | Real():
            return float(kind.low), float(kind.high)
        case Ordinal():
            return float(kind.options[0]), float(kind.options[-1])
    return None


def formula_of(model: Model) -> str:
    """Return a model's formula as text; "" if it has none."""
    formula = getattr(model, "formula_", None)
    return "" if formula is None else str(formula)


def leading_of(model: Model) -> tuple[str, float]:
    """Return the leading formula of a model, and its weight: below 1 if the model averages several formulas."""
    leading = getattr(model, "leading_", None)
    if leading is None:
        return formula_of(model), 1.0
    members: Sequence[Any] = getattr(model, "members_", ())
    return str(leading), float(members[0].weight) if len(members) else 1.0


def choose_parameter(model: Model, parameter: str | None) -> str:
    """Return the parameter of the horizontal axis; by default a number that varies: a count of cores, or the first."""
    names = model.space_.names
    if parameter is None:
        ends = {name: bounds(kind) for name, kind in model.space_.parameters.items()}
        varying = [name for name in names if (end := ends[name]) is not None and end[0] < end[1]]
        counts = [name for name in varying if kind_of(name) in WORKERS]
        return [*counts, *varying, *names][0]
    if parameter not in names:
        raise InputError(f"the parameter must be one of {', '.join(names)}, but got {parameter!r}")
    return parameter


def fixed_at(
    model: Model, runs: Runs | None, shown: tuple[str, ...], at: Mapping[str, Any] | None = None
) -> dict[str, Any]:
    """Return the values of the parameters that are not `shown`.

    Parameters
    ----------
    model : Model
        Fitted.
    runs : Runs, optional
        The runs that the model was fitted to.
    shown : tuple of str
        Parameters on the axes.
    at : mapping of str to value, optional
        Values that the user fixed. The other parameters get their most frequently measured combination. If each
        combination occurs once, each gets its most frequent value, and the middle one if several are most frequent.

    Raises
    ------
    InputError
        If `at` names something that is not a parameter or is on an axis.
    """
    given = dict(at or {})
    others = [name for name in model.space_.names if name not in shown]
    for name in given:
        if name not in others:
            allowed = f"of {', '.join(others)}" if others else "none, since all are shown"
            raise InputError(f"`at` fixes parameters that are not shown ({allowed}), but got {name!r}")
    table = None if runs is None else runs.ok.configurations.drop_duplicates()
    if table is not None:
        for name, value in given.items():
            table = table[(table[name] == value).to_numpy()] if (table[name] == value).any() else table
    rest = [name for name in others if name not in given]
    chosen = given | (_middle(model, rest) if table is None or not len(table) else _most_common(table, rest))
    return {name: chosen[name] for name in others}


def _middle(model: Model, names: list[str]) -> dict[str, Any]:
    middle: dict[str, Any] = {}
    for name in names:
        kind = model.space_.parameters[name]
        ends = bounds(kind)
        if ends is None:
            middle[name] = kind.options[0] if isinstance(kind, Categorical) else None
            continue
        log = getattr(kind, "scale", "linear") == "log"
        value = float(np.sqrt(ends[0] * ends[1])) if log else (ends[0] + ends[1]) / 2
        middle[name] = round(value) if isinstance(kind, Integer) else value
    return middle


def _most_common(table: pd.DataFrame, names: list[str]) -> dict[str, Any]:
    """Return the most frequent combination of values. If there are several, return the one nearest to their middle."""
    if not names:
        return {}
    counts = table.groupby(names, sort=True, observed=True).size().rename("count").reset_index()
    if len(counts) == len(table) > 1:  # of those that were measured, the one with the most typical values
        typical = {name: _typical(table[name]) for name in names}
        alike = sum((counts[name] == value).astype(int) for name, value in typical.items())
        best = counts[alike == max(alike)]
    else:
        best = counts[counts["count"] == counts["count"].max()]
    ranks = best[names].rank(method="dense")
    nearest = ((ranks - (ranks.max() + 1) / 2) ** 2).sum(axis=1).idxmin()
    return {name: best[name].loc[nearest] for name in names}


def _typical(column: pd.Series[Any]) -> Any:
    """Return the most frequent value. If there are several, return the middle one."""
    counts = column.value_counts()
    tied = sorted(counts.index[counts == counts.max()])
    return tied[len(tied) // 2]


def line_along(
    model: Model, parameter: str, at: Mapping[str, Any], *, level: float, reach: tuple[float, float] | None = None
) -> Line:
    """Evaluate a model along one parameter.

    Parameters
    ----------
    model : Model
        Fitted.
    parameter : str
        The parameter that varies.
    at : mapping of str to value
        The values of the other parameters.
    level : float
        The probability of the interval.
    reach : tuple of float, optional
        The ends of the line. By default, they are the ends of the training range.
    """
    kind = model.space_.parameters[parameter]
    ends = bounds(kind)
    if ends is None or isinstance(kind, Ordinal):
        values = kind.values()
        x: NDArray[Any] = values if values is not None else np.array([])
        inside = np.ones(len(x), dtype=np.bool_)
    else:
        x = _grid(*(reach or ends), ends, log=getattr(kind, "scale", "linear") == "log")
        inside = (x >= ends[0]) & (x <= ends[1])
    silent = quietly(model)
    table = pd.DataFrame({parameter: x, **{name: [value] * len(x) for name, value in at.items()}})
    lower, upper = silent.interval(table, level)
    return Line(x, silent.predict(table), lower, upper, inside)


def _grid(low: float, high: float, ends: tuple[float, float], *, log: bool) -> Floats:
    """Return evenly spaced points, to which the ends of the training range are added exactly."""
    even = np.geomspace(low, high, _GRID) if log and low > 0 else np.linspace(low, high, _GRID)
    even[0], even[-1] = low, high
    marks = [end for end in ends if low <= end <= high]
    return np.unique(np.concatenate([even, np.array(marks, dtype=np.float64)]))


def of_response(model: Model, runs: Runs) -> Runs:
    """Return the runs with the model's response as their response, if they have that quantity."""
    name = model.response_["name"]
    return runs.learning(name) if name in runs.quantities else runs


def measured_by_configuration(model: Model, runs: Runs, statistic: Any = None) -> tuple[Floats, pd.DataFrame]:
    """Return the summarised response of each measured configuration, shape (n,), and the configurations."""
    chosen = of_response(model, runs)
    table = chosen.evidence(statistic or "median")
    table = table[~table["censored"]]
    return table[chosen.response].to_numpy(dtype=np.float64), table[model.space_.names]


def never_ended(runs: Runs) -> pd.DataFrame:
    """Return the configurations of which no run ended well, each once.

    Examples
    --------
    >>> table = pd.DataFrame({"cores": [1, 2, 2, 4], "seconds": [8.0, 4, np.nan, np.nan]})
    >>> table["status"] = ["ok", "ok", "failed", "timed out"]
    >>> never_ended(Runs.from_frame(table, ["cores"]))["cores"].tolist()
    [4]
    """
    failed, names = runs.failed.configurations.drop_duplicates(), runs.parameters
    told = failed.merge(runs.ok.configurations.drop_duplicates(), how="left", on=names, indicator="ended")
    return told.loc[told["ended"] == "left_only", names].reset_index(drop=True)


def points_along(model: Model, runs: Runs, parameter: str, at: Mapping[str, Any]) -> Points:
    """Return the measurements on a slice along `parameter`, whose other parameters have the values `at`.

    If fewer than three configurations lie on the slice (scattered designs), all measurements are scaled to it: each
    value is multiplied by the prediction on the slice, divided by the prediction at the measured configuration.
    """
    table = runs.ok.to_frame()
    on = np.ones(len(table), dtype=np.bool_)
    for name, value in at.items():
        on &= (table[name] == value).to_numpy()
    exact = _points(table[on], runs, parameter)
    if not at or len(exact.x) >= _ENOUGH or len(table) == int(on.sum()):
        return exact
    return _carried(model, runs, parameter, at)


def _points(table: pd.DataFrame, runs: Runs, parameter: str) -> Points:
    table = table[table[runs.response].notna()]
    groups = table.groupby(parameter, sort=True, observed=True)[runs.response]
    medians = groups.median()
    spread = groups.std(ddof=1).fillna(0.0)
    return Points(
        medians.index.to_numpy(),
        np.asarray(medians, dtype=np.float64),
        np.asarray(spread, dtype=np.float64),
        table[parameter].to_numpy(),
        table[runs.response].to_numpy(dtype=np.float64),
    )


def _carried(model: Model, runs: Runs, parameter: str, at: Mapping[str, Any]) -> Points:
    condensed = runs.ok.aggregate()
    condensed = condensed[condensed[runs.response].notna()]
    silent = quietly(model)
    here = silent.predict(condensed[runs.parameters])
    moved = condensed[runs.parameters].assign(**dict(at))
    ratio = silent.predict(moved) / here
    value = condensed[runs.response].to_numpy(dtype=np.float64) * ratio
    spread = condensed["spread"].to_numpy(dtype=np.float64) * ratio
    empty = np.array([], dtype=np.float64)
    return Points(condensed[parameter].to_numpy(), value, spread, empty, empty, carried=True)
