"""Corners of the range where every run was stopped at its limit: predictions there are extrapolations, too.

Large cases on few cores take longest, so their runs are stopped first. Each parameter's range is then measured, but not
this corner of it: no measured run has as large a size on as few cores. A law reaches there from one side only, as it
does beyond the range, and left-out runs don't show its errors. So intervals grow there as they do beyond the range:
with the distance from the measured runs, in half-ranges.
"""

from __future__ import annotations

import itertools
from collections.abc import Mapping
from typing import Any

import numpy as np
import pandas as pd

from evenly.models.array_types import Floats
from evenly.models.uncertainty.between_levels import on_scale
from evenly.space.parameters import Categorical
from evenly.space.ranges import ends
from evenly.space.space import Space

__all__ = ["corners_of", "reach_into"]

#: Growth of an interval per half-range, as beyond the range where no races tell another.
GROWTH = 3.0
#: With more numeric parameters, nearly every run is at a corner.
_MOST_PARAMETERS = 6


def corners_of(evidence: pd.DataFrame, space: Space) -> dict[str, Any]:
    """Return the stopped configurations at corners, and how far each is from measured ones; {} without any.

    A configuration is at a corner if, in some direction of all parameters together, no measured run with its labels
    lies as far.

    Parameters
    ----------
    evidence : DataFrame (n_configurations, …)
        From `evenly.Runs.evidence`.
    space : Space
        Parameters of the model, with the ranges that were learned from.

    Examples
    --------
    >>> table = pd.DataFrame({"size": [1, 1, 4, 4], "cores": [1, 4, 4, 1], "censored": [False] * 3 + [True]})
    >>> space = Space.from_data(table[["size", "cores"]])
    >>> corners_of(table, space)
    {'configurations': {'size': [4], 'cores': [1]}, 'distances': [2.0]}
    """
    stopped = evidence["censored"].to_numpy(dtype=np.bool_)
    numbers, labels = _coded(space, evidence)
    if not stopped.any() or stopped.all() or not 2 <= numbers.shape[1] <= _MOST_PARAMETERS:
        return {}
    places, distances = [], []
    for place in np.flatnonzero(stopped):
        away = numbers[~stopped & (labels == labels[place]).all(axis=1)] - numbers[place]
        sides = itertools.product((-1, 1), repeat=numbers.shape[1])
        if len(away) and not all((np.array(side) * away >= 0).all(axis=1).any() for side in sides):
            places.append(int(place))
            distances.append(float(np.linalg.norm(away, axis=1).min()))
    if not places:
        return {}
    rows = evidence.iloc[places]
    return {"configurations": {name: rows[name].tolist() for name in space.names}, "distances": distances}


def reach_into(corners: Mapping[str, Any], space: Space, table: pd.DataFrame) -> Floats:
    """Return how far configurations (n, d) are into a corner, in half-ranges, (n,): 0 at measured runs and elsewhere.

    Examples
    --------
    >>> space = Space.from_data({"size": [1, 4], "cores": [1, 4]})
    >>> corners = {"configurations": {"size": [4], "cores": [1]}, "distances": [2.0]}
    >>> reach_into(corners, space, pd.DataFrame({"size": [4, 4, 4], "cores": [1, 2, 4]}))
    array([2., 1., 0.])
    """
    found = np.zeros(len(table))
    if not corners:
        return found
    numbers, labels = _coded(space, table)
    at, of = _coded(space, pd.DataFrame(corners["configurations"]))
    for place, distance in enumerate(corners["distances"]):
        near = np.maximum(distance - np.linalg.norm(numbers - at[place], axis=1), 0.0)
        found = np.maximum(found, np.where((labels == of[place]).all(axis=1), near, 0.0))
    return found


def _coded(space: Space, table: pd.DataFrame) -> tuple[Floats, Any]:
    """Return the numbers in half-ranges, on their parameters' scales (n, k), and the labels (n, m) as strings."""
    columns, labels = [], [np.full(len(table), "")]
    for name, parameter in space.parameters.items():
        if isinstance(parameter, Categorical):
            labels.append(table[name].astype(str).to_numpy(dtype=str))
            continue
        low, high = on_scale(parameter, np.array(ends(parameter), dtype=np.float64))
        if high > low:
            columns.append((on_scale(parameter, table[name].to_numpy(dtype=np.float64)) - low) / ((high - low) / 2))
    return np.array(columns).reshape(len(columns), len(table)).T, np.stack(labels, axis=1)
