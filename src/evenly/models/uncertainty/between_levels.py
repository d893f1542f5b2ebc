"""How far predictions may be off between the few values of a parameter that were measured.

Of three mesh sizes, each measured on many numbers of cores, single runs that are left out show how well the numbers of
cores are interpolated, since other runs with their mesh size stay. They don't show how well a fourth mesh size is. So
whole values are left out: the mean squared error at such a value, without that of single runs, tells how far the model
is off there. How it shrinks where neighbours are closer depends on how smooth the time is, which so few values don't
tell. The least that can be supposed is a random walk between neighbours a and b, a Brownian bridge, whose variance is
``c (x - a) (b - x) / (b - a)`` on the parameter's scale [Rasmussen and Williams, Gaussian Processes for Machine
Learning, 2006, B.2.1]. c is the mean over the values that were left out.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import Any

import numpy as np
import pandas as pd

from evenly.errors import EvenlyError
from evenly.models.array_types import Floats
from evenly.space.parameters import Categorical
from evenly.space.space import Space

__all__ = ["between_levels", "on_scale", "spread_between"]

#: A parameter with fewer values has none between two others; one with more is measured densely.
_FEWEST, _MOST = 3, 8
#: So many rows share a value in the mean, or leaving out single runs is the same.
_SHARED = 2.0
#: At most so many values of a parameter are left out, and so many rows learned from.
_LEFT_OUT, _ROWS = 2, 80


def between_levels(
    predict_without: Callable[[pd.DataFrame, Floats, pd.DataFrame], Floats],
    space: Space,
    table: pd.DataFrame,
    values: Floats,
    left_out: Floats | None,
) -> dict[str, Any]:
    """Return for each parameter with few values what `spread_between` needs; {} if there is none.

    Parameters
    ----------
    predict_without : callable
        Takes rows (m, n_parameters), their values (m,), and other rows (k, n_parameters). Learns from the first, and
        returns its predictions (k,) for the others.
    space : Space
    table : DataFrame (n, n_parameters)
    values : array (n,)
    left_out : array (n,), optional
        Predictions of each row by a model that was learned without it.
    """
    logs = np.log(values)
    single = 0.0
    if left_out is not None and (known := np.isfinite(left_out)).any():
        single = float(np.mean((np.log(left_out[known]) - logs[known]) ** 2))
    found: dict[str, Any] = {}
    for name, parameter in space.parameters.items():
        levels = np.unique(table[name]) if not isinstance(parameter, Categorical) else np.empty(0)
        if not (_FEWEST <= len(levels) <= _MOST and len(table) >= _SHARED * len(levels)):
            continue
        at = on_scale(parameter, levels)
        inner = np.unique(np.linspace(1, len(levels) - 2, _LEFT_OUT).round().astype(np.int64))
        squares = []
        for place in inner:
            here = np.asarray(table[name] == levels[place])
            others = np.flatnonzero(~here)
            if len(others) > _ROWS:
                others = np.random.default_rng(0).permutation(others)[:_ROWS]
            try:
                predicted = predict_without(table.iloc[others], values[others], table[here])
            except EvenlyError:
                continue
            square = float(np.mean((np.log(predicted) - logs[here]) ** 2)) - single
            bridge = _bridge(at[place], at[place - 1], at[place + 1])
            squares.append(max(square, 0.0) / float(bridge))
        if squares and np.isfinite(squares).all() and max(squares) > 0:
            found[name] = {"levels": levels.tolist(), "spread": float(np.sqrt(np.mean(squares)))}
    return found


def spread_between(between: Mapping[str, Any], space: Space, table: pd.DataFrame) -> Floats:
    """Return the standard deviation (n,) of the log time that comes from lying between measured values.

    Parameters
    ----------
    between : mapping
        From `between_levels`.
    space : Space
    table : DataFrame (n, n_parameters)

    Examples
    --------
    >>> from evenly.space.parameters import Real
    >>> space = Space(h=Real(1.0, 3.0, scale="linear"))
    >>> between = {"h": {"levels": [1.0, 2.0, 3.0], "spread": 0.2}}
    >>> spread_between(between, space, pd.DataFrame({"h": [1.0, 1.5, 2.0, 4.0]})).round(3)
    array([0. , 0.1, 0. , 0. ])
    """
    square = np.zeros(len(table))
    for name, its in between.items():
        parameter = space.parameters[name]
        levels = on_scale(parameter, np.asarray(its["levels"], dtype=np.float64))
        x = on_scale(parameter, table[name].to_numpy(dtype=np.float64))
        above = np.clip(np.searchsorted(levels, x), 1, len(levels) - 1)
        square += its["spread"] ** 2 * _bridge(x, levels[above - 1], levels[above])
    return np.sqrt(square)


def _bridge(x: Any, before: Any, behind: Any) -> Any:
    """Return the variance of a Brownian bridge; 0 outside, where extrapolation is another matter."""
    return np.maximum((x - before) * (behind - x), 0.0) / (behind - before)


def on_scale(parameter: Any, values: Floats) -> Floats:
    """Return values of a parameter that is a number, (n,), on its scale: logarithms, or as they are."""
    return np.asarray(np.log(values) if parameter.scale == "log" else values, dtype=np.float64)
